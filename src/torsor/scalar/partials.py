"""Partial derivatives of the operations, one row per operation."""

from __future__ import annotations

from collections.abc import Callable

from torsor.scalar import ops as s
from torsor.scalar.scalar import Scalar

#: ∂y/∂(each operand), from the operands and y
PARTIALS: dict[str, Callable[..., tuple[Scalar, ...]]] = {
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
