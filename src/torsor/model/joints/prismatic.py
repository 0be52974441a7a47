"""A slider."""

from __future__ import annotations

from dataclasses import dataclass

from torsor.model.joints.base import JointType, Scalars, axis_alignment, local_axis
from torsor.spatial import Mat, Motion, Subspace, Transform, Vec
from torsor.spatial.vector import IDENTITY, ZERO


@dataclass(frozen=True)
class Prismatic(JointType):
    """Translation by q [m] along a unit axis: S = (0, a)."""

    axis: Vec
    name = "prismatic"
    nq = nv = 1

    def transform(self, q: Scalars) -> Transform:
        return Transform(IDENTITY, self.axis * q[0])

    def subspace(self, q: Scalars) -> Subspace:
        return Subspace((Motion(ZERO, self.axis),))

    def aligned(self) -> tuple[Mat, JointType]:
        return axis_alignment(self.axis), Prismatic(local_axis(self.axis))
