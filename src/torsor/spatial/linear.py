"""Small symmetric systems over any scalar: A = L D Lᵀ, without pivoting, as dynamics needs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from torsor.errors import SingularError
from torsor.scalar import Dual, Expr, Scalar, Scalars, is_zero, sqrt, where

#: an entry of a right-hand side: a scalar, or anything that scales and subtracts (a Force, say)
Entry = TypeVar("Entry")

#: a factorization: L below the diagonal by rows, and 1/D
Factors = tuple[list[list[Scalar]], list[Scalar]]


#: a pivot this much smaller than its diagonal entry is a rounding error
ROUNDING = 16 * 2.0**-52


#: the same, relative to a bound of the terms that were subtracted
BOUND = 64 * 2.0**-52


def symmetrize(A: Sequence[Scalars]) -> list[list[Scalar]]:
    """A with its lower triangle taken from its upper: symmetric bit for bit, where rounding would differ."""
    return [[A[min(i, j)][max(i, j)] for j in range(len(A))] for i in range(len(A))]


def plus_diagonal(A: Sequence[Scalars], d: Scalars) -> list[list[Scalar]]:
    """A + diag(d): adds the armatures to the diagonal."""
    return [[x + d[i] if i == j else x for j, x in enumerate(row)] for i, row in enumerate(A)]


#: error message for a vanishing pivot of a mass matrix
MASSLESS = (
    "joint {!r} moves no mass, so no torque gives it a finite acceleration; "
    "add inertia to the links it moves, an armature to the joint, or lock it (robot.lock)"
)


def factor(A: Sequence[Scalars], names: Sequence[str] = (), singular: str = MASSLESS, least: Sequence[float] = ()) -> Factors:
    """L and 1/D of a symmetric matrix with nonzero leading minors; only its lower triangle is read.

    ``names`` are the names of the rows; ``singular`` is the message of the error raised for a pivot that is zero, or no larger
    than the rounding error of its row: a point mass on a ball joint has no inertia about one axis.  ``least`` are known
    rounding errors of pivots, one per row: a pivot as small is zero, also while it is recorded; 0 stands for no check.
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
        limit = least[i] if least else 0
        if isinstance(pivot, (int, float)) and abs(pivot) <= max(ROUNDING * abs(A[i][i]), limit):
            raise SingularError(singular.format(names[i] if names else i))
        if limit and pivot.__class__ in (Expr, Dual):
            pivot = _zero_if_small(pivot, limit)
        inverse.append(1 / pivot)
    return L, inverse


def _zero_if_small(pivot: Any, limit: float) -> Scalar:
    return where(abs(pivot) <= limit, 0, pivot)


def factor_free(A: Sequence[Scalars], free: Scalars, names: Sequence[str] = (), least: Sequence[float] = ()) -> Factors:
    """L and F/D of F A F + 1 − F with F = diag(free), 1 or 0: a solution is zero in the rows that are not free."""
    n = range(len(A))
    rows = [[free[i] * A[i][j] * free[j] if i != j else free[i] * A[i][i] + (1 - free[i]) for j in n] for i in n]
    L, inverse = factor(rows, names, least=least)
    return L, [f * d for f, d in zip(free, inverse, strict=True)]


def factor_with_error_bounds(A: Sequence[Scalars], names: Sequence[str] = (), singular: str = MASSLESS) -> Factors:
    """:func:`factor` of a positive semidefinite matrix: a pivot within its error bound is zero, also while it is recorded.

    D_i = xᵀA x, where x has a one in row i and earlier entries that minimize it.  Errors of A_jk relative to √(A_jj A_kk),
    which no entry exceeds, make one of at most (Σ |x_j| √A_jj)² in D_i.
    """
    L, inverse = factor(A, names, singular)
    root = [sqrt(abs(row[i])) for i, row in enumerate(A)]
    kept: list[Scalar] = []
    for i in range(len(A)):
        x = upper_solve(([row[:i] for row in L[:i]], []), [-L[i][j] for j in range(i)])
        size = root[i]
        for xj, r in zip(x, root, strict=False):
            size = size + abs(xj) * r
        pivot = 1 / inverse[i]
        small = abs(pivot) <= BOUND * size * size
        if small is True:
            raise SingularError(singular.format(names[i] if names else i))
        kept.append(1 / where(small, 0, pivot))
    return L, kept


