"""A path given by its coordinates x(s): joint positions, and quaternions of any length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError, Unsupported
from torsor.kernels.checks import check_configuration
from torsor.model import Model
from torsor.model.mechanism import Mechanism
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.robot import Robot

#: shortest quaternion between waypoints that are unit quaternions; a straight line between opposite ones passes through 0
SHORTEST = 0.3
#: samples of a piece of which the shortest is looked for
SAMPLES = 257


@dataclass(frozen=True, eq=False)
class CoordinatePath:
    """θ = x/|x|, θ′ = N⁺(θ) x′, θ″ = d/ds θ′: smooth coordinates x(s) make a smooth path, of rotations too.

    ``coordinates(s, k)`` is the derivative of order k, (T, nq), as SciPy's splines have it.  The lengths of quaternions have no
    meaning: θ and its derivatives are those of their directions.
    """

    robot: Robot
    coordinates: Callable[[Array, int], Array]
    breaks: Array
    quaternions: tuple[slice, ...]

    def __call__(self, s: Array) -> tuple[Array, Array, Array]:
        """θ (T, nq), θ′ and θ″ (T, nv) at s (T,)."""
        x, first, second = (np.array(self.coordinates(s, k)) for k in range(3))
        for part in self.quaternions:
            length = np.linalg.norm(x[:, part], axis=1, keepdims=True)
            for y in (x, first, second):
                y[:, part] /= length
        rates = self.robot.kernel("velocity_from_rate", "acceleration_from_rates")(q=x, qdot=first, qddot=second)
        return x, *rates


def path_of(robot: Robot, coordinates: Callable[[Array, int], Array], breaks: Array) -> CoordinatePath:
    """The path of coordinates that interpolate unit quaternions; ArgumentError where one nearly vanishes."""
    quaternions = quaternions_of(robot.model)
    s = np.unique(np.linspace(breaks[:-1], breaks[1:], SAMPLES))
    x = np.asarray(coordinates(s, 0))
    for part in quaternions:
        length = np.linalg.norm(x[:, part], axis=1)
        k = int(np.argmin(length))
        if length[k] < SHORTEST:
            raise ArgumentError(
                f"q[{part.start}:{part.stop}] turns too far between two waypoints near s = {s[k]:g}; add a waypoint there"
            )
    return CoordinatePath(robot, coordinates, breaks, quaternions)


def quaternions_of(model: Model) -> tuple[slice, ...]:
    """The entries of q that are quaternions."""
    starts = ((model.q_start[i], x) for i in model.own_joints for x in model.joint[i].quaternions)
    return tuple(slice(at + x.start, at + x.stop) for at, x in starts)


def require_robot(robot: object) -> None:
    """Raise ArgumentError for the path of a file, a description or anything else."""
    if not isinstance(robot, Mechanism):
        raise ArgumentError(f"robot must be a Robot, not {type(robot).__name__}; ts.load(path) reads one")


def configurations_of(robot: Robot, name: str, given: ArrayLike, rows: bool = False) -> Array:
    """One configuration (nq,), or with ``rows`` at least two of them (n, nq), checked; robots with loops are refused."""
    require_robot(robot)
    if robot.loops:
        raise Unsupported(
            f"robot {robot.name!r} has loops, which a path in joint space does not close; use a path of the open robot, or "
            "robot.assemble at each of its points"
        )
    q = robot.state(given).q
    if q.ndim != 1 + rows or (rows and len(q) < 2):
        expected = f"(n, {robot.nq}), n from 2" if rows else f"({robot.nq},)"
        raise ArgumentError(f"{name} has shape {q.shape}, expected {expected}")
    for row in np.atleast_2d(q).tolist():
        check_configuration(robot.model, name, row)
    return q.copy()


def limits_of(name: str, given: ArrayLike | None, n: int, default: ArrayLike = np.inf) -> Array:
    """Limits (n,), positive; one number counts for all, None is the default."""
    try:
        limits = np.broadcast_to(np.asarray(default if given is None else given, float), (n,))
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} must be a positive number, or an array ({n},) of them, not {given!r}") from None
    if not (limits > 0).all():
        raise ArgumentError(f"{name} must be positive, not {given!r}")
    return limits
