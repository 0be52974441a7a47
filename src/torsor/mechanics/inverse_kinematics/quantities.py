"""The step of inverse kinematics as a quantity of an equation of motion whose constraints are the targets."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import Any, NamedTuple

from torsor.algorithms.configuration import integrate, joints_in_order
from torsor.algorithms.equation import EquationOfMotion
from torsor.algorithms.equation.constrained import largest
from torsor.algorithms.reach import LEAST, normal_equations, reaching_step, second_level
from torsor.kernels import Kernels, Quantity, Table
from torsor.kernels.quantities import labels, sizes
from torsor.mechanics.inverse_kinematics.rows import AtOrientation
from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars, maximum, sqrt, where
from torsor.scalar.repeat import repeatable
from torsor.spatial.linear import dot, factor_free, solve
from torsor.spatial.rigid.reading import ROTATION_TOLERANCE

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

    ``entries`` are the entries of q with limits, one for each velocity in ``moving``, −1 for those without.  Of them,
    ``turning`` are angles with a turn or more, without limits during the solution and moved by whole turns at its end.
    """

    rows: tuple[Row, ...]
    moving: tuple[int, ...]
    entries: tuple[int, ...]
    turning: tuple[int, ...] = ()

    @property
    def bounded(self) -> tuple[int, ...]:
        """One for each velocity in ``moving``: the entry of q that has limits during the solution, or −1."""
        return tuple(-1 if k in self.turning else k for k in self.entries)


