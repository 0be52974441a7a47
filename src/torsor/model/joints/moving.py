"""A joint without coordinates that moves along a given path: a base that a ship, a vehicle or a machine carries."""

from __future__ import annotations

from dataclasses import dataclass

from torsor.model.joints.fixed import Fixed
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Motion, Subspace, Transform


@dataclass(frozen=True)
class Moving(Fixed):
    """nq = nv = 0; pose X, twist V and its rate A in the axes of the body, all at the time t (numbers or scalars)."""

    name = "moving"
    X: Transform = Transform.identity()
    V: Motion = Motion.zero()
    A: Motion = Motion.zero()
    t: Scalar = 0

    def transform(self, q: Scalars) -> Transform:
        return self.X

    def twist(self, S: Subspace, v: Scalars) -> Motion:
        return self.V

    def bias(self, q: Scalars, v: Scalars) -> Motion:
        return self.A
