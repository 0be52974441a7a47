"""Names of the entries of q and v: the joint's, with a number where it has several; and their units."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import NamedTuple, TypeVar

from torsor.model.joints import JointType
from torsor.model.joints.composite import JointOfJoints
from torsor.model.joints.deflection import Deflection
from torsor.model.model import Model

T = TypeVar("T")


def _kept_with_model(function: Callable[[Model], T]) -> Callable[[Model], T]:
    """The function, computed once per model, which keeps the result as its cached properties."""
    key = f"_{function.__name__}"

    @wraps(function)
    def found(model: Model) -> T:
        kept: dict[str, T] = vars(model)
        if key not in kept:
            kept[key] = function(model)
        return kept[key]

    return found


@_kept_with_model
def configuration_names(model: Model) -> tuple[str, ...]:
    """A name for each entry of q."""
    return tuple(_names(model, "nq"))


@_kept_with_model
def coordinate_names(model: Model) -> tuple[str, ...]:
    """A name for each entry of v, a and τ."""
    return tuple(_names(model, "nv"))


def _names(model: Model, size: str) -> Iterator[str]:
    for i in model.own_joints:
        name, n = model.joint_names[i], getattr(model.joint[i], size)
        yield from model.joint[i].labels or ([name] if n == 1 else (f"{name}[{k}]" for k in range(n)))


class Units(NamedTuple):
    """Units of the entries of q, v and τ, each once: "rad", "m", or "rad, m" of a robot with both."""

    q: str
    v: str
    tau: str


def units_of(model: Model) -> Units:
    """The units of q, v and τ; 1 is that of quaternions.

    >>> import torsor as ts
    >>> tuple(units_of(ts.robots.ur5().model)), units_of(ts.robots.rp_arm().model).v
    (('rad', 'rad/s', 'N·m'), 'rad/s, m/s')
    """
    return Units(*(", ".join(dict.fromkeys(units)) for units in entry_units(model)))


@_kept_with_model
def entry_units(model: Model) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The unit of each entry of q, v and τ."""
    joints = [model.joint[i] for i in model.own_joints]
    q = tuple(unit for joint in joints for unit in _configuration_units(joint))
    v = [unit for joint in joints for unit in displacement_units(joint)]
    return q, tuple(f"{unit}/s" for unit in v), tuple({"rad": "N·m", "m": "N"}[unit] for unit in v)


def displacement_units(joint: JointType) -> list[str]:
    """rad for an entry of v that turns the body, m for one that only shifts it, or is the deflection of a beam."""
    if isinstance(joint, Deflection):
        return ["m" if any(d) else "rad" for d in joint.displacement]
    S = joint.subspace(joint.neutral())
    return ["rad" if any(not isinstance(x, (int, float)) or x != 0 for x in column[0]) else "m" for column in S]


def _configuration_units(joint: JointType) -> list[str]:
    if isinstance(joint, JointOfJoints):
        return [unit for part in joint.sequence() for unit in _configuration_units(part)]
    if joint.nq == joint.nv:
        return displacement_units(joint)
    units = ["rad" if k in joint.angles else "m" for k in range(joint.nq)]
    for part in joint.quaternions:
        units[part] = ["1"] * len(units[part])
    return units
