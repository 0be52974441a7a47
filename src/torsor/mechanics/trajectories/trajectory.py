"""A trajectory is a path and a time scaling: q(t) = θ(s(t)) (MR 9.1)."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError
from torsor.support.locks import cached_property
from torsor.support.user_arrays import Array, as_array

if TYPE_CHECKING:
    from torsor.mechanics.trajectories.check import LimitCheck
    from torsor.robot import Robot

#: largest number of samples of a motion
SAMPLES = 1e7
#: steps that find a time to rounding
BISECTIONS = 60
#: share of the duration within which two breaks are the same
SAME = 1e-12


class Path(Protocol):
    """θ(s): a curve on the configuration manifold, 0 ≤ s ≤ ``end``.

    θ′ and θ″ are tangent, (nv): with v = θ′ṡ, whatever coordinates q has.  They are continuous but at ``breaks`` (k,), which
    begin with 0 and end with ``end``.
    """

    @property
    def robot(self) -> Robot:
        """The robot that moves."""
        ...

    @property
    def breaks(self) -> Array:
        """Where θ′ or θ″ may jump (k,), from 0 to ``end``."""
        ...

    def __call__(self, s: Array) -> tuple[Array, Array, Array]:
        """θ (T, nq), θ′ and θ″ (T, nv) at s (T,)."""
        ...


class TimeScaling(Protocol):
    """s(t), never decreasing: how far along a path at time t [s], 0 ≤ t ≤ ``duration``.

    A scaling may have ``breaks`` (k,), times at which s̈ or its rate jumps, from 0 to ``duration``.
    """

    @property
    def duration(self) -> float:
        """The time from beginning to end [s]."""
        ...

    def __call__(self, t: Array) -> tuple[Array, Array, Array]:
        """s, ṡ and s̈ (T,) at t (T,)."""
        ...


class Motion(NamedTuple):
    """Times t (T,) [s], configurations q (T, nq), velocities v and accelerations a (T, nv)."""

    t: Array
    q: Array
    v: Array
    a: Array


@dataclass(frozen=True, eq=False)
class Trajectory:
    """q(t) = θ(s(t)): a ``path`` θ(s) followed by a time scaling s(t); ``notes`` say what was chosen.

    >>> import torsor as ts
    >>> arm = ts.robots.two_link()
    >>> motion = ts.trajectories.point_to_point(arm, [0, 0], [1, 2], velocity=1, acceleration=2)
    >>> motion
    <Trajectory of 'two_link': 2.5 s>
    >>> t, q, v, a = motion.sample(0.5)
    >>> arm.inverse_dynamics(q, v, a).shape
    (6, 2)
    """

    path: Path
    scaling: TimeScaling
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Trajectory of {self.robot.name!r}: {self.duration:.4g} s{''.join(f'; {note}' for note in self.notes)}>"

    @property
    def robot(self) -> Robot:
        """The robot that moves."""
        return self.path.robot

    @property
    def duration(self) -> float:
        """The time from beginning to end [s]."""
        return self.scaling.duration

    def at(self, t: ArrayLike) -> Motion:
        """q = θ(s), v = θ′ṡ, a = θ″ṡ² + θ′s̈ at times t (...,) within 0 ≤ t ≤ ``duration`` [s] (MR 9.2)."""
        times = as_array("t", t, dtype=float)
        if not ((times >= 0) & (times <= self.duration)).all():
            raise ArgumentError(f"t must be from 0 to {self.duration:g} s, the duration of the trajectory, not {t!r}")
        s, ds, dds = self.scaling(times.ravel())
        q, first, second = self.path(s)
        v = first * ds[:, None]
        a = second * ds[:, None] ** 2 + first * dds[:, None]
        return Motion(times, *(x.reshape(*times.shape, x.shape[-1]) for x in (q, v, a)))

    @cached_property
    def breaks(self) -> Array:
        """The times [s] at which the acceleration or its rate may jump, from 0 to ``duration``."""
        own = getattr(self.scaling, "breaks", np.array([0.0, self.duration]))
        inner = self.path.breaks[1:-1]
        low, high = np.zeros(len(inner)), np.full(len(inner), self.duration)
        for _ in range(BISECTIONS if len(inner) else 0):  # s never decreases
            middle = (low + high) / 2
            before = self.scaling(middle)[0] < inner
            low, high = np.where(before, middle, low), np.where(before, high, middle)
        times = np.unique(np.concatenate((own, high)))
        return times[np.append(True, np.diff(times) > SAME * self.duration)]

    def sample(self, dt: float) -> Motion:
        """The motion at 0, dt, 2 dt, ... and at its end, (T, ...)."""
        if not (isinstance(dt, (int, float, np.number)) and 0 < dt < np.inf):
            raise ArgumentError(f"dt must be a positive time [s], not {dt!r}")
        if self.duration / dt > SAMPLES:
            raise ArgumentError(f"dt = {dt:g} s makes {self.duration / dt:.0e} samples; at most {SAMPLES:.0e} are allowed")
        whole = np.arange(0, self.duration * (1 - 1e-12), dt)
        return self.at(np.append(whole, self.duration))

    def check(self, robot: Robot | None = None, *, acceleration: ArrayLike | None = None) -> LimitCheck:
        """Whether the motion keeps the limits of position, velocity and joint force, and of ``acceleration`` if given.

        Joint forces are those of inverse dynamics; ``robot``, by default its own, may be one with a payload or other limits.
        One ``acceleration`` [rad/s², m/s²] counts for all.  Largest values and first excess are found between samples, too.

        >>> import torsor as ts
        >>> arm = ts.robots.panda()
        >>> ready = arm.configuration("ready")
        >>> motion = ts.trajectories.cubic_spline(arm, [ready, [2.0, *ready[1:]]], [0, 1])
        >>> print(motion.check().first)
        panda_joint1: velocity exceeds its limit 2.175 rad/s from t = 0.2378 s on, most at 0.5 s: 3 rad/s
        """
        from torsor.mechanics.trajectories.check import check

        return check(self, self.robot if robot is None else robot, acceleration)

    def save(self, path: str | PathLike[str], dt: float = 0.01) -> None:
        """Write t, q, v, a every ``dt`` [s] to .csv, .npz, .parquet or .mcap, in the columns of torsor's logs."""
        from torsor.io.logs import Log
        from torsor.io.logs.log import QUANTITIES, coordinates

        names = coordinates(self.robot)
        Log(*self.sample(dt), names={k: names[k] for k in QUANTITIES[:3]}).write(path)

    def plot(self, axes: Any = None) -> Any:
        """q, v and a over time with the limits of q and v, dotted; needs matplotlib.  Returns the axes."""
        from torsor.mechanics.trajectories.plots import plot

        return plot(self, axes)
