"""Revolute joint."""

from __future__ import annotations

from dataclasses import dataclass

from torsor.model.joints.base import SingleAxis, axes_about, forces, moments
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Force, Motion, Subspace, Transform, about
from torsor.spatial.recovery import angle_about
from torsor.spatial.vector import AXES, ZERO


@dataclass(frozen=True)
class Revolute(SingleAxis):
    """Rotation by q [rad] about a unit axis: S = (a, 0)."""

    name = "revolute"
    nq = nv = 1
    angles = (0,)

    def transform(self, q: Scalars) -> Transform:
        return Transform.of_pose(about(self.axis, q[0]), ZERO)

    def subspace(self, q: Scalars) -> Subspace:
        return Subspace((Motion(self.axis, ZERO),))

    def complement(self, q: Scalars) -> tuple[Force, ...]:
        x, y, _ = axes_about(self.axis)
        return (*moments(x, y), *forces(*AXES))

    def coordinates(self, X: Transform) -> list[Scalar]:
        return [angle_about(self.axis, X.pose[0])]
