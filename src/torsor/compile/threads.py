"""How many threads a batch is spread over."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from torsor.errors import ArgumentError

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

#: operations that are worth a thread of their own: about a tenth of a millisecond, three times what starting it costs
WORTHWHILE = 2_000_000
#: pieces a thread's share is cut into
PIECES = 2

_count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
#: read by machine code: how many times more rows than two threads would share are computed in one go, as a power of two.
#: Eight times is under two milliseconds, less than Python's own turn between its threads.
patience = ctypes.c_int64(0 if _count > 1 else 3)


def _set(n: int) -> None:
    global _count
    _count, patience.value = n, 0 if n > 1 else 3


class threads:
    """``torsor.threads(n)`` spreads batches over n threads from now on, or inside a ``with`` block.

    Results do not depend on it, to the bit.  ``threads.count()`` tells the number; the default is every core.

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
        """How many threads share a long batch now."""
        return _count


@cache
def _pool(pid: int, workers: int) -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor  # slow to import, and a small robot never needs it

    return ThreadPoolExecutor(workers, thread_name_prefix="torsor")


def spread(work: Callable[[int, int], int], rows: int, operations: int, align: int) -> int:
    """work(start, end) over 0 … rows, in as many threads as are worth it; the smallest result that is not −1.

    The rows are cut into more pieces than there are threads, and each thread takes the next piece when it is done with one:
    a thread that wakes up late, or shares its core, delays nobody.
    """
    n = min(_count, rows * operations // WORTHWHILE, rows // align)
    if n <= 1:
        return work(0, rows)
    step = -(-rows // (n * PIECES))
    step += -step % align
    pieces = iter(range(0, rows, step))  # next() on it is atomic, so two threads never get the same piece

    def take() -> int:
        return min((bad for start in pieces if (bad := work(start, min(start + step, rows))) >= 0), default=-1)

    pool = _pool(os.getpid(), _count)  # a forked child needs a pool of its own
    futures = [pool.submit(take) for _ in range(n - 1)]
    bad = [take(), *(f.result() for f in futures)]
    return min((b for b in bad if b >= 0), default=-1)
