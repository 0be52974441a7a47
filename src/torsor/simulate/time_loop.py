"""The loop over time: forces, steps, events, records."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from torsor.simulate import limits
from torsor.simulate.adaptive import Adaptive
from torsor.simulate.controllers import Law
from torsor.simulate.events import TOLERANCE, Event, Occurrence, StepInterval, crossed, located
from torsor.simulate.record import Record
from torsor.simulate.singular import SingularPositions
from torsor.simulate.stages import Advance
from torsor.simulate.system import Frozen, System
from torsor.support.progress import Progress

Array: TypeAlias = np.ndarray

#: records of an adaptive step, which is long, its end among them
WITHIN = 4


Signal = Callable[[float, Array, Array], float]
#: what ends a segment: an event, a stop that is struck, a row of v with dry friction that comes to rest
Cause: TypeAlias = Event | limits.Stop | int


@dataclass
class Forces:
    """τ and the external wrenches: what is held between ticks, and what follows the state."""

    law: Law  #: of the state, or what is held, through the drives
    sample: Law | None  #: what is held, asked for at ticks
    wrenches: list[Law]
    box: list[Array]

    def tick(self, t: float, q: Array, v: Array) -> None:
        if self.sample is not None:
            self.box[0] = self.sample(t, q, v)


class Memory(Protocol):
    """States of the first order beside the motion, solved from the beginning of a step to any time within it."""

    felt: bool  #: whether the motion depends on them

    def begin(self, t: float, q: Array, v: Array, tau: Array) -> None: ...
    def states(self, t: float, q: Array, v: Array) -> list[Array]: ...
    def columns(self) -> dict[str, list[str]]: ...


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
    positions: SingularPositions | None = None  #: of a linkage under an adaptive integrator

    def accelerate(self, t: float, q: Array, v: Array, tau: Array) -> Array:
        system, F = self.system, [w(t, *self.seen(q, v)) for w in self.forces.wrenches]
        if self.stops and not system.sticking:
            return limits.acceleration_at_stops(system, t, q, v, tau, *F)
        return system.dynamics(t, q, v, tau, *F)

    def acceleration(self, t: float, q: Array, v: Array) -> Array:
        return self.accelerate(t, q, v, self.forces.law(t, *self.seen(q, v)))

    def quickest(self) -> Callable[[float, Array, Array], Array]:
        """The acceleration without what this run does not have."""
        if self.system.direct is None or self.stops:
            return self.acceleration
        direct, law = self.system.direct(), self.forces.law
        return lambda t, q, v: direct(q, v, law(t, q, v))

    def seen(self, q: Array, v: Array) -> tuple[Array, Array]:
        """The robot's own coordinates, without its motors': what controllers and events are given."""
        return (q[: self.system.model.nq], v[: self.system.model.nv]) if self.system.inertias else (q, v)

    def keep(self) -> None:
        """The state, as it is now."""
        t, (q, v) = self.t, self.seen(self.q, self.v)
        wrenches = (w(t, q, v) for w in self.forces.wrenches)
        self.record.add(t, self.q, self.v, self.forces.law(t, q, v), *wrenches, *self.remembered(t, q, v))

    def remembered(self, t: float, q: Array, v: Array) -> list[Array]:
        """The states beside the motion."""
        return [x for m in self.memories for x in m.states(t, q, v)]

    def remember(self) -> None:
        """A step ends or begins here, as far as the states beside the motion are concerned."""
        if self.memories:
            t, (q, v) = self.t, self.seen(self.q, self.v)
            tau = self.forces.law(t, q, v)
            for memory in self.memories:
                memory.begin(t, q, v, tau)


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
    q, v, t, forces, project = run.q, run.v, run.t, run.forces, run.system.project
    law, add, seen = forces.law, run.record.add, run.seen
    direct = run.system.direct() if run.system.direct and not by_force else None
    accelerate = run.accelerate if direct is None else lambda t, q, v, tau: direct(q, v, tau)
    extra = bool(forces.wrenches) or bool(run.system.inertias)
    times, widths, ticks, kept = grid
    try:
        for k, h in enumerate(widths):
            t = times[k]
            if k in ticks:
                forces.tick(t, *seen(q, v))
            tau = law(t, *seen(q, v)) if extra else law(t, q, v)
            a = tau if by_force else accelerate(t, q, v, tau)
            if kept is None or k in kept:
                add(t, q, v, tau, *(w(t, *seen(q, v)) for w in forces.wrenches)) if extra else add(t, q, v, tau)
            state = advance(q, v, t, h, a)
            if project is not None:
                state = project(*state, times[k + 1])
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
            there = self.step(q, v, t, s - t, a)
            return there if project is None else project(*there, s)

        return StepInterval(stop, *at(stop), at)


def run_with_events(run: Run, grid: Grid, method: FixedStep | Adaptive, dense: Iterable[float] = ()) -> None:
    """Steps with events, stops and friction located in time; ``dense`` are the times to record, beside every grid time.

    A jump (an impact) is recorded twice, before and after.
    """
    wanted = list(dense)
    fixed, everything = not isinstance(method, Adaptive), not wanted
    for k, stop in enumerate(grid.times[1:]):
        if k in grid.ticks:
            run.forces.tick(run.t, *run.seen(run.q, run.v))
            method.restart()
        if (grid.kept is None or k in grid.kept) if fixed else (k == 0 or everything):
            run.keep()
        while run.t < stop and not run.ended:
            _advance(run, method, stop, wanted)
            run.progress(run.t)
        if run.ended:
            return
    if run.record.latest != run.t:
        run.keep()


def _advance(run: Run, method: FixedStep | Adaptive, stop: float, wanted: list[float]) -> None:
    """One segment, or its part before the first event in it."""
    system = run.system
    if _pressed(run):
        method.restart()
    system.frozen = Frozen(run.v, limits.joints_at_stops(run.stops, run.q, run.v))
    run.remember()  # forces that are held may be new
    segment = method.advance(run.t, run.q, run.v, stop)
    found = _found(run, segment)
    first = min((time for time, _ in found), default=segment.t)
    if segment.t < first + TOLERANCE and any(isinstance(c, Event) and c.terminal for _, c in found):
        later = first + TOLERANCE  # no segment follows, so what comes at the same time behind this one is looked for here
        found = _found(run, StepInterval(later, *segment.at(later), segment.at))
    end = max((time for time, _ in found if time <= first + TOLERANCE), default=first)  # all of these have passed zero there
    if isinstance(method, Adaptive) and run.positions is not None:
        run.positions.check(run.t, end, segment.at, run.q)
    run.steps += 1
    if isinstance(method, Adaptive):
        _kept(run, segment, end, wanted)
    run.t, (run.q, run.v) = end, segment.at(end) if found else (segment.q, segment.v)
    run.remember()
    if isinstance(method, Adaptive):
        _drift(run, method)
    if found:
        _happen(run, [cause for time, cause in found if time <= end])
        method.restart()
    elif isinstance(method, Adaptive) and not wanted and run.t < stop:
        run.keep()


def _found(run: Run, segment: StepInterval) -> list[tuple[float, Cause]]:
    """Everything that passes through zero in a segment, and when."""
    return [(time, c) for c, f, way in _guards(run, segment) if (time := _time(run, segment, f, way)) is not None]


def _time(run: Run, segment: StepInterval, function: Signal, direction: int) -> float | None:
    """When a function passes through zero in a segment, if it does."""

    def value(t: float, q: Array, v: Array) -> float:
        return function(t, *run.seen(q, v))

    t, before, after = run.t, value(run.t, run.q, run.v), value(segment.t, segment.q, segment.v)
    if before == 0 and after < 0 and direction < 0:  # away from zero and back within the segment: a short bounce
        width = segment.t - run.t
        while before <= 0 and width > TOLERANCE:
            width /= 2
            t, before = run.t + width, value(run.t + width, *segment.at(run.t + width))
        if before <= 0:
            return run.t + width
    return located(value, t, before, segment, after) if crossed(before, after, direction) else None


def _kept(run: Run, segment: StepInterval, end: float, wanted: list[float]) -> None:
    """Records inside an adaptive step, from its dense output: at the times wanted, else a few to each step."""
    if not wanted:
        inner = (run.t + (end - run.t) * np.arange(1, WITHIN) / WITHIN).tolist()
    else:
        inner = [t for t in wanted if run.t < t < end]
        wanted[:] = [t for t in wanted if t >= end]
    for t in inner:
        q, v = segment.at(t)
        q, v = (q, v) if run.system.project is None else run.system.project(q, v, t)
        here = run.seen(q, v)
        run.record.add(
            t, q, v, run.forces.law(t, *here), *(w(t, *here) for w in run.forces.wrenches), *run.remembered(t, *here)
        )


def _drift(run: Run, method: Adaptive) -> None:
    """Back onto the constraints; if the method is off them by more than its own error, it begins anew from there."""
    held, project = run.system.held, run.system.project
    if held is None or project is None:
        return
    gap = held.residual(run.q, **({"time": run.t} if held.solver.equations.depends_on_time else {}))
    run.q, run.v = project(run.q, run.v, run.t)
    if np.abs(gap).max(initial=0.0) > method.options["atol"]:
        method.restart()


def _guards(run: Run, segment: StepInterval) -> list[tuple[Cause, Signal, int]]:
    """Causes of events to look for in a segment, each with a function and the way it passes zero; stops only if passed."""
    return [
        *((e, e.function, e.direction) for e in run.events),
        *((s, s.gap, -1) for s in run.stops if s.gap(segment.t, segment.q, segment.v) <= 0),
        *((k, partial(_speed, row=k), 0) for k in run.system.sticking),
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
    return Occurrence(name, run.t, *(x.copy() for x in run.seen(run.q, run.v)))


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
    q, v = run.seen(run.q, run.v)
    for ahead in (0.0, 0.5, 1.0):
        with suppress(Exception):  # whatever the controller does now, the state still says something
            bad = np.flatnonzero(~np.isfinite(run.forces.law(run.t + ahead * dt, q, v)))
            if len(bad):
                return int(bad[0])
    return int(np.argmax(np.abs(v)))
