"""Contacts of a robot: their shapes on the links, and the surfaces that these touch.

A horizontal plane of the world is the floor that every page has, at its height; other surfaces are parts of the scene.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from torsor.look.scene.shapes import pose
from torsor.look.scene.triangles import Color, Triangles, along, box, capsule, sphere
from torsor.model.contact.grids import Grid
from torsor.model.contact.surfaces import Box, Height, Plane, Rounded, Surface
from torsor.model.description import WORLD, Description
from torsor.model.surgery import link_and_pose
from torsor.model.terms.contacts import Contacts
from torsor.spatial import Transform, Vec
from torsor.support.user_arrays import Array

CONTACT: Color = (0.00, 0.62, 0.70, 1.0)
GROUND: Color = (0.80, 0.79, 0.75, 1.0)
#: of the robot's size: radius of a point, least radius of a shape, half width of a patch of ground that has no border
POINT, LEAST, PATCH = 0.02, 0.008, 4.0
#: shapes are drawn larger by this factor, so that they are not hidden by the link's own
SKIN = 1.02
#: cells of a patch along an axis, and of each cell of a grid of heights
CELLS, FINER = 60, 3


class Part(NamedTuple):
    """A surface on a link, or in the world, and whether it is ground."""

    link: str
    surface: Triangles
    ground: bool


def floor_height(d: Description, up: Array) -> float | None:
    """The height of the highest plane across gravity in the world [m]; None without one."""
    planes = [s for s, at in _surfaces(d) if isinstance(s, Plane) and at == WORLD and _is_level(s, up)]
    return max((float(np.dot(_array(s.through), up)) for s in planes), default=None)


def contact_parts(d: Description, size: float, up: Array) -> Iterator[Part]:
    """The shapes and surfaces of all contacts, in a scene of this size; without the floor."""
    links = {link.name for link in d.links}
    shapes = dict.fromkeys((s, f) for t in _terms(d) for s, f in zip(t.shapes, t.frames, strict=True))
    for shape, frame in shapes:
        radius = max(float(shape.radius) * SKIN, (LEAST if shape.radius else POINT) * size)
        yield _placed(d, frame, rounded(_array(shape.start), _array(shape.end), radius).with_color(CONTACT), False)
    for surface, frame in _surfaces(d):
        fixed = frame == WORLD and WORLD not in links
        if fixed and isinstance(surface, Plane) and _is_level(surface, up):
            continue
        yield _placed(d, frame, triangles_of(surface, size).with_color(GROUND if fixed else CONTACT), fixed)


def triangles_of(surface: Surface, size: float) -> Triangles:
    """A surface in the axes of its frame; a patch of one without a border."""
    half = PATCH * size
    if isinstance(surface, Box):
        return box(*(2 * _array(surface.half))).transform(*pose(surface.X))
    if isinstance(surface, Rounded):
        return rounded(_array(surface.start), _array(surface.end), float(surface.radius))
    if isinstance(surface, Plane):
        n = _array(surface.normal)
        flat = _field(np.linspace(-half, half, 2), np.linspace(-half, half, 2), np.zeros((2, 2)))
        return along(flat, n).transform(np.eye(3), n * (n @ _array(surface.through)))
    if isinstance(surface, Grid):
        counts = len(surface.heights), len(surface.heights[0])
        steps = (FINER * (n - 1) + 1 if surface.smooth else n for n in counts)
        ends = ((float(at), float(at + d * (n - 1))) for at, d, n in zip(surface.at, surface.spacing, counts, strict=False))
        x, y = (np.linspace(*end, n) for end, n in zip(ends, steps, strict=True))
        return _field(x, y, surface.height(x[:, None], y[None, :])[0])  # arrays in place of each number
    if isinstance(surface, Height):
        x = np.linspace(-half, half, CELLS + 1)
        return _field(x, x, surface.law(x[:, None], x[None, :])[0])
    raise NotImplementedError(type(surface).__name__)


def rounded(start: Array, end: Array, radius: float) -> Triangles:
    """All points within a radius of a segment."""
    length = float(np.linalg.norm(end - start))
    if not length:
        return sphere(radius).transform(np.eye(3), start)
    return along(capsule(radius, length), (end - start) / length).transform(np.eye(3), (start + end) / 2)


def _terms(d: Description) -> Iterator[Contacts]:
    return (t for t in d.terms if isinstance(t, Contacts))


def _surfaces(d: Description) -> list[tuple[Surface, str]]:
    """The surfaces and their frames, each once."""
    return list(dict.fromkeys((s, f) for t in _terms(d) for s, f in zip(t.surfaces, t.others, strict=True)))


def _placed(d: Description, frame: str, surface: Triangles, ground: bool) -> Part:
    """A surface given in a frame, on the link of the frame."""
    link, X = (WORLD, Transform.identity()) if ground else link_and_pose(d, frame)
    return Part(link, surface.transform(*pose(X)), ground)


def _is_level(s: Plane, up: Array) -> bool:
    return float(np.dot(_array(s.normal), up)) > 1 - 1e-9


def _field(x: Array, y: Array, z: Any) -> Triangles:
    """The triangles of heights over a rectangular grid, seen from above."""
    points = np.stack(np.broadcast_arrays(x[:, None], y[None, :], z), axis=-1).reshape(-1, 3)
    k = np.arange(len(points)).reshape(len(x), len(y))
    a, b, c, d = k[:-1, :-1], k[1:, :-1], k[1:, 1:], k[:-1, 1:]
    faces = np.concatenate([np.stack(corners, axis=-1).reshape(-1, 3) for corners in ((a, b, c), (a, c, d))])
    return Triangles(points.astype(np.float32), faces.astype(np.uint32))


def _array(x: Vec) -> Array:
    return np.array(x, float)
