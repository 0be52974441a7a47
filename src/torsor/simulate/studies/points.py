"""The points of a study: every combination of some lists, or a list of points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

import numpy as np

from torsor.errors import ArgumentError

Point = dict[str, Any]


def points_of(parameters: Mapping[str, Iterable[Any]] | Iterable[Mapping[str, Any]]) -> tuple[list[Point], tuple[int, ...]]:
    """(points, shape): for a mapping the grid, its last parameter fastest; for a list its points.

    >>> points_of({"mass": [1.0, 2.0], "kp": [10, 20, 30]})[1]
    (2, 3)
    """
    if isinstance(parameters, Mapping):
        axes = {_word(name): _axis(name, values) for name, values in parameters.items()}
        points = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
        return points, tuple(len(axis) for axis in axes.values())
    if isinstance(parameters, (str, bytes)) or not isinstance(parameters, Iterable):
        raise ArgumentError(f"parameters are a dict of lists or a list of dicts, not {type(parameters).__name__}")
    points = []
    for k, point in enumerate(parameters):
        if not isinstance(point, Mapping):
            raise ArgumentError(f"parameters[{k}] is a {type(point).__name__}; a point is a dict of names and values")
        points.append({_word(name): _as_python_number(value) for name, value in point.items()})
    return points, (len(points),)


def _axis(name: str, values: Any) -> list[Any]:
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable) or getattr(values, "ndim", 1) == 0:
        raise ArgumentError(f"parameters[{name!r}] must be a list of values, not {values!r}; for a single value give [value]")
    axis = [_as_python_number(value) for value in values]
    if not axis:
        raise ArgumentError(f"parameters[{name!r}] is empty; give at least one value")
    return axis


def _word(name: Any) -> str:
    if not isinstance(name, str) or not name.isidentifier():
        raise ArgumentError(f"a parameter name must be a Python identifier, not {name!r}")
    return name


def _as_python_number(value: Any) -> Any:
    """Python numbers in place of NumPy's, so that a point of linspace equals the same point typed by hand."""
    return value.item() if isinstance(value, np.generic) and value.dtype.kind in "biuf" else value
