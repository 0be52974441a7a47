"""MuJoCo's positions and quaternions (w, x, y, z) as torsor's transforms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from torsor.errors import ModelError
from torsor.io.shared.poses import snap_rotation
from torsor.scalar import tidy
from torsor.spatial import Inertia, Mat, Quaternion, Sym, Transform, Vec
from torsor.spatial.vector import IDENTITY, ZERO


def vector(numbers: Any) -> Vec:
    return Vec(*(float(x) for x in numbers))


def axis(numbers: Any) -> Vec:
    """A unit vector; a coordinate axis as integers, which cost no operations later."""
    _check_length("an axis", numbers)
    return Vec(*(tidy(float(x)) for x in numbers))


def rotation(quaternion: Sequence[float]) -> Mat:
    """R of (w, x, y, z), of any length."""
    w, x, y, z = (float(a) for a in quaternion)
    _check_length("a quaternion", (w, x, y, z))
    return snap_rotation(Quaternion.of((x, y, z, w)).matrix)


def pose(position: Any, quaternion: Any) -> Transform:
    """The transform that leads to the frame with this pose."""
    return Transform.of_pose(rotation(quaternion), vector(position))


def translation(r: Vec) -> Transform:
    """To axes along these, at r."""
    return Transform(IDENTITY, r)


def rotation_transform(R: Mat) -> Transform:
    return Transform.of_pose(snap_rotation(R), ZERO)


def inertia(mass: float, com: Any, quaternion: Any, moments: Any) -> Inertia:
    """From mass, centre of mass, and the principal moments about it along the axes of a quaternion."""
    a, b, c = (float(x) for x in moments)
    if not (mass or a or b or c):
        return Inertia.zero()
    return Inertia.of(float(mass), vector(com), Sym(a, 0, 0, b, 0, c).rotated(rotation(quaternion)))


def _check_length(what: str, numbers: Any) -> None:
    """MuJoCo divides by the length, which fails if the length overflows or vanishes."""
    if not 1e-6 < math.hypot(*numbers) < math.inf:
        raise ModelError(f"{what} of MuJoCo's model has no direction: {tuple(float(x) for x in numbers)}")
