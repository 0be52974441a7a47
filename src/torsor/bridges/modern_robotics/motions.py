"""MR ch. 3: rotations, rigid motions, their exponentials and logarithms, as 3×3, 4×4 and 6×6 arrays.

Exponential and logarithm are those of :mod:`torsor.spatial`: right to rounding at every angle, close to 0 and to π too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from torsor.spatial import Mat, Motion, Quaternion, Vec
from torsor.spatial.exponential import exp, log
from torsor.spatial.recovery import quaternion_of
from torsor.support.user_arrays import Array


def NearZero(z: float) -> bool:
    """|z| < 10⁻⁶.

    >>> NearZero(-1e-7)
    True
    """
    return abs(z) < 1e-6


def Normalize(V: ArrayLike) -> Array:
    """V / |V|.

    >>> Normalize([0, 3, 4])
    array([0. , 0.6, 0.8])
    """
    V = np.asarray(V)
    return V / np.linalg.norm(V)


def RotInv(R: ArrayLike) -> Array:
    """R⁻¹ = Rᵀ (MR 3.2.1).

    >>> RotInv([[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    array([[ 0,  1,  0],
           [-1,  0,  0],
           [ 0,  0,  1]])
    """
    return np.array(R).T


def VecToso3(omg: Any) -> Array:
    """[ω], with [ω] x = ω × x (MR 3.30).

    >>> VecToso3([1, 2, 3])
    array([[ 0, -3,  2],
           [ 3,  0, -1],
           [-2,  1,  0]])
    """
    return np.array(Vec(*omg).skew())


def so3ToVec(so3mat: ArrayLike) -> Array:
    """ω of [ω] (MR 3.30).

    >>> so3ToVec([[0, -3, 2], [3, 0, -1], [-2, 1, 0]])
    array([1, 2, 3])
    """
    return np.array(so3mat)[[2, 0, 1], [1, 2, 0]]


def AxisAng3(expc3: ArrayLike) -> tuple[Array, float]:
    """(ω̂, θ) of exponential coordinates ω̂θ (MR 3.2.3).

    >>> axis, angle = AxisAng3([0, 3, 4])
    >>> axis, float(angle)
    (array([0. , 0.6, 0.8]), 5.0)
    """
    return Normalize(expc3), np.linalg.norm(expc3)  # type: ignore[return-value]


def MatrixExp3(so3mat: ArrayLike) -> Array:
    """R = e^{[ω̂]θ} = 1 + sin θ [ω̂] + (1 − cos θ)[ω̂]², Rodrigues' formula (MR 3.51).

    >>> MatrixExp3([[0, -np.pi / 2, 0], [np.pi / 2, 0, 0], [0, 0, 0]]).round(12) + 0.0
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    return np.array(Quaternion.exp(Vec(*so3ToVec(so3mat).tolist())).matrix, dtype=float)


def MatrixLog3(R: ArrayLike) -> Array:
    """[ω̂]θ with e^{[ω̂]θ} = R and 0 ≤ θ ≤ π (MR 3.2.3.3).

    At θ = π both axes are right; the last component of ω̂ that is not zero is then positive, as in the book's algorithm.

    >>> so3ToVec(MatrixLog3([[0, -1, 0], [1, 0, 0], [0, 0, 1]])).round(6)
    array([0.      , 0.      , 1.570796])
    """
    return VecToso3(_quaternion(np.asarray(R, dtype=float)).log).astype(float)


def RpToTrans(R: ArrayLike, p: ArrayLike) -> Array:
    """T = [[R, p], [0, 1]] (MR 3.62).

    >>> RpToTrans(np.eye(3, dtype=int), [1, 2, 5])
    array([[1, 0, 0, 1],
           [0, 1, 0, 2],
           [0, 0, 1, 5],
           [0, 0, 0, 1]])
    """
    return np.block([[np.asarray(R), np.reshape(p, (3, 1))], [np.array([[0, 0, 0, 1]])]])


def TransToRp(T: ArrayLike) -> tuple[Array, Array]:
    """(R, p) of T = [[R, p], [0, 1]] (MR 3.62).

    >>> TransToRp([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 3], [0, 0, 0, 1]])[1]
    array([0, 0, 3])
    """
    T = np.array(T)
    return T[:3, :3], T[:3, 3]


def TransInv(T: ArrayLike) -> Array:
    """T⁻¹ = [[Rᵀ, −Rᵀp], [0, 1]] (MR 3.64).

    >>> TransInv([[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]])[:, 3]
    array([-2,  1, -3,  1])
    """
    R, p = TransToRp(T)
    return RpToTrans(R.T, -R.T @ p)


def VecTose3(V: ArrayLike) -> Array:
    """[V] = [[[ω], v], [0, 0]] of a twist V = (ω, v) (MR 3.71).

    >>> VecTose3([1, 2, 3, 4, 5, 6])[:3]
    array([[ 0., -3.,  2.,  4.],
           [ 3.,  0., -1.,  5.],
           [-2.,  1.,  0.,  6.]])
    """
    V = np.asarray(V)
    return np.block([[VecToso3(V[:3]), V[3:, None]], [np.zeros((1, 4))]])


def se3ToVec(se3mat: ArrayLike) -> Array:
    """V = (ω, v) of [V] = [[[ω], v], [0, 0]] (MR 3.71).

    >>> se3ToVec([[0, -3, 2, 4], [3, 0, -1, 5], [-2, 1, 0, 6], [0, 0, 0, 0]])
    array([1, 2, 3, 4, 5, 6])
    """
    return np.array(se3mat)[[2, 0, 1, 0, 1, 2], [1, 2, 0, 3, 3, 3]]


def Adjoint(T: ArrayLike) -> Array:
    """[Ad_T] = [[R, 0], [[p]R, R]], 6×6 (MR Definition 3.20).

    >>> Adjoint([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 3], [0, 0, 0, 1]])[3:, :3]
    array([[ 0., -3.,  0.],
           [ 3.,  0.,  0.],
           [ 0.,  0.,  0.]])
    """
    R, p = TransToRp(T)
    return np.block([[R, np.zeros((3, 3))], [VecToso3(p) @ R, R]])


def ScrewToAxis(q: ArrayLike, s: ArrayLike, h: float) -> Array:
    """S = (ŝ, −ŝ × q + h ŝ), of a line through q along ŝ with pitch h (MR 3.3.2.2).

    >>> ScrewToAxis([3, 0, 0], [0, 0, 1], 2)
    array([ 0,  0,  1,  0, -3,  2])
    """
    s = np.asarray(s)
    return np.concatenate([s, np.cross(np.asarray(q), s) + h * s])


def AxisAng6(expc6: ArrayLike) -> tuple[Array, float]:
    """(S, θ) of exponential coordinates Sθ: θ is |ω|, or |v| for a pure translation (MR 3.3.3).

    >>> S, theta = AxisAng6([2, 0, 0, 2, 4, 6])
    >>> S, float(theta)
    (array([1., 0., 0., 1., 2., 3.]), 2.0)
    """
    x = np.asarray(expc6)
    turn = np.linalg.norm(x[:3])
    theta = np.linalg.norm(x[3:]) if NearZero(turn) else turn  # type: ignore[arg-type]
    return x / theta, theta  # type: ignore[return-value]


def MatrixExp6(se3mat: ArrayLike) -> Array:
    """T = e^{[S]θ} = [[e^{[ω]θ}, G(θ)v], [0, 1]] (MR 3.88).

    >>> MatrixExp6(VecTose3([0, 0, np.pi / 2, 0, -np.pi / 2, 0])).round(12)[:, 3]
    array([ 1., -1.,  0.,  1.])
    """
    R, p = exp(Motion.of(se3ToVec(se3mat).tolist()))
    return RpToTrans(np.array(R.matrix, dtype=float), np.array(p, dtype=float))


def MatrixLog6(T: ArrayLike) -> Array:
    """[S]θ with e^{[S]θ} = T and 0 ≤ θ ≤ π (MR 3.91–3.92).

    >>> se3ToVec(MatrixLog6([[0, -1, 0, 1], [1, 0, 0, -1], [0, 0, 1, 0], [0, 0, 0, 1]])).round(6) + 0.0
    array([ 0.      ,  0.      ,  1.570796,  0.      , -1.570796,  0.      ])
    """
    R, p = TransToRp(np.asarray(T, dtype=float))
    V = log(_quaternion(R), Vec(*p.tolist()))
    return VecTose3(np.array([*V.w, *V.v], dtype=float))


def _quaternion(R: Array) -> Quaternion:
    """The unit quaternion of a rotation, w ≥ 0."""
    q = quaternion_of(Mat(*(Vec(*row) for row in R.tolist())))
    if abs(q.w) < 1e-15:  # half a turn, either way round: the book's choice
        q = Quaternion(q.x, q.y, q.z, 0.0)
        last = next((n for n in (q.z, q.y, q.x) if abs(n) > 1e-6), 1.0)
        return q if last > 0 else Quaternion(-q.x, -q.y, -q.z, 0.0)
    return q
