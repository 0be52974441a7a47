"""Fixed joint.  Assembly merges its links into one body, so algorithms do not use it; as a loop joint it has six rows."""

from __future__ import annotations

from dataclasses import dataclass

from torsor.model.joints.base import JointType, forces, moments
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Force, Subspace, Transform
from torsor.spatial.vector import AXES


@dataclass(frozen=True)
class Fixed(JointType):
    """No degree of freedom: nq = nv = 0."""

    name = "fixed"
    nq = nv = 0

    def transform(self, q: Scalars) -> Transform:
        return Transform.identity()

    def subspace(self, q: Scalars) -> Subspace:
        return Subspace(())

    def complement(self, q: Scalars) -> tuple[Force, ...]:
        return (*moments(*AXES), *forces(*AXES))

    def coordinates(self, X: Transform) -> list[Scalar]:
        return []
