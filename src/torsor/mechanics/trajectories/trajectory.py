"""A trajectory is a path and a time scaling: q(t) = θ(s(t)) (MR 9.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.robot import Robot


class Path(Protocol):
    """θ(s): a curve on the configuration manifold, 0 ≤ s ≤ ``end``.

    θ′ and θ″ are tangent, (nv): with v = θ′ṡ, whatever coordinates q has.  They are continuous but at ``breaks`` (k,), which
    begin with 0 and end with ``end``.
    """

    robot: Robot
    breaks: Array

    def __call__(self, s: Array) -> tuple[Array, Array, Array]:
        """θ (T, nq), θ′ and θ″ (T, nv) at s (T,)."""
        ...


class TimeScaling(Protocol):
    """s(t): how far along a path at time t [s], 0 ≤ t ≤ ``duration``."""

    duration: float

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
    """q(t) = θ(s(t)): a ``path`` θ(s) followed by a time scaling s(t)."""

    path: Path
    scaling: TimeScaling

    @property
    def duration(self) -> float:
        """The time from beginning to end [s]."""
        return self.scaling.duration

    def at(self, t: ArrayLike) -> Motion:
        """q = θ(s), v = θ′ṡ, a = θ″ṡ² + θ′s̈ at times t (...,) within 0 ≤ t ≤ ``duration`` [s] (MR 9.2)."""
        times = np.asarray(t, float)
        if not ((times >= 0) & (times <= self.duration)).all():
            raise ArgumentError(f"t must be from 0 to {self.duration:g} s, the duration of the trajectory, not {t!r}")
        s, ds, dds = self.scaling(times.ravel())
        q, first, second = self.path(s)
        v = first * ds[:, None]
        a = second * ds[:, None] ** 2 + first * dds[:, None]
        return Motion(times, *(x.reshape(*times.shape, -1) for x in (q, v, a)))

    def sample(self, dt: float) -> Motion:
        """The motion at 0, dt, 2 dt, ... and at its end, (T, ...)."""
        if not 0 < dt < np.inf:
            raise ArgumentError(f"dt must be a positive time [s], not {dt!r}")
        whole = np.arange(0, self.duration * (1 - 1e-12), dt)
        return self.at(np.append(whole, self.duration))
