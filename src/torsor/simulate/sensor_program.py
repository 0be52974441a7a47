"""What sensors read at a state of a rollout, over any scalar: the quantities of one evaluation of its equation of motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from torsor.algorithms import forward_dynamics
from torsor.kernels.quantities import QUANTITIES
from torsor.model import Model
from torsor.simulate.step_program import Plan, forces, next_state


def sensor_values(
    model: Model, q: Sequence[Any], v: Sequence[Any], *fed: Any, plan: Plan, asked: tuple[tuple[str, ...], ...]
) -> list[Any]:
    """The quantities ``asked``, laid end to end, at the beginning of a step: with its joint forces, losses and wrenches.

    ``asked`` are rows of the table with their options, or ("tau",), the joint forces before losses.
    """
    found: list[list[Any]] = []

    def solve(moving: Model, q: Any, v: Any, tau: Any, wrenches: Any) -> list[Any]:
        a = forward_dynamics(moving, q, v, tau, wrenches)
        for name, *words in asked if not found else ():
            if name == "tau":
                found.append(forces(plan, model, q, v, *fed))
                continue
            row = QUANTITIES[name]
            state = (q, v, a) if "a" in cast("tuple[str, ...]", row.inputs) else (q, v)
            loaded = {} if row.words == ("frame",) else {"wrenches": wrenches}
            found.append(row.function(moving, *state, *words, **loaded))
        return a

    next_state(model, q, v, *fed, plan=plan._replace(integrator="euler"), solve=solve)
    return [x for values in found for x in values]
