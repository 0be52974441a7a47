"""SymPy, imported when it is needed."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from torsor.errors import ArgumentError, needs_extra


def sympy_library() -> Any:
    """The module ``sympy``; an error with the command to install it if it is missing.

    >>> sympy_library().__name__
    'sympy'
    """
    with needs_extra("SymPy", "symbolic", "writing equations in symbols"):
        import sympy
    return sympy


def fraction(x: float) -> Fraction:
    """The fraction within rounding of a number: 0.1 is 1/10, 1/3 is 1/3; without a short one, the decimal it prints as.

    >>> fraction(0.083), fraction(1 / 12), fraction(0.5)
    (Fraction(83, 1000), Fraction(1, 12), Fraction(1, 2))
    """
    near = Fraction(x).limit_denominator(100_000)
    return near if abs(float(near) - x) <= 1e-15 * abs(x) else Fraction(repr(float(x)))


def exact(expression: Any) -> Any:
    """An expression with fractions in place of floating-point numbers.

    >>> exact(0.25 * sympy_library().Symbol("m"))
    m/4
    """
    sp = sympy_library()
    expression = sp.sympify(expression)
    found = expression.atoms(sp.Float)
    return expression.xreplace({f: sp.Rational(fraction(float(f))) for f in found}) if found else expression


def expression(name: str, value: Any) -> Any:
    """A scalar SymPy expression with exact numbers, or an error that names the argument.

    >>> expression("potential", 9.5)
    19/2
    """
    sp = sympy_library()
    try:
        made = sp.sympify(value, strict=True)
    except sp.SympifyError:
        raise ArgumentError(f"{name} must be a SymPy expression or a number, not {value!r}") from None
    if not isinstance(made, sp.Expr) or made.has(sp.nan, sp.zoo, sp.oo, -sp.oo):
        raise ArgumentError(f"{name} must be a finite scalar SymPy expression, not {value!r}")
    return exact(made)


def expressions(name: str, values: Any, count: int) -> list[Any]:
    """``count`` scalar expressions, or an error that names the argument.

    >>> expressions("gravity", (0, 0, -9.5), 3)
    [0, 0, -19/2]
    """
    if hasattr(values, "ravel"):  # an array of numbers
        values = values.tolist()
    if isinstance(values, (str, bytes)) or not isinstance(values, (Sequence, sympy_library().MatrixBase)):
        raise ArgumentError(f"{name} must hold {count} expressions, not {values!r}")
    found = [expression(f"{name}[{i}]", x) for i, x in enumerate(values)]
    if len(found) != count:
        raise ArgumentError(f"{name} must hold {count} expressions, {len(found)} given")
    return found


def nested_list(value: Any) -> Any:
    """Expressions as nested lists: a column matrix as a list, other matrices and arrays by rows.

    >>> nested_list(sympy_library().eye(2)), nested_list((1, [2]))
    ([[1, 0], [0, 1]], [1, [2]])
    """
    sp = sympy_library()
    if isinstance(value, (sp.MatrixBase, sp.NDimArray)):
        return list(value) if len(value.shape) == 2 and value.shape[1] == 1 else value.tolist()
    return [nested_list(x) for x in value] if isinstance(value, (list, tuple)) else sp.sympify(value)


def leaves(value: Any) -> list[Any]:
    """The expressions of a matrix, an array or nested lists, in C order."""
    nested = nested_list(value)
    return [x for part in nested for x in leaves(part)] if isinstance(nested, list) else [nested]
