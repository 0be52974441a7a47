"""Ball joint with three angles as coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi
from typing import Any

from torsor.errors import ModelError
from torsor.model.joints.base import JointType, forces
from torsor.model.joints.composite import JointSequence
from torsor.model.joints.revolute import Revolute
from torsor.scalar import Scalar, Scalars, atan2
from torsor.spatial import Force, Transform, about
from torsor.spatial.vector import AXES

#: orders of three different axes
ORDERS = ("zyx", "xyz", "xzy", "yxz", "yzx", "zxy")


@dataclass(frozen=True)
class EulerAngles(JointSequence):
    """q = (θ₁, θ₂, θ₃) [rad], R = Rot(a₁, θ₁) Rot(a₂, θ₂) Rot(a₃, θ₃) about the axes of ``order``; v = q̇.

    ``"zyx"`` is yaw, pitch, roll (Pinocchio's SphericalZYX).  Each axis turns with the rotations before it.  At θ₂ = ±π/2 the
    first axis and the third are parallel: gimbal lock, S has rank two there and M is singular.  :class:`Spherical` has no such
    configuration.

    >>> EulerAngles().transform([0.3, 0.0, 0.0]).pose[0] == EulerAngles("xyz").transform([0.0, 0.0, 0.3]).pose[0]
    True
    """

    order: str = "zyx"
    name = "euler"
    nq = nv = 3  # of the class, too

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise ModelError(
                f"EulerAngles: order must be one of {', '.join(ORDERS)}, not {self.order!r}; "
                "about an axis twice: Composite([Revolute(...), ...])"
            )

    def sequence(self) -> tuple[JointType, ...]:
        return tuple(Revolute(AXES["xyz".index(letter)]) for letter in self.order)

    def complement(self, q: Scalars) -> tuple[Force, ...]:
        return forces(*AXES)

    def coordinates(self, X: Transform) -> list[Scalar]:
        """θ₂ in [−π/2, π/2].  θ₁ and θ₃ follow with R to rounding near gimbal lock, too: there any θ₁ will do."""
        a, b, c = (AXES["xyz".index(letter)] for letter in self.order)
        s = a.cross(b).dot(c)  # 1 or −1: whether the axes are right-handed
        R, _ = X.pose
        first = atan2(b.dot(R @ c) * -s, c.dot(R @ c))
        R = about(a, first).T @ R  # Rot(b, θ₂) Rot(c, θ₃)
        return [first, atan2(a.dot(R @ c) * s, c.dot(R @ c)), atan2(b.dot(R @ a) * s, b.dot(R @ b))]

    def random(self, rng: Any, lower: Sequence[float], upper: Sequence[float], shape: tuple[int, ...] = ()) -> list[Any]:
        """θ₂ within [−π/2, π/2], which has every rotation once, unless the limits are beyond."""
        low, high = max(lower[1], -pi / 2), min(upper[1], pi / 2)
        bounds = (low, high) if low <= high else (lower[1], upper[1])
        return super().random(rng, (lower[0], bounds[0], lower[2]), (upper[0], bounds[1], upper[2]), shape)
