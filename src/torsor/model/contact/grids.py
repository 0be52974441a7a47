"""Ground of heights given as data: bilinear or bicubic between the points of a grid, over any scalar.

The cell of a point is found by halving the table: as long as the point is in the upper half, ``where`` takes the upper half.
Both axes are halved in turn, so the table of n × m heights costs about 1.5 n m selections of constants and no products.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torsor.errors import ArgumentError
from torsor.model.contact.surfaces import Distance, Surface
from torsor.scalar import Scalar, Scalars, maximum, minimum, sqrt, where
from torsor.spatial import Vec

#: heights of a grid, of which each contact point costs about 1.5 selections per step
MOST = 4096


@dataclass(frozen=True)
class Grid(Surface):
    """(z − h(x, y))/√(1 + |∇h|²): ``heights[i][j]`` [m] above ``at``, at x = i ``spacing[0]``, y = j ``spacing[1]`` from it.

    Between them h is bilinear, or with ``smooth`` bicubic (Catmull & Rom 1974), with a continuous slope.  Beyond its border h
    keeps the height of the nearest point of the border.
    """

    heights: tuple[tuple[float, ...], ...]
    spacing: tuple[float, float]
    at: Vec = Vec(0, 0, 0)
    smooth: bool = True

    def __post_init__(self) -> None:
        sizes = {len(row) for row in self.heights}
        if len(self.heights) < 2 or len(sizes) != 1 or min(sizes) < 2:
            raise ArgumentError("grid: heights must be a table of at least 2 × 2 numbers [m]")
        if (n := len(self.heights) * min(sizes)) > MOST:
            raise ArgumentError(
                f"grid: {n} heights are more than {MOST}, as each contact point looks through all of them; take a part of the "
                "ground, a larger spacing, or contacts.height with a formula"
            )
        if not all(abs(h) < float("inf") for row in self.heights for h in row):
            raise ArgumentError("grid: heights must be finite numbers; fill in those that are missing")
        if not all(0 < d < float("inf") for d in self.spacing):
            raise ArgumentError(f"grid: spacing must be positive [m], not {self.spacing}")

    def distance(self, p: Vec) -> Distance:
        h, hx, hy = self.height(p.x, p.y)
        k = 1 / sqrt(1 + hx * hx + hy * hy)
        return Distance((p.z - h) * k, Vec(-hx * k, -hy * k, k))

    def describe(self) -> str:
        return "grid"

    def height(self, x: Scalar, y: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        """h(x, y) and its slopes ∂h/∂x, ∂h/∂y, of x and y in the axes of the surface."""
        u, v = ((a - b) / d for a, b, d in zip((x, y), self.at, self.spacing, strict=False))
        m, n = len(self.heights) - 1, len(self.heights[0]) - 1
        rows = [self._extended(row) for row in self._extended(self.heights)]
        order = 3 if self.smooth else 1
        s, t = minimum(maximum(u, 0), m), minimum(maximum(v, 0), n)
        half = 1 << max(m, n).bit_length()
        while half := half // 2:
            if half <= m:
                upper, rows = s >= half, _halved_rows(rows, s >= half, half, half + order)
                s = s - where(upper, float(half), 0.0)
            if half <= n:
                upper, rows = t >= half, [_halved(row, t >= half, half, half + order) for row in rows]
                t = t - where(upper, float(half), 0.0)
        a, da = _cubic(s) if self.smooth else _linear(s, u, m)
        b, db = _cubic(t) if self.smooth else _linear(t, v, n)
        across = [_sum(b, row) for row in rows]
        hx, hy = _sum(da, across) / self.spacing[0], _sum(a, [_sum(db, row) for row in rows]) / self.spacing[1]
        return self.at.z + _sum(a, across), hx, hy

    def _extended(self, row: Sequence[Any]) -> list[Any]:
        """A row with one more at its ends, mirrored where it is smooth: the slope at the border is 0, as beyond it."""
        return [row[1], *row, row[-2], row[-2]] if self.smooth else [*row, row[-1]]


def _halved(row: Sequence[Scalar], upper: Scalar, half: int, keep: int) -> list[Scalar]:
    """The first ``keep`` of the upper half of a row where the point is there, else those of the lower half."""
    return [_select(upper, row[k + half], x) if k + half < len(row) else x for k, x in enumerate(row[:keep])]


def _halved_rows(rows: Sequence[Sequence[Scalar]], upper: Scalar, half: int, keep: int) -> list[list[Scalar]]:
    """The same of the rows of a table."""
    columns = [_halved(column, upper, half, keep) for column in zip(*rows, strict=True)]
    return [list(row) for row in zip(*columns, strict=True)]


def _select(condition: Scalar, a: Scalar, b: Scalar) -> Scalar:
    """``where``, without an operation between equal constants: flat ground is cheap."""
    return a if isinstance(a, float) and isinstance(b, float) and a == b else where(condition, a, b)


def _linear(s: Scalar, u: Scalar, cells: int) -> tuple[Scalars, Scalars]:
    """The weights of two neighbours and their slopes, which are 0 beyond the border."""
    inside = where(u < 0, 0.0, where(u > cells, 0.0, 1.0))
    return (1 - s, s), (-inside, inside)


def _cubic(s: Scalar) -> tuple[Scalars, Scalars]:
    """The weights of four neighbours and their slopes: cubics through the middle two with slopes (h₊ − h₋)/2 there."""
    s2 = s * s
    s3 = s2 * s
    w = (s2 - (s + s3) * 0.5, 1 - 2.5 * s2 + 1.5 * s3, s * 0.5 + 2 * s2 - 1.5 * s3, (s3 - s2) * 0.5)
    return w, (2 * s - 1.5 * s2 - 0.5, 4.5 * s2 - 5 * s, 4 * s - 4.5 * s2 + 0.5, 1.5 * s2 - s)


def _sum(weights: Scalars, row: Scalars) -> Scalar:
    return sum((w * x for w, x in zip(weights[1:], row[1:], strict=True)), start=weights[0] * row[0])
