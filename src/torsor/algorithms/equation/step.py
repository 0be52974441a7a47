"""One step in time of a composed robot, over any scalar: commands, x and the forces of its terms around an integrator.

The one body of ``robot.step``, of a rollout's step and of their derivatives: it selects the field of the integrator (a tree, or
rows on which the step is settled), follows x from the beginning of the step and makes steep joint forces implicit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from torsor.algorithms.closed_loops import Saddle
from torsor.algorithms.equation.at import ALONE, Inputs
from torsor.algorithms.equation.constrained import factors, largest, system
from torsor.algorithms.equation.dynamics import forward_dynamics, minus
from torsor.algorithms.equation.equation import EquationOfMotion
from torsor.algorithms.equation.impulse_step import AfterImpulses, step_with_impulses
from torsor.algorithms.equation.joint_impulses import dry_friction
from torsor.algorithms.equation.settle import LIMITS, ConstrainedField, settled_step
from torsor.algorithms.equation.stiff import IMPLICIT, stiffened
from torsor.algorithms.field import Field
from torsor.algorithms.impulses import BY_SWEEPS, ImpulseSolver
from torsor.algorithms.inverse_mass import InverseMass, by_factors
from torsor.algorithms.steps import State, take_step, time_after
from torsor.errors import ArgumentError
from torsor.model.terms.constraint import PROJECTION
from torsor.model.terms.contacts import Contacts
from torsor.model.terms.joint_losses import JointFriction
from torsor.model.terms.stops import Stops
from torsor.model.terms.term import Term
from torsor.scalar import Scalar, Scalars

#: integrators whose steps have impulses: q moves by the velocity after them
WITH_IMPULSES = ("semi_implicit", IMPLICIT)

#: the commands (nv) at (q, v, t)
Command = Callable[[Scalars, Scalars, Scalar | None], Scalars]


class StateAfterStep(NamedTuple):
    """The state after a step: x is empty if the robot has none, ``checks`` (|φ|, |A v − b|, doubt) without rows.

    ``work`` [J] is that of contacts, stops and dry friction, which act by impulses; ``distances`` from switching are theirs.
    """

    q: list[Scalar]
    v: list[Scalar]
    x: list[Scalar]
    checks: list[Scalar]
    work: Scalar
    distances: list[Scalar]


def step(
    e: EquationOfMotion,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    dt: Scalar,
    x: Scalars | None = None,
    integrator: str = "semi_implicit",
    inputs: Inputs = ALONE,
    with_work: bool = False,
    **how: Any,
) -> tuple[Any, ...]:
    """(q, v), and x if there is one, a step of dt [s] later, under commands and wrenches held over the step (MR §8.5).

    ``with_work``: then the work of impulses [J].  Of a robot with rows then their violation, above 1 where |φ|, |A v − b| or
    doubt is beyond its limit.  ``how`` is for :func:`advance`.
    """
    after = advance(e, q, v, lambda q, v, t: tau, dt, inputs._replace(x=x), integrator, **how)
    state: tuple[Any, ...] = (after.q, after.v, after.x) if e.state_names else (after.q, after.v)
    state += (after.work,) if with_work else ()
    if not e.constraints:
        return state
    found = [y / limit for y, limit in zip(after.checks, LIMITS["float64"], strict=True)]
    return *state, largest(found if e.settling == PROJECTION else found[2:])


def advance(
    e: EquationOfMotion,
    q: Scalars,
    v: Scalars,
    command: Command,
    dt: Scalar,
    inputs: Inputs = ALONE,
    integrator: str = "semi_implicit",
    route: str = "",
    accelerate: Callable[..., list[Scalar]] | None = None,
    saddle: Callable[..., Saddle] = factors,
    field: type[Field] = Field,
    impulses: ImpulseSolver = BY_SWEEPS,
) -> StateAfterStep:
    """The state a step of dt [s] later; every evaluation of an integrator has x followed from its beginning.

    Wrenches in the "world" as axes keep their direction while the frames turn; those that are functions follow the time.
    ``route`` "factors" selects the sparse factors of M.  A derivative may have its own ``accelerate(e, q, v, τ, inputs)`` of a
    tree, ``saddle(e, q, rows, route, t)`` of rows, ``impulses`` of contacts, and ``field`` with the sums q ⊕ w.
    """
    t, x = inputs.t, inputs.x
    jumps = has_impulses(e)
    free = e.with_terms(smooth_terms(e)) if jumps else e
    if jumps and integrator not in WITH_IMPULSES:
        name = next(term.name for term in e.terms if acts_by_impulses(term, e))
        raise ArgumentError(
            f"{name} acts by impulses, in steps of first order: {', '.join(WITH_IMPULSES)}; {integrator!r} has none "
            f"(robot.without_terms({name!r}) leaves it out)"
        )
    begin, follows = e.at(q, v, t, x), bool(e.state_names)
    begin.dt = dt
    if follows:
        e.transmit(begin, command(q, v, t))
    start = 0 if follows and t is None else t
    dry = dry_friction(e, begin, e.transmit(e.at(q, v, t, x), command(q, v, t))) if jumps else []
    solve = accelerate or partial(forward_dynamics, method="factors" if jumps else route or None)

    def forces(q: Scalars, v: Scalars, clock: Scalar | None) -> tuple[list[Scalar], Inputs]:
        """The joint forces, and the inputs at a time within the step."""
        time = None if t is None else clock
        now = e.at(q, v, time)
        h = clock - start if follows and clock is not None and start is not None else 0
        tau = e.transmit(now, command(q, v, time), begin, h)
        for friction in dry:
            tau = [y + friction.mean if k == friction.row else y for k, y in enumerate(tau)]
        return tau, Inputs(clock, free.x_of(now), at_time(inputs.wrenches, clock), inputs.axes)

    def steep_force(q: Scalars, v: Scalars) -> list[Scalar]:
        tau, given = forces(q, v, start)
        return free.applied(free.at(q, v, start, given.x), tau).tau

    moving, method, pull = free, integrator, list[Scalar]([0] * e.model.nv)
    if integrator == IMPLICIT:
        stiff, pull = stiffened(free.model, q, v, dt, steep_force)
        moving, method = free.of_model(stiff), "semi_implicit"

    def acceleration(q: Scalars, v: Scalars, t: Scalar | None) -> list[Scalar]:
        tau, given = forces(q, v, t)
        return solve(moving, q, v, minus(tau, pull), given)

    def force(q: Scalars, v: Scalars, t: Scalar | None) -> list[Scalar]:
        tau, given = forces(q, v, t)
        return system(moving, q, v, minus(tau, pull), **given._asdict())[1]

    def with_impulses(M: InverseMass) -> Callable[[str, Field, Scalars, Scalars, Scalar | None, Scalar], State]:
        """A step in the place of :func:`take_step`, with the inverse mass of what moves under the rows."""

        def take(name: str, f: Field, q: Scalars, v: Scalars, t: Scalar | None, dt: Scalar) -> State:
            after = step_with_impulses(e.terms, begin, f.acceleration(q, v, t), M, dt, dry, impulses)
            begin.impulses = after.impulses
            jumped.append(after)
            return after.q, after.v

        return take

    checks: list[Scalar] = []
    jumped: list[AfterImpulses] = []
    if e.constraints:
        c = ConstrainedField(moving, force, lambda q, t: saddle(moving, q, e.rows, route, t))
        state = settled_step(method, c, q, v, start, dt, with_impulses(c.inverse_mass(q, start)) if jumps else take_step)
        checks = c.checks(q, v, start, state[0], time_after(start, dt))
    else:
        take = with_impulses(by_factors(moving.model, q)) if jumps else take_step
        state = take(method, field(moving.model, acceleration), q, v, start, dt)
    end = time_after(t, dt)
    later = e.next_states(begin, e.at(*state, end), command(*state, end), dt) if follows else []
    work, far = (jumped[0].work, jumped[0].distances) if jumped else (0, [])
    return StateAfterStep(*state, later, checks, work, far)


def has_impulses(e: EquationOfMotion) -> bool:
    """Whether a term acts by impulses in a step."""
    return any(acts_by_impulses(term, e) for term in e.terms)


def acts_by_impulses(term: Term, e: EquationOfMotion) -> bool:
    """Whether a term acts by impulses in a step: contacts, stops, dry friction."""
    return isinstance(term, (Contacts, Stops)) or (isinstance(term, JointFriction) and term.is_dry(e.model))


def smooth_terms(e: EquationOfMotion) -> list[Term]:
    """The terms without impulses; of dry friction the rest of its laws."""
    kept = (term for term in e.terms if not isinstance(term, (Contacts, Stops)))
    return [replace(t, dry=False) if isinstance(t, JointFriction) and t.is_dry(e.model) else t for t in kept]


def at_time(wrenches: Mapping[str, Any] | None, t: Scalar | None) -> dict[str, Scalars]:
    """The wrenches at a time: numbers as they are, functions of t at t."""
    return {frame: F(t) if callable(F) else F for frame, F in (wrenches or {}).items()}
