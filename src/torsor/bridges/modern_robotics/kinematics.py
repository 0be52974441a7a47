"""MR ch. 4–6: products of exponentials, their Jacobians, and inverse kinematics by Newton and Raphson.

The list of screws is an input of the functions that are compiled, so that all robots with n joints share one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from torsor.bridges.modern_robotics.deferred_compilation import DeferredKernel
from torsor.bridges.modern_robotics.motions import Adjoint, MatrixLog6, TransInv, se3ToVec
from torsor.compile import Argument
from torsor.errors import ArgumentError
from torsor.kernels.functions import function_kernel
from torsor.scalar import Scalars
from torsor.spatial import Mat, Motion, Transform, Vec
from torsor.spatial.exponential import exp
from torsor.support.user_arrays import Array, as_array

#: iterations after which inverse kinematics gives up
ITERATIONS = 20


def FKinSpace(M: ArrayLike, Slist: ArrayLike, thetalist: ArrayLike) -> Array:
    """T(θ) = e^{[S₁]θ₁} ⋯ e^{[Sₙ]θₙ} M, screws as columns in the space frame (MR 4.14).

    >>> S = np.array([[0, 0, 1, 0, 0, 0], [0, 0, 1, 0, -1, 0]]).T
    >>> M = [[1, 0, 0, 2], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    >>> FKinSpace(M, S, [np.pi / 2, -np.pi / 2]).round(12)[:, 3]
    array([1., 1., 0., 1.])
    """
    return _poses(_space, M, Slist, thetalist)


def FKinBody(M: ArrayLike, Blist: ArrayLike, thetalist: ArrayLike) -> Array:
    """T(θ) = M e^{[B₁]θ₁} ⋯ e^{[Bₙ]θₙ}, screws as columns in the end-effector frame (MR 4.16).

    >>> B = np.array([[0, 0, 1, 0, 2, 0], [0, 0, 1, 0, 1, 0]]).T
    >>> M = [[1, 0, 0, 2], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    >>> FKinBody(M, B, [np.pi / 2, -np.pi / 2]).round(12)[:, 3]
    array([1., 1., 0., 1.])
    """
    return _poses(_body, M, Blist, thetalist)


def JacobianSpace(Slist: ArrayLike, thetalist: ArrayLike) -> Array:
    """J_s(θ), 6×n, with columns [Ad_{e^{[S₁]θ₁} ⋯ e^{[S_{i−1}]θ_{i−1}}}] S_i (MR 5.11).

    >>> S = np.array([[0, 0, 1, 0, 0, 0], [0, 0, 1, 0, -1, 0]]).T
    >>> JacobianSpace(S, [np.pi / 2, 0.0]).round(12)[3] + 0.0
    array([0., 1.])
    """
    return _jacobians(_space_jacobian, Slist, thetalist)


def JacobianBody(Blist: ArrayLike, thetalist: ArrayLike) -> Array:
    """J_b(θ), 6×n, with columns [Ad_{e^{−[Bₙ]θₙ} ⋯ e^{−[B_{i+1}]θ_{i+1}}}] B_i (MR 5.18).

    >>> B = np.array([[0, 0, 1, 0, 2, 0], [0, 0, 1, 0, 1, 0]]).T
    >>> JacobianBody(B, [0.0, np.pi / 2]).round(12)[4] + 0.0
    array([1., 1.])
    """
    return _jacobians(_body_jacobian, Blist, thetalist)


def IKinBody(Blist: ArrayLike, M: ArrayLike, T: ArrayLike, thetalist0: ArrayLike, eomg: float, ev: float) -> tuple[Array, bool]:
    """θ with T(θ) = T: θ ← θ + J_b⁺ V_b with [V_b] = log(T(θ)⁻¹ T), until |ω_b| ≤ eomg, |v_b| ≤ ev (MR 6.2.2).

    Returns (θ, whether that was reached within 20 iterations).

    >>> B = np.array([[0, 0, 1, 0, 2, 0], [0, 0, 1, 0, 1, 0]]).T
    >>> M = np.array([[1, 0, 0, 2], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    >>> theta, found = IKinBody(B, M, FKinBody(M, B, [0.3, 0.5]), [0.2, 0.6], 1e-9, 1e-9)
    >>> theta.round(6), found
    (array([0.3, 0.5]), True)
    """

    def error(theta: Array) -> Array:
        return se3ToVec(MatrixLog6(TransInv(FKinBody(M, Blist, theta)) @ np.asarray(T, dtype=float)))

    return _newton(error, lambda theta: JacobianBody(Blist, theta), thetalist0, eomg, ev)


def IKinSpace(
    Slist: ArrayLike, M: ArrayLike, T: ArrayLike, thetalist0: ArrayLike, eomg: float, ev: float
) -> tuple[Array, bool]:
    """θ with T(θ) = T: θ ← θ + J_s⁺ V_s with V_s = [Ad_{T(θ)}] V_b, until |ω_s| ≤ eomg, |v_s| ≤ ev (MR 6.2.2).

    Returns (θ, whether that was reached within 20 iterations).

    >>> S = np.array([[0, 0, 1, 0, 0, 0], [0, 0, 1, 0, -1, 0]]).T
    >>> M = np.array([[1, 0, 0, 2], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    >>> theta, found = IKinSpace(S, M, FKinSpace(M, S, [0.3, 0.5]), [0.2, 0.6], 1e-9, 1e-9)
    >>> theta.round(6), found
    (array([0.3, 0.5]), True)
    """

    def error(theta: Array) -> Array:
        now = FKinSpace(M, Slist, theta)
        return Adjoint(now) @ se3ToVec(MatrixLog6(TransInv(now) @ np.asarray(T, dtype=float)))

    return _newton(error, lambda theta: JacobianSpace(Slist, theta), thetalist0, eomg, ev)


def _newton(
    error: Callable[[Array], Array], jacobian: Callable[[Array], Array], start: ArrayLike, eomg: float, ev: float
) -> tuple[Array, bool]:
    """MR 6.2.2, in either frame."""
    theta = np.array(start, dtype=np.float64)
    for iteration in range(ITERATIONS + 1):
        V = error(theta)
        if np.linalg.norm(V[:3]) <= eomg and np.linalg.norm(V[3:]) <= ev:
            return theta, True
        if iteration < ITERATIONS:
            theta = theta + np.linalg.pinv(jacobian(theta)) @ V
    return theta, False


# -- over any scalar ---------------------------------------------------------------------------------------------


def _screw_transform(screw: Motion, theta: Any) -> Transform:
    """e^{[S]θ}, as the transform into the frame it leads to."""
    R, p = exp(screw * theta)
    return Transform.of_pose(R.matrix, p)


def _screws(flat: Scalars) -> list[Motion]:
    """The columns of a 6×n matrix given row by row."""
    n = len(flat) // 6
    return [Motion.of([flat[row * n + i] for row in range(6)]) for i in range(n)]


def _home(M: Scalars) -> Transform:
    rows = [Vec(*M[4 * i : 4 * i + 3]) for i in range(3)]
    return Transform.of_pose(Mat(*rows), Vec(M[3], M[7], M[11]))


def _matrix(X: Transform) -> dict[str, Any]:
    R, p = X.pose
    return {"T": [*([*row, x] for row, x in zip(R, p, strict=True)), [0, 0, 0, 1]]}


def _space(M: Scalars, S: Scalars, theta: Scalars) -> dict[str, Any]:
    X = _home(M)
    for screw, angle in reversed(list(zip(_screws(S), theta, strict=True))):
        X = X @ _screw_transform(screw, angle)
    return _matrix(X)


def _body(M: Scalars, B: Scalars, theta: Scalars) -> dict[str, Any]:
    X = _home(M)
    for screw, angle in zip(_screws(B), theta, strict=True):
        X = _screw_transform(screw, angle) @ X
    return _matrix(X)


def _space_jacobian(S: Scalars, theta: Scalars) -> dict[str, Any]:
    X, columns = Transform.identity(), []
    for screw, angle in zip(_screws(S), theta, strict=True):
        columns.append(X.inverse @ screw)
        X = _screw_transform(screw, angle) @ X
    return {"Js": _by_rows(columns)}


def _body_jacobian(B: Scalars, theta: Scalars) -> dict[str, Any]:
    X, columns = Transform.identity(), []
    for screw, angle in reversed(list(zip(_screws(B), theta, strict=True))):
        columns.append(X @ screw)
        X = X @ _screw_transform(screw, angle)
    return {"Jb": _by_rows(columns[::-1])}


def _by_rows(columns: list[Motion]) -> list[list[Any]]:
    return [list(row) for row in zip(*((*c.w, *c.v) for c in columns), strict=True)]


# -- compiled ----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _kernel(function: Callable[..., Any], n: int) -> DeferredKernel:
    shapes = {"screws": (6, n), "thetalist": (n,)}
    if function in (_space, _body):
        shapes = {"M": (4, 4), **shapes}
    inputs = [Argument(name, shape) for name, shape in shapes.items()]
    return DeferredKernel(inputs, function, partial(function_kernel, function.__name__.strip("_"), function, inputs))


def _poses(function: Callable[..., Any], M: ArrayLike, screws: ArrayLike, thetalist: ArrayLike) -> Array:
    """As many screws are used as there are angles, so the pose of an inner link needs no other list."""
    theta, S = np.ascontiguousarray(as_array("thetalist", thetalist, dtype=float)), _columns(screws)
    n = theta.shape[-1]
    if n == 0:
        return np.array(M, dtype=float)
    return _kernel(function, n)(np.ascontiguousarray(as_array("M", M, dtype=float)), np.ascontiguousarray(S[:, :n]), theta)


def _jacobians(function: Callable[..., Any], screws: ArrayLike, thetalist: ArrayLike) -> Array:
    S = _columns(screws)
    return _kernel(function, S.shape[1])(S, np.ascontiguousarray(as_array("thetalist", thetalist, dtype=float)))


def _columns(screws: ArrayLike) -> Array:
    S = np.ascontiguousarray(as_array("screws", screws, dtype=float))
    if S.ndim != 2 or S.shape[0] != 6:
        raise ArgumentError(f"screws must have shape (6, n), one axis a column; the shape given is {S.shape}")
    return S
