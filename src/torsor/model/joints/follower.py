"""A joint whose coordinate is a polynomial of another joint's: a cam and its follower."""

from __future__ import annotations

from dataclasses import dataclass

from torsor.model.joints.base import JointType
from torsor.model.polynomials import derivative, evaluate
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Motion, Subspace, Transform


@dataclass(frozen=True)
class Follower(JointType):
    """y = p(x): a joint with one coordinate y, as a joint with its leader's coordinate x.

    S = p′ S_y and Ṡ = p′ Ṡ_y + p″ẋ S_y.
    :func:`torsor.model.assembly.assemble` makes it of a mimic joint whose polynomial is not linear.
    """

    kind: JointType
    coefficients: tuple[Scalar, ...]
    name = "follower"
    nq = nv = 1

    def transform(self, q: Scalars) -> Transform:
        return self.kind.transform(self._follower_coordinate(q))

    def subspace(self, q: Scalars) -> Subspace:
        return Subspace([s * self._ratio(q) for s in self.kind.subspace(self._follower_coordinate(q))])

    def subspace_rate(self, q: Scalars, v: Scalars) -> Subspace:
        y, ratio, change = self._follower_coordinate(q), self._ratio(q), self._ratio_rate(q, v)
        own = zip(self.kind.subspace(y), self.kind.subspace_rate(y, [ratio * v[0]]), strict=True)
        return Subspace([ds * ratio + s * change for s, ds in own])

    def bias(self, q: Scalars, v: Scalars) -> Motion:
        """Ṡ ẋ = Ṡ_y ẏ + S_y p″ẋ²."""
        y, rate = self._follower_coordinate(q), self._ratio(q) * v[0]
        return self.kind.bias(y, [rate]) + self.kind.subspace(y) @ [self._ratio_rate(q, v) * v[0]]

    def _follower_coordinate(self, q: Scalars) -> list[Scalar]:
        return [evaluate(self.coefficients, q[0])]

    def _ratio(self, q: Scalars) -> Scalar:
        return evaluate(derivative(self.coefficients), q[0])  # p′ = dy/dx

    def _ratio_rate(self, q: Scalars, v: Scalars) -> Scalar:
        return evaluate(derivative(derivative(self.coefficients)), q[0]) * v[0]  # p″ẋ
