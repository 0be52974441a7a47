"""What a robot may be held to: Pfaffian constraints A(q) v = b, by frames, by joints, or by functions (MR §8.7, F&O §3.4).

>>> import torsor as ts
>>> arm = ts.robots.two_link()
>>> channel = ts.constraints.point_on_plane("tip", normal=(1, 0, 0), through=(1, 0, 0))
>>> a, multipliers = arm.constrained(channel).forward_dynamics([-1.0, 2.0], [0, 0], [0, 0])
"""

from torsor.constraints.base import Constraint, Rows, State
from torsor.constraints.makers import (
    coupling,
    distance,
    driven,
    fixed_pose,
    holonomic,
    joint,
    pfaffian,
    point_at,
    point_on_line,
    point_on_plane,
    rolling,
)

__all__ = [
    "Constraint",
    "Rows",
    "State",
    "coupling",
    "distance",
    "driven",
    "fixed_pose",
    "holonomic",
    "joint",
    "pfaffian",
    "point_at",
    "point_on_line",
    "point_on_plane",
    "rolling",
]
