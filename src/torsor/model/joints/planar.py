"""Planar joint."""

from __future__ import annotations

from dataclasses import dataclass

from torsor.model.joints.base import JointType, axes_about, axis_alignment, forces, moments
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Force, Mat, Motion, Subspace, Transform, Vec, about
from torsor.spatial.recovery import angle_about
from torsor.spatial.vector import IDENTITY, ZERO


@dataclass(frozen=True)
class Planar(JointType):
    """q = (x, y [m], θ [rad]): translation along the plane's fixed axes, then rotation about its normal; v = q̇.

    The plane's axes are those of the joint frame, rotated so that ẑ is the normal.  S moves in the body (the plane's
    axes do not rotate with it), so Ṡ ≠ 0.
    """

    normal: Vec
    name = "planar"
    nq = nv = 3
    angles = (2,)

    def transform(self, q: Scalars) -> Transform:
        x, y, _ = axes_about(self.normal)
        return Transform.of_pose(about(self.normal, q[2]), x * q[0] + y * q[1])

    def subspace(self, q: Scalars) -> Subspace:
        x, y, _ = axes_about(self.normal)
        E = about(self.normal, q[2]).T
        return Subspace((Motion(ZERO, E @ x), Motion(ZERO, E @ y), Motion(self.normal, ZERO)))

    def subspace_rate(self, q: Scalars, v: Scalars) -> Subspace:
        x, y, _ = self.subspace(q)
        turning = self.normal * v[2]
        return Subspace((Motion(ZERO, x.v.cross(turning)), Motion(ZERO, y.v.cross(turning)), Motion.zero()))

    def complement(self, q: Scalars) -> tuple[Force, ...]:
        x, y, n = axes_about(self.normal)  # as the body sees them: moments across the normal are that wherever it turns
        return (*moments(x, y), *forces(n))

    def coordinates(self, X: Transform) -> list[Scalar]:
        x, y, n = axes_about(self.normal)
        return [x.dot(X.r), y.dot(X.r), angle_about(n, X.pose[0])]

    def align_axis(self) -> tuple[Mat, JointType]:
        R = axis_alignment(self.normal)
        return R, self if R is IDENTITY else Planar(Vec(0, 0, 1))
