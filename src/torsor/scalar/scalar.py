"""The type of a number in an equation, for annotations: the operations that every scalar supports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias


class Scalar(Protocol):
    """A float or int, an :class:`Expr`, a :class:`Dual`, a SymPy symbol, an mpmath number, or an array in place of a number.

    All that the algorithms use is + − · / and the functions of :mod:`torsor.scalar.ops`.  An operand may be anything the scalar
    accepts, and the result is again a scalar: that floats give floats and symbols give symbols is not in the type, because then
    every vector, model and algorithm would have a type parameter.  Where numbers leave the equations, ``float(x)`` states that
    x has a value; it raises TypeError for a scalar that has none.
    """

    def __add__(self, o: Any, /) -> Scalar: ...
    def __radd__(self, o: Any, /) -> Scalar: ...
    def __sub__(self, o: Any, /) -> Scalar: ...
    def __rsub__(self, o: Any, /) -> Scalar: ...
    def __mul__(self, o: Any, /) -> Scalar: ...
    def __rmul__(self, o: Any, /) -> Scalar: ...
    def __truediv__(self, o: Any, /) -> Scalar: ...
    def __rtruediv__(self, o: Any, /) -> Scalar: ...
    def __pow__(self, n: Any, /) -> Scalar: ...
    def __neg__(self) -> Scalar: ...
    def __abs__(self) -> Scalar: ...
    def __lt__(self, o: Any, /) -> Any: ...  # a bool, or the condition of a ``where``
    def __le__(self, o: Any, /) -> Any: ...
    def __gt__(self, o: Any, /) -> Any: ...
    def __ge__(self, o: Any, /) -> Any: ...
    def __float__(self) -> float: ...


#: q, v, τ, a row of a matrix
Scalars: TypeAlias = Sequence[Scalar]


def is_constant(x: Any) -> bool:
    """Whether ``x`` is a plain number, constant while recording."""
    return isinstance(x, (int, float))


def is_zero(x: Any) -> bool:
    """Whether x is the constant zero: a recorded expression or a symbol is not, whatever its value will be.

    >>> is_zero(0), is_zero(0.0), is_zero(1)
    (True, True, False)
    """
    return isinstance(x, (int, float)) and x == 0
