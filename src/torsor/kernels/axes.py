"""Leading axes of a parameter of a rollout: one value for all robots, one per robot, one per step."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError
from torsor.support.user_arrays import as_array


class Spread(NamedTuple):
    """Values and their leading axes: robots, steps, both or none; a tensor is converted by :func:`with_axes`."""

    values: Any
    robots: bool = False
    steps: bool = False

    def shape(self, axes: int = 1) -> tuple[int, ...]:
        """The shape of one value, given the number of axes of the robots."""
        return self.values.shape[axes * self.robots + self.steps :]


def per_robot(values: ArrayLike) -> Spread:
    """``(N, ...)``: one value per robot of a rollout.  If the start has more leading axes, the values have them too.

    >>> per_robot([0.9, 1.0, 1.1]).shape()
    ()
    """
    return _spread(values, robots=True, steps=False)


def per_step(values: ArrayLike) -> Spread:
    """``(T, ...)``: one value per step, the same for all robots.

    >>> per_step([[0.0, 0.1], [0.1, 0.2], [0.2, 0.3]]).shape()
    (2,)
    """
    return _spread(values, robots=False, steps=True)


def per_robot_and_step(values: ArrayLike) -> Spread:
    """``(N, T, ...)``: one value per robot and step."""
    return _spread(values, robots=True, steps=True)


def with_axes(name: str, values: Any) -> Spread:
    """A parameter as users give it: an array is one value for all, unless it is wrapped by one of the functions above."""
    if isinstance(values, Spread):
        return values if isinstance(values.values, np.ndarray) else _spread_numbers(name, *values)
    try:
        return _spread_numbers("values", values, robots=False, steps=False)
    except (ArgumentError, TypeError, ValueError):
        raise ArgumentError(f"{name} must be a number or an array of real numbers, not {type(values).__name__}") from None


def _spread(values: Any, robots: bool, steps: bool) -> Spread:
    if hasattr(values, "requires_grad"):  # a tensor stays one: torch_rollout computes its gradient
        return Spread(values, robots, steps)
    return _spread_numbers("values", values, robots, steps)


def _spread_numbers(name: str, values: ArrayLike, robots: bool, steps: bool) -> Spread:
    array = as_array(name, values)
    if array.dtype.kind not in "fiu":
        raise ArgumentError(f"{name} must be real numbers, not {array.dtype}")
    if array.ndim < robots + steps:
        axes = " and ".join(word for word, has in (("robots", robots), ("steps", steps)) if has)
        raise ArgumentError(f"{name} of shape {array.shape} must have an axis of {axes}")
    return Spread(array.astype(float), robots, steps)
