"""Domain randomisation: constants of the model as inputs of the kernel, so that new values need no compilation.

Dynamics is linear in the inertias: the difference of a link's inertia from its nominal value is added to its body; all other
constants stay folded into the code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from torsor.compile import Argument
from torsor.errors import ArgumentError, UnknownName, require_known
from torsor.kernels.axes import Spread, with_axes
from torsor.model import Model
from torsor.model.actuators.control_laws import ActuatorLaw, laws_of
from torsor.model.friction.law import Levels
from torsor.model.joints.follower import Follower
from torsor.model.terms.contacts import Contacts
from torsor.model.terms.joint_losses import Damping
from torsor.model.terms.signal_path import SignalPath
from torsor.spatial import Inertia, Sym

if TYPE_CHECKING:
    from torsor.robot import Robot


class VariedConstant(NamedTuple):
    """A constant of the model that is an input: the property, and its link or joint; ``inertia`` is the link's nominal one."""

    what: str
    name: str
    inertia: Inertia | None = None

    @property
    def label(self) -> str:
        """The name of the input in error messages."""
        return f"vary[{self.what!r}][{self.name!r}]"


class ScaledLaw(NamedTuple):
    """k × a friction law."""

    law: Any
    k: Any

    def steady(self, v: Any, load: Any = 0) -> Any:
        return self.law.steady(v, load) * self.k

    def force(self, *state: Any, load: Any = 0) -> Any:
        return self.law.force(*state, load=load) * self.k

    def breakaway(self, load: Any = 0) -> Levels:
        return Levels(*(x * self.k for x in self.law.breakaway(load)))

    def kinetic(self, v: Any, load: Any = 0) -> Levels:
        return Levels(*(x * self.k for x in self.law.kinetic(v, load)))

    def drag(self, v: Any) -> Any:
        return self.law.drag(v) * self.k

    def __getattr__(self, name: str) -> Any:
        """Bristles are the same ones, with k × the force."""
        return getattr(self.law, name)


def _mass(model: Model, key: VariedConstant, factor: Any) -> Model:
    """The link's mass and inertia × factor, with the same centre of mass."""
    (body, X), row = model.frame(key.name), model.links[key.name]
    k = factor - 1
    G = X.T @ (key.inertia or Inertia.zero())
    more = Inertia(G.m * k, G.h * k, Sym(*(x * k for x in G.I)))
    links = {**model.links, key.name: row._replace(inertia=row.inertia + more)}
    return replace(model, inertia=_with(model.inertia, body, model.inertia[body] + more), links=links)


def _of_joint(model: Model, key: VariedConstant, value: Any) -> Model:
    """Viscous friction [N·m·s/rad, N·s/m], or reflected rotor inertia [kg·m²; kg for prismatic joints]."""
    changed: Any = {key.what: _with(getattr(model, key.what), model.joint_names.index(key.name), _row(value))}
    return replace(model, **changed)


def _friction(model: Model, key: VariedConstant, factor: Any) -> Model:
    """The joint's friction law × factor."""
    i = model.joint_names.index(key.name)
    laws = tuple(None if law is None else ScaledLaw(law, k) for law, k in zip(model.friction[i], _row(factor), strict=True))
    return replace(model, friction=_with(model.friction, i, laws))


def _actuators(model: Model, key: VariedConstant, numbers: Any) -> Model:
    """Other numbers in the laws of the joint's actuator."""
    new = iter(numbers)
    laws = tuple(_with_numbers(law, {f: next(new) for f in number_fields(law)}) for law in signal_path(model, key.name).laws)
    terms = (replace(t, laws=laws) if t is signal_path(model, key.name) else t for t in model.terms)
    return model.with_same_mass_matrix(terms=tuple(terms))


def signal_path(model: Model, joint: str) -> SignalPath:
    found = [t for t in model.terms if isinstance(t, SignalPath) and t.joint == joint]
    if not found:
        raise ArgumentError(f"vary['actuators']: joint {joint!r} has no actuator; robot.with_actuators gives it one")
    return found[0]


def number_fields(law: ActuatorLaw) -> list[str]:
    """The fields that may differ between robots: a delay is a number of steps, the same for all."""
    return [] if law.depends_on_step else [f for f, x in vars(law).items() if not isinstance(x, bool)]


