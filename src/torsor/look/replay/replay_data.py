"""ReplayData: the data of a replay page: surfaces, their poses in each image, curves, events, facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from torsor.errors import ArgumentError
from torsor.look.replay.bending import at_rest
from torsor.look.replay.thinning import envelope
from torsor.look.scene import Scene, Surface
from torsor.look.scene.scene import up_direction
from torsor.model.mechanism import Mechanism
from torsor.model.names import configuration_names, coordinate_names, units_of
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.robot import Robot
    from torsor.simulate import Result

#: of a plot: title, unit, names, joints, values (T, n)
Row = tuple[str, str, Sequence[str], Sequence[str], Array]

#: largest number of images in a page
MOST_IMAGES = 4000
#: records a curve may hold: more than a plot has pixels
RECORDS = 1200
#: largest number of arrows and of curves of contacts in a page, and length of an arrow in units of its force
MOST_CONTACTS, CONTACT_CURVES, LONGEST = 60, 10, 3.0
#: share of the weight below which forces of contacts are drawn to a scale of their own
SMALL = 0.05
#: largest number of named configurations in the menu of a page
MOST_CONFIGURATIONS = 200
#: length of an arrow of two units, in words
LENGTH = "two fifths of the robot's size"


class Arrow(NamedTuple):
    """A force: its point of application [m] and its vector [N], each (images, 3), in world axes.

    ``unit``: the force that is as long as a fifth of the robot [N], and longer arrows are cut at :data:`LONGEST` of it; None:
    the largest of this arrow.
    """

    frame: str
    at: Array
    force: Array
    kind: str = "external"  #: or "contact"
    unit: float | None = None


class Plot(NamedTuple):
    """Curves over one time axis: ``y`` (T, n), one column per name; ``joints`` are their joints ("" for none)."""

    title: str
    unit: str
    names: tuple[str, ...]
    joints: tuple[str, ...]
    t: Array
    y: Array


@dataclass(frozen=True, eq=False)
class ReplayData:
    """``poses`` (images, links, 7) of ``links``, position and quaternion (x, y, z, w), at ``times`` (images,) [s]."""

    name: str
    drawn_as: str
    links: tuple[str, ...]
    parts: tuple[Surface, ...]
    times: Array
    poses: Array
    up: Array  #: against gravity
    floating: bool
    facts: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    arrows: tuple[Arrow, ...] = ()
    plots: tuple[Plot, ...] = ()
    events: tuple[tuple[float, str], ...] = ()
    configurations: tuple[tuple[str, Array], ...] = ()  #: named ones, with the poses (links, 7)
    floor: float | None = None  #: height of the floor that the robot touches [m]


def replay_data_of(shown: Result | Robot, style: str, roots: Sequence[Any], fps: float) -> ReplayData:
    """The data of a replay page for a simulation, or for a robot at rest."""
    if not (isinstance(fps, (int, float)) and 0 < fps <= 240):
        raise ArgumentError(f"fps must be above 0 and at most 240 images per second, not {fps!r}")
    if isinstance(shown, Mechanism):
        scene = Scene.of(shown, roots, style)
        rest = at_rest(shown, shown.neutral())
        return replay_data_of_poses(scene, np.zeros(1), scene.poses(rest[None]), facts=about(shown), named=True)
    make: Callable[..., ReplayData] | None = getattr(shown, "replay_data", None)
    if make is None:
        raise ArgumentError(f"a replay needs the Result of a simulation or a Robot, not {type(shown).__name__}")
    return make(style=style, roots=roots, fps=fps)


def image_times(t: Array, fps: float) -> tuple[Array, list[str]]:
    """The times of the images, and notes about omitted images."""
    span = t[-1] - t[0]
    wanted = int(np.ceil(span * fps)) + 1
    times = np.linspace(t[0], t[-1], min(wanted, MOST_IMAGES))
    note = f"{MOST_IMAGES} of {wanted} images kept: {(MOST_IMAGES - 1) / max(span, 1e-9):.3g} per second"
    return times, [note] if wanted > MOST_IMAGES else []


def replay_data_of_poses(
    scene: Scene, times: Array, poses: Array, *, notes: Sequence[str] = (), named: bool = False, **rest: Any
) -> ReplayData:
    """The data of a replay page for a scene whose links have these poses, (images, links, 7).

    With ``named``, the page has a menu of the robot's named configurations, where the scene is of the robot alone.
    """
    robot, drawn = scene.robot, {part.link for part in scene.parts}
    kept = [k for k, link in enumerate(scene.links) if link in drawn]
    names = robot.configurations[:MOST_CONFIGURATIONS] if named else ()
    if named and len(names) < len(robot.configurations):
        notes = (*notes, f"{len(names)} of {len(robot.configurations)} named configurations are in the menu")
    at = scene.poses(np.array([robot.configuration(name) for name in names]))[:, kept] if names else ()
    return ReplayData(
        robot.name, scene.drawn_as, tuple(scene.links[k] for k in kept), scene.parts, times, poses[:, kept],
        up_direction(robot.gravity), robot.description.floats, notes=(*scene.notes, *notes),
        configurations=tuple(zip(names, at, strict=True)), floor=scene.floor, **rest,
    )  # fmt: skip


def arrows(
    pose: Callable[[Array, str], Array], wrenches: Mapping[str, Array], t: Array, times: Array, q: Array
) -> Iterator[Arrow]:
    """The external wrenches' forces, those of the record before each image; moments are not drawn."""
    record = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 1)
    for frame, F in wrenches.items():
        T = pose(q, frame)
        yield Arrow(frame, T[:, :3, 3], np.einsum("tij,tj->ti", T[:, :3, :3], F[record, 3:]))


