"""Constraints of a robot: Pfaffian constraints A(q) v = b, by frames, by joints, or by functions (MR §8.7, F&O §3.4).

>>> import torsor as ts
>>> arm = ts.robots.two_link()
>>> channel = ts.constraints.point_on_plane("tip", normal=(1, 0, 0), through=(1, 0, 0))
>>> a, multipliers = arm.constrained(channel).forward_dynamics([-1.0, 2.0], [0, 0], [0, 0])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torsor.algorithms.equation.at import At
from torsor.mechanics.constraints.makers import (
    coupling,
    distance,
    fixed_pose,
    holonomic,
    joint,
    pfaffian,
    point_at,
    point_on_line,
    point_on_plane,
    prescribed,
    rolling,
)
from torsor.model.terms.constraint import Constraint
from torsor.model.terms.term import ConstraintRows
from torsor.support.lazy import lazy

if TYPE_CHECKING:
    from torsor.mechanics.constraints.constrained_robot import ConstrainedRobot
    from torsor.mechanics.constraints.mobility import Mobility
    from torsor.mechanics.constraints.motion import ConstrainedMotion, Impact, Stabilization

__all__ = [
    "At",
    "ConstrainedRobot",
    "ConstrainedMotion",
    "Constraint",
    "Impact",
    "Mobility",
    "ConstraintRows",
    "Stabilization",
    "coupling",
    "distance",
    "prescribed",
    "fixed_pose",
    "holonomic",
    "joint",
    "pfaffian",
    "point_at",
    "point_on_line",
    "point_on_plane",
    "rolling",
]

#: imported when first used: a constraint that is only described needs no kernels
_HOMES = {
    "ConstrainedRobot": "torsor.mechanics.constraints.constrained_robot",
    "ConstrainedMotion": "torsor.mechanics.constraints.motion",
    "Impact": "torsor.mechanics.constraints.motion",
    "Mobility": "torsor.mechanics.constraints.mobility",
    "Stabilization": "torsor.mechanics.constraints.motion",
}

if not TYPE_CHECKING:  # type checkers read the imports above, and report other names
    __getattr__ = lazy(__name__, _HOMES)


def __dir__() -> list[str]:
    return list(__all__)
