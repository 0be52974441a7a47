"""Geoms as shapes to draw and to collide, sites as named frames."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from torsor.io.mjcf.poses import pose, rotation, vector
from torsor.io.mjcf.selection import GEOM, MESH, SITE, Selection, name_of
from torsor.model.description import WORLD, Geometry, NamedFrame
from torsor.model.touching import Touching
from torsor.spatial import Transform, Vec

#: torsor's sizes of shapes, each as a multiple of MuJoCo's, which are half lengths; in the order of MuJoCo's mjtGeom
MULTIPLES = {"sphere": (1,), "capsule": (1, 2), "ellipsoid": (1, 1, 1), "cylinder": (1, 2), "box": (2, 2, 2)}
#: MuJoCo's mjtGeom → shape
_SHAPES = dict(enumerate(MULTIPLES, start=2))
_MESHES = (7, 8)
PLANE = "plane"
#: mjtGeom → shape of the world
_GROUND = {0: PLANE, 1: "hfield", **_SHAPES}
#: MuJoCo's viewer shows the groups below this one
_HIDDEN = 3
#: the colour of a geom without a colour
_GREY = (0.5, 0.5, 0.5, 1.0)

MeshFrames = dict[str, tuple[Any, Any]]


def read_geoms(chosen: Selection, body: int, frames: MeshFrames) -> tuple[Geometry, ...]:
    """The shapes of a body: those in the groups MuJoCo shows as visuals, those that may touch others as collisions."""
    m, out = chosen.m, list[Geometry]()
    for g in range(int(m.body_geomadr[body]), int(m.body_geomadr[body]) + int(m.body_geomnum[body])):
        color = _color(m, g)
        roles = ["visual"] if m.geom_group[g] < _HIDDEN and color[3] > 0 else []
        roles += ["collision"] if m.geom_contype[g] or m.geom_conaffinity[g] else []
        shape = _shape(chosen, g, frames)
        if not roles:
            chosen.notes.note_ignored("geom", "it is neither visual nor collision geometry")
        elif shape is not None:
            looks: dict[str, dict[str, Any]] = {"visual": {"color": color}, "collision": {"touching": _touching(chosen, g)}}
            out += [replace(shape, role=role, **looks[role]) for role in roles]
    return tuple(out)


def read_ground(chosen: Selection) -> tuple[Geometry, ...]:
    """The shapes that stand still in the world and that links may touch; a plane is infinite, whatever its size."""
    m, out = chosen.m, list[Geometry]()
    for g in range(m.ngeom):
        body, kind = int(m.geom_bodyid[g]), int(m.geom_type[g])
        if m.body_weldid[body] or not (m.geom_contype[g] or m.geom_conaffinity[g]) or (body and body in chosen.links):
            continue
        link, X = chosen.end(body, pose(m.geom_pos[g], m.geom_quat[g]))
        if link == WORLD:
            word = _GROUND.get(kind, "mesh")
            size = tuple(n * float(x) for n, x in zip(MULTIPLES.get(word, ()), m.geom_size[g], strict=False))
            out.append(Geometry("collision", word, size, origin=X, name=name_of(m, GEOM, g), touching=_touching(chosen, g)))
    return tuple(out)


def _touching(chosen: Selection, g: int) -> Touching:
    """What a geom may touch, and its friction; nothing where <exclude> names the world and its body."""
    m = chosen.m
    if int(m.geom_bodyid[g]) in chosen.excluded:
        return Touching(float(m.geom_friction[g][0]), 0, 0)
    masks = int(m.geom_contype[g]), int(m.geom_conaffinity[g])
    return Touching(float(m.geom_friction[g][0]), *masks, int(m.geom_priority[g]))


def count_left_out(chosen: Selection) -> None:
    """Shapes of bodies that are not read, and that are not ground."""
    m = chosen.m
    for body, contype, conaffinity in zip(m.geom_bodyid, m.geom_contype, m.geom_conaffinity, strict=True):
        if int(body) not in chosen.links and not (m.body_weldid[body] == 0 and (contype or conaffinity)):
            chosen.notes.note_ignored("geom", "its body is not read")


def _shape(chosen: Selection, g: int, frames: MeshFrames) -> Geometry | None:
    m, kind = chosen.m, int(chosen.m.geom_type[g])
    X, name = pose(m.geom_pos[g], m.geom_quat[g]), name_of(m, GEOM, g)
    if kind in _SHAPES:
        word = _SHAPES[kind]
        size = tuple(n * float(x) for n, x in zip(MULTIPLES[word], m.geom_size[g], strict=False))
        return Geometry("visual", word, size, origin=X, name=name)
    if kind not in _MESHES:  # a plane or a height field, which is ground
        return None
    k = int(m.geom_dataid[g])
    path = _path(m, k)
    mesh = name_of(m, MESH, k)
    if not path:
        chosen.notes.note("mesh without a file ignored", mesh)
        return None
    scale = tuple(float(x) for x in m.mesh_scale[k])
    # MuJoCo moves a mesh to its centre of mass and principal axes; this leads back to the frame of its file
    centred = pose(m.mesh_pos[k], m.mesh_quat[k])
    seen = _file_frame(scale, *frames.get(mesh, ((0, 0, 0), (1, 0, 0, 0))))
    if seen is None:
        chosen.notes.note("mesh with refquat and unequal scales ignored", mesh)
        return None
    return Geometry("visual", "mesh", uri=path, scale=scale, origin=seen @ centred.inverse @ X, name=name)  # type: ignore[arg-type]


def _file_frame(scale: tuple[float, ...], position: Any, quaternion: Any) -> Transform | None:
    """The frame of the file after the shift by refpos and refquat: x = S Rᵀ(x_file − p), a pose if S and R commute."""
    R, p = rotation(quaternion), vector(position)
    skew = any(R[i][j] for i in range(3) for j in range(3) if i != j)
    if skew and len(set(scale)) > 1:
        return None
    moved = R.T @ p
    return Transform.of_pose(R.T, Vec(*(-s * x for s, x in zip(scale, moved, strict=True))))


def _path(m: Any, mesh: int) -> str:
    """The absolute path of the mesh's file; empty if it has none."""
    at = int(m.mesh_pathadr[mesh])
    found = bytes(m.paths)[at:].partition(b"\0")[0] if at >= 0 else b""
    return os.path.abspath(found.decode("utf-8", "replace")) if found else ""


