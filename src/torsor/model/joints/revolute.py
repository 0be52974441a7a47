"""A hinge."""

from __future__ import annotations

from dataclasses import dataclass

from torsor.model.joints.base import JointType, Scalars, axis_alignment, local_axis
from torsor.spatial import Mat, Motion, Subspace, Transform, Vec, about
from torsor.spatial.vector import ZERO


@dataclass(frozen=True)
class Revolute(JointType):
    """Rotation by q [rad] about a unit axis: S = (a, 0)."""

    axis: Vec
    name = "revolute"
    nq = nv = 1

    def transform(self, q: Scalars) -> Transform:
        return Transform.of_pose(about(self.axis, q[0]), ZERO)

    def subspace(self, q: Scalars) -> Subspace:
        return Subspace((Motion(self.axis, ZERO),))

    def aligned(self) -> tuple[Mat, JointType]:
        return axis_alignment(self.axis), type(self)(local_axis(self.axis))
