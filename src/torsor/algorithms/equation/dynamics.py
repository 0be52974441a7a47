"""Inverse, forward and hybrid dynamics of a tree with terms that have no rows (those with rows: :mod:`.constrained`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torsor.algorithms import dynamics as tree
from torsor.algorithms import dynamics_derivatives as derivatives
from torsor.algorithms import hybrid, reactions, steps
from torsor.algorithms.equation.equation import EquationOfMotion
from torsor.algorithms.field import Field
from torsor.algorithms.rnea import rnea
from torsor.algorithms.rnea_derivatives import Derivatives, rnea_derivatives
from torsor.scalar import Scalar, Scalars

Wrenches = Mapping[str, Scalars]


def inverse_dynamics(
    e: EquationOfMotion,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    wrenches: Wrenches | None = None,
    base_velocity: Scalars | None = None,
    base_acceleration: Scalars | None = None,
    axes: str = "body",
    t: Scalar | None = None,
    x: Scalars | None = None,
) -> list[Scalar]:
    """τ = ℓ + φ(v, ℓ) with ℓ = M a + h − Σ f − Jᵀf, the joint forces of a motion."""
    at = e.at(q, v, t, x)
    own, on = e.applied_without_friction(at, wrenches, axes)
    load = minus(rnea(at.model, q, v, a, on, base_velocity, base_acceleration), own)
    return e.before_friction(at, load)


def forward_dynamics(
    e: EquationOfMotion,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    wrenches: Wrenches | None = None,
    axes: str = "body",
    t: Scalar | None = None,
    x: Scalars | None = None,
    method: str | None = None,
    solve: Callable[..., list[Scalar]] | None = None,
) -> list[Scalar]:
    """a = M⁻¹ (ℓ + Σ f + Jᵀf − h) with ℓ + φ(v, ℓ) = τ."""
    at = e.at(q, v, t, x)
    force, on = e.applied(at, tau, wrenches, axes)
    return solve(at.model, q, v, force, on) if solve else tree.forward_dynamics(at.model, q, v, force, on, method)


def residual(
    e: EquationOfMotion,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    a: Scalars,
    wrenches: Wrenches | None = None,
    axes: str = "body",
    t: Scalar | None = None,
    x: Scalars | None = None,
) -> list[Scalar]:
    """R = M a + h − ℓ − Σ f − Jᵀf, 0 at the solution; ∂R/∂a = M."""
    at = e.at(q, v, t, x)
    force, on = e.applied(at, tau, wrenches, axes)
    return minus(rnea(at.model, q, v, a, on), force)


def reaction_wrenches(
    e: EquationOfMotion,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    wrenches: Wrenches | None = None,
    axes: str = "body",
    t: Scalar | None = None,
    x: Scalars | None = None,
) -> list[list[Scalar]]:
    """The wrench of each joint on its child link, drive and bearing together (F&O 5–7, MR 8.53)."""
    at = e.at(q, v, t, x)
    found = reactions.reaction_wrenches(at.model, q, v, a, e.applied_without_friction(at, wrenches, axes).wrenches)
    return found[len(at.model.parent) - len(e.model.parent) :]  # without that of a moving base


def hybrid_acceleration(
    e: EquationOfMotion,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    tau: Scalars,
    prescribed: Scalars,
    wrenches: Wrenches | None = None,
    axes: str = "body",
    t: Scalar | None = None,
    x: Scalars | None = None,
    solve: hybrid.Solve | None = None,
) -> list[Scalar]:
    """a: as given where ``prescribed`` is 1; computed from τ where it is 0."""
    at = e.at(q, v, t, x)
    force, on = e.applied(at, tau, wrenches, axes)
    return hybrid.hybrid_acceleration(at.model, q, v, a, force, prescribed, on, solve)


def hybrid_force(
    e: EquationOfMotion,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    tau: Scalars,
    prescribed: Scalars,
    wrenches: Wrenches | None = None,
    axes: str = "body",
    t: Scalar | None = None,
    x: Scalars | None = None,
    solve: hybrid.Solve | None = None,
) -> list[Scalar]:
    """τ: as given where ``prescribed`` is 0; where it is 1, the force that gives the prescribed acceleration."""
    at = e.at(q, v, t, x)
    force, on = e.applied(at, tau, wrenches, axes)
    needed = hybrid.hybrid_force(at.model, q, v, a, force, prescribed, on, solve)
    if not e.terms:
        return needed
    load = minus(needed, e.applied_without_friction(at).tau)
    return [p * y + (1 - p) * x for p, x, y in zip(prescribed, tau, e.before_friction(at, load), strict=True)]


def step(
    e: EquationOfMotion,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    dt: Scalar,
    x: Scalars | None = None,
    integrator: str = "semi_implicit",
    wrenches: Wrenches | None = None,
    axes: str = "body",
    t: Scalar | None = None,
    solve: Callable[..., list[Scalar]] | None = None,
) -> tuple[list[Scalar], ...]:
    """(q, v), and x if there is one, a step of dt [s] later, under commands and wrenches held over the step (MR §8.5).

    Wrenches in the "world" as ``axes`` keep their direction while the frames turn; those that are functions follow the time.
    """

    def take(forces: Forces, start: Scalar | None) -> steps.State:
        def acceleration(q: Scalars, v: Scalars, t: Scalar | None) -> list[Scalar]:
            tau, x = forces(q, v, t)
            return forward_dynamics(e, q, v, tau, at_time(wrenches, t), axes, t, x, solve=solve)

        return steps.take_step(integrator, Field(e.model, acceleration), q, v, start, dt)

    return advance(e, q, v, dt, lambda q, v, t: tau, take, t, x)


#: the commands (nv) at (q, v, t)
Command = Callable[[Scalars, Scalars, Scalar | None], Scalars]
#: the joint forces τ and x at (q, v, t)
Forces = Callable[[Scalars, Scalars, Scalar | None], tuple[Scalars, Scalars | None]]


def advance(
    e: EquationOfMotion,
    q: Scalars,
    v: Scalars,
    dt: Scalar,
    command: Command,
    take: Callable[[Forces, Scalar | None], steps.State],
    t: Scalar | None = None,
    x: Scalars | None = None,
) -> tuple[list[Scalar], ...]:
    """(q, v), and x if there is one, a step later; every evaluation of an integrator has x followed from its beginning.

    ``take(forces, start)`` is a step of (q, v) under joint forces, from the time ``start``.
    """
    begin, follows = e.at(q, v, t, x), bool(e.state_names)
    begin.dt = dt
    if follows:
        e.transmit(begin, command(q, v, t))

    start = 0 if follows and t is None else t

    def forces(q: Scalars, v: Scalars, clock: Scalar | None) -> tuple[Scalars, Scalars | None]:
        time = None if t is None else clock
        now = e.at(q, v, time)
        h = clock - start if follows and clock is not None and start is not None else 0
        return e.transmit(now, command(q, v, time), begin, h), e.x_of(now)

    state = take(forces, start)
    if not follows:
        return state
    end = steps.time_after(t, dt)
    return *state, e.next_states(begin, e.at(*state, end), command(*state, end), dt)


def inverse_dynamics_derivatives(
    e: EquationOfMotion,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    wrenches: Wrenches | None = None,
    axes: str = "body",
    recursion: Callable[..., Derivatives] = rnea_derivatives,
    t: Scalar | None = None,
) -> Derivatives:
    """∂τ/∂q (along v), ∂τ/∂v and ∂τ/∂a, by the recursion."""
    alone, force = _split_terms(e, t)
    model = e.model_at(t)
    recursion = rnea_derivatives if model.is_on_moving_base else recursion  # one that records cannot read a recorded time

    def lost(v: Scalars, needed: Scalars) -> list[Scalar]:
        at = alone.at(q, v, t)
        own = alone.applied_without_friction(at).tau
        return minus(alone.before_friction(at, minus(needed, own)), needed)

    loss = lost if alone.terms else None
    return derivatives.inverse_dynamics_derivatives(model, q, v, a, wrenches, axes, loss, recursion, force)


def forward_dynamics_derivatives(
    e: EquationOfMotion,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    wrenches: Wrenches | None = None,
    axes: str = "body",
    recursion: Callable[..., Derivatives] = rnea_derivatives,
    a: Scalars | None = None,
    t: Scalar | None = None,
) -> tuple[derivatives.Rows, derivatives.Rows, derivatives.Rows]:
    """∂a/∂q (along v), ∂a/∂v and ∂a/∂τ, by the recursion."""
    alone, force = _split_terms(e, t)
    model = e.model_at(t)
    recursion = rnea_derivatives if model.is_on_moving_base else recursion  # as above

    def lost(v: Scalars, tau: Scalars) -> list[Scalar]:
        return minus(tau, alone.applied(alone.at(q, v, t), tau).tau)

    loss = lost if alone.terms else None
    return derivatives.forward_dynamics_derivatives(model, q, v, tau, wrenches, axes, loss, recursion, a, force)


def _split_terms(e: EquationOfMotion, t: Scalar | None) -> tuple[EquationOfMotion, derivatives.Force | None]:
    """The equation with the terms that act joint by joint alone, and the joint force of the others."""
    base = e.model_at(t).is_on_moving_base
    alone, others = (
        e.with_terms(term for term in e.terms if term.joint_by_joint),
        e.with_terms(term for term in e.terms if not term.joint_by_joint or (base and term.depends_on_time)),
    )
    coupled = not all(term.joint_by_joint for term in e.terms)
    return alone, (lambda q, v: others.net_force(q, v, [0] * e.model.nv, t)) if coupled else None


def at_time(wrenches: Mapping[str, Any] | None, t: Scalar | None) -> dict[str, Scalars]:
    """The wrenches at a time: numbers as they are, functions of t at t."""
    return {frame: F(t) if callable(F) else F for frame, F in (wrenches or {}).items()}


def minus(x: Scalars, y: Scalars) -> list[Scalar]:
    """x − y."""
    return [a - b for a, b in zip(x, y, strict=True)]
