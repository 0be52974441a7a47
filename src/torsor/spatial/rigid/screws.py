"""Twists and wrenches as arrays: [ω], [V], [ad_V], the Lie bracket, ad_Vᵀ, [Ad_T] (MR 8.35–8.39 and chapter 3).

V = (ω, v) [rad/s, m/s] and F = (m, f) [N·m, N], angular part first.  Leading axes are a batch.  Twists and wrenches of symbols
give arrays of expressions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError
from torsor.spatial import Transform
from torsor.spatial.rigid import reading as read


def skew(w: ArrayLike) -> np.ndarray:
    """[ω] (..., 3, 3), with [ω] x = ω × x (MR 3.30; 8.36 is [ω₁ × ω₂] = [ω₁][ω₂] − [ω₂][ω₁]).

    >>> skew([1, 2, 3]).tolist()
    [[0.0, -3.0, 2.0], [3.0, 0.0, -1.0], [-2.0, 1.0, 0.0]]
    """
    return read.matrix(read.vec(w, "w", symbols=True).skew())


def unskew(S: ArrayLike) -> np.ndarray:
    """ω (..., 3) of a skew-symmetric matrix [ω]: the inverse of :func:`skew` (MR 3.30).

    >>> unskew(skew([1, 2, 3])).tolist()
    [1.0, 2.0, 3.0]
    """
    a = read.array(S, (3, 3), "S")
    if np.abs(a + np.swapaxes(a, -1, -2)).max(initial=0) > 1e-9 * max(1.0, np.abs(a).max(initial=0)):
        raise ArgumentError("S must be skew-symmetric: Sᵀ = −S")
    return read.stack([a[..., 2, 1], a[..., 0, 2], a[..., 1, 0]])


def twist_matrix(V: ArrayLike) -> np.ndarray:
    """[V] = [[[ω], v], [0, 0]] (..., 4, 4), with Ṫ = T [V] for a body twist V (MR 3.69).

    >>> twist_matrix([0, 0, 1, 2, 3, 4])[:3].tolist()
    [[0.0, -1.0, 0.0, 2.0], [1.0, 0.0, 0.0, 3.0], [0.0, 0.0, 0.0, 4.0]]
    """
    V_ = read.motion(V, "V", symbols=True)
    return read.matrix([*((*row, v) for row, v in zip(V_.w.skew(), V_.v, strict=True)), (0, 0, 0, 0)])


def ad(V: ArrayLike) -> np.ndarray:
    """[ad_V] = [[[ω], 0], [[v], [ω]]] (..., 6, 6) (MR 8.38).

    >>> ad([0, 0, 1, 0, 0, 0]) @ [1, 0, 0, 0, 0, 0]
    array([0., 1., 0., 0., 0., 0.])
    """
    V_ = read.motion(V, "V", symbols=True)
    return read.blocks(V_.w.skew(), V_.v.skew())


def lie_bracket(V1: ArrayLike, V2: ArrayLike) -> np.ndarray:
    """[ad_V1] V2 = (ω₁ × ω₂, v₁ × ω₂ + ω₁ × v₂) (..., 6): the cross product of twists in one frame (MR 8.37).

    >>> lie_bracket([0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0])
    array([0., 0., 0., 0., 1., 0.])
    """
    W = read.motion(V1, "V1", symbols=True).cross(read.motion(V2, "V2", symbols=True))
    return read.stack([*W.w, *W.v])


def ad_transpose(V: ArrayLike, F: ArrayLike) -> np.ndarray:
    """[ad_V]ᵀ F = (−ω × m − v × f, −ω × f) (..., 6), of a twist and a wrench in one frame (MR 8.39).

    >>> ad_transpose([0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0])
    array([ 0.,  0.,  0.,  0., -1.,  0.])
    """
    F_ = -read.motion(V, "V", symbols=True).cross(read.force(F, "F", symbols=True))
    return read.stack([*F_.m, *F_.f])


def adjoint(T: ArrayLike) -> np.ndarray:
    """[Ad_T] = [[R, 0], [[p] R, R]] (..., 6, 6): V_a = [Ad_T_ab] V_b; F_b = [Ad_T_ab]ᵀ F_a (MR Definition 3.20, 8.42).

    ``T`` is T_ab (4×4), the pose of frame {b} in {a}.

    >>> adjoint(pose(p=[1, 0, 0])) @ [0, 0, 1, 0, 0, 0]  # turning about an axis 1 m away in x
    array([ 0.,  0.,  1.,  0., -1.,  0.])
    """
    R, p = read.pose(T, "T")
    return read.blocks(R, p.skew() @ R)


def pose(R: ArrayLike | None = None, p: ArrayLike = (0, 0, 0)) -> np.ndarray:
    """T = [[R, p], [0, 1]] (..., 4, 4): a frame with axes R (none: unturned) and origin p [m] (MR 3.62).

    >>> pose(p=[1, 2, 3])[:3, 3]
    array([1., 2., 3.])
    """
    axes = read.rotation(np.eye(3) if R is None else R, "R")
    return read.pose_matrix(read.mat(axes), read.vec(p, "p"))


def inverse_pose(T: ArrayLike) -> np.ndarray:
    """T⁻¹ = [[Rᵀ, −Rᵀp], [0, 1]] (..., 4, 4): the pose of {a} in {b}, from that of {b} in {a} (MR 3.64).

    >>> inverse_pose(pose(p=[1, 2, 3]))[:3, 3]
    array([-1., -2., -3.])
    """
    return read.pose_matrix(*Transform.of_pose(*read.pose(T, "T")).inverse.pose)
