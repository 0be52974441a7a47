"""A sleeve on a shaft."""

from __future__ import annotations

from dataclasses import dataclass

from torsor.model.joints.base import JointType, Scalars, axis_alignment, local_axis
from torsor.spatial import Mat, Motion, Subspace, Transform, Vec, about
from torsor.spatial.vector import ZERO


@dataclass(frozen=True)
class Cylindrical(JointType):
    """q = (θ [rad], d [m]): rotation about, and translation along, one unit axis."""

    axis: Vec
    name = "cylindrical"
    nq = nv = 2

    def transform(self, q: Scalars) -> Transform:
        return Transform.of_pose(about(self.axis, q[0]), self.axis * q[1])

    def subspace(self, q: Scalars) -> Subspace:
        return Subspace((Motion(self.axis, ZERO), Motion(ZERO, self.axis)))

    def aligned(self) -> tuple[Mat, JointType]:
        return axis_alignment(self.axis), Cylindrical(local_axis(self.axis))