def contact_arrows(names: Sequence[str], points: Array, forces: Array, weight: float) -> tuple[list[Arrow], list[str]]:
    """Arrows of contacts that touch, all of one scale, and a note about it; points and forces (images, contacts, 3)."""
    sizes = np.linalg.norm(forces, axis=-1)
    mean, largest = np.nanmean(sizes, axis=0), float(np.nanmax(sizes, initial=0.0))
    chosen = sorted(np.argsort(-mean)[: min(MOST_CONTACTS, int((mean > 0).sum()))].tolist())
    if not chosen:
        return [], []
    by_weight = weight > 0 and largest > SMALL * weight
    whole, what = (weight, "the robot's weight") if by_weight else (largest, "the largest of them")
    unit = whole / 2
    made = [Arrow(names[k], points[:, k], forces[:, k], "contact", unit) for k in chosen]
    note = f"Yellow arrows: forces of contacts on the robot, averaged between images; {what}, {whole:.3g} N, is {LENGTH}"
    cut = f"; longer ones are cut at {LONGEST / 2:g} times that" if largest > LONGEST * unit else ""
    most = f"; {len(chosen)} of {int((mean > 0).sum())} contacts" if len(chosen) < (mean > 0).sum() else ""
    return made, [note + cut + most]


def contact_row(names: Sequence[str], normal: Array) -> list[Row]:
    """The curves of normal forces: those of contacts that touch, the strongest of many."""
    mean = np.abs(normal).mean(axis=0)
    chosen = sorted(np.argsort(-mean)[: min(CONTACT_CURVES, int((mean > 0).sum()))].tolist())
    named = [names[k] for k in chosen]
    return [("Contact force, normal", "N", named, [""] * len(named), normal[:, chosen])] if chosen else []


def joint_rows(robot: Robot, tau: Array | None, q: Array, v: Array | None) -> list[Row]:
    """The curves of the joints, those there are; those of joint forces that are zero throughout come last."""
    model = robot.model
    of_q, of_v, units = configuration_names(model), coordinate_names(model), units_of(model)
    own = model.own_joints
    moved, placed = ([model.joint_names[i] for i in own for _ in range(getattr(model.joint[i], size))] for size in ("nv", "nq"))
    force = ("Joint torque", units.tau, of_v, moved, tau)
    motion = ("Position", units.q, of_q, placed, q), ("Velocity", units.v, of_v, moved, v)
    rows = (*motion, force) if tau is not None and not tau.any() else (force, *motion)
    return [(title, unit, named, joints, y) for title, unit, named, joints, y in rows if y is not None]


def energy_row(energies: Mapping[str, Array]) -> Row:
    all_of_them = {"total": np.sum(list(energies.values()), axis=0), **energies}
    return "Energy", "J", tuple(all_of_them), [""] * len(all_of_them), np.stack(list(all_of_them.values()), axis=-1)


def plots_of(t: Array, rows: Sequence[Row]) -> list[Plot]:
    thin = ((title, unit, names, joints, envelope(t - t[0], y, RECORDS)) for title, unit, names, joints, y in rows)
    return [Plot(title, unit, tuple(names), tuple(joints), *curves) for title, unit, names, joints, curves in thin]


def about(robot: Robot) -> tuple[tuple[str, str], ...]:
    return (
        ("Links", str(len(robot.links))),
        ("Joints", str(len(robot.joints))),
        ("Degrees of freedom", str(robot.nv)),
        ("Mass", f"{robot.mass:.4g} kg"),
    )
