"""The numbers of constraints as inputs of their kernels: a target, a length or a normal is then a value, not another program.

A constraint class lists the fields that hold its numbers, ``NUMBERS``.  Floats in them become inputs.  Integers, 0 and ±1, are
structure and fold away, so constraints whose floats are in the same places have one program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import fields
from typing import Any, NamedTuple

from torsor.model.joints import JOINT_TYPES, JointType
from torsor.model.terms.constraint import Constraint
from torsor.model.terms.term import with_fields


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
    """A constraint with the fields of its numbers changed."""

    def changed(t: Constraint) -> dict[str, Any]:
        fields = {name: change(getattr(t, name)) for name in t.NUMBERS}
        return fields | {"row_names": t.labels()} if "joint_type" in fields else fields  # labels depend on the joint's axes

    return with_fields(c, changed)


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
        for field in fields(x):  # type: ignore[arg-type]  # torsor's joint types are dataclasses
            object.__setattr__(made, field.name, change(getattr(x, field.name)))  # past the checks, which need numbers
        return made
    return x
