"""Reachability along a path: which x = ṡ² can still be brought to rest, and the fastest of them (Pham & Pham 2018).

An interval from s to s + Δ has constant u = s̈, so x rises linearly, from x to z = x + 2Δu.  Its limits are rows
α x + β z ≤ γ: limits at its beginning, and at its end.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from torsor.compile import Argument, Scan, record
from torsor.errors import ArgumentError
from torsor.scalar import Scalar, Scalars, maximum, minimum, where
from torsor.support.user_arrays import Array

#: rows are relaxed by this share of their scale, so that rounding errors do not empty a set that is one point
RELAXED = 1e-11
#: steps of Newton's method towards a vertex; each one leaves a row behind
VERTEX_STEPS = 100
#: the error where a motion may be as fast as one likes
UNLIMITED = "nothing limits the motion along the path; give finite limits of effort or acceleration"
#: x that no motion has
FAR = 1e100
#: coefficients that count as 0
NONE = 1e-100
#: slopes that differ by less, relative to their sizes, are those of parallel rows
PARALLEL = 1e-12


class Rows(NamedTuple):
    """l ≤ a u + b x + c ≤ h: one line per point of the path, one column per limit, (P, r) each."""

    a: Array
    b: Array
    c: Array
    lower: Array
    upper: Array

    def take(self, points: Any) -> Rows:
        """The rows at some of the points."""
        return Rows(*(x[points] for x in self))

    def value(self, u: Array, x: Array) -> Array:
        """a u + b x + c."""
        found: Array = self.a * u[:, None] + self.b * x[:, None] + self.c
        return found

    @property
    def scale(self) -> Array:
        """Half the range of every limit (r), or its largest distance from c where one side has none."""
        one = np.where(np.isfinite(self.upper), self.upper - self.c, self.c - self.lower)
        half = (self.upper - self.lower) / 2
        largest = np.abs(np.where(np.isfinite(half), half, one)).max(axis=0)
        return np.where(np.isfinite(largest) & (largest > 0), largest, 1.0)

    def over(self, scale: Array) -> Rows:
        """Every column divided by its scale."""
        return Rows(*(x / scale for x in self))


class Intervals(NamedTuple):
    """α x + β z ≤ γ in the intervals (N, R), from the limits ``columns``; ``floor`` ≤ x ≤ ``cap`` at the points (N + 1)."""

    alpha: Array
    beta: Array
    gamma: Array
    floor: Array
    cap: Array
    columns: Array


class Empty(Exception):
    """No x at a point from which the rest of the path can be followed; ``limits`` after it exclude each other."""

    def __init__(self, point: int, limits: Array):
        super().__init__(point, limits)
        self.point, self.limits = point, limits


def intervals(left: Rows, right: Rows, step: Array, stops: Array) -> Intervals:
    """The rows of all intervals, from the limits at both ends; x = 0 where the path ``stops``."""
    floor, cap = np.zeros(len(step) + 1), np.where(stops, 0.0, np.inf)
    for r, points in ((left, slice(None, -1)), (right, slice(1, None))):  # limits of x alone: of velocities
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = (r.lower - r.c) / r.b, (r.upper - r.c) / r.b
        alone, rises = (r.a == 0) & (r.b != 0), r.b > 0
        low, high = np.where(rises, *ends), np.where(rises, *ends[::-1])
        floor[points] = np.maximum(floor[points], np.where(alone, low, 0).max(axis=1, initial=0))
        cap[points] = np.minimum(cap[points], np.where(alone, high, np.inf).min(axis=1, initial=np.inf))
    columns = np.flatnonzero((left.a != 0).any(axis=0) | (right.a != 0).any(axis=0))
    if not len(columns):
        raise ArgumentError(UNLIMITED)
    left, right = (r.take((slice(None), columns)) for r in (left, right))
    k = 1 / (2 * step)[:, None]  # u = k (z − x)
    alpha, beta = np.hstack([left.b - k * left.a, -k * right.a]), np.hstack([k * left.a, right.b + k * right.a])
    upper, lower = (
        np.hstack([left.upper - left.c, right.upper - right.c]),
        np.hstack([left.lower - left.c, right.lower - right.c]),
    )
    both = np.hstack([alpha, -alpha]), np.hstack([beta, -beta]), np.minimum(np.hstack([upper, -lower]) + RELAXED, FAR)
    return Intervals(*both, floor, cap, np.tile(columns, 4))


def controllable(rows: Intervals, end: float) -> tuple[Array, Array]:
    """The controllable sets, lo ≤ x ≤ hi (N + 1): from there, and from nowhere else, the path can be followed to its end.

    The set of an interval's beginning is the projection of its rows and of the set of its end, z ∈ [lo, hi].  By
    Fourier–Motzkin elimination of z these are pairs of rows with a bound of z, one step after the other, and pairs of rows,
    for all intervals at once.
    """
    if not rows.floor[-1] <= end**2 <= rows.cap[-1] * (1 + RELAXED):
        raise ArgumentError(f"the end speed ds/dt = {end:g} is above {np.sqrt(rows.cap[-1]):g}, the largest there")
    lo, hi = backward(rows, end)
    low, high = vertices(rows, lo[:-1], hi[:-1])
    if (low > lo[:-1]).any() or (high < hi[:-1]).any():
        np.maximum(rows.floor[:-1], low, out=rows.floor[:-1])
        np.minimum(rows.cap[:-1], high, out=rows.cap[:-1])
        lo, hi = backward(rows, end)
    return lo, hi


def backward(rows: Intervals, end: float) -> tuple[Array, Array]:
    """Sets from end to beginning, by pairs of a row and a bound of z: α x ≤ γ − β z, z the bound that leaves most of x."""
    last = [end**2, end**2]
    sets = passes(rows.alpha.shape[1])[0](*rows[:3], rows.floor[:-1], np.minimum(rows.cap[:-1], FAR), last)
    if (empty := sets[:, 0] > sets[:, 1]).any():
        i = int(np.flatnonzero(empty)[-1])
        z = sets[i + 1] if i + 1 < len(sets) else last
        with np.errstate(divide="ignore", invalid="ignore"):
            x = (rows.gamma[i] - np.minimum(rows.beta[i] * z[0], rows.beta[i] * z[1])) / rows.alpha[i]
        above, below = (np.where(sign * rows.alpha[i] > NONE, sign * x, np.inf).argmin() for sign in (1, -1))
        raise Empty(i, rows.columns[[above, below]])
    if sets.max(initial=0) >= FAR:
        raise ArgumentError(UNLIMITED)
    return np.append(sets[:, 0], last[0]), np.append(sets[:, 1], last[1])


@lru_cache(maxsize=32)
def passes(width: int) -> tuple[Scan, Scan]:
    """The two loops over the intervals, with so many rows in each: the sets (N, 2) backwards, and x (N) forwards."""

    def back(
        alpha: Scalars, beta: Scalars, gamma: Scalars, floor: Scalars, cap: Scalars, z: Scalars
    ) -> dict[str, list[Scalar]]:
        low, high = floor[0], cap[0]
        for a, b, g in zip(alpha, beta, gamma, strict=True):
            x = (g - minimum(b * z[0], b * z[1])) / a
            low, high = maximum(low, where(a < -NONE, x, -FAR)), minimum(high, where(a > NONE, x, FAR))
        return {"set": [minimum(low, FAR), maximum(high, -FAR)]}  # before an empty set they need not be finite

    def forth(alpha: Scalars, beta: Scalars, gamma: Scalars, floor: Scalars, cap: Scalars, x: Scalars) -> dict[str, Scalar]:
        z = cap[0]
        for a, b, g in zip(alpha, beta, gamma, strict=True):
            z = minimum(z, where(b > NONE, (g - a * x[0]) / b, FAR))
        return {"z": maximum(z, floor[0])}

    given = [*(Argument(name, (width,)) for name in ("alpha", "beta", "gamma")), Argument("floor", ()), Argument("cap", ())]
    return (
        Scan(record(back, [*given, Argument("z", (2,))]), carry={"z": "set"}, reverse=True, name="controllable sets"),
        Scan(record(forth, [*given, Argument("x", ())]), carry={"x": "z"}, name="fastest motion"),
    )


def vertices(rows: Intervals, lo: Array, hi: Array) -> tuple[Array, Array]:
    """The smallest and the largest x within lo ≤ x ≤ hi for which the rows leave a z.

    The gap between the lowest row above and the highest row below, z̄(x) − z̲(x), is concave: Newton's method from the outside
    leaves one row after the other, and ends at the vertex.
    """
    above, below = rows.beta > NONE, rows.beta < -NONE
    with np.errstate(divide="ignore", invalid="ignore"):
        height, slope = rows.gamma / rows.beta, -rows.alpha / rows.beta
    at = np.arange(len(lo))
    found = []
    for start, sign in ((lo, 1.0), (hi, -1.0)):
        x = start.copy()
        for _ in range(VERTEX_STEPS):
            with np.errstate(invalid="ignore"):
                z = height + slope * x[:, None]
            j, k = np.argmin(np.where(above, z, np.inf), axis=1), np.argmax(np.where(below, z, -np.inf), axis=1)
            both = above[at, j] & below[at, k]
            gap, fall = z[at, j] - z[at, k], slope[at, j] - slope[at, k]
            parallel = np.abs(fall) <= PARALLEL * (np.abs(slope[at, j]) + np.abs(slope[at, k]))
            overlap = both & (gap < 0)
            if (hopeless := overlap & (parallel | (sign * fall < 0)) & (gap < -RELAXED * np.abs(z[at, j]))).any():
                i = int(np.argmax(hopeless))
                raise Empty(i, rows.columns[[j[i], k[i]]])
            with np.errstate(divide="ignore", invalid="ignore"):
                there = np.where(overlap & ~parallel, x - gap / fall, x)
            moved = sign * (there - x) > 0
            if not moved.any():
                break
            x = np.where(moved, there, x)
        found.append(x)
    return found[0], found[1]


def fastest(rows: Intervals, lo: Array, hi: Array, start: float) -> Array:
    """x (N + 1) of the fastest motion from ``start``: the largest z of every interval, within the sets of its end."""
    x = start**2
    if x < lo[0]:
        raise Empty(0, rows.columns[:0])
    if x > hi[0] * (1 + RELAXED):
        raise ArgumentError(
            f"the start speed ds/dt = {start:g} is not from {np.sqrt(lo[0]):g} to {np.sqrt(hi[0]):g}, the speeds from which "
            "the path can be followed within the limits"
        )
    return np.append(x, passes(rows.alpha.shape[1])[1](*rows[:3], lo[1:], hi[1:], x))
