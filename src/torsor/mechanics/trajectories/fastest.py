"""The fastest motion along a path within limits of force, velocity and acceleration (MR §9.4, Pham & Pham 2018)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError
from torsor.mechanics.trajectories.coordinate_path import require_robot
from torsor.mechanics.trajectories.limit_rows import Near, PathLimits, Row, as_bounds
from torsor.mechanics.trajectories.reachability import Empty, Rows, controllable, fastest, intervals
from torsor.mechanics.trajectories.trajectory import Path, Trajectory
from torsor.support.user_arrays import Array, as_array

if TYPE_CHECKING:
    from torsor.robot import Robot

#: intervals of the first grid, at least these in each piece of the path
INTERVALS, IN_A_PIECE = 128, 4
#: rounds of refinement, parts into which one divides an interval at most, points of the finest grid
ROUNDS, PARTS, POINTS = 30, 64, 200_000
#: mean distance from the nearest limit, as a share of half its range, over the share of the duration that it costs: 5 for a
#: pendulum, 5 to 7 for random paths of a UR5 and 6 to 37 of a Panda, 2 for one of them; all with limits close to the weight
COST = 4
#: factor of parts, so that the next grid is fine enough
SPARE = 1.4
#: points in an interval at which the limits are checked, as shares of it
CHECKED = (0.25, 0.5, 0.75)
#: change of direction or length of θ′ at a break, relative to it, above which the path has a corner
CORNER = 1e-9
#: speed at which forces that depend on v are taken where the robot rests, relative to the largest
AT_REST = 1e-6
#: step of the secants of forces that depend on v, relative to the speed
STEP = 1e-4
#: least share of the last motion's speed at which forces that depend on v are taken again where its limits exclude each other
SLOWEST = 1e-3
#: intervals shorter than this share of the path are not divided
SHORTEST = 1e-9


class Limiting(NamedTuple):
    """The limit that determines the motion from time ``begin`` to ``end`` [s].

    ``kind`` is "effort", "velocity", "acceleration" or the name of a limit given by the user, with the name of the
    ``coordinate``; ``side`` is 1 at the upper limit and −1 at the lower one.  Where no limit is active, ``kind`` is "".
    """

    begin: float
    end: float
    kind: str
    coordinate: str
    side: int


@dataclass(eq=False)
class ConstantAccelerations:
    """s(t) of constant s̈ = u between points s (N + 1): ṡ² = x + 2 u (s − s_i), x (N + 1) given at the points."""

    s: Array
    x: Array
    u: Array
    times: Array  #: t at the points [s]
    duration: float  #: the time from beginning to end [s]

    @classmethod
    def through(cls, s: Array, x: Array) -> ConstantAccelerations:
        """With x at the points s."""
        speed = np.sqrt(x)
        times = np.append(0.0, np.cumsum(2 * np.diff(s) / (speed[:-1] + speed[1:])))  # Δt = 2 Δs / (ṡ_i + ṡ_{i+1})
        return cls(s, x, np.diff(x) / (2 * np.diff(s)), times, float(times[-1]))

    @property
    def breaks(self) -> Array:
        """The times at which s̈ jumps [s]."""
        return self.times

    def along(self, s: Array) -> tuple[Array, Array]:
        """x = ṡ² and u at s."""
        i = np.clip(np.searchsorted(self.s, s, side="right") - 1, 0, len(self.u) - 1)
        return np.maximum(self.x[i] + 2 * self.u[i] * (s - self.s[i]), 0), self.u[i]

    def __call__(self, t: Array) -> tuple[Array, Array, Array]:
        i = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.u) - 1)
        dt, y, u = t - self.times[i], np.sqrt(self.x[i]), self.u[i]
        s = np.clip(self.s[i] + dt * (y + dt * u / 2), self.s[i], self.s[i + 1])
        return s, np.maximum(y + u * dt, 0.0), u


@dataclass(frozen=True, eq=False, repr=False)
class TimeOptimalTrajectory(Trajectory):
    """The fastest trajectory along a path; ``limiting`` lists the limits that determine it, in the order of time.

    ``excess`` is how far a limit is exceeded between the points of the grid at most, as a share of half its range.
    """

    limiting: tuple[Limiting, ...] = ()
    excess: float = 0.0


def time_optimal(
    robot: Robot,
    path: Path,
    *,
    effort_limit: ArrayLike | None = None,
    velocity_limit: ArrayLike | None = None,
    acceleration_limit: ArrayLike | None = None,
    limits: Mapping[str, Row] | None = None,
    start: float = 0.0,
    end: float = 0.0,
    tolerance: float = 1e-3,
) -> TimeOptimalTrajectory:
    """The trajectory of least duration along a path, τ = m(s) s̈ + c(s) ṡ² + g(s) within limits (MR §9.4, Pham & Pham 2018).

    ``effort_limit`` [N·m, N] and ``velocity_limit`` [rad/s, m/s] are those of the robot by default, ``acceleration_limit``
    [rad/s², m/s²] none: a number, one per coordinate, or lower and upper limits (2, nv).  ``limits`` are others, by name:
    functions of s (T,) that return a, b, c, lower, upper of lower ≤ a s̈ + b ṡ² + c ≤ upper.  ``start`` and ``end`` are the
    speeds ṡ at both ends.  All terms of the robot act, those that depend on v too, and loops hold.  Between the points of its
    grid the motion exceeds the limits by at most the share ``tolerance`` of half their range, and for at most this share of
    the duration no limit is active.

    >>> import numpy as np, torsor as ts
    >>> class Line:
    ...     robot, breaks = ts.robots.two_link(), np.array([0.0, 1.0])
    ...     def __call__(self, s):
    ...         return s[:, None] * [1.0, 0.5], np.tile([1.0, 0.5], (len(s), 1)), np.zeros((len(s), 2))
    >>> fast = ts.trajectories.time_optimal(Line.robot, Line(), effort_limit=np.inf, acceleration_limit=4.0)
    >>> round(fast.duration, 6), [(x.kind, x.coordinate, x.side) for x in fast.limiting]  # 2 √(L/a), then as fast to rest
    (1.0, [('acceleration', 'joint1', 1), ('acceleration', 'joint1', -1)])
    """
    require_robot(robot)
    for name, y in (("start", start), ("end", end)):
        if not (np.ndim(y) == 0 and 0 <= float(y) < np.inf):
            raise ArgumentError(f"{name} is the speed ds/dt, a number from 0, not {y!r}")
    if not 1e-6 <= tolerance <= 1:
        raise ArgumentError(f"tolerance must be from 1e-6 to 1, not {tolerance!r}")
    bounds = {
        "effort": as_bounds("effort_limit", effort_limit, robot.effort_limit, around_zero=False),
        "velocity": as_bounds("velocity_limit", velocity_limit, robot.velocity_limit),
        "acceleration": as_bounds("acceleration_limit", acceleration_limit, np.full(robot.nv, np.inf)),
    }
    return _Search(PathLimits(robot, path, bounds, limits or {}), float(start), float(end), tolerance).run()


class _Search:
    """Rounds of: rows at a grid, the fastest motion on it, its largest excess between the points, a finer grid."""

    def __init__(self, limits: PathLimits, start: float, end: float, tolerance: float):
        self.limits, self.start, self.end, self.tolerance = limits, start, end, tolerance
        self.breaks = _breaks_of(limits.path)
        before, after = (limits.along(s)[1] for s in reversed(self._ends(self.breaks)))
        jump = np.abs(after[1:] - before[:-1]).max(axis=1, initial=0)
        self.corners = self.breaks[1:-1][jump > CORNER * np.abs(after).max(initial=0)]

    def run(self) -> TimeOptimalTrajectory:
        """The trajectory, once a grid is fine enough."""
        s, last, before = self._first_grid(), list[ConstantAccelerations](), np.inf
        for _ in range(ROUNDS):
            profile = self._fastest(s, last)
            last = [*last[-1:], profile]
            slack = self._slack(profile)
            nearest, dt, total = slack.min(axis=2), np.diff(profile.times), profile.duration
            excess, lost = np.maximum(-nearest.min(axis=0), 0), dt * np.maximum(nearest.max(axis=0), 0) / (COST * total)
            steady = self.limits.affine or abs(total - before) <= self.tolerance * total
            if steady and (excess <= self.tolerance).all() and lost.sum() <= self.tolerance:
                limiting = self._limiting(profile, slack)
                return TimeOptimalTrajectory(self.limits.path, profile, limiting=limiting, excess=float(excess.max()))
            # lost in parts is lost / parts, with the least number of parts in all; the excess is lost in their square
            least = SPARE * np.sqrt(lost) * np.sqrt(lost).sum() / self.tolerance
            parts = np.clip(np.ceil(np.maximum(np.sqrt(SPARE * excess / self.tolerance), least)), 1, PARTS).astype(int)
            parts[(np.diff(s) < SHORTEST * s[-1]) | (not steady)] = 1
            s, before = _divide(s, parts), total
            if len(s) > POINTS:
                break
        k = int(np.argmax(excess))
        if not steady:
            raise ArgumentError(
                f"no motion was found: after {ROUNDS} rounds the forces of robot {self.limits.robot.name!r} that depend on v "
                "still change it; give larger limits of effort, or leave these terms out with robot.without_terms"
            )
        if excess[k] <= self.tolerance:
            raise ArgumentError(
                f"tolerance={self.tolerance:g} needs a grid of more than {POINTS} points; with {len(profile.s)} "
                f"limits are kept, and the duration of {total:.6g} s is within {lost.sum():.1g} of the least: give a larger "
                "tolerance"
            )
        raise ArgumentError(
            f"a grid of {len(profile.s)} points is not fine enough: the limits are exceeded by {excess[k]:.2g} of half their "
            f"range at s = {profile.s[k]:g}; give breaks where θ″ of the path jumps or θ′ vanishes, or a larger tolerance="
        )

    def _first_grid(self) -> Array:
        """Points that divide the path evenly, with its breaks among them."""
        pieces = np.diff(self.breaks)
        return _divide(self.breaks, np.maximum(np.ceil(INTERVALS * pieces / self.breaks[-1]), IN_A_PIECE).astype(int))

    def _ends(self, s: Array) -> tuple[Array, Array]:
        """The beginnings and the ends of all intervals, beside breaks: θ″ may jump there."""
        at_break = np.isin(s, self.breaks[1:-1])
        left, right = (np.where(at_break, np.nextafter(s, side), s) for side in (np.inf, -np.inf))
        return left[:-1], right[1:]

    def _fastest(self, s: Array, last: list[ConstantAccelerations]) -> ConstantAccelerations:
        """The fastest motion on a grid; forces that depend on v are those near the ``last`` motions."""
        ends = np.concatenate(self._ends(s))
        n, slower = len(s) - 1, 1.0
        while True:
            rows = self.limits(ends, self._near(ends, last, slower))
            scaled = rows.over(rows.scale)
            try:
                cells = intervals(
                    scaled.take(slice(None, n)), scaled.take(slice(n, None)), np.diff(s), np.isin(s, self.corners)
                )
                x = fastest(cells, *controllable(cells, self.end), self.start)
            except Empty as stuck:
                if self.limits.affine or not last or slower < SLOWEST:
                    raise ArgumentError(self._explain(stuck, s, rows)) from None
                slower /= 2
            else:
                break
        if ((x[1:] == 0) & (x[:-1] == 0)).any():
            at = s[int(np.argmax((x[1:] == 0) & (x[:-1] == 0)))]
            raise ArgumentError(f"the robot can only rest at s = {at:g}: a limit leaves no speed there; give a larger one")
        return ConstantAccelerations.through(s, x)

    def _near(self, points: Array, last: list[ConstantAccelerations], slower: float = 1.0) -> Near | None:
        """Where forces that depend on v are taken: at the mean of motions, at first from rest to a speed within the limits."""
        if self.limits.affine:
            return None
        if not last:
            most = np.minimum(self.limits.speed_limit(points), 1e3 * self.breaks[-1])
            return Near(AT_REST * most, most, 0 * most, most)
        x, u = np.mean([motion.along(points) for motion in last], axis=0)
        y = slower * np.sqrt(np.maximum(x, AT_REST**2 * max(motion.x.max() for motion in last)))
        return Near(y, STEP * y, u, np.full_like(u, STEP * max(np.abs(u).max(), 1e-3)))

    def _slack(self, profile: ConstantAccelerations) -> Array:
        """Distance from the limits as shares of half their range (points, N, 2 r): lower limits, then upper ones."""
        (left, right), begin, shares = self._ends(profile.s), profile.s[:-1], (0.0, *CHECKED, 1.0)
        points = np.concatenate([left, *(begin + f * np.diff(profile.s) for f in CHECKED), right])
        x = np.concatenate([profile.x[:-1] + f * np.diff(profile.x) for f in shares])
        u = np.tile(profile.u, len(shares))
        rows = self.limits(points, self._near(points, [profile]))
        value = rows.value(u, x)
        both = np.concatenate([value - rows.lower, rows.upper - value], axis=1) / np.tile(rows.scale, 2)
        return both.reshape(len(shares), len(begin), -1)

    def _limiting(self, profile: ConstantAccelerations, slack: Array) -> tuple[Limiting, ...]:
        """The limits that determine the motion, those of intervals that follow each other once."""
        least, names = slack.min(axis=0), self.limits.names
        column = np.where(least.min(axis=1) <= self.tolerance, least.argmin(axis=1), -1)
        first = np.flatnonzero(np.append(True, np.diff(column) != 0))
        times = np.append(profile.times[first], profile.duration).tolist()
        labels = [(*names[k % len(names)], 1 if k >= len(names) else -1) if k >= 0 else ("", "", 0) for k in column[first]]
        return tuple(Limiting(t0, t1, *x) for t0, t1, x in zip(times[:-1], times[1:], labels, strict=True))

    def _explain(self, stuck: Empty, s: Array, rows: Rows) -> str:
        """Why no motion is within the limits."""
        names = [f"{kind} of {name!r}" if name else repr(kind) for kind, name in self.limits.names]
        k = min(stuck.point, len(s) - 2)
        text = f"robot {self.limits.robot.name!r} cannot follow the path within its limits at s = {s[k]:g}"
        above = np.maximum(rows.c[k] - rows.upper[k], rows.lower[k] - rows.c[k])
        j = int(np.argmax(above))
        if above[j] > 0:
            return f"{text}: at rest the {names[j]} is {rows.c[k, j]:.4g}, {above[j]:.3g} beyond its limit"
        if not len(stuck.limits):
            return f"{text} from so small a speed; give a larger start= or larger limits"
        both = " and the ".join(sorted({names[j] for j in stuck.limits}))
        return f"{text}: limits of the {both} leave no acceleration; give larger ones"


def _divide(s: Array, parts: Array) -> Array:
    """Points s, each interval divided into equal parts."""
    number = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
    return np.append(np.repeat(s[:-1], parts) + number * np.repeat(np.diff(s) / parts, parts), s[-1])


def _breaks_of(path: Path) -> Array:
    """The breaks of a path, checked."""
    if not callable(path) or not hasattr(path, "breaks"):
        raise ArgumentError(f"path must be a path θ(s) with breaks (torsor.trajectories.Path), not {type(path).__name__}")
    breaks = as_array("breaks of the path", path.breaks, dtype=float)
    if breaks.ndim != 1 or len(breaks) < 2 or breaks[0] != 0 or not (np.diff(breaks) > 0).all() or breaks[-1] == np.inf:
        raise ArgumentError(f"breaks of the path must begin with 0 and rise, not {path.breaks!r}")
    return breaks
