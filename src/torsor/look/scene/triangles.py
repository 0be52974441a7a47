"""Triangles with a colour, and the simple solids made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from torsor.support.user_arrays import Array

Color = tuple[float, float, float, float]

#: the colour of shapes without a colour
PLAIN: Color = (0.75, 0.77, 0.80, 1.0)
#: corners of a circle
ROUND = 24


class Triangles(NamedTuple):
    """A surface: ``vertices`` (n, 3) [m], ``faces`` (m, 3) counterclockwise from outside, ``color`` red green blue opacity."""

    vertices: Array
    faces: Array
    color: Color = PLAIN

    def transform(self, R: Array, p: Array | Sequence[float] = (0, 0, 0)) -> Triangles:
        """R x + p for every vertex; R may also stretch, and mirror."""
        R = np.asarray(R, float)
        faces = self.faces if np.linalg.det(R) > 0 else self.faces[:, ::-1]  # a mirror turns surfaces inside out
        return Triangles((self.vertices @ R.T + np.asarray(p, float)).astype(np.float32), faces, self.color)

    def with_color(self, color: Color | None) -> Triangles:
        return self if color is None else self._replace(color=color)


def box(x: float, y: float, z: float) -> Triangles:
    corners = np.array([[i, j, k] for i in (-0.5, 0.5) for j in (-0.5, 0.5) for k in (-0.5, 0.5)]) * (x, y, z)
    squares = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return _surface(corners, [t for a, b, c, d in squares for t in ((a, b, c), (a, c, d))])


def cylinder(radius: float, length: float) -> Triangles:
    """Along z, its middle at the origin."""
    return _surface_of_revolution([(0, -length / 2), (radius, -length / 2), (radius, length / 2), (0, length / 2)])


def capsule(radius: float, length: float) -> Triangles:
    """A cylinder of that length along z with a half ball at each end."""
    arc = np.linspace(-np.pi / 2, np.pi / 2, ROUND // 2 + 2)
    return _surface_of_revolution([(radius * np.cos(s), radius * np.sin(s) + np.copysign(length / 2, s)) for s in arc])


def sphere(radius: float) -> Triangles:
    return capsule(radius, 0.0)


def ellipsoid(a: float, b: float, c: float) -> Triangles:
    """An ellipsoid, by its semi-axes along x, y and z."""
    return sphere(1.0).transform(np.diag((a, b, c)))


def bone(start: Array, end: Array, radius: float) -> Triangles:
    """A slim double cone from one point to another, thickest near its start."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    length = float(np.linalg.norm(end - start))
    spindle = _surface_of_revolution([(0, 0), (radius, 0.2 * length), (0.35 * radius, 0.97 * length), (0, length)])
    return spindle.transform(_rotation_from_z((end - start) / length), start)


def along(shape: Triangles, axis: Array) -> Triangles:
    """A shape made along z, laid along another axis."""
    return shape.transform(_rotation_from_z(np.asarray(axis, float)))


#: the solids of a description, with their numbers of sizes
SOLIDS: dict[str, Callable[..., Triangles]] = {
    "box": box, "cylinder": cylinder, "capsule": capsule, "sphere": sphere, "ellipsoid": ellipsoid,
}  # fmt: skip


def _surface_of_revolution(profile: Sequence[tuple[float, float]]) -> Triangles:
    """The surface of (radius, z) turned about z, from its lower to its upper end; radius zero at both."""
    ring = 2 * np.pi * np.arange(ROUND) / ROUND
    points, n = [(0.0, 0.0, profile[0][1])], len(profile) - 2
    for r, z in profile[1:-1]:
        points += [(r * np.cos(s), r * np.sin(s), z) for s in ring]
    points.append((0.0, 0.0, profile[-1][1]))
    faces, last = [], len(points) - 1
    for k in range(ROUND):
        l = (k + 1) % ROUND
        faces.append((0, 1 + l, 1 + k))
        for i in range(n - 1):
            a, b = 1 + i * ROUND, 1 + (i + 1) * ROUND
            faces += [(a + k, a + l, b + l), (a + k, b + l, b + k)]
        top = 1 + (n - 1) * ROUND
        faces.append((last, top + k, top + l))
    return _surface(points, faces)


def _surface(points: Array | Sequence, faces: Sequence[tuple[int, int, int]]) -> Triangles:
    return Triangles(np.array(points, np.float32), np.array(faces, np.uint32))


def _rotation_from_z(axis: Array) -> Array:
    """A rotation that takes ẑ to a unit vector."""
    z = axis / np.linalg.norm(axis)
    x = np.cross((0.0, 1.0, 0.0) if abs(z[1]) < 0.9 else (1.0, 0.0, 0.0), z)
    x /= np.linalg.norm(x)
    return np.column_stack((x, np.cross(z, x), z))
