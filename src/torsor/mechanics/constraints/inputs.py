"""Further inputs of constrained dynamics: external wrenches, forces of loop joints, gains of the stabilisation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.algorithms.equation import EquationOfMotion
from torsor.errors import ArgumentError, UnknownName
from torsor.kernels.checks import check_wrenches, with_their_axes
from torsor.mechanics.constraints.solving import Inputs

if TYPE_CHECKING:
    from torsor.mechanics.constraints.constrained_robot import ConstrainedRobot


def read_inputs(
    system: ConstrainedRobot, wrenches: Any, expressed_in: str, loop_forces: Any, stabilization: Any
) -> tuple[Inputs, tuple]:
    """The additional inputs of a call, and their values in the kernels' order."""
    wrenches, expressed_in = with_their_axes(wrenches, expressed_in)
    wrenches, loop_forces = check_wrenches(system.robot.model, wrenches), loop_forces or {}
    if not isinstance(loop_forces, Mapping):
        raise ArgumentError(f"loop_forces must be a dict by name, not {type(loop_forces).__name__}")
    gains: tuple = () if stabilization is None else tuple(np.atleast_1d(stabilization))
    if len(gains) not in (0, 2):
        raise ArgumentError(f"stabilization must be (decay, stiffness), two numbers [1/s], not {stabilization}")
    extra = extra_inputs(system.solver.equations, bool(gains), loop_forces)
    return Inputs(tuple(wrenches), expressed_in, extra), (*gains, *loop_forces.values(), *wrenches.values())


def extra_inputs(equations: EquationOfMotion, gains: bool, driven: Iterable[str]) -> tuple[str, ...]:
    """The names of inputs beside the state: gains of the stabilisation, and the forces of driven loops."""
    for name in driven:
        if name not in equations.loops:
            raise UnknownName("loop", name, equations.loops)
    return (*(("decay", "stiffness") if gains else ()), *(f"loop_forces[{name!r}]" for name in driven))
