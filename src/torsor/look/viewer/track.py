"""A simulation as an animation: images at equal intervals, with the plotted curves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from torsor.errors import ArgumentError
from torsor.look.replay.bending import IMAGES_PER_PERIOD

if TYPE_CHECKING:
    from torsor.robot import Robot
    from torsor.simulate import Result
    from torsor.simulate.flexible_links import FlexibleResult

Array = np.ndarray

#: images per second of simulated time, and their largest number
RATE, MOST = 50.0, 6000
#: h of the differences that give accelerations [s]
STEP = 1e-3


@dataclass(frozen=True, eq=False)
class Track:
    """``t`` (T,) [s], ``q``, ``v``, ``a``, ``tau`` (T, n) and ``energies`` (T,) by name."""

    t: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    energies: dict[str, Array]
    wrenches: dict[str, Array]  #: external, (T, 6) by frame

    @classmethod
    def of(cls, result: Result, robot: Robot) -> Track:
        """The images of a result.  ArgumentError if it is of another robot, or has no robot and no columns for this one.

        >>> import torsor as ts
        >>> robot = ts.robots.two_link()
        >>> Track.of(robot.simulate([0.0, 0.0], [0.0, 0.0], 1.0), robot).t.shape
        (51,)
        """
        if result.q.shape[-1] != robot.nq or (result.robot is not None and result.robot != robot):
            raise ArgumentError(f"this is a simulation of {result.info.get('robot', '?')!r}, not of {robot.name!r}")
        begin, end = float(result.t[0]), float(result.t[-1])
        count = int(np.clip(np.ceil((end - begin) * RATE), 1, MOST)) + 1
        t = np.linspace(begin, end, count)
        q, v = replace(result, robot=robot).at(t)
        a = _acceleration(replace(result, robot=robot), t)
        energies = {name: np.interp(t, result.t, values) for name, values in result.energies.items()}
        energies["total"] = np.sum(list(energies.values()), axis=0)
        wrenches = {frame: _interpolate_columns(t, result.t, F) for frame, F in result.wrenches.items()}
        return cls(t, q, v, a, _interpolate_columns(t, result.t, result.tau), energies, wrenches)

    @classmethod
    def bending(cls, motion: FlexibleResult) -> Track:
        """The images of a motion of flexible links, as many as their vibrations need."""
        if motion.v is None or motion.tau is None:
            raise ArgumentError("a motion is played with its velocities and joint forces: FlexibleResult(robot, t, q, v, tau)")
        flexible, records = motion.robot, motion.t
        slowest = float(flexible.frequencies(motion.q[0], joints="locked")[0]) / (2 * np.pi)
        count = int(np.clip(np.ceil((records[-1] - records[0]) * max(RATE, IMAGES_PER_PERIOD * slowest)), 1, MOST)) + 1
        t = np.linspace(records[0], records[-1], count)
        q, (v, tau) = motion.at(t), (_interpolate_columns(t, records, x) for x in (motion.v, motion.tau))
        wrenches = {frame: _interpolate_columns(t, records, F) for frame, F in motion.wrenches.items()}
        energies = {name: np.interp(t, records, values) for name, values in motion.energies.items()}
        energies["total"] = np.sum(list(energies.values()), axis=0)
        return cls(t, q, v, flexible.forward_dynamics(q, v, tau, wrenches), tau, energies, wrenches)

    @property
    def duration(self) -> float:
        """[s]."""
        return float(self.t[-1] - self.t[0])

    def index(self, time: float) -> int:
        """The image nearest to a time [s] after the beginning."""
        return int(np.clip(round(time / max(self.duration, 1e-12) * (len(self.t) - 1)), 0, len(self.t) - 1))


def _interpolate_columns(t: Array, records: Array, columns: Array) -> Array:
    return np.stack([np.interp(t, records, column) for column in columns.T], axis=-1) if columns.size else np.zeros((len(t), 0))


def _acceleration(result: Result, t: Array) -> Array:
    """(v(t + h) − v(t − h))/2h, one-sided at the ends; v is straight between records."""
    before, after = np.maximum(t - STEP, result.t[0]), np.minimum(t + STEP, result.t[-1])
    change = result.at(after)[1] - result.at(before)[1]
    return change / np.maximum(after - before, 1e-12)[:, None]