def _color(m: Any, g: int) -> tuple[float, float, float, float]:
    own = tuple(float(x) for x in m.geom_rgba[g])
    k = int(m.geom_matid[g])
    shown = m.mat_rgba[k] if k >= 0 and all(abs(a - b) < 1e-6 for a, b in zip(own, _GREY, strict=True)) else own
    r, g_, b, a = (round(float(x), 7) for x in shown)  # MuJoCo keeps colours in single precision
    return r, g_, b, a


def read_sites(chosen: Selection) -> tuple[NamedFrame, ...]:
    """Sites by their names, ``<name>_site`` where a link has that name."""
    m, out = chosen.m, []
    taken = set(chosen.taken_links)
    for s in range(m.nsite):
        body, name = int(m.site_bodyid[s]), name_of(m, SITE, s)
        if body not in chosen.links:
            chosen.notes.note_ignored("site", "its body is not read")
        elif not name:
            chosen.notes.note_ignored("site", "it has no name")
        else:
            called = name
            while called in taken:
                called += "_site"
            if called != name:
                chosen.notes.note("site with the name of a link, renamed", called)
            taken.add(called)
            chosen.sites[s] = called
            out.append(NamedFrame(called, chosen.links[body], pose(m.site_pos[s], m.site_quat[s])))
    return tuple(out)
