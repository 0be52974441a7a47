"""Scalar types: the number types that algorithms accept.

Every algorithm in torsor is written once over scalars that support ``+ - * /`` and the functions of
:mod:`torsor.scalar.ops`.  Floats give a result, :class:`Expr` records a program, SymPy symbols give a closed form.
May import support.
"""

from torsor.scalar.dual import Dual, rate, value
from torsor.scalar.expr import Expr, Graph
from torsor.scalar.ops import (
    absolute,
    acos,
    asin,
    atan2,
    cos,
    exp,
    log,
    maximum,
    minimum,
    note_inverse,
    note_solution,
    ray,
    sign,
    sin,
    sqrt,
    tanh,
    tidy,
    where,
)
from torsor.scalar.repeat import repeatable
from torsor.scalar.scalar import Scalar, Scalars, is_constant, is_zero

__all__ = [
    "Dual",
    "Expr",
    "Graph",
    "Scalar",
    "Scalars",
    "absolute",
    "acos",
    "asin",
    "atan2",
    "cos",
    "exp",
    "is_constant",
    "is_zero",
    "log",
    "maximum",
    "minimum",
    "note_inverse",
    "note_solution",
    "rate",
    "ray",
    "repeatable",
    "sign",
    "sin",
    "sqrt",
    "tanh",
    "tidy",
    "value",
    "where",
]
