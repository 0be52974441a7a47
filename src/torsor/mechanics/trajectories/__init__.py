"""Trajectories q(t) = θ(s(t)): paths θ(s) on the configuration manifold, and time scalings s(t) along them (MR chapter 9).

>>> import torsor as ts
>>> arm = ts.robots.panda()
>>> ready = arm.configuration("ready")
>>> start = arm.integrate(ready, [0.5] * 7 + [0])
>>> motion = ts.trajectories.point_to_point(arm, start, ready, "s-curve", acceleration=5, jerk=50)
>>> print(round(motion.duration, 2), motion.check())
0.74 all limits are kept (no limits of acceleration)
"""

from torsor.mechanics.trajectories.cartesian import cartesian_arc, cartesian_line
from torsor.mechanics.trajectories.check import Finding, LimitCheck, Peak
from torsor.mechanics.trajectories.fastest import Limiting, TimeOptimalTrajectory, time_optimal
from torsor.mechanics.trajectories.fourier import fourier
from torsor.mechanics.trajectories.lines import line, point_to_point
from torsor.mechanics.trajectories.scaling import time_scaling
from torsor.mechanics.trajectories.spline import cubic_spline, quintic_spline
from torsor.mechanics.trajectories.trajectory import Motion, Path, TimeScaling, Trajectory

__all__ = [
    "Finding",
    "LimitCheck",
    "Limiting",
    "Motion",
    "Path",
    "Peak",
    "TimeOptimalTrajectory",
    "TimeScaling",
    "Trajectory",
    "cartesian_arc",
    "cartesian_line",
    "cubic_spline",
    "fourier",
    "line",
    "point_to_point",
    "quintic_spline",
    "time_optimal",
    "time_scaling",
]
