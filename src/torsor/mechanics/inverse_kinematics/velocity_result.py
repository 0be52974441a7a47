"""Result of differential inverse kinematics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.compile import Kernel
    from torsor.mechanics.inverse_kinematics.differential import VelocityProblem


@dataclass(slots=True, eq=False)
class VelocityResult:
    """v (..., nv) [rad/s, m/s] within the ``bounds`` (..., 2, nv) of this step, and the ``scale`` s (...) of the motion.

    The targets move at s times the velocity without limits: 1 where the limits permit all of it.  ``errors`` (..., 2) are the
    largest differences of a target's velocity from the wanted one, linear and angular.  Where ``success`` (...) is False no v
    was found that keeps loops and inequalities; v is within its limits, and not to be used.  ``coordinates`` are the names of
    the entries of v that move the targets, "" for the others.
    """

    v: Array
    scale: Any
    errors: Array
    bounds: Array
    success: Any
    coordinates: tuple[str, ...] = ()
    problem: VelocityProblem | None = None

    def __reduce__(self) -> Any:
        """Without the problem: kernels are large."""
        return type(self), (self.v, self.scale, self.errors, self.bounds, self.success, self.coordinates)

    @property
    def limits(self) -> tuple[Array, Array]:
        """The bounds of this step, (l, u)."""
        return self.bounds[..., 0, :], self.bounds[..., 1, :]

    @property
    def velocity_error(self) -> Any:
        """The largest difference from a wanted velocity [m/s]."""
        return self.errors[..., 0]

    @property
    def angular_velocity_error(self) -> Any:
        """The largest difference from a wanted angular velocity [rad/s]."""
        return self.errors[..., 1]

    @property
    def at_limit(self) -> Array:
        """The entries of v that are at a limit of this step, but for rounding, (..., nv)."""
        near = 1e-9 * (1 + np.abs(self.v))
        found: Array = (self.v - self.limits[0] <= near) | (self.limits[1] - self.v <= near)
        return found

    @property
    def kernel(self) -> Kernel | None:
        """The compiled kernel, for :func:`torsor.export.export_c`; None after pickling."""
        return None if self.problem is None else self.problem.kernel()

    @property
    def message(self) -> str:
        """The scale and the entries of v at a limit; of a batch, the number of states at full speed."""
        if np.ndim(self.success):
            full = int(np.sum(np.asarray(self.success) & (np.asarray(self.scale) > 1 - 1e-9)))
            return (
                f"{full} of {np.size(self.success)} at full speed, {int(np.sum(~np.asarray(self.success)))} without a solution"
            )
        if not self.success:
            return "no velocity found that keeps limits, loops and inequalities"
        where = [name for name, at in zip(self.coordinates, self.at_limit, strict=True) if at and name]
        return f"{100 * float(self.scale):.3g} % of the speed" + (f", limited by {', '.join(where)}" if where else "")

    def __repr__(self) -> str:
        return f"<VelocityResult: {self.message}>"
