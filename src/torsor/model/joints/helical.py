"""Helical (screw) joint."""

from __future__ import annotations

from dataclasses import dataclass

from torsor.model.joints.base import SingleAxis, axes_about, forces, moments
from torsor.scalar import Scalar, Scalars, sqrt, tidy
from torsor.spatial import Force, Motion, Subspace, Transform, Vec, about
from torsor.spatial.recovery import angle_about


@dataclass(frozen=True)
class Helical(SingleAxis):
    """Rotation by q [rad] with an advance of ``pitch`` [m/rad] along the same axis: S = (a, h a)."""

    pitch: float = 0.0
    name = "helical"
    nq = nv = 1

    def transform(self, q: Scalars) -> Transform:
        return Transform.of_pose(about(self.axis, q[0]), self.axis * (self.pitch * q[0]))

    def subspace(self, q: Scalars) -> Subspace:
        return Subspace((Motion(self.axis, self.axis * self.pitch),))

    def complement(self, q: Scalars) -> tuple[Force, ...]:
        x, y, a = axes_about(self.axis)
        k = 1 / sqrt(1 + self.pitch * self.pitch)
        thread = Force(_snap(a * (-self.pitch * k)), _snap(a * k))  # (−h a, a): force and moment do no net work
        return (*moments(x, y), *forces(x, y), thread)

    def coordinates(self, X: Transform) -> list[Scalar]:
        """By the angle alone, so in (−π, π]: whole turns are lost, and remain as a displacement along the axis."""
        return [angle_about(self.axis, X.pose[0])]


def _snap(a: Vec) -> Vec:
    return Vec(*(tidy(x) for x in a))
