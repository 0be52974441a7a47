"""Modes: the joints held at rest and the sliding directions of the rest; constant between events, so that motion is smooth.

A joint at rest is held by its stop or by dry friction while the required force is within bounds,

    a_i = 0,   l_i ≤ λ_i ≤ u_i        (1)

and is released at the instant at which λ_i passes a bound.  A joint that slides has friction of one direction until its
velocity passes zero.  Both instants are located like events, so integrators keep their order.  At each of them
:func:`decide` finds the next mode from the complementarity problem of all joints at rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from torsor.simulate import complementarity
from torsor.simulate.limits import Stop, force_bounds, joints_at_stops
from torsor.simulate.stiction import Levels, solve_with_break_away
from torsor.simulate.system import AT_REST, DEPENDENT, System
from torsor.support.user_arrays import Array

#: a held joint is released when λ is outside its bounds by more than this, relative to the largest force: well above
#: rounding, so that the problem that decides the next mode agrees
SLACK = 1e-10


class Mode(NamedTuple):
    """``held`` rows of v have a = 0; ``side`` (nv,) is the direction of sliding in rows with dry friction, else 0."""

    held: tuple[int, ...]
    side: Array
    resting: tuple[tuple[int, int], ...] = ()  #: (row, side) of each stop that a joint rests on
    tied: tuple[int, ...] = ()  #: other rows at rest, which constraints tie to those that are held


def decide(system: System, stops: list[Stop], t: float, q: Array, v: Array, tau: Array, F: Sequence[Array]) -> Mode:
    """The mode of the motion that follows a state: w = A λ + b for the joints at rest, A = W_rr, b their free accelerations."""
    resting = tuple(joints_at_stops(stops, q, v))
    dry = np.zeros(len(v), bool)
    dry[list(system.dry_rows)] = True
    mode = Mode((), np.where(dry, np.sign(v), 0.0), resting)
    rows = np.array(sorted({row for row, _ in resting} | set(np.flatnonzero(dry & (v == 0)).tolist())), int)
    if not len(rows):
        return mode
    W = system.inverse_mass(q, t)
    b, _ = system.motion(mode, t, q, v, tau, *F)
    hold, slide = (_part(levels, rows) for levels in _bounds(system, mode, v, tau))
    found, _ = solve_with_break_away(W[np.ix_(rows, rows)], b[rows], hold, slide, ~dry[rows], system.rounding)
    mode.side[rows] = np.where(dry[rows], np.sign(found.w), 0.0)
    held = rows[found.held_coordinates]
    tied = _tied_rows(W, held) & (v == 0) if system.held and len(held) else np.zeros(len(v), bool)
    return mode._replace(held=tuple(held.tolist()), tied=tuple(np.flatnonzero(tied).tolist()))


def margin(system: System, mode: Mode, t: float, q: Array, v: Array, tau: Array, F: Sequence[Array]) -> float:
    """The least distance of λ from its bounds (1) [N·m, N], in the rows held; negative where one must be released.

    Joints of a linkage may be held by more forces than it has motions: then some λ within the bounds is enough.
    """
    rows = np.array(mode.held, int)
    a, force = system.motion(mode, t, q, v, tau, *F)
    lower, upper = _part(_bounds(system, mode, v, tau)[0], rows)
    finite = [np.abs(x[np.isfinite(x)]) for x in (lower, upper, force[rows], tau)]
    slack = SLACK * max(float(x.max(initial=0.0)) for x in finite)
    least = float(np.minimum(force[rows] - lower, upper - force[rows]).min()) + slack
    if least > 0 or system.held is None:
        return least
    W = system.inverse_mass(q, t)[np.ix_(rows, rows)]
    shared = complementarity.solve(W, a[rows] - W @ force[rows], lower - slack, upper + slack, rounding=system.rounding)
    return slack if shared.held_coordinates.all() else least


def at_rest(mode: Mode, stops: list[Stop], q: Array, v: Array) -> tuple[Array, Array]:
    """The state with held joints at rest and on their stops, bit for bit; projection onto loops changes them by rounding."""
    q, v = q.copy(), v.copy()
    v[[*mode.held, *mode.tied]] = 0.0
    for s in stops:
        if s.v in mode.held and (s.v, s.side) in mode.resting:
            q[s.q] = s.bound
    return q, v


def tied_joints_at_rest(system: System, t: float, q: Array, v: Array) -> Array:
    """v with the joints at rest, bit for bit, that cannot move while those with dry friction at rest do not.

    The joints of a linkage stop together; their velocities pass zero at times that differ by rounding.  Where joints at rest
    contradict the constraints they are not at rest.
    """
    v = system.velocity_on_constraints(q, v, t)
    still = [row for row in system.dry_rows if v[row] == 0] if system.held else []
    slow = np.abs(v) < AT_REST
    if not still or not slow.any():
        return v
    return np.where(slow & _tied_rows(system.inverse_mass(q, t), still), 0.0, v)


def _tied_rows(W: Array, held: Any) -> Array:
    """The rows without mobility beside those that are held, (nv,) bool: the diagonal of W − W_r W_rr⁻¹ W_rᵀ."""
    across = W[:, held] @ np.linalg.pinv(W[np.ix_(held, held)], rcond=DEPENDENT, hermitian=True)
    left = np.diag(W) - np.einsum("ij,ij->i", across, W[:, held])
    return left <= DEPENDENT * np.diag(W).max()


def _bounds(system: System, mode: Mode, v: Array, tau: Array) -> tuple[Levels, Levels]:
    """Bounds of λ (nv,) at rest and while sliding: those of the stops less those of friction, which is −λ."""
    lower, upper = force_bounds(mode.resting, len(v))
    dry = system.dry_friction(v, tau)
    return (lower - dry.hold[1], upper - dry.hold[0]), (lower - dry.slide[1], upper - dry.slide[0])


def _part(levels: Levels, rows: Array) -> Levels:
    return levels[0][rows], levels[1][rows]
