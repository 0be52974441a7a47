"""Film: what a page shows, as plain data: surfaces, where they are in each picture, curves, events, facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from torsor.errors import ArgumentError
from torsor.replay.thinning import envelope
from torsor.scene import Part, Scene

if TYPE_CHECKING:
    from torsor.robot import Robot
    from torsor.simulate import Result

Array = np.ndarray

#: pictures a page may hold
PICTURES = 4000
#: records a curve may hold: more than a plot has pixels
RECORDS = 1200


class Arrow(NamedTuple):
    """A force: where it acts and what it is, (pictures, 3) [m] and [N], in the world."""

    frame: str
    at: Array
    force: Array


class Plot(NamedTuple):
    """Curves over one time axis: ``y`` (T, n), a column a name; ``joints`` whose they are, "" where no joint's."""

    title: str
    unit: str
    names: tuple[str, ...]
    joints: tuple[str, ...]
    t: Array
    y: Array


@dataclass(frozen=True, eq=False)
class Film:
    """``poses`` (pictures, links, 7) of ``links``, position and quaternion (x, y, z, w), at ``times`` (pictures,) [s]."""

    name: str
    drawn_as: str
    links: tuple[str, ...]
    parts: tuple[Part, ...]
    times: Array
    poses: Array
    up: Array  #: against gravity
    floating: bool
    facts: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    arrows: tuple[Arrow, ...] = ()
    plots: tuple[Plot, ...] = ()
    events: tuple[tuple[float, str], ...] = ()


def film_of(shown: Result | Robot, style: str, roots: Sequence[Any], fps: float) -> Film:
    """A simulation, or a robot at rest."""
    from torsor.robot import Robot
    from torsor.simulate import Result

    if not (isinstance(fps, (int, float)) and 0 < fps <= 240):
        raise ArgumentError(f"fps must be above 0 and at most 240 pictures a second, not {fps!r}")
    if isinstance(shown, Robot):
        return _seen(shown, style, roots, np.zeros(1), shown.neutral()[None], facts=_about(shown), notes=())
    if not isinstance(shown, Result):
        raise ArgumentError(f"a replay is of a simulation's Result or of a Robot, not of {type(shown).__name__}")
    return _filmed(shown, style, roots, fps)


def _filmed(result: Result, style: str, roots: Sequence[Any], fps: float) -> Film:
    robot, (start, end) = result._its_robot(), result.t[[0, -1]]
    wanted = int(np.ceil((end - start) * fps)) + 1
    times = np.linspace(start, end, min(wanted, PICTURES))
    notes = []
    if wanted > PICTURES:
        notes.append(f"{PICTURES} of {wanted} pictures kept: {(PICTURES - 1) / (end - start):.3g} a second")
    q, _ = result.at(times)
    return _seen(
        robot, style, roots, times - start, q, facts=facts_of(result), notes=notes,
        arrows=tuple(_arrows(robot, result, times, q)), plots=tuple(_plots(result)),
        events=tuple((float(e.t - start), e.name) for e in result.events),
    )  # fmt: skip


def _seen(robot: Robot, style: str, roots: Sequence[Any], times: Array, q: Array, *, notes: Sequence[str], **rest: Any) -> Film:
    scene = Scene.of(robot, roots, style)
    drawn = {part.link for part in scene.parts}
    kept = [k for k, link in enumerate(scene.links) if link in drawn]
    g = np.asarray(robot.gravity, float)
    up = -g / np.linalg.norm(g) if g.any() else np.array([0.0, 0.0, 1.0])
    return Film(
        robot.name, scene.drawn_as, tuple(scene.links[k] for k in kept), scene.parts, times, scene.poses(q)[:, kept], up,
        robot.description.base == "floating", notes=(*scene.notes, *notes), **rest,
    )  # fmt: skip


def _arrows(robot: Robot, result: Result, times: Array, q: Array) -> list[Arrow]:
    """The external wrenches' forces, those of the record before each picture; moments are not drawn."""
    record = np.clip(np.searchsorted(result.t, times, side="right") - 1, 0, len(result.t) - 1)
    arrows = []
    for frame, F in result.wrenches.items():
        T = robot.pose(q, frame)
        arrows.append(Arrow(frame, T[:, :3, 3], np.einsum("tij,tj->ti", T[:, :3, :3], F[record, 3:])))
    return arrows


def _plots(result: Result) -> list[Plot]:
    model, info, energies = result._its_robot().model, result.info, {"total": result.energy, **result.energies}
    own = [i for i, _ in model.outward() if model.coupling[i] is None]
    moved, placed = ([model.joint_names[i] for i in own for _ in range(getattr(model.joint[i], size))] for size in ("nv", "nq"))
    rows = (
        ("Joint torque", "N·m, N", info["coordinates"], moved, result.tau),
        ("Position", "rad, m", info["configuration"], placed, result.q),
        ("Velocity", "rad/s, m/s", info["coordinates"], moved, result.v),
        ("Energy", "J", energies, [""] * len(energies), np.stack(list(energies.values()), axis=-1)),
    )
    t = result.t - result.t[0]
    return [Plot(title, unit, tuple(names), tuple(joints), *envelope(t, y, RECORDS)) for title, unit, names, joints, y in rows]


def _about(robot: Robot) -> tuple[tuple[str, str], ...]:
    return (
        ("Links", str(len(robot.links))),
        ("Joints", str(len(robot.joints))),
        ("Degrees of freedom", str(robot.nv)),
        ("Mass", f"{robot.mass:.4g} kg"),
    )


def facts_of(result: Result) -> tuple[tuple[str, str], ...]:
    """How it was computed, and how well energy was kept: dE = work − dissipated."""
    info, balance = result.info, result.audit()
    how = info.get("integrator", "?")
    fixed = f"{how}, {info['dt']:g} s" if "dt" in info and "tolerance" in info else how
    return (
        *_about(result._its_robot())[2:],
        ("Duration", f"{result.t[-1] - result.t[0]:g} s"),
        ("Integrator", fixed),
        ("Steps", str(info.get("steps", "?"))),
        ("Energy error", f"{balance.worst:.2g} J"),
        *([("Constraint error", f"{np.abs(result.residual).max():.2g}")] if result.residual.size else []),
    )
