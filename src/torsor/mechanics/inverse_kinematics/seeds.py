"""Where inverse kinematics begins: a table of configurations, of which those with the nearest poses come first."""

from __future__ import annotations

import numpy as np

from torsor.support.user_arrays import Array

#: features are whole multiples of this: so sums of products have no rounding errors, whatever their order in a batch
GRAIN = 2.0**-16
#: configurations in the table, and how many of them are tried for a target
TABLE, BEST = 256, 8


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


def nearest_rows(table: Array, wanted: Array) -> Array:
    """The row of the table (TABLE, k) that is nearest to each row wanted (N, k), in each of BEST parts of it: (N, BEST).

    Parts instead of the nearest of all: NumPy finds a minimum ten times as fast, and the seeds differ more.
    """
    parts, points = (np.round(x / GRAIN) * GRAIN for x in (table, wanted))
    distances = (parts**2).sum(axis=1) / 2 - points @ parts.T
    each = len(table) // BEST
    found: Array = distances.reshape(len(wanted), BEST, each).argmin(axis=2) + np.arange(BEST) * each
    return found
