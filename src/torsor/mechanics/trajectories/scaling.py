"""Time scalings s(t) by polynomials, trapezoids of velocity and S-curves (MR 9.2.2)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from torsor.errors import ArgumentError, require_known
from torsor.support.locks import cached_property
from torsor.support.user_arrays import Array

#: s/L over τ = t/T: coefficients of τ, τ², ... (MR 9.2.2)
POLYNOMIALS = {"cubic": (0, 3, -2), "quintic": (0, 0, 10, -15, 6)}
#: largest |ds/dτ|, |d²s/dτ²| and |d³s/dτ³| of them; a cubic has no limit of jerk
PEAKS = {"cubic": (3 / 2, 6.0, 0.0), "quintic": (15 / 8, 10 / math.sqrt(3), 60.0)}
#: the profiles, and the limit that each cannot do without
PROFILES = {"cubic": None, "quintic": None, "trapezoid": "acceleration", "s-curve": "jerk"}
#: profiles whose acceleration jumps
JUMPING = ("cubic", "trapezoid")
#: a piece shorter than this share of the whole is a rounding error, and so is a smaller change of the duration
SHARE = 1e-13
#: smallest and largest distance, duration and limit, whose powers are numbers
SMALLEST, LARGEST = 1e-30, 1e30


@dataclass(frozen=True, eq=False)
class PiecewiseScaling:
    """s(t) = Σ_k c_ik (t − t_i)^k between ``breaks`` t_i and t_i+1 [s], with ``coefficients`` c (n, k)."""

    breaks: Array
    coefficients: Array

    @property
    def duration(self) -> float:
        """The last break [s]."""
        return float(self.breaks[-1])

    @cached_property
    def orders(self) -> tuple[Array, Array, Array]:
        """The coefficients of s, ṡ and s̈, ascending powers by row."""
        first, second = (np.polynomial.polynomial.polyder(self.coefficients.T, k) for k in (1, 2))
        return self.coefficients.T, first, second

    def __call__(self, t: Array) -> tuple[Array, Array, Array]:
        """s, ṡ and s̈ (T,) at t (T,)."""
        i = np.clip(np.searchsorted(self.breaks, t, side="right") - 1, 0, len(self.coefficients) - 1)
        s, first, second = (np.polynomial.polynomial.polyval(t - self.breaks[i], c[:, i], tensor=False) for c in self.orders)
        return s, first, second


class Limits(NamedTuple):
    """The largest |ṡ|, |s̈| and |d³s/dt³|."""

    velocity: float
    acceleration: float
    jerk: float


class Profile(NamedTuple):
    """From the speed ``start`` to the speed ``end`` over a ``distance``, with a constant speed between, within limits."""

    distance: float
    start: float
    end: float
    limits: Limits

    def ramps(self, v: float) -> float:
        """The distance on which the speed changes from ``start`` to v, and from v to ``end``: half the sum times the time."""
        return (self.start + v) / 2 * self.time(v - self.start) + (v + self.end) / 2 * self.time(self.end - v)

    def time(self, change: float) -> float:
        """The shortest time for a change of speed, at rest in acceleration before and after [s]."""
        _, a, j = self.limits
        change = abs(change)
        return change / a + a / j if change * j >= a * a or math.isinf(j) else 2 * math.sqrt(change / j)

    def duration(self, v: float) -> float:
        """The whole time with the speed v between the ramps; infinite where the ramps alone are too long."""
        cruise = self.distance - self.ramps(v)
        return self.time(v - self.start) + self.time(self.end - v) + cruise / v if v > 0 and cruise >= 0 else math.inf

    def pieces(self, v: float) -> PiecewiseScaling:
        """Acceleration, constant speed v, deceleration: pieces of constant jerk, or without a limit of it, acceleration."""
        cruise = max(self.distance - self.ramps(v), 0) / v
        parts = [*self._ramp(v - self.start), (cruise, 0.0, 0.0), *self._ramp(self.end - v)]
        whole = sum(part[0] for part in parts)
        t, s, u, breaks, rows = 0.0, 0.0, self.start, [0.0], []
        for h, a, j in parts:
            if h > SHARE * whole:
                rows.append((s, u, a / 2, j / 6))
                t, s, u = t + h, s + u * h + a * h**2 / 2 + j * h**3 / 6, u + a * h + j * h**2 / 2
                breaks.append(t)
        return PiecewiseScaling(np.array(breaks), np.array(rows))

    def _ramp(self, change: float) -> list[tuple[float, float, float]]:
        """(time, first acceleration, jerk) of the pieces of a change of speed."""
        _, a, j = self.limits
        sign, time = math.copysign(1.0, change), self.time(change)
        if math.isinf(j):
            return [(time, sign * a, 0.0)]
        rise = min(a / j, time / 2)
        return [(rise, 0.0, sign * j), (time - 2 * rise, sign * rise * j, 0.0), (rise, sign * rise * j, -sign * j)]


def time_scaling(
    profile: str,
    distance: float = 1.0,
    *,
    duration: float | None = None,
    velocity: float = math.inf,
    acceleration: float = math.inf,
    jerk: float = math.inf,
    start: float = 0.0,
    end: float = 0.0,
) -> PiecewiseScaling:
    """s(t) from 0 to ``distance``, the fastest within |ṡ|, |s̈|, |d³s/dt³| ≤ ``velocity``, ``acceleration``, ``jerk``.

    ``profile``: "cubic", s = L (3τ² − 2τ³), and "quintic", s = L (10τ³ − 15τ⁴ + 6τ⁵), with τ = t/T; "trapezoid", constant
    acceleration, speed, deceleration; "s-curve", seven pieces of constant jerk (MR 9.2.2).  With ``duration`` [s] these two
    have a lower speed between; ``start`` and ``end`` are their speeds there.  Units are those of the path: [1/s] for
    :func:`line`, [m/s] for :func:`cartesian_line`.

    >>> time_scaling("trapezoid", 1.0, velocity=0.5, acceleration=1.0).breaks
    array([0. , 0.5, 2. , 2.5])
    """
    require_known("profile", profile, PROFILES)
    limits = Limits(velocity, acceleration, jerk)
    _check(profile, distance, duration, limits, start, end)
    if profile in POLYNOMIALS:
        return _polynomial(profile, distance, duration, limits)
    wanted = Profile(distance, start, end, limits if profile == "s-curve" else limits._replace(jerk=math.inf))
    slowest = max(start, end)
    if wanted.ramps(slowest) > distance * (1 + SHARE):
        raise ArgumentError(
            f"a change of speed from {start:g} to {end:g} takes a distance of {wanted.ramps(slowest):.6g} within these limits, "
            f"and there is {distance:g}: raise acceleration= (and jerk=), or start slower"
        )
    high = velocity
    if math.isinf(high):
        high = max(slowest, 1.0)
        while wanted.ramps(high) < distance:
            high *= 2
    peak = _last(lambda v: wanted.ramps(v) <= distance, slowest, high)
    if duration is not None:
        _not_shorter(duration, wanted.duration(peak))
        peak = _last(lambda v: wanted.duration(v) >= duration, 0.0, peak)
        if wanted.duration(peak) > duration * (1 + 1e-9):
            raise ArgumentError(f"the speeds {start:g} and {end:g} at the ends are too high for a duration of {duration:g} s")
    return wanted.pieces(peak)


def _polynomial(profile: str, distance: float, duration: float | None, limits: Limits) -> PiecewiseScaling:
    """The polynomial whose peaks are within the limits: |dⁿs/dtⁿ| ≤ L peak/Tⁿ."""
    shortest = max((distance * peak / x) ** (1 / n) for n, (peak, x) in enumerate(zip(PEAKS[profile], limits, strict=True), 1))
    T = shortest if duration is None else _not_shorter(duration, shortest)
    c = [0.0, *(distance * x / T**k for k, x in enumerate(POLYNOMIALS[profile], 1))]
    return PiecewiseScaling(np.array([0.0, T]), np.array([c]))


def _not_shorter(duration: float, shortest: float) -> float:
    """A duration that the limits allow."""
    if duration < shortest * (1 - SHARE):
        raise ArgumentError(f"duration={duration:g} s is too short: within these limits it takes at least {shortest:.6g} s")
    return duration


def _last(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The last float from low to high for which a condition holds that holds up to it, by bisection."""
    if holds(high):
        return high
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _check(profile: str, distance: float, duration: float | None, limits: Limits, start: float, end: float) -> None:
    """Refuse numbers that no profile has."""
    numbers = {"distance": distance, "duration": 1.0 if duration is None else duration, **limits._asdict()}
    for name, x in numbers.items():
        none = name in Limits._fields and x == math.inf
        if not isinstance(x, (int, float, np.number)) or not (SMALLEST <= x <= LARGEST or none):
            raise ArgumentError(f"{name}={x!r} must be a positive number from {SMALLEST:g} to {LARGEST:g}")
    for name, x in (("start", start), ("end", end)):
        if not (isinstance(x, (int, float, np.number)) and 0 <= x <= limits.velocity and math.isfinite(x)):
            raise ArgumentError(f"{name} must be a speed from 0 to the velocity limit {limits.velocity:g}, not {x!r}")
        if x and profile in POLYNOMIALS:
            raise ArgumentError(f"a {profile} profile starts and ends at rest, not at {name}={x:g}: take trapezoid or s-curve")
    needs = PROFILES[profile]
    if needs and math.isinf(getattr(limits, needs)):
        raise ArgumentError(f"the profile {profile!r} needs a limit: {needs}=")
    if profile in JUMPING and math.isfinite(limits.jerk):
        raise ArgumentError(
            f"the acceleration of the profile {profile!r} jumps, so that jerk= cannot hold: take quintic or s-curve"
        )
    if needs is None and duration is None and math.isinf(min(limits)):
        raise ArgumentError(f"the profile {profile!r} needs a limit of velocity or acceleration, or a duration")
