"""Joints from words and numbers, as builders, side-files and constraints take them."""

from __future__ import annotations

from typing import Any

from torsor.errors import ModelError, require_known
from torsor.model.description import Loop
from torsor.model.joints import JOINT_TYPES, Helical, JointType, Planar, Universal
from torsor.spatial import arguments as read

#: the axis of a joint that is not given one
Z = (0, 0, 1)


def loop_joint(
    name: str, type: str | JointType, parent: str, child: str, *, xyz: Any = (0, 0, 0), rpy: Any = (0, 0, 0),
    child_xyz: Any = (0, 0, 0), child_rpy: Any = (0, 0, 0), axis: Any = None, second_axis: Any = None, pitch: Any = None,
) -> Loop:  # fmt: skip
    """A loop joint from numbers and words, as :meth:`Builder.loop` and the side-file take them."""
    what = f"loop {name!r}"
    kind = joint_type(type, axis, second_axis, pitch, what)
    return Loop(name, kind, parent, child, read.pose(xyz, rpy, what), read.pose(child_xyz, child_rpy, f"{what}: child"))


def joint_type(type: str | JointType, axis: Any, second_axis: Any, pitch: Any, what: str) -> JointType:
    """The joint type by its name and geometry; arguments that a type does not use are errors."""
    if isinstance(type, JointType):
        if (axis, second_axis, pitch) != (None, None, None):
            raise ModelError(f"{what}: {type.name} is given as an object, so axis and pitch must not be given")
        return type
    require_known("joint type", type, JOINT_TYPES)
    cls = JOINT_TYPES[type]
    slots = getattr(cls, "__dataclass_fields__", {})
    for label, value in (("axis", axis), ("second_axis", second_axis), ("pitch", pitch)):
        if value is not None and label not in slots and not (cls is Planar and label == "axis"):
            raise ModelError(f"{what}: a {type} joint has no {label}")
    values: dict[str, Any] = {}
    if "axis" in slots or cls is Planar:
        values["normal" if cls is Planar else "axis"] = read.axis(Z if axis is None else axis, f"{what}: axis")
    if cls is Helical:
        if pitch is None:
            raise ModelError(f"{what}: a helical joint needs pitch= [m/rad]")
        values["pitch"] = read.scalar(pitch, f"{what}: pitch")
    if cls is Universal:
        if second_axis is None:
            raise ModelError(f"{what}: a universal joint needs second_axis=")
        values["second_axis"] = second = read.axis(second_axis, f"{what}: second_axis")
        across = values["axis"].cross(second)
        if all(read.is_number(a) for a in across) and max(map(abs, across)) < 1e-9:
            raise ModelError(f"{what}: its two axes are parallel, so it has only one degree of freedom")
    return cls(**values)
