"""The shapes of a description as triangles: solids made here, meshes read by trimesh, bundled meshes from their archive."""

from __future__ import annotations

from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from torsor.errors import FileError, MissingExtra, needs_extra
from torsor.io.shared.places import Places
from torsor.look.scene.archive import SCHEME, bundled_mesh
from torsor.look.scene.triangles import PLAIN, SOLIDS, Color, Triangles
from torsor.model.description import Geometry
from torsor.spatial import Transform
from torsor.support.files import read_bytes
from torsor.support.user_arrays import Array


def triangles(geometry: Geometry, places: Places) -> list[Triangles]:
    """The surfaces of one shape, in the frame of its link [m].

    A mesh may hold several, each with its colour; a colour in the description overrides all of them.
    FileError if a mesh cannot be found or read, MissingExtra without trimesh.
    """
    mesh = geometry.shape == "mesh"
    surfaces = _mesh(geometry.uri, places.of(geometry.source)) if mesh else [SOLIDS[geometry.shape](*geometry.size)]
    R, p = pose(geometry.origin)
    stretched = R @ np.diag(geometry.scale)
    with np.errstate(over="ignore", invalid="ignore"):
        placed = [surface.transform(stretched, p).with_color(geometry.color) for surface in surfaces]
    if not all(np.isfinite(surface.vertices).all() for surface in placed):
        raise FileError(
            f"its size {geometry.size} and scale {geometry.scale} are too large to draw (32-bit floats)",
            file=geometry.uri or geometry.shape,
        )
    return placed


def pose(X: Transform) -> tuple[Array, Array]:
    """(R, p) of a transform as arrays."""
    R, p = X.pose
    return np.array(R, float), np.array(p, float)


def _mesh(uri: str, places: Places) -> list[Triangles]:
    if uri.startswith(SCHEME):
        return bundled_mesh(uri)
    return list(_read(places.find(uri)))


@lru_cache(maxsize=256)
def _read(path: Path) -> tuple[Triangles, ...]:
    """The surfaces of a mesh file, its parts placed as in the file."""
    with needs_extra("trimesh", "mesh", f"reading the mesh {path.name}"):
        import trimesh
    data = read_bytes(path)
    try:
        scene = trimesh.load_scene(BytesIO(data), file_type=path.suffix[1:].lower(), process=False)
        parts = [(part, *scene.graph[node]) for node in scene.graph.nodes_geometry for part in (scene.graph[node][1],)]
        unit = _meters(scene.units)
        found = [_surface(scene.geometry[name], unit * T) for name, T, _ in parts if hasattr(scene.geometry[name], "faces")]
    except ModuleNotFoundError as error:  # trimesh reads COLLADA through another library
        raise MissingExtra(str(error.name), "mesh", f"reading the mesh {path.name}") from None
    except Exception as error:  # any error of trimesh for a broken mesh
        raise FileError(f"cannot be read as a mesh: {error}", file=str(path)) from error
    if not all(np.isfinite(s.vertices).all() for s in found):
        raise FileError("has a corner that is not finite", file=str(path))
    if not any(len(s.faces) for s in found):
        raise FileError("contains no triangles", file=str(path))
    return tuple(found)


def _meters(units: str | None) -> float:
    """COLLADA files give the length of their unit, which trimesh passes on as "0.01 * meters"; other files are in metres."""
    factor, _, meters = (units or "").partition(" * ")
    return float(factor) if meters == "meters" else 1.0


def _surface(mesh: Any, T: Array) -> Triangles:
    surface = Triangles(np.asarray(mesh.vertices, np.float32), np.asarray(mesh.faces, np.uint32), _color(mesh))
    return surface.transform(T[:3, :3], T[:3, 3])


def _color(mesh: Any) -> Color:
    try:
        rgba = np.asarray(mesh.visual.main_color if mesh.visual.kind == "vertex" else mesh.visual.material.main_color)
    except Exception:  # a mesh without looks
        return PLAIN
    r, g, b, a = (float(x) / 255 for x in rgba)
    return (r, g, b, a if a > 0 else 1.0)
