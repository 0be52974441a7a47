"""Readings of sensors at a state of a rollout, over any scalar: the quantities of one evaluation of its equation of motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

from torsor.algorithms import forward_dynamics
from torsor.algorithms.equation import EquationOfMotion, constrained, dynamics
from torsor.algorithms.equation.at import Inputs
from torsor.algorithms.equation.contact import contact_terms
from torsor.kernels.quantities import QUANTITIES
from torsor.model import Model
from torsor.scalar import Scalar
from torsor.simulate.step_program import Plan, next_state, recorded_forces


def sensor_values(
    e: EquationOfMotion, q: Sequence[Any], v: Sequence[Any], *fed: Any, plan: Plan, asked: tuple[tuple[str, ...], ...]
) -> list[Any]:
    """The quantities ``asked``, laid end to end, at the beginning of a step: with its joint forces, terms and wrenches.

    ``asked`` are rows of the table with their options, or ("tau",), the joint forces.  The first acceleration of a step has
    them all.  The forces of contacts are those of this step: in "semi_implicit" steps the acceleration is the change of v.
    """
    found: dict[tuple[str, ...], list[Any]] = {}
    given = plan.by_name(plan.split(fed)[1])
    if ("tau",) in asked:
        found["tau",] = recorded_forces(e, q, v, *fed, plan=plan)

    pushed = _wrenches_of_contacts(e, q, v, fed, plan)

    def quantities(moving: Model, q: Any, v: Any, tau: Any, wrenches: Any) -> list[Any]:
        wrenches = wrenches | {frame: _sum(F, wrenches.get(frame)) for frame, F in pushed.items()}
        if not e.constraints:
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
    method = "semi_implicit" if contact_terms(e.terms) else "euler"  # both begin with the acceleration at (q, v)
    next_state(replace(e, model=tree), q, v, *fed, plan=plan._replace(integrator=method), accelerate=accelerate)
    return [x for name in asked for x in found[name]]


def _wrenches_of_contacts(
    e: EquationOfMotion, q: Sequence[Any], v: Sequence[Any], fed: Sequence[Any], plan: Plan
) -> dict[str, list[Scalar]]:
    """The wrenches of contacts in the step from (q, v), by frame, in its axes."""
    touching = contact_terms(e.terms)
    if not touching:
        return {}
    memory = next_state(e, q, v, *fed, plan=plan)[2]
    after = e.at(q, v, plan.by_name(plan.split(fed)[1]).get("t"), memory[plan.controller_memory :])
    on: dict[str, list[Scalar]] = {}
    for term in touching:
        for frame, F in term.wrenches_on_frames(after).items():
            on[frame] = _sum(F, on.get(frame))
    return on


def _sum(F: list[Scalar], more: Sequence[Scalar] | None) -> list[Scalar]:
    """The sum of two wrenches at a frame, of which the second may be missing."""
    return F if more is None else [x + y for x, y in zip(F, more, strict=True)]
