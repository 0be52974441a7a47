"""Differential inverse kinematics as a quantity of an equation of motion whose constraints are the targets."""

from __future__ import annotations

from collections.abc import Sequence

from torsor.algorithms.equation import EquationOfMotion
from torsor.algorithms.equation.constrained import largest
from torsor.algorithms.velocity_within_limits import velocity_bounds, velocity_within_limits
from torsor.compile import Argument
from torsor.kernels import Kernels, Quantity, Table
from torsor.kernels.quantities import labels, sizes
from torsor.mechanics.inverse_kinematics.quantities import (
    ANGLE,
    ANGULAR,
    FAR,
    LENGTH,
    LOOP,
    Plan,
    largest_error,
    limited_entries,
)
from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars, maximum, minimum, where
from torsor.spatial.linear import dot

#: residual that counts as none, relative to the largest velocity or 1: near singular configurations v₀ is some hundred times
#: as large, and motions that J does not see have a weight of 10⁻⁶, which leaves 8 digits of 16
RESIDUAL = 1e-8


def velocity(
    e: EquationOfMotion,
    q: Scalars,
    v: Scalars,
    lower: Scalars,
    upper: Scalars,
    speed: Scalars,
    acceleration: Scalars,
    dt: Scalar,
    change: Scalar,
    gain: Scalar,
    damping: Scalar,
    slowest: Scalar,
    G: Scalars = (),
    h: Scalars = (),
    *,
    plan: Plan,
    steps: int,
    rows: int = 0,
) -> tuple[list[Scalar], Scalar, list[Scalar], list[list[Scalar]], Scalar, Scalar]:
    """v, the scale s, the largest linear and angular A v − y, the bounds (l, u), the residual, and 0 if v is a result, else 1.

    The rows of a target demand y = b − k φ, k the gain, but no more than 1/dt; those of a loop 1/dt.  Joints that do not move
    the targets stop as fast as their limits permit.
    """
    r, k = e.stack_rows(e.at(q)), minimum(gain, 1 / dt)
    wanted = [b - (1 / dt if row.kind == LOOP else k) * x for b, x, row in zip(r.speed, r.error, plan.rows, strict=True)]
    places = limited_entries(e.model)
    room = [q[i] - lower[i] if i >= 0 else FAR for i in places], [upper[i] - q[i] if i >= 0 else FAR for i in places]
    low, up = velocity_bounds(room, v, speed, acceleration, dt, change)
    found = [maximum(minimum(0, u), w) for w, u in zip(low, up, strict=True)]
    others = [i for i in range(e.model.nv) if i not in plan.moving]

    def over_moving(A: Sequence[Scalars], y: Scalars, weights: Sequence[float]) -> tuple[list[list[Scalar]], list[Scalar]]:
        """The rows over the velocities that may move, and their right-hand side less the others' part."""
        left = [x - dot([row[i] for i in others], [found[i] for i in others]) for row, x in zip(A, y, strict=True)]
        J = [[w * row[i] for i in plan.moving] for row, w in zip(A, weights, strict=True)]
        return J, [w * x for w, x in zip(weights, left, strict=True)]

    def level(level: int) -> tuple[list[list[Scalar]], list[Scalar]]:
        chosen = [i for i, row in enumerate(plan.rows) if (0 if row.kind == LOOP else row.level) == level]
        weights = [plan.rows[i].weight * (ANGLE if plan.rows[i].kind == ANGULAR else 1) for i in chosen]
        return over_moving([r.A[i] for i in chosen], [wanted[i] for i in chosen], weights)

    least, most = ([x[i] for i in plan.moving] for x in (low, up))
    below = over_moving([G[i * e.model.nv :][: e.model.nv] for i in range(rows)], h, [1] * rows)
    moving, scale, residual = velocity_within_limits(level(1), level(2), level(0), below, least, most, damping, slowest, steps)
    for i, x in zip(plan.moving, moving, strict=True):
        found[i] = x
    off = [dot(row, found) - y for row, y in zip(r.A, wanted, strict=True)]
    errors = [largest_error(off, plan, kind) for kind in (LENGTH, ANGULAR)]
    left = where(residual <= RESIDUAL * largest([1.0, *found]), where(largest([*r.speed, *v]) <= FAR, 0, 1), 1)
    return found, scale, errors, [low, up], residual, left


def inputs(model: Model, plan: Plan, steps: int, rows: int = 0) -> list[Argument]:
    """Those of :func:`velocity`; G and h if there are rows."""
    shapes: dict[str, tuple[int, ...]] = {**sizes(model), "lower": (model.nq,), "upper": (model.nq,)}
    shapes |= dict.fromkeys(("speed", "acceleration"), (model.nv,))
    names = ["q", "v", "lower", "upper", "speed", "acceleration"]
    numbers = ["dt", "change", "gain", "damping", "slowest"]
    constraints = [Argument("G", (rows, model.nv)), Argument("h", (rows,))] if rows else []
    return [
        *(Argument(x, shapes[x], labels(model).get(x, ())) for x in names),
        *(Argument(x, ()) for x in numbers),
        *constraints,
    ]


QUANTITIES = Table(
    "torsor.mechanics.inverse_kinematics.velocities:QUANTITIES",
    {
        "velocity": Quantity(
            inputs,
            velocity,
            ("plan", "steps", "rows"),
            ("v", "scale", "error", "bounds", "residual", "open"),
            follows_terms=True,
            lenient=True,
        ),
    },
    title="differential inverse kinematics",
    symbols="give it numbers",
)


def kernels_of(e: EquationOfMotion) -> Kernels:
    """The kernels of an equation whose constraints are targets."""
    return Kernels(e.model.name, e, QUANTITIES, sizes(e.model), labels(e.model))
