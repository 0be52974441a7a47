"""Replay data of robots with flexible links: the links, and the pieces of their beams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.look.replay.replay_data import ReplayData, Row, replay_data_of_poses
from torsor.look.scene.elastic import ElasticScene

if TYPE_CHECKING:
    from torsor.mechanics.flexible import FlexibleRobot

Array = np.ndarray

#: images per period of the slowest vibration, so that the vibration is visible in slow playback
IMAGES_PER_PERIOD = 12


def at_rest(flexible: FlexibleRobot, style: str, roots: Sequence[Any]) -> ReplayData:
    """The robot at its neutral configuration, with its beams bent by their weight."""
    scene = ElasticScene.bending(flexible, roots, style)
    rest = flexible.equilibrium(flexible.neutral())
    return replay_data_of_poses(scene, np.zeros(1), scene.poses(rest[None]), facts=facts_of_flexible(flexible))


def tip_row(flexible: FlexibleRobot, eta: Array) -> Row:
    """Deflection of the end of each beam from its straight shape, along ŷ and ẑ of the beam, if it bends in that direction."""
    curves: dict[str, Any] = {}
    for link, beam in flexible.beams.items():
        start = flexible.flexible.starts[link]
        columns = list(eta[:, start : start + beam.count].T)
        p = beam.section(beam.length).transform(columns).pose[1]
        curves |= {f"{link} {'yz'[k]}": p[k + 1] for k in range(2) if beam.modes[k]}
    values = np.stack(list(curves.values()), axis=-1) if curves else np.zeros((len(eta), 0))
    return "Beam tip, across", "m", tuple(curves), [""] * len(curves), values


def facts_of_flexible(flexible: FlexibleRobot) -> tuple[tuple[str, str], ...]:
    """Joints, modes and mass."""
    mass = sum(flexible.robot.link(name).mass for name in flexible.robot.links if name not in flexible.beams)
    total = mass + sum(beam.mass for beam in flexible.beams.values())
    return (
        ("Joints", str(len(flexible.robot.joints))),
        ("Modes of beams", str(len(flexible.modes))),
        ("Mass", f"{total:.4g} kg"),
    )
