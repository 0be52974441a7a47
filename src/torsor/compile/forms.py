"""The three forms that a program takes as machine code, and how a module is put together from them.

Most programs are straight-line code (:mod:`torsor.compile.llvm.emit`), very long ones a tape (:mod:`torsor.compile.tape`).
Either may leave the inverse of a matrix to a loop behind it (:mod:`torsor.compile.rolled`).  The choice depends on the program
alone, never on the batch; straight-line code and tape give the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence

from torsor.compile.llvm.blocked_ir import BlockedEmitter
from torsor.compile.llvm.drivers import batch_driver, one_driver
from torsor.compile.llvm.emit import Emitter, header
from torsor.compile.llvm.lanes import IRWriter
from torsor.compile.llvm.rolled_ir import InverseLoop
from torsor.compile.llvm.solve_ir import SolveLoop
from torsor.compile.llvm.tape_ir import TapeEmitter
from torsor.compile.outline import outline
from torsor.compile.program import Program, without_garbage_collection
from torsor.compile.rolled import Split, split, with_factors
from torsor.compile.target import Host

#: one state is computed in vectors of two: faster than scalars on every processor tried
ONE_WIDTH = 2
#: below this many operations a batch is computed two vectors a turn: a short recursion waits on itself, two overlap
SHORT = 800
#: operations from which a program becomes a tape: straight-line code would take seconds to compile
LONG = 50_000
#: the same for the part before loops, which save more than that
LONG_HEAD = 70_000
#: operations up to which a batch factors a matrix in straight-line code, all lanes in use, before the loop inverts it
FACTORS = 10_000
#: vectors of states that one record of a tape computes: reading the record takes as long as computing one
VECTORS = 4


def module(program: Program, form: str, host: Host, single: bool) -> str:
    """IR of a program, with the entry ``@one`` or ``@batch`` according to ``form``."""
    with without_garbage_collection():
        lanes, one = host.width * (2 if single else 1), form == "one"
        parts = split(program, lanes)
        if parts is None:
            return _text(program, _body(program, one, host.fma, single, lanes, LONG))
        long = LONG_HEAD if parts.solved else LONG
        straight = not one and parts.tree.factor_operations <= FACTORS and parts.head.operations < long - FACTORS
        if straight and (packed := split(program, lanes, aligned=False)) is not None:
            parts = with_factors(packed)
        body = _body(parts.head, one, host.fma, single, lanes, long, private=1)
        loops: list[InverseLoop | SolveLoop] = [
            InverseLoop(parts.tree, IRWriter(lanes, single=single), host.fma, not one, straight)
        ]
        if parts.solved:
            start = parts.tree.starts(1 if straight else lanes)
            loops.append(SolveLoop(parts, IRWriter(lanes, single=single), host.fma, start))
        return _text(program, body, parts, loops)


def _body(
    program: Program, one: bool, fma: bool, single: bool, lanes: int, long: int, private: int = 0
) -> Emitter | TapeEmitter:
    """The operations of a program, as straight-line code or as a tape; its last ``private`` outputs are for loops behind it."""
    outlined = outline(program)
    if outlined.operations >= long:
        return TapeEmitter(outlined, IRWriter(1 if one else lanes * VECTORS, one, single), fma, lanes)
    if one:
        return Emitter(program, IRWriter(ONE_WIDTH, one, single), fma)
    width = lanes * (2 if program.operations < SHORT else 1)
    b = IRWriter(width, single=single)
    return BlockedEmitter(program, b, fma, private) if width > 1 else Emitter(program, b, fma)


def _text(
    program: Program,
    body: Emitter | TapeEmitter,
    parts: Split | None = None,
    loops: Sequence[InverseLoop | SolveLoop] = (),
) -> str:
    """The module: functions of the body, those of the loops, and the driver that calls them for each vector of states."""
    b, calls, functions = body.b, body.calls(), body.functions()
    inputs, outputs = [a.size for a in program.inputs], [o.size for o in program.outputs]
    private, extra = 0, []
    if parts is not None:
        private = parts.head.outputs[-1].size
        extra = [line for loop in loops for line in loop.declarations()]
        functions += "\n".join(loop.text() for loop in loops)
        calls += _inversions(b, parts, len(inputs), len(inputs) + len(outputs))
        if not parts.solved:
            outputs[parts.output] = 0  # it is not staged: the loop reads its own results
    lines = "\n".join(calls)
    if b.one:
        driver = one_driver(b, body.slots, lines, len(inputs) + len(outputs), private)
    else:
        blocks = body.blocks() if isinstance(body, BlockedEmitter) else None
        driver = batch_driver(b, inputs, outputs, body.slots, lines, private, blocks)
    return "\n".join((header(b, driver.work, driver.stage, extra), functions, driver.text))


def _inversions(b: IRWriter, parts: Split, inputs: int, arguments: int) -> list[str]:
    """Calls of the loops for each state: from the row behind the arguments to those of the outputs, with its flag."""
    lines, width = [], 1 if b.one else b.width
    for lane in range(width):
        rows = {f"private{lane}": arguments}
        rows |= {f"solved{k}_{lane}": inputs + k for k in (parts.output, *parts.solved)}
        for name, argument in rows.items():
            lines.append(f"  %{name}p = getelementptr ptr, ptr %lanes, i64 {argument * width + lane}")
            lines.append(f"  %{name} = load ptr, ptr %{name}p")
        lines += [
            f"  %matrix{lane} = getelementptr {b.E}, ptr %private{lane}, i64 {parts.first}",
            f"  %flag{lane} = getelementptr {b.E}, ptr %scratch, i64 {lane}",
            f"  call void @inverse(ptr %matrix{lane}, ptr %solved{parts.output}_{lane}, ptr %flag{lane})",
        ]
        if parts.solved:
            rest = ", ".join(f"ptr %solved{k}_{lane}" for k in parts.solved)
            lines.append(f"  call void @solve(ptr %private{lane}, ptr %flag{lane}, {rest})")
    return lines
