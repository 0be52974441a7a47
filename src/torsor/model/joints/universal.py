"""Universal (Cardan) joint: two revolute joints in series without a body between."""

from __future__ import annotations

from dataclasses import dataclass

from torsor.errors import ModelError
from torsor.model.joints.base import JointType, forces, moments
from torsor.scalar import Scalar, Scalars, atan2, is_constant, sqrt
from torsor.spatial import Force, Motion, Subspace, Transform, Vec, about
from torsor.spatial.vector import AXES, ZERO


@dataclass(frozen=True)
class Universal(JointType):
    """q = (θ₁, θ₂) [rad]: R = Rot(a₁, θ₁) Rot(a₂, θ₂), a₂ fixed in the body.

    S = (R₂ᵀa₁, a₂) moves in the body, so Ṡ ≠ 0: the case F&O §3.1 warns of.
    """

    axis: Vec
    second_axis: Vec
    name = "universal"
    nq = nv = 2
    angles = (0, 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        sine = self.axis.cross(self.second_axis)
        if all(is_constant(x) for x in sine) and sine.dot(sine) < 1e-12:
            raise ModelError(
                "the two axes of a universal joint are parallel, so it has only one degree of freedom; use a revolute joint"
            )

    def transform(self, q: Scalars) -> Transform:
        return Transform.of_pose(about(self.axis, q[0]) @ about(self.second_axis, q[1]), ZERO)

    def subspace(self, q: Scalars) -> Subspace:
        return Subspace((Motion(self._first_axis(q), ZERO), Motion(self.second_axis, ZERO)))

    def subspace_rate(self, q: Scalars, v: Scalars) -> Subspace:
        turning = self._first_axis(q).cross(self.second_axis) * v[1]  # d/dt(R₂ᵀa₁) = −ω₂ × R₂ᵀa₁
        return Subspace((Motion(turning, ZERO), Motion.zero()))

    def complement(self, q: Scalars) -> tuple[Force, ...]:
        """Three forces, and the moment along the cross of the two axes: R₂ᵀ(a₁ × a₂), of constant length."""
        n = self.axis.cross(self.second_axis)
        n = n if all(isinstance(x, int) for x in n) else n * (1 / sqrt(n.dot(n)))
        return (*moments(about(self.second_axis, q[1]).T @ n), *forces(*AXES))

    def coordinates(self, X: Transform) -> list[Scalar]:
        """θ₁ turns a₂ to R a₂ about a₁, and θ₂ turns Rᵀa₁ to a₁ about a₂: R₂ leaves a₂ alone, R₁ leaves a₁."""
        R, _ = X.pose
        a, b = self.axis, self.second_axis
        return [_turn(a, b, R @ b), _turn(b, R.T @ a, a)]

    def _first_axis(self, q: Scalars) -> Vec:
        return about(self.second_axis, q[1]).T @ self.axis


def _turn(axis: Vec, start: Vec, end: Vec) -> Scalar:
    """The angle about an axis from one direction to another, both seen along the axis."""
    return atan2(axis.dot(start.cross(end)), start.dot(end) - axis.dot(start) * axis.dot(end))
