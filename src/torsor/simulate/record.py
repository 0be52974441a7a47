"""Records of a simulation: rows packed into arrays during the run, and the times at which rows are recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from torsor.simulate.energy_flows import FlowSum

if TYPE_CHECKING:
    from torsor.simulate.result import Result

Array: TypeAlias = np.ndarray

#: number of single records before they are packed into one array
BLOCK = 4096
#: records per step of an adaptive integrator, whose steps are long; the end of the step is one of them
RECORDS_PER_STEP = 4


class RecordRow(NamedTuple):
    """A state to evaluate within a step: ``step`` if work and losses are summed there, ``kept`` if it is recorded."""

    t: float
    step: bool
    kept: bool

    @property
    def flags(self) -> dict[str, bool]:
        return {"step": self.step, "kept": self.kept}


class Schedule(Protocol):
    """The times to record.  Impacts and the end are recorded always."""

    def keeps_grid_time(self, k: int, t: float) -> bool:
        """Whether to record grid time number k."""

    def keeps_step_end(self, t: float) -> bool:
        """Whether to record the end of a step that is not a grid time."""

    def rows_within(self, start: float, end: float) -> Sequence[RecordRow]:
        """States to evaluate between the ends of a step."""


class GridTimes:
    """Fixed steps: the grid times numbered in ``kept``; None for all."""

    def __init__(self, kept: set[int] | None):
        self.kept = kept

    def keeps_grid_time(self, k: int, t: float) -> bool:
        return self.kept is None or k in self.kept

    def keeps_step_end(self, t: float) -> bool:
        return False

    def rows_within(self, start: float, end: float) -> Sequence[RecordRow]:
        return ()


class EachStep:
    """Adaptive steps, all of them: RECORDS_PER_STEP records per step."""

    def keeps_grid_time(self, k: int, t: float) -> bool:
        return True

    def keeps_step_end(self, t: float) -> bool:
        return True

    def rows_within(self, start: float, end: float) -> Sequence[RecordRow]:
        times = (start + (end - start) * np.arange(1, RECORDS_PER_STEP) / RECORDS_PER_STEP).tolist()
        return [RecordRow(t, True, True) for t in times]


class Regular:
    """Adaptive steps, recorded at the multiples of ``period`` [s]; work and losses are summed as if each step were."""

    def __init__(self, period: float, duration: float):
        self.times = (np.arange(int(duration / period) + 1) * period).tolist()

    def keeps_grid_time(self, k: int, t: float) -> bool:
        return self._take(t)

    def keeps_step_end(self, t: float) -> bool:
        return self._take(t)

    def rows_within(self, start: float, end: float) -> Sequence[RecordRow]:
        inner = [t for t in self.times if start < t < end]
        self.times = [t for t in self.times if t >= end]
        return sorted(
            [
                *(row._replace(kept=False) for row in EachStep().rows_within(start, end)),
                *(RecordRow(t, False, True) for t in inner),
            ]
        )

    def _take(self, t: float) -> bool:
        """Whether t is the next time to record, which it then no longer is."""
        if not self.times or self.times[0] != t:
            return False
        del self.times[0]
        return True


class Record:
    """Rows (t, q, v, τ, *wrenches, *states) of every step, packed during the run."""

    def __init__(self) -> None:
        self.flows: dict[str, Array] = {}  #: work and losses of the rows; computed from the rows if all steps are recorded
        self.rows: list[tuple] = []
        self.blocks: list[list[Array]] = []
        self.latest: float | None = None  #: the time of the last row that is kept

    def add(self, *row: Any, step: bool = True, kept: bool = True) -> None:
        """Add a state; ``step`` if work and losses are summed there, ``kept`` if it is recorded: here both for all rows."""
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
            block = [np.array(column) for column in zip(*self.rows, strict=True)]
            self.blocks, self.rows = [*self.blocks, block], []  # no call between the two: Ctrl-C finds each row once


class SummingRecord(Record):
    """Record some rows, with work and losses summed over all steps; memory is needed for one block of steps."""

    def __init__(self, result_of: Callable[[Sequence[Array]], Result]):
        super().__init__()
        self.flags: list[tuple[bool, bool]] = []
        self.sums = FlowSum(result_of)

    def add(self, *row: Any, step: bool = True, kept: bool = True) -> None:
        self.rows.append(row)
        self.flags.append((step, kept))
        self.latest = row[0] if kept else self.latest
        if len(self.rows) == BLOCK:
            self._pack()

    def extend(self, *columns: Array, kept: Array) -> None:
        self._pack()
        self._sum(columns, np.ones(len(kept), bool), kept)
        if kept.any():
            self.latest = float(columns[0][kept][-1])

    def columns(self) -> list[Array]:
        """The recorded rows, by column; afterwards ``flows`` has their sums, and no row can be added."""
        self._pack()
        self._sum([], np.zeros(0, bool), np.zeros(0, bool), final=True)
        *columns, work, lost = (np.concatenate(parts) for parts in zip(*self.blocks, strict=True))
        self.flows = {"work": work, "lost": lost}
        return columns

    def _pack(self) -> None:
        if self.rows:
            step, kept = np.array(self.flags).T
            self._sum([np.array(column) for column in zip(*self.rows, strict=True)], step, kept)

    def _sum(self, columns: Sequence[Array], step: Array, kept: Array, *, final: bool = False) -> None:
        """Sum up the rows in ``columns``; rows that were added one by one are among them."""
        waiting, block = self.sums.after(columns, step, kept, final)
        blocks = [*self.blocks, block] if block else self.blocks
        # no call between these: Ctrl-C finds each row once
        self.sums.waiting, self.blocks, self.rows, self.flags = waiting, blocks, [], []
