"""Robots of a rollout that are no longer finite: their steps and reasons, and computations over the rows before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from torsor.compile.scan import NotFinite
from torsor.errors import TorsorError, UnknownName

#: values of ``on_failure``
WAYS = ("raise", "mask")


class Failure(NamedTuple):
    """A robot, by its index in the batch, that is not finite after ``step`` (counted from 0), and why."""

    robot: int | tuple[int, ...]
    step: int
    why: str


class Failures(NamedTuple):
    """The step at which each robot failed, (...), −1 for none; and a function that explains them, each robot run once more."""

    steps: np.ndarray
    explained: Callable[[], tuple[Failure, ...]]


def is_mask(on_failure: Any) -> bool:
    """Whether robots that fail are masked."""
    if on_failure not in WAYS:
        raise UnknownName("on_failure", on_failure, WAYS)
    return bool(on_failure == "mask")


def failures_of(failed: np.ndarray, explain: Callable[[NotFinite], TorsorError]) -> tuple[Failure, ...]:
    """The robots with a step in ``failed`` (..., −1 for none), each explained."""
    found = []
    for row in np.argwhere(failed >= 0).tolist():
        at = tuple(row)
        step = int(failed[at])
        try:
            error = explain(NotFinite("", at, step, None))
        except TorsorError as raised:  # a singular mass matrix
            error = raised
        found.append(Failure(at[0] if len(at) == 1 else at, step, str(error)))
    return tuple(found)


def rows_before(failed: np.ndarray, following: np.ndarray) -> np.ndarray:
    """(..., T): whether a record is of a step that was computed; ``following`` (T,) is the step that follows each record."""
    return (failed[..., None] < 0) | (following < failed[..., None])


def robots(x: np.ndarray, own: int, chosen: np.ndarray) -> np.ndarray:
    """The rows of the chosen robots (or records) of an array with ``own`` last axes, whose leading axes broadcast."""
    return np.broadcast_to(x, (*chosen.shape, *x.shape[x.ndim - own :]))[chosen] if x.ndim > own else x


def among_all(rows: np.ndarray, chosen: np.ndarray, fill: float = np.nan) -> np.ndarray:
    """The rows of the chosen robots or records among all, ``fill`` elsewhere."""
    out = np.full((*chosen.shape, *rows.shape[1:]), fill, rows.dtype)
    out[chosen] = rows
    return out


def evaluate_before_failures(
    kernel: Callable[..., Any], arrays: Sequence[np.ndarray], own: Sequence[int], good: np.ndarray | None
) -> np.ndarray:
    """A kernel's result at the records, (..., T, n); with ``good`` (..., T), only at these, and NaN at the others."""
    if good is None:
        return np.asarray(kernel(*arrays))
    return among_all(kernel(*(robots(x, n, good) for x, n in zip(arrays, own, strict=True))), good)
