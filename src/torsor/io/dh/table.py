"""A serial robot from its Denavit–Hartenberg table, standard or modified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from torsor.errors import ArgumentError, ModelError
from torsor.io.shared.chain import ChainRow, chain
from torsor.io.shared.poses import snap_rotation
from torsor.model.description import EARTH, Description
from torsor.model.joints import JointType, Prismatic, Revolute
from torsor.spatial import Transform, about
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
    made = [_chain_row(_row(given, i), convention, f"DH row {i}") for i, given in enumerate(rows, start=1)]
    return chain(name, made, read.pose(tool_xyz, tool_rpy, "tool"), gravity)


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


def _chain_row(row: DHRow, convention: str, what: str) -> ChainRow:
    """A joint about or along ẑ: standard of frame {i−1}, from which the four steps lead to {i}; modified of {i} itself."""
    a, alpha, d, theta, offset = (read.scalar(getattr(row, k), f"{what}: {k}") for k in ("a", "alpha", "d", "theta", "offset"))
    if row.type not in ("revolute", "prismatic"):
        raise ModelError(f"{what}: type must be 'revolute' or 'prismatic', not {row.type!r}")
    turns = row.type == "revolute"
    kind: JointType = Revolute(AXES[2]) if turns else Prismatic(AXES[2])
    d, theta = (d, theta + offset) if turns else (d + offset, theta)
    origin = seat = Transform.identity()
    if convention == "standard":
        seat = _turn(0, alpha) @ _shift(0, a) @ _shift(2, d) @ _turn(2, theta)
    else:
        origin = _shift(2, d) @ _turn(2, theta) @ _shift(0, a) @ _turn(0, alpha)
    inertia = read.mass_properties(row.mass, row.com, row.inertia, (0, 0, 0), what)
    fields: dict[str, Any] = {
        k: read.per_coordinate(getattr(row, k), 1, f"{what}: {k}", number=k not in ("armature", "damping", "friction"))
        for k in ("lower", "upper", "velocity_limit", "effort_limit", "armature", "damping", "friction")
    }
    return ChainRow(kind, inertia, origin, seat, fields)


def _turn(i: int, angle: Any) -> Transform:
    return Transform.of_pose(snap_rotation(about(AXES[i], angle)), ZERO)


def _shift(i: int, distance: Any) -> Transform:
    return Transform(IDENTITY, AXES[i] * distance)
