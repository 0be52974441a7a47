"""Spatial inertia of a rigid body, factored as (m, h = m c, I_o): ten numbers instead of thirty-six."""

from __future__ import annotations

from typing import NamedTuple

from torsor.scalar import Scalar
from torsor.spatial.acceleration import Acceleration
from torsor.spatial.motion import Force, Motion
from torsor.spatial.vector import ZERO, Mat, Sym, Vec


class Inertia(NamedTuple):
    """G = [[I_o, [h]], [−[h], m]] about the frame's origin (MR 8.32, 8.42).

    ``m`` mass [kg]; ``h`` first moment m·c [kg·m]; ``I`` rotational inertia about the origin [kg·m²].
    """

    m: Scalar
    h: Vec
    I: Sym

    @classmethod
    def zero(cls) -> Inertia:
        """The inertia of a massless body: all zeros."""
        return cls(0, ZERO, Sym.zero())

    @classmethod
    def of(cls, mass: Scalar, com: Vec, about_com: Sym) -> Inertia:
        """From mass, centre of mass and the inertia about it: Steiner's theorem, I_o = I_c + m(cᵀc 1 − c cᵀ) (MR 8.27)."""
        h = com * mass
        return cls(mass, h, about_com + _steiner(h, com))

    @property
    def com(self) -> Vec:
        """c = h/m, the centre of mass [m]; the origin for a massless body."""
        return ZERO if isinstance(self.m, (int, float)) and self.m == 0 else self.h * (1 / self.m)

    @property
    def about_com(self) -> Sym:
        """Rotational inertia about the centre of mass, in this frame's axes."""
        return self.I - _steiner(self.h, self.com)

    def __add__(self, o: Inertia) -> Inertia:  # type: ignore[override]  # a sum; tuples join
        return Inertia(self.m + o.m, self.h + o.h, self.I + o.I)

    def __sub__(self, o: Inertia) -> Inertia:
        return Inertia(self.m - o.m, self.h - o.h, self.I - o.I)

    def __matmul__(self, V: Motion) -> Force:
        """Momentum G V (MR 8.34), or the force of an acceleration from rest."""
        return Force(self.I @ V.w + self.h.cross(V.v), V.v * self.m - self.h.cross(V.w))

    def inverse_dynamics(self, A: Acceleration) -> Force:
        """F = G V̇ + V ×* G V, the wrench of a motion (MR 8.40, 8.43; F&O 5).

        In ordinary accelerations the products of v cancel, and Newton's and Euler's equations remain:
        m = I α + ω × I ω + h × a,  f = m a + α × h + ω × (ω × h) = m a + U h.
        """
        moment = self.I @ A.alpha + A.w.cross(self.I @ A.w) + self.h.cross(A.a)
        return Force(moment, A.a * self.m + A.U @ self.h)

    def kinetic_energy(self, V: Motion) -> Scalar:
        """½ Vᵀ G V (MR 8.33)."""
        return V.dot(self @ V) / 2

    def seen_from(self, R: Mat, r: Vec) -> Inertia:
        """Xᵀ G X: this inertia in a frame where its own has axes R and origin r (Steiner's theorem, MR 8.42)."""
        h = R @ self.h
        u = h + r * (self.m / 2)
        t = Vec(r.x * u.x, r.y * u.y, r.z * u.z)
        shift = Sym(
            (t.y + t.z) * 2, -(u.x * r.y + r.x * u.y), -(u.x * r.z + r.x * u.z),
            (t.x + t.z) * 2, -(u.y * r.z + r.y * u.z),
            (t.x + t.y) * 2,
        )  # fmt: skip
        return Inertia(self.m, h + r * self.m, self.I.rotated(R) + shift)


def _steiner(h: Vec, c: Vec) -> Sym:
    """−[h][c] = (h·c) 1 − c hᵀ of parallel vectors."""
    return Sym(
        h.y * c.y + h.z * c.z, -(h.x * c.y), -(h.x * c.z),
        h.x * c.x + h.z * c.z, -(h.y * c.z),
        h.x * c.x + h.y * c.y,
    )  # fmt: skip
