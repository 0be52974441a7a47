"""Twists and wrenches: the two kinds of spatial vector, angular part first.

``Motion(ω, v)`` is a twist or a spatial acceleration, ``Force(m, f)`` a wrench or a momentum (MR 8.2.2, F&O §3).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from torsor.spatial.vector import ZERO, Scalar, Vec


class Motion(NamedTuple):
    """V = (ω, v) [rad/s, m/s], or an acceleration [rad/s², m/s²], in a frame fixed to a body."""

    w: Vec
    v: Vec

    @classmethod
    def zero(cls) -> Motion:
        return cls(ZERO, ZERO)

    @classmethod
    def of(cls, six: Sequence[Scalar]) -> Motion:
        return cls(Vec(*six[:3]), Vec(*six[3:]))

    def __add__(self, o: Motion) -> Motion:  # type: ignore[override]
        return Motion(self.w + o.w, self.v + o.v)

    def __sub__(self, o: Motion) -> Motion:
        return Motion(self.w - o.w, self.v - o.v)

    def __neg__(self) -> Motion:
        return Motion(-self.w, -self.v)

    def __mul__(self, k: Scalar) -> Motion:  # type: ignore[override]
        return Motion(self.w * k, self.v * k)

    def __rmul__(self, k: Scalar) -> Motion:  # type: ignore[override]
        return self * k

    def cross(self, o: Any) -> Any:
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
    def of(cls, six: Sequence[Scalar]) -> Force:
        return cls(Vec(*six[:3]), Vec(*six[3:]))

    def __add__(self, o: Force) -> Force:  # type: ignore[override]
        return Force(self.m + o.m, self.f + o.f)

    def __sub__(self, o: Force) -> Force:
        return Force(self.m - o.m, self.f - o.f)

    def __neg__(self) -> Force:
        return Force(-self.m, -self.f)

    def __mul__(self, k: Scalar) -> Force:  # type: ignore[override]
        return Force(self.m * k, self.f * k)

    def __rmul__(self, k: Scalar) -> Force:  # type: ignore[override]
        return self * k

    def dot(self, V: Motion) -> Scalar:
        return V.dot(self)


class Subspace(tuple):
    """The motion subspace S (6×d) of a joint: d twists, as columns (F&O's h).

    ``S @ v`` is the twist of joint velocities v; ``S.T @ F`` the joint forces of a wrench (F&O 8).
    """

    __slots__ = ()

    def __new__(cls, columns: Sequence[Motion]) -> Subspace:
        return super().__new__(cls, columns)

    def __matmul__(self, v: Sequence[Scalar]) -> Motion:
        total = Motion.zero()
        for column, rate in zip(self, v, strict=True):
            total = total + column * rate
        return total

    @property
    def T(self) -> _Transposed:
        return _Transposed(self)


class _Transposed(NamedTuple):
    S: Subspace

    def __matmul__(self, F: Any) -> Any:
        """SᵀF of one wrench, or SᵀU of several (a matrix by rows)."""
        if isinstance(F, Force):
            return [column.dot(F) for column in self.S]
        return [[column.dot(f) for f in F] for column in self.S]
