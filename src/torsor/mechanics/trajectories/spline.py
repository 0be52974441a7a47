"""Cubic and quintic splines through waypoints on the configuration manifold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError, needs_extra
from torsor.mechanics.trajectories.coordinate_path import configurations_of, path_of
from torsor.mechanics.trajectories.extremes import extremes_of
from torsor.mechanics.trajectories.scaling import PiecewiseScaling
from torsor.mechanics.trajectories.trajectory import Trajectory
from torsor.model.names import coordinate_names
from torsor.support.user_arrays import Array, as_array

if TYPE_CHECKING:
    from torsor.robot import Robot

#: shortest time between waypoints [s]
APART = 1e-9
#: the derivatives of x at an end, by order
Ends = tuple[list[tuple[int, Array]], list[tuple[int, Array]]]


def cubic_spline(
    robot: Robot, waypoints: ArrayLike, times: ArrayLike | None = None, *, velocities: Sequence[ArrayLike] | None = None
) -> Trajectory:
    """q(t) through ``waypoints`` (n, nq) at ``times`` (n,) [s], cubic between them, v and a continuous (C²; MR 9.2.2).

    ``velocities`` = (v0, v1) (nv,) each are those at both ends, by default rest.  Without ``times`` the robot's velocity limits
    choose them, from rest to rest: a joint reaches its limit once, and none exceeds it; ``notes`` says so.  Coordinates of a
    quaternion are splines in four dimensions, their directions the path, so that it is as smooth as others.

    >>> import torsor as ts
    >>> arm = ts.robots.two_link()
    >>> motion = ts.trajectories.cubic_spline(arm, [[0, 0], [0.5, 1.0], [1, 0]], [0, 1, 2])
    >>> motion.at(1.0).v.round(3)
    array([0.75, 0.  ])
    """
    return _spline(robot, waypoints, times, (velocities,), _cubic)


def quintic_spline(
    robot: Robot,
    waypoints: ArrayLike,
    times: ArrayLike | None = None,
    *,
    velocities: Sequence[ArrayLike] | None = None,
    accelerations: Sequence[ArrayLike] | None = None,
) -> Trajectory:
    """q(t) through ``waypoints`` (n, nq) at ``times`` (n,) [s], of degree five, with four continuous derivatives (C⁴).

    As :func:`cubic_spline`, with ``accelerations`` = (a0, a1) at both ends too, by default zero.

    >>> import torsor as ts
    >>> arm = ts.robots.two_link()
    >>> motion = ts.trajectories.quintic_spline(arm, [[0, 0], [0.5, 1.0], [1, 0]], [0, 1, 2])
    >>> motion.at([0.0, 1.0]).q
    array([[0. , 0. ],
           [0.5, 1. ]])
    """
    return _spline(robot, waypoints, times, (velocities, accelerations), _quintic)


def _cubic(t: Array, x: Array, ends: Ends) -> Any:
    from scipy.interpolate import CubicSpline

    return CubicSpline(t, x, bc_type=(ends[0][0], ends[1][0]))


def _quintic(t: Array, x: Array, ends: Ends) -> Any:
    from scipy.interpolate import make_interp_spline

    return make_interp_spline(t, x, k=5, bc_type=ends)


def _spline(
    robot: Robot, waypoints: ArrayLike, times: ArrayLike | None, rates: Sequence[Any], make: Callable[[Array, Array, Ends], Any]
) -> Trajectory:
    """The spline of unwrapped coordinates, with rates of order one, or one and two, at its ends."""
    q = configurations_of(robot, "waypoints", waypoints, rows=True)
    for before, k in zip(q, range(1, len(q)), strict=False):
        q[k] = robot.integrate(before, robot.difference(before, q[k]))  # the nearest turn, the nearer of ± a quaternion
    ends = _ends(robot, q[[0, -1]], rates)
    t, notes = _times(robot, q, times), tuple[str, ...]()
    if times is None:
        if any(x is not None for x in rates):
            raise ArgumentError("velocities or accelerations at the ends need times=: the spline is fitted to both")
        t, notes = _slowed(robot, t, _trajectory(robot, t, q, ends, make))
    return _trajectory(robot, t, q, ends, make, notes)


def _trajectory(robot: Robot, t: Array, q: Array, ends: Ends, make: Any, notes: tuple[str, ...] = ()) -> Trajectory:
    with needs_extra("SciPy", "motion", "a spline"):
        coordinates = make(t, q, ends)
    uniform = PiecewiseScaling(t[[0, -1]], np.array([[0.0, 1.0]]))
    return Trajectory(path_of(robot, coordinates, t), uniform, notes)


def _ends(robot: Robot, q: Array, rates: Sequence[Any]) -> Ends:
    """(order, derivative of the coordinates) at both ends: q̇ = N v, and q̈ with the acceleration a."""
    names, found = ("velocities", "accelerations"), cast("Ends", ([], []))
    for order, given in enumerate(rates, 1):
        x = as_array(names[order - 1], np.zeros((2, robot.nv)) if given is None else given, dtype=float)
        if x.shape != (2, robot.nv) or not np.isfinite(x).all():
            raise ArgumentError(f"{names[order - 1]} must be finite numbers (2, {robot.nv}): at the start, at the end")
        if order == 2:  # a is affine in q̈, and N N⁺ = 1
            first = np.array([side[0][1] for side in found])
            x = x - robot.acceleration_from_rates(q, first, np.zeros_like(q))
        for side, row in zip(found, robot.configuration_rate(q, x), strict=True):
            side.append((order, row))
    return found


def _times(robot: Robot, q: Array, times: ArrayLike | None) -> Array:
    """The times as given; else each piece as short as a straight line at the velocity limits."""
    if times is not None:
        t = as_array("times", times, dtype=float)
        if t.shape != (len(q),) or not np.isfinite(t).all() or t[0] != 0 or not (np.diff(t) >= APART).all():
            raise ArgumentError(
                f"times must be {len(q)} increasing numbers from 0 [s], one for each waypoint, at least {APART:g} s apart, "
                f"not {times!r}"
            )
        return t
    way = np.abs(robot.difference(q[:-1], q[1:]))
    names, free = coordinate_names(robot.model), np.isinf(robot.velocity_limit) & way.any(axis=0)
    if free.any():
        listed = ", ".join(names[k] for k in np.flatnonzero(free))
        raise ArgumentError(f"{listed}: no velocity limit to choose times by; give times=, or limits by robot.with_limits")
    durations = (way / robot.velocity_limit).max(axis=1)
    if not durations.all():
        k = int(np.argmin(durations))
        raise ArgumentError(f"waypoints {k} and {k + 1} are the same configuration; leave one out, or give times=")
    return np.concatenate(([0.0], np.cumsum(durations)))


def _slowed(robot: Robot, t: Array, motion: Trajectory) -> tuple[Array, tuple[str, ...]]:
    """Times in which the largest velocity is just at its limit: times c divide all velocities by c."""
    found = extremes_of(lambda t: np.abs(motion.at(t).v), t, robot.velocity_limit)
    shares = found.value / robot.velocity_limit
    k = int(np.argmax(shares))
    name = coordinate_names(robot.model)[k]
    t = t * shares[k]
    return t, (f"times chosen by the velocity limits, {name} reaches its own: {', '.join(f'{x:.4g}' for x in t)} s",)
