"""The clock a core runs at under load: a chain of dependent one-cycle instructions, timed."""

from __future__ import annotations

import ctypes
import time

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


def clock(rounds: int = 20, turns: int = 20_000) -> float:
    """Cycles per second of this core, from the fastest of some rounds of about a millisecond."""
    import llvmlite.binding as llvm

    body = "\n".join(f"  %s{k} = add i64 %x{k}, %y\n  %x{k + 1} = xor i64 %s{k}, %y" for k in range(PAIRS))
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(_LOOP.format(body=body, last=PAIRS))
    machine = llvm.Target.from_default_triple().create_target_machine(opt=2)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    chain = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(engine.get_function_address("chain"))
    best = float("inf")
    for k in range(rounds):
        start = time.perf_counter()
        chain(turns, k + 3)
        best = min(best, time.perf_counter() - start)
    return 2 * PAIRS * turns / best


def arithmetic_limit(operations: int, lanes: int, hertz: float) -> float:
    """Nanoseconds a state would take if every cycle started two full vector operations and nothing else."""
    return operations / (2 * lanes) / hertz * 1e9
