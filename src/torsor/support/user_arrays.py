"""From an object that a user gives to an array, without losing part of it: a mask, labels or a gradient."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from torsor.errors import ArgumentError

#: an array of numbers, of any shape
Array: TypeAlias = np.ndarray


def as_array(
    name: str, value: Any, labels: Sequence[str] = (), dtype: Any = None, expected: str = "an array of numbers"
) -> np.ndarray:
    """``np.asarray(value, dtype)`` of an argument, or an ArgumentError that names it where NumPy would drop information.

    Masked entries are refused.  Labelled columns (a DataFrame, a Series, an Arrow table, an xarray.DataArray) are put in the
    order of ``labels``, the names of the argument's entries; other labels are refused.  Columns without labels, or numbered
    ones, go by position.

    >>> as_array("q", np.ma.array([1.0, 2.0], mask=[False, True]))
    Traceback (most recent call last):
    torsor.errors.ArgumentError: q is a masked array with 1 masked entry; fill it (q.filled(0.0)) or omit those states
    """
    refuse_mask(name, value)
    try:
        array = np.asarray(value)
        if dtype is not None:
            if array.dtype.kind in "cSUMmV":  # NumPy would drop imaginary parts, and read numbers out of text
                raise TypeError(f"{array.dtype} is not a type of real numbers")
            array = array.astype(dtype, copy=False)
    except Exception as error:  # errors of any library: a torch tensor that requires gradients raises RuntimeError
        raise ArgumentError(f"{name} must be {expected}; {error}") from None
    return in_order_of_labels(name, value, array, labels)


def in_order_of_labels(name: str, value: Any, array: np.ndarray, labels: Sequence[str]) -> np.ndarray:
    """The array of a value, with its last axis in the order of ``labels`` if the value has labels; others are refused."""
    words = _labels(value)
    return array if words is None else array[..., _order(name, words, labels)]


def float_type(dtype: Any) -> np.dtype:
    """float64 or float32, or an ArgumentError."""
    try:
        kind = np.dtype(dtype).name
    except TypeError:
        kind = ""
    if dtype is None or kind not in ("float64", "float32"):  # NumPy takes None for float64
        raise ArgumentError(f'dtype must be "float64" or "float32", not {dtype!r}')
    return np.dtype(kind)


def refuse_mask(name: str, value: Any) -> None:
    """An error for an array with masked entries, or a list with such arrays among its items."""
    masked = _masked_array()
    if masked is None:
        return
    for part in (value, *(value if isinstance(value, (list, tuple)) else ())):
        if isinstance(part, masked) and (n := int(np.ma.count_masked(part))):
            raise ArgumentError(
                f"{name} is a masked array with {n} masked {'entry' if n == 1 else 'entries'}; fill it ({name}.filled(0.0)) "
                "or omit those states"
            )


def is_masked_array(value: Any) -> bool:
    """Whether a value is a ``np.ma.MaskedArray``."""
    masked = _masked_array()
    return masked is not None and isinstance(value, masked)


def _masked_array() -> type | None:
    """``np.ma.MaskedArray``; None before ``numpy.ma`` is imported; NumPy imports it on first use."""
    return getattr(sys.modules.get("numpy.ma"), "MaskedArray", None)


def _labels(value: Any) -> list[str] | None:
    """The words that label the last axis of a table, series or labelled array; None if there are no labels."""
    if type(value) in (np.ndarray, list, tuple, float, int) or isinstance(value, (np.ndarray, np.generic)):
        return None
    found: Any = getattr(value, "column_names", None)  # an Arrow table
    if found is None:
        found = getattr(value, "columns", None)  # a DataFrame
    if found is None and hasattr(value, "dims") and hasattr(value, "coords"):  # an xarray.DataArray
        found = value.coords[value.dims[-1]].values if value.dims and value.dims[-1] in value.coords else None
    elif found is None and hasattr(value, "dtype"):  # a Series
        found = getattr(value, "index", None)
    if found is None or callable(found):
        return None
    words = list(found)
    return words if words and all(isinstance(word, str) for word in words) else None


def _order(name: str, words: list[str], labels: Sequence[str]) -> list[int]:
    """Position of each entry of the argument among the columns."""
    if sorted(words) == sorted(labels):
        return [words.index(label) for label in labels]
    expected = f"the names of its entries are {', '.join(labels)}" if labels else "its entries have no names"
    raise ArgumentError(
        f"{name} has columns labelled {', '.join(map(repr, words[:20]))}; {expected}. Give columns by these names, or an array "
        f"without labels ({name}.to_numpy()) in the order of the entries"
    )
