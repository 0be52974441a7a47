"""A scalar and its rate: x + ε ẋ with ε² = 0.

A function called with duals returns its value and its derivative along the motion they move with, over any scalar: the two
parts may be floats, recorded expressions or symbols.  A constraint A(q) gets its Ȧ from the function of A in this way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torsor.scalar.scalar import Scalar, is_zero


def _sum(a: Scalar, b: Scalar) -> Scalar:
    return b if is_zero(a) else a if is_zero(b) else a + b


def _product(a: Scalar, b: Scalar) -> Scalar:
    return 0 if is_zero(a) or is_zero(b) else a * b


class Dual:
    """``value`` and ``rate``.  Comparisons use the value alone.

    >>> x = Dual(3.0, 1)
    >>> x * x + 1
    Dual(10.0, 6.0)
    """

    __slots__ = ("rate", "value")
    __array_ufunc__ = None  # numpy scalars defer to the methods below

    def __init__(self, value: Scalar, rate: Scalar = 0):
        self.value, self.rate = value, rate

    def __add__(self, o: Any) -> Dual:
        return Dual(self.value + value(o), _sum(self.rate, rate(o)))

    __radd__ = __add__

    def __sub__(self, o: Any) -> Dual:
        return Dual(self.value - value(o), _sum(self.rate, -rate(o)))

    def __rsub__(self, o: Any) -> Dual:
        return Dual(value(o) - self.value, _sum(rate(o), -self.rate))

    def __mul__(self, o: Any) -> Dual:
        return Dual(self.value * value(o), _sum(_product(self.rate, value(o)), _product(self.value, rate(o))))

    __rmul__ = __mul__

    def __truediv__(self, o: Any) -> Dual:
        y = self.value / value(o)
        return Dual(y, _quotient(_sum(self.rate, -_product(y, rate(o))), value(o)))

    def __rtruediv__(self, o: Any) -> Dual:
        y = value(o) / self.value
        return Dual(y, _quotient(_sum(rate(o), -_product(y, self.rate)), self.value))

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.rate)

    def __pos__(self) -> Dual:
        return self

    def __abs__(self) -> Dual:
        from torsor.scalar.ops import sign

        return Dual(abs(self.value), _product(sign(self.value), self.rate))

    def __pow__(self, n: Any) -> Scalar:
        """Integer powers and 0.5, as for a recorded scalar."""
        if not isinstance(n, int):
            from torsor.scalar.ops import sqrt

            return sqrt(self) if n == 0.5 else NotImplemented
        if n < 0:
            return 1 / self ** (-n)
        out: Scalar = 1
        for _ in range(n):
            out = self * out
        return out

    def __lt__(self, o: Any) -> Any:
        return self.value < value(o)

    def __le__(self, o: Any) -> Any:
        return self.value <= value(o)

    def __gt__(self, o: Any) -> Any:
        return self.value > value(o)

    def __ge__(self, o: Any) -> Any:
        return self.value >= value(o)

    if TYPE_CHECKING:  # float(x) raises TypeError because the method is absent; SymPy would call it in symbol + Dual

        def __float__(self) -> float: ...

    def __repr__(self) -> str:
        return f"Dual({self.value!r}, {self.rate!r})"


def _quotient(a: Scalar, b: Scalar) -> Scalar:
    return 0 if is_zero(a) else a / b


def value(x: Any) -> Scalar:
    """The scalar itself, of a dual or of a constant."""
    return x.value if x.__class__ is Dual else x


def rate(x: Any) -> Scalar:
    """Its rate; that of a constant is zero."""
    return x.rate if x.__class__ is Dual else 0
