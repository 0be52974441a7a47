"""Functions that create constraints from checked arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torsor.errors import ArgumentError
from torsor.model.joint_arguments import joint_type
from torsor.model.joint_surgery import make_mimic
from torsor.model.joints import Fixed, JointType
from torsor.model.joints.base import axes_about
from torsor.model.terms.constraint import Constraint
from torsor.model.terms.coordinates import Coupled, Holonomic, Pfaffian, Prescribed
from torsor.model.terms.loop import JointConstraint
from torsor.model.terms.points import Distance, PointAlong
from torsor.model.terms.rolling import Rolling
from torsor.spatial import arguments as read
from torsor.spatial.vector import AXES


def point_on_plane(
    frame: str, normal: Any, *, through: Any = (0, 0, 0), relative_to: str = "world", name: str = ""
) -> PointAlong:
    """nᵀ(p − c) = 0: the origin of a frame stays on a plane; its normal n and a point c of it [m] in ``relative_to``'s axes.

    The plane holds the point from both sides: its force on the robot, λ n, pushes along n where λ > 0 and pulls where λ < 0,
    which ``result.notes`` of a simulation reports.

    >>> point_on_plane("tip", normal=(1, 0, 0), through=(1, 0, 0)).size
    1
    """
    what = name or f"{frame} on a plane"
    n = read.axis(normal, f"{what}: normal")
    return PointAlong(what, frame, (n,), read.vector(through, what), relative_to, n)


def point_on_line(
    frame: str, direction: Any, *, through: Any = (0, 0, 0), relative_to: str = "world", name: str = ""
) -> PointAlong:
    """The origin of a frame stays on the line along ``direction`` through a point [m], in ``relative_to``'s axes: two rows.

    >>> point_on_line("tip", direction=(0, 1, 0), through=(1, 0, 0)).size
    2
    """
    what = name or f"{frame} on a line"
    x, y, _ = axes_about(read.axis(direction, f"{what}: direction"))
    return PointAlong(what, frame, (x, y), read.vector(through, what), relative_to)


def point_at(
    frame: str, place: Any = (0, 0, 0), *, relative_to: str = "world", normal: Any = None, name: str = ""
) -> PointAlong:
    """p = c: the origin of a frame stays at a point [m] of ``relative_to``, free to rotate: three rows.

    The point is held as by a ball joint: the force pulls as well as pushes, so a foot does not lift off.  A simulation reports
    the first time at which it pulls in ``result.notes``, and all forces in ``result.multipliers``.  The force pushes along
    ``normal``, in ``relative_to``'s axes; by default, in the world, upwards: against gravity.

    >>> point_at("foot", (0.2, 0, 0)).size
    3
    """
    what = name or f"{frame} at a place"
    up = None if normal is None else read.axis(normal, f"{what}: normal")
    return PointAlong(what, frame, AXES, read.vector(place, what), relative_to, up)


def fixed_pose(
    frame: str, *, xyz: Any = (0, 0, 0), rpy: Any = (0, 0, 0), relative_to: str = "world", name: str = ""
) -> JointConstraint:
    """T = (xyz [m], rpy [rad]): a frame stays at a pose in ``relative_to``: a weld, six rows.

    >>> fixed_pose("tool0", xyz=(0.5, 0.2, 0.4)).size
    6
    """
    what = name or f"{frame} held"
    return JointConstraint(what, Fixed(), relative_to, frame, read.pose(xyz, rpy, what))


def joint(
    type: str | JointType,
    frame: str,
    relative_to: str = "world",
    *,
    xyz: Any = (0, 0, 0),
    rpy: Any = (0, 0, 0),
    child_xyz: Any = (0, 0, 0),
    child_rpy: Any = (0, 0, 0),
    axis: Any = None,
    second_axis: Any = None,
    pitch: Any = None,
    name: str = "",
) -> JointConstraint:
    """Two frames connected by a joint: ``frame`` moves against ``relative_to`` as the joint type allows.

    The joint frame is at (xyz, rpy) in ``relative_to``; (child_xyz, child_rpy) is the joint frame in ``frame``.
    """
    what = name or f"{type if isinstance(type, str) else type.name} joint at {frame}"
    kind = joint_type(type, axis, second_axis, pitch, what)
    if not kind.closes_loops:
        raise ArgumentError(f"constraint {what!r}: a {kind.name} joint cannot close a loop")
    return JointConstraint(what, kind, relative_to, frame, read.pose(xyz, rpy, what), read.pose(child_xyz, child_rpy, what))


def distance(frame: str, other: str, length: float, *, name: str = "") -> Distance:
    """|p| = length [m] between the origins of two frames: a massless rod, one row; λ is its thrust [N].

    >>> distance("hip", "ankle", 0.8).labels()
    ('along the rod',)
    """
    what = name or f"{frame} to {other}"
    size = read.scalar(length, f"constraint {what!r}: length")
    if not size > 0:
        raise ArgumentError(f"constraint {what!r}: length must be positive, not {length}; use point_at for no distance")
    return Distance(what, frame, other, size)


def rolling(
    frame: str,
    radius: float,
    axis: Any = None,
    *,
    normal: Any = (0, 0, 1),
    through: Any = (0, 0, 0),
    relative_to: str = "world",
    name: str = "",
) -> Rolling:
    """A ball (no ``axis``) or a thin wheel about ``axis``, centred at a frame, rolls on a plane without slipping.

    v + ω × c = 0 at the contact c: three rows, of which the two along the plane are nonholonomic.  ``axis`` is in the frame;
    the plane's ``normal``, towards the wheel, and a point of it [m] are in ``relative_to``.
    """
    what = name or f"{frame} rolling"
    r = read.scalar(radius, f"constraint {what!r}: radius")
    if not r > 0:
        raise ArgumentError(f"constraint {what!r}: radius must be positive, not {radius}")
    spin = None if axis is None else read.axis(axis, f"{what}: axis")
    plane = axes_about(read.axis(normal, f"{what}: normal")), read.vector(through, f"{what}: through")
    return Rolling(what, frame, r, spin, *plane, relative_to)


def coupling(
    joint: str,
    leader: str,
    multiplier: float = 1.0,
    *,
    offset: float = 0.0,
    polynomial: Sequence[float] | None = None,
    name: str = "",
) -> Coupled:
    """q(joint) = multiplier · q(leader) + offset [rad, m], as a constraint: its force is one of the multipliers [N·m, N].

    ``polynomial=(a0, a1, a2, ...)`` instead: q(joint) = a0 + a1 x + a2 x² + … with x = q(leader), as MJCF's ``polycoef``.

    >>> coupling("finger2", "finger1", name="belt").size
    1
    """
    what = name or f"{joint} follows {leader}"
    return Coupled(what, joint, leader, make_mimic(what, leader, multiplier, offset, polynomial).coefficients)


def pfaffian(
    A: Callable[..., Any], rows: int = 1, *, right: Callable[..., Any] | None = None, timed: bool = False, name: str = ""
) -> Pfaffian:
    """A(q) v = b by a function over any scalar (MR 8.92), ``rows`` × nv; Ȧ comes from the same function.

    ``A(q)`` gets a list of nq scalars and uses torsor's sin, cos, ... (``from torsor import scalar``).  ``right`` gives b(q);
    with ``timed`` both are called with (q, t).

    >>> from torsor.scalar import cos, sin
    >>> knife = pfaffian(lambda q: [[sin(q[2]), -cos(q[2]), 0]])  # a skate: no motion across its blade
    """
    for function in (A, right):
        _callable(function, "pfaffian")
    return Pfaffian(name or getattr(A, "__name__", "pfaffian"), A, _count(rows), right, timed)


def holonomic(phi: Callable[..., Any], rows: int = 1, *, timed: bool = False, name: str = "") -> Holonomic:
    """φ(q) = 0 by a function over any scalar (F&O 16); with ``timed``, φ(q, t).  A = φ′ and Ȧ are its derivatives.

    >>> from torsor.scalar import cos
    >>> channel = holonomic(lambda q: cos(q[0]) + cos(q[0] + q[1]) - 1)  # the tip of a 2R arm at x = 1 m
    """
    _callable(phi, "holonomic")
    return Holonomic(name or getattr(phi, "__name__", "holonomic"), phi, _count(rows), timed)


def prescribed(constraint: Constraint, motion: Callable[[Any], Any]) -> Prescribed:
    """φ(q) = s(t): the constraint follows a function of time over any scalar, one number per row.

    >>> from torsor.scalar import sin
    >>> shaken = prescribed(point_on_plane("tip", normal=(0, 0, 1)), lambda t: [0.1 * sin(t)])
    """
    if not isinstance(constraint, Constraint):
        raise ArgumentError(f"prescribed takes a constraint and a function of time, not {type(constraint).__name__}")
    _callable(motion, "prescribed")
    return Prescribed(constraint, motion)


def _callable(function: Any, maker: str) -> None:
    if function is not None and not callable(function):
        raise ArgumentError(f"{maker} takes a function over any scalar, not {type(function).__name__}")


def _count(rows: int) -> int:
    if not isinstance(rows, int) or rows < 1:
        raise ArgumentError(f"rows must be a positive whole number, not {rows!r}")
    return rows
