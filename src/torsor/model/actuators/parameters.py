"""Checks of parameters: numbers are checked, symbols and recorded scalars are accepted unchecked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from torsor.errors import ArgumentError
from torsor.scalar import Scalar, is_constant, maximum, minimum

#: revolutions per minute in rad/s: 10_000 * RPM is a speed
RPM = 2 * math.pi / 60


def as_number(value: Any) -> Any:
    """A number of NumPy as a number of Python; other values unchanged."""
    return value.item() if getattr(value, "ndim", None) == 0 else value


def require(what: str, name: str, value: Any, unit: str, *, above: float | None = None, least: float = -math.inf) -> None:
    """Raise for a number that is not finite, not above ``above``, or below ``least``, and for arrays; symbols pass."""
    value = as_number(value)
    if value is None or isinstance(value, str) or hasattr(value, "ndim") or value.__class__ in (bool, complex, list, tuple):
        raise ArgumentError(f"{what}: {name} must be a number in {unit}, not {value!r}")
    if not is_constant(value):
        return
    if not math.isfinite(value):
        raise ArgumentError(f"{what}: {name} is {value} {unit}; it must be finite")
    if above is not None and value <= above:
        raise ArgumentError(f"{what}: {name} is {value:g} {unit}; it must be greater than {above:g}")
    if value < least:
        raise ArgumentError(f"{what}: {name} is {value:g} {unit}; it must be at least {least:g}")


def require_fields(thing: Any, units: Mapping[str, str], *, above: float | None = None, least: float = -math.inf) -> None:
    """:func:`require` of fields of an object, ``{name: unit}``."""
    for name, unit in units.items():
        require(type(thing).__name__, name, getattr(thing, name), unit, above=above, least=least)


def require_limit(what: str, name: str, value: Any, unit: str) -> None:
    """As :func:`require`, for a limit: greater than zero; +∞ means no limit."""
    if not is_unlimited(value):
        require(what, name, value, unit, above=0)


def is_unlimited(limit: Scalar) -> bool:
    """Whether a limit is +∞: then no comparison is recorded."""
    limit = as_number(limit)
    return is_constant(limit) and limit == math.inf


def clip(x: Scalar, lowest: Scalar, highest: Scalar) -> Scalar:
    """x in [lowest, highest], over any scalar; where the two cross, ``highest`` wins."""
    if not (is_constant(lowest) and lowest == -math.inf):
        x = maximum(x, lowest)
    return x if is_unlimited(highest) else minimum(x, highest)
