"""Data of a replay page: images, curves, events and facts of a simulation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.look.replay.bending import IMAGES_PER_PERIOD, facts_of_flexible, tip_row
from torsor.look.replay.replay_data import (
    Plot,
    ReplayData,
    about,
    arrows,
    energy_row,
    image_times,
    joint_rows,
    plots_of,
    replay_data_of_poses,
)
from torsor.look.scene import Scene
from torsor.look.scene.elastic import ElasticScene, motor_poses, with_motors
from torsor.model.terms.springs import motors_of

if TYPE_CHECKING:
    from torsor.simulate.flexible_links import FlexibleResult
    from torsor.simulate.result import Result


def replay_data_of_result(result: Result, style: str, roots: Sequence[Any], fps: float) -> ReplayData:
    """The robot, its motors if its joints are elastic, the wrenches on it, and the curves of its joints."""
    robot, start = result.require_robot(), result.t[0]
    times, notes = image_times(result.t, fps)
    q, _ = result.at(times)
    scene = Scene.of(robot, roots, style)
    poses = scene.poses(q)
    if elastic := motors_of(robot.model):
        poses = np.concatenate((poses, motor_poses(scene, q)), axis=1)
        scene = with_motors(scene)
    return replay_data_of_poses(
        scene, times - start, poses, facts=facts_of(result), notes=notes,
        arrows=tuple(arrows(robot.pose, result.wrenches, result.t, times, q)), plots=tuple(_plots_of_result(result)),
        events=tuple((float(e.t - start), e.name) for e in result.events), named=not elastic,
    )  # fmt: skip


def replay_data_of_flexible(motion: FlexibleResult, style: str, roots: Sequence[Any], fps: float) -> ReplayData:
    """A motion, with enough images to resolve its vibrations."""
    flexible = motion.robot
    slowest = float(flexible.frequencies(motion.q[0], joints="locked")[0]) / (2 * np.pi)
    times, notes = image_times(motion.t, max(fps, IMAGES_PER_PERIOD * slowest))
    scene = ElasticScene.bending(flexible, roots, style)
    q = motion.at(times)
    facts = [("Duration", f"{motion.t[-1] - motion.t[0]:g} s"), ("Records", str(len(motion.t)))]
    facts.append(("Slowest vibration, joints held", f"{slowest:.3g} Hz"))
    if motion.v is not None and motion.tau is not None:
        facts.append(("Energy error", f"{motion.energy_error:.2g} J"))
    return replay_data_of_poses(
        scene, times - times[0], scene.poses(q), notes=notes,
        plots=tuple(_plots_of_flexible(motion)), facts=(*facts_of_flexible(flexible), *facts),
        arrows=tuple(arrows(flexible.pose, motion.wrenches, motion.t, times, q)),
    )  # fmt: skip


def _plots_of_result(result: Result) -> list[Plot]:
    robot, start = result.require_robot(), result.require_robot().model.q_start
    rows = joint_rows(robot, result.tau, result.q, result.v)
    if pairs := motors_of(robot.model):
        joints = tuple(robot.model.joint_names[i] for i, _ in pairs)
        ahead = result.q[:, [start[k] for _, k in pairs]] - result.q[:, [start[i] for i, _ in pairs]]
        rows.append(("Motor ahead of link", "rad, m", joints, joints, ahead))
    return plots_of(result.t, [*rows, energy_row(result.energies)])


def _plots_of_flexible(motion: FlexibleResult) -> list[Plot]:
    robot, flexible = motion.robot.robot, motion.robot
    v = None if motion.v is None else motion.v[:, : robot.nv]
    rows = joint_rows(robot, motion.tau, motion.q[:, : robot.nq], v)
    rows.append(tip_row(flexible, motion.q[:, robot.nq :]))
    if motion.v is not None:
        rows.append(energy_row(motion.energies))
    return plots_of(motion.t, rows)


def _freedom(result: Result) -> tuple[tuple[str, str], ...]:
    """Degrees of freedom, also those that remain with loops and constraints, and mass."""
    *_, (name, count), mass = about(result.require_robot())
    held = result.held
    if held is None:
        return (name, count), mass
    clock = {"time": float(result.t[0])} if held.solver.equations.depends_on_time else {}
    return (name, str(held.mobility(result.q[0], **clock).generic_freedom)), ("Coordinates", count), mass


def facts_of(result: Result) -> tuple[tuple[str, str], ...]:
    """Integrator and steps, and the error of the energy balance dE = work − dissipated."""
    info, balance = result.info, result.audit()
    how = info.get("integrator", "?")
    fixed = f"{how}, {info['dt']:g} s" if "dt" in info and "tolerance" in info else how
    return (
        *_freedom(result),
        ("Duration", f"{result.t[-1] - result.t[0]:g} s"),
        ("Integrator", fixed),
        ("Steps", str(info.get("steps", "?"))),
        ("Energy error", f"{balance.worst:.2g} J"),
        *([("Constraint error", f"{np.abs(result.residual).max():.2g}")] if result.residual.size else []),
    )
