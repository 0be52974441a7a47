"""Terms, laws and other values of torsor as JSON text, and back: for the element that torsor adds to files of other formats.

An object is ``{"Spring": {"stiffness": 10.0}}``, its class and the fields that differ from their defaults; a tuple is a list.
Numbers are written so that they are read back as the same doubles.  A user's function is written as the operations that it
records.  Files may be untrusted: classes and operations are those of the tables here, fields must have the annotated types,
and nothing is ever executed.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from torsor.compile.recorded_function import RecordedFunction
from torsor.compile.rules import RECORD
from torsor.model import actuators
from torsor.model.beams import Beam
from torsor.model.contact.grids import Grid
from torsor.model.contact.shapes import Shape
from torsor.model.contact.surfaces import Box, Height, Plane, Rounded
from torsor.model.description import Joint, Loop, Mimic
from torsor.model.forces import Buoyancy, Drag, GravityCompensation
from torsor.model.friction import LAWS, Friction, LuGre
from torsor.model.joints import JOINT_TYPES, FunctionJoint
from torsor.model.named_configurations import Configuration
from torsor.model.reversal import ReversedJoint
from torsor.model.rotor import Rotor
from torsor.model.sensor import Sensor
from torsor.model.terms import (
    base_motion,
    beams,
    constraint,
    contacts,
    coordinates,
    joint_drive,
    joint_losses,
    loop,
    points,
    rolling,
    signal_path,
    springs,
    stops,
    tendons,
)
from torsor.model.terms import fields as force_fields
from torsor.scalar import Scalar
from torsor.spatial import Inertia, Mat, Sym, Transform, Vec

#: terms that files may contain
TERMS = (
    base_motion.BaseMotion, beams.BeamLink, constraint.Settling, contacts.Contacts, coordinates.Coupled, coordinates.Prescribed,
    force_fields.ForceField, joint_drive.JointDrive, joint_losses.Damping, loop.JointConstraint, points.Distance,
    points.PointAlong, rolling.Rolling, signal_path.SignalPath, springs.JointSpring, stops.Stops, tendons.FixedTendon,
    tendons.SpringBetween,
)  # fmt: skip
_LAWS = (
    *LAWS.values(), actuators.Gain, actuators.Lag, actuators.Latency, actuators.Limit, actuators.PID, actuators.PositionServo,
    actuators.RateLimit, actuators.VelocityServo, actuators.Drive, actuators.Gearbox, actuators.Motor, actuators.Thermal,
    springs.Spring, springs.SpringLaw, Beam, Buoyancy, Drag, GravityCompensation, RecordedFunction,
)  # fmt: skip
_PARTS = (
    Box, Configuration, Grid, Height, Inertia, Joint, Loop, Mat, Mimic, Plane, ReversedJoint, Rotor, Rounded, Sensor, Shape,
    Sym, Transform, Vec,
)  # fmt: skip
#: every class that files may name
CLASSES: dict[str, type] = {c.__name__: c for c in (*TERMS, *_LAWS, *_PARTS, *JOINT_TYPES.values()) if c is not FunctionJoint}
#: classes with limits, which may be infinite
UNLIMITED = (actuators.Limit, actuators.Motor, actuators.PID, actuators.Thermal, Joint)
#: larger whole numbers are refused: no count or seed needs them
LARGEST_INTEGER = 2**63
#: fields that are functions: the number of their arguments, and of their results where it is fixed
FUNCTIONS: dict[type, dict[str, tuple[int, int | None]]] = {
    actuators.Motor: {"friction": (1, 1)},
    base_motion.BaseMotion: {"pose": (1, None)},
    coordinates.Prescribed: {"motion": (1, None)},
    force_fields.ForceField: {"law": (7, None)},
    Height: {"law": (2, 1)},
    springs.SpringLaw: {"law": (2, 1), "inverse": (1, 1), "stored": (1, 1)},
}
#: a friction law of a joint
FrictionLaw = Friction | LuGre
#: types of fields that are annotated by Any, or by names that their modules import for annotations alone
_HINTS: dict[type, dict[str, Any]] = {
    Joint: {"laws": tuple[FrictionLaw | None, ...], "actuator": tuple[actuators.ActuatorLaw, ...]},
    tendons.FixedTendon: {"joints": tuple[str, ...]},
}


class CannotBeSaved(Exception):
    """A value contains code of the user, or symbols: the reason."""


# -- writing -------------------------------------------------------------------------------------------------------------


def to_json(x: Any) -> Any:
    """A value as objects of JSON; CannotBeSaved names what has no place in a file."""
    if isinstance(x, np.generic):
        x = x.item()
    if x is None or isinstance(x, (bool, int, str)):
        return x
    if isinstance(x, float) and not math.isnan(x):
        return float(x)
    name = type(x).__name__
    if CLASSES.get(name) is type(x):
        if isinstance(x, tuple):
            return {name: [to_json(item) for item in x]}
        return {name: {f.name: to_json(getattr(x, f.name)) for f in _fields(x)}}
    if isinstance(x, (tuple, list)):
        return [to_json(item) for item in x]
    if isinstance(x, np.ndarray) and x.dtype == float:
        return x.tolist()
    raise CannotBeSaved(f"{getattr(x, '__qualname__', name)} is not torsor's own, so that a file cannot contain it")


def _fields(x: Any) -> list[Field[Any]]:
    """The fields that an object is made from, without those that have their defaults."""
    return [f for f in fields(x) if f.init and not _is_default(x, f)]


def _is_default(x: Any, field: Field[Any]) -> bool:
    value, default = getattr(x, field.name), field.default
    if default is MISSING:
        return field.default_factory is not MISSING and value == field.default_factory()
    return type(value) is type(default) and bool(np.all(value == default)) and repr(value) == repr(default)


# -- reading -------------------------------------------------------------------------------------------------------------


def from_json(x: Any, hint: Any, what: str) -> Any:
    """The value of an annotated type that objects of JSON describe; ValueError with its place, ``what``, for others."""
    made = _make(x, what)
    if not _fits(made, hint):
        raise ValueError(f"{what} must be {_word(hint)}, not {_short(x)}")
    return made


def parse_json(text: str) -> Any:
    """The objects of a JSON text; ValueError for others, and for names that are given twice."""
    try:
        return json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_constant)
    except RecursionError:
        raise ValueError("its lists and objects are too deep") from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError(f"a name is given twice: {_short([name for name, _ in pairs])}")
    return dict(pairs)


def _constant(word: str) -> float:
    if word == "NaN":
        raise ValueError("NaN is not a number")
    return float(word)


def _make(x: Any, what: str) -> Any:
    if isinstance(x, list):
        return tuple([_make(item, f"{what}[{k}]") for k, item in enumerate(x)])
    if not isinstance(x, dict):
        if isinstance(x, int) and abs(x) > LARGEST_INTEGER:
            raise ValueError(f"{what} is too large")
        return x
    kind = CLASSES.get(next(iter(x))) if len(x) == 1 else None
    if kind is None:
        raise ValueError(f"{what} must be an object with the name of one of torsor's classes, not {_short(x)}")
    what, (given,), hints = f"{what}: {kind.__name__}", x.values(), _hints(kind)
    if isinstance(given, list) and issubclass(kind, tuple) and len(given) == len(hints):
        given = dict(zip(hints, given, strict=True))
    if not isinstance(given, dict) or not given.keys() <= hints.keys():
        raise ValueError(f"{what} has the fields {', '.join(hints)}, not {_short(given)}")
    made = {name: from_json(value, hints[name], f"{what}.{name}") for name, value in given.items()}
    if kind not in UNLIMITED and _has_infinity(tuple(made.values())):
        raise ValueError(f"{what}: its numbers must be finite")
    try:
        for name, (inputs, outputs) in FUNCTIONS.get(kind, {}).items():
            if isinstance(function := made.get(name), RecordedFunction):
                made[name] = RecordedFunction.of(function.name, partial(_run, function), inputs, outputs)
        return kind(**made)
    except Exception as error:  # the checks of many classes, each with errors of its own
        raise ValueError(f"{what}: {error}") from error


def _run(function: RecordedFunction, *scalars: Any) -> list[Any]:
    """The results of a function of a file.  Constants must not grow: squares of squares of integers would fill the memory."""
    values: list[Any] = []
    for op, args in function.code:
        if op == "const":
            (x,) = args
            values.append(x if x in (-1, 0, 1) else float(x))
        else:
            values.append(scalars[args[0]] if op == "input" else RECORD[op](*(values[k] for k in args)))
        if isinstance(values[-1], int) and abs(values[-1]) > LARGEST_INTEGER:
            raise ValueError("a constant of the function is too large")
    return [values[k] for k in function.results]


@cache
def _hints(kind: type) -> dict[str, Any]:
    """The types of the fields that a class is made from."""
    hints = get_type_hints(kind, localns={"Friction": Friction}) | _HINTS.get(kind, {})
    names = [f.name for f in fields(kind) if f.init] if is_dataclass(kind) else kind._fields  # type: ignore[attr-defined]
    return {name: hints[name] for name in names}


def _fits(x: Any, hint: Any) -> bool:
    """Whether a value has an annotated type; a Scalar is a number here, a function a recorded one."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(x, one) for one in inner)
    if origin is tuple and inner[-1] is not ...:
        return isinstance(x, tuple) and len(x) == len(inner) and all(map(_fits, x, inner))
    if origin in (tuple, Sequence):
        return isinstance(x, tuple) and all(_fits(item, inner[0]) for item in x)
    if hint in (float, Scalar):
        return isinstance(x, (int, float)) and not isinstance(x, bool)
    if hint is Any or hint is None or hint is NoneType:
        return hint is Any or x is None
    return isinstance(x, RecordedFunction if origin is Callable else hint) and (hint is not int or not isinstance(x, bool))


def _has_infinity(x: Any) -> bool:
    return any(map(_has_infinity, x)) if type(x) is tuple else isinstance(x, float) and math.isinf(x)


def _short(x: Any) -> str:
    text = json.dumps(x)
    return text if len(text) < 80 else f"{text[:77]}..."


def _word(hint: Any) -> str:
    """A type in an error message, without the modules of its classes."""
    return hint.__name__ if isinstance(hint, type) and not get_args(hint) else re.sub(r"[\w.]+\.(?=\w)", "", str(hint))
