"""One state as users give it: checked, with the argument's name in errors, and converted to floats for the algorithms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.algorithms.equation import EquationOfMotion
from torsor.algorithms.wrenches import in_frame_axes
from torsor.compile import Argument
from torsor.compile.arrays import as_rows, check_finite
from torsor.errors import ArgumentError
from torsor.kernels.checks import check_configuration, check_wrenches, with_their_axes
from torsor.kernels.options import Wrenches
from torsor.kernels.quantities import labels, sizes
from torsor.model.refusals import refuse_symbols
from torsor.scalar import Scalars

if TYPE_CHECKING:
    from torsor.robot import Robot

FLOAT64 = np.dtype(np.float64)


def one_state(robot: Robot, **given: Any) -> list[list[float]]:
    """The named state variables as lists of floats; a batch is refused, and so is a robot of symbols."""
    refuse_symbols(robot.model, "this", "torsor.algorithms take them: torque_terms, stacked_equations")
    out = []
    for name, value in given.items():
        argument = Argument(name, sizes(robot.model)[name], labels(robot.model).get(name, ()))
        array = one_value(argument, value)
        if name == "q":
            check_configuration(robot.model, name, array)
        out.append(array)
    return out


def one_wrench_each(
    robot: Robot,
    wrenches: Wrenches | None,
    q: Sequence[float] = (),
    expressed_in: str = "body",
    time: float | None = None,
) -> Mapping[str, Scalars]:
    """The wrenches by frame, in the frames' own axes, as lists of floats; those in world axes are rotated at ``q``."""
    wrenches, expressed_in = with_their_axes(wrenches, expressed_in)
    given = check_wrenches(robot.model, wrenches)
    found = {frame: one_value(Argument(f"wrenches[{frame!r}]", (6,)), F) for frame, F in given.items()}
    model = EquationOfMotion(robot.model).model_at(time)
    return found if expressed_in == "body" else {f: in_frame_axes(model, q, f, F) for f, F in found.items()}


def one_value(argument: Argument, value: Any) -> list[float]:
    """The numbers of one state as a list, or a float if they are one; not finite ones are errors."""
    array = as_rows(argument, value, FLOAT64)
    if array.ndim != len(argument.shape):
        raise ArgumentError(f"{argument.name} has shape {array.shape}, expected {argument.shape}: one state, not a batch")
    check_finite([argument], [array])
    return array.tolist()
