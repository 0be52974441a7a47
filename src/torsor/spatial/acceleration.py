"""The acceleration of a frame, kept as the ordinary one: ω, α and the acceleration a of its origin.

A spatial acceleration (F&O 4) is (α, a − ω × v).  Keeping a itself instead, the linear velocity drops out of the recursions
(F&O footnote 1): v is not needed, and is not computed.
"""

from __future__ import annotations

from typing import NamedTuple

from torsor.spatial.motion import Motion
from torsor.spatial.vector import ZERO, Mat, Vec


class Acceleration(NamedTuple):
    """(ω [rad/s], α [rad/s²], a [m/s²]) of a frame fixed to a body, in its axes."""

    w: Vec
    alpha: Vec
    a: Vec

    @classmethod
    def of(cls, V: Motion, A: Motion, gravity: Vec = ZERO) -> Acceleration:
        """From a twist and a spatial acceleration: a = A.v + ω × v − g, with gravity as an upward acceleration (F&O §3.1)."""
        return cls(V.w, A.w, A.v + V.w.cross(V.v) - gravity)

    @property
    def U(self) -> Mat:
        """U = [α] + [ω]²: a point fixed in the body at r accelerates with a + U r."""
        x, y, z = self.w
        xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
        p = self.alpha
        return Mat(
            Vec(-(yy + zz), xy - p.z, xz + p.y),
            Vec(xy + p.z, -(xx + zz), yz - p.x),
            Vec(xz - p.y, yz + p.x, -(xx + yy)),
        )

    def past_joint(self, vJ: Motion, aJ: Motion) -> Acceleration:
        """Acceleration of the body after a joint moving with twist vJ and apparent acceleration aJ (MR 8.51–8.52, F&O 3–4).

        ω' = ω + ω_J,  α' = α + ω' × ω_J + α_J,  a' = a + 2 ω' × v_J − ω_J × v_J + a_J: Coriolis' theorem.
        """
        w = self.w + vJ.w
        alpha = self.alpha + w.cross(vJ.w) + aJ.w
        return Acceleration(w, alpha, self.a + (w + w - vJ.w).cross(vJ.v) + aJ.v)
