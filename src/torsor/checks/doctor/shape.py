"""The shape of a link as the file draws it: its corners, its volume, and the inertia a uniform body of that shape has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from torsor.checks.doctor.records import second_moment
from torsor.errors import ArgumentError, FileError, MissingExtra
from torsor.io.shared.places import Places
from torsor.look.scene.hull import distance_outside
from torsor.look.scene.shapes import triangles
from torsor.look.scene.upright import has_y_up, turn_upright, visible_shapes
from torsor.model.description import Geometry
from torsor.spatial.rigid.meshes import mesh
from torsor.support.locks import cached_property
from torsor.support.user_arrays import Array

Surface = tuple[Array, Array]  # corners (n, 3), faces (k, 3)

#: number of triangles above which a surface is treated as open: the check whether it is closed would be slow
FINE = 100_000
#: odd numbers with well mixed bits, one per coordinate
_MIX = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], np.uint64)


class Uniform(NamedTuple):
    """A body of uniform density: centre of mass [m] and Σ/m = ∫ r rᵀ dm / m about it [m²]."""

    name: str  # "solid" or "shell"
    com: Array
    second_moment: Array


class Shape:
    """Shape of a link, in its own frame: ``points``, the vertices of its surfaces [m], and derived quantities."""

    def __init__(self, surfaces: Sequence[Surface]):
        self._surfaces = surfaces
        self.points = np.concatenate([corners for corners, _ in surfaces])
        #: the diagonal of its box [m]
        self.size = float(np.linalg.norm(np.ptp(self.points, axis=0)))

    @cached_property
    def bodies(self) -> tuple[Uniform, ...]:
        """The uniform bodies of that shape: the shell always, the solid before it where the surfaces are closed."""
        solid = self._inside[1]
        return (self._shell,) if solid is None else (solid, self._shell)

    @property
    def volume(self) -> float:
        """Enclosed volume [m³], 0 for open surfaces."""
        return self._inside[0]

    @cached_property
    def box(self) -> float:
        """The volume of its box along the link's axes or its own, the smaller [m³]: never less than that of the body."""
        axes = np.linalg.eigh(self._shell.second_moment)[1]
        return min(float(np.prod(np.ptp(p, axis=0))) for p in (self.points, self.points @ axes))

    @cached_property
    def _shell(self) -> Uniform:
        return _shell([corners[faces] for corners, faces in self._surfaces])

    @cached_property
    def _inside(self) -> tuple[float, Uniform | None]:
        return _solid(self._surfaces)

    def distance_outside(self, x: Array) -> float:
        """Lower bound of the distance of a point from the convex hull [m]; 0 inside."""
        return distance_outside(self.points, x)

    def spread(self, com: Array, u: Array, slack: float = 0.0) -> float:
        """(b − c)(c − a) along u [m²]: no mass inside the shape with that centre varies more (Bhatia and Davis).

        ``slack`` [m] widens the shape on both sides.
        """
        along = self.points @ u
        c = float(com @ u)
        return max(float(along.max()) - c + slack, 0.0) * max(c - float(along.min()) + slack, 0.0)


class Shapes:
    """The shapes of links, each read once.  Unreadable files are in ``missing``, by URI, with the reason."""

    def __init__(self, places: Places, meshes: bool = True):
        self.places, self.meshes = places, meshes
        self.missing: dict[str, str] = {}
        self.lacking = ""  # the library that would be needed to read a mesh
        self._of: dict[tuple[Geometry, ...], Shape | None] = {}

    def of(self, geometry: Iterable[Geometry], *, upright: bool = False) -> Shape | None:
        """The visual shape, else the collision shape; None if a part of it cannot be read.

        ``upright`` turns COLLADA meshes whose y is up, as some readers do and others do not.
        """
        parts = tuple(self.turn_if_y_up(g, upright) for g in visible_shapes(tuple(geometry)))
        if parts not in self._of:
            self._of[parts] = self._read(parts)
        return self._of[parts]

    def turn_if_y_up(self, g: Geometry, upright: bool) -> Geometry:
        """A shape; with ``upright``, a mesh with y up is turned."""
        return turn_upright(g) if upright and self.has_y_up(g) else g

    def has_y_up(self, g: Geometry) -> bool:
        """Whether a shape is a COLLADA mesh with y up in its metadata."""
        return self.meshes and has_y_up(g, self.places)

    def _read(self, parts: tuple[Geometry, ...]) -> Shape | None:
        surfaces: list[Surface] = []
        whole = bool(parts)
        for g in parts:
            if g.shape == "mesh" and not self.meshes:
                return None
            try:
                surfaces += [merge_corners(s.vertices, s.faces) for s in triangles(g, self.places) if len(s.faces)]
            except FileError as error:
                self.missing.setdefault(g.uri, error.reason)
                whole = False
            except MissingExtra as error:
                self.lacking = error.library
                whole = False
        if not whole or not surfaces or not all(np.isfinite(corners).all() for corners, _ in surfaces):
            return None
        shape = Shape(surfaces)
        return shape if shape.size > 1e-6 else None


def merge_corners(vertices: Array, faces: Array) -> Surface:
    """The corners in use, those at the same place as one: STL repeats each for every triangle.

    They are distinguished by a hash of their bits, which sorts much faster than three numbers do.
    """
    bits = (np.ascontiguousarray(vertices, np.float32) + np.float32(0)).view(np.uint32).astype(np.uint64)
    key = (bits * _MIX).sum(axis=1, dtype=np.uint64)
    used = np.asarray(faces).ravel()
    _, first, merged = np.unique(key[used], return_index=True, return_inverse=True)
    return np.asarray(vertices, float)[used[first]], merged.reshape(np.shape(faces))


def _shell(corners: list[Array]) -> Uniform:
    """∫ r dA = A s/3, ∫ r rᵀ dA = A (aaᵀ + bbᵀ + ccᵀ + ssᵀ)/12 of a triangle, s = a + b + c."""
    t = np.concatenate(corners)
    a, b, c = t[:, 0], t[:, 1], t[:, 2]
    A = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2
    com = A @ (a + b + c) / (3 * A.sum())
    a, b, c = a - com, b - com, c - com
    s = a + b + c
    second = sum(np.einsum("i,ij,ik->jk", A, x, x) for x in (a, b, c, s)) / (12 * A.sum())
    return Uniform("shell", com, second)


def _solid(surfaces: Sequence[Surface]) -> tuple[float, Uniform | None]:
    """The inside of closed surfaces; (0, None) if one is open, or has too many triangles."""
    if sum(len(faces) for _, faces in surfaces) > FINE:
        return 0.0, None
    try:
        found = [mesh(corners, faces) for corners, faces in surfaces]
    except ArgumentError:
        return 0.0, None
    V = np.array([float(s.volume) for s in found])
    c = np.array([s.com for s in found], float)
    com = V @ c / V.sum()
    second = np.zeros((3, 3))
    for volume, centre, s in zip(V, c, found, strict=True):
        within = second_moment(np.array(s.gyration.rows, float))
        second += volume * (within + np.outer(centre - com, centre - com))
    return float(V.sum()), Uniform("solid", com, second / V.sum())
