"""A puck on a table."""

from __future__ import annotations

from dataclasses import dataclass

from torsor.model.joints.base import JointType, Scalars, axis_alignment
from torsor.spatial import Mat, Motion, Subspace, Transform, Vec, about
from torsor.spatial.vector import AXES, IDENTITY, ZERO


@dataclass(frozen=True)
class Planar(JointType):
    """q = (x, y [m], θ [rad]): translation along the table's axes, then rotation about its normal; v = q̇.

    The table's axes are those of the joint frame, turned so that ẑ meets the normal.  S moves in the body (the table's
    axes do not turn with it), so Ṡ ≠ 0.
    """

    normal: Vec
    name = "planar"
    nq = nv = 3

    def transform(self, q: Scalars) -> Transform:
        x, y, _ = self._table()
        return Transform.of_pose(about(self.normal, q[2]), x * q[0] + y * q[1])

    def subspace(self, q: Scalars) -> Subspace:
        x, y, _ = self._table()
        E = about(self.normal, q[2]).T
        return Subspace((Motion(ZERO, E @ x), Motion(ZERO, E @ y), Motion(self.normal, ZERO)))

    def subspace_rate(self, q: Scalars, v: Scalars) -> Subspace:
        x, y, _ = self.subspace(q)
        turning = self.normal * v[2]
        return Subspace((Motion(ZERO, x.v.cross(turning)), Motion(ZERO, y.v.cross(turning)), Motion.zero()))

    def aligned(self) -> tuple[Mat, JointType]:
        R = axis_alignment(self.normal)
        return (IDENTITY, self) if R is IDENTITY else (R, Planar(Vec(0, 0, 1)))

    def _table(self) -> tuple[Vec, Vec, Vec]:
        """The table's x, y and normal: right-handed, cyclic for a coordinate axis."""
        for i, a in enumerate(self.normal):
            if isinstance(a, int) and abs(a) == 1:
                return AXES[(i + 1) % 3] * a, AXES[(i + 2) % 3], self.normal
        R = axis_alignment(self.normal).T
        return R.x, R.y, self.normal
