"""Lines and arcs of a frame, followed by inverse kinematics (MR 9.2.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError
from torsor.mechanics.trajectories.coordinate_path import CoordinatePath, configurations_of
from torsor.mechanics.trajectories.follower import Curve, Poses, path_along
from torsor.spatial.rigid import exp3, exp6, log3, log6
from torsor.spatial.rigid import reading as read
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.robot import Robot

#: shortest turn [rad] and distance [m] of a motion
STILL = 1e-12


def cartesian_line(
    robot: Robot, q0: ArrayLike, goal: ArrayLike, frame: str, *, kind: str = "straight", tolerance: float = 1e-6
) -> CoordinatePath:
    """θ(s) with which a frame goes from its pose at q0 to the pose ``goal`` (4, 4), in a straight line, a Path (MR 9.2.1).

    ``kind`` "straight": the origin moves along a straight line, and the orientation turns about one axis; "screw": both by one
    constant twist, T0 exp([V] s).  s is the way of the origin [m], of a mere rotation the angle [rad].  The frame
    is within ``tolerance`` [m, rad] of the line everywhere.  Robots with more joints than needed move with θ′ = J⁺V.

    >>> import torsor as ts
    >>> arm = ts.robots.panda()
    >>> ready = arm.configuration("ready")
    >>> goal = arm.pose(ready, "panda_hand_tcp")
    >>> goal[:3, 3] += [0.1, 0.2, -0.1]
    >>> path = ts.trajectories.cartesian_line(arm, ready, goal, "panda_hand_tcp")
    >>> float(path.breaks[-1].round(6)), bool(abs(arm.pose(path(path.breaks[-1:])[0][0], "panda_hand_tcp") - goal).max() < 2e-6)
    (0.244949, True)
    """
    if kind not in ("straight", "screw"):
        raise ArgumentError(f'kind must be "straight" or "screw", not {kind!r}')
    q = configurations_of(robot, "q0", q0)
    start, end = robot.pose(q, frame), _pose("goal", goal)
    if kind == "screw":
        V = log6(np.linalg.solve(start, end))
        size = _length(np.linalg.norm(V[3:]), np.linalg.norm(V[:3]))
        return path_along(robot, q, frame, _screw(start, V / size), size, tolerance)
    way = end[:3, 3] - start[:3, 3]
    size = _length(np.linalg.norm(way), np.linalg.norm(log3(start[:3, :3].T @ end[:3, :3])))
    line = lambda s: (start[:3, 3] + np.outer(s, way / size), np.tile(way / size, (len(s), 1)), np.zeros((len(s), 3)))  # noqa: E731
    return path_along(robot, q, frame, _decoupled(start, end, size, line), size, tolerance)


def cartesian_arc(
    robot: Robot, q0: ArrayLike, via: ArrayLike, goal: ArrayLike, frame: str, *, tolerance: float = 1e-6
) -> CoordinatePath:
    """θ(s) with which a frame goes on a circle from its pose at q0 through a point ``via`` [m] to the pose ``goal`` (4, 4).

    The orientation turns about one axis from the one at q0 to that of ``goal``.  s is the way of the origin [m]; otherwise as
    :func:`cartesian_line`.

    >>> import torsor as ts
    >>> arm = ts.robots.panda()
    >>> ready = arm.configuration("ready")
    >>> T = arm.pose(ready, "panda_hand_tcp")
    >>> goal = T.copy()
    >>> goal[:3, 3] += [0.0, 0.2, 0.0]
    >>> path = ts.trajectories.cartesian_arc(arm, ready, T[:3, 3] + [0.0, 0.1, 0.1], goal, "panda_hand_tcp")
    >>> float(path.breaks[-1].round(6))  # half a circle of radius 0.1 m
    0.314159
    """
    q = configurations_of(robot, "q0", q0)
    start, end = robot.pose(q, frame), _pose("goal", goal)
    center, x, y, radius, angle = _circle(start[:3, 3], read.array(via, (3,), "via"), end[:3, 3])

    def circle(s: Array) -> tuple[Array, Array, Array]:
        c, d = np.cos(s / radius)[:, None], np.sin(s / radius)[:, None]
        out = c * x + d * y
        return center + radius * out, c * y - d * x, -out / radius

    return path_along(robot, q, frame, _decoupled(start, end, radius * angle, circle), radius * angle, tolerance)


def _pose(name: str, given: ArrayLike) -> Array:
    return read.pose_matrix(*read.pose(given, name))


def _length(way: Any, angle: Any) -> float:
    """The length of a path [m], or of a mere rotation [rad]."""
    size = float(way) if way > STILL else float(angle)
    if size <= STILL:
        raise ArgumentError("the frame is at the goal already: there is nothing to follow")
    return size


def _screw(start: Array, V: Array) -> Curve:
    """T(s) = T0 exp([V] s), with constant V."""
    return lambda s: Poses(start @ exp6(np.outer(s, V)), np.tile(V, (len(s), 1)), np.zeros((len(s), 6)))


def _decoupled(start: Array, end: Array, size: float, way: Callable[[Array], tuple[Array, Array, Array]]) -> Curve:
    """R(s) = R0 exp([ω] s) (MR 9.2.1) and p(s): ω is constant in the frame, v = Rᵀp′, v′ = Rᵀp″ − ω × v."""
    w = log3(start[:3, :3].T @ end[:3, :3]) / size

    def curve(s: Array) -> Poses:
        p, first, second = way(s)
        T = np.tile(np.eye(4), (len(s), 1, 1))
        T[:, :3, :3], T[:, :3, 3] = start[:3, :3] @ exp3(np.outer(s, w)), p
        v, a = (np.einsum("nji,nj->ni", T[:, :3, :3], x) for x in (first, second))
        still = np.zeros_like(v)
        return Poses(T, np.hstack([still + w, v]), np.hstack([still, a - np.cross(w, v)]))

    return curve


def _circle(a: Array, via: Array, b: Array) -> tuple[Array, Array, Array, float, float]:
    """(center, x, y, radius, angle): the circle through three points, center + radius (x cos φ + y sin φ), a at φ = 0."""
    u, w = via - a, b - a
    n = np.cross(u, w)
    if np.linalg.norm(n) <= 1e-9 * np.linalg.norm(u) * np.linalg.norm(w):
        raise ArgumentError(f"via {via.tolist()} is on the line from start to goal: there is no circle; use cartesian_line")
    center = a + np.cross(n, w @ w * u - u @ u * w) / (2 * n @ n)
    radius = float(np.linalg.norm(a - center))
    x = (a - center) / radius
    y = np.cross(n / np.linalg.norm(n), x)
    return center, x, y, radius, float(np.arctan2((b - center) @ y, (b - center) @ x) % (2 * np.pi))
