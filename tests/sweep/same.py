"""Equality bit for bit, and of the same type."""

from __future__ import annotations

from typing import Any

import numpy as np


def same(x: Any, y: Any) -> bool:
    if type(x) is not type(y):
        return False
    if isinstance(x, np.ndarray | np.generic):
        return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()
    if isinstance(x, dict):
        return list(x) == list(y) and all(same(x[k], y[k]) for k in x)
    if isinstance(x, list | tuple):
        return len(x) == len(y) and all(map(same, x, y))
    return repr(x) == repr(y)  # −0.0 differs from 0.0, and nan equals nan


def same_outcomes(x: list, y: list) -> bool:
    return [o.point for o in x] == [o.point for o in y] and all(same(a.value, b.value) for a, b in zip(x, y, strict=True))
