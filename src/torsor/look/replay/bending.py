"""Beams on replay pages: how many images their vibrations need, and the deflections of their tips."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.model.terms.beams import beams_of, rigid_joints
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.look.replay.replay_data import Row
    from torsor.robot import Robot


#: images per period of the slowest vibration, so that the vibration is visible in slow playback
IMAGES_PER_PERIOD = 12


def slowest_vibration(robot: Robot, q: Array) -> float:
    """The lowest frequency of the beams about q, joints held [Hz]; 0 of a robot without beams."""
    if not beams_of(robot.description):
        return 0.0
    return float(robot.modes(q, held=rigid_joints(robot.model)).frequencies[0]) / (2 * np.pi)


def at_rest(robot: Robot, q: Array, **loads: Any) -> Array:
    """q with the beams bent by their weight, and by the ``wrenches`` of :meth:`Robot.equilibrium`."""
    return robot.equilibrium(q, held=rigid_joints(robot.model), **loads) if beams_of(robot.description) else q


def tip_rows(robot: Robot, q: Array) -> list[Row]:
    """Deflection of the end of each beam from its straight shape, along ŷ and ẑ of the beam, if it bends in that direction."""
    curves: dict[str, Any] = {}
    for term in beams_of(robot.description):
        columns = list(q[:, robot.joint(term.joint).q_slice].T)
        p = term.beam.section(term.beam.length).transform(columns).pose[1]
        curves |= {f"{term.link} {'yz'[k]}": p[k + 1] for k in range(2) if term.beam.modes[k]}
    if not curves:
        return []
    return [("Beam tip, across", "m", tuple(curves), [""] * len(curves), np.stack(list(curves.values()), axis=-1))]
