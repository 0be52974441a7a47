"""Random chains, and the comparison of two results."""

from __future__ import annotations

import modern_robotics as book
import numpy as np

from tests.tolerance import assert_close


def rotation(rng):
    return book.MatrixExp3(book.VecToso3(rng.normal(size=3)))


def pose(rng):
    return book.RpToTrans(rotation(rng), rng.normal(size=3))


def screw(rng, kind):
    w, p = rng.normal(size=(2, 3))
    w /= np.linalg.norm(w)
    return np.r_[0, 0, 0, w] if kind == "prismatic" else np.r_[w, -np.cross(w, p) + w * (kind == "helical") * rng.normal()]


def lists(rng, n=5):
    kinds = (["revolute", "prismatic", "revolute", "helical", "revolute", "prismatic"] * 2)[:n]
    S = np.array([screw(rng, k) for k in kinds]).T
    inertias = []
    for _ in range(n):
        A, m = rng.normal(size=(3, 3)), rng.uniform(0.5, 2)
        h = m * book.VecToso3(rng.normal(size=3))
        inertias.append(np.block([[A @ A.T + np.eye(3) - h @ h / m, h], [-h, m * np.eye(3)]]))
    return [pose(rng) for _ in range(n + 1)], inertias, S


def same(ours, theirs, tolerance=1e-12):
    """Equal shapes, and equal numbers relative to the largest."""
    if isinstance(theirs, (tuple, list)):
        assert type(ours) is type(theirs)
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            same(a, b, tolerance)
        return
    assert_close(ours, theirs, tolerance, floor=1)
