"""Straight lines in joint space, and motions from point to point along them (MR 9.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError
from torsor.mechanics.trajectories.coordinate_path import configurations_of, limits_of
from torsor.mechanics.trajectories.scaling import time_scaling
from torsor.mechanics.trajectories.trajectory import Trajectory
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.robot import Robot

#: part of a start velocity across the line, relative to the largest entry, that counts as rounding
ACROSS = 1e-9


@dataclass(frozen=True, eq=False)
class Line:
    """θ(s) = q0 ⊕ s (q1 ⊖ q0), 0 ≤ s ≤ 1, with constant θ′ (MR 9.2.1)."""

    robot: Robot
    q0: Array
    q1: Array

    @property
    def breaks(self) -> Array:
        """The path is smooth from 0 to 1."""
        return np.array([0.0, 1.0])

    @property
    def way(self) -> Array:
        """θ′ = q1 ⊖ q0 (nv)."""
        return self.robot.difference(self.q0, self.q1)

    def __call__(self, s: Array) -> tuple[Array, Array, Array]:
        """θ (T, nq), θ′ and θ″ (T, nv) at s (T,)."""
        n = len(s)
        first = np.tile(self.way, (n, 1))
        return self.robot.interpolate(np.tile(self.q0, (n, 1)), np.tile(self.q1, (n, 1)), s), first, np.zeros_like(first)


def line(robot: Robot, q0: ArrayLike, q1: ArrayLike) -> Line:
    """θ(s) = q0 ⊕ s (q1 ⊖ q0), 0 ≤ s ≤ 1: the straight line in joint space, a Path (MR 9.2.1).

    Quaternions turn about one axis, floating joints move along a screw, continuous joints go the short way round.

    >>> import torsor as ts
    >>> arm = ts.robots.two_link()
    >>> path = ts.trajectories.line(arm, [0, 0], [1, 2])
    >>> ts.trajectories.Trajectory(path, ts.trajectories.time_scaling("cubic", 1.0, duration=2.0)).at(1.0).v
    array([0.75, 1.5 ])
    """
    return Line(robot, configurations_of(robot, "q0", q0), configurations_of(robot, "q1", q1))


def point_to_point(
    robot: Robot,
    q0: ArrayLike,
    q1: ArrayLike,
    profile: str = "trapezoid",
    *,
    duration: float | None = None,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    jerk: ArrayLike | None = None,
    start_velocity: ArrayLike | None = None,
) -> Trajectory:
    """q(t) = q0 ⊕ s(t) (q1 ⊖ q0) from q0 to rest at q1: all joints start and arrive together, each within its limits (MR 9.2).

    ``profile`` is "cubic", "quintic", "trapezoid" or "s-curve", as in :func:`time_scaling`.  Limits are one
    number or (nv,): ``velocity`` [rad/s, m/s], by default the robot's, ``acceleration`` [rad/s², m/s²] and ``jerk`` [rad/s³,
    m/s³].  The motion is the fastest within them, or takes ``duration`` [s].  ``start_velocity`` (nv,) must be along the line.

    >>> import torsor as ts
    >>> arm = ts.robots.two_link()
    >>> ts.trajectories.point_to_point(arm, [0, 0], [1, 2], velocity=1, acceleration=2).duration
    2.5
    """
    path = line(robot, q0, q1)
    way = path.way
    moved = way != 0
    if not moved.any():
        raise ArgumentError("q0 and q1 are the same configuration: there is nothing to move")
    given: dict[str, tuple[Any, ArrayLike]] = {
        "velocity": (velocity, robot.velocity_limit),
        "acceleration": (acceleration, np.inf),
        "jerk": (jerk, np.inf),
    }
    limits = {
        name: float((limits_of(name, x, robot.nv, default)[moved] / np.abs(way[moved])).min())
        for name, (x, default) in given.items()
    }
    start = 0.0 if start_velocity is None else _speed_along(way, robot.state(None, start_velocity).v, limits["velocity"])
    return Trajectory(path, time_scaling(profile, 1.0, duration=duration, start=start, **limits))


def _speed_along(way: Array, v: Array, most: float) -> float:
    """ṡ with v = θ′ṡ, at most ``most``."""
    if v.shape != way.shape:
        raise ArgumentError(f"start_velocity has shape {v.shape}, expected {way.shape}")
    speed = float(v @ way / (way @ way))
    across = v - speed * way
    if np.abs(across).max() > ACROSS * np.abs(v).max(initial=0) or speed < 0:
        raise ArgumentError(
            f"start_velocity must be along the line from q0 to q1, a positive multiple of {way.round(6).tolist()}, not "
            f"{v.tolist()}; cubic_spline and quintic_spline take any velocities at their ends"
        )
    if speed > most * (1 + ACROSS):
        raise ArgumentError(f"start_velocity {v.tolist()} is {speed / most:.4g} times as fast as the velocity limits allow")
    return min(speed, most)
