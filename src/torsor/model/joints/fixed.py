"""A weld.  Assembly merges what it joins into one body, so no recursion ever meets it."""

from __future__ import annotations

from dataclasses import dataclass

from torsor.model.joints.base import JointType, Scalars
from torsor.spatial import Subspace, Transform


@dataclass(frozen=True)
class Fixed(JointType):
    """No freedom: nq = nv = 0."""

    name = "fixed"
    nq = nv = 0

    def transform(self, q: Scalars) -> Transform:
        return Transform.identity()

    def subspace(self, q: Scalars) -> Subspace:
        return Subspace(())
