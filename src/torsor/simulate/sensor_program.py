"""Readings of sensors at a state of a rollout, over any scalar: the quantities of one evaluation of its equation of motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

from torsor.algorithms import forward_dynamics
from torsor.algorithms.equation import EquationOfMotion, constrained, dynamics
from torsor.algorithms.equation.at import Inputs
from torsor.kernels.quantities import QUANTITIES
from torsor.model import Model
from torsor.simulate.step_program import Plan, next_state, recorded_forces


def sensor_values(
    e: EquationOfMotion, q: Sequence[Any], v: Sequence[Any], *fed: Any, plan: Plan, asked: tuple[tuple[str, ...], ...]
) -> list[Any]:
    """The quantities ``asked``, laid end to end, at the beginning of a step: with its joint forces, terms and wrenches.

    ``asked`` are rows of the table with their options, or ("tau",), the joint forces.  The first acceleration of a step has
    them all.
    """
    found: dict[tuple[str, ...], list[Any]] = {}
    given = plan.by_name(plan.split(fed)[1])
    if ("tau",) in asked:
        found["tau",] = recorded_forces(e, q, v, *fed, plan=plan)

    def quantities(moving: Model, q: Any, v: Any, tau: Any, wrenches: Any) -> list[Any]:
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
    next_state(replace(e, model=tree), q, v, *fed, plan=plan._replace(integrator="euler"), accelerate=accelerate)
    return [x for name in asked for x in found[name]]
