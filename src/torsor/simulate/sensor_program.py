"""Readings of sensors at a state of a rollout, over any scalar: the quantities of one evaluation of its equation of motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

from torsor.algorithms import forward_dynamics
from torsor.algorithms.configuration import joints_in_order
from torsor.algorithms.equation import EquationOfMotion, constrained, dynamics
from torsor.algorithms.equation.at import Inputs
from torsor.algorithms.equation.contact import contact_terms
from torsor.algorithms.equation.step import has_impulses
from torsor.kernels.quantities import QUANTITIES
from torsor.model import Model
from torsor.scalar import Scalar
from torsor.simulate.step_program import Plan, next_state, recorded_forces


def sensor_values(
    e: EquationOfMotion, q: Sequence[Any], v: Sequence[Any], *fed: Any, plan: Plan, asked: tuple[tuple[str, ...], ...]
) -> list[Any]:
    """The quantities ``asked``, laid end to end, at the beginning of a step: with its joint forces, terms and wrenches.

    ``asked`` are rows of the table with their options, or ("tau",), the joint forces.  The first acceleration of a step has
    them all.  With impulses (contacts, stops, dry friction) the acceleration is the change of v in the step, Δv/Δt.
    """
    found: dict[tuple[str, ...], list[Any]] = {}
    given = plan.by_name(plan.split(fed)[1])
    if ("tau",) in asked:
        found["tau",] = recorded_forces(e, q, v, *fed, plan=plan)

    after: tuple[Any, ...] = next_state(e, q, v, *fed, plan=plan) if has_impulses(e) else ()
    pushed = _wrenches_of_contacts(e, q, v, given, after[2][plan.controller_memory :]) if contact_terms(e.terms) else {}

    def quantities(moving: Model, q: Any, v: Any, tau: Any, wrenches: Any) -> list[Any]:
        wrenches = wrenches | {frame: _sum(F, wrenches.get(frame)) for frame, F in pushed.items()}
        if after:
            a = _mean_acceleration(moving, q, v, after[0], after[1], given["dt"])
        elif not e.constraints:
            a = forward_dynamics(moving, q, v, tau, wrenches)
        else:
            tied = e.of_model(moving.with_same_mass_matrix(terms=e.constraints))
            a, _ = constrained.forward_dynamics(tied, q, v, tau, Inputs(given.get("t"), wrenches=wrenches))
        for name, *words in (x for x in asked if x != ("tau",)):
            row = QUANTITIES[name]
            state = (q, v, a) if "a" in cast("tuple[str, ...]", row.inputs) else (q, v)
            loaded = {} if row.words == ("frame",) else {"wrenches": wrenches}
            found[name, *words] = row.function(moving, *state, *words, **loaded)
        return a

    tree = e.model.with_same_mass_matrix(terms=tuple(term for term in e.terms if not term.labels()))
    accelerate = partial(dynamics.forward_dynamics, solve=quantities)
    method = "semi_implicit" if after else "euler"  # both begin with the acceleration at (q, v)
    next_state(replace(e, model=tree), q, v, *fed, plan=plan._replace(integrator=method), accelerate=accelerate)
    return [x for name in asked for x in found[name]]


def _mean_acceleration(
    model: Model, q: Sequence[Any], v: Sequence[Any], q1: Sequence[Any], v1: Sequence[Any], dt: Scalar
) -> list[Scalar]:
    """a of a step to (q1, v1): v is carried along it in axes that do not turn, and v1 is carried back."""
    a: list[Scalar] = []
    for _, j, at, of in joints_in_order(model):
        step = j.difference(q[at], q1[at])
        _, end = j.carry(q1[at], [-x for x in step], v1[of])
        a += [(y - x) / dt + z for x, y, z in zip(v[of], end, j.turning(v[of]), strict=True)]
    return a


def _wrenches_of_contacts(
    e: EquationOfMotion, q: Sequence[Any], v: Sequence[Any], given: Mapping[str, Any], x: Sequence[Any]
) -> dict[str, list[Scalar]]:
    """The wrenches of contacts with the forces in x, by frame, in its axes."""
    at, on = e.at(q, v, given.get("t"), x), dict[str, list[Scalar]]()
    for term in contact_terms(e.terms):
        for frame, F in term.wrenches_on_frames(at).items():
            on[frame] = _sum(F, on.get(frame))
    return on


def _sum(F: list[Scalar], more: Sequence[Scalar] | None) -> list[Scalar]:
    """The sum of two wrenches at a frame, of which the second may be missing."""
    return F if more is None else [x + y for x, y in zip(F, more, strict=True)]
