"""Trajectories in simulation: a control law that follows one, and its exact motion as the result of a simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.errors import ArgumentError, Unsupported
from torsor.simulate.result import Result, names_of
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.mechanics.trajectories import Trajectory
    from torsor.robot import Robot
    from torsor.simulate.callbacks import Law


def follow(trajectory: Trajectory, robot: Robot | None = None, frequency: float = 5.0) -> Law:
    """(t, q, v) → M(q) (a_d + 2ω ė + ω² e) + h(q, v), e = q_d ⊖ q, ė = v_d − v: computed torque along a trajectory (MR 11.4.2).

    A control of ``robot.simulate``: the error decays as ë + 2ω ė + ω² e = 0, ω = 2π ``frequency`` [Hz], critically damped.
    ``robot`` is the model of the controller, by default the trajectory's own.  After the end, it holds the last configuration.

    >>> import torsor as ts
    >>> arm = ts.robots.two_link()
    >>> motion = ts.trajectories.quintic_spline(arm, [[0, 0], [1, 2]], [0, 1])
    >>> result = arm.simulate([0, 0], [0, 0], 1.0, ts.simulate.follow(motion), dt=0.01)
    >>> bool(abs(result.q[-1] - [1, 2]).max() < 1e-6)
    True
    """
    _check(trajectory)
    known = trajectory.robot if robot is None else robot
    if (known.nq, known.nv) != (trajectory.robot.nq, trajectory.robot.nv):
        raise ArgumentError(f"the trajectory is of robot {trajectory.robot.name!r}, which does not match {known.name!r}")
    if known.description.floats:
        raise Unsupported(f"robot {known.name!r} has a floating base, which joint forces alone cannot move along a trajectory")
    if not (isinstance(frequency, (int, float, np.number)) and 0 < frequency < np.inf):
        raise ArgumentError(f"frequency must be a positive number [Hz], not {frequency!r}")
    omega = 2 * np.pi * frequency

    def computed_torque(t: float, q: Array, v: Array) -> Array:
        _, target, velocity, acceleration = trajectory.at(min(max(t, 0.0), trajectory.duration))
        if t > trajectory.duration:
            velocity, acceleration = np.zeros_like(velocity), np.zeros_like(acceleration)
        e = known.difference(q, target)
        time = t if known.kernels.reads_time("inverse_dynamics") else None
        tau: Array = known.inverse_dynamics(q, v, acceleration + 2 * omega * (velocity - v) + omega**2 * e, time=time)
        return tau

    return computed_torque


def motion_of(trajectory: Trajectory, dt: float = 0.01) -> Result:
    """The exact motion of a trajectory as a Result, every ``dt`` [s], with τ by inverse dynamics: to plot, replay, view, audit.

    >>> import torsor as ts
    >>> arm = ts.robots.two_link()
    >>> ts.simulate.motion_of(ts.trajectories.quintic_spline(arm, [[0, 0], [1, 2]], [0, 1]))
    <Simulation of 'two_link': 1 s, prescribed, 100 steps, 101 records>
    """
    _check(trajectory)
    robot, (t, q, v, a) = trajectory.robot, trajectory.sample(dt)
    time = t if robot.kernels.reads_time("inverse_dynamics") else None
    info = {"integrator": "prescribed", "duration": trajectory.duration, "dt": dt, "steps": len(t) - 1, "held": False}
    return Result(t, q, v, robot.inverse_dynamics(q, v, a, time=time), info={**names_of(robot), **info}, robot=robot)


def _check(trajectory: Any) -> None:
    """Raise ArgumentError unless it is a trajectory; a path alone has no times."""
    from torsor.mechanics.trajectories import Trajectory

    if not isinstance(trajectory, Trajectory):
        raise ArgumentError(
            f"trajectory must be a Trajectory of ts.trajectories, not {type(trajectory).__name__}; "
            "Trajectory(path, time_scaling) makes one of a path"
        )
