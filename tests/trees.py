"""Random robots: trees with every joint type and a joint of the user's own, couplings, armatures; states of a robot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torsor.model import Description
from torsor.model.joints import (
    Continuous,
    Cylindrical,
    Fixed,
    Floating,
    Helical,
    JointType,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from torsor.robot.library import random_robots
from torsor.robot.library.random_robots import axis, inertia, make_joint_type, rotation, transform, vec
from torsor.spatial import Motion, Subspace, Transform, Vec, about
from torsor.spatial.vector import ZERO

__all__ = ["Cam", "axis", "inertia", "joint_type", "random_tree", "rotation", "state", "transform", "vec"]


@dataclass(frozen=True)
class Cam(JointType):
    """A user's own joint: turning by q about z lifts the body by h q²; its subspace moves, S = (ẑ, 2 h q ẑ)."""

    lift: float = 0.1
    name = "cam"
    nq = nv = 1

    def transform(self, q):
        return Transform.of_pose(about(Vec(0, 0, 1), q[0]), Vec(0, 0, q[0] * q[0] * self.lift))

    def subspace(self, q):
        return Subspace((Motion(Vec(0, 0, 1), Vec(0, 0, q[0] * (2 * self.lift))),))

    def subspace_rate(self, q, v):
        return Subspace((Motion(ZERO, Vec(0, 0, v[0] * (2 * self.lift))),))


TYPES = (Revolute, Continuous, Prismatic, Helical, Cylindrical, Spherical, Planar, Universal, Cam, None)


def joint_type(rng) -> JointType:
    """A joint of any type, floating and fixed ones less often."""
    cls = TYPES[int(rng.integers(0, len(TYPES)))]
    if cls is None:
        cls = Fixed if rng.random() < 0.5 else Floating
    return Cam() if cls is Cam else make_joint_type(rng, cls)


def random_tree(seed: int, bodies: int = 6, base: str | None = None, couplings: bool = True, kinds=None) -> Description:
    rng = np.random.default_rng(seed)
    links, joints, frames = random_robots.random_tree(
        rng, bodies, lambda i: joint_type(rng) if kinds is None else kinds[i % len(kinds)], couplings
    )
    base = base or str(rng.choice(["fixed", "floating"]))
    return Description(f"tree{seed}", links, joints, frames, base=base, gravity=vec(rng, 5.0))


def state(robot, seed: int):
    """q, v, a of a robot or a (model-bearing) object with the same methods."""
    rng = np.random.default_rng(seed + 1)
    q = robot.random_configuration(rng)
    return q, rng.normal(size=robot.nv), rng.normal(size=robot.nv)
