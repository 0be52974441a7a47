"""Functions of a scalar, for every scalar type.

A Python number is computed at once; an :class:`Expr` records; a :class:`Dual` carries its rate along; NumPy, SymPy, mpmath,
JAX, PyTorch and CasADi scalars go to their own library (:data:`LIBRARIES` is the table: one row per library).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from torsor.scalar.dual import Dual, rate, value
from torsor.scalar.expr import BINARY, UNARY, Expr, Graph
from torsor.scalar.scalar import Scalar, Scalars, is_constant

#: module of each library's functions, and the names of those that are called differently there
LIBRARIES: dict[str, tuple[str, dict[str, str]]] = {
    "numpy": ("numpy", {"asin": "arcsin", "acos": "arccos", "atan2": "arctan2", "min": "minimum", "max": "maximum"}),
    "sympy": ("sympy", {"abs": "Abs", "min": "Min", "max": "Max"}),
    "mpmath": ("mpmath", {"abs": "fabs"}),
    "jax": ("jax.numpy", {"asin": "arcsin", "acos": "arccos", "atan2": "arctan2", "min": "minimum", "max": "maximum"}),
    "jaxlib": ("jax.numpy", {"asin": "arcsin", "acos": "arccos", "atan2": "arctan2", "min": "minimum", "max": "maximum"}),
    "torch": ("torch", {"min": "minimum", "max": "maximum"}),
    "casadi": ("casadi", {"abs": "fabs", "min": "fmin", "max": "fmax"}),
}


def _library(x: Any) -> tuple[Any, dict[str, str]]:
    root = type(x).__module__.partition(".")[0]
    row = LIBRARIES.get(root)
    if row is None:
        raise TypeError(
            f"{type(x).__module__}.{type(x).__qualname__} is not a supported scalar type; "
            f"numbers, Expr and the scalars of {', '.join(LIBRARIES)} are"
        )
    return import_module(row[0]), row[1]


def _unary(op: str, x: Any) -> Scalar:
    if x.__class__ is Expr:
        return x.function(op)
    if isinstance(x, (int, float)):
        return UNARY[op](x)
    if x.__class__ is Dual:
        return _chain(op, _unary(op, x.value), x)
    library, names = _library(x)
    found: Scalar = getattr(library, names.get(op, op))(x)
    return found


def _binary(op: str, a: Any, b: Any) -> Scalar:
    if a.__class__ is Dual or b.__class__ is Dual:
        return _chain(op, _binary(op, value(a), value(b)), a, b)
    if a.__class__ is Expr:
        return a.graph.apply(op, a, b)
    if b.__class__ is Expr:
        return b.graph.apply(op, a, b)
    if isinstance(a, (int, float)):
        if isinstance(b, (int, float)):
            return BINARY[op](a, b)
        library, names = _library(b)
    else:
        library, names = _library(a)
    if op in ("min", "max") and library.__name__ == "mpmath":
        return BINARY[op](a, b)
    found: Scalar = getattr(library, names.get(op, op))(a, b)
    return found


def _chain(op: str, y: Scalar, *operands: Any) -> Dual:
    """y = op(operands) and its rate, by the chain rule."""
    from torsor.scalar.partials import PARTIALS  # which is written with the functions here

    total: Scalar = 0
    for x, d in zip(operands, PARTIALS[op](y, *map(value, operands)), strict=True):
        if x.__class__ is Dual and not (is_constant(x.rate) and x.rate == 0):
            total = total + d * x.rate
    return Dual(y, total)


def sin(x: Scalar) -> Scalar:
    return _unary("sin", x)


def cos(x: Scalar) -> Scalar:
    return _unary("cos", x)


def sqrt(x: Scalar) -> Scalar:
    return _unary("sqrt", x)


def tanh(x: Scalar) -> Scalar:
    return _unary("tanh", x)


def exp(x: Scalar) -> Scalar:
    return _unary("exp", x)


def log(x: Scalar) -> Scalar:
    return _unary("log", x)


def asin(x: Scalar) -> Scalar:
    return _unary("asin", x)


def acos(x: Scalar) -> Scalar:
    return _unary("acos", x)


def sign(x: Scalar) -> Scalar:
    return _unary("sign", x)


def absolute(x: Scalar) -> Scalar:
    return abs(x)


def atan2(y: Scalar, x: Scalar) -> Scalar:
    return _binary("atan2", y, x)


def minimum(a: Scalar, b: Scalar) -> Scalar:
    return _binary("min", a, b)


def maximum(a: Scalar, b: Scalar) -> Scalar:
    return _binary("max", a, b)


def where(condition: Any, a: Scalar, b: Scalar) -> Scalar:
    """``a`` where the condition holds, else ``b``: the branch that can be recorded."""
    if a.__class__ is Dual or b.__class__ is Dual:
        return Dual(where(condition, value(a), value(b)), where(condition, rate(a), rate(b)))
    if condition.__class__ is Expr:
        if a is b:
            return a
        return condition.graph.apply("where", condition, a, b)
    if isinstance(condition, (bool, int, float)):
        return a if condition else b
    library, _ = _library(condition)
    chosen: Scalar
    if library.__name__ == "sympy":
        chosen = library.Piecewise((a, condition), (b, True))
    elif library.__name__ == "casadi":
        chosen = library.if_else(condition, a, b)
    else:
        chosen = library.where(condition, a, b)
    return chosen


#: magnitudes whose squares and reciprocal squares are finite, with room: 1e280 and 1e-280
ORDINARY = (1e-140, 1e140)


def ray(*x: Any) -> tuple[Scalar, ...]:
    """x times a positive power of two that brings its largest component to about 1 where squares would overflow or underflow.

    For numbers whose common factor has no meaning, such as a quaternion; ordinary ones keep their bits.  A recorded x is
    unchanged, and the recording notes which inputs it consists of: a kernel scales them when a result is not finite.

    >>> ray(0.0, 2.0**700), ray(0.0, 3.0)
    ((0.0, 0.5), (0.0, 3.0))
    """
    if all(isinstance(a, (int, float)) for a in x):
        size = max(map(abs, x))
        if ORDINARY[0] < size < ORDINARY[1] or not 0 < size < math.inf:
            return x
        exponent = math.frexp(size)[1]
        return tuple(math.ldexp(a, -exponent) for a in x)
    values: list[Any] = [value(a) for a in x]
    if all(a.__class__ is Expr and a.op == "input" for a in values):
        values[0].graph.rays[tuple(a.args[0] for a in values)] = None
    elif any(type(a).__name__ == "ndarray" for a in x):
        return _array_ray(x)
    return x


def note_inverse(A: Sequence[Scalars], X: Sequence[Scalars]) -> None:
    """Note in the recording, if there is one, that X is the inverse of the symmetric positive definite matrix A.

    The operations from A to X stay recorded.  A kernel may compute X from A by a loop instead, which eliminates the rows of A
    from the last to the first: in that order the zeros of A should be kept.
    """
    if (graph := _graph_of(X)) is not None:
        graph.inverses.append((A, X))


def note_solution(A: Sequence[Scalars], B: Sequence[Scalars], X: Sequence[Scalars]) -> None:
    """Note in the recording, if there is one, that A X = B; A as in :func:`note_inverse`, of which a kernel has the factors."""
    if (graph := _graph_of(X)) is not None:
        graph.solutions.append((A, B, X))


def _graph_of(X: Sequence[Scalars]) -> Graph | None:
    return next((x.graph for row in X for x in row if isinstance(x, Expr)), None)


def _array_ray(x: tuple[Any, ...]) -> tuple[Scalar, ...]:
    """:func:`ray` of NumPy arrays, entry by entry."""
    np = import_module("numpy")
    size = np.maximum.reduce([np.abs(a) for a in np.broadcast_arrays(*x)])
    odd = ~((ORDINARY[0] < size) & (size < ORDINARY[1])) & np.isfinite(size)
    if not odd.any():
        return x
    exponent = np.where(odd, np.frexp(size)[1], 0)
    return tuple(np.ldexp(a, -exponent) for a in x)


def tidy(x: Scalar, snap: float = 4e-16) -> Scalar:
    """A number within rounding of 0, 1 or −1 as that integer; any other number as a float, non-numbers unchanged.

    cos(π/2) is 6e-17 in floating point; a right angle should cost no operations.  ``snap`` is below the rounding error of the
    trigonometric functions that made the number, so no number from a file changes by more than its precision.
    """
    if not isinstance(x, (int, float)) and type(x).__module__ != "numpy":
        return x
    x = float(x)
    for whole in (0, 1, -1):
        if math.fabs(x - whole) <= snap:
            return whole
    return x
