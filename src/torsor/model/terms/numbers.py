"""The numbers of constraints as inputs of their kernels: a target, a length or a normal is then a value, not another program.

A constraint class lists the fields that hold its numbers, ``NUMBERS``.  Floats in them become inputs.  Integers, 0 and ±1, are
structure and fold away, so constraints whose floats are in the same places have one program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import fields as fields_of
from dataclasses import replace
from typing import Any, NamedTuple

from torsor.model.joints import JOINT_TYPES, JointType
from torsor.model.terms.constraint import Constraint


class Slot(NamedTuple):
    """The place of a number."""

    place: int

    def __format__(self, spec: str) -> str:
        return "·"


def take_numbers(constraints: Sequence[Constraint]) -> tuple[tuple[Constraint, ...], tuple[float, ...]]:
    """The constraints with slots in place of their numbers, and the numbers."""
    found: list[float] = []
    return tuple(_of_constraint(c, lambda x: _take(x, found)) for c in constraints), tuple(found)


def put_numbers(constraints: Sequence[Constraint], numbers: Sequence[Any]) -> tuple[Constraint, ...]:
    """The constraints with numbers, over any scalar, in their slots."""
    return tuple(_of_constraint(c, lambda x: _put(x, numbers)) for c in constraints)


def _of_constraint(c: Constraint, change: Any) -> Constraint:
    """A constraint with the fields of its numbers changed; a constraint that it contains is changed likewise."""
    fields = {name: change(getattr(c, name)) for name in c.NUMBERS}
    if "joint_type" in fields:  # the labels of a joint's rows depend on its axes
        fields["row_names"] = c.labels()
    inner = getattr(c, "constraint", None)
    if isinstance(inner, Constraint):
        fields["constraint"] = _of_constraint(inner, change)
    return replace(c, **fields) if fields else c  # type: ignore[type-var]  # those with numbers are dataclasses


def _take(x: Any, found: list[float]) -> Any:
    if type(x) is float:
        found.append(x)
        return Slot(len(found) - 1)
    return _inside(x, lambda item: _take(item, found))


def _put(x: Any, numbers: Sequence[Any]) -> Any:
    if isinstance(x, Slot):
        return numbers[x.place]
    return _inside(x, lambda item: _put(item, numbers))


def _inside(x: Any, change: Callable[[Any], Any]) -> Any:
    """An object with its parts changed: a vector, matrix, transform or plain tuple, or a joint type of torsor."""
    if isinstance(x, tuple):
        items = map(change, x)
        return type(x)(*items) if hasattr(x, "_fields") else tuple(items)
    if isinstance(x, JointType) and type(x) in JOINT_TYPES.values():
        made = copy(x)
        for field in fields_of(x):  # type: ignore[arg-type]  # torsor's joint types are dataclasses
            object.__setattr__(made, field.name, change(getattr(x, field.name)))  # past the checks, which need numbers
        return made
    return x