def _with_numbers(law: ActuatorLaw, numbers: Mapping[str, Any]) -> ActuatorLaw:
    """The law with scalars or arrays in its fields, past the checks of one number."""
    made = copy(law)
    for name, x in numbers.items():
        object.__setattr__(made, name, x)
    return made


def _actuator_numbers(robot: Robot, name: str, given: Any) -> Spread:
    """The numbers of the laws, one row for all robots, or per robot; laws are those of the robot's actuator."""
    laws, own, label = laws_of(given), signal_path(robot.model, name).laws, f"vary['actuators'][{name!r}]"
    fixed = [[type(law), *(x for f, x in vars(law).items() if f not in number_fields(law))] for law in (*laws, *own)]
    if len(laws) != len(own) or fixed[: len(own)] != fixed[len(own) :]:
        kinds = ", ".join(type(law).__name__ for law in own)
        raise ArgumentError(f"{label} must be the laws of the robot's actuator with other numbers: {kinds}")
    by_law = [{f: _check_number(f"{label}: {type(law).__name__}: {f}", law, f) for f in number_fields(law)} for law in laws]
    rows = [x for found in by_law for x in found.values()]
    try:
        table = np.stack(np.broadcast_arrays(*rows), axis=-1) if rows else np.zeros(0)
    except ValueError:
        shapes = ", ".join(dict.fromkeys(str(np.shape(x)) for x in rows if np.ndim(x)))
        raise ArgumentError(f"the actuators have per_robot values of different shapes: {shapes}") from None
    if any(np.any(found["lower"] > found["upper"]) for found in by_law if "lower" in found):
        raise ArgumentError(f"{label}: Limit: lower is above upper for some of the robots")
    return Spread(np.clip(table, -LARGEST, LARGEST), table.ndim > 1)


def _check_number(label: str, law: ActuatorLaw, name: str) -> np.ndarray:
    """The values of a field: a number, or one per robot, the smallest and largest of which the law checks."""
    x = with_axes(label, getattr(law, name))
    if x.steps or (x.robots and x.values.ndim != 1) or (not x.robots and x.values.ndim):
        raise ArgumentError(f"{label} must be one number, or per_robot(values) with one number per robot")
    for extreme in (x.values.min(), x.values.max()) if x.robots and x.values.size else ():
        replace(law, **{name: float(extreme)})
    return x.values


def _row(x: Any) -> tuple[Any, ...]:
    """One scalar per degree of freedom of a joint."""
    return tuple(x) if isinstance(x, (list, tuple)) else (x,)


#: fields of contacts that may vary
CONTACT_FIELDS = {f"contact {word}": field for word, field in {
    "friction": "mu", "restitution": "restitution", "stiffness": "stiffness", "damping": "damping", "height": "rise"
}.items()}  # fmt: skip


def _contact(model: Model, key: VariedConstant, value: Any) -> Model:
    """Another number in a term of contacts."""
    terms = (replace(t, **{CONTACT_FIELDS[key.what]: value}) if t.name == key.name else t for t in model.terms)  # type: ignore[type-var]
    return model.with_same_mass_matrix(terms=tuple(terms))


class Variation(NamedTuple):
    """One row of the table: "link", "joint" or "contact", and the function that changes the model."""

    of: str
    changed: Callable[[Model, VariedConstant, Any], Model]
    least: float = 0.0
    most: float = math.inf


#: stands for a limit of ±∞ in a kernel, whose inputs are finite: no finite number is clipped by it
LARGEST = float(np.finfo(float).max)
#: properties that may differ between robots: ``mass`` and ``friction`` are factors, ``damping`` and ``armature`` values, and
#: ``actuators`` the joint's laws with other numbers; those of contacts are values, ``height`` raises their surfaces [m]
VARIATIONS: dict[str, Variation] = {
    "mass": Variation("link", _mass),
    "damping": Variation("joint", _of_joint),
    "armature": Variation("joint", _of_joint),
    "friction": Variation("joint", _friction),
    "actuators": Variation("joint", _actuators),
    **dict.fromkeys(CONTACT_FIELDS, Variation("contact", _contact)),
    "contact restitution": Variation("contact", _contact, most=1.0),
    "contact height": Variation("contact", _contact, least=-math.inf),
}


