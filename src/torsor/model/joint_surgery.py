"""Another type for a joint, and joints that follow others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from torsor.errors import ArgumentError, ModelError, require_known
from torsor.model.description import FLOATING_BASE, Description, Joint, Loop, Mimic, find
from torsor.model.joint_arguments import joint_type
from torsor.model.joints import JOINT_TYPES, Composite, Continuous, FunctionJoint, JointType
from torsor.model.named_configurations import keep_joints, note_of_losses, with_freed_joints
from torsor.model.reversal import ReversedJoint
from torsor.model.spanning import joint_fields
from torsor.spatial import Vec
from torsor.spatial import arguments as read

#: joints whose coordinate is an angle, so that their limits and losses have the same units
_ANGLES = ("revolute", "continuous", "helical")


def with_joint_type(
    d: Description, name: str, type: str | JointType, axis: Any = None, second_axis: Any = None, pitch: Any = None
) -> Description:
    """The robot with a joint, or a loop joint, of another type; it keeps its axis unless one is given.

    Limits, armature, damping and friction are kept where their units stay the same; the report lists those dropped.

    >>> from torsor import robots
    >>> d = with_joint_type(robots.description("two_link"), "joint2", "prismatic", axis=(1, 0, 0))
    >>> d.joints[1].kind
    Prismatic(axis=Vec(x=1, y=0, z=0))
    """
    old = find("joint", name, d.edges)
    if axis is None and isinstance(type, str) and _has_axis(type):
        axis = _axis(old.kind)
    kind = joint_type(type, axis, second_axis, pitch, f"joint {name!r}")
    note = f"joint {name!r}: {old.kind.name} → {kind.name}"
    if isinstance(old, Loop):
        return d.with_note(note, loops=tuple(replace(x, kind=kind) if x is old else x for x in d.loops))
    driven = [r.name for r in d.rotors if r.joint == name]
    if driven and not _same_units(old.kind, kind):
        raise ModelError(
            f"joint {name!r}: {old.kind.name} → {kind.name} changes the unit of the gear ratio of rotor {driven[0]!r}; "
            f"drop it first: with_rotors({{{name!r}: None}})"
        )
    kept, lost = _valid_fields(old, kind)
    made = Joint(old.name, kind, old.parent, old.child, old.origin, **kept)
    note += f"; dropped: {', '.join(lost)}" if lost else ""
    named = d.configurations
    if not _same_units(old.kind, kind) and any(name in dict(c.values) for c in named):
        named = keep_joints(named, {FLOATING_BASE, *(j.name for j in d.joints)} - {name})
        note += "; named configurations lose its coordinates" + note_of_losses(d.configurations, named)
    return d.with_note(note, joints=tuple(made if j is old else j for j in d.joints), configurations=named)


def with_mimic(
    d: Description, name: str, leader: str | None, multiplier: float = 1.0, offset: float = 0.0, polynomial: Any = None
) -> Description:
    """The robot with a joint that follows another: q = multiplier · x + offset, or a0 + a1 x + a2 x² + … with x = q(leader).

    Without a leader, the joint gets its own coordinate again.  A joint that follows has no actuator.

    >>> from torsor import robots
    >>> d = with_mimic(robots.description("two_link"), "joint2", "joint1", polynomial=(0, -1, 0.5))
    >>> d.joints[1].mimic.at(2.0)
    0.0
    """
    old, changes = find("joint", name, d.edges), dict[str, Any]()
    if isinstance(old, Loop):
        raise ModelError(f"joint {name!r} closes a loop and has no coordinate; use with_spanning_tree(...) to give it one")
    if leader is None:
        if (multiplier, offset, polynomial) != (1.0, 0.0, None):
            raise ArgumentError(f"with_mimic: joint {name!r} needs a leader to follow; None makes it independent")
        if old.mimic is None:
            return d
        changes["mimic"], note = None, f"no longer coupled: {name}"
        named = with_freed_joints(d, [name])
    else:
        require_known("joint", leader, [j.name for j in d.joints])
        changes["mimic"] = make_mimic(f"joint {name!r}: mimic", leader, multiplier, offset, polynomial)
        changes["actuator"] = ()
        named = keep_joints(d.configurations, {FLOATING_BASE, *(j.name for j in d.joints)} - {name})
        note = f"joint {name!r} follows {leader!r}" + ("; dropped: actuator" if old.actuator else "")
        note += note_of_losses(d.configurations, named)
    joints = tuple(replace(j, **changes) if j is old else j for j in d.joints)
    return d.with_note(note, joints=joints, configurations=named)


def make_mimic(what: str, leader: str, multiplier: Any, offset: Any, polynomial: Sequence[Any] | None) -> Mimic:
    """A mimic from numbers; ``polynomial`` in place of the other two."""
    if polynomial is None:
        return Mimic(leader, read.scalar(multiplier, what), read.scalar(offset, what))
    if (multiplier, offset) != (1.0, 0.0):
        raise ArgumentError(f"{what}: give either polynomial or multiplier and offset, not both")
    coefficients = read.as_nested_lists(polynomial)
    if isinstance(coefficients, str) or not hasattr(coefficients, "__iter__"):
        raise ArgumentError(f"{what}: polynomial must be a list of coefficients, the constant first, not {polynomial!r}")
    return Mimic.of_polynomial(leader, [read.scalar(c, what) for c in coefficients])


def _axis(kind: JointType) -> Vec | None:
    """The axis of a joint, or its normal; that of a reversed one is the opposite, as of a reversed hinge."""
    if isinstance(kind, ReversedJoint):
        axis = _axis(kind.kind)
        return None if axis is None else -axis
    return getattr(kind, "axis", None) or getattr(kind, "normal", None)


def _has_axis(type: str) -> bool:
    return any(word in getattr(JOINT_TYPES.get(type), "__dataclass_fields__", {}) for word in ("axis", "normal"))


def _same_units(old: JointType, new: JointType) -> bool:
    """Whether the coordinates of two joint types have the same number and the same units."""
    if isinstance(old, ReversedJoint) and isinstance(new, ReversedJoint):
        return _same_units(old.kind, new.kind)
    if isinstance(old, Composite) and isinstance(new, Composite):
        return len(old.joints) == len(new.joints) and all(map(_same_units, old.joints, new.joints))
    if isinstance(old, FunctionJoint) and isinstance(new, FunctionJoint):
        return old == new
    return (old.name, old.nq) == (new.name, new.nq) or (old.name in _ANGLES and new.name in _ANGLES)


def _valid_fields(old: Joint, kind: JointType) -> tuple[dict[str, Any], list[str]]:
    """The fields that stay valid, and the names of those dropped."""
    fields = joint_fields(old)
    invalid = set() if _same_units(old.kind, kind) else set(fields) - {"mimic"}
    invalid |= {"lower", "upper"} if isinstance(kind, Continuous) else set()
    invalid |= {"mimic"} if kind.nv != 1 else set()
    kept = {word: value for word, value in fields.items() if word not in invalid}
    return kept, [word for word, value in fields.items() if word in invalid and value]
