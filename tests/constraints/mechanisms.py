"""Random mechanisms whose loops are closed by construction: the two frames of a loop joint coincide."""

from __future__ import annotations

import numpy as np

import torsor as ts
from tests.trees import axis, random_tree, transform
from torsor import algorithms as alg
from torsor.algorithms.equation import At
from torsor.algorithms.equation.equation import stack_rows
from torsor.model.joints import (
    Continuous,
    Cylindrical,
    Fixed,
    Helical,
    JointType,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from torsor.model.terms.loop import JointConstraint
from torsor.model.terms.term import ConstraintRows
from torsor.robot import Robot
from torsor.spatial import Mat, Transform, Vec

#: every joint type that may close a loop, with an axis drawn at random
LOOP_JOINTS = {
    "fixed": lambda rng: Fixed(),
    "revolute": lambda rng: Revolute(axis(rng)),
    "continuous": lambda rng: Continuous(axis(rng)),
    "prismatic": lambda rng: Prismatic(axis(rng)),
    "helical": lambda rng: Helical(axis(rng), float(rng.normal(scale=0.1))),
    "cylindrical": lambda rng: Cylindrical(axis(rng)),
    "spherical": lambda rng: Spherical(),
    "planar": lambda rng: Planar(axis(rng)),
    "universal": lambda rng: _universal(rng),
}


def _universal(rng) -> Universal:
    first, second = axis(rng), axis(rng)
    while abs(first.dot(second)) > 0.8:
        second = axis(rng)
    return Universal(first, second)


def pose(robot: Robot, q: np.ndarray, frame: str) -> Transform:
    """From the world to a frame, by the source over floats."""
    T = np.array(alg.pose(robot.model, q.tolist(), frame), float)
    return Transform.of_pose(Mat(*(Vec(*map(float, row)) for row in T[:3, :3])), Vec(*map(float, T[:3, 3])))


def closing_joint(robot: Robot, q: np.ndarray, kind: JointType, parent: str, child: str, rng, name="loop") -> JointConstraint:
    """A joint between two frames that is closed at q: origin = X_J(q_J)⁻¹ · child_origin · X_child · X_parent⁻¹."""
    qJ = [float(x) for x in np.atleast_1d(kind.random(rng, (-1.0,) * kind.nq, (1.0,) * kind.nq))] if kind.nq else []
    child_origin = transform(rng)
    seen = child_origin @ pose(robot, q, child) @ pose(robot, q, parent).inverse
    return JointConstraint(name, kind, parent, child, kind.transform(qJ).inverse @ seen, child_origin)


def two_frames(robot: Robot, rng) -> tuple[str, str]:
    """Frames of two different bodies, the world among them."""
    names = [f for f in robot.frames if f.startswith("frame") or f == "world"]
    while True:
        a, b = (str(x) for x in rng.choice(names, 2, replace=False))
        if robot.model.frame(a).body != robot.model.frame(b).body:
            return a, b


def closed_mechanism(seed: int, loops, bodies: int = 6, **options):
    """(robot, q, constraints): a random tree with one loop per joint type, all closed at q."""
    rng = np.random.default_rng(seed)
    while True:
        robot = ts.Robot(random_tree(int(rng.integers(10**6)), bodies=bodies, **options))
        if robot.nv >= 4 and len({robot.model.frame(f).body for f in robot.frames}) > 2:
            break
    q = robot.random_configuration(rng)
    closing = [
        closing_joint(robot, q, LOOP_JOINTS[k](rng), *two_frames(robot, rng), rng, f"loop{i}") for i, k in enumerate(loops)
    ]
    return robot, q, closing


def rows(robot: Robot, constraints, q, v, t=0.0) -> ConstraintRows:
    """The rows as arrays, by the source over floats."""
    r = stack_rows(constraints, At(robot.model, np.asarray(q).tolist(), np.asarray(v).tolist(), t))
    return ConstraintRows(*(np.array(x, float) for x in r))  # type: ignore[arg-type]


def integrate(robot: Robot, q, v, dt: float) -> np.ndarray:
    return np.array(alg.integrate(robot.model, np.asarray(q).tolist(), np.asarray(v).tolist(), dt), float)


def four_bar(a=1.0, b=2.0, c=1.5, d=2.0, masses=(1.0, 2.0, 1.5), gravity=(0, -9.81, 0)) -> Robot:
    """Crank a, coupler b, rocker c on a ground of length d, in the xy plane, cut where coupler and rocker meet."""
    built = ts.Builder("four-bar").link("ground")
    for name, m, length in zip(("crank", "coupler", "rocker"), masses, (a, b, c), strict=True):
        built.link(name, mass=m, com=(length / 2, 0, 0), inertia=(0.01, m * length**2 / 12, m * length**2 / 12))
    built.joint("A", "revolute", "ground", "crank").joint("B", "revolute", "crank", "coupler", xyz=(a, 0, 0))
    built.joint("D", "revolute", "ground", "rocker", xyz=(d, 0, 0))
    return built.loop("C", "revolute", "coupler", "rocker", xyz=(b, 0, 0), child_xyz=(c, 0, 0)).build(gravity=gravity)
