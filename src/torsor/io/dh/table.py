"""A serial robot from its Denavit–Hartenberg table, standard or modified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from torsor.errors import ArgumentError, ModelError
from torsor.model.description import EARTH, Description, Joint, Link, NamedFrame
from torsor.model.joints import JointType, Prismatic, Revolute
from torsor.model.seat import move_axis_to_frame, snap_rounding
from torsor.scalar import tidy
from torsor.spatial import Mat, Transform, Vec, about
from torsor.spatial import arguments as read
from torsor.spatial.vector import AXES, IDENTITY, ZERO


@dataclass(frozen=True)
class DHRow:
    """One joint and the link it moves.

    a, d [m], alpha, theta [rad]: the four parameters.  The joint's coordinate is added to theta (revolute) or d (prismatic),
    and so is ``offset``.  ``mass`` [kg]; ``com`` [m] and ``inertia`` [kg·m²] (about the com) in the link's DH frame.
    Limits, ``armature``, ``damping`` and ``friction`` as in :meth:`torsor.robot.builder.Builder.joint`.
    """

    a: Any = 0
    alpha: Any = 0
    d: Any = 0
    theta: Any = 0
    type: str = "revolute"
    offset: Any = 0
    mass: Any = 0
    com: Any = (0, 0, 0)
    inertia: Any = None
    armature: Any = None
    damping: Any = None
    friction: Any = None
    lower: Any = None
    upper: Any = None
    velocity_limit: Any = None
    effort_limit: Any = None


def from_dh(
    rows: Sequence[DHRow | Mapping[str, Any]],
    convention: str = "standard",
    *,
    name: str = "robot",
    gravity: Any = EARTH,
    tool_xyz: Any = (0, 0, 0),
    tool_rpy: Any = (0, 0, 0),
) -> Description:
    """The robot of a DH table; a row is a :class:`DHRow` or a mapping with its fields.

    ``"standard"`` (Denavit & Hartenberg, Paul, Spong): T_{i−1,i} = Rot(z, θ) Trans(z, d) Trans(x, a) Rot(x, α).
    ``"modified"`` (Craig): T_{i−1,i} = Rot(x, α) Trans(x, a) Rot(z, θ) Trans(z, d).

    Links are ``base``, ``link1``, ..., with the DH frame {i} as their frame; joints ``joint1``, ...; frame ``end_effector``
    is on the last link, at (tool_xyz [m], tool_rpy [rad]).

    >>> d = from_dh([{"a": 1.0, "mass": 1.0}, {"a": 0.5, "mass": 2.0, "type": "revolute"}])
    >>> [link.name for link in d.links if link.inertia.m]
    ['link1', 'link2']
    """
    if convention not in ("standard", "modified"):
        raise ArgumentError(f"convention must be 'standard' or 'modified', not {convention!r}")
    if not rows:
        raise ModelError("a DH table needs at least one row")
    links, joints = [Link("base")], list[Joint]()
    parent = "base"
    for i, given in enumerate(rows, start=1):
        row = _row(given, i)
        what = f"DH row {i}"
        kind, origin, seat = (_standard if convention == "standard" else _modified_joint)(row, what)
        link = Link(f"link{i}", read.mass_properties(row.mass, row.com, row.inertia, (0, 0, 0), what))
        per_joint: dict[str, Any] = {
            k: read.per_coordinate(getattr(row, k), 1, f"{what}: {k}", number=k not in ("armature", "damping", "friction"))
            for k in ("lower", "upper", "velocity_limit", "effort_limit", "armature", "damping", "friction")
        }
        between, made = move_axis_to_frame(f"joint{i}", kind, parent, link.name, origin, seat, **per_joint)
        links += [*between, link]
        joints += made
        parent = link.name
    tip = NamedFrame("end_effector", parent, snap_rounding(read.pose(tool_xyz, tool_rpy, "tool")))
    return Description(name, tuple(links), tuple(joints), (tip,), gravity=read.vector(gravity, "gravity"))


def _row(given: DHRow | Mapping[str, Any], i: int) -> DHRow:
    if isinstance(given, DHRow):
        return given
    valid = [f.name for f in fields(DHRow)]
    if not isinstance(given, Mapping):
        raise ModelError(f"DH row {i} must be a DHRow or a mapping with some of {', '.join(valid)}; not {given!r}")
    unknown = [k for k in given if k not in valid]
    if unknown:
        raise ModelError(f"DH row {i}: unknown field {unknown[0]!r}; valid fields: {', '.join(valid)}")
    return DHRow(**given)


def _numbers(row: DHRow, what: str) -> tuple[JointType, Any, Any, Any, Any]:
    """The joint about or along ẑ, and a, alpha, d, theta at q = 0."""
    a, alpha, d, theta, offset = (read.scalar(getattr(row, k), f"{what}: {k}") for k in ("a", "alpha", "d", "theta", "offset"))
    if row.type == "revolute":
        return Revolute(AXES[2]), a, alpha, d, theta + offset
    if row.type == "prismatic":
        return Prismatic(AXES[2]), a, alpha, d + offset, theta
    raise ModelError(f"{what}: type must be 'revolute' or 'prismatic', not {row.type!r}")


def _standard(row: DHRow, what: str) -> tuple[JointType, Transform, Transform]:
    """The joint moves about frame {i−1}'s ẑ, and {i} is Rot(z, θ) Trans(z, d) Trans(x, a) Rot(x, α) on from there."""
    kind, a, alpha, d, theta = _numbers(row, what)
    seat = _turn(0, alpha) @ _shift(0, a) @ _shift(2, d) @ _turn(2, theta)
    return kind, Transform.identity(), seat


def _modified_joint(row: DHRow, what: str) -> tuple[JointType, Transform, Transform]:
    """The joint moves about frame {i}'s own ẑ, so {i} is its body frame."""
    kind, a, alpha, d, theta = _numbers(row, what)
    return kind, _shift(2, d) @ _turn(2, theta) @ _shift(0, a) @ _turn(0, alpha), Transform.identity()


def _turn(i: int, angle: Any) -> Transform:
    R = about(AXES[i], angle)
    return Transform.of_pose(Mat(*(Vec(*(tidy(x) for x in row)) for row in R)), ZERO)


def _shift(i: int, distance: Any) -> Transform:
    return Transform(IDENTITY, AXES[i] * distance)
