"""Jacobians of exponential and logarithm as arrays, of SO(3) and SE(3).

``side="right"`` is a perturbation in the body's axes, exp(x + δ) = exp(x) exp(J δ), and the body's velocity is J ẋ; ``"left"``
one in the fixed axes, exp(x + δ) = exp(J δ) exp(x), and the spatial velocity is J ẋ.  Both to first order in δ.

The formulas are those of :mod:`torsor.spatial.exponential`, over any scalar; here they are applied to arrays.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import require_known
from torsor.spatial import Mat, Motion, Vec, exponential
from torsor.spatial.recovery import quaternion_of
from torsor.spatial.rigid import reading as read

#: the sign with which the left Jacobian takes its argument
SIDES = {"left": 1, "right": -1}


def exp3_jacobian(w: ArrayLike, side: str = "right") -> np.ndarray:
    """J (..., 3, 3) of :func:`exp3`: exp(w + δ) = exp(w) exp(J δ), right; = exp(J δ) exp(w), left.

    J_left = 1 + (1 − cos θ)/θ² [w] + (θ − sin θ)/θ³ [w]², J_right(w) = J_left(−w).  Elsewhere: ``Jexp3`` (Pinocchio, right),
    ``rjac`` and ``ljac`` (manif), ``leftJacobian`` (Sophus).

    >>> exp3_jacobian([0, 0, np.pi], side="left").round(6)
    array([[ 0.     , -0.63662,  0.     ],
           [ 0.63662,  0.     ,  0.     ],
           [ 0.     ,  0.     ,  1.     ]])
    """
    return read.matrix(exponential.left_jacobian(read.rotation_vector(read.vec(w, "w"), "w") * _sign(side)))


def log3_jacobian(R: ArrayLike, side: str = "right") -> np.ndarray:
    """J⁻¹ (..., 3, 3) of :func:`log3`: log(R exp(δ)) = log R + J⁻¹δ, right; log(exp(δ) R) = log R + J⁻¹δ, left.

    It is the inverse of :func:`exp3_jacobian` at w = log R, |w| ≤ π, where it exists everywhere.  Elsewhere: ``Jlog3``
    (Pinocchio, right), ``rjacinv`` and ``ljacinv`` (manif), ``leftJacobianInverse`` (Sophus).

    >>> log3_jacobian(np.eye(3)).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    w = quaternion_of(read.mat(read.rotation(R, "R"))).log
    return read.matrix(exponential.left_jacobian_inverse(w * _sign(side)))


def exp6_jacobian(V: ArrayLike, side: str = "right") -> np.ndarray:
    """J (..., 6, 6) of :func:`exp6`: exp(V + δ) = exp(V) exp(J δ), right; = exp(J δ) exp(V), left.

    J_left = Σ [ad_V]ⁿ/(n + 1)!, J_right(V) = J_left(−V); angular rows and columns first.  Elsewhere: ``Jexp6`` (Pinocchio,
    right, linear part first), ``rjac`` and ``ljac`` (manif).

    >>> exp6_jacobian(np.zeros(6)).tolist() == np.eye(6).tolist()
    True
    """
    V_ = read.motion(V, "V")
    return _of_twist(exponential.left_jacobian, Motion(read.rotation_vector(V_.w, "V"), V_.v) * _sign(side))


def log6_jacobian(T: ArrayLike, side: str = "right") -> np.ndarray:
    """J⁻¹ (..., 6, 6) of :func:`log6`: log(T exp(δ)) = log T + J⁻¹δ, right; log(exp(δ) T) = log T + J⁻¹δ, left.

    It is the inverse of :func:`exp6_jacobian` at V = log T.  Elsewhere: ``Jlog6`` (Pinocchio, right, linear part first),
    ``rjacinv`` and ``ljacinv`` (manif).

    >>> log6_jacobian(np.eye(4)).tolist() == np.eye(6).tolist()
    True
    """
    R, p = read.pose(T, "T")
    return _of_twist(exponential.left_jacobian_inverse, exponential.log(quaternion_of(R), p) * _sign(side))


def _of_twist(function: Callable[[Vec], Mat], V: Motion) -> np.ndarray:
    return read.blocks(*exponential.of_twist(function, V))


def _sign(side: str) -> int:
    require_known("side=", side, SIDES)
    return SIDES[side]
