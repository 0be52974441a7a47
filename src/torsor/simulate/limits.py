"""Hard stops: joints at their limits bounce, with a coefficient of restitution, or rest on the stop until released."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from torsor.errors import ArgumentError
from torsor.model.terms.stops import Stops
from torsor.simulate import complementarity
from torsor.simulate.system import System
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.robot import Robot


#: bounces shorter than this [s] are dropped: the joint rests on its stop.  Under an acceleration a this loses m (a SHORTEST)²/8
SHORTEST = 1e-8
#: coupled joints may strike their stops infinitely often in a finite time.  A strike at less than this share of the fastest of
#: a series, in which one follows the other within SHORTEST, brings the joint to rest and loses SLOW² of the energy; if e < 1
SLOW = 1e-8
#: strikes on one stop after which a series whose speed hardly falls is ended too: all of its joints come to rest together
LONGEST = 50
#: rounding of a position of 1 rad or 1 m in one step; of a state within a step it is larger by the weights of DOP853's
#: interpolation, which cancel
ROUNDING, WITHIN = float(np.finfo(float).eps), 1000
#: an initial position at most this far outside is set to the stop [rad, m]
OUTSIDE = 1e-9


class Stop(NamedTuple):
    """side (q − bound) ≥ 0: ``side`` is 1 for a lower stop, −1 for an upper one."""

    joint: str
    q: int
    v: int
    side: int
    bound: float
    restitution: float

    def gap(self, t: float, q: Array, v: Array) -> float:
        """The distance to the stop [rad, m]."""
        return self.side * (float(q[self.q]) - self.bound)

    def rate(self, t: float, q: Array, v: Array) -> float:
        """The rate of the gap [rad/s, m/s]."""
        return self.side * float(v[self.v])

    def bounces_briefly(self, v: Array, a: Array) -> bool:
        """Whether a bounce that leaves at v and returns at a would last no longer than SHORTEST [s]."""
        away, back = self.side * float(v[self.v]), -self.side * float(a[self.v])
        return away >= 0 and back >= 0 and 2 * away <= SHORTEST * back  # a joint at rest has both 0

    @property
    def name(self) -> str:
        return f"{self.joint}: {'lower' if self.side > 0 else 'upper'} stop"


def stops_of(robot: Robot) -> list[Stop]:
    """The stops of a robot's joints, each coordinate's, where they have limits."""
    stops = []
    named = [(name, term) for term in robot.model.terms if isinstance(term, Stops) for name in term.stopped(robot.model)]
    for name, term in named:
        joint = robot.joint(name)
        several = joint.q_slice.stop - joint.q_slice.start > 1
        for k, bounds in enumerate(zip(joint.lower, joint.upper, strict=True)):
            called = f"{name}[{k}]" if several else name
            for side, bound in zip((1, -1), bounds, strict=True):
                if np.isfinite(bound):
                    at = joint.q_slice.start + k, joint.v_slice.start + k
                    stops.append(Stop(called, *at, side, float(bound), float(term.restitution)))
    return stops


def snap_to_stops(stops: list[Stop], q: Array) -> Array:
    """The initial q within its limits; entries outside by rounding are set to the stop."""
    q = q.copy()
    for stop in stops:
        gap = stop.gap(0.0, q, q)
        if gap < -OUTSIDE:
            raise ArgumentError(f"joint {stop.joint!r} starts {-gap:.3g} beyond its limit {stop.bound:g}; move it inside")
        if gap < 0:
            q[stop.q] = stop.bound
    return q


def stops_reached(stops: list[Stop], q: Array, v: Array, steps: int) -> list[Stop]:
    """The stops that joints are at, to the rounding of so many steps, or beyond, and do not leave; also joints at rest.

    Strikes at times that are equal to rounding are one impact.  All others follow each other, and differ: the first strike
    changes the velocity of the second.
    """
    slack = ROUNDING * (steps + WITHIN)
    return [s for s in stops if s.side * v[s.v] <= 0 and s.side * (q[s.q] - s.bound) <= slack * (1 + abs(s.bound))]


def impact_velocities(system: System, stops: list[Stop], q: Array, v: Array, t: float = 0.0) -> Array:
    """v⁺ = v + W ι, one problem for all joints that move into the stop they are at, or rest on it (Newton's restitution).

        w_i = v_i⁺ + e_i v_i⁻ ≥ 0,   ι_i ≥ 0,   w_i ι_i = 0

    Only impacts bounce: e_i counts where v_i⁻ < 0.  Impulses act away from the stop, so the kinetic energy changes by
    −½ Σ (1 − e_i) ι_i |v_i⁻| ≤ 0.  A joint that leaves its stop is not included; if it is driven back, that is the next impact.
    """
    at = [s for s in stops if q[s.q] == s.bound]
    rows = sorted({s.v for s in at if s.side * v[s.v] <= 0})
    lower, upper = force_bounds([(s.v, s.side) for s in at], len(v))
    e = np.zeros(len(v))
    for s in at:
        if np.isinf(lower[s.v]) != np.isinf(upper[s.v]):  # a joint between coinciding stops cannot bounce
            e[s.v] = s.restitution
    return _after_impulses(system, t, q, v, rows, -e[rows] * v[rows], lower[rows], upper[rows])


def stop_joints(system: System, q: Array, v: Array, rows: list[int], t: float = 0.0) -> Array:
    """v⁺ = v + W ι with v_i⁺ = 0 in some rows: impulses of either sign bring these joints to rest together."""
    infinite = np.full(len(rows), np.inf)
    return _after_impulses(system, t, q, v, rows, np.zeros(len(rows)), -infinite, infinite)


def _after_impulses(
    system: System, t: float, q: Array, v: Array, rows: list[int], target: Array, lower: Array, upper: Array
) -> Array:
    """v⁺ = v + W ι, ι within bounds and complementary to v⁺ − target, in some rows."""
    W = system.inverse_mass(q, t)
    impulse, above = complementarity.solve(W[np.ix_(rows, rows)], v[rows] - target, lower, upper)
    after = v + W[:, rows] @ impulse
    after[rows] = np.where(above == 0, target, after[rows])  # bit for bit: a joint that stops has v = 0
    return after


def force_bounds(stops: Sequence[tuple[int, int]], n: int) -> tuple[Array, Array]:
    """Bounds of the forces of stops on n rows, from (row, side) of each: [0, ∞) at a lower stop, (−∞, 0] at an upper one."""
    lower, upper = np.zeros(n), np.zeros(n)
    for row, side in stops:
        if side > 0:
            upper[row] = np.inf
        else:
            lower[row] = -np.inf
    return lower, upper


def joints_at_stops(stops: list[Stop], q: Array, v: Array) -> list[tuple[int, int]]:
    """The joints that are at their stop."""
    return [(s.v, s.side) for s in stops if q[s.q] == s.bound and v[s.v] == 0]
