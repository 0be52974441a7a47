"""Events within an interval: the functions to watch, the instants at which they pass zero, and the consequences.

The functions are users' events, the gaps of hard stops, the velocities of sliding joints and the forces on held ones.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from torsor.simulate import contact_events, limits
from torsor.simulate.events import TOLERANCE, Event, Occurrence, StepInterval, crosses, locate, resolution
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.simulate.time_loop import Run

Signal = Callable[[float, Array, Array], float]

#: a user's function that is zero at the start of an interval, leaves zero and returns is found if it takes this share of it
BRIEFEST = 1e-3


class Guard(NamedTuple):
    """``function(t, q, v)`` passes zero: upwards (``direction`` 1), downwards (−1) or either way (0).

    ``follow(run, causes)`` is called with the causes of all guards of its kind that pass zero at one time.
    """

    cause: Any
    function: Signal
    direction: int
    follow: Callable[[Run, list[Any]], None]
    terminal: bool = False
    slope: Signal | None = None  #: the rate of the function, where it may pass zero and return within an interval

    @property
    def listed(self) -> bool:
        """Whether it is a user's event, which is listed and does not change the motion."""
        return self.follow is list_events


class Crossing(NamedTuple):
    """A guard and the time at which it has passed zero."""

    t: float
    guard: Guard


def guards_of(run: Run) -> list[Guard]:
    """All guards of the next interval."""
    system, mode = run.system, run.mode
    return [
        *(Guard(e, e.function, e.direction, list_events, e.terminal) for e in run.events),
        *(Guard(s, s.gap, -1, apply_impacts, slope=s.rate) for s in run.stops if s.v not in mode.held),
        *(Guard(k, partial(_speed, row=k, side=mode.side[k]), -1, bring_to_rest) for k in system.dry_rows if mode.side[k]),
        *([Guard(mode, run.margin, -1, release)] if mode.held else []),
        *(Guard(c, f, -1, contact_events.follow, slope=s) for c, f, s in contact_events.watched(run)),
    ]


def first_crossings(run: Run, interval: StepInterval) -> tuple[float, list[Crossing]]:
    """The time of the first crossing in an interval, or its end, and the crossings at that time.

    Users' events up to TOLERANCE later are among them, also beyond the end of the interval: the consequences may turn the
    motion back before their functions reach zero.
    """
    found = _crossings(run, guards := guards_of(run), interval)
    if not found:
        return interval.t, []
    later = min(c.t for c in found) + TOLERANCE
    if interval.t < later:
        beyond = StepInterval(later, *interval.at(later), interval.at)
        found = [c for c in found if not c.guard.listed] + _crossings(run, [g for g in guards if g.listed], beyond)
    change = min((c.t for c in found if not c.guard.listed), default=np.inf)
    end = min(change, max(c.t for c in found if c.t <= later), interval.t)
    end = interval.t if interval.t - end <= resolution(end) else end  # no interval shorter than rounding follows
    return end, [c for c in found if c.t <= (end + TOLERANCE if c.guard.listed else end)]


def follow(run: Run, found: list[Crossing]) -> None:
    """The consequences of all crossings at one time: impacts first, users' events last, with the state after the impacts.

    A joint that is at its stop to rounding strikes it now, also if its own crossing would be found a rounding error later.
    """
    if run.stops and not any(c.guard.follow is apply_impacts for c in found):
        apply_impacts_of_pressed_joints(run)
    for kind in (contact_events.follow, apply_impacts, bring_to_rest, release, list_events):
        if causes := [c.guard.cause for c in found if c.guard.follow is kind]:
            kind(run, causes)


def _crossings(run: Run, guards: list[Guard], interval: StepInterval) -> list[Crossing]:
    """The guards that pass zero in an interval; an event that has been listed already is not listed again within TOLERANCE."""
    found = [Crossing(t, g) for g in guards if (t := _time(run, interval, g)) is not None]
    return [c for c in found if not (c.guard.listed and c.t - run.listed.get(c.guard.cause, -np.inf) <= TOLERANCE)]


def _time(run: Run, interval: StepInterval, guard: Guard) -> float | None:
    """The time at which a guard passes zero in an interval, or None."""
    value, t, end = guard.function, run.t, interval
    before, after = value(t, run.q, run.v), value(end.t, end.q, end.v)
    if before == 0 != after and guard.direction * after >= 0:
        t, before = _departure(run, interval, guard, after)
        if before * np.sign(after) >= 0:
            return None if guard.listed else t
    if guard.slope is not None and before > 0 and after > 0 and (lowest := _lowest(run, interval, guard, before, after)):
        end, after = lowest, value(lowest.t, lowest.q, lowest.v)
    return locate(value, t, before, end, after) if crosses(before, after, guard.direction) else None


