"""Events: a function of (t, q, v) that passes through zero, and the time at which it does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from torsor.errors import ArgumentError
from torsor.simulate.callbacks import guarded_signal
from torsor.support.user_arrays import Array

#: users' events up to this time [s] after another event, or an impact, are listed with it
TOLERANCE = 1e-10
#: an event is located to this number of spacings of floating-point time; the state is just after it
SPACINGS = 4


@dataclass(frozen=True)
class Event:
    """``function(t, q, v)`` passes through zero: upwards (``direction`` 1), downwards (−1) or either way (0).

    A ``terminal`` event ends the simulation.  Several events within 1e-10 s are all listed.  A function that is exactly zero at
    the end of a step has passed zero there; one that is zero at the start has not.  Two crossings within a single step are
    not detected.

    >>> upright = Event(lambda t, q, v: q[0] - 3.14159, name="upright", terminal=True)
    """

    function: Callable[[float, Array, Array], float]
    _: KW_ONLY
    direction: int = 0
    terminal: bool = False
    name: str = ""

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ArgumentError(f"an event is a function of (t, q, v), not {type(self.function).__name__}")
        if self.direction not in (-1, 0, 1):
            raise ArgumentError(f"an event's direction is -1, 0 or 1, not {self.direction!r}")


class Occurrence(NamedTuple):
    """An event: its name, time, and the state just after it."""

    name: str
    t: float
    q: Array
    v: Array


def events_of(events: Any) -> list[Event]:
    """Events as users give them: functions, :class:`Event` objects, one or several."""
    given: Iterable[Any] = () if events is None else [events] if callable(events) or isinstance(events, Event) else events
    found = [e if isinstance(e, Event) else Event(e) for e in given]
    named = [replace(e, name=e.name or _name(e.function, k)) for k, e in enumerate(found)]
    return [replace(e, function=guarded_signal(e.function, _label(e.name))) for e in named]


def _name(function: Any, k: int) -> str:
    name = getattr(function, "__name__", "")
    return f"event {k}" if name in ("", "<lambda>") else name


def _label(name: str) -> str:
    return name if name.startswith("event ") else f"event {name!r}"


class StepInterval(NamedTuple):
    """An interval of a motion: its end, and ``at(t)`` for times within; ``along(times)``, else ``at``, has one row per time."""

    t: float
    q: Array
    v: Array
    at: Callable[[float], tuple[Array, Array]]
    along: Callable[[Array], tuple[Array, Array]] | None = None
    #: rows (t, q, v, τ) of the stages of a step, if they are known; also those that serve to interpolate ``inner`` times
    stages: Callable[[bool], list[Any]] | None = None
    last: tuple[Any, ...] | None = None  #: the row of its end, if it is known


def crosses(before: float, after: float, direction: int) -> bool:
    """Whether an interval owns a crossing: its end does, its start does not, so a zero between two intervals counts once."""
    return (before < 0 <= after and direction >= 0) or (before > 0 >= after and direction <= 0)


def resolution(t: float) -> float:
    """The shortest time that is resolved at t [s]."""
    return SPACINGS * float(np.spacing(abs(t)))


def locate(
    function: Callable[[float, Array, Array], float], t: float, before: float, interval: StepInterval, after: float
) -> float:
    """The time just after a crossing, to rounding: the Illinois variant of regula falsi.

    A third step towards the same end is a bisection, so that steep or flat functions and jumps need few steps as well.
    """
    low, high, f, g, side, same = t, interval.t, before, after, 0, 0
    shortest = resolution(high)
    while high - low > shortest:
        middle = high - g * (high - low) / (g - f) if g != f and same < 2 else (low + high) / 2
        middle = min(max(middle, low + shortest / 2), high - shortest / 2)  # just past the root, so that both ends converge
        value = function(middle, *interval.at(middle))
        if (value < 0) == (before < 0) and value != 0:
            low, f, g, same = middle, value, g / 2 if side < 0 else g, same + 1 if side < 0 else 0
            side = -1
        else:
            high, g, f, same = middle, value, f / 2 if side > 0 else f, same + 1 if side > 0 else 0
            side = 1
    return high
