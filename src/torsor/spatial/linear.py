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


def factor(A: Sequence[Sequence[Scalar]], names: Sequence[str] = ()) -> Factors:
    """L and 1/D of a symmetric positive definite matrix; only its lower triangle is read.

    ``names`` says whose each row is, for the error when a pivot vanishes.
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
            raise SingularError(
                f"joint {(names[i] if names else i)!r} moves no mass, so no torque gives it a finite acceleration; "
                "add inertia to the links it carries, an armature to the joint, or lock it (robot.lock)"
            )
        inverse.append(1 / pivot)
    return L, inverse


def solve(factors: Factors, b: Sequence[Any]) -> list[Any]:
    """x with A x = b.  The entries of b may be scalars or anything that scales and subtracts (a Force, say)."""
    L, inverse = factors
    n = len(inverse)
    x = list(b)
    for i in range(n):
        for j in range(i):
            if not _is_zero(L[i][j]):
                x[i] = x[i] - x[j] * L[i][j]
    x = [xi * d for xi, d in zip(x, inverse, strict=True)]
    for i in reversed(range(n)):
        for j in range(i + 1, n):
            if not _is_zero(L[j][i]):
                x[i] = x[i] - x[j] * L[j][i]
    return x


def _is_zero(x: Scalar) -> bool:
    return isinstance(x, (int, float)) and x == 0
