"""Data reduction for display: curves by their extremes, meshes by merging corners that are close together."""

from __future__ import annotations

import numpy as np

from torsor.look.scene import Triangles
from torsor.look.scene.packing import drop_degenerate
from torsor.support.user_arrays import Array


def envelope(t: Array, y: Array, most: int) -> tuple[Array, Array]:
    """Curves (T, n) in at most ``most`` rows: the smallest and the largest value of each time interval, in order.

    No peak is lost, however narrow; its time is off by no more than a stretch.

    >>> t = np.arange(1000.0)
    >>> at, kept = envelope(t, (t == 377)[:, None] * 1.0, 100)
    >>> len(at), float(kept.max()), bool(abs(at[kept[:, 0].argmax()] - 377) < 20)
    (100, 1.0, True)
    """
    if len(t) <= most:
        return t, y
    edges = np.linspace(0, len(t), most // 2 + 1).astype(int)
    low, high = np.minimum.reduceat(y, edges[:-1]), np.maximum.reduceat(y, edges[:-1])
    rising = y[edges[1:] - 1] >= y[edges[:-1]]
    pairs = np.stack((np.where(rising, low, high), np.where(rising, high, low)), axis=1)
    pairs[0, 0], pairs[-1, 1] = y[0], y[-1]
    return t[np.stack((edges[:-1], edges[1:] - 1), axis=1)].ravel(), pairs.reshape(-1, y.shape[1])


def cluster_corners(surface: Triangles, cell: float) -> Triangles:
    """The surface with all corners in a cube of side ``cell`` [m] merged at their mean (Rossignac and Borrel 1993)."""
    cube = np.floor(surface.vertices / cell).astype(np.int64) + 2**20
    _, same = np.unique(cube @ np.array([1, 2**21, 2**42]), return_inverse=True)
    count = np.bincount(same)
    mean = np.stack([np.bincount(same, axis) / count for axis in surface.vertices.T], axis=-1)
    return Triangles(mean.astype(np.float32), drop_degenerate(same[surface.faces]).astype(np.uint32), surface.color)
