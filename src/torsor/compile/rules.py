"""Definition of each operation over NumPy arrays and over recorded scalars: one row per operation."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from torsor import scalar as s

#: the operation over arrays: used by the NumPy fallback, which is the reference for the machine code
NUMPY: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "abs": np.abs,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "exp": np.exp,
    "log": np.log,
    "asin": np.arcsin,
    "acos": np.arccos,
    "sign": np.sign,
    "min": np.minimum,
    "max": np.maximum,
    "atan2": np.arctan2,
    "lt": lambda a, b: np.less(a, b) * 1.0,
    "le": lambda a, b: np.less_equal(a, b) * 1.0,
    "eq": lambda a, b: np.equal(a, b) * 1.0,
    "where": lambda c, a, b: np.where(c != 0, a, b),
}

#: the operation over any scalar of torsor
RECORD: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "neg": operator.neg,
    "abs": s.absolute,
    "sqrt": s.sqrt,
    "sin": s.sin,
    "cos": s.cos,
    "tanh": s.tanh,
    "exp": s.exp,
    "log": s.log,
    "asin": s.asin,
    "acos": s.acos,
    "sign": s.sign,
    "min": s.minimum,
    "max": s.maximum,
    "atan2": s.atan2,
    "lt": operator.lt,
    "le": operator.le,
    "eq": lambda a, b: s.where(a <= b, s.where(b <= a, 1.0, 0.0), 0.0),
    "where": s.where,
}
