"""Random robots: trees with every joint type and a custom joint, couplings, armatures; states of a robot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torsor.model import Description
from torsor.model.joints import (
    Composite,
    Continuous,
    Cylindrical,
    EulerAngles,
    Fixed,
    Floating,
    FloatingRPY,
    FunctionJoint,
    Helical,
    JointType,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Spline,
    Translation,
    Universal,
)
from torsor.model.joints.euler_angles import ORDERS
from torsor.robot.library import random_robots
from torsor.robot.library.random_robots import axis, inertia, rotation, transform, vec
from torsor.scalar import sin
from torsor.spatial import Motion, Subspace, Transform, Vec, about
from torsor.spatial.vector import ZERO

__all__ = ["Cam", "axis", "inertia", "joint_type", "random_tree", "rotation", "state", "transform", "vec"]


@dataclass(frozen=True)
class Cam(JointType):
    """A user-defined joint: rotation by q about z lifts the body by h q²; S = (ẑ, 2 h q ẑ) depends on q."""

    lift: float = 0.1
    name = "cam"
    nq = nv = 1

    def transform(self, q):
        return Transform.of_pose(about(Vec(0, 0, 1), q[0]), Vec(0, 0, q[0] * q[0] * self.lift))

    def subspace(self, q):
        return Subspace((Motion(Vec(0, 0, 1), Vec(0, 0, q[0] * (2 * self.lift))),))

    def subspace_rate(self, q, v):
        return Subspace((Motion(ZERO, Vec(0, 0, v[0] * (2 * self.lift))),))


#: a rolling knee, and a pose of two coordinates
KNEE = FunctionJoint((0.1, 0, lambda q: q, Spline((-2, -1, 0, 1, 2), (0, 0.1, 0.4, 0.1, 0.3)), lambda q: 0.2 * sin(q), 0))
SADDLE = FunctionJoint(lambda q: (q[0], 0.3 * q[0] * q[1], q[1], 0.2 * q[0] * q[0], 0.1 * sin(q[1]), 0.05), dof=2)


def joint_type(rng) -> JointType:
    """Every type; those of the same motion share a place, so that trees do not grow with the number of types."""
    k, other = int(rng.integers(0, 10)), rng.random() < 0.5
    if k == 7:
        return Universal(*two_axes(rng))
    return [
        lambda: Revolute(axis(rng)),
        lambda: Continuous(axis(rng)),
        lambda: Translation() if other else Prismatic(axis(rng)),
        lambda: Helical(axis(rng), float(rng.normal(scale=0.1))),
        lambda: composite(rng) if other else Cylindrical(axis(rng)),
        lambda: EulerAngles(str(rng.choice(ORDERS))) if other else Spherical(),
        lambda: Planar(axis(rng)),
        lambda: None,
        lambda: [KNEE, SADDLE][int(rng.integers(0, 2))] if other else Cam(),
        lambda: Fixed() if other else [Floating(), FloatingRPY()][int(rng.integers(0, 2))],
    ][k]()


def two_axes(rng) -> tuple[Vec, Vec]:
    """Parallel ones would be one degree of freedom counted twice."""
    first, second = axis(rng), axis(rng)
    while abs(first.dot(second)) > 0.9:
        second = axis(rng)
    return first, second


def composite(rng) -> Composite:
    """Two or three joints in a row, whose columns are independent at every q."""
    k, (a, b) = int(rng.integers(0, 5)), two_axes(rng)
    return [
        lambda: Composite([Prismatic(a), Spherical()]),
        lambda: Composite([Prismatic(a), Universal(a, b)]),
        lambda: Composite([Helical(a, 0.2), Revolute(b)]),
        lambda: Composite([Cylindrical(a), Revolute(b)]),
        lambda: Composite([Prismatic(a), Planar(a)]),
    ][k]()


def random_tree(seed: int, bodies: int = 6, base: str | None = None, couplings: bool = True, kinds=None) -> Description:
    rng = np.random.default_rng(seed)
    links, joints, frames = random_robots.random_tree(
        rng, bodies, lambda i: joint_type(rng) if kinds is None else kinds[i % len(kinds)], couplings
    )
    base = base or str(rng.choice(["fixed", "floating"]))
    return Description(f"tree{seed}", links, joints, frames, base=base, gravity=vec(rng, 5.0))


def state(robot, seed: int):
    """q, v, a of a robot or of an object with the same methods."""
    rng = np.random.default_rng(seed + 1)
    q = robot.random_configuration(rng)
    return q, rng.normal(size=robot.nv), rng.normal(size=robot.nv)
