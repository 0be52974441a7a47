"""Joint limits, over any scalar: how far q is outside, and the nearest q inside."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from torsor.model.limits import Interval, Limits, MimicRange, leader_ranges
from torsor.model.polynomials import evaluate
from torsor.scalar import Scalar, Scalars, absolute, maximum, minimum, where
from torsor.spatial import Quaternion


def limit_violation(limits: Limits, mimics: Sequence[MimicRange], q: Scalars) -> Scalar:
    """max(0, lower − q, q − upper) over all joints [rad, m], mimic joints too; quaternions have no limits."""
    far: Scalar = 0.0
    lower, upper = limits.lower.tolist(), limits.upper.tolist()
    for part in limits.quaternions:
        lower[part], upper[part] = [-inf] * 4, [inf] * 4
    for x, low, high in zip(q, lower, upper, strict=True):
        far = maximum(far, _outside(x, low, high))
    for m in mimics:
        own = _outside(evaluate(m.coefficients, q[m.entry]), m.lower, m.upper)
        for low, high in leader_ranges(m):  # rounded inwards, as clip moves the leader: there it is inside
            own = where(_outside(q[m.entry], low, high) <= 0.0, minimum(own, 0.0), own)
        far = maximum(far, own)
    return far


def clip(limits: Limits, of_leaders: dict[int, list[Interval]], q: Scalars) -> list[Scalar]:
    """The nearest q inside the limits and the intervals of leaders, with quaternions normalised."""
    own = zip(limits.lower.tolist(), limits.upper.tolist(), strict=True)
    out = [_nearest(x, of_leaders.get(k, [ends])) for k, (x, ends) in enumerate(zip(q, own, strict=True))]
    for part in limits.quaternions:
        out[part] = Quaternion.of(q[part]).normalized
    return out


def total(limits: Limits, q: Scalars) -> Scalar:
    """Σ|q|/nq + Σ 1/|quaternion|²: finite for the configurations that are valid; min and max would drop a NaN."""
    squares = [sum(x * x for x in Quaternion.of(q[part])) for part in limits.quaternions]
    return sum(absolute(x) / len(q) for x in q) + sum(1 / x for x in squares)


def _outside(x: Scalar, low: float, high: float) -> Scalar:
    """max(low − x, x − high): negative inside the interval; zero without limits."""
    below = low - x if low > -inf else 0.0
    return maximum(below, x - high) if high < inf else below


def _nearest(x: Scalar, intervals: Sequence[Interval]) -> Scalar:
    """The point of disjoint intervals that is nearest to x; the first of two."""
    first, *others = (minimum(maximum(x, low), high) for low, high in intervals)
    for y in others:
        first = where(absolute(y - x) < absolute(first - x), y, first)
    return first
