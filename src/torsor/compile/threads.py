"""Division of a batch into pieces, the number of threads that share them, and their interruption.

Python handles a signal between two instructions of its main thread, never inside machine code.  So work is cut into pieces
of a few milliseconds; a loop that cannot be cut runs in another thread and reads a stop word, while the main thread waits.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from torsor.compile.llvm.lanes import LIBM
from torsor.compile.llvm.native import llvm_lock
from torsor.compile.program import Program
from torsor.errors import ArgumentError

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

#: number of operations that justify a separate thread: about a tenth of a millisecond, three times the cost of starting it
WORTHWHILE = 2_000_000
#: pieces a thread's share is cut into
PIECES = 2
#: most operations of a piece: about 2 ms of machine code
LONGEST_PIECE = 40_000_000
#: most numbers that a piece reads and writes: 2 ms where pages of memory are new, more on a busy machine
LARGEST_PIECE = 1_000_000

_count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
#: read by machine code: how many times more rows than two threads would share are computed in one go, as a power of two.
#: Eight times is under two milliseconds, less than Python's own turn between its threads.
patience = ctypes.c_int64(0 if _count > 1 else 3)


def _set(n: int) -> None:
    global _count
    _count, patience.value = n, 0 if n > 1 else 3


class threads:
    """``torsor.threads(n)`` spreads batches over n threads from now on, or inside a ``with`` block.

    Results do not depend on it, bit for bit.  ``threads.count()`` returns the number; the default is all cores.

    >>> with threads(1):
    ...     threads.count()
    1
    """

    def __init__(self, n: int):
        if not isinstance(n, int) or n < 1:
            raise ArgumentError(f"threads takes a whole number from 1, not {n!r}")
        self._before = _count
        _set(n)

    def __enter__(self) -> threads:
        return self

    def __exit__(self, *error: object) -> None:
        _set(self._before)

    @staticmethod
    def count() -> int:
        """Number of threads that share a long batch now."""
        return _count


def cost(program: Program) -> int:
    """Operations of one evaluation, as time: a number read or written is one, a call of the C library fifty."""
    numbers = sum(a.size for a in (*program.inputs, *program.outputs))
    part = program.recorded_part
    calls = sum(part.counts[name] for name in LIBM if name not in ("sin", "cos"))
    return part.operations + program.loop_operations + numbers + 49 * calls


@cache
def _pool(pid: int, workers: int) -> ThreadPoolExecutor:
    with llvm_lock:
        from concurrent.futures import ThreadPoolExecutor  # slow to import, and a small robot never needs it

    return ThreadPoolExecutor(workers, thread_name_prefix="torsor")


_never_stopped = ctypes.c_int64(0)


def run_in_threads(
    work: Callable[[int, int, ctypes.c_int64], int], rows: int, operations: int, align: int, numbers: int = 1
) -> int:
    """work(start, end, stop) over 0 … rows, in as many threads as are worth it; the smallest result that is not −1.

    The rows are cut into more pieces than there are threads, and each thread takes the next piece when it is done with one:
    a thread that starts late, or shares its core, does not delay the others.  A piece that takes longer than ``LONGEST_PIECE``
    operations must return soon after ``stop`` is no longer 0.  ``numbers`` are those that a row reads and writes.

    When this returns or raises, no thread runs ``work``.  ``work`` must own all it reads and writes: if
    signals interrupt the wait for the threads again and again, it is the threads that keep the memory alive.
    """
    n = max(1, min(_count, rows * operations // WORTHWHILE, rows // align))
    longest = min(LONGEST_PIECE // max(1, operations), LARGEST_PIECE // numbers)
    if n == 1 and rows <= longest:
        return work(0, rows, _never_stopped)
    step = max(1, min(-(-rows // (n * PIECES)), longest))
    step += -step % align
    pieces = iter(range(0, rows, step))  # next() on it is atomic, so two threads never get the same piece
    stop, bad = ctypes.c_int64(0), [-1]
    running: list[None] = []

    def take() -> None:
        for start in pieces:
            if stop.value:
                break
            bad.append(work(start, min(start + step, rows), stop))

    def help_out() -> None:
        running.append(None)  # before stop is read: once it is set and this list is empty, no thread starts a piece
        try:
            take()
        except BaseException:
            stop.value = 1
            raise
        finally:
            running.pop()

    waits = min(align, rows) * operations > LONGEST_PIECE and threading.current_thread() is threading.main_thread()
    try:
        helpers = n if waits else n - 1
        # a forked child needs a pool of its own
        futures = [_pool(os.getpid(), _count).submit(help_out) for _ in range(helpers)]
        if not waits:
            take()
        for future in futures:
            future.result()
    except BaseException:
        _wait_for_threads(stop, running)
        raise
    return min((b for b in bad if b >= 0), default=-1)


def _wait_for_threads(stop: ctypes.c_int64, running: list[None]) -> None:
    """Wait until no thread is running; a signal does not end the wait, since another exception is already propagating."""
    try:
        stop.value = 1
        while running:
            time.sleep(0.0005)
    except BaseException:
        _wait_for_threads(stop, running)
