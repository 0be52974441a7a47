"""Stops and dry friction of joints in a step: rows of one coordinate each, whose impulses are within bounds.

    stop:          0 ≤ λ ⊥ v⁺ + b ≥ 0     on the side of the nearer limit
    dry friction:  |λ − c dt| ≤ F dt,     λ against v⁺ on its bound

c is the mean of the two directions' levels and F half of their sum: breakaway at rest, kinetic in motion (MR §8.9.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

from torsor.algorithms.equation.at import At
from torsor.algorithms.equation.equation import EquationOfMotion
from torsor.algorithms.friction import dry_levels
from torsor.model.terms.stops import Stops
from torsor.model.terms.term import Term
from torsor.scalar import Scalar, Scalars, is_zero, minimum, where

#: speed below which a joint is at rest: it then has the breakaway level [rad/s, m/s]
AT_REST = 1e-6


class StopGap(NamedTuple):
    """The distance of a coordinate from its nearer limit [rad, m], and the side: 1 at the lower, −1 at the upper."""

    row: int  #: of v
    gap: Scalar
    side: Scalar
    restitution: Scalar


class DryFriction(NamedTuple):
    """Dry friction of a coordinate as a force on it: within ``bound`` of ``mean`` [N·m, N]."""

    row: int  #: of v
    mean: Scalar
    bound: Scalar


def stop_gaps(terms: Sequence[Term], at: At) -> list[StopGap]:
    """All coordinates with limits that are stops."""
    found = []
    for term in (t for t in terms if isinstance(t, Stops)):
        limits, joints = dict(term.limits), set(term.stopped(at.model))
        for name in (name for name in limits if name in joints):
            i = at.body_of(name)
            for k, (low, high) in enumerate(limits[name]):
                q, row = at.q[at.model.q_start[i] + k], at.model.v_start[i] + k
                below, above = q - low, high - q
                if isfinite(low) and isfinite(high):
                    found.append(StopGap(row, minimum(below, above), where(below <= above, 1.0, -1.0), term.restitution))
                elif isfinite(low) or isfinite(high):
                    found.append(StopGap(row, below if isfinite(low) else above, 1 if isfinite(low) else -1, term.restitution))
    return found


def dry_friction(e: EquationOfMotion, at: At, tau: Scalars) -> list[DryFriction]:
    """All coordinates with dry friction, under the joint forces at the beginning of the step."""
    found = []
    for row, levels in dry_levels(at.model, at.v, e.loads(tau)).items():
        moves = abs(at.v[row]) > AT_REST
        low, high = (where(moves, x, y) for x, y in zip(levels.slide, levels.hold, strict=True))
        if not (is_zero(low) and is_zero(high)):
            found.append(DryFriction(row, (low + high) / -2, (high - low) / 2))
    return found