def variations(robot: Robot, vary: Mapping[str, Mapping[str, Any]]) -> dict[VariedConstant, tuple[Argument, Spread]]:
    """The inputs that ``vary`` selects, checked: ``{"mass": {"link6": per_robot(factors)}}``."""
    if not isinstance(vary, Mapping):
        raise ArgumentError(f'vary must be a dict such as {{"mass": {{link: factor}}}}, not {type(vary).__name__}')
    out = {}
    for what, rows in vary.items():
        if what not in VARIATIONS:
            raise UnknownName("property that may vary", what, VARIATIONS)
        if not isinstance(rows, Mapping):
            of = VARIATIONS[what].of
            raise ArgumentError(f"vary[{what!r}] must be a dict from {of}s to values, not {type(rows).__name__}")
        for name, values in rows.items():
            if what == "actuators":
                numbers, key = _actuator_numbers(robot, name, values), VariedConstant(what, name)
                out[key] = Argument(key.label, numbers.values.shape[-1:]), numbers
                continue
            shape = _shape(robot, what, name)
            key = VariedConstant(what, name, robot.description.link(name).inertia if what == "mass" else None)
            out[key] = Argument(key.label, shape), _check_values(key.label, values, VARIATIONS[what])
    return out


def vary_model(model: Model, changes: Iterable[tuple[VariedConstant, Any]]) -> Model:
    """The model with scalars of any kind in place of these constants."""
    for key, scalars in changes:
        model = VARIATIONS[key.what].changed(model, key, scalars)
    return model


def _shape(robot: Robot, what: str, name: str) -> tuple[int, ...]:
    """The shape of one robot's value; the link or joint must move, and the property have an effect."""
    model, label = robot.model, f"{VariedConstant(what, name).label}: {VARIATIONS[what].of} {name!r}"
    if VARIATIONS[what].of == "contact":
        return _shape_of_contact(robot, what, name)
    if VARIATIONS[what].of == "link":
        robot.link(name)
        if model.frame(name).body == 0:
            raise ArgumentError(f"{label} does not move, so its {what} has no effect")
        return ()
    joint = robot.joint(name)
    if what == "friction" and not any(model.friction[joint.index]):
        raise ArgumentError(f"{label} has no friction law; robot.with_friction gives it one")
    if what == "damping" and not any(t.joints is None or name in t.joints for t in model.terms if isinstance(t, Damping)):
        raise ArgumentError(f"{label} has no damping; robot.with_damping(True) has that of all joints")
    if what == "armature" and (motor := f"{name}/motor") in model.joint_names:
        raise ArgumentError(f"{label} has its motor behind a spring; the armature is that of {motor!r}")
    if isinstance(model.joint[joint.index], Follower):
        raise ArgumentError(f"{label} follows by a polynomial and cannot have {what}")
    freedoms = model.joint[joint.index].nv
    return () if freedoms == 1 else (freedoms,)


def _shape_of_contact(robot: Robot, what: str, name: str) -> tuple[int, ...]:
    """One number of a term of contacts, which must have an effect."""
    terms = {t.name: t for t in robot.model.terms if isinstance(t, Contacts)}
    require_known(f"contact in vary[{what!r}]", name, terms)
    if what in ("contact stiffness", "contact damping") and getattr(terms[name], CONTACT_FIELDS[what]) is None:
        word = what.removeprefix("contact ")
        raise ArgumentError(
            f"{VariedConstant(what, name).label}: {name!r} has no {word}; robot.with_contacts(..., {word}=) gives it"
        )
    return ()


def _check_values(name: str, values: Any, row: Variation) -> Spread:
    given = with_axes(name, values)
    if given.steps:
        raise ArgumentError(f"{name} cannot change from step to step; per_robot(values) gives each robot its own")
    if (given.values < row.least).any():
        raise ArgumentError(f"{name} must not be negative; its smallest value is {given.values.min():g}")
    if (given.values > row.most).any():
        raise ArgumentError(f"{name} must be at most {row.most:g}; its largest value is {given.values.max():g}")
    return given


def _with(rows: tuple, i: int, row: Any) -> tuple:
    return (*rows[:i], row, *rows[i + 1 :])
