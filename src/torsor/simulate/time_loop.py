"""The loop over time: forces, steps, events, records."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from torsor.simulate import limits
from torsor.simulate.controllers import Law
from torsor.simulate.events import TOLERANCE, Event, Occurrence, StepInterval, crossed, located
from torsor.simulate.progress import Progress
from torsor.simulate.record import Record, Schedule
from torsor.simulate.stages import Advance
from torsor.simulate.system import Frozen, Memory, System

Array: TypeAlias = np.ndarray


Signal = Callable[[float, Array, Array], float]
#: what ends a segment: an event, a stop that is struck, a row of v with dry friction that comes to rest
Cause: TypeAlias = Event | limits.Stop | int


@dataclass
class Forces:
    """τ(t, q, v), through the drives, and the external wrenches; ``box`` holds the joint forces sampled at the last tick."""

    law: Law
    sample: Law  #: the new content of the box
    wrenches: list[Law]
    box: list[Array]

    def tick(self, t: float, q: Array, v: Array) -> None:
        self.box[0] = self.sample(t, q, v)


class Method(Protocol):
    """An integrator as a source of segments: each is one step, or the part of it before ``stop``."""

    def restart(self) -> None:
        """Discard the past: the state or the forces have jumped."""

    def advance(self, t: float, q: Array, v: Array, stop: float) -> StepInterval:
        """One step from (q, v) at t, no further than ``stop``."""

    def check(self, start: float, q: Array, end: float, segment: StepInterval) -> None:
        """Raise if the method cannot be trusted between ``start``, where the configuration is q, and ``end``."""

    def settle(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """The state at the end of a segment, on the constraints."""


@dataclass
class Run:
    """A simulation under way."""

    system: System
    forces: Forces
    stops: list[limits.Stop]
    events: list[Event]
    record: Record
    progress: Progress
    t: float
    q: Array
    v: Array
    steps: int = 0
    occurrences: list[Occurrence] = field(default_factory=list)
    ended: bool = False
    struck: dict[str, float] = field(default_factory=dict)  #: when each stop was struck last
    memories: list[Memory] = field(default_factory=list)  #: states beside the motion

    def __post_init__(self) -> None:
        self.accelerate = self._at_stops if self.stops and not self.system.dry_rows else self._freely()

    def _freely(self) -> Callable[[float, Array, Array, Array], Array]:
        return self.system.under_wrenches(self.forces.wrenches)

    def _at_stops(self, t: float, q: Array, v: Array, tau: Array) -> Array:
        return limits.acceleration_at_stops(self.system, t, q, v, tau, *self.wrenches(t, q, v))

    def acceleration(self, t: float, q: Array, v: Array) -> Array:
        """a(t, q, v) under the forces of this run."""
        return self.accelerate(t, q, v, self.forces.law(t, *self.system.own(q, v)))

    def wrenches(self, t: float, q: Array, v: Array) -> list[Array]:
        return [w(t, *self.system.own(q, v)) for w in self.forces.wrenches]

    def keep(self) -> None:
        """Record the present state."""
        self.keep_state(self.t, self.q, self.v)

    def keep_state(self, t: float, q: Array, v: Array) -> None:
        """Record a state, its forces and the states beside the motion."""
        own = self.system.own(q, v)
        self.record.add(
            t, q, v, self.forces.law(t, *own), *self.wrenches(t, q, v), *(x for m in self.memories for x in m.states(t, *own))
        )

    def begin_memories(self) -> None:
        """A step ends or begins here, as far as the states beside the motion are concerned."""
        if self.memories:
            own = self.system.own(self.q, self.v)
            tau = self.forces.law(self.t, *own)
            for memory in self.memories:
                memory.begin(self.t, *own, tau)


class Grid(NamedTuple):
    """The times at which steps end, the steps' lengths, and before which of them the forces are sampled anew."""

    times: list[float]
    widths: list[float]
    ticks: set[int]
    kept: set[int] | None  #: records, by the number of the time; None: all


def grid(duration: float, dt: float, period: float | None, every: int) -> Grid:
    """Steps of dt, the last shorter where dt does not divide the duration, cut at ticks that fall between."""
    n = max(1, int(np.ceil(duration / dt - 1e-9)))
    times = np.minimum(np.arange(n + 1) * dt, duration)
    times[-1] = duration
    widths = np.full(n, dt)
    widths[-1] = duration - times[-2] if abs(duration - n * dt) > 1e-9 * dt else dt
    if period is None:
        return Grid(times.tolist(), widths.tolist(), {0}, None if every == 1 else {*range(0, n + 1, every), n})
    near = 1e-6 * min(dt, period)
    ticks = np.arange(int(np.ceil(duration / period - 1e-9))) * period
    own = np.abs(times - ticks[np.minimum(np.rint(times / period).astype(int), len(ticks) - 1)]) <= near
    extra = ticks[np.abs(ticks - np.minimum(np.rint(ticks / dt), n) * dt) > near]
    if not len(extra):
        kept = None if every == 1 else {*range(0, n + 1, every), n}
        return Grid(times.tolist(), widths.tolist(), set(np.flatnonzero(own).tolist()), kept)
    both = np.concatenate([times, extra])
    order = np.argsort(both, kind="stable")
    at_tick = np.concatenate([own, np.ones(len(extra), bool)])[order]
    grid_number = np.concatenate([np.arange(n + 1), np.full(len(extra), -1)])[order]
    kept = None if every == 1 else {k for k, g in enumerate(grid_number.tolist()) if g >= 0 and (g % every == 0 or g == n)}
    merged = both[order]
    return Grid(merged.tolist(), np.diff(merged).tolist(), set(np.flatnonzero(at_tick).tolist()), kept)


