"""The adjoint of one step of a rollout, with the solutions of linear systems in it differentiated implicitly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from torsor.algorithms import forward_dynamics, forward_dynamics_by_factors, rnea
from torsor.algorithms.equation import EquationOfMotion
from torsor.algorithms.equation.dynamics import forward_dynamics as equation_dynamics
from torsor.algorithms.equation.stiff import IMPLICIT, armature_of, with_armature
from torsor.algorithms.inverse_mass import by_articulated_bodies, by_factors
from torsor.algorithms.kinematics import joints
from torsor.algorithms.reactions import joint_forces_of_wrenches
from torsor.compile import Argument, record
from torsor.compile.derivative import Linearization
from torsor.kernels.calls import Calls, record_with_calls
from torsor.kernels.derivatives import OnManifold, Space, flat, split
from torsor.kernels.dynamics_derivatives import row_solutions, saddle_by_calls
from torsor.kernels.implicit import Solution
from torsor.kernels.impulse_derivative import impulse_solver
from torsor.kernels.quantity import FEW
from torsor.model import Model
from torsor.model.moving_base import time_of_base
from torsor.scalar import Scalar, Scalars
from torsor.simulate.parameters import vary_model
from torsor.simulate.step_program import CONSTANT, Plan, next_state, wrench_argument
from torsor.spatial import Force


def spaces(model: Model, plan: Plan) -> list[Space]:
    """The inputs of a step by which the gradient is taken: first the state, then those that are new at each step or fixed."""
    found, start = [], 0
    for a in plan.inputs(model):
        of = model if a.name == "q0" else None
        found.append(Space(a, start, (model.nv,) if of else a.shape, of))
        start += a.size
    return [space for space in found if space.argument.name not in CONSTANT]


def layout(model: Model, plan: Plan) -> tuple[list[Space], list[Space], list[Space]]:
    """The spaces of the state, of the fixed inputs and of those that are new at each step."""
    stepped = {a.name for a, new in plan.fed if new}
    by = spaces(model, plan)
    state = [s for s in by if s.argument.name in plan.carry]
    rest = [s for s in by if s.argument.name not in plan.carry]
    return state, [s for s in rest if s.argument.name not in stepped], [s for s in rest if s.argument.name in stepped]


def adjoint_inputs(model: Model, plan: Plan) -> list[Argument]:
    """Those of the step, the weights of the state after it, and the adjoint: of that state, and of the fixed inputs so far."""
    state, fixed, _ = layout(model, plan)
    weights = [Argument(f"weights of {plan.carry[s.argument.name]}", s.shape) for s in state]
    return [*plan.inputs(model), *weights, Argument("adjoint", (sum(s.size for s in (*state, *fixed)),))]


def adjoint_step(e: EquationOfMotion, *values: Any, plan: Plan, by_articulated: bool = True) -> Any:
    """The adjoint before a step from that after it; then the gradient by the inputs that are new at each step, end to end."""
    model = e.model
    state, fixed, stepped = layout(model, plan)
    count = len(plan.inputs(model))
    x = flat([value if isinstance(value, (list, tuple)) else [value] for value in values[:count]])
    *weights, after = values[count:]
    size = sum(s.size for s in state)
    w = [a + b for a, b in zip(flat(weights), after[:size], strict=True)]
    by_bodies = by_articulated and model.local and (not e.constraints or model.nv > 4 * FEW)
    pulled = step_derivative(e, plan, by_bodies, x).pull(w)
    before = flat([s.pull(x, pulled) for s in state])
    sums = [a + b for a, b in zip(after[size:], flat([s.pull(x, pulled) for s in fixed]), strict=True)]
    rows = flat([s.pull(x, pulled) for s in stepped])
    return ([*before, *sums], rows) if stepped else [*before, *sums]


def step_derivative(e: EquationOfMotion, plan: Plan, by_articulated: bool, x: Scalars) -> OnManifold:
    """The derivative of a rollout's step at its inputs x, end to end.

    Its accelerations solve M a + h − Jᵀf − τ = 0; under constraint rows each of its solutions solves M x − Aᵀλ = f, A x = g.
    Constants of the model that are inputs of the step, or follow from them, are inputs of these too.
    """
    model, known, implicit = e.model, {a.name: a for a, _ in plan.fed}, plan.integrator == IMPLICIT
    constants = [known[key.label] for key in plan.vary]
    constants += [Argument("armature", (len(armature_of(model)),))] if implicit else []
    route, arguments = "" if by_articulated else "factors", plan.inputs(model)

    def changed(values: Sequence[Scalars]) -> Model:
        found = [(key, y if a.shape else y[0]) for key, a, y in zip(plan.vary, constants, values, strict=False)]
        moving = vary_model(model, found)
        return with_armature(moving, values[-1]) if implicit else moving

    of_tree = _accelerations(e, plan, by_articulated, constants, changed)
    of_rows = row_solutions(e, route, constants, lambda values: e.of_model(changed(values)))

    def function(calls: Calls, *values: Scalars) -> dict[str, Any]:
        named: dict[str, Any] = {a.name: y if a.shape else y[0] for a, y in zip(arguments, values, strict=True)}
        varied = flat([named[key.label] if known[key.label].shape else [named[key.label]] for key in plan.vary])

        def constants_of(moving: Model) -> list[Scalar]:
            return [*varied, *(armature_of(moving) if implicit else [])]

        def solve(moved: Model, q: Scalars, v: Scalars, tau: Scalars, wrenches: Any) -> list[Scalar]:
            own = {body: F for body, F in wrenches.items() if isinstance(F, Force)}  # those of terms
            if own:
                pushed = joint_forces_of_wrenches(moved, *joints(moved, q), own)
                tau = [y + z for y, z in zip(tau, pushed, strict=True)]
            given = flat([wrenches[frame] for frame in (*plan.frames, *dict(plan.laws))])
            return calls(of_tree, [*q, *v, *tau, *given, *constants_of(moved), time_of_base(moved)], model.nv)

        saddle = saddle_by_calls(calls, of_rows, lambda now: constants_of(now.model))
        how: Any = {"route": route, "accelerate": partial(equation_dynamics, solve=solve), "saddle": saddle}
        how["impulses"] = impulse_solver(calls)
        return dict(zip(plan.carry.values(), next_state(e, *named.values(), plan=plan, **how), strict=False))

    p, calls = record_with_calls(function, arguments)
    return OnManifold(Linearization.of(p, x, calls), model, p.outputs, ("q",))


def _accelerations(
    e: EquationOfMotion,
    plan: Plan,
    by_articulated: bool,
    constants: Sequence[Argument],
    changed: Callable[[Sequence[Scalars]], Model],
) -> Callable[[Scalars], Solution]:
    """The derivative of a of M a + h − Jᵀf − τ = 0 by q, v, τ, wrenches, constants and the time."""
    model, frames = e.model, (*plan.frames, *dict(plan.laws))
    state = [Argument("q", (model.nq,)), Argument("v", (model.nv,)), Argument("tau", (model.nv,))]
    inputs = [*state, *map(wrench_argument, frames), *constants, Argument("t", ())]

    def parts(rest: Sequence[Scalars]) -> tuple[Model, dict[str, Scalars]]:
        """The model with its constants, at a time, and the wrenches."""
        *values, (t,) = rest[len(frames) :]
        return replace(e, model=changed(values)).model_at(t), dict(zip(frames, rest, strict=False))

    def residual(q: Scalars, v: Scalars, tau: Scalars, *rest: Scalars) -> dict[str, Any]:
        *given, a = rest
        moving, wrenches = parts(given)
        return {"R": [y - t for y, t in zip(rnea(moving, q, v, a, wrenches), tau, strict=True)]}

    R = record(residual, [*inputs, Argument("a", (model.nv,))])

    def at(y: Scalars) -> Solution:
        q, v, tau, *rest = split(inputs, y)
        moving, wrenches = parts(rest)
        a = list((forward_dynamics if by_articulated else forward_dynamics_by_factors)(moving, q, v, tau, wrenches))
        solve = (by_articulated_bodies if by_articulated else by_factors)(moving, q).solve  # M = Mᵀ
        return Solution(Linearization.of(R, [*y, *a]), solve, solve, a)

    return at
