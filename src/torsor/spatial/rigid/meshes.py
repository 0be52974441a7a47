"""A closed surface of triangles, filled with uniform density: the integrals MR 8.24 as sums of signed tetrahedra.

A tetrahedron from the origin over the triangle (a, b, c) has V = a·(b × c)/6, ∫ r = V (a + b + c)/4 and
∫ r rᵀ = V (aaᵀ + bbᵀ + ccᵀ + (a + b + c)(a + b + c)ᵀ)/20; volume outside the body is counted with both signs and cancels.
"""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError, FileError, needs_extra
from torsor.spatial import Inertia, Sym, Vec
from torsor.spatial.rigid import reading as read
from torsor.spatial.shapes import Solid
from torsor.support.files import read_bytes


def mesh(vertices: ArrayLike, faces: ArrayLike) -> Solid:
    """V, c and I_c/m of the inside of a closed mesh, in the frame of its vertices (MR 8.24).

    ``vertices`` (n, 3) [m]; ``faces`` (k, 3) indices, all counterclockwise seen from outside (or all clockwise: the body is the
    same).  The mesh must be closed: a hole, or a face turned against its neighbours, is an ArgumentError.  Vertices at the
    same place count as one, as STL files repeat them.  Where closed parts overlap, the overlap counts twice.

    >>> corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    >>> tetrahedron = mesh(corners, [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
    >>> round(6 * tetrahedron.volume, 12), tetrahedron.com
    (1.0, Vec(x=0.25, y=0.25, z=0.25))
    """
    points, triangles = _triangles(vertices, faces)
    centre = (points.min(axis=0) + points.max(axis=0)) / 2  # near the body, fewer digits cancel
    a, b, c = (points[triangles[:, i]] - centre for i in range(3))
    s = a + b + c
    V = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
    volume = float(V.sum())
    if abs(volume) <= 1e-12 * float(np.abs(V).sum()):
        raise ArgumentError("vertices: the mesh encloses no volume")
    com = V @ s / (4 * volume)
    second = sum(np.einsum("i,ij,ik->jk", V, x, x) for x in (a, b, c, s)) / (20 * volume) - np.outer(com, com)
    gyration = np.trace(second) * np.eye(3) - second
    return Solid(abs(volume), Vec(*(com + centre).tolist()), Sym.of(gyration.tolist()))


def from_mesh(vertices: ArrayLike, faces: ArrayLike, density: float) -> Inertia:
    """m = ρ V, I_o by MR 8.24: the inertia of a closed mesh with uniform density ρ [kg/m³], about its vertices' frame.

    For a given mass instead: ``mesh(vertices, faces).inertia(mass=m)``.

    >>> corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    >>> round(from_mesh(corners, [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)], density=6).m, 12)
    1.0
    """
    return mesh(vertices, faces).inertia(density=density)


def read_mesh(path: str | os.PathLike[str], scale: float = 1.0) -> Solid:
    """:func:`mesh` of a file that trimesh reads (STL, OBJ, PLY, OFF, ...), its lengths times ``scale`` to be metres.

    Needs the extra: ``pip install '.[mesh]'``.  Only this file is opened, not files it refers to.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     try:
    ...         _ = read_mesh(folder + "/none.stl")
    ...     except FileError as error:
    ...         print(error.reason)
    cannot be read: No such file or directory
    """
    place = Path(path)
    if not read.single_array(scale, (), "scale") > 0:
        raise ArgumentError(f"scale: a finite number above zero expected, not {scale!r}")
    content = read_bytes(place)
    with needs_extra("trimesh", "mesh", "reading a mesh file"):
        import trimesh
    try:
        # bytes and no resolver: an untrusted mesh cannot make other files be opened
        found = trimesh.load_mesh(BytesIO(content), file_type=place.suffix.lstrip(".").lower(), process=False)
        vertices, faces = np.array(found.vertices, dtype=float), np.array(found.faces)
    except Exception as error:  # readers of untrusted files may raise any exception
        raise FileError(f"trimesh cannot read it: {type(error).__name__}: {error}", file=str(place)) from error
    try:
        return mesh(vertices * scale, faces)
    except ArgumentError as error:
        raise FileError(str(error), file=str(place)) from None


def _triangles(vertices: ArrayLike, faces: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Points, each once, and the triangles over them, checked to close."""
    points = read.array(vertices, (3,), "vertices")
    if points.ndim != 2 or not len(points) or not np.isfinite(points).all():
        raise ArgumentError(f"vertices: finite floats of shape (n, 3) expected; the shape is {points.shape}")
    try:
        corners = np.asarray(faces)
    except ValueError:
        raise ArgumentError("faces: whole numbers of shape (k, 3) expected; faces of different sizes given") from None
    if corners.ndim != 2 or corners.shape[1:] != (3,) or not len(corners) or corners.dtype.kind not in "iu":
        raise ArgumentError(f"faces: whole numbers of shape (k, 3) expected; {corners.dtype} of shape {corners.shape} given")
    if corners.min() < 0 or corners.max() >= len(points):
        raise ArgumentError(f"faces: indices from 0 to {len(points) - 1} expected; {corners.min()} to {corners.max()} given")
    points, merged = np.unique(points + 0.0, axis=0, return_inverse=True)
    triangles = merged.reshape(-1)[corners]
    _check_closed(triangles, len(points))
    return points, triangles


def _check_closed(triangles: np.ndarray, n: int) -> None:
    """Each edge must be used equally often in both directions: then the surface has no boundary and the sums are right."""
    start, end = triangles.ravel().astype(np.int64), np.roll(triangles, -1, axis=1).ravel().astype(np.int64)
    real = start != end
    start, end = start[real], end[real]
    edges, edge, count = np.unique(np.minimum(start, end) * n + np.maximum(start, end), return_inverse=True, return_counts=True)
    balance = np.bincount(edge.reshape(-1), weights=np.where(start < end, 1.0, -1.0), minlength=len(edges))
    if (count % 2).any():
        raise ArgumentError(f"faces: the mesh is not closed: {int((count % 2).sum())} edges belong to only one face")
    if balance.any():
        raise ArgumentError(
            f"faces: {int((balance != 0).sum())} edges have faces of opposite orientation; orient all faces outwards"
        )
