"""Derivatives of task quantities that are solutions of the equations of motion with their rows, by differentiating those.

The motion (a, F) under joint forces τ at a task acceleration V̇ solves M a + h − JᵀF = τ, J a + J̇v + ρ²F = V̇ (MR 8.89; ρ = 0
unless Λ is damped): F = Λ (V̇ − V̇(τ)).  Without rows it is forward dynamics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torsor.algorithms import task_space as ts
from torsor.algorithms.closed_loops import solve_by_multipliers
from torsor.algorithms.rnea import rnea
from torsor.compile import Argument, record
from torsor.compile.derivative import Linearization
from torsor.kernels import Kernels
from torsor.kernels.calls import Calls, record_with_calls
from torsor.kernels.derivatives import Differentiable, of_program, split
from torsor.kernels.implicit import Solution, saddle_solution
from torsor.kernels.spec import Spec
from torsor.model import Model
from torsor.scalar import Scalar, Scalars


def forward_dynamics(
    motion: ts.Motion, model: Model, targets: ts.Targets, q: Scalars, v: Scalars, tau: Scalars
) -> list[Scalar]:
    """V̇ = J a + J̇v (MR 8.84)."""
    return ts.acceleration(model, targets, q, v, motion(model, q, v, tau, None)[0])


def task_derivative(function: Callable[..., Any], kernels: Kernels, spec: Spec, choice: int) -> Differentiable:
    """The derivative of a function of the motion; ``choice`` 0 solves by articulated bodies, 1 by the factors of M."""
    name, targets, *words = spec.quantities[0]
    chosen, damping = (*words, None, None)[:2]
    model, inputs, row = kernels.lean_tree, kernels.inputs(spec), kernels.table[name]
    route, off = chosen or ("articulated", "factors")[choice], (damping or 0) ** 2

    def run(calls: Calls, *values: Scalars) -> dict[str, Any]:
        def motion(model: Model, q: Scalars, v: Scalars, tau: Scalars, A: Scalars | None) -> tuple[list[Scalar], ...]:
            rows = () if A is None else targets
            found = calls(motion_derivative(model, rows, route, off), [*q, *v, *tau, *(A or ())], model.nv + ts.size(rows))
            a, F = found[: model.nv], found[model.nv :]
            return a, F, ts.joint_force(model, rows, q, F)

        state = dict(zip((a.name for a in inputs), values, strict=True))
        if "force" in state:
            state["tau"] = ts.joint_force(model, targets, state["q"], state.pop("force"))
        if "tau" in state:
            state["tau"] = kernels.lean.net_force(state["q"], state["v"], state["tau"])
        found = function(motion, model, targets, *state.values())
        results = list(found) if len(row.outputs) - len(row.checks) > 1 else [found]
        if "tau" in row.outputs:
            k = row.outputs.index("tau")
            results[k] = kernels.lean.needed_force(state["q"], state["v"], results[k])
        if row.checks:
            results.append(ts.exact_mass(model, targets, values[0], route, off)[1])
        return dict(zip(row.outputs, results, strict=True))

    return of_program(kernels, spec, *record_with_calls(run, inputs))


def motion_derivative(model: Model, rows: Sequence[ts.Target], route: str, off: float) -> Callable[[Scalars], Solution]:
    """(a, F) at (q, v, τ, V̇) as the solution of R = (M a + h − JᵀF − τ, J a + J̇v + ρ²F − V̇) = 0, ``off`` = ρ²."""
    n, k = model.nv, ts.size(rows)
    inputs = [Argument("q", (model.nq,)), *(Argument(x, (n,)) for x in ("v", "tau")), Argument("V", (k,))]

    def equation(q: Scalars, v: Scalars, tau: Scalars, V: Scalars, a: Scalars, F: Scalars) -> dict[str, Any]:
        forces = zip(rnea(model, q, v, a), ts.joint_force(model, rows, q, F), tau, strict=True)
        motions = zip(ts.acceleration(model, rows, q, v, a), F, V, strict=True)
        return {"R": [*(x - y - t for x, y, t in forces), *(x + f * off - y for x, f, y in motions)]}

    R = record(equation, [*inputs, Argument("a", (n,)), Argument("F", (k,))])

    def at(x: Scalars) -> Solution:
        q, v, tau, V = split(inputs, x)
        f = [t - h for t, h in zip(tau, rnea(model, q, v, [0] * n), strict=True)]
        g = [y - z for y, z in zip(V, ts.acceleration(model, rows, q, v, [0] * n), strict=True)]
        J, M = ts.jacobian(model, rows, q), ts.ROUTES[route](model, rows, q)
        found = solve_by_multipliers(M, J, f, g, off=[off] * k if off else ())
        at_solution = Linearization.of(R, [*x, *found.x, *found.multipliers])
        return saddle_solution(at_solution, found, range(k), found.x, found.multipliers)

    return at
