"""Functions that users give to a simulation: arguments of their calls, and checks of their results.

Each call gets new arrays, so a function may write into them or keep them; a result is checked and copied, so a
function may return the same array each time.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from torsor.errors import ArgumentError
from torsor.support.user_arrays import Array, in_order_of_labels, is_masked_array

#: (t, q, v) → an array of a fixed size
Law = Callable[[float, Array, Array], Array]
#: the type of arrays of the machine's floats, one object for all of them
FLOAT64 = np.dtype(np.float64)


def guarded_law(function: Callable[..., Any], name: str, size: int, meaning: str, labels: Sequence[str] = ()) -> Law:
    """``function(t, q, v)`` of copies of q and v, its result a new array ``(size,)``; ``name`` is that used in errors.

    ``law.of_own_arrays`` is the same without copies of q and v, for a caller that does not use them afterwards.
    """
    shape = (size,)

    def of_own_arrays(t: float, q: Array, v: Array) -> Array:
        value = function(t, q, v)
        if value.__class__ is ndarray and value.dtype is FLOAT64 and value.shape == shape:  # without the call of as_vector
            found: Array = value.copy()
            return found
        return as_vector(value, name, size, meaning, labels=labels)

    def law(t: float, q: Array, v: Array) -> Array:
        return of_own_arrays(t, q.copy(), v.copy())

    law.of_own_arrays = of_own_arrays  # type: ignore[attr-defined]
    return law


def guarded_signal(function: Callable[..., Any], name: str) -> Callable[[float, Array, Array], float]:
    """``function(t, q, v)`` of copies of q and v, its result one finite number."""

    def signal(t: float, q: Array, v: Array) -> float:
        x = function(t, q.copy(), v.copy())
        if x.__class__ is not float and x.__class__ is not np.float64:
            x = _as_number(x, name)
        if not math.isfinite(x):
            raise ArgumentError(f"{name} returned {x} at t = {t:.6g} s; it must return a finite number")
        return float(x)

    return signal


def as_vector(
    value: Any,
    name: str,
    size: int,
    meaning: str,
    verbs: tuple[str, str] = ("returned", "return"),
    labels: Sequence[str] = (),
) -> Array:
    """A new float array ``(size,)`` of a callback's result, or an error that names the callback.

    A result with labels, such as a pandas Series, is put in the order of ``labels``, the names of the entries.
    """
    if value.__class__ is np.ndarray and value.shape == (size,) and value.dtype == np.float64:
        return value.copy()  # in C order, whatever the strides were
    try:
        array = np.asarray(value)
    except Exception:  # errors of any library: rows of different lengths, a torch tensor that requires gradients
        array = np.empty(0, object)
    if array.shape != (size,) or array.dtype.kind not in "fiu" or is_masked_array(value):
        given, must = verbs
        raise ArgumentError(f"{name} {given} {_describe(value)}; it must {must} {meaning}: real numbers, shape ({size},)")
    return in_order_of_labels(f"the result of {name}", value, array, labels).astype(float)


def _as_number(value: Any, name: str) -> float:
    try:
        kind = np.asarray(value).dtype.kind if np.ndim(value) == 0 else ""
    except Exception:  # as in as_vector
        kind = ""
    if kind not in ("f", "i", "u"):
        raise ArgumentError(
            f"{name} returned {_describe(value)}; it must return one real number that changes its sign at the event, such as "
            "q[0] - 1.0"
        )
    return float(value)


def _describe(value: Any) -> str:
    """A value as an error message shows it: shape and type of arrays, else the value itself, shortened."""
    if isinstance(value, np.ndarray) and value.ndim:
        mask = "a masked array" if is_masked_array(value) else "an array"
        return f"{mask} of {value.dtype} with shape {value.shape}"
    return f"{reprlib.repr(value)} ({type(value).__name__})"
