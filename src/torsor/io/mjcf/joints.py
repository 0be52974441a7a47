"""The joints of a body: MuJoCo allows any number per body, in series, each with its own position and zero."""

from __future__ import annotations

from typing import Any

from torsor.io.mjcf.actuators import Drive
from torsor.io.mjcf.poses import axis, pose, rotation_transform, translation, vector
from torsor.io.mjcf.selection import BALL, FREE, HINGE, SLIDE, Selection, has_world_losses, joints_of
from torsor.model.description import WORLD, Joint, Link, Mimic
from torsor.model.joints import Fixed, Floating, JointType, Prismatic, Revolute, Spherical
from torsor.model.seat import move_axis_to_frame
from torsor.spatial import Transform, Vec, about
from torsor.spatial.vector import AXES, ZERO
from torsor.support.text import unused_name

Pieces = tuple[list[Link], list[Joint]]


def read_joints(chosen: Selection, body: int, mimics: dict[int, Mimic], drives: dict[int, Drive]) -> Pieces:
    """The joints of a body, and the massless links between them if there are several.

    A hinge turns the body by q − q₀ about an axis through ``pos``; q₀, its ``ref``, goes into the joint's origin, so that q is
    MuJoCo's own number.  Where the last axis misses the body frame, a massless link is placed on the axis (``<joint>_axis``).
    """
    m = chosen.m
    parent = chosen.links.get(int(m.body_parentid[body]), WORLD)
    X = pose(m.body_pos[body], m.body_quat[body])
    ids = list(joints_of(m, body))
    if not ids:
        return [], [
            Joint(unused_name(f"{chosen.links[body]}_fixed", chosen.taken_joints), Fixed(), parent, chosen.links[body], X)
        ]
    if m.jnt_type[ids[0]] == FREE:
        return _free(chosen, ids[0], parent, chosen.links[body])
    links: list[Link] = []
    joints: list[Joint] = []
    at = ZERO  # position of the last link, in the body's axes
    for k in ids:
        place = at if m.jnt_type[k] == SLIDE else vector(m.jnt_pos[k])  # a slider has no place
        origin = _undo_reference(m, k) @ translation(place - at) @ X
        name, kind = chosen.joints[k], _kind(m, k)
        fields = {**_fields(chosen, k, drives.get(k)), "mimic": mimics.get(k)}
        if k == ids[-1]:
            between = unused_name(f"{name}_axis", chosen.taken_links)
            more, last = move_axis_to_frame(
                name, kind, parent, chosen.links[body], origin, translation(-place), between, **fields
            )
            return [*links, *more], [*joints, *last]
        links.append(Link(unused_name(f"{name}_link", chosen.taken_links)))
        joints.append(Joint(name, kind, parent, links[-1].name, origin, **fields))
        parent, X, at = links[-1].name, Transform.identity(), place
    raise AssertionError("unreachable: the last joint returns")


def _free(chosen: Selection, k: int, parent: str, child: str) -> Pieces:
    """A free body that is not the base: a Floating joint from the world.

    Its armature and dry friction act along the world's axes, so with those it is three sliders and a ball.
    """
    m, name, at = chosen.m, chosen.joints[k], int(chosen.m.jnt_dofadr[k])
    if not has_world_losses(m, k):
        return [], [Joint(name, Floating(), parent, child, **_losses(m, at, 6))]
    chosen.notes.note("free joint with armature or dry friction, so read as three sliders and a ball", name)
    links, joints = [], []
    for n, (letter, along) in enumerate(zip("xyz", AXES, strict=True)):
        links.append(Link(unused_name(f"{name}_{letter}_link", chosen.taken_links)))
        slider = unused_name(f"{name}_{letter}", chosen.taken_joints)
        chosen.sliders.setdefault(k, []).append(slider)
        joints.append(Joint(slider, Prismatic(along), parent, links[-1].name, **_losses(m, at + n, 1)))
        parent = links[-1].name
    joints.append(Joint(name, Spherical(), parent, child, **_losses(m, at + 3, 3)))
    return links, joints


def _kind(m: Any, k: int) -> JointType:
    if m.jnt_type[k] == BALL:
        return Spherical()
    return (Revolute if m.jnt_type[k] == HINGE else Prismatic)(axis(m.jnt_axis[k]))


def _undo_reference(m: Any, k: int) -> Transform:
    """X_J(−q₀): maps the pose that MuJoCo uses at q₀ back to the pose at q = 0."""
    reference = float(m.qpos0[m.jnt_qposadr[k]])
    if m.jnt_type[k] == BALL or not reference:
        return Transform.identity()
    a: Vec = axis(m.jnt_axis[k])
    return translation(a * -reference) if m.jnt_type[k] == SLIDE else rotation_transform(about(a, -reference))


def _fields(chosen: Selection, k: int, drive: Drive | None) -> dict[str, Any]:
    """Limits, armature, damping, friction and actuator of a joint."""
    m, at = chosen.m, int(chosen.m.jnt_dofadr[k])
    if drive is None:
        if m.jnt_limited[k]:
            chosen.notes.note("limit on the angle of a ball joint ignored", chosen.joints[k])
        return _losses(m, at, 3)
    out = _losses(m, at, 1)
    for label, more in (("armature", drive.armature), ("damping", drive.damping)):
        if more:
            out[label] = (sum(out.get(label, ())) + more,)
    if m.jnt_limited[k]:
        out["lower"], out["upper"] = ((float(x),) for x in m.jnt_range[k])
    return out | {"effort_limit": drive.effort, "driven": drive.driven, "actuator": drive.laws}


def _losses(m: Any, at: int, count: int) -> dict[str, Any]:
    rows = {"armature": m.dof_armature, "damping": m.dof_damping, "friction": m.dof_frictionloss}
    found = {label: tuple(float(x) for x in row[at : at + count]) for label, row in rows.items()}
    return {label: values for label, values in found.items() if any(values)}
