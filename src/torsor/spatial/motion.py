"""Twists and wrenches: the two kinds of spatial vector, angular part first.

``Motion(ω, v)`` is a twist or a spatial acceleration, ``Force(m, f)`` a wrench or a momentum (MR §8.2.2, F&O §3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, overload

from torsor.scalar import Scalar, Scalars
from torsor.spatial.matrix import Matrix, Vector
from torsor.spatial.vector import ZERO, Vec


class Motion(NamedTuple):
    """V = (ω, v) [rad/s, m/s], or an acceleration [rad/s², m/s²], in a frame fixed to a body."""

    w: Vec
    v: Vec

    @classmethod
    def zero(cls) -> Motion:
        return cls(ZERO, ZERO)

    @classmethod
    def of(cls, six: Scalars) -> Motion:
        return cls(Vec(*six[:3]), Vec(*six[3:]))

    def __add__(self, o: Motion) -> Motion:  # type: ignore[override]  # a sum; tuples join
        return Motion(self.w + o.w, self.v + o.v)

    def __sub__(self, o: Motion) -> Motion:
        return Motion(self.w - o.w, self.v - o.v)

    def __neg__(self) -> Motion:
        return Motion(-self.w, -self.v)

    def __mul__(self, k: Scalar) -> Motion:  # type: ignore[override]  # scaled; tuples repeat
        return Motion(self.w * k, self.v * k)

    def __rmul__(self, k: Scalar) -> Motion:  # type: ignore[override]  # scaled; tuples repeat
        return self * k

    @overload
    def cross(self, o: Motion) -> Motion: ...
    @overload
    def cross(self, o: Force) -> Force: ...
    def cross(self, o: Motion | Force) -> Motion | Force:
        """V × M = [ad_V] M (MR 8.38) of a motion; V ×* F = −[ad_V]ᵀ F (MR 8.39) of a force."""
        if isinstance(o, Force):
            return Force(self.w.cross(o.m) + self.v.cross(o.f), self.w.cross(o.f))
        return Motion(self.w.cross(o.w), self.v.cross(o.w) + self.w.cross(o.v))

    def dot(self, F: Force) -> Scalar:
        """Power of a wrench on this twist, FᵀV."""
        return self.w.dot(F.m) + self.v.dot(F.f)


class Force(NamedTuple):
    """F = (m, f) [N·m, N], or a momentum [N·m·s, N·s], in a frame fixed to a body."""

    m: Vec
    f: Vec

    @classmethod
    def zero(cls) -> Force:
        return cls(ZERO, ZERO)

    @classmethod
    def of(cls, six: Scalars) -> Force:
        return cls(Vec(*six[:3]), Vec(*six[3:]))

    def __add__(self, o: Force) -> Force:  # type: ignore[override]  # a sum; tuples join
        return Force(self.m + o.m, self.f + o.f)

    def __sub__(self, o: Force) -> Force:
        return Force(self.m - o.m, self.f - o.f)

    def __neg__(self) -> Force:
        return Force(-self.m, -self.f)

    def __mul__(self, k: Scalar) -> Force:  # type: ignore[override]  # scaled; tuples repeat
        return Force(self.m * k, self.f * k)

    def __rmul__(self, k: Scalar) -> Force:  # type: ignore[override]  # scaled; tuples repeat
        return self * k

    def dot(self, V: Motion) -> Scalar:
        return V.dot(self)


def six_numbers(x: Motion | Force) -> list[Scalar]:
    """(ω, v) or (m, f) as six numbers."""
    return [*x[0], *x[1]]


def six_by_six(operator: Callable[[Motion], Motion | Force]) -> Matrix:
    """The 6×6 matrix of a linear map on motions, column by column: X, I, or V × applied to the unit motions.

    >>> six_by_six(lambda e: e * 2)[5]
    (0, 0, 0, 0, 0, 2)
    """
    units = (Motion.of([int(i == j) for j in range(6)]) for i in range(6))
    return Matrix(zip(*(six_numbers(operator(e)) for e in units), strict=True))


class Subspace(tuple[Motion, ...]):
    """The motion subspace S (6×d) of a joint: d twists, as columns (F&O's h).

    ``S @ v`` is the twist of joint velocities v; ``S.T @ F`` the joint forces of a wrench (F&O 8).
    """

    __slots__ = ()

    def __matmul__(self, v: Scalars) -> Motion:
        total = Motion.zero()
        for column, rate in zip(self, v, strict=True):
            total = total + column * rate
        return total

    @property
    def T(self) -> _Transposed:
        return _Transposed(self)


class _Transposed(NamedTuple):
    columns: Sequence[Any]  # twists, or wrenches

    @overload
    def __matmul__(self, o: Force | Motion) -> Vector: ...
    @overload
    def __matmul__(self, o: Sequence[Force]) -> list[list[Scalar]]: ...
    def __matmul__(self, o: Force | Motion | Sequence[Force]) -> Vector | list[list[Scalar]]:
        """SᵀF of one wrench, UᵀV of one twist, or SᵀU of several wrenches (a matrix by rows)."""
        if isinstance(o, (Force, Motion)):
            return Vector(column.dot(o) for column in self.columns)
        return [[column.dot(f) for f in o] for column in self.columns]


class Forces(tuple[Force, ...]):
    """Wrenches as the columns of a 6×d matrix U: ``U @ u`` is a wrench, ``U.T @ V`` the power of each on a twist V."""

    __slots__ = ()

    def __matmul__(self, u: Scalars) -> Force:
        total = Force.zero()
        for column, x in zip(self, u, strict=True):
            total = total + column * x
        return total

    @property
    def T(self) -> _Transposed:
        return _Transposed(self)
