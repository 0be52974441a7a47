"""Limits of joint forces for toppra, their coefficients in one batched call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError, needs_extra
from torsor.mechanics.trajectories.limit_rows import PathLimits, as_bounds
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.robot import Robot


def toppra_constraint(robot: Robot, effort_limit: ArrayLike | None = None, *, interpolate: bool = True) -> Any:
    """A constraint of toppra, τ_min ≤ m(s) s̈ + c(s) ṡ² + g(s) ≤ τ_max, beside others in ``toppra.algorithm.TOPPRA``.

    ``effort_limit`` [N·m, N] are the robot's by default: a number, one per coordinate, or lower and upper limits (2, nv).
    ``interpolate`` keeps the limits at both ends of every interval of toppra's grid, otherwise at its beginning.  The
    robot's coordinates must be those of the path: joints with quaternions, and forces that grow with v, are refused.
    """
    with needs_extra("toppra", "toppra", "a constraint of toppra"):
        from toppra.constraint import DiscretizationType, LinearConstraint
        from toppra.constraint.linear_constraint import canlinear_colloc_to_interpolate
    if robot.nq != robot.nv:
        raise ArgumentError(f"toppra has paths of coordinates with rates; robot {robot.name!r} has quaternions")
    bounds = as_bounds("effort_limit", effort_limit, robot.effort_limit, around_zero=False)
    limits = PathLimits(robot, None, {"effort": bounds})
    if not limits.affine:
        names = ", ".join(term.name for term in robot.model.terms if not term.size) or "its force elements"
        raise ArgumentError(
            f"robot {robot.name!r} has forces that may depend on v ({names}), which toppra's rows have no place for; use "
            "torsor.trajectories.time_optimal, or leave them out with robot.without_terms(...)"
        )
    low, high = np.isfinite(bounds)
    F = np.concatenate([np.eye(robot.nv)[high], -np.eye(robot.nv)[low]])
    g = np.concatenate([bounds[1, high], -bounds[0, low]])

    class JointForceLimits(LinearConstraint):  # type: ignore[misc]
        """F (m u + c x + g) ≤ (τ_max, −τ_min)."""

        def __init__(self) -> None:
            super().__init__()
            self.dof, self.identical = robot.nv, True
            self.set_discretization_type(DiscretizationType(int(interpolate)))
            self._format_string = f"    Joint forces of {robot.name}: {bounds.tolist()}"

        def compute_constraint_params(self, path: Any, gridpoints: Array) -> tuple[Any, ...]:
            if path.dof != robot.nv:
                raise ArgumentError(f"the path has {path.dof} coordinates, and robot {robot.name!r} has {robot.nv}")
            m, c, gravity = limits.joint_forces(*(path(gridpoints, order) for order in range(3)))
            rows = m, c, gravity, F, g, None, None
            if self.discretization_type == DiscretizationType.Collocation:
                return rows
            return tuple(canlinear_colloc_to_interpolate(*rows, gridpoints, identical=True))

    return JointForceLimits()
