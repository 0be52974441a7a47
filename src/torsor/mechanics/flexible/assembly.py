"""From a robot and its beams to a model: every slice of a beam is a body, and slices of one beam share their coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from torsor.errors import ArgumentError, ModelError
from torsor.model import Description, assemble
from torsor.model.beams import Beam
from torsor.model.description import Joint, Link
from torsor.model.model import Model
from torsor.model.refusals import refuse_forces, refuse_friction
from torsor.model.rotor import refuse_rotors
from torsor.model.seat import snap_rounding
from torsor.spatial import Inertia, Transform

if TYPE_CHECKING:
    from torsor.robot import Robot

#: distance from the root, relative to the length, up to which an attachment counts as fixed to the root
AT_ROOT = 1e-9


@dataclass(frozen=True)
class FlexibleModel:
    """The model with coordinates (q, η); the robot's model, for quantities of q alone; the beams by link, in order of η."""

    model: Model
    rigid: Model
    beams: tuple[tuple[str, Beam], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each η: the link's and the mode's."""
        return tuple(f"{link}/{mode}" for link, beam in self.beams for mode in beam.names)

    @property
    def starts(self) -> dict[str, int]:
        """Index of the first η of each beam, counted from the first η."""
        out, n = {}, 0
        for link, beam in self.beams:
            out[link] = n
            n += beam.count
        return out


def flexible_model(robot: Robot, beams: Mapping[str, Beam]) -> FlexibleModel:
    """The robot with beams for some of its links.  A beam takes the place of its link's own inertia.

    Joints, welded links and frames of the link are attached to the nearest section of the beam along x̂.
    """
    refuse_rotors(robot.model, "a robot with elastic links")
    refuse_friction(robot.model, "a robot with elastic links")
    refuse_forces(robot.model, "a robot with elastic links")
    if robot.loops:
        raise ModelError(
            f"robot {robot.name!r} has loops, which are not supported with flexible links; use robot.without_loops()"
        )
    if not beams:
        raise ArgumentError("give at least one link with its beam: {'link': beam(...)}")
    d = robot.description
    for link, beam in beams.items():
        robot.link(link)  # refuses an unknown one
        if not isinstance(beam, Beam):
            raise ArgumentError(f"link {link!r} needs a Beam, not {beam!r}")
        d = _cut_into_slices(d, link, beam)
    ordered = tuple((link.name, beams[link.name]) for link in robot.description.links if link.name in beams)
    return _share_coordinates(assemble(d), robot.model, ordered)


def _cut_into_slices(d: Description, link: str, beam: Beam) -> Description:
    """The description with a link cut into its root, its slices, its tip and the sections that carry something."""
    sections: dict[float, str] = {beam.length: f"{link}/tip"}

    def carrier(origin: Transform) -> tuple[str, Transform]:
        """The section nearest to a place on the link, and the place as seen from there."""
        x = float(min((origin @ beam.origin.inverse).r.x, beam.length))
        if x <= AT_ROOT * beam.length:
            return link, origin
        if beam.length - x <= AT_ROOT * beam.length:
            x = beam.length
        return sections.setdefault(x, f"{link}/at{x:g}"), snap_rounding(origin @ beam.section_transform(x).inverse)

    joints = []
    for j in d.joints:
        on, origin = carrier(j.origin) if j.parent == link else (j.parent, j.origin)
        joints.append(replace(j, parent=on, origin=origin))
    frames = []
    for f in d.frames:
        on, origin = carrier(f.origin) if f.link == link else (f.link, f.origin)
        frames.append(replace(f, link=on, origin=origin))

    links = [replace(x, inertia=Inertia.zero()) if x.name == link else x for x in d.links]
    cuts = [(f"{link}/slice{i + 1}", *cut) for i, cut in enumerate(beam.discs())]
    cuts += [(name, beam.section(x), x, Inertia.zero()) for x, name in sections.items()]
    for name, motion, x, I in cuts:
        links.append(Link(name, I))
        joints.append(Joint(name, motion, link, name, beam.section_transform(x)))
    return replace(d, links=tuple(links), joints=tuple(joints), frames=tuple(frames))


def _share_coordinates(model: Model, rigid: Model, beams: tuple[tuple[str, Beam], ...]) -> FlexibleModel:
    """Coordinates q as the robot has them, then η: one set for all sections of a beam."""
    made = FlexibleModel(model, rigid, beams)
    number = {name: i for i, name in enumerate(rigid.joint_names)}
    q_start, v_start = [], []
    for name in model.joint_names:
        known = number.get(name)
        eta = 0 if known is not None else made.starts[name.rpartition("/")[0]]
        q_start.append(rigid.nq + eta if known is None else rigid.q_start[known])
        v_start.append(rigid.nv + eta if known is None else rigid.v_start[known])
    n = sum(beam.count for _, beam in beams)
    return replace(made, model=replace(model, q_start=tuple(q_start), v_start=tuple(v_start), nq=rigid.nq + n, nv=rigid.nv + n))
