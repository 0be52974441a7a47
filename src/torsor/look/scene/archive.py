"""The meshes that come with torsor: data/meshes/robot.npz has those of a robot, ``torsor://robot/mesh`` names one.

The parts of an archive, one per colour of a mesh, are stored one after another: corners as 14-bit steps of their part's
box, triangles as numbers of corners, both coded as in :mod:`torsor.look.scene.packing`.  tools/bundle_meshes.py writes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from io import BytesIO
from typing import Any

import numpy as np

from torsor.errors import FileError
from torsor.look.scene import packing
from torsor.look.scene.triangles import Color, Triangles
from torsor.support.files import DATA
from torsor.support.user_arrays import Array

SCHEME = "torsor://"
#: steps over a part's box: a hundredth of a millimetre for links of robots
STEPS = 2**14 - 1


def bundled_mesh(uri: str) -> list[Triangles]:
    """The surfaces of one mesh."""
    robot, _, name = uri.removeprefix(SCHEME).partition("/")
    found = _archive(robot).get(name)
    if found is None:
        raise FileError("there is no such bundled mesh", file=uri)
    return found


def pack_surfaces(meshes: Mapping[str, Sequence[Triangles]]) -> dict[str, Array]:
    """The arrays of an archive."""
    parts = [
        (name, surface, *packing.weld_corners(surface, STEPS)) for name, surfaces in meshes.items() for surface in surfaces
    ]
    _, _, boxes, corners, faces = zip(*parts, strict=True)
    starts = np.cumsum([0, *map(len, corners)])
    numbered = [f + np.uint32(k) for f, k in zip(faces, starts, strict=False)]
    return {
        "names": np.array([name for name, *_ in parts]),
        "colors": np.array([np.rint(np.multiply(surface.color, 255)) for _, surface, *_ in parts], np.uint8),
        "boxes": np.array(boxes, np.float32),
        "corner_counts": np.array([*map(len, corners)], np.uint32),
        "face_counts": np.array([*map(len, faces)], np.uint32),
        "corners": np.frombuffer(packing.steps(np.concatenate(corners)), np.uint8),
        "faces": np.frombuffer(packing.faces(np.concatenate(numbered)), np.uint8),
    }


def unpack_surfaces(data: Mapping[str, Array]) -> dict[str, list[Triangles]]:
    """The surfaces by mesh."""
    corners, faces = packing.from_steps(data["corners"].tobytes(), 3), packing.from_faces(data["faces"].tobytes())
    out: dict[str, list[Triangles]] = {}
    c = f = 0
    for name, color, (low, high), n, m in zip(*(data[k] for k in _TABLE), strict=True):
        vertices = low + corners[c : c + n].astype(np.float32) / STEPS * (high - low)
        out.setdefault(str(name), []).append(Triangles(vertices, faces[f : f + m] - np.uint32(c), _rgba(color)))
        c, f = c + int(n), f + int(m)
    return out


_TABLE = ("names", "colors", "boxes", "corner_counts", "face_counts")


@lru_cache(maxsize=8)
def _archive(robot: str) -> dict[str, list[Triangles]]:
    # the name comes from an untrusted file, and must not lead to another folder
    path = DATA / "meshes" / f"{robot}.npz"
    if not robot.isidentifier() or not path.is_file():
        raise FileError("torsor has no bundled meshes of that robot", file=f"{SCHEME}{robot}")
    with np.load(BytesIO(path.read_bytes()), allow_pickle=False) as data:
        return unpack_surfaces(data)


def _rgba(color: Any) -> Color:
    r, g, b, a = (float(x) / 255 for x in color)
    return (r, g, b, a)
