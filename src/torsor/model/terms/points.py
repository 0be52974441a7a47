"""A point of the robot constrained to a plane, a line, a fixed point, or a distance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot
from typing import Any

from torsor.errors import ArgumentError
from torsor.model.terms.frames import BetweenFrames
from torsor.scalar import is_zero, sqrt
from torsor.spatial import Force, Transform, Vec
from torsor.spatial.vector import ZERO


@dataclass(frozen=True)
class PointAlong(BetweenFrames):
    """nᵀ(p − c) = 0 for each of some directions n: one for a plane, two for a line, three for a point.

    p is the origin of ``frame`` seen from ``relative_to``, in whose axes n and ``through`` = c are given.  The force on the
    robot, Σ λ n, may pull as well as push; ``normal``, away from a surface, is the direction of pushing.
    """

    name: str
    frame: str
    directions: tuple[Vec, ...]
    through: Vec = ZERO
    relative_to: str = "world"
    normal: Vec | None = None
    NUMBERS = ("directions", "through", "normal")
    places = ("frame", "relative_to")

    def labels(self) -> tuple[str, ...]:
        return tuple(f"along ({n.x:.3g}, {n.y:.3g}, {n.z:.3g})" for n in self.directions)

    def forces(self, X: Transform) -> Sequence[Force]:
        return [Force(ZERO, X.E @ n) for n in self.directions]

    def error(self, X: Transform) -> Sequence[Any]:
        return [n.dot(X.r - self.through) for n in self.directions]

    def pushing_side(self, gravity: Sequence[float]) -> Sequence[Any] | None:
        """Along ``normal``; without one, a point held in the world is pushed upwards, against gravity."""
        up = self.normal
        if up is None and len(self.directions) == 3 and self.relative_to == "world" and any(gravity):
            up = Vec(*gravity) * (-1 / hypot(*gravity))
        return None if up is None else [n.dot(up) for n in self.directions]


@dataclass(frozen=True)
class Distance(BetweenFrames):
    """|p| = length, of the origin of ``frame`` from that of ``other``: a rigid massless rod between two ball joints."""

    name: str
    frame: str
    other: str
    length: float
    NUMBERS = ("length",)
    places = ("frame", "other")

    def labels(self) -> tuple[str, ...]:
        return ("along the rod",)

    def forces(self, X: Transform) -> Sequence[Force]:
        if all(is_zero(x) for x in X.r):
            raise ArgumentError(f"constraint {self.name!r}: the two frames always coincide; a rod needs two points")
        return [Force(ZERO, X.E @ (X.r * (1 / sqrt(X.r.dot(X.r)))))]

    def error(self, X: Transform) -> Sequence[Any]:
        return [sqrt(X.r.dot(X.r)) - self.length]
