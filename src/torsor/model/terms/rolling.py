"""A ball or a wheel that rolls on a plane without slipping: the textbook's nonholonomic constraint (MR §2.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torsor.model.terms.frames import BetweenFrames
from torsor.scalar import sqrt
from torsor.spatial import Force, Transform, Vec
from torsor.spatial.vector import AXES, ZERO


@dataclass(frozen=True)
class Rolling(BetweenFrames):
    """The material point that touches the plane is at rest: v + ω × c = 0.

    ``frame`` has its origin at the centre.  Without ``axis`` it is a ball, c = −r n; a wheel, a thin disc about ``axis`` (in
    its frame), touches where its rim is lowest.  ``axes`` (x, y, normal) and ``through`` are the plane, in ``relative_to``.
    The row along the normal can be integrated (the height of the centre), the two along the plane cannot.
    """

    name: str
    frame: str
    radius: float
    axis: Vec | None = None
    axes: tuple[Vec, Vec, Vec] = AXES
    through: Vec = ZERO
    relative_to: str = "world"
    NUMBERS = ("radius", "axis", "axes", "through")
    places = ("frame", "relative_to")

    def labels(self) -> tuple[str, ...]:
        return ("height", "slip along x", "slip along y")

    @property
    def holonomic(self) -> tuple[bool, ...]:
        return (True, False, False)

    def forces(self, X: Transform) -> Sequence[Force]:
        x, y, n = self.axes
        down, size = self._lowest(X.E @ n)
        c = down * (self.radius / size)
        return [Force(c.cross(X.E @ e), X.E @ e) for e in (n, x, y)]

    def error(self, X: Transform) -> Sequence[Any]:
        *_, n = self.axes
        _, size = self._lowest(X.E @ n)
        return [n.dot(X.r - self.through) - size * self.radius, 0, 0]

    def pushing_side(self, gravity: Sequence[float]) -> Sequence[Any]:
        return (1, 0, 0)

    def _lowest(self, n: Vec) -> tuple[Vec, Any]:
        """The direction from the centre to the contact, and its length: −n, for a wheel less its part along the axis."""
        if self.axis is None:
            return -n, 1
        across = n - self.axis * self.axis.dot(n)
        return -across, sqrt(across.dot(across))
