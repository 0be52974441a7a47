"""The forms of machine code that are not straight-line, and the programs that get them."""

from __future__ import annotations

from torsor.compile import rolled_ir, tape_ir
from torsor.compile.program import Program
from torsor.compile.rolled import rolled
from torsor.compile.target import Host

#: one state is computed in vectors of two: faster than scalars on every processor tried
ONE_WIDTH = 2


#: operations from which a program becomes a tape: straight-line code would take seconds to compile
LONG = 60_000
#: vectors of states that one record of a tape computes
VECTORS = 4


def module(program: Program, form: str, host: Host, single: bool) -> str | None:
    """IR of a program that is compiled with loops, with the entry ``@one`` or ``@batch``; None for straight-line code."""
    lanes = host.width * (2 if single else 1)
    if program.operations >= LONG:
        if form == "batch":
            return tape_ir.batch_module(program, lanes * VECTORS, host.fma, single, lanes)
        return tape_ir.one_module(program, host.fma, single)
    split = rolled(program, lanes)
    if split is None:
        return None
    if form == "batch":
        return rolled_ir.batch_module(program, split, lanes, host.fma, single, lanes)
    return rolled_ir.one_module(program, split, ONE_WIDTH, host.fma, single, lanes)
