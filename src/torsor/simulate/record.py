"""Records of a simulation: rows as they come, packed into arrays, and the times at which rows are recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray

#: records kept as single arrays before they are packed into one
BLOCK = 4096
#: records per step of an adaptive integrator, whose steps are long; the end of the step is one of them
WITHIN = 4


class Schedule(Protocol):
    """The times to record: grid times, times within a step, ends of steps; impacts and the end are recorded always."""

    at_step_end: bool

    def at_grid_time(self, k: int) -> bool:
        """Whether to record grid time k."""

    def within(self, start: float, end: float) -> Sequence[float]:
        """Times to record between the ends of a step."""


class GridTimes:
    """Fixed steps: the grid times numbered in ``kept``; None for all."""

    at_step_end = False

    def __init__(self, kept: set[int] | None):
        self.kept = kept

    def at_grid_time(self, k: int) -> bool:
        return self.kept is None or k in self.kept

    def within(self, start: float, end: float) -> Sequence[float]:
        return ()


class EachStep:
    """Adaptive steps, all of them: WITHIN records per step."""

    at_step_end = True

    def at_grid_time(self, k: int) -> bool:
        return True

    def within(self, start: float, end: float) -> Sequence[float]:
        return (start + (end - start) * np.arange(1, WITHIN) / WITHIN).tolist()


class Regular:
    """Adaptive steps, recorded at the multiples of ``period`` [s]."""

    at_step_end = False

    def __init__(self, period: float, duration: float):
        self.times = (np.arange(1, int(duration / period) + 1) * period).tolist()

    def at_grid_time(self, k: int) -> bool:
        return k == 0

    def within(self, start: float, end: float) -> Sequence[float]:
        inner = [t for t in self.times if start < t < end]
        self.times = [t for t in self.times if t >= end]
        return inner


class Record:
    """Rows (t, q, v, τ, *wrenches), packed as they come."""

    def __init__(self) -> None:
        self.rows: list[tuple] = []
        self.blocks: list[list[Array]] = []

    def add(self, *row: Any) -> None:
        self.rows.append(row)
        if len(self.rows) == BLOCK:
            self._pack()

    def extend(self, *columns: Array) -> None:
        self._pack()
        self.blocks.append(list(columns))

    def _pack(self) -> None:
        if self.rows:
            block = [np.array(column) for column in zip(*self.rows, strict=True)]
            self.blocks, self.rows = [*self.blocks, block], []  # no call between the two: Ctrl-C finds each row once

    def columns(self) -> list[Array]:
        self._pack()
        return [np.concatenate(parts) for parts in zip(*self.blocks, strict=True)]

    @property
    def latest(self) -> float | None:
        """The time of the last row."""
        if self.rows:
            return float(self.rows[-1][0])
        return float(self.blocks[-1][0][-1]) if self.blocks and len(self.blocks[-1][0]) else None
