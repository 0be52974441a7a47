"""Where inverse kinematics begins: a table of configurations, of which those with the nearest poses come first."""

from __future__ import annotations

from functools import cache

import numpy as np

from torsor.compile import Argument, Kernel
from torsor.kernels.functions import function_kernel
from torsor.mechanics.inverse_kinematics.quantities import ANGLE
from torsor.scalar import Scalar, Scalars, maximum, minimum, where
from torsor.scalar.repeat import repeatable
from torsor.spatial.linear import dot
from torsor.support.user_arrays import Array

#: configurations in the table, how many of them are tried for a target, and numbers that describe a pose
TABLE, BEST, POINT = 256, 8, 12


def spread(count: int, low: Array, high: Array) -> Array:
    """Points spread evenly between low and high (n,), (count, n): Kronecker's sequence of the generalized golden ratio.

    x_k = frac(½ + k (g⁻¹, g⁻², ...)), with g^(n+1) = g + 1 (Roberts 2018).

    >>> spread(3, np.array([0.0]), np.array([1.0])).round(3).ravel()
    array([0.118, 0.736, 0.354])
    """
    n, g = len(low), 2.0
    for _ in range(60):
        g = (1 + g) ** (1 / (n + 1))
    share = (0.5 + np.arange(1, count + 1)[:, None] * g ** -np.arange(1.0, n + 1)) % 1
    return np.asarray(low + (high - low) * share)


def rows_of(T: Array) -> Array:
    """Rows (½ y·Wy, Wy) of poses (n, 4, 4), y the first twelve numbers of a pose: y·Wy is |p|² + 2 ANGLE²|R|²."""
    y, weights = T[:, :3].reshape(-1, POINT), np.tile([2 * ANGLE**2] * 3 + [1.0], 3)
    return np.concatenate([(y**2 @ weights)[:, None] / 2, y * weights], axis=1)


def nearest_rows(table: Scalars, T: Scalars) -> dict[str, list[Scalar]]:
    """The numbers of the rows of a table whose poses are nearest to T, one in each part of it; the nearest first.

    Parts instead of the nearest of all: the seeds differ more.
    """
    width, part, point = 1 + POINT, TABLE // BEST, T[:POINT]

    def nearest(rows: Scalars, point: Scalars) -> list[Scalar]:
        """The least ½ y·Wy − Wy·x, half the square of the distance but for a constant, and the number of its row."""
        least: Scalar = rows[0] - dot(rows[1:width], point)
        number: Scalar = 0
        for k in range(1, part):
            distance = rows[k * width] - dot(rows[k * width + 1 : (k + 1) * width], point)
            number, least = where(distance < least, k, number), minimum(distance, least)
        return [least, number]

    once = repeatable(nearest)
    found = [once(table[k * part * width : (k + 1) * part * width], point) for k in range(BEST)]
    rows = [(least, number + k * part) for k, (least, number) in enumerate(found)]
    for last in range(BEST - 1, 0, -1):  # by comparing neighbours: a sort without branches
        for k in range(last):
            (a, i), (b, j) = rows[k], rows[k + 1]
            rows[k : k + 2] = (minimum(a, b), where(b < a, j, i)), (maximum(a, b), where(b < a, i, j))
    return {"rows": [number for _, number in rows]}


@cache
def nearest_kernel() -> Kernel:
    """Compiled :func:`nearest_rows`, the same for all robots."""
    return function_kernel("nearest", nearest_rows, [Argument("table", (TABLE, 1 + POINT)), Argument("T", (16,))])
