"""Targets of inverse kinematics: constraints whose numbers are inputs of one kernel, for one state or a batch of them.

A target is a constraint of :mod:`torsor.constraints` that need not hold: its closure error φ is what is to vanish.

>>> import torsor as ts
>>> ts.targets.position([0.4, 0.1, 0.3]).numbers
array([0.4, 0.1, 0.3])
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError
from torsor.mechanics.inverse_kinematics.rows import AtOrientation, AtPose, AtTwist, CenterOfMass, Pointing, Posture
from torsor.model.joints import Fixed, Translation
from torsor.model.terms.constraint import Constraint
from torsor.model.terms.points import Distance, PointAlong
from torsor.spatial import Vec
from torsor.spatial.rigid import reading as read
from torsor.spatial.vector import AXES
from torsor.support.user_arrays import Array

#: a float, so that the place of each number of a constraint becomes an input
ANY = 0.5

#: (name, frame, other, size) → a constraint
Make: TypeAlias = Callable[[str, str, str, int], Constraint]


def _any(n: int) -> Any:
    """n numbers whose places become inputs."""
    return Vec(ANY, ANY, ANY) if n == 3 else _numbers(n)


def _numbers(n: int) -> tuple[float, ...]:
    return (ANY,) * n


def _along(directions: tuple[Vec, ...]) -> Make:
    return lambda name, frame, other, size: PointAlong(name, frame, directions, _any(3), other)


def _moving(first: int) -> Make:
    return lambda name, frame, other, size: AtTwist(name, frame, first, _numbers(size))


class Kind(NamedTuple):
    """A kind of target: ``make(name, frame, other, size)`` is its constraint, with a place for each of ``size`` numbers.

    The first ``angles`` of its rows are angles, the others lengths.  ``whole`` targets are of the robot, not of a frame,
    ``moving`` ones prescribe a velocity, not a place.
    """

    make: Make
    angles: int = 0
    whole: bool = False
    moving: bool = False


KINDS = {
    "pose": Kind(lambda name, frame, other, size: AtPose(name, Fixed(), other, frame, matrix=_any(size)), 3),
    "orientation": Kind(
        lambda name, frame, other, size: AtOrientation(name, Translation(), other, frame, matrix=_any(size)), 3
    ),
    "position": Kind(_along(AXES)),
    "point on a plane": Kind(_along((_any(3),))),
    "point on a line": Kind(_along((_any(3), _any(3)))),
    "direction": Kind(lambda name, frame, other, size: Pointing(name, frame, _any(3), _any(3), other), 3),
    "distance": Kind(lambda name, frame, other, size: Distance(name, frame, other, ANY)),
    "centre of mass": Kind(lambda name, frame, other, size: CenterOfMass(name, _any(3)), whole=True),
    "posture": Kind(lambda name, frame, other, size: Posture(name, _any(size)), whole=True),
    "twist": Kind(_moving(0), 3, moving=True),
    "angular velocity": Kind(_moving(0), 3, moving=True),
    "velocity": Kind(_moving(3), moving=True),
}


@dataclass(frozen=True, eq=False)
class Target:
    """One of :data:`KINDS` with its ``numbers`` (..., k), seen from the frame ``other``.

    ``weight`` scales its rows against those of other targets; level 2 is followed as far as it does not disturb level 1.
    """

    what: str
    numbers: Array
    other: str = "world"
    weight: float = 1.0
    level: int = 1

    def with_weight(self, weight: float = 1.0, *, level: int = 1) -> Target:
        """The same with another weight, or on the second level."""
        if not (isinstance(weight, (int, float)) and 0 < weight < np.inf):
            raise ArgumentError(f"weight must be a positive number, not {weight!r}")
        if level not in (1, 2):
            raise ArgumentError(f"level must be 1 or 2, not {level!r}")
        return replace(self, weight=float(weight), level=level)

    def structure(self, frame: str) -> Structure:
        """All that a kernel depends on."""
        return Structure(frame, self.what, self.other, self.numbers.shape[-1], self.weight, self.level)


class Structure(NamedTuple):
    """A target of a frame without its numbers."""

    frame: str
    what: str
    other: str
    size: int
    weight: float
    level: int

    @property
    def kind(self) -> Kind:
        return KINDS[self.what]

    def constraint(self) -> Constraint:
        """The constraint, with a place for each number."""
        return self.kind.make(f"{self.frame}: {self.what}", self.frame, self.other, self.size)


def pose(T: ArrayLike, *, relative_to: str = "world") -> Target:
    """T* (..., 4, 4): the pose of the frame, in ``relative_to``; lengths in m."""
    read.pose(T, "target")
    x = np.array(T, float)
    return Target("pose", x.reshape(*x.shape[:-2], 16), relative_to)


def orientation(R: ArrayLike, *, relative_to: str = "world") -> Target:
    """R* (..., 3, 3): the orientation of the frame, anywhere."""
    x = read.rotation(R, "orientation").copy()
    return Target("orientation", x.reshape(*x.shape[:-2], 9), relative_to)


def position(p: ArrayLike, *, relative_to: str = "world") -> Target:
    """p* (..., 3) [m]: the place of the frame's origin, in any orientation."""
    return Target("position", read.array(p, (3,), "position"), relative_to)


