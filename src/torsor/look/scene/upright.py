"""Orientation of COLLADA meshes: as stored, or turned by their <up_axis>.

A COLLADA file names its up axis.  Gazebo turns a mesh with y up to z, RViz and most readers of URDF do not, and MeshLab
writes Y_UP into every file.  So that name alone is not reliable, and the robot decides: a link's centre of mass and the
joints of its children are in or near its body.  A mesh is not turned, as in RViz, unless it is much nearer to them when turned.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from torsor.errors import FileError, MissingExtra
from torsor.io.shared.places import Places
from torsor.look.scene.hull import distance_outside
from torsor.look.scene.shapes import triangles
from torsor.model.description import Description, Geometry, Link
from torsor.spatial import Mat, Transform, Vec
from torsor.support.files import open_regular
from torsor.support.user_arrays import Array

#: when turned, the points are outside by at most this share of their other distance; of the robots of docs/findings.md iCub's
#: have a quarter, and no other's have less than three quarters
NEARER = 0.5
#: number of corners of a surface used to determine its orientation
CORNERS = 5000
#: length of the beginning of a COLLADA file that is searched for the up axis [bytes]
HEAD = 65536


def has_y_up(g: Geometry, places: Places) -> bool:
    """Whether a shape is a COLLADA mesh with y up in its metadata."""
    if not g.uri.lower().endswith(".dae"):
        return False
    try:
        return _y_up(places.of(g.source).find(g.uri))
    except (FileError, OSError):
        return False


@lru_cache(maxsize=256)
def _y_up(path: Path) -> bool:
    with open_regular(path) as stream:
        return b"Y_UP" in stream.read(HEAD)


def turn_upright(g: Geometry) -> Geometry:
    """The same mesh, its y turned up to z: R S C = (R C)(Cᵀ S C), with C a quarter turn about x."""
    C = Mat(Vec(1, 0, 0), Vec(0, 0, -1), Vec(0, 1, 0))
    R, p = g.origin.pose
    x, y, z = g.scale
    return replace(g, origin=Transform.of_pose(R @ C, p), scale=(x, z, y))


def turns_meshes_upright(description: Description, places: Places) -> bool:
    """Whether to turn all meshes with y up of a robot: yes if the links' points are nearer to the turned meshes."""
    away = {True: 0.0, False: 0.0}
    for link in description.links:
        lying = [g for g in visible_shapes(link.geometry) if has_y_up(g, places)]
        if not lying:
            continue
        for up in away:
            with suppress(FileError, MissingExtra):  # meshes that cannot be read are ignored
                surfaces = [s.vertices for g in lying for s in triangles(turn_upright(g) if up else g, places)]
                corners = np.concatenate([v[:: 1 + len(v) // CORNERS] for v in surfaces]).astype(float)
                away[up] += sum(distance_outside(corners, x) for x in points_near_link(description, link))
    return away[True] < NEARER * away[False]


def points_near_link(description: Description, link: Link) -> list[Array]:
    """Points in or near a link's body, in its frame [m]: its centre of mass and the origins of its moving child joints."""
    centre = [link.inertia.com] if link.inertia.m else []
    origins = [j.origin.r for j in description.joints if j.parent == link.name and j.kind.nv]  # welded links may be anywhere
    return [np.array(x, float) for x in (*centre, *origins)]


def visible_shapes(geometry: Sequence[Geometry]) -> tuple[Geometry, ...]:
    """The visual geometry, else the collision geometry."""
    return tuple(g for g in geometry if g.role == "visual") or tuple(geometry)
