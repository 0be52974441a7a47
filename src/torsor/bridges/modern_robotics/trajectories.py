"""MR ch. 9: motions from rest to rest, at N times evenly spread over T_f."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from torsor.bridges.modern_robotics.motions import (
    MatrixExp3,
    MatrixExp6,
    MatrixLog3,
    MatrixLog6,
    RpToTrans,
    TransInv,
    TransToRp,
)
from torsor.support.user_arrays import Array


def CubicTimeScaling(Tf: float, t: Any) -> Any:
    """s(t) = 3x² − 2x³ with x = t/T_f: velocity zero at both ends (MR 9.2.2).

    >>> CubicTimeScaling(2, 0.6)
    0.216
    """
    x = t / Tf
    return x * x * (3 - 2 * x)


def QuinticTimeScaling(Tf: float, t: Any) -> Any:
    """s(t) = 10x³ − 15x⁴ + 6x⁵ with x = t/T_f: velocity and acceleration zero at both ends (MR 9.2.2).

    >>> round(QuinticTimeScaling(2, 0.6), 12)
    0.16308
    """
    x = t / Tf
    return x * x * x * (10 + x * (6 * x - 15))


def _scaling(Tf: float, N: int, method: int) -> Array:
    """s at the N times; ``method`` 3 is cubic, any other quintic, as in the book's package."""
    t = Tf / (N - 1.0) * np.arange(int(N))
    return CubicTimeScaling(Tf, t) if method == 3 else QuinticTimeScaling(Tf, t)


def JointTrajectory(thetastart: ArrayLike, thetaend: ArrayLike, Tf: float, N: int, method: int) -> Array:
    """θ(s) = (1 − s) θ_start + s θ_end, N×n: a straight line in joint space (MR 9.2.1).

    >>> JointTrajectory([1.0, 0.0], [2.0, 4.0], 4, 3, 3)
    array([[1. , 0. ],
           [1.5, 2. ],
           [2. , 4. ]])
    """
    s = _scaling(Tf, int(N), method)[:, None]
    return (1 - s) * np.asarray(thetastart, dtype=float) + s * np.asarray(thetaend, dtype=float)


def ScrewTrajectory(Xstart: ArrayLike, Xend: ArrayLike, Tf: float, N: int, method: int) -> list[Array]:
    """X(s) = X_start exp(s log(X_start⁻¹ X_end)), a list of N poses: one constant screw motion (MR 9.2.1).

    >>> end = [[1, 0, 0, 2], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    >>> [float(T[0, 3]) for T in ScrewTrajectory(np.eye(4), end, 4, 3, 5)]
    [0.0, 1.0, 2.0]
    """
    start = np.asarray(Xstart, dtype=float)
    screw = MatrixLog6(TransInv(start) @ np.asarray(Xend, dtype=float))
    return [start @ MatrixExp6(screw * s) for s in _scaling(Tf, int(N), method)]


def CartesianTrajectory(Xstart: ArrayLike, Xend: ArrayLike, Tf: float, N: int, method: int) -> list[Array]:
    """p(s) = p_start + s (p_end − p_start) and R(s) = R_start exp(s log(R_startᵀ R_end)): the origin goes straight (MR 9.2.1).

    >>> end = [[0, -1, 0, 2], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    >>> [float(T[0, 3]) for T in CartesianTrajectory(np.eye(4), end, 4, 3, 5)]
    [0.0, 1.0, 2.0]
    """
    (R0, p0), (R1, p1) = TransToRp(Xstart), TransToRp(Xend)
    turn = MatrixLog3(R0.T @ R1)
    return [RpToTrans(R0 @ MatrixExp3(turn * s), s * p1 + (1 - s) * p0) for s in _scaling(Tf, int(N), method)]
