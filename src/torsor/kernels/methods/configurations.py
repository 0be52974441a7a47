"""Methods of Robot: the configuration manifold, and the limits of configurations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError
from torsor.kernels.compiled_mechanism import CompiledMechanism
from torsor.kernels.kernel_method import kernel_method_of, quantity_method
from torsor.support.user_arrays import Array

#: the last result of the kernels of limits, finite for valid configurations
VALID = {"total": math.inf}


class Configurations(CompiledMechanism):
    """Sums and differences of configurations, and their rates."""

    @quantity_method
    def integrate(self, q: ArrayLike, v: ArrayLike, dt: ArrayLike = 1.0, *, out: Array | None = None) -> Array:
        """q ⊕ v dt, ``(nq,)``: the configuration after dt [s] at constant velocity v (unit quaternions stay unit)."""

    @quantity_method
    def configuration_rate(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """q̇ = N(q) v, ``(nq,)``: the rate of the coordinates at velocity v; equal to v except for joints with a quaternion."""

    @quantity_method
    def difference(self, q0: ArrayLike, q1: ArrayLike, *, out: Array | None = None) -> Array:
        """q1 ⊖ q0, ``(nv,)``: the constant velocity that leads from q0 to q1 in one second; q0 ⊕ (q1 ⊖ q0) = q1.

        Continuous joints go the short way round, unless another joint follows them.
        """

    @quantity_method
    def velocity_from_rate(self, q: ArrayLike, qdot: ArrayLike, *, out: Array | None = None) -> Array:
        """v = N⁺(q) q̇, ``(nv,)``: the velocity [rad/s, m/s] of the rate q̇ of the coordinates; inverse of configuration_rate.

        The part of q̇ that would change the length of a quaternion has no effect.
        """

    @quantity_method
    def acceleration_from_rates(self, q: ArrayLike, qdot: ArrayLike, qddot: ArrayLike, *, out: Array | None = None) -> Array:
        """a = d/dt (N⁺(q) q̇), ``(nv,)``: the acceleration [rad/s², m/s²] of a path with the rates q̇ and q̈ of the coordinates.

        Equal to q̈ except for joints with a quaternion, in which only the path of its direction counts.
        """

    @quantity_method
    def distance(self, q0: ArrayLike, q1: ArrayLike, *, out: Array | None = None) -> Array:
        """|q1 ⊖ q0| = √Σ (q1 ⊖ q0)²: the length of the shortest way from q0 to q1 [rad, m], both units counted alike.

        Continuous joints and quaternions go the short way round; the turns of a revolute joint count, and those of a joint
        that another joint follows.
        """

    @quantity_method
    def interpolate(self, q0: ArrayLike, q1: ArrayLike, s: ArrayLike, *, out: Array | None = None) -> Array:
        """q0 ⊕ s (q1 ⊖ q0), ``(nq,)``: the configuration [rad, m] at a share s of the way from q0 (s = 0) to q1 (s = 1).

        The geodesic at constant velocity q1 ⊖ q0: straight for plain coordinates, about one axis for a quaternion, along one
        screw for a floating joint.  ``s`` may be a batch, and lie outside [0, 1].
        """

    @kernel_method_of(guards=VALID)
    def clip(self, q: ArrayLike) -> Array:
        """q with every coordinate moved to the nearest value within its limits, ``(..., nq)``.

        A leader is also moved so that its mimic joints are within theirs, if its own limits allow it.  Quaternions are
        normalised and otherwise stay.
        """
        return self._kernel_of("clip")(q)[0]

    def within_limits(self, q: ArrayLike, tolerance: float = 0.0) -> Any:
        """Whether lower − tolerance ≤ q ≤ upper + tolerance for all joints, mimic joints too: a bool, or an array for a batch.

        Quaternions have no limits.

        >>> import torsor as ts
        >>> robot = ts.robots.panda()
        >>> robot.within_limits(robot.neutral()), robot.within_limits(robot.configuration("ready"))
        (False, True)
        """
        if not isinstance(tolerance, (int, float, np.number)) or not 0 <= tolerance < math.inf:
            raise ArgumentError(f"tolerance must be a finite number [rad, m] of at least 0, not {tolerance!r}")
        return self._limit_violation(q) <= tolerance

    @kernel_method_of(guards=VALID)
    def _limit_violation(self, q: ArrayLike) -> Any:
        """Distance of q from the range of its limits [rad, m], 0 inside."""
        return self._kernel_of("_limit_violation")(q)[0]
