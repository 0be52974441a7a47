"""Polynomials as their coefficients, lowest power first: c₀ + c₁ x + c₂ x² + …, over any scalar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torsor.scalar import Scalar

Coefficients = Sequence[Any]  # floats, or scalars of another kind


def evaluate(p: Coefficients, x: Any) -> Scalar:
    """p(x), by Horner's rule.

    >>> evaluate((1, 0, 2), 3)
    19
    """
    total: Scalar = 0
    for c in reversed(p):
        total = total * x + c
    return total


def derivative(p: Coefficients) -> tuple[Any, ...]:
    """p′.

    >>> derivative((1, 0, 2))
    (0, 4)
    """
    return tuple(c * k for k, c in enumerate(p))[1:]


def compose(outer: Coefficients, inner: Coefficients) -> tuple[Any, ...]:
    """outer(inner(x)).

    >>> compose((1, 0, 2), (-1, 1))  # 1 + 2 (x − 1)²
    (3, -4, 2)
    """
    out: list[Any] = []
    for c in reversed(outer):
        first, *rest = _multiply(out, inner) or [0]
        out = [first + c, *rest]
    return tuple(out)


def trim(p: Coefficients, least: int = 1) -> tuple[Any, ...]:
    """Without zeros at the end, down to ``least`` coefficients.

    >>> trim((0, 1, 0, 0))
    (0, 1)
    """
    n = len(p)
    while n > least and p[n - 1] == 0:
        n -= 1
    return tuple(p[:n])


def _multiply(p: Coefficients, r: Coefficients) -> list[Any]:
    out: list[Any] = [0] * (len(p) + len(r) - 1) if p else []
    for i, a in enumerate(p):
        for k, b in enumerate(r):
            out[i + k] = out[i + k] + a * b
    return out
