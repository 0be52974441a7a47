"""Surfaces that shapes touch: the signed distance of a point from a surface, and the normal there, over any scalar.

A surface is given in the axes of its frame, the world's or a link's.  There are no branches on values: a point inside has a
negative distance, and the normal leads out on the shortest way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from torsor.compile.recorded_function import RecordedFunction
from torsor.errors import ArgumentError
from torsor.scalar import Dual, Scalar, is_constant, maximum, minimum, rate, sqrt, tidy, value, where
from torsor.spatial import Mat, Transform, Vec
from torsor.spatial.vector import AXES, IDENTITY

#: a squared length below which a direction is that of the z axis [m²]
TINY = 1e-36


class Distance(NamedTuple):
    """The signed distance of a point from a surface [m], and the unit normal n away from it."""

    size: Scalar
    normal: Vec


class Surface(ABC):
    """A surface in the axes of its frame."""

    @abstractmethod
    def distance(self, p: Vec) -> Distance:
        """The distance of a point from the surface."""

    @abstractmethod
    def describe(self) -> str:
        """One or two words."""

    def nearest_to(self, a: Vec, b: Vec) -> tuple[Vec, ...]:
        """The points of the segment from a to b at which it may touch: its ends, unless the surface is round."""
        return a, b


@dataclass(frozen=True)
class Plane(Surface):
    """nᵀ(p − c): a half space, through c [m] with the unit normal n."""

    normal: Vec
    through: Vec

    def __post_init__(self) -> None:
        squared = self.normal.dot(self.normal)
        refuse_unless("plane: squared length of the normal", "differ from 1", squared, lambda x: abs(x - 1) < 1e-9)

    def distance(self, p: Vec) -> Distance:
        return Distance(self.normal.dot(p - self.through), self.normal)

    def describe(self) -> str:
        return "plane"


@dataclass(frozen=True)
class Height(Surface):
    """(z − h(x, y))/√(1 + |∇h|²): ground whose height [m] is a function of the place, to first order in the distance."""

    law: RecordedFunction

    def distance(self, p: Vec) -> Distance:
        (along_x,), (along_y,) = self.law(Dual(p.x, 1), p.y), self.law(p.x, Dual(p.y, 1))
        hx, hy = rate(along_x), rate(along_y)
        k = 1 / sqrt(1 + hx * hx + hy * hy)
        return Distance((p.z - value(along_x)) * k, Vec(-hx * k, -hy * k, k))

    def describe(self) -> str:
        return "height"


@dataclass(frozen=True)
class Box(Surface):
    """A box with half its edges ``half`` [m] along the axes of its own frame, to which ``X`` leads."""

    half: Vec
    X: Transform

    def __post_init__(self) -> None:
        for x in self.half:
            refuse_unless("box: half an edge", "be zero or negative", x, lambda x: x > 0)

    def distance(self, p: Vec) -> Distance:
        local = self.X.E @ (p - self.X.r)
        side = Vec(*(where(x < 0, -1.0, 1.0) for x in local))
        over = Vec(*(abs(x) - h for x, h in zip(local, self.half, strict=True)))
        beyond = Vec(*(maximum(x, 0) for x in over))
        length = sqrt(maximum(beyond.dot(beyond), TINY))
        deepest = maximum(over.x, maximum(over.y, over.z))
        x_last, y_last = over.x >= maximum(over.y, over.z), over.y >= over.z
        inward = Vec(where(x_last, 1.0, 0.0), where(x_last, 0.0, where(y_last, 1.0, 0.0)), 0.0)
        inward = Vec(inward.x, inward.y, 1 - inward.x - inward.y)
        outside = deepest > 0
        n = Vec(*(where(outside, b / length, i) * s for b, i, s in zip(beyond, inward, side, strict=True)))
        return Distance(where(outside, length, deepest), self.X.E.T @ n)

    def describe(self) -> str:
        return "box"


@dataclass(frozen=True)
class Rounded(Surface):
    """|p − s| − r, with s the nearest point of a segment: a capsule, or a sphere where the segment is a point."""

    start: Vec
    end: Vec
    radius: Scalar

    def __post_init__(self) -> None:
        refuse_unless("surface: radius", "be negative", self.radius, lambda r: r >= 0)

    def distance(self, p: Vec) -> Distance:
        d = p - nearest_on_segment(self.start, self.end, p)
        squared = d.dot(d)
        length = sqrt(maximum(squared, TINY))
        found = squared > TINY
        n = Vec(*(where(found, x / length, z) for x, z in zip(d, AXES[2], strict=True)))
        return Distance(length - self.radius, n)

    def describe(self) -> str:
        return "sphere" if self.start == self.end else "capsule"

    def nearest_to(self, a: Vec, b: Vec) -> tuple[Vec, ...]:
        """One point: that of the segment which is nearest to this one's."""
        return (nearest_to_segment(a, b, self.start, self.end),)


def refuse_unless(what: str, wrong: str, x: Scalar, holds: Callable[[Any], bool]) -> None:
    """Raise ArgumentError for a number that must not be so; the functions that make surfaces give clearer ones."""
    if is_constant(x) and not holds(x):
        raise ArgumentError(f"{what} must not {wrong}: {x!r}")


def nearest_on_segment(a: Vec, b: Vec, p: Vec) -> Vec:
    """The point of the segment from a to b that is nearest to p."""
    if a == b:
        return a
    d = b - a
    return a + d * clip((p - a).dot(d) / d.dot(d))


def nearest_to_segment(a: Vec, b: Vec, c: Vec, d: Vec) -> Vec:
    """The point of the segment from a to b that is nearest to the segment from c to d (Ericson 2005, §5.1.9)."""
    if c == d:
        return nearest_on_segment(a, b, c)
    u, w, r = b - a, d - c, a - c
    uu, ww, uw, ur, wr = u.dot(u), w.dot(w), u.dot(w), u.dot(r), w.dot(r)
    cross = uu * ww - uw * uw  # 0 where they are parallel: then from the middle
    s = where(cross > 1e-12 * uu * ww, clip((uw * wr - ww * ur) / maximum(cross, TINY)), 0.5)
    t = clip((uw * s + wr) / ww)
    return a + u * clip((uw * t - ur) / uu)


def clip(x: Scalar) -> Scalar:
    """x, at least 0 and at most 1."""
    return minimum(maximum(x, 0), 1)


def tangents(n: Vec) -> tuple[Vec, Vec]:
    """Two unit vectors along the surface with t₁ × t₂ = n, without a branch (Duff et al. 2017)."""
    s: Scalar = where(n.z < 0, -1, 1)
    a = -1 / (s + n.z)
    b = n.x * n.y * a
    first, second = (1 + s * n.x * n.x * a, s * b, -s * n.x), (b, s + n.y * n.y * a, -n.y)
    return Vec(*map(tidy, first)), Vec(*map(tidy, second))


def identity() -> Transform:
    """The transform of a box along the axes of its frame."""
    return Transform(Mat(*IDENTITY), Vec(0, 0, 0))
