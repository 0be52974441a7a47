"""Small paths θ(s) for tests of time scalings."""

import numpy as np
from scipy.interpolate import CubicSpline

import torsor as ts


class Line:
    """θ = q0 ⊕ s d: a straight line, or a rotation at constant θ′ where q has quaternions."""

    def __init__(self, robot, d, q0=None, end=1.0):
        self.robot, self.d, self.breaks = robot, np.asarray(d, float), np.array([0.0, end])
        self.q0 = robot.neutral() if q0 is None else np.asarray(q0, float)

    def __call__(self, s):
        n = (len(s), self.robot.nv)
        return self.robot.integrate(self.q0, s[:, None] * self.d), np.broadcast_to(self.d, n), np.zeros(n)


class Spline:
    """A cubic spline through points of joint space."""

    def __init__(self, robot, points, breaks=None):
        self.robot, self.breaks = robot, np.linspace(0, 1, len(points)) if breaks is None else np.asarray(breaks, float)
        self.spline = CubicSpline(self.breaks, points)

    def __call__(self, s):
        return self.spline(s), self.spline(s, 1), self.spline(s, 2)


class Corner:
    """Along the first joint, then along the second: θ′ jumps at s = 1."""

    breaks = np.array([0.0, 1.0, 2.0])

    def __init__(self, robot):
        self.robot = robot

    def __call__(self, s):
        first = s < 1
        q = np.column_stack([np.where(first, s, 1.0), np.where(first, 0.0, s - 1)])
        return q, np.column_stack([first, ~first]).astype(float), np.zeros_like(q)


def slider(mass=2.0, effort=8.0, **limits):
    """A mass on a horizontal rail."""
    builder = ts.Builder("slider").link("rail").link("mass", mass=mass)
    robot = builder.joint("slide", "prismatic", "rail", "mass", axis=(1, 0, 0)).build()
    return robot.with_limits("slide", effort_limit=effort, **limits)


def random_spline(robot, seed, points=5, spread=0.7):
    """A spline near the neutral configuration, and limits of effort a third above the weight."""
    rng = np.random.default_rng(seed)
    path = Spline(robot, robot.neutral() + spread * rng.normal(size=(points, robot.nq)))
    weight = np.abs(robot.gravity_force(path(np.linspace(0, 1, 300))[0])).max(axis=0)
    return path, 1.3 * weight + 2
