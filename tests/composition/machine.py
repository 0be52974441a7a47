"""The machine of these tests: a cart on a rail with an arm, a wheel at its end and a pendulum beside it.

Every feature finds a place on it: a rail to drive, an arm to close into a loop or to bend, a wheel to roll, a pendulum that is
about to strike its stop.  Each of its numbers differs from the others, so that a term at the wrong joint shows.
"""

from __future__ import annotations

from functools import cache

import numpy as np

import torsor as ts
from torsor.model.names import coordinate_names

#: the state in which every feature is tried, by joint
Q = {"rail": 0.1, "yaw": 0.4, "shoulder": 0.3, "elbow": 0.7, "spin": 0.2, "swing": 0.5, "rod": 0.0}
V = {"rail": 0.3, "yaw": -0.5, "shoulder": 0.8, "elbow": -0.6, "spin": 1.0, "swing": -1.2, "rod": 0.1}
U = {"rail": 4.0, "yaw": 1.5, "shoulder": -9.0, "elbow": -4.0, "spin": 0.3, "swing": 0.6, "rod": 0.2}
#: the state of a floating base: position, quaternion (x, y, z, w); its twist; the joint force is zero there
POSE, TWIST = (0.3, -0.2, 0.5, 0.1, -0.05, 0.2, np.sqrt(1 - 0.0525)), (0.2, -0.1, 0.3, 0.4, 0.1, -0.2)
#: the modes of a bent upper arm: y1, z1 [m], t1 [rad], and their rates
ETA = (0.01, -0.015, 0.02), (0.1, 0.2, -0.3)
#: the upper arm as a beam: length [m], mass and polar inertia per length [kg/m, kg·m]
LENGTH, DENSITY, POLAR = 0.5, 2.4, 0.02
#: the swing reaches its stop within a few milliseconds
STOP = Q["swing"] - 0.004
#: where the rod is fixed to the forearm, in its frame, and to the column
ON_FORE, ON_COLUMN = (0.1, 0.0, -0.1), (-0.12, 0.0, 0.25)


#: of a beam: (x, dx) [m]
Slices = tuple[tuple[float, float], ...]


@cache
def machine(
    loop: bool = False, close: bool = True, fore: float = 1.0, slices: tuple[tuple[float, float], ...] = ()
) -> ts.Robot:
    """The machine on a fixed base; ``fore`` is a factor of the forearm's mass.

    With ``loop`` it has a rod from the column to the forearm, which closes a loop unless ``close`` is False.
    With ``slices`` its upper arm is cut into discs at places x of lengths dx, and a tip; each may move in all directions.
    """
    tip = "tip" if slices else "upper"
    build = (
        ts.Builder("machine")
        .link("base", mass=4.0, com=(0.02, 0, -0.1), inertia=(0.3, 0.25, 0.35))
        .link("cart", mass=2.0, com=(0, 0.03, 0.05), inertia=(0.05, 0.04, 0.06))
        .link("column", mass=1.5, com=(0.01, 0, 0.2), inertia=(0.03, 0.031, 0.01))
        .link("upper", **({} if slices else {"mass": 1.2, "com": (0.25, 0.01, 0), "inertia": (0.004, 0.03, 0.029)}))
        .link("fore", mass=0.8 * fore, com=(0.2, 0, 0.01), inertia=np.array([0.002, 0.012, 0.013]) * fore)
        .link("wheel", mass=0.5, inertia=(0.0011, 0.002, 0.0011))
        .link("pendulum", mass=0.6, com=(0, 0.01, -0.2), inertia=(0.004, 0.0041, 0.001))
        .joint("rail", "prismatic", "base", "cart", axis=(0, 1, 0))
        .joint("yaw", "revolute", "cart", "column", axis=(0, 0, 1))
        .joint("shoulder", "revolute", "column", "upper", axis=(0, 1, 0), xyz=(0, 0, 0.4))
        .joint("elbow", "revolute", tip, "fore", axis=(0, 1, 0), xyz=(0.0 if slices else LENGTH, 0, 0), damping=0.7)
        .joint("spin", "revolute", "fore", "wheel", axis=(0, 1, 0), xyz=(0.4, 0, 0))
        .joint("swing", "revolute", "column", "pendulum", axis=(1, 0, 0), xyz=(0, 0.1, 0.3), lower=STOP, upper=2.0)
        .frame("hand", "fore", xyz=(0.35, 0.05, 0.1), rpy=(0.1, 0.2, 0.3))
        .frame("knob", "pendulum", xyz=(0, 0, -0.3))
    )
    for k, (x, dx) in enumerate(slices):
        build.link(f"slice {k}", mass=DENSITY * dx, inertia=(POLAR * dx, 0, 0))
        build.joint(f"slice {k}", "floating", "upper", f"slice {k}", xyz=(x, 0, 0))
    if slices:
        build.link("tip").joint("tip", "floating", "upper", "tip", xyz=(LENGTH, 0, 0))
    if loop:
        to = _from_column(ON_FORE)
        build.link("strut", mass=0.3, com=(0.1, 0, 0.02), inertia=(0.0002, 0.002, 0.002))
        build.joint("rod", "revolute", "column", "strut", axis=(0, 1, 0), xyz=ON_COLUMN)
        build.frame("strut end", "strut", xyz=to - ON_COLUMN).frame("strut seat", "fore", xyz=ON_FORE)
        if close:
            build.loop("pin", "revolute", "fore", "strut", axis=(0, 1, 0), xyz=ON_FORE, child_xyz=to - ON_COLUMN)
    return build.build()


def _from_column(point: tuple[float, ...]) -> np.ndarray:
    """A point of the forearm in the column's frame, at Q."""
    robot = machine()
    q = [Q[name] for name in robot.joints]
    seen = np.linalg.inv(robot.pose(q, "column")) @ robot.pose(q, "fore")
    return seen[:3, :3] @ point + seen[:3, 3]


def entries(robot: ts.Robot, of: dict[str, float], base: tuple[float, ...]) -> np.ndarray:
    """Numbers by joint as an array of a robot, with those of its floating base first if it has one."""
    own = [of[name] for name in coordinate_names(robot.model) if name in of]  # a mimic joint has no coordinate
    return np.array([*(base if "floating_base" in robot.joints else ()), *own])
