"""Records of a simulation: rows as they come, packed into arrays."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray

#: records kept as single arrays before they are packed into one
BLOCK = 4096


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
