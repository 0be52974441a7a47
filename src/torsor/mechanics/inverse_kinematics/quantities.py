"""The step of inverse kinematics as a quantity of an equation of motion whose constraints are the targets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from torsor.algorithms.configuration import integrate
from torsor.algorithms.equation import EquationOfMotion
from torsor.algorithms.equation.constrained import largest
from torsor.algorithms.reach import reaching_step, second_level
from torsor.kernels import Kernels, Quantity, Table
from torsor.kernels.quantities import labels, sizes
from torsor.scalar import Scalar, Scalars, sqrt, where
from torsor.spatial.linear import dot

#: the length that an angle of 1 rad counts as [m]
ANGLE = 0.3
#: violation of a loop's row [m, rad] that counts as closed
CLOSED = 1e-10
#: motion along the second level [rad, m] that counts as rest
REST = 1e-6
#: a limit that is none [rad, m]
FAR = 1e9
#: kinds of rows
LENGTH, ANGULAR, LOOP = "length", "angle", "loop"


class Row(NamedTuple):
    """What a row of the stacked constraints is: its constraint's number, its kind, its weight and its level (0: none)."""

    target: int
    kind: str
    weight: float
    level: int


class Plan(NamedTuple):
    """All that the kernel depends on beside the constraints: the rows, and the velocities that may move.

    ``entries`` are the entries of q with limits, one for each velocity in ``moving``, −1 for those without.
    """

    rows: tuple[Row, ...]
    moving: tuple[int, ...]
    entries: tuple[int, ...]


def reach(
    e: EquationOfMotion, q: Scalars, lower: Scalars, upper: Scalars, tolerance: Scalars, plan: Plan
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """q ⊕ d; the largest length, angle and loop error at q; (½|e|², the score of q as a seed, whether q is kept: 1 or 0).

    The score is the length of e − J d, what linear motion leaves, with a share of |d|² (the way is then less linear).
    """
    r = e.stack_rows(e.at(q))
    error, J = weighted_rows(r.error, r.A, plan, 1)
    down = [lower[k] - q[k] if k >= 0 else -FAR for k in plan.entries]
    up = [upper[k] - q[k] if k >= 0 else FAR for k in plan.entries]
    d = reaching_step(error, J, down, up)
    left = [x - dot(row, d) for x, row in zip(error, J, strict=True)]
    score: Scalar = sqrt(dot(left, left)) + 0.02 * dot(d, d)
    rest: Scalar = 0.0
    if any(row.level == 2 for row in plan.rows):
        d, rest = second_level(d, (error, J), weighted_rows(r.error, r.A, plan, 2), down, up)
    errors = [largest_error(r.error, plan, kind) for kind in (LENGTH, ANGULAR, LOOP)]
    off = largest([x / limit for x, limit in zip([*errors, rest], [*tolerance, REST], strict=True)])
    moves = where(off > 1, 1.0, 0.0)
    step: list[Scalar] = [0] * e.model.nv
    for k, x in zip(plan.moving, d, strict=True):
        step[k] = x * moves
    return integrate(e.model, q, step, 1), errors, [dot(error, error) / 2, score, 1 - moves]


def weighted_rows(phi: Scalars, A: Sequence[Scalars], plan: Plan, level: int) -> tuple[list[Scalar], list[list[Scalar]]]:
    """e = −w φ and J = w A of the rows of a level, over the velocities that may move."""
    chosen = [(k, row.weight * (ANGLE if row.kind == ANGULAR else 1)) for k, row in enumerate(plan.rows) if row.level == level]
    return [-w * phi[k] for k, w in chosen], [[w * A[k][i] for i in plan.moving] for k, w in chosen]


def largest_error(phi: Scalars, plan: Plan, kind: str) -> Scalar:
    """The largest |φ| of all targets of the first level, each over its rows of a kind."""
    by_target: dict[int, list[Scalar]] = {}
    for x, row in zip(phi, plan.rows, strict=True):
        if row.kind == kind and row.level == 1:
            by_target.setdefault(row.target, []).append(x)
    return largest([sqrt(dot(x, x)) for x in by_target.values()])


QUANTITIES = Table(
    "torsor.mechanics.inverse_kinematics.quantities:QUANTITIES",
    {
        "reach": Quantity(
            ("q", "lower", "upper", "tolerance"), reach, ("plan",), ("q", "error", "state"), follows_terms=True, lenient=True
        ),
    },
    title="inverse kinematics",
    symbols="give it numbers",
)


def kernels_of(e: EquationOfMotion) -> Kernels:
    """The kernels of an equation whose constraints are targets."""
    shapes: dict[str, Any] = {**sizes(e.model), "lower": (e.model.nq,), "upper": (e.model.nq,), "tolerance": (3,)}
    return Kernels(e.model.name, e, QUANTITIES, shapes, labels(e.model))
