"""Cylindrical joint."""

from __future__ import annotations

from dataclasses import dataclass

from torsor.model.joints.base import SingleAxis, axes_about, forces, moments
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Force, Motion, Subspace, Transform, about
from torsor.spatial.recovery import angle_about
from torsor.spatial.vector import ZERO


@dataclass(frozen=True)
class Cylindrical(SingleAxis):
    """q = (θ [rad], d [m]): rotation about, and translation along, one unit axis."""

    name = "cylindrical"
    nq = nv = 2
    angles = (0,)

    def transform(self, q: Scalars) -> Transform:
        return Transform.of_pose(about(self.axis, q[0]), self.axis * q[1])

    def subspace(self, q: Scalars) -> Subspace:
        return Subspace((Motion(self.axis, ZERO), Motion(ZERO, self.axis)))

    def complement(self, q: Scalars) -> tuple[Force, ...]:
        x, y, _ = axes_about(self.axis)
        return (*moments(x, y), *forces(x, y))

    def coordinates(self, X: Transform) -> list[Scalar]:
        return [angle_about(self.axis, X.pose[0]), self.axis.dot(X.r)]
