"""Reversed joints: child and parent exchanged."""

from __future__ import annotations

from dataclasses import dataclass, replace

from torsor.model.joints import Fixed, JointType
from torsor.model.joints.base import SingleAxis
from torsor.model.joints.composite import JointOfJoints
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Force, Motion, Subspace, Transform


@dataclass(frozen=True)
class ReversedJoint(JointOfJoints):
    """X_J'(q) = X_J(q)⁻¹: any joint with its two sides exchanged.  q and v keep their meaning.

    The new body frame is the old joint frame, so S' = −X_J⁻¹ S; and as d/dt(X_J⁻¹ m) = X_J⁻¹(ṁ + V_J × m) with
    V_J = S v, the rate is Ṡ' = −X_J⁻¹ (Ṡ + V_J × S), and Ṡ' v = −X_J⁻¹ Ṡ v.
    """

    kind: JointType
    name = "reversed"

    def sequence(self) -> tuple[JointType, ...]:
        return (self.kind,)

    def transform(self, q: Scalars) -> Transform:
        return self.kind.transform(q).inverse

    def subspace(self, q: Scalars) -> Subspace:
        X = self.transform(q)
        return Subspace(tuple(-(X @ column) for column in self.kind.subspace(q)))

    def subspace_rate(self, q: Scalars, v: Scalars) -> Subspace:
        X, S = self.transform(q), self.kind.subspace(q)
        V = S @ v
        rates = zip(self.kind.subspace_rate(q, v), S, strict=True)
        return Subspace([-(X @ (rate + V.cross(column))) for rate, column in rates])

    def bias(self, q: Scalars, v: Scalars) -> Motion:
        return -(self.transform(q) @ self.kind.bias(q, v))

    @property
    def closes_loops(self) -> bool:
        return self.kind.closes_loops

    def complement(self, q: Scalars) -> tuple[Force, ...]:
        """The same wrenches seen from the old joint frame: X_Jᵀ T, no longer of unit length where the joint translates."""
        X = self.kind.transform(q)
        return tuple(X.T @ F for F in self.kind.complement(q))

    def coordinates(self, X: Transform) -> list[Scalar]:
        return self.kind.coordinates(X.inverse)


def reverse(kind: JointType) -> JointType:
    """The joint with its sides exchanged: about the opposite axis where it has one axis, :class:`ReversedJoint` otherwise.

    >>> from torsor.model.joints import Revolute
    >>> from torsor.spatial import Vec
    >>> reverse(Revolute(Vec(0, 0, 1)))
    Revolute(axis=Vec(x=0, y=0, z=-1))
    """
    if isinstance(kind, Fixed):
        return kind
    if isinstance(kind, ReversedJoint):
        return kind.kind
    if isinstance(kind, SingleAxis):
        return replace(kind, axis=-kind.axis)  # a helix keeps its pitch: both its turn and its advance change sign
    return ReversedJoint(kind)
