"""Result of inverse kinematics, and what it says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.mechanics.inverse_kinematics.problem import Problem


@dataclass(slots=True, eq=False)
class InverseKinematicsResult:
    """q (..., nq) that meet the targets, or come closest where ``success`` (...) is False.

    ``attempts`` are the initial configurations tried, ``notes`` what was changed.  ``errors`` (..., 3) are the largest
    position, angle and loop errors of all targets of the first level, ``problem`` the kernels that found it.
    """

    q: Array
    success: Any
    errors: Array
    attempts: Any
    limits: tuple[Array, Array]
    coordinates: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)
    problem: Problem | None = None

    def __reduce__(self) -> Any:
        """Without the problem: kernels are large."""
        return type(self), (self.q, self.success, self.errors, self.attempts, self.limits, self.coordinates, self.notes)

    @property
    def position_error(self) -> Any:
        """The largest distance from a target [m]."""
        return self.errors[..., 0]

    @property
    def angle_error(self) -> Any:
        """The largest angle from a target [rad]."""
        return self.errors[..., 1]

    @property
    def at_limit(self) -> Array:
        """The coordinates that are at a limit, but for rounding, (..., nq)."""
        near = 1e-9 * (1 + np.abs(self.q))
        found: Array = (self.q - self.limits[0] <= near) | (self.limits[1] - self.q <= near)
        return found

    @property
    def message(self) -> str:
        """What was found; of a batch, how many."""
        if np.ndim(self.success):
            return f"{int(np.sum(self.success))} of {np.size(self.success)} targets found"
        where = [name for name, at in zip(self.coordinates, self.at_limit, strict=True) if at]
        limits = f", {' and '.join(where)} at {'its limit' if len(where) == 1 else 'their limits'}" if where else ""
        size = f"{_length(float(self.position_error))}, {np.degrees(float(self.angle_error)):.3g}°"
        if self.success:
            return f"found in {_count(int(self.attempts))}: off by {size}{limits}"
        return f"not found in {_count(int(self.attempts))}; closest {size}{limits}"

    def __repr__(self) -> str:
        return f"<InverseKinematicsResult: {self.message}>"


def _count(n: int) -> str:
    return f"{n} attempt" + "s" * (n != 1)


def _length(x: float) -> str:
    """A length, in mm where these are handy."""
    return f"{1e3 * x:.3g} mm" if 1e-5 <= x < 1 else f"{x:.3g} m"
