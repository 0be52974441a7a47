"""Singular values and volume of a few rows over any scalar, without branches: they also hold where rows are dependent."""

from __future__ import annotations

from collections.abc import Sequence

from torsor.scalar import Scalar, Scalars, is_zero, repeatable, sqrt, where
from torsor.spatial.linear import dot

#: sweeps after which the rows of any k×n matrix are orthogonal to rounding, by k; the convergence is quadratic
SWEEPS = {1: 0, 2: 2, 3: 5, 4: 6, 5: 7, 6: 8}


def volume(rows: Sequence[Scalars]) -> Scalar:
    """√det A Aᵀ of k rows A: the product of the length of each row across those before it (modified Gram–Schmidt)."""
    product: Scalar = 1
    rest = [list(row) for row in rows]
    while rest:
        first, *rest = rest
        square = dot(first, first)
        product = product * sqrt(square)
        inverse = 1 / where(square > 0, square, 1)  # a row without length makes the product zero, whatever the others are
        rest = [_minus(row, first, dot(row, first) * inverse) for row in rest]
    return product


def _minus(row: Scalars, other: Scalars, k: Scalar) -> list[Scalar]:
    return [x - y * k for x, y in zip(row, other, strict=True)]


def singular_values(rows: Sequence[Scalars]) -> list[Scalar]:
    """The singular values of k ≤ 6 rows, in no order (Hestenes 1958: one-sided Jacobi rotations of the rows in pairs).

    Their error is about the rounding error of the largest one: no product A Aᵀ is formed.

    >>> sorted(round(x, 12) for x in singular_values([[3.0, 0.0], [4.0, 5.0]]))
    [2.2360679775, 6.708203932499]
    """
    k = len(rows)
    width = len(rows[0])

    def sweep(flat: Scalars) -> list[Scalar]:
        turned = [list(flat[i * width : (i + 1) * width]) for i in range(k)]
        for i in range(k):
            for j in range(i + 1, k):
                turned[i], turned[j] = _orthogonalize(turned[i], turned[j])
        return [x for row in turned for x in row]

    once, flat = repeatable(sweep), [x for row in rows for x in row]
    for _ in range(SWEEPS[k]):
        flat = once(flat)
    return [sqrt(dot(row, row)) for row in (flat[i * width : (i + 1) * width] for i in range(k))]


def _orthogonalize(a: Scalars, b: Scalars) -> tuple[list[Scalar], list[Scalar]]:
    """Two rows, rotated into each other so that they are orthogonal: tan 2θ = 2 a·b / (b·b − a·a), |θ| ≤ π/4."""
    twice = 2 * dot(a, b)
    if is_zero(twice):
        return list(a), list(b)
    difference = dot(b, b) - dot(a, a)
    size = abs(difference) + sqrt(difference * difference + twice * twice)
    t = twice * where(difference < 0, -1, 1) / where(size > 0, size, 1)
    c = 1 / sqrt(1 + t * t)
    s = c * t
    return [c * x - s * y for x, y in zip(a, b, strict=True)], [s * x + c * y for x, y in zip(a, b, strict=True)]
