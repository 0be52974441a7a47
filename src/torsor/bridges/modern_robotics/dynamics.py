"""MR §8.11: the dynamics of an open chain given by its lists, one state or (leading axes) many.

``Mlist`` n+1 home poses M_{i−1,i}, the last one the end effector's in {n}; ``Glist`` n spatial inertias G_i in {i}; ``Slist``
(6×n) screw axes in the space frame at home; ``g`` the gravity vector [m/s²]; ``Ftip`` the wrench (moment, force) that the end
effector applies to its surroundings, in its own frame.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from torsor.bridges.modern_robotics.chain import chain
from torsor.bridges.modern_robotics.motions import VecToso3
from torsor.support.user_arrays import Array


def ad(V: ArrayLike) -> Array:
    """[ad_V] = [[[ω], 0], [[v], [ω]]], so that [ad_V] W is the Lie bracket of two twists (MR 8.38).

    >>> ad([1, 2, 3, 4, 5, 6])[3:, :3]
    array([[ 0., -6.,  5.],
           [ 6.,  0., -4.],
           [-5.,  4.,  0.]])
    """
    V = np.asarray(V)
    w = VecToso3(V[:3])
    return np.block([[w, np.zeros((3, 3))], [VecToso3(V[3:]), w]])


def InverseDynamics(
    thetalist: ArrayLike, dthetalist: ArrayLike, ddthetalist: ArrayLike, g: ArrayLike, Ftip: ArrayLike,
    Mlist: Any, Glist: Any, Slist: Any,
) -> Array:  # fmt: skip
    """τ = M(θ)θ̈ + c(θ, θ̇) + g(θ) + Jᵀ(θ)F_tip, by the recursion of Newton and Euler (MR 8.50–8.54).

    >>> M, G, S = [np.eye(4)] * 2, [np.diag([0.1, 0.1, 0.1, 2, 2, 2])], np.array([[0, 0, 1, 0, -0.5, 0]]).T
    >>> InverseDynamics([0.0], [1.0], [2.0], [0, -10, 0], [0, 0, 0, 0, 0, 0], M, G, S).round(6)
    array([-8.8])
    """
    return chain(Mlist, Glist, Slist).functions["InverseDynamics"](thetalist, dthetalist, ddthetalist, g, Ftip)


def MassMatrix(thetalist: ArrayLike, Mlist: Any, Glist: Any, Slist: Any) -> Array:
    """M(θ), n×n (MR 8.57), by composite bodies and not by n inverse dynamics.

    >>> M, G, S = [np.eye(4)] * 2, [np.diag([0.1, 0.1, 0.1, 2, 2, 2])], np.array([[0, 0, 1, 0, -0.5, 0]]).T
    >>> MassMatrix([0.0], M, G, S)
    array([[0.6]])
    """
    return chain(Mlist, Glist, Slist).functions["MassMatrix"](thetalist)


def VelQuadraticForces(thetalist: ArrayLike, dthetalist: ArrayLike, Mlist: Any, Glist: Any, Slist: Any) -> Array:
    """c(θ, θ̇), the Coriolis and centripetal forces (MR 8.10): inverse dynamics with θ̈, g and F_tip zero.

    >>> M, G, S = [np.eye(4)] * 2, [np.diag([0.1, 0.1, 0.1, 2, 2, 2])], np.array([[0, 0, 1, 0, -0.5, 0]]).T
    >>> VelQuadraticForces([0.0], [3.0], M, G, S)
    array([0.])
    """
    return chain(Mlist, Glist, Slist).functions["VelQuadraticForces"](thetalist, dthetalist)


def GravityForces(thetalist: ArrayLike, g: ArrayLike, Mlist: Any, Glist: Any, Slist: Any) -> Array:
    """g(θ), the joint forces that hold the robot at rest against gravity (MR 8.10).

    >>> M, G, S = [np.eye(4)] * 2, [np.diag([0.1, 0.1, 0.1, 2, 2, 2])], np.array([[0, 0, 1, 0, -0.5, 0]]).T
    >>> GravityForces([0.0], [0, -10, 0], M, G, S)
    array([-10.])
    """
    return chain(Mlist, Glist, Slist).functions["GravityForces"](thetalist, g)


def EndEffectorForces(thetalist: ArrayLike, Ftip: ArrayLike, Mlist: Any, Glist: Any, Slist: Any) -> Array:
    """Jᵀ(θ)F_tip, the joint forces for an end-effector wrench F_tip (MR §8.11; 5.26).

    >>> M, G, S = [np.eye(4)] * 2, [np.diag([0.1, 0.1, 0.1, 2, 2, 2])], np.array([[0, 0, 1, 0, -0.5, 0]]).T
    >>> EndEffectorForces([0.0], [0, 0, 0, 0, 1, 0], M, G, S)
    array([-0.5])
    """
    return chain(Mlist, Glist, Slist).functions["EndEffectorForces"](thetalist, Ftip)


def ForwardDynamics(
    thetalist: ArrayLike, dthetalist: ArrayLike, taulist: ArrayLike, g: ArrayLike, Ftip: ArrayLike,
    Mlist: Any, Glist: Any, Slist: Any,
) -> Array:  # fmt: skip
    """θ̈ = M⁻¹(τ − c − g − JᵀF_tip) (MR 8.81), without inverting M.

    >>> M, G, S = [np.eye(4)] * 2, [np.diag([0.1, 0.1, 0.1, 2, 2, 2])], np.array([[0, 0, 1, 0, -0.5, 0]]).T
    >>> ForwardDynamics([0.0], [1.0], [-8.8], [0, -10, 0], [0, 0, 0, 0, 0, 0], M, G, S).round(6)
    array([2.])
    """
    return chain(Mlist, Glist, Slist).functions["ForwardDynamics"](thetalist, dthetalist, taulist, g, Ftip)


def EulerStep(thetalist: ArrayLike, dthetalist: ArrayLike, ddthetalist: ArrayLike, dt: float) -> tuple[Array, Array]:
    """θ(t + δt) ≈ θ + θ̇ δt and θ̇(t + δt) ≈ θ̇ + θ̈ δt (MR §8.5).

    >>> EulerStep([1.0], [2.0], [3.0], 0.5)
    (array([2.]), array([3.5]))
    """
    theta, rate, acceleration = (np.asarray(x) for x in (thetalist, dthetalist, ddthetalist))
    return theta + dt * rate, rate + dt * acceleration
