"""A serial robot of its rows: for DH tables and screw axes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from torsor.model.description import Description, Joint, Link, NamedFrame
from torsor.model.joints import JointType
from torsor.model.seat import move_axis_to_frame, snap_rounding
from torsor.spatial import Inertia, Transform
from torsor.spatial import arguments as read


class ChainRow(NamedTuple):
    """One joint and the link it moves: X_link = seat · X_J(q) · origin from the link before; other fields of the joint."""

    kind: JointType
    inertia: Inertia
    origin: Transform
    seat: Transform
    fields: Mapping[str, Any] = {}


def chain(name: str, rows: Iterable[ChainRow], tip: Transform, gravity: Any, report: Iterable[str] = ()) -> Description:
    """Links ``base``, ``link1``, ..., joints ``joint1``, ..., and the frame ``end_effector`` on the last link."""
    links, joints = [Link("base")], list[Joint]()
    for i, row in enumerate(rows, start=1):
        parent, child = links[-1].name, Link(f"link{i}", row.inertia)
        between, made = move_axis_to_frame(f"joint{i}", row.kind, parent, child.name, row.origin, row.seat, **row.fields)
        links += [*between, child]
        joints += made
    end = NamedFrame("end_effector", links[-1].name, snap_rounding(tip))
    return Description(name, tuple(links), tuple(joints), (end,), gravity=read.vector(gravity, "gravity"), report=tuple(report))