def on_plane(normal: ArrayLike, through: ArrayLike = (0, 0, 0), *, relative_to: str = "world") -> Target:
    """nᵀ(p − c) = 0: the frame's origin is on a plane; its normal n and a point c of it [m]."""
    n, c = np.broadcast_arrays(_units("normal", normal), read.array(through, (3,), "through"))
    return Target("point on a plane", np.concatenate([n, c], axis=-1), relative_to)


def on_line(direction: ArrayLike, through: ArrayLike = (0, 0, 0), *, relative_to: str = "world") -> Target:
    """The frame's origin is on the line along ``direction`` through a point [m]."""
    along, c = np.broadcast_arrays(_units("direction", direction), read.array(through, (3,), "through"))
    across = np.cross(along, np.eye(3)[np.abs(along).argmin(axis=-1)])
    x = across / np.linalg.norm(across, axis=-1, keepdims=True)
    return Target("point on a line", np.concatenate([x, np.cross(along, x), c], axis=-1), relative_to)


def direction(axis: ArrayLike, along: ArrayLike, *, relative_to: str = "world") -> Target:
    """R a = d: the axis a of the frame points along d, in ``relative_to``'s axes; it may turn about it."""
    a, d = np.broadcast_arrays(_units("axis", axis), _units("along", along))
    return Target("direction", np.concatenate([a, d], axis=-1), relative_to)


def distance(other: str, length: ArrayLike) -> Target:
    """|p| = length [m]: the distance of the frame's origin from that of another frame."""
    x = read.numbers(length, "length")
    if not (x > 0).all():
        raise ArgumentError(f"the length of a distance must be positive [m], not {length!r}")
    return Target("distance", x[..., None], other)


def center_of_mass(c: ArrayLike) -> Target:
    """c* (..., 3) [m]: the centre of mass of the robot, in the world.  Its name among the targets may be any."""
    return Target("centre of mass", read.array(c, (3,), "centre of mass"))


def posture(q: ArrayLike) -> Target:
    """q* (..., nq) [rad, m], weak (level 2): of all solutions, one near it.  Its name among the targets may be any."""
    values = read.numbers(q, "posture")
    if values.ndim == 0:
        raise ArgumentError(f"a posture is a configuration, (..., nq), not {q!r}")
    return Target("posture", values, level=2)


def twist(V: ArrayLike) -> Target:
    """V* (..., 6) = (ω, ṗ) [rad/s, m/s]: the twist of the frame, in the world's axes at its origin, as ``robot.jacobian``."""
    return Target("twist", read.array(V, (6,), "twist"))


def velocity(u: ArrayLike) -> Target:
    """ṗ* (..., 3) [m/s]: the velocity of the frame's origin, in the world's axes."""
    return Target("velocity", read.array(u, (3,), "velocity"))


def angular_velocity(w: ArrayLike) -> Target:
    """ω* (..., 3) [rad/s]: the angular velocity of the frame, in the world's axes."""
    return Target("angular velocity", read.array(w, (3,), "angular velocity"))


def _units(what: str, x: ArrayLike) -> Array:
    found = read.array(x, (3,), what)
    size = np.linalg.norm(found, axis=-1, keepdims=True)
    if not (size > 0).all():
        raise ArgumentError(f"{what} must not be the zero vector")
    return found / size
