"""Definition of each operation over NumPy arrays and over recorded scalars."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from torsor import scalar as s
from torsor.scalar.expr import BINARY, UNARY
from torsor.scalar.ops import LIBRARIES

_COMPARISONS = {"lt": "less", "le": "less_equal", "eq": "equal"}
_ARITHMETIC = {"neg": "negative", "sub": "subtract", "mul": "multiply", "div": "divide"}
#: NumPy's names of operations that it calls otherwise
NUMPY_NAMES = {**_COMPARISONS, **_ARITHMETIC, **LIBRARIES["numpy"][1]}

#: the operation over arrays: used by the NumPy fallback, which is the reference for the machine code
NUMPY: dict[str, Callable[..., Any]] = {
    **{op: getattr(np, NUMPY_NAMES.get(op, op)) for op in (*UNARY, *BINARY) if op not in _COMPARISONS},
    **{op: lambda a, b, name=name: getattr(np, name)(a, b) * 1.0 for op, name in _COMPARISONS.items()},
    "where": lambda c, a, b: np.where(c != 0, a, b),
}

#: operators of Python, and functions of torsor.scalar, that have other names than the operation
_OPERATORS = {"add": "add", "sub": "sub", "mul": "mul", "div": "truediv", "neg": "neg", "lt": "lt", "le": "le"}
_FUNCTIONS = {"abs": "absolute", "min": "minimum", "max": "maximum"}

#: the operation over any scalar of torsor
RECORD: dict[str, Callable[..., Any]] = {
    **{op: getattr(s, _FUNCTIONS.get(op, op)) for op in (*UNARY, *BINARY, "where") if op not in {*_OPERATORS, "eq"}},
    **{op: getattr(operator, name) for op, name in _OPERATORS.items()},
    "eq": lambda a, b: s.where(a <= b, s.where(b <= a, 1.0, 0.0), 0.0),
}
