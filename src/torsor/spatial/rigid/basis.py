"""Canonical bases: the same vectors, in the same order and with the same signs, for every LAPACK.

A null space or the eigenvectors of a repeated eigenvalue have no unique basis; LAPACK's differs between processors.
Here a choice that depends on rounding (the largest of equal numbers) is replaced by the first candidate above a threshold that
no symmetric mechanism meets exactly.
"""

from __future__ import annotations

import numpy as np

#: share of M_jj that a coordinate must still have free to be a pivot; divided by 100 until enough coordinates have it
PIVOT = 0.0371
#: size of an entry, against the largest, from which it counts as equal to it
DECIDES = 1 - 1e-6
#: relative difference below which eigenvalues count as equal
EQUAL = 1e-9


def null_space_basis(K: np.ndarray, M: np.ndarray) -> tuple[np.ndarray, tuple[int, ...]]:
    """(basis, pivots) of the span of K ``(n, f)``, whose columns are orthonormal in the metric M: basisᵀ M basis = 1.

    Pivots are the first coordinates that determine the others; column i has a positive entry at pivot i and zeros at pivots
    after it, before it is made orthogonal to the columns before it (reduced echelon form, then Gram–Schmidt).
    """
    free = np.sqrt(M.diagonal())[:, None] * K  # dimensionless
    pivots: list[int] = []
    threshold = PIVOT
    while len(pivots) < K.shape[1]:
        for j in range(len(free)):
            size = float(free[j] @ free[j])
            if j in pivots or len(pivots) == K.shape[1] or not size > threshold:
                continue
            pivots.append(j)
            unit = free[j] / np.sqrt(size)
            for _ in range(2):  # twice is enough to be orthogonal to rounding
                free = free - np.outer(free @ unit, unit)
        threshold /= 100
    pivots.sort()
    echelon = np.linalg.solve(K[pivots].T, K.T).T
    R = np.linalg.cholesky(echelon.T @ M @ echelon)
    return np.linalg.solve(R, echelon.T).T, tuple(pivots)


def fix_signs(axes: np.ndarray) -> np.ndarray:
    """Axes (columns, ``(..., n, k)``), each turned so that its largest entry is positive; of equal ones, the first."""
    size = np.abs(axes)
    first = np.argmax(size >= DECIDES * size.max(axis=-2, keepdims=True, initial=0.0), axis=-2, keepdims=True)
    return axes * np.where(np.take_along_axis(axes, first, axis=-2) < 0, -1.0, 1.0)


def canonical_axes(values: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Orthonormal axes (columns, (n, k)) of sorted eigenvalues or singular values (k,), with canonical signs.

    Axes of equal values, of which LAPACK returns any, are those of :func:`null_space_basis`.
    """
    out, start, scale = axes.copy(), 0, float(np.abs(values).max(initial=0.0))
    for end in range(1, len(values) + 1):
        if end < len(values) and abs(values[end] - values[end - 1]) <= EQUAL * scale:
            continue
        if end - start > 1:
            out[:, start:end] = null_space_basis(axes[:, start:end], np.eye(len(axes)))[0]
        start = end
    return fix_signs(out)
