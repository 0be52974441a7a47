"""Random robots: trees with every joint type, couplings, armatures and physically possible inertias."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torsor.model import Description, Joint, Link, Mimic, NamedFrame
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
from torsor.spatial import Inertia, Mat, Motion, Quaternion, Subspace, Sym, Transform, Vec, about
from torsor.spatial.vector import ZERO


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


def vec(rng, scale=1.0) -> Vec:
    return Vec(*(float(x) for x in rng.normal(scale=scale, size=3)))


def axis(rng) -> Vec:
    """A coordinate axis, its negative, or a random direction, with equal probability."""
    if rng.random() < 0.6:
        return _unit(int(rng.integers(0, 3)), int(rng.choice([-1, 1])))
    d = rng.normal(size=3)
    d /= np.linalg.norm(d)
    return Vec(*map(float, d))


def _unit(k: int, sign: int) -> Vec:
    return Vec(*(sign if i == k else 0 for i in range(3)))


def rotation(rng) -> Mat:
    if rng.random() < 0.3:
        return about(axis(rng), float(rng.normal()))
    return Quaternion(*(float(x) for x in rng.normal(size=4))).matrix


def transform(rng) -> Transform:
    return Transform.of_pose(rotation(rng), vec(rng, 0.3))


def inertia(rng) -> Inertia:
    """Inertia of random point masses, hence physically possible."""
    points, masses = rng.normal(scale=0.2, size=(5, 3)), rng.uniform(0.1, 1, size=5)
    total, com = masses.sum(), masses @ points / masses.sum()
    d = points - com
    about_com = sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, d, strict=True))
    return Inertia.of(float(total), Vec(*map(float, com)), Sym.of(about_com.tolist()))


def joint_type(rng) -> JointType:
    k = int(rng.integers(0, 10))
    if k == 7:
        first = axis(rng)
        second = axis(rng)
        while abs(first.dot(second)) > 0.9:  # parallel axes would be a duplicate degree of freedom
            second = axis(rng)
        return Universal(first, second)
    return [
        lambda: Revolute(axis(rng)),
        lambda: Continuous(axis(rng)),
        lambda: Prismatic(axis(rng)),
        lambda: Helical(axis(rng), float(rng.normal(scale=0.1))),
        lambda: Cylindrical(axis(rng)),
        lambda: Spherical(),
        lambda: Planar(axis(rng)),
        lambda: None,
        lambda: Cam(),
        lambda: Fixed() if rng.random() < 0.5 else Floating(),
    ][k]()


def random_tree(seed: int, bodies: int = 6, base: str | None = None, couplings: bool = True, kinds=None) -> Description:
    rng = np.random.default_rng(seed)
    links, joints, frames = [Link("link0", inertia(rng))], [], []
    single: list[str] = []
    for i in range(1, bodies + 1):
        kind = joint_type(rng) if kinds is None else kinds[i % len(kinds)]
        name = f"joint{i}"
        mimic = None
        if couplings and kind.nv == 1 and single and rng.random() < 0.25:
            mimic = Mimic(str(rng.choice(single)), float(rng.normal()), float(rng.normal(scale=0.2)))
        if kind.nv == 1:
            single.append(name)
        armature = tuple(float(x) for x in rng.uniform(0.01, 0.1, size=kind.nv)) if rng.random() < 0.3 else ()
        damping = tuple(float(x) for x in rng.uniform(0, 1, size=kind.nv))
        parent = f"link{int(rng.integers(max(0, i - 4), i))}"
        links.append(Link(f"link{i}", inertia(rng)))
        joints.append(Joint(name, kind, parent, f"link{i}", transform(rng), armature=armature, damping=damping, mimic=mimic))
        frames.append(NamedFrame(f"frame{i}", f"link{i}", transform(rng)))
    base = base or str(rng.choice(["fixed", "floating"]))
    return Description(f"tree{seed}", tuple(links), tuple(joints), tuple(frames), base=base, gravity=vec(rng, 5.0))


def state(robot, seed: int):
    """q, v, a of a robot or of an object with the same methods."""
    rng = np.random.default_rng(seed + 1)
    q = robot.random_configuration(rng)
    return q, rng.normal(size=robot.nv), rng.normal(size=robot.nv)
