"""A model with exact numbers: fractions in place of floating-point numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from torsor.errors import ArgumentError
from torsor.model import Model
from torsor.model.joints.base import JointType
from torsor.model.terms.capabilities import refuse
from torsor.symbolic.library import exact, fraction, sympy_library


def model_of(robot: Any, caller: str, *capabilities: str) -> Model:
    """The model of a Robot, or the Model itself, with coordinates and terms that a function needs.

    >>> import torsor as ts
    >>> model_of(ts.robots.two_link(), "lagrange_of", "lagrange").nv
    2
    """
    model = getattr(robot, "model", robot)
    if not isinstance(model, Model):
        raise ArgumentError(f"robot must be a Robot or a Model, not {type(robot).__name__}")
    check_coordinates(model, caller)
    for capability in capabilities:
        refuse(model, capability)
    return model


def check_coordinates(model: Model, caller: str) -> None:
    """An error for joints with v ≠ q̇, which Lagrange's equations need, and for terms without symbolic equations."""
    refuse(model, "symbols")
    for i, _ in model.outward():
        joint = model.joint[i]
        if joint.nq != joint.nv or type(joint).integrate is not JointType.integrate:
            raise ArgumentError(
                f"{caller} needs v = dq/dt, and joint {model.joint_names[i]!r} ({joint.name}) has a velocity that is not the "
                "rate of its coordinates; torsor.algorithms.rnea supports symbols for any joint"
            )


class ExactModel:
    """The model with a symbol for each number; ``fractions`` puts the fractions into a result.

    Symbols keep the halves exact that the algorithms multiply by.  0, 1 and −1 stay numbers, so that structure folds away.

    >>> import torsor as ts
    >>> robot = ExactModel(ts.robots.acrobot().model)
    >>> robot.fractions(robot.model.inertia[1].m * 0.5)
    1/2
    >>> robot.fractions(robot.model.inertia[1].I.zz)
    333/1000
    """

    def __init__(self, model: Model):
        self._symbols: dict[float, Any] = {}
        changed = {f.name: map_floats(getattr(model, f.name), self._symbol) for f in fields(model)}
        self.model = replace(model, **changed)

    def _symbol(self, x: float) -> Any:
        if x in (0.0, 1.0, -1.0):
            return int(x)
        if x < 0:
            return -self._symbol(-x)
        return self._symbols.setdefault(x, sympy_library().Dummy(f"n{len(self._symbols)}", positive=True))

    def fractions(self, expression: Any) -> Any:
        """The expression with the model's numbers as fractions."""
        sp = sympy_library()
        return exact(expression).xreplace({s: sp.Rational(fraction(x)) for x, s in self._symbols.items()})


def map_floats(x: Any, f: Callable[[float], Any]) -> Any:
    """A structure of tuples, dataclasses and dicts with f applied to every float in it."""
    if isinstance(x, float):
        return f(x)
    if isinstance(x, tuple):
        parts = [map_floats(y, f) for y in x]
        return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
    if isinstance(x, Mapping):
        return {k: map_floats(y, f) for k, y in x.items()}
    if is_dataclass(x) and not isinstance(x, type):
        return replace(x, **{d.name: map_floats(getattr(x, d.name), f) for d in fields(x)})
    return x
