"""Constraint rows of a rollout: checks of its start and of each step, and the reasons in errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.algorithms.equation import EquationOfMotion
from torsor.algorithms.equation.constrained import doubt_of, factors, slip
from torsor.algorithms.equation.settle import LIMITS, near_rows
from torsor.errors import ArgumentError, ClosureError, SingularError
from torsor.model.terms.constraint import PROJECTION
from torsor.scalar import Scalar, Scalars, maximum, where

if TYPE_CHECKING:
    from torsor.mechanics.constraints import ConstrainedRobot

SINGULAR = "a singular position; robot.simulate can pass it, a rollout cannot"


def next_residual(e: EquationOfMotion, limits: Sequence[float], before: Scalars, now: Scalars) -> list[Scalar]:
    """Running maxima; not finite where one is beyond its limit, so that the rollout stops there."""
    free = 0 if e.settling == PROJECTION else 2  # φ and A v − b are as other methods leave them
    most = [maximum(x, y) for x, y in zip(before, now, strict=True)]
    return most[:free] + [x / where(x <= limit, 1.0, 0.0) for x, limit in zip(most[free:], limits[free:], strict=True)]


def violation(
    e: EquationOfMotion, limits: Sequence[float], q: Scalars, v: Scalars, end: Scalars, t: float, dt: float
) -> str | None:
    """The reason why a step from (q, v) to ``end`` was not accepted, over floats; None if the rows hold."""
    now = slip(near_rows(e, q, v, t), v), limits[1], "[m/s, rad/s]"
    then = near_rows(e, end, None, t + dt).error, limits[0], "[m, rad]"
    for found, limit, unit in (now, then) if e.settling == PROJECTION else ():
        size, row = max((abs(x), name) for x, name in zip(found, e.names, strict=True))
        if size > limit:
            return f"constraint {row!r} is violated by {size:.3g} {unit}, more than {limit:g}; use a smaller dt"
    try:
        doubt = doubt_of(factors(e, q, e.rows, "", t).pivots)
    except SingularError:
        doubt = np.inf
    return None if doubt < limits[2] else f"the constraint rows are nearly dependent, {SINGULAR}"


def check_start(held: ConstrainedRobot, q: np.ndarray, v: np.ndarray, limit: float = LIMITS["float64"][0]) -> None:
    """Refuse initial states that do not satisfy the constraints."""
    time = 0.0 if held.solver.clock else None
    for name, found, unit, error, remedy in (
        ("q", held.residual(q, time=time), "[m, rad]", ClosureError, "assemble(q)"),
        ("v", held.slip(q, v, time=time), "[m/s, rad/s]", ArgumentError, "constrained().project_velocity(q, v)"),
    ):
        size = np.abs(found)
        if size.max(initial=0.0) > limit:
            *at, row = map(int, np.unravel_index(np.argmax(size), size.shape))
            which = f"{name} of state {at}" if at else name
            raise error(
                f"the initial {which} violates constraint {held.rows[row]!r} by {size.max():.3g} {unit}; use robot.{remedy}"
            )


def refuse_step(held: ConstrainedRobot, given: Mapping[str, Any], bad: np.ndarray | None) -> None:
    """Raise the reason why a step does not keep the rows: the state before it violates them, or they are dependent there."""
    check_start(held, np.asarray(given["q"], float), np.asarray(given["v"], float))
    place = [] if bad is None else [int(k) for k in np.argwhere(bad)[0]]
    which = f"state {place} of the batch: " if place else ""
    raise SingularError(
        f"{which}a step of dt = {given['dt']} s does not keep the constraints: use a smaller dt, or it starts in {SINGULAR}"
    )