def reach(
    e: EquationOfMotion, q: Scalars, lower: Scalars, upper: Scalars, tolerance: Scalars, plan: Plan, steps: int
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """q after some steps; the largest length, angle and loop error before the last; (½|e|², progress, fault).

    The progress is 0 if the targets are not met, 1 if they are but the second level moves, 2 if q is kept.  The fault is how
    far the given q is outside its limits, or a target's matrix from a rotation or pose beyond the tolerance, at most.
    """
    nq = e.model.nq
    found = repeat(e, q, lower, upper, tolerance, plan, steps)
    return found[:nq], found[nq : nq + 3], [*found[nq + 3 :], fault(e, q, lower, upper, plan)]


def follow(
    e: EquationOfMotion, q: Scalars, lower: Scalars, upper: Scalars, tolerance: Scalars, plan: Plan, steps: int
) -> tuple[list[Scalar], list[Scalar], Scalar]:
    """q and errors of :func:`reach` with a target without second level, and 0 if that is a result; otherwise 1.

    It is one if the targets are met, nothing is at fault, and no angle has to be moved by whole turns.
    """
    end = repeat(e, q, lower, upper, tolerance, plan, steps - 1)[: e.model.nq]
    errors, off = errors_of(e.stack_rows(e.at(end)).error, tolerance, plan)  # the last evaluation needs no rows and no step
    turned = [x for k in plan.turning for x in (abs(end[k] - q[k]) - pi, lower[k] - end[k], end[k] - upper[k])]
    wrong = greatest([fault(e, q, lower, upper, plan), *turned])
    return end, errors, where(off <= 1, where(wrong > 0, 1, 0), 1)


def repeat(
    e: EquationOfMotion, q: Scalars, lower: Scalars, upper: Scalars, tolerance: Scalars, plan: Plan, steps: int
) -> list[Scalar]:
    """:func:`reach_once` several times, recorded once."""
    one = repeatable(lambda q: reach_once(e, q, lower, upper, tolerance, plan))
    found = one(q)
    for _ in range(steps - 1):
        found = one(found[: e.model.nq])
    return found


def fault(e: EquationOfMotion, q: Scalars, lower: Scalars, upper: Scalars, plan: Plan) -> Scalar:
    """How far q is outside its limits, or a target's matrix from a rotation or pose beyond the tolerance, at most."""
    outside = [x for k in range(len(q)) if k not in plan.turning for x in (lower[k] - q[k], q[k] - upper[k])]
    matrices = [x for c in e.constraints if isinstance(c, AtOrientation) for x in c.faults()]
    return greatest([*outside, *(x - ROTATION_TOLERANCE for x in matrices)])


def newton(e: EquationOfMotion, q: Scalars, plan: Plan) -> list[Scalar]:
    """q ⊕ d with the shortest d for which J d = e: d = Jᵀy, (J Jᵀ + λ 1) y = e, Newton's step without limits (MR §6.2.2).

    Where e = 0, its derivative by the numbers of the targets is that of the solution: J dq = de (implicit function theorem).
    """
    r = e.stack_rows(e.at(q))
    error, J = weighted_rows(r.error, r.A, plan, 1)
    if len(J) <= len(plan.moving):
        G = [[dot(a, b) + (LEAST if a is b else 0) for b in J] for a in J]
        y = solve(factor_free(G, [1] * len(J)), error)
        d = [dot(column, y) for column in zip(*J, strict=True)]
    else:
        H, g = normal_equations(J, error, LEAST)
        d = solve(factor_free(H, [1] * len(g)), g)
    return integrate(e.model, q, spread_over(e.model.nv, plan, d), 1)


def spread_over(nv: int, plan: Plan, d: Scalars) -> list[Scalar]:
    """d at the velocities that may move, 0 at the others."""
    step: list[Scalar] = [0] * nv
    for k, x in zip(plan.moving, d, strict=True):
        step[k] = x
    return step


def limited_entries(model: Model) -> list[int]:
    """For each velocity the entry of q of which it is the rate, −1 where there is none, so that limits do not apply."""
    entries = [-1] * model.nv
    for _, joint, at, of in joints_in_order(model):
        if joint.nq == joint.nv:
            entries[of] = range(at.start, at.stop)
    return entries


def greatest(values: Scalars) -> Scalar:
    """The largest of some values and 0."""
    most: Scalar = 0
    for x in values:
        most = maximum(most, x)
    return most


def reach_once(e: EquationOfMotion, q: Scalars, lower: Scalars, upper: Scalars, tolerance: Scalars, plan: Plan) -> list[Scalar]:
    """q ⊕ d, then the errors, ½|e|² and the state at q."""
    r = e.stack_rows(e.at(q))
    error, J = weighted_rows(r.error, r.A, plan, 1)
    down = [lower[k] - q[k] if k >= 0 else -FAR for k in plan.bounded]
    up = [upper[k] - q[k] if k >= 0 else FAR for k in plan.bounded]
    d = reaching_step(error, J, down, up)
    rest: Scalar = 0
    if any(row.level == 2 for row in plan.rows):
        d, rest = second_level(d, (error, J), weighted_rows(r.error, r.A, plan, 2), down, up)
    errors, off = errors_of(r.error, tolerance, plan)
    moves = where(off > 1, 1, where(rest > REST, 1, 0))
    step = spread_over(e.model.nv, plan, [x * moves for x in d])
    return [*integrate(e.model, q, step, 1), *errors, dot(error, error) / 2, where(off > 1, 0, 2 - moves)]


def weighted_rows(phi: Scalars, A: Sequence[Scalars], plan: Plan, level: int) -> tuple[list[Scalar], list[list[Scalar]]]:
    """e = −w φ and J = w A of the rows of a level, over the velocities that may move."""
    chosen = [(k, row.weight * (ANGLE if row.kind == ANGULAR else 1)) for k, row in enumerate(plan.rows) if row.level == level]
    return [-w * phi[k] for k, w in chosen], [[w * A[k][i] for i in plan.moving] for k, w in chosen]


def errors_of(phi: Scalars, tolerance: Scalars, plan: Plan) -> tuple[list[Scalar], Scalar]:
    """The largest length, angle and loop error, and the largest of them in units of its tolerance."""
    errors = [largest_error(phi, plan, kind) for kind in (LENGTH, ANGULAR, LOOP)]
    return errors, largest([x / limit for x, limit in zip(errors, tolerance, strict=True)])


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
            ("q", "lower", "upper", "tolerance"),
            reach,
            ("plan", "steps"),
            ("q", "error", "state"),
            follows_terms=True,
            lenient=True,
        ),
        "follow": Quantity(
            ("q", "lower", "upper", "tolerance"),
            follow,
            ("plan", "steps"),
            ("q", "error", "open"),
            follows_terms=True,
            lenient=True,
        ),
        "newton": Quantity(("q",), newton, ("plan",), follows_terms=True),
    },
    title="inverse kinematics",
    symbols="give it numbers",
)


def kernels_of(e: EquationOfMotion) -> Kernels:
    """The kernels of an equation whose constraints are targets."""
    shapes: dict[str, Any] = {**sizes(e.model), "lower": (e.model.nq,), "upper": (e.model.nq,), "tolerance": (3,)}
    return Kernels(e.model.name, e, QUANTITIES, shapes, labels(e.model))
