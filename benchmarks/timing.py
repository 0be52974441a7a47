"""A contest of two statements: they must agree before they are timed, and are then timed in turn."""

from __future__ import annotations

import os
import timeit
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

#: relative error above which nothing is timed
AGREEMENT = 1e-9


class Disagreement(Exception):
    """Two libraries gave different answers; timing them would mean nothing."""


@dataclass(frozen=True)
class Effort:
    """How long to measure: rounds of at least this many seconds, and the sizes of the batches."""

    rounds: int = 9
    seconds: float = 0.02
    tiny: int = 64  # states of a batch that shows what a call costs
    small: int = 4096  # of one that stays in the cache
    large: int = 100_000  # and of one that does not
    processes: int = 5  # runs of each start-up measurement


QUICK = Effort(rounds=2, seconds=0.002, large=20_000, processes=1)


@dataclass(frozen=True)
class Contest:
    """``ours`` and ``theirs`` are statements over ``names``, timed as a user would write them.

    ``samples`` replace names for the agreement check.  A statement's value is its answer, unless there is an expression
    (``answer``, ``our_answer``) to be evaluated after it.  ``back`` brings the peer's answer into torsor's order.
    ``agreement`` is the relative error above which nothing is timed: larger for peers that compute finite differences.
    """

    section: str
    quantity: str
    robot: str
    peer: str
    ours: str
    theirs: str
    names: dict[str, Any]
    samples: list[dict[str, Any]] = field(default_factory=lambda: [{}])
    states: int = 1
    our_answer: str = ""
    answer: str = ""
    back: Callable[[Any], Any] = np.asarray
    agreement: float = AGREEMENT
    extra: dict[str, Any] = field(default_factory=dict)

    def error(self) -> float:
        """The largest error of any state, relative to that state's largest number."""
        return max(self._error({**self.names, **sample}) for sample in self.samples)

    def _error(self, names: dict[str, Any]) -> float:
        x = np.asarray(_value(self.ours, self.our_answer, names))
        y = np.asarray(self.back(_value(self.theirs, self.answer, names)))
        if x.shape != y.shape:
            raise Disagreement(f"shapes {x.shape} and {y.shape}")
        rows = (self.states, -1) if self.states > 1 else (1, -1)
        difference, size = np.abs(x - y).reshape(rows), np.abs(y).reshape(rows)
        worst = (difference.max(axis=1) / np.maximum(size.max(axis=1), 1e-300)).max()
        return float(worst) if np.isfinite(worst) else np.inf

    def run(self, effort: Effort) -> dict[str, Any]:
        """The record of this contest: nanoseconds per state of both, their ratio, their agreement."""
        kept = ("section", "quantity", "robot", "peer", "states", "ours", "theirs")
        record = {k: getattr(self, k) for k in kept} | self.extra
        try:
            error = self.error()
            if error > self.agreement:
                raise Disagreement(f"relative error {error:.1e} > {self.agreement:.0e}")
        except Exception as problem:  # one broken peer or method must not hide the other rows
            return record | {"problem": f"{type(problem).__name__}: {problem}"}
        ours, theirs = time_interleaved([self.ours, self.theirs], self.names, effort)
        ns = 1e9 / self.states
        return record | {"error": error, "ours_ns": ours * ns, "theirs_ns": theirs * ns, "ratio": theirs / ours}


def _value(statement: str, answer: str, names: dict[str, Any]) -> Any:
    if not answer:
        return eval(statement, names)
    exec(statement, names)
    return eval(answer, names)


def time_interleaved(statements: list[str], names: dict[str, Any], effort: Effort) -> list[float]:
    """Seconds per execution of each statement: the best of several rounds, in each of which all have their turn."""
    timers = [timeit.Timer(s, globals=names) for s in statements]
    loops = [_loops(t, effort.seconds) for t in timers]
    best = [np.inf] * len(timers)
    for _ in range(effort.rounds):
        for k, (timer, n) in enumerate(zip(timers, loops, strict=True)):
            best[k] = min(best[k], timer.timeit(n) / n)
    return [float(b) for b in best]


def _loops(timer: timeit.Timer, seconds: float) -> int:
    n = 1
    while (t := timer.timeit(n)) < seconds:
        n = max(2 * n, int(n * seconds / max(t, 1e-7)) if t > seconds / 10 else 0)
    return n


@contextmanager
def pin_to_one_core() -> Iterator[int | None]:
    """This thread on one core, where the system allows it; the core's number."""
    if not hasattr(os, "sched_setaffinity"):
        yield None
        return
    before = os.sched_getaffinity(0)
    core = max(before)
    os.sched_setaffinity(0, {core})
    try:
        yield core
    finally:
        os.sched_setaffinity(0, before)
