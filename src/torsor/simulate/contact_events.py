"""Events of contacts: touch-down with its impact, lift-off, the beginning and the end of slip.

    v⁺ = v⁻ + M⁻¹Jᵀλ,    0 ≤ λ_n ⊥ u_n⁺ + e u_n⁻ ≥ 0,    |λ_t| ≤ μ λ_n against u_t⁺                (1)

for all contacts that touch, at once.  Restitution adds no energy: else it is reduced (Glocker 2014).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.algorithms.impulses import passive_blend
from torsor.errors import TorsorError, Unsupported
from torsor.model.terms.contacts import Contacts
from torsor.simulate import contact_problem
from torsor.simulate.contact_modes import COARSE, NEAR, OPEN, REST, SLACK, SLIPS, SLOWEST, STICKS, ContactJams, ContactMode
from torsor.simulate.events import Occurrence
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.robot import Robot
    from torsor.simulate.contact_modes import Touching
    from torsor.simulate.time_loop import Run

#: bounces shorter than this [s] are dropped: the contact rests.  They are of the height of rounding errors of positions
SHORTEST = 1e-7
#: events of contacts in a run; in a series within SHORTEST of each other, after which all contacts come to rest
MOST_EVENTS, MOST_IN_SERIES = 100_000, 50

Cause = tuple[str, int]
Signal = Callable[[float, Array, Array], float]


@dataclass
class Count:
    """Events of contacts in a run: their number, the time of the last one, and how many followed each other within SHORTEST."""

    events: int = 0
    time: float = -np.inf
    series: int = 0


class TooManyContactEvents(TorsorError, ArithmeticError):
    """Contacts changed too often for a motion between located events."""


def check_supported(robot: Robot) -> None:
    """Refuse robots whose contacts are beside parts that events do not locate."""
    model = robot.model
    why = None
    for term in model.terms:
        if isinstance(term, Contacts):
            why = "it is soft: its spring and damper are solved in steps" if term.stiffness is not None else None
        elif term.row(model) in ("stop", "dry friction", "base motion"):
            why = "it acts together with contacts"
        elif term.states(model).size:
            why = "it has states of first order, and the robot has contacts"
        if why:
            break
    else:
        term = None
        if model.has_rows:
            why = "loops and constraints together with contacts are solved in steps"
    if why:
        name = robot.name if term is None else f"{term.name} of robot {robot.name!r}"
        raise Unsupported(
            f"{name} does not have a simulation by adaptive steps: {why}; take fixed steps, integrator='semi_implicit' or "
            "'implicit'" + ("" if term is None else f", or leave it out, robot.without_terms({term.name!r})")
        )


# -- the functions to watch ----------------------------------------------------------------------------------------


def watched(run: Run) -> list[tuple[Cause, Signal, Signal | None]]:
    """Causes, functions that fall through zero, and the rates of those that may pass zero and return."""
    touching = run.system.touching
    if touching is None:
        return []
    mode, found = touching.mode, list[tuple[Cause, Signal, Signal | None]]()
    for k in mode.of(OPEN):
        found.append((("gap", k), partial(_gap, touching, k), partial(_approach, touching, k)))
    for k in mode.of(STICKS, SLIPS):
        found.append((("load", k), partial(_load, run, k), None))
    for k in mode.of(STICKS):
        found.append((("cone", k), partial(_cone, run, k), None))
    for k in mode.of(SLIPS):
        if touching.mu[k] > 0:
            found.append((("slip", k), partial(_slip, touching, mode, k), None))
    return found


def _gap(touching: Touching, k: int, t: float, q: Array, v: Array) -> float:
    return float(touching.at(q, v).gap[k] + touching.slack[k])


def _approach(touching: Touching, k: int, t: float, q: Array, v: Array) -> float:
    return float(touching.at(q, v).u[k, 2])


def _load(run: Run, k: int, t: float, q: Array, v: Array) -> float:
    """λ_n, and a slack well above rounding, so that the problem that decides the next mode agrees."""
    s = run.contact_solution(t, q, v)
    return float(s.force[k, 2]) + SLACK * s.size


def _cone(run: Run, k: int, t: float, q: Array, v: Array) -> float:
    """μ λ_n − |λ_t|, and that slack."""
    s, touching = run.contact_solution(t, q, v), run.system.touching
    assert touching is not None
    return SLACK * s.size - touching.excess(s, k)


def _slip(touching: Touching, mode: ContactMode, k: int, t: float, q: Array, v: Array) -> float:
    """u_t along its direction at the beginning of the step."""
    return float(touching.at(q, v).u[k, :2] @ mode.slip[k])


# -- consequences ----------------------------------------------------------------------------------------------------


def begin_step(run: Run) -> bool:
    """The directions of slips; impacts of contacts that approach although they touch, as at the start.  Whether v jumped."""
    touching = run.system.touching
    assert touching is not None
    kin, mode = touching.at(run.q, run.v), touching.mode
    jumps = bool(((kin.gap <= NEAR) & (kin.u[:, 2] < -REST))[mode.of(OPEN)].any())
    if jumps:
        follow(run, [("gap", k) for k in mode.of(OPEN) if kin.gap[k] <= NEAR and kin.u[k, 2] < -REST])
        return True
    if reversed_ := [k for k in mode.of(SLIPS) if kin.u[k, :2] @ mode.slip[k] < -REST]:
        follow(run, [("slip", k) for k in reversed_])  # friction would drive them
        return True
    slip = mode.slip.copy()
    for k in mode.of(SLIPS):
        slip[k] = touching.direction(mode, k, kin)
    touching.mode = mode._replace(slip=slip)  # the same motion
    return False


def follow(run: Run, causes: list[Any]) -> None:
    """All events of contacts at one time: slips that end, impacts, then the next mode."""
    touching = run.system.touching
    assert touching is not None
    _count(run, len(causes))
    if any(kind == "slip" for kind, _ in causes):
        _end_slips(run, touching)
    kin = touching.at(run.q, run.v)
    if any(kind == "gap" for kind, _ in causes) or ((kin.gap <= NEAR) & (kin.u[:, 2] < -REST)).any():
        _impact(run, touching, [k for kind, k in causes if kind == "gap"])
    else:
        change_mode(run)


def change_mode(run: Run, struck: tuple[str, ...] = (), listed: bool = True) -> None:
    """Decide the next mode, and list how it differs from the last one."""
    touching = run.system.touching
    assert touching is not None
    before = touching.mode
    after = touching.decide(run.t, run.q, run.v, *run.forces_at(run.t, run.q, run.v))
    touching.change(after, run.q, run.v)
    for k, (old, new) in enumerate(zip(before.kinds, after.kinds, strict=True)):
        name = touching.names[k]
        what = None
        if old != OPEN == new:
            what = "lift-off"
        elif old == OPEN != new:
            what = None if name in struck else "touch-down"
        elif (old, new) == (STICKS, SLIPS):
            what = "slip"
        elif (old, new) == (SLIPS, STICKS):
            what = "stick"
        elif old == new == SLIPS and touching.mu[k] > 0 and before.slip[k] @ after.slip[k] < -0.5:
            what = "reversal"
        if what and listed:
            run.occurrences.append(Occurrence(f"{name}: {what}", run.t, run.q.copy(), run.v.copy()))


def _end_slips(run: Run, touching: Touching) -> None:
    """u_t = 0 of slips that end; a slip that is faster only turns."""
    kin, mode = touching.at(run.q, run.v), touching.mode
    ends = [k for k in mode.of(SLIPS) if np.hypot(*kin.u[k, :2]) <= SLOWEST and kin.u[k, :2] @ mode.slip[k] <= REST]
    rows = [(k, 2) for k in mode.of(STICKS, SLIPS)] + [(k, i) for k in (*mode.of(STICKS), *ends) for i in (0, 1)]
    run.v = touching.without_velocities(run.q, run.v, rows)


def _impact(run: Run, touching: Touching, struck: list[int]) -> None:
    """The impact (1), recorded before and after; bounces that would be shorter than SHORTEST end at rest."""
    kin = touching.at(run.q, run.v)
    near = sorted({*np.flatnonzero(kin.gap <= NEAR).tolist(), *touching.mode.of(STICKS, SLIPS), *struck})
    run.q, run.v = touching.onto_contacts(run.q, run.v, near)
    kin = touching.at(run.q, run.v)
    hits = [k for k in near if kin.u[k, 2] < -REST]
    run.keep()
    bounce = np.zeros(len(near)) if _in_series(run) else touching.restitution[near]
    run.v = after_impact(touching, run.q, run.v, near, bounce)
    names = tuple(touching.names[k] for k in hits)
    old = touching.mode
    decided = touching.decide(run.t, run.q, run.v, *run.forces_at(run.t, run.q, run.v))
    touching.change(decided, run.q, run.v)
    kin, a = touching.at(run.q, run.v), run.contact_solution(run.t, run.q, run.v)
    brief = [k for k in near if kin.u[k, 2] > 0 and 2 * kin.u[k, 2] <= -a.rate[k, 2] * SHORTEST]
    if brief:
        closed = [*brief, *decided.of(STICKS, SLIPS)]
        rows = [(k, 2) for k in closed] + [(k, i) for k in decided.of(STICKS) for i in (0, 1)]
        run.v = touching.without_velocities(run.q, run.v, rows)
    for name in names:
        run.occurrences.append(Occurrence(f"{name}: touch-down", run.t, run.q.copy(), run.v.copy()))
    touching.change(old, run.q, run.v)
    change_mode(run, names)
    run.keep()


def after_impact(touching: Touching, q: Array, v: Array, near: list[int], bounce: Array) -> Array:
    """v⁺ by (1)."""
    kin, W, n = touching.at(q, v), touching.system.inverse_mass(q), len(near)
    J, u, mu = np.concatenate([kin.J[k] for k in near]), kin.u[near], touching.mu[near].tolist()
    G = J @ W @ J.T
    plain = _converged(touching, near, contact_problem.solve(G, u.ravel(), mu), u)
    lam = plain.impulses
    shift = np.where(u[:, 2] < -REST, bounce * u[:, 2], 0.0)
    if shift.any():
        w = u.copy()
        w[:, 2] += shift
        lam = _converged(touching, near, contact_problem.solve(G, w.ravel(), mu, lam), u).impulses
        given = [x.tolist() for x in (lam, plain.impulses, G @ lam, G @ plain.impulses, u.ravel())]
        part = float(passive_blend(*given))
        lam = part * lam + (1 - part) * plain.impulses
        shift *= part
    v = v + W @ J.T @ lam
    touched = touching.at(q, v).u[near]
    lam, size = lam.reshape(n, 3), float(np.abs(u).max())
    rest = [k for i, k in enumerate(near) if shift[i] == 0 and abs(touched[i, 2]) <= COARSE * size]
    still = np.hypot(touched[:, 0], touched[:, 1]) <= COARSE * size
    held = [k for i, k in enumerate(near) if k in rest and mu[i] and still[i] and lam[i, 2] > 0]
    return touching.without_velocities(q, v, [(k, 2) for k in rest] + [(k, i) for k in held for i in (0, 1)])


def _converged(touching: Touching, near: list[int], found: contact_problem.Solved, u: Array) -> contact_problem.Solved:
    if found.residual > COARSE:
        names = " and ".join(touching.names[k] for k in near)
        raise ContactJams(f"the impulses of an impact at {names} were not found: {found.residual:.1e} of its velocity is left")
    return found


def _count(run: Run, n: int) -> None:
    """Count events; too many end the run."""
    c = run.contacts
    c.events, c.series, c.time = c.events + n, c.series + 1 if run.t - c.time < SHORTEST else 0, run.t
    if c.events > MOST_EVENTS or c.series > 20 * MOST_IN_SERIES:
        raise TooManyContactEvents(
            f"contacts changed {c.events} times until t = {run.t:.9g} s, and further changes follow each other ever "
            "faster; take fixed steps, integrator='semi_implicit', which pass over them"
        )


def _in_series(run: Run) -> bool:
    """Whether so many events have followed each other that contacts come to rest."""
    return run.contacts.series > MOST_IN_SERIES


# -- records --------------------------------------------------------------------------------------------------------


def states_of_contacts(run: Run, t: float, q: Array, v: Array) -> list[float]:
    """x of the terms of contacts: forces in the world's axes [N], and the largest velocity that should be zero [m/s]."""
    touching = run.system.touching
    assert touching is not None
    s, kin = run.contact_solution(t, q, v), touching.at(q, v)
    forces = np.einsum("ki,kij->kj", s.force, kin.axes)
    x, first = [], 0
    for term in run.system.robot.model.terms:
        if not isinstance(term, Contacts):
            continue
        own = range(first, first := first + len(term.points))
        left = [0.0]
        for k in own:
            kind = touching.mode.kinds[k]
            left += [] if kind == OPEN else [abs(kin.u[k, 2])] if kind == SLIPS else np.abs(kin.u[k]).tolist()
        x += [*forces[own].ravel().tolist(), float(max(left))]
    return x


def accelerations(touching: Touching, t: Array, q: Array, v: Array, tau: Array, F: list[Array], forces: Array) -> Array:
    """a (T, nv) at recorded rows, from their contact forces in the world's axes."""
    rows = []
    for i, time in enumerate(t.tolist()):
        kin = touching.at(q[i], v[i])
        local = np.einsum("kj,kij->ki", forces[i], kin.axes)
        free = touching.system.acceleration(time, q[i], v[i], tau[i], *(f[i] for f in F))
        rows.append(free + touching.system.inverse_mass(q[i]) @ np.einsum("ki,kij->j", local, kin.J))
    return np.array(rows)
