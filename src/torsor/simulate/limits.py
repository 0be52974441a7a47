"""Hard stops: joints at their limits bounce, with a coefficient of restitution, or rest on the stop until pulled away.

A stop counts as struck if the joint is beyond it at the end of a step: one that is struck and left within the step is not seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from torsor.errors import ArgumentError, UnknownName
from torsor.simulate.system import System

Array: TypeAlias = np.ndarray

#: bounces shorter than this [s] are dropped: the joint rests on its stop
SHORTEST = 1e-6
#: a start this far outside is on the stop [rad, m]
OUTSIDE = 1e-9
#: attempts at choosing all that lean at once
ALL_AT_ONCE = 5


class Stop(NamedTuple):
    """side (q − bound) ≥ 0: ``side`` is 1 for a lower stop, −1 for an upper one."""

    joint: str
    q: int
    v: int
    side: int
    bound: float
    restitution: float

    def gap(self, t: float, q: Array, v: Array) -> float:
        """How far the stop is away [rad, m]."""
        return self.side * (float(q[self.q]) - self.bound)

    def short(self, v: Array, a: Array) -> bool:
        """Whether a bounce that leaves at v and returns at a would last no longer than SHORTEST [s]."""
        away, back = self.side * float(v[self.v]), -self.side * float(a[self.v])
        return away >= 0 and back >= 0 and 2 * away <= SHORTEST * back  # one that leans already has both 0

    @property
    def name(self) -> str:
        return f"{self.joint}: {'lower' if self.side > 0 else 'upper'} stop"


def stops_of(system: System, limits: Any) -> list[Stop]:
    """``limits`` as users give them: restitution of all joints that have limits, or {joint: restitution}."""
    if limits is None or limits is False:
        return []
    robot = system.robot
    model = robot.model
    single = [model.joint_names[i] for i, _ in model.outward() if model.coupling[i] is None and model.joint[i].nq == 1]
    if not isinstance(limits, Mapping):
        limits = dict.fromkeys(single, 0.0 if limits is True else limits)
    stops = []
    for name, e in limits.items():
        if name not in single:
            raise UnknownName("joint of one freedom", name, single)
        if not (isinstance(e, (int, float)) and 0 <= e <= 1):
            raise ArgumentError(f"restitution of joint {name!r} must be between 0 and 1, not {e!r}")
        joint = robot.joint(name)
        for side, bound in ((1, joint.lower), (-1, joint.upper)):
            value = float(np.ravel(bound)[0])
            if np.isfinite(value):
                stops.append(Stop(name, joint.q_slice.start, joint.v_slice.start, side, value, float(e)))
    return stops


def inside(stops: list[Stop], q: Array) -> Array:
    """The start, within its limits; what is outside by rounding is put on the stop."""
    q = q.copy()
    for stop in stops:
        gap = stop.gap(0.0, q, q)
        if gap < -OUTSIDE:
            raise ArgumentError(f"joint {stop.joint!r} starts {-gap:.3g} beyond its limit {stop.bound:g}; move it inside")
        if gap < 0:
            q[stop.q] = stop.bound
    return q


def impact_velocities(system: System, stops: list[Stop], q: Array, v: Array) -> Array:
    """v⁺ = v + M⁻¹Σ eᵢ ιᵢ with vᵢ⁺ = −e vᵢ⁻ for every joint that runs into the stop it is at (Newton's restitution).

    A blow may press another joint into a stop it leans on: that one takes its share, and does not bounce.
    """
    at = [s for s in stops if q[s.q] == s.bound]
    hit = [s for s in at if s.side * v[s.v] < 0]
    if not hit:
        return v
    held = {s.v for s in at if any(o.v == s.v and o.side != s.side for o in at)}  # lower = upper: nowhere to bounce to
    W, wanted = system.mobility(q), {s.v: 0.0 if s.v in held else -s.restitution * float(v[s.v]) for s in hit}
    for _ in range(len(at) + 1):
        rows = list(wanted)
        impulse = np.linalg.solve(W[np.ix_(rows, rows)], np.array([wanted[r] - v[r] for r in rows]))
        after = v + W[:, rows] @ impulse
        after[rows] = [wanted[r] for r in rows]  # to the bit: a joint that stops has v = 0
        pressed = [s.v for s in at if s.v not in wanted and s.side * after[s.v] < 0]
        if not pressed:
            return after
        wanted |= dict.fromkeys(pressed, 0.0)
    return after


def stop_joints(system: System, q: Array, v: Array, rows: list[int]) -> Array:
    """v after the impulses at some joints that bring them to rest together."""
    W = system.mobility(q)
    after = v - W[:, rows] @ np.linalg.solve(W[np.ix_(rows, rows)], v[rows])
    after[rows] = 0.0
    return after


def joints_at_stops(stops: list[Stop], q: Array, v: Array) -> list[tuple[int, int]]:
    """The joints that stand at their stop."""
    return [(s.v, s.side) for s in stops if q[s.q] == s.bound and v[s.v] == 0]


def acceleration_at_stops(system: System, t: float, q: Array, v: Array, tau: Array, *F: Array) -> Array:
    """a with forces λ ≥ 0 at the joints that lean on a stop, λᵢ aᵢ = 0, so that none accelerates into it.

    Which of them a stop holds follows from all of them: release joints with λ < 0, hold joints that accelerate into their stop;
    all at once first, then one at a time (Murty's rule, which terminates).
    """
    leaning = system.frozen.leaning
    one_way = [(row, side) for row, side in leaning if (row, -side) not in leaning]  # lower = upper holds both ways
    held = {row for row, _ in leaning}
    for attempt in range(ALL_AT_ONCE + 2 ** min(len(one_way), 10)):
        a, force = system.held_acceleration(sorted(held), t, q, v, tau, *F)
        moves, pushes = a.tolist(), force.tolist()
        wrong = {row for row, side in one_way if side * (pushes if row in held else moves)[row] < 0}
        if not wrong:
            break
        held ^= wrong if attempt < ALL_AT_ONCE else {min(wrong)}
    return a
