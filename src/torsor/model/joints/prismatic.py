"""Prismatic joint."""

from __future__ import annotations

from dataclasses import dataclass

from torsor.model.joints.base import JointType, axes_about, axis_alignment, forces, local_axis, moments
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Force, Mat, Motion, Subspace, Transform, Vec
from torsor.spatial.vector import AXES, IDENTITY, ZERO


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

    def complement(self, q: Scalars) -> tuple[Force, ...]:
        x, y, _ = axes_about(self.axis)
        return (*moments(*AXES), *forces(x, y))

    def coordinates(self, X: Transform) -> list[Scalar]:
        return [self.axis.dot(X.r)]

    def align_axis(self) -> tuple[Mat, JointType]:
        return axis_alignment(self.axis), Prismatic(local_axis(self.axis))
