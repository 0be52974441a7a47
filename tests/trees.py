"""Random robots: trees with every joint type, couplings, armatures and physically possible inertias."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torsor.model import Description, Joint, Link, Mimic, NamedFrame
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
from torsor.scalar import sin
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
