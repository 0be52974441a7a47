"""Finite motions as arrays: exponential and logarithm of SO(3) and SE(3), quaternions, interpolation (MR chapter 3).

The formulas are those of :mod:`torsor.spatial.rotation` and :mod:`torsor.spatial.exponential`; here they are applied to arrays.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError
from torsor.spatial import Motion, Quaternion, exponential
from torsor.spatial.recovery import quaternion_of
from torsor.spatial.rigid import reading as read


def exp3(w: ArrayLike) -> np.ndarray:
    """R = e^[w] = 1 + sin θ [ŵ] + (1 − cos θ)[ŵ]², w = ŵ θ [rad] (..., 3) (MR 3.51).

    >>> exp3([0, 0, np.pi / 2]).round(12) + 0.0
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    return read.matrix(Quaternion.exp(read.rotation_vector(read.vec(w, "w"), "w")).matrix)


def log3(R: ArrayLike) -> np.ndarray:
    """w (..., 3) [rad] with e^[w] = R, the shorter way round: |w| ≤ π (MR 3.53–3.61).

    Exact to rounding everywhere: it uses the quaternion, which loses no digits at 0 or π.  At π both w and −w are
    valid, and one of them is returned.

    >>> log3(exp3([0.1, 0.2, -0.3])).round(12)
    array([ 0.1,  0.2, -0.3])
    """
    return read.stack(quaternion_of(read.mat(read.rotation(R, "R"))).log)


def exp6(V: ArrayLike) -> np.ndarray:
    """T = e^[V] = [[e^[ω], G(ω) v], [0, 1]] (..., 4, 4): pose after unit time at the body twist V (MR 3.88).

    V = S θ with a screw axis S gives the motion along the screw by θ.

    >>> exp6([0, 0, 0, 1, 2, 3])[:3, 3]
    array([1., 2., 3.])
    """
    V_ = read.motion(V, "V")
    R, p = exponential.exp(Motion(read.rotation_vector(V_.w, "V"), V_.v))
    return read.pose_matrix(R.matrix, p)


def log6(T: ArrayLike) -> np.ndarray:
    """V (..., 6) with e^[V] = T, the shorter way round: |ω| ≤ π (MR 3.91–3.92).

    >>> log6(exp6([0.1, 0.2, -0.3, 1, 2, 3])).round(12)
    array([ 0.1,  0.2, -0.3,  1. ,  2. ,  3. ])
    """
    R, p = read.pose(T, "T")
    V = exponential.log(quaternion_of(R), p)
    return read.stack([*V.w, *V.v])


def to_quaternion(R: ArrayLike) -> np.ndarray:
    """(x, y, z, w) (..., 4) of a rotation, w ≥ 0: R = 1 + 2w[u] + 2[u]² with u = (x, y, z) (MR appendix B.3).

    >>> to_quaternion(exp3([0, 0, np.pi])).round(12) + 0.0
    array([0., 0., 1., 0.])
    """
    return read.stack(quaternion_of(read.mat(read.rotation(R, "R"))))


def from_quaternion(q: ArrayLike) -> np.ndarray:
    """R (..., 3, 3) of a quaternion (x, y, z, w); it need not be of unit length, only not zero (MR appendix B.3).

    >>> from_quaternion([0, 0, 2, 0]).tolist()
    [[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    a = read.array(q, (4,), "q")
    size = np.abs(a).max(axis=-1, keepdims=True)
    if not (size > 0).all():
        raise ArgumentError("q: a quaternion of zeros (or NaN) is not a rotation")
    a = a / size  # so that no square over- or underflows
    return read.matrix(Quaternion(*(a[..., i] for i in range(4))).matrix)


def slerp(R0: ArrayLike, R1: ArrayLike, s: ArrayLike) -> np.ndarray:
    """R = R0 exp(s log(R0ᵀ R1)) (..., 3, 3): from R0 (s = 0) to R1 (s = 1) about one axis at constant speed, the shorter way.

    Arrays broadcast: ``slerp(R0, R1, np.linspace(0, 1, 50))`` are fifty rotations.  A difference of π goes one of the two ways.
    Elsewhere: ``Slerp`` (SciPy), ``Quaternion.slerp`` (Eigen, Pinocchio).

    >>> log3(slerp(np.eye(3), exp3([0, 0, 0.4]), 0.25)).round(6)
    array([0. , 0. , 0.1])
    """
    a, b = (quaternion_of(read.mat(read.rotation(R, name))) for R, name in ((R0, "R0"), (R1, "R1")))
    return read.matrix(exponential.slerp(a, b, read.numbers(s, "s")).matrix)


def interpolate_pose(T0: ArrayLike, T1: ArrayLike, s: ArrayLike) -> np.ndarray:
    """T = T0 exp(s log(T0⁻¹ T1)) (..., 4, 4): from T0 (s = 0) to T1 (s = 1) along a screw, at constant twist (MR §9.2.1).

    Arrays broadcast, as in :func:`slerp`.  The origin moves on a helix; for a straight line use :func:`slerp` and
    p0 + s (p1 − p0).  Elsewhere: ``SE3.Interpolate`` (Pinocchio), ``ScrewTrajectory`` (Modern Robotics), ScLERP.

    >>> interpolate_pose(np.eye(4), exp6([0, 0, 0, 2, 0, 0]), 0.25)[:3, 3]
    array([0.5, 0. , 0. ])
    """
    (R0, p0), (R1, p1) = read.pose(T0, "T0"), read.pose(T1, "T1")
    R, p = exponential.screw((quaternion_of(R0), p0), (quaternion_of(R1), p1), read.numbers(s, "s"))
    return read.pose_matrix(R.matrix, p)
