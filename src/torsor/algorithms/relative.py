"""Relative motion of two frames: the motions compose, so that a chain of them can be evaluated in any grouping.

A recursion down a chain (F&O 3–4) takes N steps.  Written as a product of N motions it takes ⌈log₂ N⌉, because the product
is associative: pairs first, then pairs of pairs.
"""

from __future__ import annotations

from typing import NamedTuple

from torsor.spatial import Acceleration, Motion, Transform, Vec


class RelativeMotion(NamedTuple):
    """Frame C seen from frame B, in C's axes: transform X, velocity v of the origin [m/s], and (ω, α, a) as if B were at rest.

    >>> step = RelativeMotion.of(Transform.identity(), Motion.of([0, 0, 1, 0, 0, 0]), Motion.zero())
    >>> (step @ step).A.w
    Vec(x=0, y=0, z=2)
    """

    X: Transform
    v: Vec
    A: Acceleration

    @classmethod
    def of(cls, X: Transform, vJ: Motion, cJ: Motion) -> RelativeMotion:
        """Past a joint that moves with the twist vJ and the apparent acceleration cJ (F&O's ḣ q̇, and h q̈ if there is any)."""
        return cls(X, vJ.v, Acceleration.of(vJ, cJ))

    def __matmul__(self, first: RelativeMotion) -> RelativeMotion:
        """``second @ first``: C from A, given C from B (second) and B from A (first)."""
        v = self.X.E @ (first.v + first.A.w.cross(self.X.r)) + self.v
        return RelativeMotion(self.X @ first.X, v, self.acceleration_past(first.A))

    def acceleration_past(self, A: Acceleration) -> Acceleration:
        """C's motion, given B's (F&O 3–4): Coriolis' theorem, in ordinary accelerations."""
        B = self.X @ A  # of the point of B that is now at C's origin, in C's axes
        alpha = B.alpha + B.w.cross(self.A.w) + self.A.alpha
        return Acceleration(B.w + self.A.w, alpha, B.a + (B.w + B.w).cross(self.v) + self.A.a)
