"""Data of a replay page: images, curves, events and facts of a simulation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.look.replay.bending import IMAGES_PER_PERIOD, slowest_vibration, tip_rows
from torsor.look.replay.replay_data import (
    Arrow,
    Plot,
    ReplayData,
    about,
    arrows,
    contact_arrows,
    contact_row,
    energy_row,
    image_times,
    joint_rows,
    plots_of,
    replay_data_of_poses,
)
from torsor.look.scene import Scene
from torsor.look.scene.elastic import motor_poses, with_motors
from torsor.model.terms.springs import motors_of

if TYPE_CHECKING:
    from torsor.simulate.result import Result


def replay_data_of_result(result: Result, style: str, roots: Sequence[Any], fps: float) -> ReplayData:
    """The robot, its motors if its joints are elastic, the wrenches on it, and the curves of its joints."""
    robot, start = result.require_robot(), result.t[0]
    slowest = slowest_vibration(robot, result.q[0])
    vibration = [("Slowest vibration, joints held", f"{slowest:.3g} Hz")] if slowest else []
    times, notes = image_times(result.t, max(fps, IMAGES_PER_PERIOD * slowest))
    q, _ = result.at(times)
    scene = Scene.of(robot, roots, style)
    poses = scene.poses(q)
    touching: list[Arrow] = []
    if contacts := result.contact_images(times):
        weight = float(robot.mass) * float(np.linalg.norm(robot.gravity))
        touching, more = contact_arrows(list(robot.contacts), *contacts, weight)
        notes = [*notes, *more]
    if elastic := motors_of(robot.model):
        poses = np.concatenate((poses, motor_poses(scene, q)), axis=1)
        scene = with_motors(scene)
    return replay_data_of_poses(
        scene, times - start, poses, facts=(*facts_of(result), *vibration), notes=notes,
        arrows=(*arrows(robot.pose, result.wrenches, result.t, times, q), *touching), plots=tuple(_plots_of_result(result)),
        events=tuple((float(e.t - start), e.name) for e in result.events), named=not elastic,
    )  # fmt: skip


def _plots_of_result(result: Result) -> list[Plot]:
    robot, start = result.require_robot(), result.require_robot().model.q_start
    rows = joint_rows(robot, result.tau, result.q, result.v)
    if pairs := motors_of(robot.model):
        joints = tuple(robot.model.joint_names[i] for i, _ in pairs)
        ahead = result.q[:, [start[k] for _, k in pairs]] - result.q[:, [start[i] for i, _ in pairs]]
        rows.append(("Motor ahead of link", "rad, m", joints, joints, ahead))
    normal = result.contact_normal_force
    touching = [] if normal is None else contact_row(list(robot.contacts), normal)
    return plots_of(result.t, [*rows, *touching, *tip_rows(robot, result.q), energy_row(result.energies)])


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
    info = result.info
    how = info.get("integrator", "?")
    fixed = f"{how}, {info['dt']:g} s" if "dt" in info and "tolerance" in info else how
    return (
        *_freedom(result),
        ("Duration", f"{result.t[-1] - result.t[0]:g} s"),
        ("Integrator", fixed),
        ("Steps", str(info.get("steps", "?"))),
        *([] if info.get("rollout") else [("Energy error", f"{result.audit().worst:.2g} J")]),
        *([("Constraint error", f"{np.abs(result.residual).max():.2g}")] if result.residual.size else []),
    )
