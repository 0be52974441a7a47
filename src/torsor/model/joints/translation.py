"""Translation joint: three prismatic joints at right angles, without bodies between."""

from __future__ import annotations

from dataclasses import dataclass

from torsor.model.joints.base import JointType, moments
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Force, Motion, Subspace, Transform, Vec
from torsor.spatial.vector import AXES, IDENTITY, ZERO


@dataclass(frozen=True)
class Translation(JointType):
    """q = (x, y, z) [m] along the axes of the joint frame, without rotation; v = q̇: S = (0, 1)."""

    name = "translation"
    nq = nv = 3

    def transform(self, q: Scalars) -> Transform:
        return Transform(IDENTITY, Vec(*q))

    def subspace(self, q: Scalars) -> Subspace:
        return Subspace(tuple(Motion(ZERO, axis) for axis in AXES))

    def complement(self, q: Scalars) -> tuple[Force, ...]:
        return moments(*AXES)

    def coordinates(self, X: Transform) -> list[Scalar]:
        return list(X.r)
