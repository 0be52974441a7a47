"""A simulation as an animation: images at equal intervals, with the plotted curves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from torsor.errors import ArgumentError
from torsor.look.replay.bending import IMAGES_PER_PERIOD, slowest_vibration
from torsor.model.terms.beams import beams_of
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.robot import Robot
    from torsor.simulate import Result


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
    wrenches: dict[str, Array]  #: external, (T, 6) by frame, with those of contacts
    contacts: tuple[Array, Array] | None = None  #: points [m] and mean forces [N] of contacts, (T, n, 3), in world axes

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
        rate = max(RATE, IMAGES_PER_PERIOD * slowest_vibration(robot, result.q[0]))
        count = int(np.clip(np.ceil((end - begin) * rate), 1, MOST)) + 1
        t = np.linspace(begin, end, count)
        q, v = replace(result, robot=robot).at(t)
        energies = {name: np.interp(t, result.t, values) for name, values in result.energies.items()}
        energies["total"] = np.sum(list(energies.values()), axis=0)
        wrenches = {frame: _interpolate_columns(t, result.t, F) for frame, F in result.wrenches.items()}
        contacts = replace(result, robot=robot).contact_images(t)
        if contacts is not None:
            for frame, F in _contact_wrenches(robot, q, *contacts).items():
                wrenches[frame] = wrenches.get(frame, 0.0) + F
        tau = _interpolate_columns(t, result.t, result.tau)
        if beams_of(robot.description):  # vibrations are too fast for differences
            a = robot.forward_dynamics(q, v, tau, wrenches)
        else:
            a = _acceleration(replace(result, robot=robot), t)
        return cls(t, q, v, a, tau, energies, wrenches, contacts)

    @property
    def duration(self) -> float:
        """[s]."""
        return float(self.t[-1] - self.t[0])

    def index(self, time: float) -> int:
        """The image nearest to a time [s] after the beginning."""
        return int(np.clip(round(time / max(self.duration, 1e-12) * (len(self.t) - 1)), 0, len(self.t) - 1))


def _contact_wrenches(robot: Robot, q: Array, points: Array, forces: Array) -> dict[str, Array]:
    """The forces of contacts (T, n, 3) as wrenches (T, 6) on the frames of their shapes, and on those of surfaces that move."""
    found: dict[str, Array] = {}
    for k, contact in enumerate(robot.contacts.values()):
        for frame, sign in ((contact.frame, 1.0), (contact.other, -1.0)):
            if robot.model.moves(robot.model.frame(frame).body):
                T = robot.pose(q, frame)
                both = np.stack([np.cross(points[:, k] - T[:, :3, 3], forces[:, k]), forces[:, k]], axis=1)
                F = sign * np.einsum("tji,tkj->tki", T[:, :3, :3], both).reshape(-1, 6)
                found[frame] = found.get(frame, 0.0) + F
    return found


def _interpolate_columns(t: Array, records: Array, columns: Array) -> Array:
    return np.stack([np.interp(t, records, column) for column in columns.T], axis=-1) if columns.size else np.zeros((len(t), 0))


def _acceleration(result: Result, t: Array) -> Array:
    """(v(t + h) − v(t − h))/2h, one-sided at the ends; v is straight between records."""
    before, after = np.maximum(t - STEP, result.t[0]), np.minimum(t + STEP, result.t[-1])
    change = result.at(after)[1] - result.at(before)[1]
    return change / np.maximum(after - before, 1e-12)[:, None]
