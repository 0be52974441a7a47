"""A Cardan joint: two hinges in series with nothing between them."""

from __future__ import annotations

from dataclasses import dataclass

from torsor.errors import ModelError
from torsor.model.joints.base import JointType, Scalars
from torsor.scalar import is_constant
from torsor.spatial import Motion, Subspace, Transform, Vec, about
from torsor.spatial.vector import ZERO


@dataclass(frozen=True)
class Universal(JointType):
    """q = (θ₁, θ₂) [rad]: R = Rot(a₁, θ₁) Rot(a₂, θ₂), a₂ fixed in the body.

    S = (R₂ᵀa₁, a₂) moves in the body, so Ṡ ≠ 0: the case F&O §3.1 warns of.
    """

    axis: Vec
    second_axis: Vec
    name = "universal"
    nq = nv = 2

    def __post_init__(self) -> None:
        sine = self.axis.cross(self.second_axis)
        if all(is_constant(x) for x in sine) and sine.dot(sine) < 1e-12:
            raise ModelError("the two axes of a universal joint are parallel: one freedom counted twice; use a revolute joint")

    def transform(self, q: Scalars) -> Transform:
        return Transform.of_pose(about(self.axis, q[0]) @ about(self.second_axis, q[1]), ZERO)

    def subspace(self, q: Scalars) -> Subspace:
        return Subspace((Motion(self._first(q), ZERO), Motion(self.second_axis, ZERO)))

    def subspace_rate(self, q: Scalars, v: Scalars) -> Subspace:
        turning = self._first(q).cross(self.second_axis) * v[1]  # d/dt(R₂ᵀa₁) = −ω₂ × R₂ᵀa₁
        return Subspace((Motion(turning, ZERO), Motion.zero()))

    def _first(self, q: Scalars) -> Vec:
        return about(self.second_axis, q[1]).T @ self.axis
