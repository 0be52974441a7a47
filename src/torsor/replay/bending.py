"""Films of robots with elastic links: the links, and the pieces their beams are cut into."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.replay.film import Film, Row, arrows, energy_row, joint_rows, pictures, plotted, seen
from torsor.scene.elastic import ElasticScene

if TYPE_CHECKING:
    from torsor.flexible import FlexibleRobot
    from torsor.flexible.motion import Motion

Array = np.ndarray

#: pictures of one turn of the slowest vibration: a motion that is shown slowly shows how the beams swing
TURN = 12


def at_rest(flexible: FlexibleRobot, style: str, roots: Sequence[Any]) -> Film:
    """The robot at its neutral configuration, with its beams bent by their weight."""
    scene = ElasticScene.bending(flexible, roots, style)
    rest = flexible.equilibrium(flexible.neutral())
    return seen(scene, np.zeros(1), scene.poses(rest[None]), facts=_facts(flexible))


def filmed(motion: Motion, style: str, roots: Sequence[Any], fps: float) -> Film:
    """A motion, with as many pictures as its vibrations want."""
    flexible = motion.robot
    slowest = float(flexible.frequencies(motion.q[0], joints="locked")[0]) / (2 * np.pi)
    times, notes = pictures(motion.t, max(fps, TURN * slowest))
    scene = ElasticScene.bending(flexible, roots, style)
    q = motion.at(times)
    facts = [("Duration", f"{motion.t[-1] - motion.t[0]:g} s"), ("Records", str(len(motion.t)))]
    facts.append(("Slowest vibration, joints held", f"{slowest:.3g} Hz"))
    if motion.v is not None and motion.tau is not None:
        facts.append(("Energy error", f"{motion.energy_error:.2g} J"))
    return seen(
        scene, times - times[0], scene.poses(q), notes=notes, plots=tuple(_plots(motion)), facts=(*_facts(flexible), *facts),
        arrows=tuple(arrows(flexible.pose, motion.wrenches, motion.t, times, q)),
    )  # fmt: skip


def _plots(motion: Motion) -> Sequence[Any]:
    robot, flexible = motion.robot.robot, motion.robot
    v = None if motion.v is None else motion.v[:, : robot.nv]
    rows = joint_rows(robot, motion.tau, motion.q[:, : robot.nq], v)
    rows.append(tip_row(flexible, motion.q[:, robot.nq :]))
    if motion.v is not None:
        rows.append(energy_row(motion.energies))
    return plotted(motion.t, rows)


def tip_row(flexible: FlexibleRobot, eta: Array) -> Row:
    """How far the end of each beam is across from where it is straight, along ŷ and ẑ of the beam, where it bends so."""
    curves: dict[str, Array] = {}
    for link, beam in flexible.beams.items():
        start = flexible.flexible.starts[link]
        columns = list(eta[:, start : start + beam.count].T)
        p = beam.section(beam.length).transform(columns).pose[1]
        curves |= {f"{link} {'yz'[k]}": p[k + 1] for k in range(2) if beam.modes[k]}
    values = np.stack(list(curves.values()), axis=-1) if curves else np.zeros((len(eta), 0))
    return "Beam tip, across", "m", tuple(curves), [""] * len(curves), values


def _facts(flexible: FlexibleRobot) -> tuple[tuple[str, str], ...]:
    mass = sum(flexible.robot.link(name).mass for name in flexible.robot.links if name not in flexible.beams)
    total = mass + sum(beam.mass for beam in flexible.beams.values())
    return (
        ("Joints", str(len(flexible.robot.joints))),
        ("Modes of beams", str(len(flexible.modes))),
        ("Mass", f"{total:.4g} kg"),
    )
