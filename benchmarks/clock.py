"""The clock a core runs at, and whether a second core is free: a chain of dependent one-cycle instructions, timed."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

PAIRS = 100  # x = (x + y) ^ y: two cycles, and nothing a compiler or a processor can shorten

_LOOP = """
define i64 @chain(i64 %n, i64 %y) {{
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %x0 = phi i64 [ %y, %start ], [ %x{last}, %loop ]
{body}
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret i64 %x{last}
}}
"""


@cache
def _chain() -> tuple[Callable[[int, int], int], Any]:
    """chain(turns, y), which takes 2 · PAIRS cycles a turn and holds no lock, and the engine that keeps its code alive."""
    import llvmlite.binding as llvm

    body = "\n".join(f"  %s{k} = add i64 %x{k}, %y\n  %x{k + 1} = xor i64 %s{k}, %y" for k in range(PAIRS))
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(_LOOP.format(body=body, last=PAIRS))
    machine = llvm.Target.from_default_triple().create_target_machine(opt=2)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(engine.get_function_address("chain")), engine


def _best(work: Callable[[], Any], rounds: int) -> float:
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def clock(rounds: int = 20, turns: int = 20_000) -> float:
    """Cycles per second of this core, from the fastest of some rounds of about a millisecond."""
    chain, _ = _chain()
    return 2 * PAIRS * turns / _best(lambda: chain(turns, 3), rounds)


def two_cores(rounds: int = 20, turns: int = 20_000) -> float:
    """Speed-up of two chains in two threads over one after the other: 2 where two cores are free, 1 where somebody has one."""
    chain, _ = _chain()
    with ThreadPoolExecutor(1) as pool:

        def both() -> None:
            other = pool.submit(chain, turns, 3)
            chain(turns, 3)
            other.result()

        return 2 * _best(lambda: chain(turns, 3), rounds) / _best(both, rounds)


def arithmetic_limit(operations: int, lanes: int, hertz: float) -> float:
    """Nanoseconds a state would take if every cycle started two full vector operations and nothing else."""
    return operations / (2 * lanes) / hertz * 1e9
