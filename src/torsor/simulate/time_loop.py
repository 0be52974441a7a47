"""The loop over time: forces, steps, events, records."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from torsor.simulate import contact_events, limits, transitions
from torsor.simulate.contact_modes import Solution
from torsor.simulate.controllers import Law
from torsor.simulate.energy_flows import interpolate
from torsor.simulate.events import Event, Occurrence, StepInterval
from torsor.simulate.modes import Mode, at_rest, decide, margin, tied_joints_at_rest
from torsor.simulate.record import Record, Schedule
from torsor.simulate.stages import Acceleration, Advance
from torsor.simulate.system import System
from torsor.simulate.term_states import TermStates
from torsor.support.progress import Progress
from torsor.support.user_arrays import Array


@dataclass
class Forces:
    """τ(t, q, v) after the drives, and the external wrenches, functions of the whole state; ``box`` has τ of the last tick."""

    law: Law
    sample: Law  #: the new τ for ``box``, called at each tick
    wrenches: list[Law]
    box: list[Array]

    def tick(self, t: float, q: Array, v: Array) -> None:
        self.box[0] = self.sample(t, q, v)


class Method(Protocol):
    """An integrator as a source of intervals: each is one step, or the part of it before ``stop``."""

    def restart(self) -> None:
        """Discard the history: the state or the forces have jumped."""

    def advance(self, t: float, q: Array, v: Array, stop: float) -> StepInterval:
        """One step from (q, v) at t, no further than ``stop``."""

    def settle(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """The state at the end of an interval, on the constraints."""


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
    listed: dict[Event, float] = field(default_factory=dict)  #: the time at which each event was listed last
    #: on each stop: time of the last one, speed of the fastest and number of those that follow each other within SHORTEST
    strikes: dict[limits.Stop, tuple[float, float, int]] = field(default_factory=dict)
    states: TermStates | None = None  #: x of the robot's terms, if some are followed or recorded
    contacts: contact_events.Count = field(default_factory=contact_events.Count)

    def __post_init__(self) -> None:
        system, law = self.system, self.forces.law
        #: whether joints may be held, or slide with dry friction, or contacts change
        self.modes = bool(self.stops or system.dry_rows or system.touching)
        accelerate: Callable[[float, Array, Array, Array], Array] = self._accelerate
        if system.one_kernel and not self.modes:
            kernel = system.smooth.kernels("forward_dynamics").__call__
            accelerate = lambda t, q, v, tau: kernel(q, v, tau)  # noqa: E731
        self.accelerate = accelerate
        #: a(t, q, v) under the forces of this run
        self.acceleration: Acceleration = lambda t, q, v: accelerate(t, q, v, law(t, q, v))
        #: the forces, if the acceleration under them is one kernel
        self.law = law if system.one_kernel and not (self.modes or self.states) else None
        self.known: tuple[Any, ...] | None = None  #: (t, q, v, τ), of the end of the last step if its forces are known
        self._margin: tuple[Mode | None, float, float] = (None, 0.0, 0.0)
        self.mode, self.decided = Mode((), np.zeros(len(self.v))), not self.modes

    def _accelerate(self, t: float, q: Array, v: Array, tau: Array) -> Array:
        return self.system.motion(self.mode, t, q, v, tau, *self.wrenches(t, q, v))[0]

    def decide_mode(self) -> None:
        """The mode of the motion that follows the present state."""
        if self.system.touching:
            contact_events.change_mode(self, listed=self.steps > 0)
            self.decided = True
            return
        if self.system.dry_rows:
            self.v = tied_joints_at_rest(self.system, self.t, self.q, self.v)
        self.mode = decide(self.system, self.stops, self.t, self.q, self.v, *self._forces(self.t, self.q, self.v))
        self.decided = True

    def update_mode(self) -> bool:
        """Decide the mode if an event, a tick or a jump of the forces may have changed it; returns whether it was decided."""
        if self.decided and (not self.mode.held or self.margin(self.t, self.q, self.v) > 0):
            return False
        self.decide_mode()
        return True

    def margin(self, t: float, q: Array, v: Array) -> float:
        """The least distance of the forces on held joints from their bounds; that of the last state is kept."""
        known, state, value = self._margin
        if known is not self.mode or state != t:
            value = margin(self.system, self.mode, t, q, v, *self._forces(t, q, v))
            self._margin = self.mode, t, value
        return value

    def contact_solution(self, t: float, q: Array, v: Array) -> Solution:
        """a and the forces of contacts at a state in the present mode."""
        assert self.system.touching is not None
        return self.system.touching.forces_within_laws(t, q, v, *self.forces_at(t, q, v))

    def forces_at(self, t: float, q: Array, v: Array) -> tuple[Array, ...]:
        """τ and the wrenches."""
        return self.forces.law(t, q, v), *self.wrenches(t, q, v)

    def _forces(self, t: float, q: Array, v: Array) -> tuple[Array, list[Array]]:
        return self.forces.law(t, q, v), self.wrenches(t, q, v)

    def wrenches(self, t: float, q: Array, v: Array) -> list[Array]:
        return [w(t, q, v) for w in self.forces.wrenches]

    def keep(self, *, kept: bool = True) -> None:
        """Add the present state to the record, if it needs it."""
        if kept or self.record.needs_all:
            self.record.add(*self.row_of(self.t, self.q, self.v), kept=kept)

    def rows_at(self, at: Callable[[Any], tuple[Array, Array]], times: Array) -> list[tuple[Any, ...]]:
        """The rows of times within a step, ``at(times)`` on the constraints."""
        states = zip(times.tolist(), *at(times), strict=True)
        return [self.row_of(t, *self.system.project(q, v, t)) for t, q, v in states]

    def row_of(self, t: float, q: Array, v: Array) -> tuple[Any, ...]:
        """A state, its forces and the first-order states, for the record."""
        if self.known and t == self.known[0] and q is self.known[1] and v is self.known[2]:
            return self.known
        tau, wrenches = self._forces(t, q, v)
        return t, q, v, tau, *wrenches, *(self.states.states(t, q, v) if self.states else ())

    def begin_states(self) -> None:
        """End or begin a step of the first-order states."""
        if self.states:
            self.states.begin(self.t, self.q, self.v)


class Grid(NamedTuple):
    """The end times of steps, their lengths, and the steps before which forces are sampled."""

    times: list[float]
    widths: list[float]
    ticks: set[int]
    kept: set[int] | None  #: records, by the number of the time; None: all


def grid(duration: float, dt: float, period: float | None, every: int) -> Grid:
    """Steps of dt, the last shorter if dt does not divide the duration, split at ticks between them."""
    n = max(1, int(np.ceil(duration / dt - 1e-9)))
    times = np.minimum(np.arange(n + 1) * dt, duration)
    times[-1] = duration
    period = period or np.inf
    near = 1e-6 * min(dt, period)
    ticks = np.arange(max(1, int(np.ceil(duration / period - 1e-9)))) * min(period, 2 * duration)
    own = np.abs(times - ticks[np.minimum(np.rint(times / period).astype(int), len(ticks) - 1)]) <= near
    extra = ticks[np.abs(ticks - np.minimum(np.rint(ticks / dt), n) * dt) > near]
    both = np.concatenate([times, extra])
    order = np.argsort(both, kind="stable")
    at_tick = np.concatenate([own, np.ones(len(extra), bool)])[order]
    number = np.concatenate([np.arange(n + 1), np.full(len(extra), -1)])[order]  # in the grid of dt
    kept = None if every == 1 else set(np.flatnonzero((number >= 0) & ((number % every == 0) | (number == n))).tolist())
    merged = both[order]
    widths = np.diff(merged)
    widths[np.abs(widths - dt) <= 1e-9 * dt] = dt  # bit for bit
    return Grid(merged.tolist(), widths.tolist(), set(np.flatnonzero(at_tick).tolist()), kept)


def run_without_events(run: Run, grid: Grid, advance: Advance, *, by_force: bool = False) -> None:
    """Fixed steps without events, stops or friction modes, with little Python per step.

    ``by_force``: the input of the step is the joint forces, held, instead of the first acceleration.
    """
    q, v, t, forces, system = run.q, run.v, run.t, run.forces, run.system
    law, add, project, accelerate = forces.law, run.record.add, system.project, run.accelerate
    times, widths, ticks, kept = grid
    first = run.steps
    try:
        for k, h in enumerate(widths[first:], first):
            t = times[k]
            if k in ticks:
                forces.tick(t, q, v)
            tau = law(t, q, v)
            a = tau if by_force else accelerate(t, q, v, tau)
            if k > first or not first:  # else it is the last record of a compiled run
                add(t, q, v, tau, *(w(t, q, v) for w in forces.wrenches), kept=kept is None or k in kept)
            state = project(*advance(q, v, t, h, a), times[k + 1])
            if not k & 255:
                run.progress(t)
            (q, v), run.steps = state, k + 1
    finally:
        run.t, run.q, run.v = times[run.steps], q, v
    run.keep()


class FixedStep:
    """A fixed-step method as a source of intervals: within a step, ``at`` computes a shorter step."""

    def __init__(self, run: Run, advance: Advance):
        self.run, self.step = run, advance

    def restart(self) -> None:
        """One-step methods have no history."""

    def advance(self, t: float, q: Array, v: Array, stop: float) -> StepInterval:
        a, project = self.run.acceleration(t, q, v), self.run.system.project

        def at(s: float) -> tuple[Array, Array]:
            return project(*self.step(q, v, t, s - t, a), s)

        end = at(stop)
        return StepInterval(stop, *end, at, partial(interpolate, self.run.system.robot, (t, q, v), (stop, *end)))

    def settle(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """Each step is projected already."""
        return q, v


def run_with_events(run: Run, grid: Grid, method: Method, schedule: Schedule) -> None:
    """Steps with events, stops and friction located in time, recorded at the times of ``schedule``.

    A jump (an impact) is recorded twice, before and after.
    """
    for k, stop in enumerate(grid.times[1:]):
        if k in grid.ticks:
            run.forces.tick(run.t, run.q, run.v)
            run.decided = not run.modes
            method.restart()
        run.keep(kept=schedule.keeps(run.t, grid=True))
        while run.t < stop and not run.ended:
            _advance(run, method, stop, schedule)
            run.progress(run.t)
        if run.ended:
            return
    if run.record.latest != run.t:
        run.keep()


def _advance(run: Run, method: Method, stop: float, schedule: Schedule) -> None:
    """One interval, or its part before the first event in it."""
    if run.stops and transitions.apply_impacts_of_pressed_joints(run):
        method.restart()
    if run.update_mode():
        method.restart()
    if run.system.touching and contact_events.begin_step(run):
        method.restart()
    run.begin_states()  # forces that are held may be new
    interval = method.advance(run.t, run.q, run.v, stop)
    end, found = transitions.first_crossings(run, interval) if run.modes or run.events else (interval.t, [])
    run.steps += 1
    times = schedule.within(run.t, end)
    known = run.record.sum_flows(interval, run.t, end, bool(times))
    if missing := [t for t in times if t not in known]:
        known |= {row[0]: row for row in run.rows_at(interval.at, np.array(missing))}
    for t in times:
        run.record.add(*known[t])
    run.t, (run.q, run.v) = end, interval.at(end) if end < interval.t else (interval.q, interval.v)
    run.known = interval.last
    run.begin_states()
    run.q, run.v = method.settle(run.t, run.q, run.v)
    if run.mode.held:
        run.q, run.v = at_rest(run.mode, run.stops, run.q, run.v)
    if found:
        transitions.follow(run, found)
        run.decided = not run.modes
        method.restart()
        if run.modes:
            run.keep(kept=False)  # powers are smooth up to here
    elif run.t < stop:
        run.keep(kept=schedule.keeps(run.t))


def likely_failed_row(run: Run, dt: float) -> int:
    """The row of v that most likely caused the error: a force that is not finite, else the fastest."""
    for ahead in (0.0, 0.5, 1.0):
        with suppress(Exception):  # if the controller fails, the state alone decides
            bad = np.flatnonzero(~np.isfinite(run.forces.law(run.t + ahead * dt, run.q, run.v)))
            if len(bad):
                return int(bad[0])
    return int(np.argmax(np.abs(run.v)))
