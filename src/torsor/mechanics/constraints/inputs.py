"""Further inputs of constrained dynamics: external wrenches, forces of loop joints, gains of the stabilisation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.errors import ArgumentError, UnknownName
from torsor.kernels.checks import check_wrenches
from torsor.mechanics.constraints.solving import Inputs
from torsor.model.terms.loop import JointConstraint

if TYPE_CHECKING:
    from torsor.mechanics.constraints.constrained_robot import ConstrainedRobot


def read_inputs(
    system: ConstrainedRobot, wrenches: Any, expressed_in: str, loop_forces: Any, stabilization: Any
) -> tuple[Inputs, tuple]:
    """The additional inputs of a call, and their values in the kernels' order."""
    wrenches, loop_forces = check_wrenches(system.robot.model, wrenches), loop_forces or {}
    if not isinstance(loop_forces, Mapping):
        raise ArgumentError(f"loop_forces must be a dict by name, not {type(loop_forces).__name__}")
    loops = [c.name for c in system.constraints if isinstance(c, JointConstraint)]
    for name in loop_forces:
        if name not in loops:
            raise UnknownName("loop", name, loops)
    gains: tuple = () if stabilization is None else tuple(np.atleast_1d(stabilization))
    if len(gains) not in (0, 2):
        raise ArgumentError(f"stabilization must be (decay, stiffness), two numbers [1/s], not {stabilization}")
    extra = (*(("decay", "stiffness") if gains else ()), *(f"loop_forces[{name!r}]" for name in loop_forces))
    return Inputs(tuple(wrenches), expressed_in, extra), (*gains, *loop_forces.values(), *wrenches.values())
