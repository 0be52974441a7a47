"""From a plant that Drake has finalized to a Robot."""

from __future__ import annotations

from typing import Any

from torsor.io.sdf.plant import description_of_plant
from torsor.model.physical import warn_or_refuse
from torsor.robot import Robot


def from_drake(plant: Any, *, name: str = "", strict: bool = False) -> Robot:
    """The robot of a finalized ``pydrake`` MultibodyPlant: its bodies, joints, limits, damping, actuators' inertia, gravity.

    Joints keep their names, and ``world`` is the root; one free body that is the root of everything is the floating base.
    Constraints, force elements and shapes are not read, ``robot.report`` counts the first two.  States go over with
    :func:`torsor.bridges.states.drake`.
    """
    d = description_of_plant(plant, name)
    warn_or_refuse(d, strict=strict)
    return Robot(d)
