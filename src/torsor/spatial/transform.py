"""A change of frame: X takes motions from frame A to frame B and, transposed, forces from B to A.

Kept as a rotation E (A's axes → B's axes) and the position r of B's origin in A, never as a 6×6 matrix:
X = [[E, 0], [−E[r], E]] (MR's [Ad_T] with T = T_BA; Featherstone's plux(E, r)).
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar, overload

from torsor.spatial.acceleration import Acceleration
from torsor.spatial.articulated import ArticulatedInertia
from torsor.spatial.coriolis import BodyCoriolis
from torsor.spatial.inertia import Inertia
from torsor.spatial.motion import Force, Motion
from torsor.spatial.vector import IDENTITY, ZERO, Mat, Vec

#: the 6×6 matrices that Xᵀ G X takes to another frame
Inertial = TypeVar("Inertial", Inertia, ArticulatedInertia, BodyCoriolis)


class Transform(NamedTuple):
    """``X @ V`` re-expresses a twist of A in B; ``X.T @ F`` a wrench of B in A; ``Y @ X`` composes, A → B → C."""

    E: Mat
    r: Vec

    @classmethod
    def identity(cls) -> Transform:
        return cls(IDENTITY, ZERO)

    @classmethod
    def of_pose(cls, R: Mat, p: Vec) -> Transform:
        """X from A to B, given the pose of B in A: T_AB = (R, p)."""
        return cls(R.T, p)

    @property
    def pose(self) -> tuple[Mat, Vec]:
        """T_AB = (R, p): the axes and the origin of B, seen from A."""
        return self.E.T, self.r

    @property
    def inverse(self) -> Transform:
        return Transform(self.E.T, -(self.E @ self.r))

    @property
    def T(self) -> _Transposed:
        return _Transposed(self.E.T, self.r)

    @overload
    def __matmul__(self, o: Motion) -> Motion: ...
    @overload
    def __matmul__(self, o: Acceleration) -> Acceleration: ...
    @overload
    def __matmul__(self, o: Transform) -> Transform: ...
    def __matmul__(self, o: Motion | Acceleration | Transform) -> Motion | Acceleration | Transform:
        if isinstance(o, Motion):
            return Motion(self.E @ o.w, self.E @ (o.v - self.r.cross(o.w)))
        if isinstance(o, Acceleration):
            return Acceleration(self.E @ o.w, self.E @ o.alpha, self.E @ (o.a + o.U @ self.r))
        return Transform(self.E @ o.E, o.r + o.E.T @ self.r)


class _Transposed(NamedTuple):
    R: Mat
    r: Vec

    @overload
    def __matmul__(self, o: Force) -> Force: ...
    @overload
    def __matmul__(self, o: Inertial) -> Inertial: ...
    def __matmul__(self, o: Force | Inertial) -> Force | Inertial:
        """Xᵀ F of a wrench, or Xᵀ I X of an inertia: from frame B to frame A."""
        if isinstance(o, Force):
            f = self.R @ o.f
            return Force(self.R @ o.m + self.r.cross(f), f)
        return o.seen_from(self.R, self.r)
