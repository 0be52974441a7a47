"""Fourier series in joint space, periodic or from rest to rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError, Unsupported
from torsor.mechanics.trajectories.coordinate_path import configurations_of, path_of
from torsor.mechanics.trajectories.scaling import PiecewiseScaling
from torsor.mechanics.trajectories.trajectory import Trajectory
from torsor.support.user_arrays import Array, as_array

if TYPE_CHECKING:
    from torsor.robot import Robot


@dataclass(frozen=True, eq=False)
class Series:
    """x(t) = Σ_k a_k sin kωt + b_k cos kωt + Σ_m c_m t^m, with a and b (n, nq), c (m, nq)."""

    omega: float
    sines: Array
    cosines: Array
    polynomial: Array

    def __call__(self, t: Array, order: int) -> Array:
        """The derivative of an order at t (T,), (T, nq): each turns the phase by π/2 and multiplies by kω."""
        k = self.omega * np.arange(1, len(self.sines) + 1)
        phase = np.outer(t, k) + order * np.pi / 2
        c = np.polynomial.polynomial.polyder(self.polynomial, order, axis=0)
        rest = np.polynomial.polynomial.polyval(t, c).T
        out: Array = (np.sin(phase) * k**order) @ self.sines + (np.cos(phase) * k**order) @ self.cosines + rest
        return out


def fourier(
    robot: Robot,
    q0: ArrayLike,
    sines: ArrayLike,
    cosines: ArrayLike | None = None,
    *,
    frequency: float,
    duration: float | None = None,
    at_rest: bool = False,
) -> Trajectory:
    """q(t) = q0 + Σ_k a_k sin kωt + b_k cos kωt, ω = 2π ``frequency`` [Hz], ``sines`` a and ``cosines`` b (n, nq) [rad, m].

    ``duration`` [s] is by default one period.  With ``at_rest`` a polynomial of degree five is added so that the motion starts
    and ends in q0 with v = a = 0.  Robots with quaternions have no such series.

    >>> import torsor as ts
    >>> arm = ts.robots.two_link()
    >>> motion = ts.trajectories.fourier(arm, [0, 1], [[0.2, 0], [0, 0.1]], frequency=0.5, at_rest=True)
    >>> motion.duration, motion.at([0, 2]).q.round(9)[:, 1].tolist()
    (2.0, [1.0, 1.0])
    """
    center = configurations_of(robot, "q0", q0)
    if robot.nq != robot.nv:
        raise Unsupported(f"robot {robot.name!r} has quaternions, which are not sums of sines; use quintic_spline")
    a = as_array("sines", sines, dtype=float)
    b = np.zeros_like(a) if cosines is None else as_array("cosines", cosines, dtype=float)
    for name, x in (("sines", a), ("cosines", b)):
        if x.ndim != 2 or x.shape != (len(a), robot.nq) or not len(a) or not np.isfinite(x).all():
            raise ArgumentError(f"{name} must be finite numbers (n, {robot.nq}), one row per harmonic, of one n from 1")
    T = duration if duration is not None else 1 / frequency if frequency else 0.0
    for name, number in (("frequency", frequency), ("duration", T)):
        if not 0 < number < np.inf:
            raise ArgumentError(f"{name} must be a positive number, not {number!r}")
    series = Series(2 * np.pi * frequency, a.copy(), b.copy(), center[None])
    ends = np.array([0.0, T])
    if at_rest:
        series = Series(series.omega, series.sines, series.cosines, _to_rest(series, center, T))
    return Trajectory(path_of(robot, series, ends), PiecewiseScaling(ends, np.array([[0.0, 1.0]])))


def _to_rest(series: Series, center: Array, T: float) -> Array:
    """The polynomial c (6, nq) with which x = ``center`` and ẋ = ẍ = 0 at 0 and at T, with τ = t/T in its equations."""
    orders, ends = (0, 1, 2), np.array([0.0, T])
    off = np.array([series(ends, k) - (center if k == 0 else 0) for k in orders]) * (T ** np.arange(3))[:, None, None]
    # rows: derivatives of order 0, 1, 2 at τ = 0, then at τ = 1, of 1, τ, ..., τ⁵
    unit = np.eye(6)
    rows = [
        [np.polynomial.polynomial.polyval(x, np.polynomial.polynomial.polyder(u, k)) for u in unit]
        for x in (0, 1)
        for k in orders
    ]
    c = np.linalg.solve(np.array(rows), -np.concatenate((off[:, 0], off[:, 1])))
    c[0] += center
    scaled: Array = c / (T ** np.arange(6))[:, None]
    return scaled
