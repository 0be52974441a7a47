"""Warnings about suspicious input: open loops, angles that look like degrees."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.robot import Robot

#: a loop that is open by less is closed [m, rad]
CLOSED = 1e-4
#: an angle beyond its limit by more than this is not an overshoot [rad]
TURN = 2 * np.pi


class InputWarning(NamedTuple):
    """The first affected row, and the message."""

    row: int
    says: str


def find_input_warning(robot: Robot, q: Array) -> InputWarning | None:
    """Warnings about configurations (n, nq), each for the first affected row."""
    return (_degrees(robot, q) or _find_open_loop(robot, q)) if len(q) else None


def _degrees(robot: Robot, q: Array) -> InputWarning | None:
    for joint in map(robot.joint, robot.joints):
        if joint.type != "revolute" or joint.mimic is not None:
            continue
        angle, lower, upper = q[:, joint.q_slice.start], joint.lower[0], joint.upper[0]
        beyond = (angle > upper + TURN) | (angle < lower - TURN)
        if beyond.any():
            row = int(np.argmax(beyond))
            says = f"q of {joint.name!r} is {angle[row]:g} rad, and its limits are {lower:g} and {upper:g}: are these degrees?"
            return InputWarning(row, says)
    return None


def _find_open_loop(robot: Robot, q: Array) -> InputWarning | None:
    if not robot.loops:
        return None
    gaps = np.abs(robot.constrained().residual(q)).max(axis=1, initial=0.0)
    if not (gaps > CLOSED).any():
        return None
    row = int(np.argmax(gaps > CLOSED))
    return InputWarning(
        row, f"q violates loop closure by {gaps[row]:.3g} (m, rad); the results are not those of the closed mechanism"
    )
