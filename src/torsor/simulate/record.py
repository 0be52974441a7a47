"""Records of a simulation: rows packed into arrays during the run, and the times at which rows are recorded."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.simulate.energy_flows import ADAPTIVE, FlowSum, LateFlows, PowerSum, columns_of
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.simulate.events import StepInterval
    from torsor.simulate.result import Result


#: records within an adaptive step, as shares of it: every other point of the sums of power
INNER = np.linspace(0, 1, ADAPTIVE)[2:-1:2]
#: number of single records before they are packed into one array
BLOCK = 4096
#: points of power that a result keeps, some 600 bytes each, until its work is read; with more it is summed before
LATE = 1024


class Schedule:
    """The times to record: the given ones, else all of the grid and, with ``inner``, ends and parts of adaptive steps too.

    Impacts and the end are recorded always.
    """

    def __init__(self, times: Sequence[float] | None = None, inner: bool = False):
        self.times, self.inner = times, inner

    def keeps(self, t: float, *, grid: bool = False) -> bool:
        """Whether to record the end of a step, which may be a time of the ``grid``."""
        if self.times is None:
            return grid or self.inner
        return bisect_left(self.times, t) < bisect_right(self.times, t)

    def within(self, start: float, end: float) -> Sequence[float]:
        """Times to record between the ends of a step."""
        if self.times is not None:
            return self.times[bisect_right(self.times, start) : bisect_left(self.times, end)]
        return (start + (end - start) * INNER).tolist() if self.inner else []


class Record:
    """Rows (t, q, v, τ, *wrenches, *states) of every step, packed during the run."""

    needs_all = True  #: whether rows that are not kept are needed too

    def __init__(self) -> None:
        self.flows: Mapping[str, Array] = {}  #: work and losses of the rows; computed from the rows if all steps are recorded
        self.rows: list[tuple] = []
        self.blocks: list[list[Array]] = []
        self.latest: float | None = None  #: the time of the last row that is kept

    def sum_flows(self, interval: StepInterval, start: float, end: float, inner: bool) -> dict[float, tuple[Any, ...]]:
        """Sum work and losses of an interval before its rows are added, where they are not computed from the rows.

        The rows that it needed, by their times.
        """
        return {}

    def add(self, *row: Any, kept: bool = True) -> None:
        """Add a state; ``kept`` if it is recorded, here for all rows."""
        self.rows.append(row)
        self.latest = row[0]
        if len(self.rows) == BLOCK:
            self._pack()

    def extend(self, *columns: Array, kept: Array) -> None:
        """Add many rows."""
        self._pack()
        self.blocks, self.latest = [*self.blocks, list(columns)], float(columns[0][-1])

    def columns(self) -> list[Array]:
        """All rows, by column."""
        self._pack()
        return [np.concatenate(parts) for parts in zip(*self.blocks, strict=True)]

    def _pack(self) -> None:
        if self.rows:
            block = columns_of(self.rows)
            self.blocks, self.rows = [*self.blocks, block], []  # no call between the two: Ctrl-C finds each row once


class PowerRecord(Record):
    """Record some rows, with work and losses summed while the forces of each step are known; ``idle`` if none does work."""

    needs_all = False

    def __init__(self, sums: PowerSum, idle: bool = False):
        super().__init__()
        self.sums, self.idle, self.total = sums, idle, np.zeros(2)
        self.waiting: list[tuple[tuple[Any, ...], int]] = []  #: rows, and the number of the step each is in; −1 before all

    def sum_flows(self, interval: StepInterval, start: float, end: float, inner: bool) -> dict[float, tuple[Any, ...]]:
        if len(self.sums.steps) * self.sums.points >= BLOCK:
            self._pack()
        return {} if self.idle else self.sums.over(interval, start, end, inner)

    def add(self, *row: Any, kept: bool = True) -> None:
        if kept:
            self.waiting.append((row, len(self.sums.steps) - 1))
            self.latest = row[0]

    def columns(self) -> list[Array]:
        """All rows, by column; the sums of those that are not packed are computed when they are first read."""
        if len(self.sums.steps) * self.sums.points > LATE:
            self._pack()
        rows, steps = [row for row, _ in self.waiting], np.array([k for _, k in self.waiting], int)
        columns = [*(block[:-1] for block in self.blocks), *([columns_of(rows)] if rows else [])]
        before, last = [block[-1] for block in self.blocks], partial(self.sums.sums, self.sums.steps[:], self.total, steps)
        times = np.array([row[0] for row in rows])
        self.flows = LateFlows(lambda: np.concatenate([*before, last(times)[0]]))
        return [np.concatenate(parts) for parts in zip(*columns, strict=True)]

    def _pack(self) -> None:
        rows, steps = [row for row, _ in self.waiting], np.array([k for _, k in self.waiting], int)
        flows, total = self.sums.sums(self.sums.steps, self.total, steps, np.array([row[0] for row in rows]))
        blocks = [*self.blocks, [*columns_of(rows), flows]] if rows else self.blocks
        # no call between these: Ctrl-C finds each row once
        self.blocks, self.total, self.sums.steps, self.waiting = blocks, total, [], []


class SummingRecord(Record):
    """Record some rows of fixed steps, with work and losses summed over all of them, in memory for one block of steps."""

    def __init__(self, result_of: Callable[[Sequence[Array]], Result]):
        super().__init__()
        self.flags: list[bool] = []
        self.sums = FlowSum(result_of)

    def add(self, *row: Any, kept: bool = True) -> None:
        self.rows.append(row)
        self.flags.append(kept)
        self.latest = row[0] if kept else self.latest
        if len(self.rows) == BLOCK:
            self._pack()

    def extend(self, *columns: Array, kept: Array) -> None:
        self._pack()
        self._sum(columns, kept)
        if kept.any():
            self.latest = float(columns[0][kept][-1])

    def columns(self) -> list[Array]:
        """The recorded rows, by column; afterwards ``flows`` has their sums, and no row can be added."""
        self._pack()
        self._sum([], np.zeros(0, bool), final=True)
        *columns, work, lost = (np.concatenate(parts) for parts in zip(*self.blocks, strict=True))
        self.flows = {"work": work, "lost": lost}
        return columns

    def _pack(self) -> None:
        if self.rows:
            self._sum(columns_of(self.rows), np.array(self.flags))

    def _sum(self, columns: Sequence[Array], kept: Array, *, final: bool = False) -> None:
        """Sum up the rows in ``columns``; rows that were added one by one are among them."""
        waiting, block = self.sums.after(columns, kept, final)
        blocks = [*self.blocks, block] if block else self.blocks
        # no call between these: Ctrl-C finds each row once
        self.sums.waiting, self.blocks, self.rows, self.flags = waiting, blocks, [], []
