"""vary= of a simulation: the robot with the varied constants as its own, so that results, energies and replays are of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from torsor.errors import ArgumentError
from torsor.kernels.one_state import one_value
from torsor.model.description import Description
from torsor.model.friction import LAWS
from torsor.model.numbers_surgery import moving_joint, with_joint_constants, with_link
from torsor.simulate.controllers import of_one_robot
from torsor.simulate.parameters import CONTACT_FIELDS, VariedConstant, number_fields, signal_path, variations

if TYPE_CHECKING:
    from torsor.robot import Robot

#: constants of friction laws that are proportional to the force
FORCES = ("b_static", "b_kinetic", "b_viscous", "mu", "stiffness", "damping")


def varied_robot(robot: Robot, vary: Mapping[str, Mapping[str, Any]]) -> Robot:
    """The robot edited by the numbers of ``vary``, which are those of one robot.

    >>> import torsor as ts
    >>> heavy = varied_robot(ts.robots.two_link(), {"mass": {"link2": 2.0}, "armature": {"joint1": 0.5}})
    >>> heavy.link("link2").mass, heavy.joint("joint1").armature
    (2.0, (0.5,))
    """
    d = robot.description
    for key, (argument, values) in variations(robot, vary).items():
        d = _EDITS[key.what](robot, d, key, one_value(argument, of_one_robot(key.label, values)))
    return type(robot)(d)


def _mass(robot: Robot, d: Description, key: VariedConstant, factor: Any) -> Description:
    G = d.link(key.name).inertia
    return with_link(d, key.name, G.m * factor, None, type(G.I)(*(x * factor for x in G.about_com)))


def _of_joint(robot: Robot, d: Description, key: VariedConstant, value: Any) -> Description:
    return with_joint_constants(d, key.what, {key.name: value})


def _friction(robot: Robot, d: Description, key: VariedConstant, factor: Any) -> Description:
    joint, factors = moving_joint(d, key.name), factor if isinstance(factor, list) else [factor]
    laws = tuple(None if law is None or not k else _scaled(key, law, k) for law, k in zip(joint.laws, factors, strict=True))
    return d.with_joint_fields({key.name: {"laws": laws if any(laws) else ()}}, f"friction × {factor}: {key.name}")


def _scaled(key: VariedConstant, law: Any, k: float) -> Any:
    """k × a friction law: a law of the same class with other constants."""
    if type(law) not in LAWS.values():
        raise ArgumentError(
            f"{key.label}: {type(law).__name__} is not a law of torsor, whose constants are known; give the joint a law with "
            "other constants by robot.with_friction"
        )
    own = {f.name: getattr(law, f.name) for f in fields(law)}
    parts = {name: _scaled(key, x, k) for name, x in own.items() if hasattr(x, "breakaway")}
    return replace(law, **parts, **{name: x * k for name, x in own.items() if name in FORCES})


def _actuators(robot: Robot, d: Description, key: VariedConstant, numbers: Any) -> Description:
    path, new = signal_path(robot.model, key.name), iter(numbers)
    laws = tuple(replace(law, **{name: next(new) for name in number_fields(law)}) for law in path.laws)
    return replace(d, terms=tuple(replace(t, laws=laws) if t == path else t for t in d.terms))


def _contact(robot: Robot, d: Description, key: VariedConstant, value: Any) -> Description:
    terms = (replace(t, **{CONTACT_FIELDS[key.what]: value}) if t.name == key.name else t for t in d.terms)  # type: ignore[type-var]
    return replace(d, terms=tuple(terms))


#: the edit of a description for each property that may vary
_EDITS = {
    "mass": _mass,
    "damping": _of_joint,
    "armature": _of_joint,
    "friction": _friction,
    "actuators": _actuators,
    **dict.fromkeys(CONTACT_FIELDS, _contact),
}
