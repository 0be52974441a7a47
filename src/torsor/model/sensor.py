"""Sensor: an instrument on a robot, its kind and place, its delay, noise and resolution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from torsor.errors import ArgumentError, UnknownName, require_known
from torsor.model.model import Model


class Kind(NamedTuple):
    """A sensor's reading: some ``rows`` of a quantity, or of a column of the motion; ``at`` is a "frame", "cut" or "joint"."""

    quantity: str
    at: str
    unit: str
    rows: slice = slice(None)


#: kinds of sensors: of a frame, of a cut (a link, a frame or a joint: Robot.force_torque), or of a joint
KINDS: dict[str, Kind] = {
    "gyroscope": Kind("gyroscope", "frame", "rad/s"),
    "accelerometer": Kind("accelerometer", "frame", "m/s²"),
    "force_torque": Kind("force_torque", "cut", "N·m, N"),
    "torque": Kind("force_torque", "cut", "N·m", slice(0, 3)),
    "force": Kind("force_torque", "cut", "N", slice(3, 6)),
    "joint_torque": Kind("joint_torque_sensor", "joint", "N·m, N"),
    "drive_force": Kind("tau", "joint", "N·m, N"),
    "encoder": Kind("q", "joint", "rad, m"),
    "tachometer": Kind("v", "joint", "rad/s, m/s"),
}


@dataclass(frozen=True, eq=False)
class Sensor:
    """An instrument: ``Sensor("accelerometer", "imu_link")``, one of :data:`KINDS` at a frame, a cut or a joint.

    The reading is ``step·round((y(t − delay) + noise) / step)``, y the exact quantity.  ``delay`` [s] interpolates linearly
    between the recorded rows and the start; before the start, the value there is read.  ``noise`` is the standard deviation of
    white noise, one number or one per axis, drawn from ``seed`` and the sensor's name, so that runs repeat; or the noise
    itself, one row per recorded time.  ``step`` is the resolution, such as 2π/4096 of an encoder; it rounds to the nearest
    step.

    >>> Sensor("encoder", "joint1", step=2 * math.pi / 4096).kind
    'encoder'
    """

    kind: str
    at: str
    delay: float = 0.0
    noise: Any = 0.0
    seed: int = 0
    step: float = 0.0

    def __post_init__(self) -> None:
        require_known("kind of sensor", self.kind, KINDS)
        if not isinstance(self.at, str):
            raise ArgumentError(f"a sensor must be at the name of a frame, link or joint, not {self.at!r}")
        for name, value in (("delay", self.delay), ("step", self.step)):
            if not isinstance(value, (int, float, np.number)) or not 0 <= value < math.inf:
                raise ArgumentError(f"{name} of a sensor must be a number from 0, not {value!r}")
        try:
            noise = np.array(self.noise, dtype=float)  # a copy: a sensor does not change with the caller's array
        except (TypeError, ValueError):
            raise ArgumentError(f"noise of a sensor must be numbers, not {self.noise!r}") from None
        if not np.isfinite(noise).all() or (noise.ndim < 2 and (noise < 0).any()):
            raise ArgumentError("noise of a sensor must be standard deviations from 0, or finite rows of noise")
        noise.flags.writeable = False
        object.__setattr__(self, "noise", noise if noise.ndim > 1 else tuple(noise.tolist()) if noise.ndim else float(noise))
        if isinstance(self.seed, bool) or not isinstance(self.seed, (int, np.integer)) or self.seed < 0:
            raise ArgumentError(f"seed of a sensor must be a whole number from 0, not {self.seed!r}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sensor) and self._plain == other._plain and np.array_equal(self.noise, other.noise)

    def __hash__(self) -> int:
        return hash(self._plain)

    @property
    def _plain(self) -> tuple[Any, ...]:
        """All but the noise, which may be an array."""
        return self.kind, self.at, self.delay, self.seed, self.step

    @property
    def reads(self) -> str:
        """The type of its place: a "frame", a "cut" (of a link, frame or joint), or a "joint"."""
        return KINDS[self.kind].at

    @property
    def is_exact(self) -> bool:
        """Whether it reads the exact quantity: without delay, noise and steps."""
        return not (self.delay or self.step or np.any(self.noise))

    @property
    def quantity(self) -> tuple[str, ...]:
        """The quantity or column with its option."""
        row = KINDS[self.kind]
        return (row.quantity,) if row.at == "joint" else (row.quantity, self.at)

    def fits(self, model: Model) -> bool:
        """Whether the model has the sensor's frame or joint."""
        try:
            self.rows(model)
        except (UnknownName, ArgumentError):
            return False
        return True

    def rows(self, model: Model) -> slice:
        """The rows of the quantity that are read; an error if the model has no such frame, link or joint."""
        row = KINDS[self.kind]
        if row.at == "frame":
            model.frame(self.at)
        elif row.at == "cut":
            model.cut(self.at)
        else:
            return _of_joint(model, self.kind, self.at)
        return row.rows


def _of_joint(model: Model, kind: str, name: str) -> slice:
    """The rows of a joint in q or v."""
    require_known("moving joint", name, model.joint_names[1:])
    i = model.joint_names.index(name)
    joint, coupling = model.joint[i], model.coupling[i]
    if coupling is not None:
        leader = model.joint_names[coupling.leader]
        raise ArgumentError(f"joint {name!r} is a mimic joint and has no coordinate; put the {kind} on its leader {leader!r}")
    if KINDS[kind].quantity == "q":
        if joint.quaternions or joint.nq != joint.nv:
            raise ArgumentError(f"an encoder reads plain coordinates, and joint {name!r} is {joint.name}")
        return slice(model.q_start[i], model.q_start[i] + joint.nq)
    return slice(model.v_start[i], model.v_start[i] + joint.nv)