def _departure(run: Run, interval: StepInterval, guard: Guard, after: float) -> tuple[float, float]:
    """A time, and the value, at which a guard that is zero at the start has left zero to return: a short bounce.

    If it does not leave zero on that side, as a joint at rest, the value has the sign of ``after``, or is zero.
    """
    if guard.slope is not None and (top := _turn(run, interval, guard.slope)):
        return top.t, guard.function(top.t, top.q, top.v)
    before, width = 0.0, interval.t - run.t
    shortest = width * BRIEFEST if guard.listed else TOLERANCE
    while before * np.sign(after) >= 0 and width > shortest:
        width /= 2
        before = guard.function(run.t + width, *interval.at(run.t + width))
    return run.t + width, before


def _lowest(run: Run, interval: StepInterval, guard: Guard, before: float, after: float) -> StepInterval | None:
    """The interval up to the least value of a guard that is positive at both ends and falls first, then rises; else None.

    A guard that is further from zero than its slopes at both ends would move it together cannot reach zero between them.
    """
    slope, h = guard.slope, interval.t - run.t
    assert slope is not None
    first, last = slope(run.t, run.q, run.v), slope(interval.t, interval.q, interval.v)
    return _turn(run, interval, slope) if first < 0 < last and min(before, after) <= (last - first) * h else None


def _turn(run: Run, interval: StepInterval, slope: Signal) -> StepInterval | None:
    """The interval up to the time at which a slope changes its sign, or None."""
    first, last = slope(run.t, run.q, run.v), slope(interval.t, interval.q, interval.v)
    if not first * last < 0:
        return None
    t = locate(slope, run.t, first, interval, last)
    return StepInterval(t, *interval.at(t), interval.at)


def _speed(t: float, q: Array, v: Array, row: int, side: float) -> float:
    return side * float(v[row])


# -- consequences ------------------------------------------------------------------------------------------------


def list_events(run: Run, events: list[Event]) -> None:
    """Users' events; a terminal one ends the run."""
    run.occurrences += [_occurrence(run, e.name) for e in events]
    run.listed |= dict.fromkeys(events, run.t)
    if any(e.terminal for e in events):
        run.ended = True
        run.keep()


def bring_to_rest(run: Run, rows: list[int]) -> None:
    """Sliding joints whose velocity passes zero; the next mode decides whether friction holds them."""
    run.v = run.v.copy()
    run.v[rows] = 0.0


def release(run: Run, modes: list[Any]) -> None:
    """A held joint whose force passes a bound: the state is continuous, the next mode releases the joint."""


def apply_impacts(run: Run, stops: list[limits.Stop]) -> None:
    """The impact of joints that reach their stops, with all that are at theirs to rounding and do not leave: one problem.

    It is recorded before and after.  Joints whose bounce would be shorter than SHORTEST come to rest on their stops.
    """
    near = limits.stops_reached(run.stops, run.q, run.v, run.steps)
    struck = [s for s in run.stops if s in stops or (s in near and s.rate(run.t, run.q, run.v) < 0)]
    ended = [s for s in struck if _count_strike(run, s)]
    run.q = run.q.copy()
    for stop in (*stops, *near, *(series := _series(run) if ended else [])):
        run.q[stop.q] = stop.bound  # bit for bit
    run.keep()
    short = {s.v for s in (*ended, *series)}
    run.v = limits.impact_velocities(run.system, run.stops, run.q, run.v, run.t)
    run.decide_mode()
    a = run.acceleration(run.t, run.q, run.v)
    if short := short | {s.v for s in run.stops if run.q[s.q] == s.bound and s.bounces_briefly(run.v, a)}:
        run.v = limits.stop_joints(run.system, run.q, run.v, sorted(short), run.t)
    run.occurrences += [_occurrence(run, s.name) for s in struck]
    run.keep()


def _count_strike(run: Run, stop: limits.Stop) -> bool:
    """Count a strike; whether it ends a series, in which joints drive each other onto their stops without end."""
    speed, (then, fastest, count) = abs(float(run.v[stop.v])), run.strikes.get(stop, (-np.inf, 0.0, 0))
    if run.t - then >= limits.SHORTEST:
        fastest, count = 0.0, 0
    run.strikes[stop] = run.t, max(fastest, speed), count + 1
    return stop.restitution < 1 and (speed < limits.SLOW * fastest or count >= limits.LONGEST)


def _series(run: Run) -> list[limits.Stop]:
    """The stops of the present series, at which their joints still are: the joints come to rest together."""
    lately = [s for s, (then, *_) in run.strikes.items() if run.t - then < limits.SHORTEST and s.restitution < 1]
    return [s for s in lately if s.gap(run.t, run.q, run.v) < limits.OUTSIDE]


def apply_impacts_of_pressed_joints(run: Run) -> bool:
    """Impacts of joints that are at a stop and move into it, at the start or after another impact; True if there are any."""
    pressed = any(run.v[s.v] for s in limits.stops_reached(run.stops, run.q, run.v, run.steps))
    if pressed:
        apply_impacts(run, [])
    return pressed


def _occurrence(run: Run, name: str) -> Occurrence:
    return Occurrence(name, run.t, run.q.copy(), run.v.copy())
