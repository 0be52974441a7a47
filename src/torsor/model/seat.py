"""A joint whose axis does not pass through the frame of its child link.

A joint moves a *body frame* that starts on its axis, while a DH link frame, a centre-of-mass frame of MR or the parent of a
reversed joint is elsewhere on that body.  Here the link is welded to the body frame by a massless link between; assembly
merges the two at no cost.  Where the joint can be expressed in the link's own frame, no link is inserted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torsor.model.description import Joint, Link
from torsor.model.joints import Fixed, JointType, Prismatic
from torsor.model.joints.base import SingleAxis
from torsor.scalar import is_zero, tidy
from torsor.spatial import Transform, Vec
from torsor.spatial.vector import flat


def move_axis_to_frame(
    name: str, kind: JointType, parent: str, child: str, origin: Transform, seat: Transform, between: str = "", **fields: Any
) -> tuple[list[Link], list[Joint]]:
    """X_child = seat · X_J(q) · origin: links and joints that carry ``child`` at ``seat`` from the joint's body frame.

    ``origin`` takes the parent's frame to the joint frame; ``fields`` are the joint's other fields.  The link between, where
    there is one, is called ``between``, or ``<name>_axis``.

    >>> from torsor.model.joints import Revolute
    >>> away = Transform.of_pose(Transform.identity().E, Vec(1, 0, 0))
    >>> links, joints = move_axis_to_frame("hinge", Revolute(Vec(0, 0, 1)), "a", "b", Transform.identity(), away)
    >>> [(j.name, j.parent, j.child) for j in joints]
    [('hinge', 'a', 'hinge_axis'), ('hinge_axis_weld', 'hinge_axis', 'b')]
    """
    moved = _restate(kind, seat)
    if moved is not None:
        return [], [Joint(name, moved, parent, child, snap_rounding(seat @ origin), **fields)]
    between = between or f"{name}_axis"
    return [Link(between)], [
        Joint(name, kind, parent, between, snap_rounding(origin), **fields),
        Joint(f"{between}_weld", Fixed(), between, child, snap_rounding(seat)),
    ]


def _restate(kind: JointType, seat: Transform) -> JointType | None:
    """seat · X_J(q) · seat⁻¹ as a joint about an axis through the seat's origin, if it is one."""
    if all(a == b for a, b in zip(flat(seat), flat(Transform.identity()), strict=True)):
        return kind
    if isinstance(kind, Fixed):
        return kind
    if not isinstance(kind, SingleAxis):
        return None
    along = all(is_zero(x) for x in kind.axis.cross(seat.r))  # a shift along the axis does not change the axis
    if not (isinstance(kind, Prismatic) or along):
        return None
    return replace(kind, axis=Vec(*(tidy(x) for x in seat.E @ kind.axis)))


def snap_rounding(X: Transform) -> Transform:
    """The same transform with rounding removed from 0 and ±1: of the rotation within rounding, of the translation exactly."""
    E = type(X.E)(*(Vec(*(tidy(x) for x in row)) for row in X.E))
    return Transform(E, Vec(*(tidy(x, 0.0) for x in X.r)))
