"""Motion of a section of a flexible link relative to the link's root: a joint whose coordinates are the link's modes.

With this joint a flexible link needs no special algorithm.  Its sections are bodies on joints that share their coordinates η,
and the usual recursions apply, velocity products included.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torsor.model.joints.base import JointType
from torsor.scalar import Scalars
from torsor.spatial import Motion, Quaternion, Subspace, Transform, Vec
from torsor.spatial.linear import dot
from torsor.spatial.vector import IDENTITY, ZERO

#: largest rotation of a section by one mode in a random configuration [rad]
SMALL = 0.1


@dataclass(frozen=True)
class Deflection(JointType):
    """u(η) = Σ d_k η_k − ½ ηᵀH η x̂, and the rotation R(η) = cay(Σ r_k η_k).

    ``displacement`` d_k [m] and ``rotation`` r_k [rad] of the section for a unit of each mode, along and about the beam's axes;
    ``shortening`` H = ∫ φ'φ'ᵀ dx up to the section [m]: a beam that bends does not stretch, so its sections come closer (empty:
    neglected).  Cayley's map, tan(angle/2) = |r|/2, is a rotation exactly and the small rotation r to second order; it has no
    trigonometry and no special case at zero.
    """

    displacement: tuple[Vec, ...]
    rotation: tuple[Vec, ...] = ()
    shortening: tuple[tuple[float, ...], ...] = ()
    labels: tuple[str, ...] = ()
    name = "deflection"

    @property
    def nq(self) -> int:  # type: ignore[override]  # a class variable elsewhere
        return len(self.displacement)

    nv = nq

    def transform(self, q: Scalars) -> Transform:
        u = _sum(self.displacement, q) + Vec(1, 0, 0) * (dot(self._shortening(q), q) / 2)
        return Transform.of_pose(self._turn(q)[0], u)

    def subspace(self, q: Scalars) -> Subspace:
        """Columns (ω, v) = ((r − p × r)/(1 + p²), Rᵀ ∂u/∂η), p = ½ Σ r η."""
        R, p, k = self._turn(q)
        return Subspace([Motion((r - p.cross(r)) * k, R.T @ d) for r, d in zip(self._turns, self._tangents(q), strict=True)])

    def subspace_rate(self, q: Scalars, v: Scalars) -> Subspace:
        """The rates of the columns: ω̇ = −(ṗ × r + 2 p·ṗ ω)/(1 + p²), and (Rᵀ ∂u/∂η)˙ = Rᵀ (∂u/∂η)˙ − ω × Rᵀ ∂u/∂η."""
        R, p, k = self._turn(q)
        S = self.subspace(q)
        w = (S @ v).w
        p1 = _sum(self._turns, v) * 0.5
        shrink = p.dot(p1) * (k * 2)
        turns = [-(p1.cross(r) * k) - s.w * shrink for r, s in zip(self._turns, S, strict=True)]
        shifts = [R.T @ Vec(x, 0, 0) for x in self._shortening(v)]
        return Subspace([Motion(t, d - w.cross(s.v)) for t, d, s in zip(turns, shifts, S, strict=True)])

    def random(self, rng: Any, lower: Sequence[float], upper: Sequence[float], shape: tuple[int, ...] = ()) -> list[Any]:
        """Small deflections: each mode turns the section by at most 0.1 rad."""
        return [rng.uniform(-SMALL, SMALL, size=shape) / max(math.sqrt(r.dot(r)), SMALL) for r in self._turns]

    @property
    def _turns(self) -> tuple[Vec, ...]:
        return self.rotation or (ZERO,) * self.nv

    def _turn(self, q: Scalars) -> tuple[Any, Vec, Any]:
        """R, p and 1/(1 + p²)."""
        if not self.rotation:
            return IDENTITY, ZERO, 1
        p = _sum(self.rotation, q) * 0.5
        return Quaternion(*p, 1).matrix, p, 1 / (p.dot(p) + 1)

    def _tangents(self, q: Scalars) -> list[Vec]:
        """∂u/∂η."""
        return [d + Vec(x, 0, 0) for d, x in zip(self.displacement, self._shortening(q), strict=True)]

    def _shortening(self, q: Scalars) -> list[Any]:
        """−H η."""
        return [-dot(row, q) for row in self.shortening] or [0] * self.nv


def _sum(columns: tuple[Vec, ...], q: Scalars) -> Vec:
    total = ZERO
    for column, x in zip(columns, q, strict=True):
        total = total + column * x
    return total
