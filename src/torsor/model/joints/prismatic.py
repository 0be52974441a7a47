"""Prismatic joint."""

from __future__ import annotations

from dataclasses import dataclass

from torsor.model.joints.base import SingleAxis, axes_about, forces, moments
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Force, Motion, Subspace, Transform
from torsor.spatial.vector import AXES, IDENTITY, ZERO


@dataclass(frozen=True)
class Prismatic(SingleAxis):
    """Translation by q [m] along a unit axis: S = (0, a)."""

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
