"""Chains and trees of any size, made of arrays from the start."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from torsor.errors import ArgumentError
from torsor.mechanics.large.tree import LargeTree
from torsor.model.joints import (
    Continuous,
    Cylindrical,
    Floating,
    Helical,
    JointType,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from torsor.model.magnitudes import LARGEST, check_size
from torsor.spatial import Vec
from torsor.spatial.rigid.motions import from_quaternion
from torsor.support.user_arrays import as_array

X, Y, Z = Vec(1, 0, 0), Vec(0, 1, 0), Vec(0, 0, 1)
#: a rope: joints about x and y alternately
ROPE = (Revolute(X), Revolute(Y))
#: one of each
EVERY_TYPE = (
    Revolute(X), Revolute(Y), Continuous(Z), Prismatic(X), Helical(Z, 0.1), Cylindrical(Y), Universal(X, Y),
    Spherical(), Planar(Z), Floating(),
)  # fmt: skip


def chain(
    n: int,
    joint: JointType | Sequence[JointType] = ROPE,
    *,
    length: Any = 0.1,
    mass: Any = 0.1,
    radius: Any = 0.01,
    armature: Any = 0.0,
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
    name: str = "chain",
) -> LargeTree:
    """n solid rods, each attached to the end of the one before, along −z at neutral q.

    ``length`` and ``radius`` [m], ``mass`` [kg]: a number, or an array with one per link.  ``armature`` likewise, one per
    degree of freedom.  ``joint`` is a joint type or several, used alternately; the default, revolute about x and y, is a rope.

    >>> chain(1000)
    <LargeTree chain: 1000 bodies, 1000 freedoms; revolute>
    """
    _check_count("links", n)
    types = (joint,) if isinstance(joint, JointType) else tuple(joint) if isinstance(joint, Sequence) else ()
    if not types or not all(isinstance(kind, JointType) for kind in types):
        raise ArgumentError(f"joint must be a joint type such as torsor.joints.Revolute((0, 1, 0)), or several, not {joint!r}")
    L, m, R = (_per_link(x, n, what) for x, what in ((length, "length"), (mass, "mass"), (radius, "radius")))
    zero = np.zeros(n)
    across = m * (3 * R**2 + L**2) / 12 + m * (L / 2) ** 2  # about the upper end: Steiner
    return LargeTree(
        parent=np.arange(-1, n - 1),
        kind=np.arange(n) % len(types),
        types=types,
        E=np.broadcast_to(np.eye(3), (n, 3, 3)),
        r=np.stack([zero, zero, np.concatenate([[0.0], -L[:-1]])], axis=1),
        mass=m,
        h=np.stack([zero, zero, -m * L / 2], axis=1),
        I=np.stack([across, zero, zero, across, zero, m * R**2 / 2], axis=1),
        armature=_per_link(armature, sum(types[k % len(types)].nv for k in range(n)), "armature"),
        gravity=np.asarray(gravity, dtype=float),
        name=name,
    )


def random_tree(
    n: int,
    rng: np.random.Generator,
    *,
    branching: float = 0.5,
    types: Sequence[JointType] = EVERY_TYPE,
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
    name: str = "random tree",
) -> LargeTree:
    """A tree of n bodies with joints of the types given, offsets, inertias and armatures drawn at random.

    With probability ``branching`` the parent of a body is any earlier body, otherwise the last: 0 makes a chain, 1 a tree
    whose depth grows with log n.

    >>> tree = random_tree(5, np.random.default_rng(1), types=[Spherical()])
    >>> tree.nq, tree.nv
    (20, 15)
    """
    _check_count("bodies", n)
    if not 0 <= branching <= 1:
        raise ArgumentError(f"branching must be a probability between 0 and 1, not {branching!r}")
    kind = rng.integers(0, len(types), size=n)
    anywhere = rng.integers(-1, np.arange(n))
    parent = np.where(rng.random(n) < branching, anywhere, np.arange(-1, n - 1))
    points, masses = rng.normal(scale=0.2, size=(n, 5, 3)), rng.uniform(0.1, 1.0, size=(n, 5))  # physical by construction
    nv = int(np.array([joint.nv for joint in types])[kind].sum())
    return LargeTree(
        parent=parent,
        kind=kind,
        types=tuple(types),
        E=from_quaternion(rng.normal(size=(n, 4))),  # drawn uniformly
        r=rng.normal(scale=0.3, size=(n, 3)),
        mass=masses.sum(axis=1),
        h=np.einsum("nk,nki->ni", masses, points),
        I=_rotational_inertia(points, masses),
        armature=np.where(rng.random(nv) < 0.3, rng.uniform(0.01, 0.1, size=nv), 0.0),
        gravity=np.asarray(gravity, dtype=float),
        name=name,
    )


def _check_count(what: str, n: Any) -> None:
    if not isinstance(n, (int, np.integer)) or n < 1:
        raise ArgumentError(f"the number of {what} must be a whole number of at least 1, not {n!r}")


def _per_link(x: Any, n: int, what: str) -> np.ndarray:
    array = as_array(what, x, dtype=float)
    if array.shape not in ((), (n,)):
        raise ArgumentError(f"{what} must be a number or an array of {n}, not of shape {array.shape}")
    check_size(what, *array.ravel()[~(np.abs(array.ravel()) <= LARGEST)].tolist())  # a million links are compared by NumPy
    return np.broadcast_to(array, (n,))


def _rotational_inertia(points: np.ndarray, masses: np.ndarray) -> np.ndarray:
    """Σ m (x·x 1 − x xᵀ) of point masses, as (xx, xy, xz, yy, yz, zz)."""
    P = np.einsum("nk,nki,nkj->nij", masses, points, points)
    I = np.trace(P, axis1=1, axis2=2)[:, None, None] * np.eye(3) - P
    return I[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
