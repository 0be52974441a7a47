"""Named configurations of a robot, "home" and the like, by joint: so model editing keeps them where q changes its order."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from torsor.errors import ModelError
from torsor.model.joints import Floating, FloatingRPY, JointType
from torsor.spatial import arguments as read
from torsor.spatial.recovery import quaternion_of
from torsor.spatial.rotation import to_rpy
from torsor.support.text import count

if TYPE_CHECKING:
    from torsor.model.description import Description, Joint
    from torsor.model.model import Model


@dataclass(frozen=True)
class Configuration:
    """A named configuration: the coordinates [rad, m, quaternions (x, y, z, w)] of some joints; the others are neutral.

    ``values`` are pairs of a joint's name and its numbers, sorted by name.  The joint ``floating_base`` is a floating base: its
    position with a quaternion (7 numbers) or with roll, pitch and yaw (6), for either type of floating base.  Its pose may be
    given while the base is fixed, and counts from ``robot.with_base("floating")`` on.
    """

    name: str
    values: tuple[tuple[str, tuple[float, ...]], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(sorted(self.values)))


def make_configuration(name: str, values: Any) -> Configuration:
    """The configuration of ``{joint: number, or one per coordinate}``; the Description checks the joints' names."""
    if not isinstance(name, str) or not name:
        raise ModelError(f"the name of a configuration must be non-empty text, not {name!r}")
    what = f"configuration {name!r}"
    if not isinstance(values, Mapping):
        raise ModelError(f'{what} must be a dict of joints, such as {{"elbow": 0.5}}, not {values!r}')
    rows = []
    for joint, given in values.items():
        who, numbers = f"{what}: joint {joint!r}", read.as_nested_lists(given)
        numbers = numbers if isinstance(numbers, (list, tuple)) else [numbers]
        if not all(map(read.is_number, numbers)):
            raise ModelError(f"{who}: give a number, or one per coordinate, not {given!r}")
        rows.append((joint, tuple(float(read.scalar(x, who)) for x in numbers)))
    return Configuration(name, tuple(rows))


def check_configurations(d: Description, base: str) -> None:
    """Raise for joints without a coordinate, a wrong number of coordinates, a zero quaternion; ``base``: the base's joint."""
    kinds = {j.name: j.kind for j in d.joints if j.kind.nq}
    leaders = {j.name: j.mimic.joint for j in d.joints if j.mimic is not None}
    for c in d.configurations:
        for name, values in c.values:
            what, kind = f"configuration {c.name!r}: joint {name!r}", kinds.get(name)
            if name == base and kind is None:
                kind = FloatingRPY() if len(values) == FloatingRPY.nq else Floating()
            if kind is None:
                closes = any(loop.name == name for loop in d.loops)
                why = "closes a loop and has no coordinate" if closes else "is fixed or not defined"
                raise ModelError(f"{what} {why}")
            if name in leaders:
                raise ModelError(f"{what} is a mimic joint and has no coordinate; give its leader {leaders[name]!r}")
            if len(values) != kind.nq:
                raise ModelError(f"{what} ({kind.name}) has {count(kind.nq, 'coordinate')}, {len(values)} given")
            if not all(math.isfinite(x) for x in values):
                raise ModelError(f"{what}: its coordinates must be finite, not {values}")
            if why := kind.fault(values):
                raise ModelError(f"{what}: {why}")


def entries(c: Configuration, model: Model) -> Iterator[tuple[slice, tuple[float, ...]]]:
    """The place in q and the numbers of each joint; the pose of a base that is fixed has no place."""
    number = {name: i for i, name in enumerate(model.joint_names)}
    for name, values in c.values:
        if name in number:
            i = number[name]
            start, numbers = model.q_start[i], base_coordinates(model.joint[i], values)
            yield slice(start, start + len(numbers)), numbers


def base_coordinates(kind: JointType, values: tuple[float, ...]) -> tuple[float, ...]:
    """A pose of the floating base in the coordinates of a base of this type: with a quaternion, or with roll, pitch and yaw.

    >>> base_coordinates(FloatingRPY(), (0, 0, 1, 0, 0, 0, 1))
    (0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    """
    if len(values) == kind.nq:
        return values
    R, p = (Floating() if len(values) == Floating.nq else FloatingRPY()).transform(values).pose
    turn: Iterable[Any] = quaternion_of(R) if isinstance(kind, Floating) else to_rpy(R)
    return tuple(float(x) + 0.0 for x in (*p, *turn))  # without negative zeros


# -- model editing -------------------------------------------------------------------------------------------------------


def keep_joints(configurations: Iterable[Configuration], joints: Collection[str]) -> tuple[Configuration, ...]:
    """The configurations of these joints alone; one that loses all its joints is dropped."""
    out = []
    for c in configurations:
        values = tuple((name, x) for name, x in c.values if name in joints)
        if values or not c.values:
            out.append(replace(c, values=values))
    return tuple(out)


def note_of_losses(before: Sequence[Configuration], after: Sequence[Configuration]) -> str:
    """Part of a note: the configurations that have no joint left."""
    lost = [c.name for c in before if c.name not in {x.name for x in after}]
    return f"; named configurations dropped, as none of their joints is left: {', '.join(lost)}" if lost else ""


def with_freed_joints(d: Description, freed: Collection[str]) -> tuple[Configuration, ...]:
    """The configurations with values for mimic joints that get their own coordinate."""
    if not freed or not d.configurations:
        return d.configurations
    joints, out = {j.name: j for j in d.joints}, []
    for c in d.configurations:
        given = dict(c.values)
        out.append(replace(c, values=(*c.values, *((name, joint_coordinates(joints[name], joints, given)) for name in freed))))
    return tuple(out)


def joint_coordinates(j: Joint, joints: Mapping[str, Joint], given: Mapping[str, tuple[float, ...]]) -> tuple[float, ...]:
    """q of a joint in a configuration: given, neutral, or by its leaders, of which there may be more than Python has frames."""
    chain = []
    while j.mimic is not None:
        chain.append(j.mimic)
        j = joints[j.mimic.joint]
    q = given.get(j.name, tuple(j.kind.neutral()))
    for mimic in reversed(chain):
        q = (float(mimic.at(*q)),)
    return q


def merge(first: Sequence[Configuration], second: Sequence[Configuration]) -> tuple[Configuration, ...]:
    """Those of two robots in one: configurations of the same name become one."""
    out = {c.name: c for c in first}
    for c in second:
        out[c.name] = replace(c, values=(*out[c.name].values, *c.values)) if c.name in out else c
    return tuple(out.values())
