"""Compact coding of arrays: integer steps, differences, bytes of equal significance side by side, then compression.

Bundled meshes and the data of a replay page are coded like this; assets/unpack.js decodes them in the page.

* ``float``: float32, all first bytes, then all second bytes, ...
* ``steps``: columns of 16-bit numbers, each as its difference from the one before, 0 −1 1 −2 2 ... as 0 1 2 3 4 ...
* ``faces``: corners of triangles numbered by first use; each as its distance from the newest, which is 0.
"""

from __future__ import annotations

import numpy as np

from torsor.look.scene.triangles import Triangles
from torsor.support.user_arrays import Array


def planes(words: Array) -> bytes:
    """The least bytes of all words, then the next, ...

    >>> planes(np.array([0x0102, 0x0304], np.uint16)).hex()
    '02040103'
    """
    little = np.ascontiguousarray(words.ravel(), words.dtype.newbyteorder("<"))
    return little.view(np.uint8).reshape(-1, little.itemsize).T.tobytes()


def words(data: bytes, kind: str) -> Array:
    """Back from planes: ``kind`` is NumPy's name of the words, "<u2"."""
    rows = np.frombuffer(data, np.uint8).reshape(np.dtype(kind).itemsize, -1)
    return np.ascontiguousarray(rows.T).view(kind).ravel()


def floats(array: Array) -> bytes:
    """float32, so that sign and exponent are adjacent."""
    return planes(np.asarray(array, np.float32))


def steps(array: Array) -> bytes:
    """Differences of (n, columns) unsigned 16-bit numbers; differences wrap round, so they fit."""
    columns = np.asarray(array, np.uint16).T
    difference = np.diff(columns, axis=1, prepend=np.uint16(0)).view(np.int16)
    return planes(((difference << 1) ^ (difference >> 15)).view(np.uint16))


def from_steps(data: bytes, columns: int) -> Array:
    """(n, columns) again.

    >>> from_steps(steps([[7, 65535], [9, 0], [3, 1]]), 2).tolist()
    [[7, 65535], [9, 0], [3, 1]]
    """
    coded = words(data, "<u2").reshape(columns, -1)
    return np.cumsum((coded >> 1) ^ -(coded & 1), axis=1, dtype=np.uint16).T


def faces(array: Array) -> bytes:
    """Coding of (n, 3) corners that are numbered in the order in which they first appear."""
    corners = np.asarray(array, np.int64).ravel()
    newest = np.maximum.accumulate(np.concatenate(([-1], corners)))[:-1] + 1  # the number a corner would have if new
    return planes((newest - corners).astype(np.uint32))


def from_faces(data: bytes) -> Array:
    """(n, 3) again.

    >>> from_faces(faces([[0, 1, 2], [2, 1, 3]])).tolist()
    [[0, 1, 2], [2, 1, 3]]
    """
    behind = words(data, "<u4")
    new = behind == 0
    return (np.cumsum(new, dtype=np.uint32) - new - behind).astype(np.uint32).reshape(-1, 3)


def weld_corners(surface: Triangles, count: int) -> tuple[Array, Array, Array]:
    """(box, corners, faces): corners as whole steps, ``count`` over the surface's box, equal ones made one.

    They are numbered in the order in which triangles first use them; degenerate triangles are removed.
    A mesh of loose triangles, as STL has them, becomes a surface.
    """
    box = np.stack((surface.vertices.min(0), surface.vertices.max(0))).astype(np.float32)
    width = np.where(box[1] > box[0], box[1] - box[0], 1)
    grid = np.rint((surface.vertices - box[0]) / width * count).astype(np.uint64)
    _, place, same = np.unique(grid @ np.array([1, 2**20, 2**40], np.uint64), return_index=True, return_inverse=True)
    named = drop_degenerate(same[surface.faces])
    used, first, found = np.unique(named, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return box, grid[place[used[order]]].astype(np.uint16), rank[found].reshape(-1, 3).astype(np.uint32)


def drop_degenerate(named: Array) -> Array:
    """The triangles with three different corners."""
    a, b, c = named.T
    return named[(a != b) & (b != c) & (c != a)]
