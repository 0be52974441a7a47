"""How many threads a batch is spread over."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from torsor.errors import ArgumentError

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

#: operations that are worth a thread of their own: about a tenth of a millisecond, three times what starting it costs
WORTHWHILE = 2_000_000

_count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class threads:
    """``torsor.threads(n)`` spreads batches over n threads from now on, or inside a ``with`` block.

    Results do not depend on it, to the bit.  ``threads.count()`` tells the number; the default is every core.

    >>> with threads(1):
    ...     threads.count()
    1
    """

    def __init__(self, n: int):
        global _count
        if not isinstance(n, int) or n < 1:
            raise ArgumentError(f"threads takes a whole number from 1, not {n!r}")
        self._before, _count = _count, n

    def __enter__(self) -> threads:
        return self

    def __exit__(self, *error: object) -> None:
        global _count
        _count = self._before

    @staticmethod
    def count() -> int:
        return _count


@cache
def _pool(pid: int, workers: int) -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor  # slow to import, and a small robot never needs it

    return ThreadPoolExecutor(workers, thread_name_prefix="torsor")


def spread(work: Callable[[int, int], int], rows: int, operations: int, align: int) -> int:
    """work(start, end) over 0 … rows, in as many threads as are worth it; the smallest result that is not −1."""
    n = min(_count, rows * operations // WORTHWHILE, rows // align)
    if n <= 1:
        return work(0, rows)
    step = -(-rows // n)
    step += -step % align
    cuts = [(start, min(start + step, rows)) for start in range(0, rows, step)]
    pool = _pool(os.getpid(), _count)  # a forked child needs a pool of its own
    futures = [pool.submit(work, *cut) for cut in cuts[1:]]
    bad = [work(*cuts[0]), *(f.result() for f in futures)]
    return min((b for b in bad if b >= 0), default=-1)
