"""A screw."""

from __future__ import annotations

from dataclasses import dataclass

from torsor.model.joints.base import JointType, Scalars, axis_alignment, local_axis
from torsor.spatial import Mat, Motion, Subspace, Transform, Vec, about


@dataclass(frozen=True)
class Helical(JointType):
    """Rotation by q [rad] with an advance of ``pitch`` [m/rad] along the same axis: S = (a, h a)."""

    axis: Vec
    pitch: float = 0.0
    name = "helical"
    nq = nv = 1

    def transform(self, q: Scalars) -> Transform:
        return Transform.of_pose(about(self.axis, q[0]), self.axis * (self.pitch * q[0]))

    def subspace(self, q: Scalars) -> Subspace:
        return Subspace((Motion(self.axis, self.axis * self.pitch),))

    def aligned(self) -> tuple[Mat, JointType]:
        return axis_alignment(self.axis), Helical(local_axis(self.axis), self.pitch)
