"""Small symmetric systems over any scalar: A = L D Lᵀ, without pivoting, as dynamics needs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torsor.errors import SingularError
from torsor.spatial.vector import Scalar

#: a factorization: L below the diagonal by rows, and 1/D
Factors = tuple[list[list[Scalar]], list[Scalar]]


def symmetric(A: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    """A with its lower triangle taken from its upper: symmetric to the bit, where rounding would differ."""
    return [[A[min(i, j)][max(i, j)] for j in range(len(A))] for i in range(len(A))]


def plus_diagonal(A: Sequence[Sequence[Scalar]], d: Sequence[Scalar]) -> list[list[Scalar]]:
    """A + diag(d): the rotors' inertia, which only their own joint feels."""
    return [[x + d[i] if i == j else x for j, x in enumerate(row)] for i, row in enumerate(A)]


#: what a vanishing pivot of a mass matrix means
MASSLESS = (
    "joint {!r} moves no mass, so no torque gives it a finite acceleration; "
    "add inertia to the links it carries, an armature to the joint, or lock it (robot.lock)"
)


def factor(A: Sequence[Sequence[Scalar]], names: Sequence[str] = (), singular: str = MASSLESS) -> Factors:
    """L and 1/D of a symmetric matrix with nonzero leading minors; only its lower triangle is read.

    ``names`` says whose each row is, and ``singular`` what it means that its pivot vanishes: that is the error raised.
    """
    n = len(A)
    L: list[list[Scalar]] = [[0] * n for _ in range(n)]
    inverse: list[Scalar] = []
    for i in range(n):
        row = [A[i][j] for j in range(i + 1)]
        for j in range(i):  # row[j] becomes L[i][j] D[j], then L[i][j]
            for k in range(j):
                row[j] = row[j] - row[k] * L[j][k]
        pivot = row[i]
        for j in range(i):
            L[i][j] = row[j] * inverse[j]
            pivot = pivot - L[i][j] * row[j]
        if isinstance(pivot, (int, float)) and pivot == 0:
            raise SingularError(singular.format(names[i] if names else i))
        inverse.append(1 / pivot)
    return L, inverse


def solve(factors: Factors, b: Sequence[Any]) -> list[Any]:
    """x with A x = b.  The entries of b may be scalars or anything that scales and subtracts (a Force, say)."""
    _, inverse = factors
    return upper_solve(factors, [y * d for y, d in zip(lower_solve(factors, b), inverse, strict=True)])


def lower_solve(factors: Factors, b: Sequence[Any]) -> list[Any]:
    """y with L y = b."""
    L, _ = factors
    y = list(b)
    for i in range(len(y)):
        for j in range(i):
            if not is_zero(L[i][j]):
                y[i] = y[i] - y[j] * L[i][j]
    return y


def upper_solve(factors: Factors, y: Sequence[Any]) -> list[Any]:
    """x with Lᵀ x = y."""
    L, _ = factors
    x = list(y)
    for i in reversed(range(len(x))):
        for j in range(i + 1, len(x)):
            if not is_zero(L[j][i]):
                x[i] = x[i] - x[j] * L[j][i]
    return x


def lower_times(factors: Factors, x: Sequence[Any]) -> list[Any]:
    """L x."""
    L, _ = factors
    return [x[i] + dot(L[i][:i], x[:i]) for i in range(len(x))]


def upper_times(factors: Factors, x: Sequence[Any]) -> list[Any]:
    """Lᵀ x."""
    L, _ = factors
    n = len(x)
    return [x[i] + dot([L[j][i] for j in range(i + 1, n)], x[i + 1 :]) for i in range(n)]


def dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    """Σ aᵢ bᵢ; a zero that is known to be one costs nothing."""
    total: Scalar = 0
    for x, y in zip(a, b, strict=True):
        if not (is_zero(x) or is_zero(y)):
            total = total + x * y
    return total


def is_zero(x: Scalar) -> bool:
    """Whether x is known to be zero while the program is recorded."""
    return isinstance(x, (int, float)) and x == 0
