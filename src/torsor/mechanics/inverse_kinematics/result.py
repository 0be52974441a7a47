"""Result of inverse kinematics, and what it says."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from torsor.support.user_arrays import Array


@dataclass(frozen=True, eq=False)
class InverseKinematicsResult:
    """q (..., nq) that meet the targets, or come closest where ``success`` (...) is False.

    ``position_error`` [m] and ``angle_error`` [rad] are the largest of all targets of the first level.  ``attempts`` are the
    initial configurations tried; ``at_limit`` (..., nq) are the coordinates that are at a limit, ``notes`` what was changed.
    """

    q: Array
    success: Array
    position_error: Array
    angle_error: Array
    attempts: Array
    at_limit: Array
    coordinates: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)

    @property
    def message(self) -> str:
        """What was found; of a batch, how many."""
        if self.success.ndim:
            return f"{int(self.success.sum())} of {self.success.size} targets found"
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
