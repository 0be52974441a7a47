"""MR §8.11: inverse and forward dynamics along a trajectory, one row per time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from torsor.bridges.modern_robotics.chain import Chain, chain
from torsor.errors import ArgumentError
from torsor.support.user_arrays import Array, as_array


def InverseDynamicsTrajectory(
    thetamat: ArrayLike, dthetamat: ArrayLike | None, ddthetamat: ArrayLike | None, g: ArrayLike, Ftipmat: ArrayLike,
    Mlist: Any, Glist: Any, Slist: Any, dt: float | None = None,
) -> Array:  # fmt: skip
    """τ(t), N×n, of the motion θ(t), θ̇(t), θ̈(t) with one row per time, in one call (MR §8.11).

    ``Ftipmat`` is N×6, or 0 without contact.  With ``dthetamat=None`` or ``ddthetamat=None`` and the timestep ``dt``
    [s], rates come from the positions by :func:`rates` (Exercise 8.14).

    >>> M, G, S = [np.eye(4)] * 2, [np.diag([0.1, 0.1, 0.1, 2, 2, 2])], np.array([[0, 0, 1, 0, -0.5, 0]]).T
    >>> theta = np.linspace(0, 1, 11)[:, None] ** 2  # constant acceleration 2
    >>> InverseDynamicsTrajectory(theta, None, None, [0, 0, 0], 0, M, G, S, dt=0.1)[:2].round(6)
    array([[1.2],
           [1.2]])
    """
    theta = _rows(thetamat, "thetamat")
    if dthetamat is None or ddthetamat is None:
        if dt is None:
            raise ArgumentError("to compute velocities and accelerations from thetamat, give dt [s]")
        first, second = rates(theta, dt)
        if ddthetamat is None:
            ddthetamat = second if dthetamat is None else np.gradient(_rows(dthetamat, "dthetamat"), dt, axis=0, edge_order=2)
        dthetamat = first if dthetamat is None else dthetamat
    F = _tips(Ftipmat, len(theta))
    return chain(Mlist, Glist, Slist).functions["InverseDynamics"](theta, dthetamat, ddthetamat, np.asarray(g, dtype=float), F)


def rates(thetamat: ArrayLike, dt: float) -> tuple[Array, Array]:
    """θ̇ ≈ (θ₊ − θ₋)/2δt, θ̈ ≈ (θ₊ − 2θ + θ₋)/δt², at the ends one-sided; all with errors of O(δt²) (Exercise 8.14).

    At the first row θ̇₀ ≈ (−3θ₀ + 4θ₁ − θ₂)/2δt and θ̈₀ ≈ (2θ₀ − 5θ₁ + 4θ₂ − θ₃)/δt²; the last row likewise.

    >>> velocity, acceleration = rates([[0.0], [1.0], [4.0], [9.0]], 1.0)
    >>> velocity.ravel(), acceleration.ravel()
    (array([0., 2., 4., 6.]), array([2., 2., 2., 2.]))
    """
    theta = _rows(thetamat, "thetamat")
    if len(theta) < 4:
        raise ArgumentError(f"finite differences of second order need at least 4 rows of thetamat, {len(theta)} given")
    if not dt > 0:
        raise ArgumentError(f"dt must be a positive time [s], not {dt}")
    second = np.empty_like(theta)
    second[1:-1] = theta[2:] - 2 * theta[1:-1] + theta[:-2]
    second[0], second[-1] = (2 * a - 5 * b + 4 * c - d for a, b, c, d in (theta[:4], theta[:-5:-1]))
    return np.gradient(theta, dt, axis=0, edge_order=2), second / dt**2


def ForwardDynamicsTrajectory(
    thetalist: ArrayLike, dthetalist: ArrayLike, taumat: ArrayLike, g: ArrayLike, Ftipmat: ArrayLike,
    Mlist: Any, Glist: Any, Slist: Any, dt: float, intRes: int,
) -> tuple[Array, Array]:  # fmt: skip
    """(θ(t), θ̇(t)), N×n each, under the joint forces τ(t), N×n, by ``intRes`` Euler steps in each ``dt`` [s] (MR §8.11).

    The first row is the initial state; row i of ``taumat`` and ``Ftipmat`` (N×6, or 0) acts from time i dt to (i + 1) dt.

    >>> M, G, S = [np.eye(4)] * 2, [np.diag([0.1, 0.1, 0.1, 2, 2, 2])], np.array([[0, 0, 1, 0, -0.5, 0]]).T
    >>> theta, dtheta = ForwardDynamicsTrajectory([0.0], [0.0], np.full((3, 1), 1.2), [0, 0, 0], 0, M, G, S, 0.1, 4)
    >>> dtheta.ravel().round(6)
    array([0. , 0.2, 0.4])
    """
    robot = chain(Mlist, Glist, Slist)
    tau = _rows(taumat, "taumat")
    states = np.empty((len(tau), 2, robot.n))
    states[0] = initial(robot, thetalist, dthetalist)
    advance(robot, states, tau, np.array(g, dtype=float), _tips(Ftipmat, len(tau)), dt, intRes)
    return states[:, 0].copy(), states[:, 1].copy()


def initial(robot: Chain, thetalist: ArrayLike, dthetalist: ArrayLike) -> Array:
    """(θ, θ̇) as one array (2, n)."""
    for name, x in (("thetalist", thetalist), ("dthetalist", dthetalist)):
        if np.shape(x) != (robot.n,):
            raise ArgumentError(f"{name} has shape {np.shape(x)}, expected ({robot.n},)")
    return np.array([thetalist, dthetalist], dtype=np.float64)


def advance(robot: Chain, states: Array, tau: Array, g: Array, F: Array, dt: float, intRes: int) -> None:
    """Fill ``states`` (N, 2, n) from its first: N − 1 times ``intRes`` steps of Euler's step."""
    substeps = int(intRes)
    if substeps != intRes or substeps < 1:
        raise ArgumentError(f"intRes must be a whole number of steps, 1 or more, not {intRes}")
    step, h = robot.functions["EulerStep"].entry((len(states) - 1) * substeps), np.array(dt / substeps, dtype=np.float64)
    x, turns = states[0], range(substeps)
    for i in range(len(states) - 1):
        t, tip = tau[i], F[i]
        for _ in turns:
            x = step(x, t, g, tip, h)
        states[i + 1] = x


def _rows(matrix: ArrayLike, name: str) -> Array:
    """N×n, one row per time."""
    rows = np.array(as_array(name, matrix, dtype=np.float64), order="C")
    if rows.ndim != 2 or not len(rows):
        raise ArgumentError(f"{name} must be N×n, one row per time, N > 0; its shape is {rows.shape}")
    return rows


def _tips(Ftipmat: ArrayLike, N: int) -> Array:
    """N×6; a single zero means no wrench at any time."""
    F = as_array("Ftipmat", Ftipmat, dtype=np.float64)
    if F.ndim == 0 and F == 0:
        return np.zeros((N, 6))
    return _rows(F, "Ftipmat")