def solve(factors: Factors, b: Sequence[Entry]) -> list[Entry]:
    """x with A x = b.  The entries of b may be scalars or anything that scales and subtracts (a Force, say)."""
    _, inverse = factors
    y: list[Any] = lower_solve(factors, b)
    return upper_solve(factors, [yi * d for yi, d in zip(y, inverse, strict=True)])


def lower_solve(factors: Factors, b: Sequence[Entry]) -> list[Entry]:
    """y with L y = b."""
    L, _ = factors
    y: list[Any] = list(b)
    for i in range(len(y)):
        for j in range(i):
            if not is_zero(L[i][j]):
                y[i] = y[i] - y[j] * L[i][j]
    return y


def upper_solve(factors: Factors, y: Sequence[Entry]) -> list[Entry]:
    """x with Lᵀ x = y."""
    L, _ = factors
    x: list[Any] = list(y)
    for i in reversed(range(len(x))):
        for j in range(i + 1, len(x)):
            if not is_zero(L[j][i]):
                x[i] = x[i] - x[j] * L[j][i]
    return x


def inverse(factors: Factors) -> list[list[Scalar]]:
    """A⁻¹ of A = L D Lᵀ, symmetric bit for bit, row by row from the last (Takahashi, Fagan & Chen 1973).

    Lᵀ A⁻¹ = D⁻¹ L⁻¹, whose right side is a lower triangle with 1/D on its diagonal: x_ic = −Σ_j L_ji x_jc wherever L⁻¹ has a
    zero, and by symmetry these entries give the diagonal too.  L⁻¹ is not formed.  Where L⁻¹ has zeros at (i, c) and (c, i),
    as between two branches of a tree, the shorter of the two sums is taken.
    """
    L, diagonal = factors
    n = len(diagonal)
    X: list[list[Scalar]] = [[0] * n for _ in range(n)]
    below = [[j for j in reversed(range(i + 1, n)) if not is_zero(L[j][i])] for i in range(n)]
    filled: list[set[int]] = [set() for _ in range(n)]  # the rows of column i of L⁻¹ that are not zero
    for i in reversed(range(n)):
        filled[i] = {i}.union(*(filled[j] for j in below[i]))
        for c in reversed(range(i + 1, n)):
            a, b = (i, c) if c in filled[i] or len(below[i]) <= len(below[c]) else (c, i)
            X[i][c] = X[c][i] = _minus_products(0, [(L[j][a], X[j][b]) for j in below[a]])
        X[i][i] = _minus_products(diagonal[i], [(L[j][i], X[i][j]) for j in below[i]])
    return X


def _minus_products(x: Scalar, products: Sequence[tuple[Scalar, Scalar]]) -> Scalar:
    """x − Σ a b, in the order given."""
    for a, b in products:
        x = x - a * b
    return x


def lower_times(factors: Factors, x: Scalars) -> list[Scalar]:
    """L x."""
    L, _ = factors
    return [x[i] + dot(L[i][:i], x[:i]) for i in range(len(x))]


def upper_times(factors: Factors, x: Scalars) -> list[Scalar]:
    """Lᵀ x."""
    L, _ = factors
    n = len(x)
    return [x[i] + dot([L[j][i] for j in range(i + 1, n)], x[i + 1 :]) for i in range(n)]


def dot(a: Scalars, b: Scalars) -> Scalar:
    """Σ aᵢ bᵢ; terms with a constant zero are omitted."""
    total: Scalar = 0
    for x, y in zip(a, b, strict=True):
        if not (is_zero(x) or is_zero(y)):
            total = total + x * y
    return total
