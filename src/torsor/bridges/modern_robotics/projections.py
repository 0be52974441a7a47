"""MR's package: matrices that are almost rotations or rigid motions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from torsor.bridges.modern_robotics.motions import RpToTrans, TransToRp
from torsor.support.user_arrays import Array

#: result of the book's package for a matrix whose determinant is not positive
DISTANCE_OF_NONPOSITIVE = 1e9


def ProjectToSO3(mat: ArrayLike) -> Array:
    """R = U Vᵀ with mat = U Σ Vᵀ: the rotation nearest to a matrix that is almost one.

    Where that is a reflection, its third column is turned round, as the book's package does; it is then not near.

    >>> ProjectToSO3([[0, -1.1, 0], [0.9, 0, 0], [0, 0, 1]]).round(12) + 0.0
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    U, _, Vt = np.linalg.svd(np.asarray(mat, dtype=float))
    R = U @ Vt
    return R * [1, 1, -1] if np.linalg.det(R) < 0 else R


def ProjectToSE3(mat: ArrayLike) -> Array:
    """The rigid motion nearest to a matrix that is almost one: R by :func:`ProjectToSO3`, p unchanged, last row (0, 0, 0, 1).

    >>> ProjectToSE3([[1.1, 0, 0, 2], [0, 1, 0, 3], [0, 0, 0.9, 4], [0.1, 0, 0, 0.9]])[[0, 3]]
    array([[1., 0., 0., 2.],
           [0., 0., 0., 1.]])
    """
    R, p = TransToRp(mat)
    return RpToTrans(ProjectToSO3(R), p)


def DistanceToSO3(mat: ArrayLike) -> float:
    """|matᵀ mat − 1| (Frobenius), and 10⁹ where det mat ≤ 0.

    >>> float(DistanceToSO3(np.diag([1, 1, 1.1]))) < 0.22
    True
    """
    A = np.asarray(mat, dtype=float)
    return np.linalg.norm(A.T @ A - np.eye(3)) if np.linalg.det(A) > 0 else DISTANCE_OF_NONPOSITIVE  # type: ignore[return-value]


def DistanceToSE3(mat: ArrayLike) -> float:
    """|[[RᵀR, 0], last row] − 1| (Frobenius), and 10⁹ where det R ≤ 0.

    >>> float(DistanceToSE3(np.eye(4)))
    0.0
    """
    A = np.asarray(mat, dtype=float)
    R = A[:3, :3]
    if not np.linalg.det(R) > 0:
        return DISTANCE_OF_NONPOSITIVE
    return np.hypot(np.linalg.norm(R.T @ R - np.eye(3)), np.linalg.norm(A[3] - [0, 0, 0, 1]))


def TestIfSO3(mat: ArrayLike) -> bool:
    """Whether :func:`DistanceToSO3` is below 10⁻³.

    >>> bool(TestIfSO3(np.eye(3)))
    True
    """
    return DistanceToSO3(mat) < 1e-3


def TestIfSE3(mat: ArrayLike) -> bool:
    """Whether :func:`DistanceToSE3` is below 10⁻³.

    >>> bool(TestIfSE3(2 * np.eye(4)))
    False
    """
    return DistanceToSE3(mat) < 1e-3
