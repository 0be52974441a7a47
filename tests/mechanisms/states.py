"""States that satisfy the loop constraints."""

from __future__ import annotations

from functools import cache

import numpy as np

from torsor import mechanisms


@cache
def constrained_system(name, *sizes):
    """The constrained system of a mechanism, compiled once for all tests."""
    return getattr(mechanisms, name)(*sizes).constrained()


def closed_state(system, rng, spread=0.15):
    """A closed configuration near the neutral one, a velocity that satisfies the constraints, and joint forces."""
    robot = system.robot
    q = system.project(robot.integrate(robot.neutral(), spread * rng.normal(size=robot.nv), 1.0))
    return q, system.project_velocity(q, rng.normal(size=robot.nv)), rng.normal(size=robot.nv)


def configurations_at(system, joint, angles, q=None):
    """Closed configurations with one joint at each of these coordinates; each is the initial guess of the next."""
    robot = system.robot
    q = robot.neutral() if q is None else q
    at = robot.joint(joint).q_slice
    passed = []
    for angle in angles:
        q = q.copy()
        q[at] = angle
        q = system.assemble(q, fixed=[joint], attempts=0)
        passed.append(q)
    return np.array(passed)