def run_without_events(run: Run, grid: Grid, advance: Advance, *, by_force: bool = False) -> None:
    """Fixed steps with nothing to watch for: as little Python as there can be.

    ``by_force``: the step takes the joint forces, held, in place of the first acceleration.
    """
    q, v, t, forces, system = run.q, run.v, run.t, run.forces, run.system
    law, add, own, project, accelerate = forces.law, run.record.add, system.own, system.project, run.accelerate
    times, widths, ticks, kept = grid
    try:
        for k, h in enumerate(widths):
            t = times[k]
            if k in ticks:
                forces.tick(t, *own(q, v))
            tau = law(t, *own(q, v))
            a = tau if by_force else accelerate(t, q, v, tau)
            if kept is None or k in kept:
                add(t, q, v, tau, *(w(t, *own(q, v)) for w in forces.wrenches))
            state = project(*advance(q, v, t, h, a), times[k + 1])
            if not k & 255:
                run.progress(t)
            (q, v), run.steps = state, k + 1
    finally:
        run.t, run.q, run.v = times[run.steps], q, v
    run.keep()


class FixedStep:
    """A fixed-step method as a source of segments: within a step, ``at`` takes a shorter one."""

    def __init__(self, run: Run, advance: Advance):
        self.run, self.step = run, advance

    def restart(self) -> None:
        """One-step methods have no past."""

    def advance(self, t: float, q: Array, v: Array, stop: float) -> StepInterval:
        a, project = self.run.acceleration(t, q, v), self.run.system.project

        def at(s: float) -> tuple[Array, Array]:
            return project(*self.step(q, v, t, s - t, a), s)

        return StepInterval(stop, *at(stop), at)

    def check(self, start: float, q: Array, end: float, segment: StepInterval) -> None:
        """Short steps pass a singular position on its branch."""

    def settle(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """Each step is projected already."""
        return q, v


def run_with_events(run: Run, grid: Grid, method: Method, schedule: Schedule) -> None:
    """Steps with events, stops and friction located in time, recorded as the ``schedule`` says.

    A jump (an impact) is recorded twice, before and after.
    """
    for k, stop in enumerate(grid.times[1:]):
        if k in grid.ticks:
            run.forces.tick(run.t, *run.system.own(run.q, run.v))
            method.restart()
        if schedule.at_grid_time(k):
            run.keep()
        while run.t < stop and not run.ended:
            _advance(run, method, stop, schedule)
            run.progress(run.t)
        if run.ended:
            return
    if run.record.latest != run.t:
        run.keep()


def _advance(run: Run, method: Method, stop: float, schedule: Schedule) -> None:
    """One segment, or its part before the first event in it."""
    if _pressed(run):
        method.restart()
    run.system.frozen = Frozen(run.v, limits.joints_at_stops(run.stops, run.q, run.v))
    run.begin_memories()  # forces that are held may be new
    segment = method.advance(run.t, run.q, run.v, stop)
    found = _found(run, segment)
    first = min((time for time, _ in found), default=segment.t)
    if segment.t < first + TOLERANCE and any(isinstance(c, Event) and c.terminal for _, c in found):
        later = first + TOLERANCE  # no segment follows, so what comes at the same time behind this one is looked for here
        found = _found(run, StepInterval(later, *segment.at(later), segment.at))
    end = max((time for time, _ in found if time <= first + TOLERANCE), default=first)  # all of these have passed zero there
    method.check(run.t, run.q, end, segment)
    run.steps += 1
    for t in schedule.within(run.t, end):
        run.keep_state(t, *run.system.project(*segment.at(t), t))
    run.t, (run.q, run.v) = end, segment.at(end) if found else (segment.q, segment.v)
    run.begin_memories()
    run.q, run.v = method.settle(run.t, run.q, run.v)
    if found:
        _happen(run, [cause for time, cause in found if time <= end])
        method.restart()
    elif schedule.at_step_end and run.t < stop:
        run.keep()


def _found(run: Run, segment: StepInterval) -> list[tuple[float, Cause]]:
    """Everything that passes through zero in a segment, and when."""
    return [(time, c) for c, f, way in _guards(run, segment) if (time := _time(run, segment, f, way)) is not None]


def _time(run: Run, segment: StepInterval, function: Signal, direction: int) -> float | None:
    """When a function passes through zero in a segment, if it does."""

    def value(t: float, q: Array, v: Array) -> float:
        return function(t, *run.system.own(q, v))

    t, before, after = run.t, value(run.t, run.q, run.v), value(segment.t, segment.q, segment.v)
    if before == 0 and after < 0 and direction < 0:  # away from zero and back within the segment: a short bounce
        width = segment.t - run.t
        while before <= 0 and width > TOLERANCE:
            width /= 2
            t, before = run.t + width, value(run.t + width, *segment.at(run.t + width))
        if before <= 0:
            return run.t + width
    return located(value, t, before, segment, after) if crossed(before, after, direction) else None


def _guards(run: Run, segment: StepInterval) -> list[tuple[Cause, Signal, int]]:
    """Causes of events to look for in a segment, each with a function and the way it passes zero; stops only if passed."""
    return [
        *((e, e.function, e.direction) for e in run.events),
        *((s, s.gap, -1) for s in run.stops if s.gap(segment.t, segment.q, segment.v) <= 0),
        *((k, partial(_speed, row=k), 0) for k in run.system.dry_rows),
    ]


def _happen(run: Run, causes: list[Cause]) -> None:
    """All that comes at one time: impacts, together; joints that come to rest; events, which see the state behind them."""
    if stops := [c for c in causes if isinstance(c, limits.Stop)]:
        _put(run, stops)
        _strike(run, stops)
    if rows := [c for c in causes if isinstance(c, int)]:
        run.v = run.v.copy()
        run.v[rows] = 0.0  # friction decides at the next step whether they stay
    events = [c for c in causes if isinstance(c, Event)]
    run.occurrences += [_occurrence(run, e.name) for e in events]
    if any(e.terminal for e in events):
        run.ended = True
        run.keep()


def _occurrence(run: Run, name: str) -> Occurrence:
    return Occurrence(name, run.t, *(x.copy() for x in run.system.own(run.q, run.v)))


def _speed(t: float, q: Array, v: Array, row: int) -> float:
    return float(v[row])


def _pressed(run: Run) -> bool:
    """Joints that stand at a stop and move into it, at the start or when two strike at once: struck before anything else."""
    if beyond := [s for s in run.stops if s.gap(run.t, run.q, run.v) < 0]:
        _put(run, beyond)
    into = [s for s in run.stops if run.q[s.q] == s.bound and s.side * run.v[s.v] < 0]
    if into:
        _strike(run, into)
    return bool(beyond or into)


def _put(run: Run, stops: list[limits.Stop]) -> None:
    """Onto the stops, to the bit."""
    run.q = run.q.copy()
    for stop in stops:
        run.q[stop.q] = stop.bound


def _strike(run: Run, into: list[limits.Stop]) -> None:
    """The blow, recorded before and after; joints whose bounce would be too short to see come to rest on their stops."""
    recent = [s for s in run.stops if _again(run, s)]
    _put(run, recent)
    run.keep()
    run.v = limits.impact_velocities(run.system, run.stops, run.q, run.v)
    run.system.frozen = Frozen(run.v, limits.joints_at_stops(run.stops, run.q, run.v))
    a = run.acceleration(run.t, run.q, run.v)
    short = {s.v for s in run.stops if run.q[s.q] == s.bound and s.short(run.v, a)}
    short |= {s.v for s in recent}
    if short:
        run.v = limits.stop_joints(run.system, run.q, run.v, sorted(short))
    run.struck |= dict.fromkeys((s.name for s in into), run.t)
    run.occurrences += [_occurrence(run, s.name) for s in into]
    run.keep()


def _again(run: Run, stop: limits.Stop) -> bool:
    """Whether a joint is still at a stop it struck a moment ago: two that throw each other off would do so without end.

    One that bounces off is leaving, and does not count.
    """
    lately = run.t - run.struck.get(stop.name, -np.inf) < limits.SHORTEST
    leaving = stop.restitution > 0 and stop.side * run.v[stop.v] > 0
    return lately and not leaving and stop.gap(run.t, run.q, run.v) < limits.OUTSIDE


def likely_failed_row(run: Run, dt: float) -> int:
    """The row of v that most likely went wrong: a force that is no number, else the fastest."""
    q, v = run.system.own(run.q, run.v)
    for ahead in (0.0, 0.5, 1.0):
        with suppress(Exception):  # whatever the controller does now, the state still says something
            bad = np.flatnonzero(~np.isfinite(run.forces.law(run.t + ahead * dt, q, v)))
            if len(bad):
                return int(bad[0])
    return int(np.argmax(np.abs(v)))
