"""Derivatives of motions under constraints, by differentiating M x − Aᵀλ = f, A x = g and not its solver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from torsor.algorithms.closed_loops import Saddle
from torsor.compile import Argument, record
from torsor.compile.derivative import Linearization
from torsor.kernels import Kernels
from torsor.kernels.derivatives import Differentiable, split
from torsor.kernels.implicit import Checked, saddle_solution
from torsor.kernels.spec import Spec
from torsor.scalar import Scalars


def solution_derivative(
    residual: str, factors: Callable[..., Saddle], kernels: Kernels, spec: Spec, choice: int
) -> Differentiable:
    """The derivative of (x, λ) as the solution of R = (M x − Aᵀλ − f, A x − g) = 0.

    ``residual`` is the quantity R, and ``choice`` 0 solves by articulated bodies, 1 by the factors of M.
    """
    (name, rows), inputs = spec.quantities[0], kernels.inputs(spec)
    n, k = kernels.model.nv, len(kernels.subject.names)
    route = "direct" if name.endswith("direct") else ("articulated", "factors")[choice]
    unknowns = [Argument("motion", (n,)), Argument("multipliers", (k,))]
    equation = replace(spec, quantities=((residual, rows),))
    order = [a.name for a in kernels.inputs(equation)]

    def evaluate(*values: Scalars) -> dict[str, Any]:
        named = {a.name: value for a, value in zip([*inputs, *unknowns], values, strict=True)}
        return {"R": kernels.evaluate(equation, *(named[x] for x in order))[equation.label]}

    R = record(evaluate, [*inputs, *unknowns])

    def at(x: Scalars) -> Checked:
        values = split(inputs, x)
        found = kernels.evaluate(spec, *values, choice=choice)
        named = {a.name: value if a.shape else value[0] for a, value in zip(inputs, values, strict=True)}
        saddle = factors(kernels.subject_at(named), named["q"], rows, route, named.get("t", 0), named.get("active"))

        motion, multipliers = found["motion"], found["multipliers"]
        R_here = Linearization.of(R, [*x, *motion, *multipliers])
        solution = saddle_solution(R_here, saddle, rows, motion, multipliers)
        return Checked(solution, [found["doubt"]])

    return Differentiable(tuple(inputs), tuple(unknowns), at, R.operations, (Argument("doubt", ()),))
