"""What each operation means: over NumPy arrays, over recorded scalars, and differentiated.  One row an operation."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from torsor import scalar as s

#: the operation over arrays: the replay's meaning, and the oracle of the machine code
NUMPY: dict[str, Callable] = {
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
RECORD: dict[str, Callable] = {
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

#: ∂y/∂(each operand), from the operands and y; None where the derivative is zero
PARTIALS: dict[str, Callable[..., tuple[Any, ...]]] = {
    "add": lambda y, a, b: (1, 1),
    "sub": lambda y, a, b: (1, -1),
    "mul": lambda y, a, b: (b, a),
    "div": lambda y, a, b: (1 / b, -(y / b)),
    "neg": lambda y, a: (-1,),
    "abs": lambda y, a: (s.sign(a),),
    "sqrt": lambda y, a: (0.5 / y,),
    "sin": lambda y, a: (s.cos(a),),
    "cos": lambda y, a: (-s.sin(a),),
    "tanh": lambda y, a: (1 - y * y,),
    "exp": lambda y, a: (y,),
    "log": lambda y, a: (1 / a,),
    "asin": lambda y, a: (1 / s.sqrt(1 - a * a),),
    "acos": lambda y, a: (-1 / s.sqrt(1 - a * a),),
    "sign": lambda y, a: (0,),
    "min": lambda y, a, b: (s.where(a <= b, 1, 0), s.where(a <= b, 0, 1)),
    "max": lambda y, a, b: (s.where(b <= a, 1, 0), s.where(b <= a, 0, 1)),
    "atan2": lambda y, a, b: (b / (a * a + b * b), -(a / (a * a + b * b))),
    "lt": lambda y, a, b: (0, 0),
    "le": lambda y, a, b: (0, 0),
    "eq": lambda y, a, b: (0, 0),
    "where": lambda y, c, a, b: (0, s.where(c, 1, 0), s.where(c, 0, 1)),
}
