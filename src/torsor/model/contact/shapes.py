"""Shapes of links that touch surfaces, and the functions with which they are described: spheres, capsules and points."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import product
from math import cos, pi, sin
from typing import Any

from torsor.compile.recorded_function import RecordedFunction
from torsor.errors import ArgumentError
from torsor.model.contact.grids import Grid
from torsor.model.contact.surfaces import Box, Height, Plane, Rounded, Surface, refuse_unless, tangents
from torsor.scalar import is_constant, tidy
from torsor.spatial import Vec
from torsor.spatial import arguments as read


@dataclass(frozen=True)
class Shape:
    """All points within ``radius`` [m] of a segment of a frame: a capsule; a sphere or a point where the segment is a point."""

    frame: str
    start: Vec
    end: Vec
    radius: float = 0.0

    def __post_init__(self) -> None:
        refuse_unless(f"shape of {self.frame}: radius", "be negative", self.radius, lambda r: r >= 0)

    @property
    def surface(self) -> Rounded:
        """The same as a surface of its frame, for other shapes to touch."""
        return Rounded(self.start, self.end, self.radius)

    def describe(self) -> str:
        """One word."""
        return "point" if self.start == self.end and not self.radius else self.surface.describe()


@dataclass(frozen=True)
class Placed:
    """A surface of a frame: of the world, or of a link."""

    surface: Surface
    frame: str = "world"


# -- shapes of links -------------------------------------------------------------------------------------------------


def point(frame: str, at: Any = (0, 0, 0)) -> Shape:
    """A point of a frame, at ``at`` [m] in its axes.

    >>> point("foot").describe()
    'point'
    """
    p = _place(at, f"point of {frame}: at")
    return Shape(frame, p, p)


def sphere(frame: str, radius: float, at: Any = (0, 0, 0)) -> Shape:
    """A sphere of a frame, with its centre at ``at`` [m] in its axes.

    >>> sphere("foot", radius=0.02).radius
    0.02
    """
    p = _place(at, f"sphere of {frame}: at")
    return Shape(frame, p, p, _size(radius, f"sphere of {frame}: radius"))


def capsule(frame: str, start: Any, end: Any, radius: float) -> Shape:
    """A capsule of a frame: all points within ``radius`` [m] of the segment from ``start`` to ``end`` [m].

    Planes, boxes and ground touch it at its two ends, spheres and capsules at the nearest point.

    >>> capsule("shin", (0, 0, 0), (0, 0, -0.2), radius=0.03).describe()
    'capsule'
    """
    a, b = (_place(x, f"capsule of {frame}: {name}") for x, name in ((start, "start"), (end, "end")))
    if a == b:
        raise ArgumentError(f"capsule of {frame}: start and end are the same point; use sphere")
    return Shape(frame, a, b, _size(radius, f"capsule of {frame}: radius"))


def corners(frame: str, size: Any, at: Any = (0, 0, 0), *, side: str | None = None, radius: float = 0.0) -> list[Shape]:
    """The corners of a box with edges ``size`` [m], its centre at ``at`` [m]: 8 points, or the 4 of a ``side``: "-z", "+x" ...

    With a ``radius`` they are spheres inside of the box.

    >>> len(corners("foot", (0.2, 0.1, 0.04), side="-z"))
    4
    """
    x = _place(size, f"corners of {frame}: size")
    if not min(x) >= 2 * radius or not max(x) > 0:
        raise ArgumentError(f"corners of {frame}: size must be positive, and at least two radii, not {tuple(x)}")
    names = ("-x", "+x", "-y", "+y", "-z", "+z")
    if side is not None and side not in names:
        raise ArgumentError(f"corners of {frame}: side must be one of {', '.join(names)}, not {side!r}")
    signs = [s for s in product((-1, 1), repeat=3) if side is None or s["xyz".index(side[1])] == (-1 if side[0] == "-" else 1)]
    centre, half = _place(at, f"corners of {frame}: at"), [edge / 2 - radius for edge in x]
    found = dict.fromkeys(Vec(*(c + s * h for c, s, h in zip(centre, sign, half, strict=True))) for sign in signs)
    return [sphere(frame, radius, p) if radius else point(frame, p) for p in found]


def rim(frame: str, radius: float, axis: Any = (0, 0, 1), at: Any = (0, 0, 0), count: int = 8) -> list[Shape]:
    """``count`` points on a circle of that radius [m] about an axis of the frame: the rim of a cylinder or a disc.

    >>> len(rim("cup", 0.04, at=(0, 0, -0.05), count=6))
    6
    """
    if isinstance(count, bool) or not isinstance(count, int) or count < 3:
        raise ArgumentError(f"rim of {frame}: count must be a whole number from 3, not {count!r}")
    r, centre = _size(radius, f"rim of {frame}: radius"), _place(at, f"rim of {frame}: at")
    e, f = tangents(read.axis(axis, f"rim of {frame}: axis"))
    angles = (2 * pi * k / count for k in range(count))
    return [point(frame, centre + e * (r * cos(a)) + f * (r * sin(a))) for a in angles]


# -- surfaces --------------------------------------------------------------------------------------------------------


def plane(normal: Any = (0, 0, 1), through: Any = (0, 0, 0), *, frame: str = "world") -> Placed:
    """A plane with that normal, away from what is solid, through a point [m]; of the world, or of a link's frame.

    >>> plane().surface.describe()
    'plane'
    """
    n = Vec(*map(tidy, read.axis(normal, "plane: normal")))
    return Placed(Plane(n, _place(through, "plane: through")), frame)


def height(function: Callable[..., Any], *, frame: str = "world") -> Placed:
    """Ground of height z = function(x, y) [m], written with + − × ÷ and the functions of :mod:`torsor.scalar`.

    The distance is right to first order: steep ground with bumps smaller than the feet needs a finer description.

    >>> from torsor.scalar import sin
    >>> height(lambda x, y: 0.02 * sin(10 * x)).surface.describe()
    'height'
    """
    if not callable(function):
        raise ArgumentError(f"height: a function of (x, y) is needed, not {type(function).__name__}")
    return Placed(Height(RecordedFunction.of("height", function, 2, 1)), frame)


def grid(heights: Any, spacing: Any, *, at: Any = (0, 0, 0), smooth: bool = True, frame: str = "world") -> Placed:
    """Ground of heights given as data: ``heights[i][j]`` [m] at x = i·spacing, y = j·spacing from the corner ``at`` [m].

    ``spacing`` is one number, or one for x and one for y [m].  Between the points the ground is bicubic, with a continuous
    slope, or with ``smooth=False`` bilinear; beyond its border it keeps the height of the border.  Each contact point costs
    about 1.5 operations per height, so at most 4096 heights are taken.  The heights are constants of the compiled kernel.

    >>> grid([[0, 0, 0], [0, 0.1, 0], [0, 0, 0]], spacing=0.5, at=(-0.5, -0.5, 0)).surface.describe()
    'grid'
    """
    try:
        table = tuple(tuple(float(h) for h in row) for row in heights)
    except (TypeError, ValueError):
        raise ArgumentError("grid: heights must be a table of numbers [m], one list for each x") from None
    given = read.as_list(spacing, 2, "grid: spacing") if isinstance(spacing, Iterable) else [spacing] * 2
    dx, dy = (float(read.scalar(d, "grid: spacing")) for d in given)
    return Placed(Grid(table, (dx, dy), _place(at, "grid: at"), bool(smooth)), frame)


def box(size: Any, xyz: Any = (0, 0, 0), rpy: Any = (0, 0, 0), *, frame: str = "world") -> Placed:
    """A box with edges ``size`` [m], its centre at xyz [m] and turned by rpy [rad] in the axes of the world or of a link.

    >>> box((1, 1, 0.2), (0, 0, -0.1)).surface.describe()
    'box'
    """
    edges = _place(size, "box: size")
    if not min(edges) > 0:
        raise ArgumentError(f"box: the edges must be positive, not {tuple(edges)}")
    return Placed(Box(edges * 0.5, read.pose(xyz, rpy, "box")), frame)


def ball(radius: float, at: Any = (0, 0, 0), *, frame: str = "world") -> Placed:
    """A sphere as a surface, its centre at ``at`` [m]: of the world, or of a link.

    >>> ball(0.5).surface.describe()
    'sphere'
    """
    p = _place(at, "ball: at")
    return Placed(Rounded(p, p, _size(radius, "ball: radius")), frame)


# -- pairs -----------------------------------------------------------------------------------------------------------


def pairs_of(shapes: Any, surface: Any) -> list[tuple[Shape, Placed]]:
    """Each shape with each surface: ``surface`` is one of the functions above, or a list of these or of shapes of links."""
    found = [(a, b) for a in _listed(shapes, (Shape,), "shapes") for b in surfaces_of(surface)]
    for a, b in found:
        if a.frame == b.frame:
            raise ArgumentError(f"a shape of {a.frame!r} cannot touch a surface of {a.frame!r}: give one of another link")
    return found


def surfaces_of(surface: Any) -> list[Placed]:
    """One surface or several as a list; shapes of links are surfaces, too."""
    return [Placed(s.surface, s.frame) if isinstance(s, Shape) else s for s in _listed(surface, (Shape, Placed), "surface")]


def moved(s: Shape, change: Callable[[Vec], Vec]) -> Shape:
    """The shape with its segment moved."""
    return replace(s, start=change(s.start), end=change(s.end))


def _listed(given: Any, kinds: tuple[type, ...], what: str) -> list[Any]:
    """One or several as a flat list; lists in it, such as corners, are taken apart."""
    rows = [given] if isinstance(given, kinds) else given
    if not isinstance(rows, Iterable) or isinstance(rows, (str, dict)):
        raise ArgumentError(f"{what} must be made by torsor.contacts, alone or in a list, not {given!r}")
    found = [x for row in rows for x in (_listed(row, kinds, what) if isinstance(row, (list, tuple)) else [row])]
    for x in found:
        if not isinstance(x, kinds):
            raise ArgumentError(f"{what} must be made by torsor.contacts, not {type(x).__name__}")
    if not found:
        raise ArgumentError(f"{what} is empty; give at least one")
    return found


def _place(x: Any, what: str) -> Vec:
    return Vec(*map(tidy, read.vector(x, what)))


def _size(x: Any, what: str) -> float:
    found = read.scalar(x, what)
    if is_constant(found) and not found > 0:
        raise ArgumentError(f"{what} must be positive, not {x!r}")
    return float(found)
