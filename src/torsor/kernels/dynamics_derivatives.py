"""Derivatives of forward dynamics and of one step in time.

Forward dynamics is differentiated as the solution of its equation, R(q, v, τ, a) = M a + h − ℓ − Σf − Jᵀf = 0: ȧ = −M⁻¹Ṙ,
and λᵀ∂a = −λ′ᵀ∂R with λ′ = M⁻¹λ.  For many directions its matrices ∂a/∂q, ∂a/∂v and ∂a/∂τ are computed once.  A step is a
program that calls accelerations and sums q ⊕ w, and the matrices of both serve all directions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from torsor.algorithms.closed_loops import Saddle
from torsor.algorithms.configuration import integrate, tangent, velocity_from_tangent
from torsor.algorithms.equation import EquationOfMotion, constrained, settle
from torsor.algorithms.equation.at import Inputs
from torsor.algorithms.equation.dynamics import residual
from torsor.algorithms.equation.step import has_impulses, step
from torsor.algorithms.equation.stiff import IMPLICIT
from torsor.algorithms.field import Field
from torsor.algorithms.inverse_mass import by_articulated_bodies, by_factors
from torsor.algorithms.products import mass_matrix_product
from torsor.algorithms.rnea import rnea
from torsor.algorithms.rnea_derivatives import Derivatives
from torsor.compile import Argument, record
from torsor.compile.derivative import Linearization
from torsor.kernels.calls import Calls, record_with_calls
from torsor.kernels.derivatives import Differentiable, Space, explicit, flat, of_program, split, units
from torsor.kernels.implicit import Checked, Matrix, Solution, WithMatrix, columns_of, nonzero, saddle_solution
from torsor.kernels.impulse_derivative import impulse_solver
from torsor.kernels.spec import Spec
from torsor.model import Model
from torsor.scalar import Scalar, Scalars
from torsor.spatial.linear import dot

if TYPE_CHECKING:
    from torsor.kernels.kernels import Kernels


def tree_step(kernels: Kernels, spec: Spec, choice: int) -> Differentiable:
    """One step in time: its accelerations are differentiated as solutions of their equations, its sums q ⊕ w by matrices."""
    e = kernels.lean
    model, extra = e.model, (*(("x",) if e.state_names else ()), *(("t",) if "t" in spec.extra else ()))
    if has_impulses(e):
        return _step_with_impulses(kernels, spec)
    if _integrator(spec) == IMPLICIT:
        return explicit(kernels, spec)
    dynamics = forward_dynamics(kernels, replace(spec, quantities=(("forward_dynamics",),), extra=extra), choice)
    addition = sum_on_manifold(model)

    def function(calls: Calls, *values: Scalars) -> dict[str, Any]:
        class WithCalls(Field):
            def add(self, q: Scalars, w: Scalars) -> list[Scalar]:
                return calls(addition, [*q, *w], model.nq)

        def accelerate(e: EquationOfMotion, q: Scalars, v: Scalars, tau: Scalars, given: Inputs) -> list[Scalar]:
            clock, on = [given.t] if "t" in extra else [], given.wrenches or {}
            return calls(dynamics.at, [*q, *v, *tau, *(given.x or ()), *clock, *flat([on[f] for f in spec.frames])], model.nv)

        return _step(kernels, spec, values, accelerate=accelerate, field=WithCalls)

    f = of_program(kernels, spec, *record_with_calls(function, kernels.inputs(spec)))
    return f._replace(operations=f.operations + dynamics.operations, many=dynamics.many)


def settled_step(kernels: Kernels, spec: Spec, choice: int) -> Differentiable:
    """One step in time of a robot with rows: each of its solutions of M x − Aᵀλ = f, A x = g is differentiated as one."""
    route = ("", "factors")[choice]
    if _integrator(spec) == IMPLICIT:
        return _step_with_impulses(kernels, spec) if has_impulses(kernels.lean) else explicit(kernels, spec)
    solutions = row_solutions(kernels.lean, route)

    def function(calls: Calls, *values: Scalars) -> dict[str, Any]:
        saddle = saddle_by_calls(calls, solutions)
        return _step(kernels, spec, values, route=route, saddle=saddle, impulses=impulse_solver(calls))

    return of_program(kernels, spec, *record_with_calls(function, kernels.inputs(spec)))


def _step_with_impulses(kernels: Kernels, spec: Spec) -> Differentiable:
    """One step in time whose impulses alone are differentiated as solutions."""

    def function(calls: Calls, *values: Scalars) -> dict[str, Any]:
        return _step(kernels, spec, values, impulses=impulse_solver(calls))

    return of_program(kernels, spec, *record_with_calls(function, kernels.inputs(spec)))


def _integrator(spec: Spec) -> str:
    return str((*spec.quantities[0][1:], "semi_implicit")[0])


def _step(kernels: Kernels, spec: Spec, values: Sequence[Scalars], **how: Any) -> dict[str, Any]:
    """The results of a step by name, with parts of it that are calls."""
    named: dict[str, Any] = {a.name: x if a.shape else x[0] for a, x in zip(kernels.inputs(spec), values, strict=True)}
    wrenches = {frame: named[f"wrenches[{frame!r}]"] for frame in spec.frames} | dict(spec.laws)
    inputs = Inputs(named.get("t"), wrenches=wrenches, axes=spec.expressed_in)
    q, v, tau, dt = (named[name] for name in ("q", "v", "tau", "dt"))
    after = step(kernels.lean, q, v, tau, dt, named.get("x"), _integrator(spec), inputs, **how)
    return dict(zip(kernels.table["step"].outputs, after, strict=True))


def sum_on_manifold(model: Model) -> Callable[[Scalars], WithMatrix]:
    """The derivative of q ⊕ w by the numbers of q and w."""
    inputs = [Argument("q", (model.nq,)), Argument("w", (model.nv,))]
    p = record(lambda q, w: {"q": integrate(model, q, w, 1)}, inputs)

    def at(x: Scalars) -> WithMatrix:
        linear = Linearization.of(p, x)
        return WithMatrix(linear, lambda: Matrix(columns_of(linear, range(len(x)))), model.nv)

    return at


def along_v(model: Model, q: Scalars) -> Callable[[Mapping[int, Scalar]], dict[int, Scalar]]:
    """The map from rates of inputs that begin with q to rates that begin with the velocity N⁺(q) q̇ (nv)."""
    directions: dict[tuple[Scalar, ...], Scalars] = {tuple(tangent(model, q, unit)): unit for unit in units(model.nv)}

    def change(rates: Mapping[int, Scalar]) -> dict[int, Scalar]:
        rate = tuple(rates.get(k, 0) for k in range(model.nq))
        velocity = directions.get(rate) or velocity_from_tangent(model, q, rate)  # N⁺N = 1
        return nonzero({**dict(enumerate(velocity)), **{k - model.nq + model.nv: r for k, r in rates.items() if k >= model.nq}})

    return change


def forward_dynamics(kernels: Kernels, spec: Spec, choice: int) -> Differentiable:
    """Forward dynamics as the solution of R = 0; ``choice`` 0 is by articulated bodies, 1 by the factors of M."""
    inputs, model, equation = kernels.inputs(spec), kernels.lean.model, kernels.lean
    blocks = replace(spec, quantities=(("forward_dynamics_derivatives",),), extra=("a",))
    by_recursion = not spec.extra

    def solve_residual(*values: Scalars) -> dict[str, Any]:
        named: dict[str, Any] = {x.name: value if x.shape else value[0] for x, value in zip(inputs, values, strict=False)}
        wrenches = spec.wrenches(named)
        given = {name: named[name] for name in spec.extra}
        q, v, tau = named["q"], named["v"], named["tau"]
        under = Inputs(**given, wrenches=wrenches, axes=spec.expressed_in)
        return {"R": residual(equation, q, v, tau, values[-1], under)}

    R = record(solve_residual, [*inputs, Argument("a", (model.nv,))])
    mass = by_factors if choice else by_articulated_bodies

    def at(x: Scalars) -> WithMatrix | Solution:
        q, v, tau, *wrenches = values = split(inputs, x)
        (a,) = kernels.evaluate(spec, *values, choice=choice).values()
        solve = mass(model, q).solve  # M = Mᵀ
        solution = Solution(Linearization.of(R, [*x, *a]), solve, solve, a)
        if not by_recursion:
            return solution

        def matrix() -> Matrix:
            """∂a/∂q, ∂a/∂v and ∂a/∂τ from the recursion of Singh, Russell & Wensing (2022), ∂a/∂f from R."""
            found = kernels.evaluate(blocks, q, v, tau, a, *wrenches, choice=choice).values()
            by_state = [dict(enumerate(column)) for block in found for column in zip(*block, strict=True)]
            by_wrenches = columns_of(solution, range(model.nq + 2 * model.nv, len(x)))
            return Matrix([*by_state, *by_wrenches], along_v(model, q))

        return WithMatrix(solution, matrix, model.nv)

    many = model.nv if by_recursion else 0
    return Differentiable(tuple(inputs), (Argument(spec.label, (model.nv,)),), at, R.operations, many=many)


def solution_derivative(
    system: Callable[..., constrained.System], results: Sequence[str], kernels: Kernels, spec: Spec, choice: int
) -> Differentiable:
    """The derivative of (x, λ), or of x alone, as the solution of R = (M x − Aᵀλ − f, A x − g) = 0: of motions under rows.

    ``system`` has A, f and g; ``results`` are the names of x and λ, or of x.  The rows are the word of the quantity, or those
    of the equation; ``choice`` 0 solves by articulated bodies, 1 by the factors of M.
    """
    (name, *words), inputs = spec.quantities[0], kernels.inputs(spec)
    n, rows = kernels.model.nv, words[0] if words else kernels.subject.rows
    route = "direct" if name.endswith("direct") else ("articulated", "factors")[choice]
    unknowns = [Argument("motion", (n,)), Argument("multipliers", (len(kernels.subject.names),))]

    def read(values: Sequence[Scalars]) -> tuple[list[Any], dict[str, Any]]:
        named = {x.name: value if x.shape else value[0] for x, value in zip(inputs, values, strict=False)}
        options = {"rows": rows, **{x: named[x] for x in spec.extra}}
        on = {"wrenches": spec.wrenches(named), "axes": spec.expressed_in} if spec.frames or spec.laws else {}
        return [kernels.subject_at(named), *list(named.values())[:3]], options | on  # at q, v and τ, or q, v and e

    def equation(*values: Scalars) -> dict[str, Any]:
        state, options = read(values)
        return {"R": constrained.residual(system, *state, *values[-2:], **options)}

    R = record(equation, [*inputs, *unknowns])

    def at(x: Scalars) -> Checked:
        state, options = read(split(inputs, x))
        motion, lam, doubt = constrained.solution(system, *state, **options, route=route)
        saddle = constrained.factors(state[0], state[1], rows, route, options.get("t"), options.get("active"))
        both = saddle_solution(Linearization.of(R, [*x, *motion, *lam]), saddle, rows, motion, lam)
        return Checked(both, [doubt], None if len(results) > 1 else n)

    outputs = tuple(Argument(word, y.shape) for word, y in zip(results, unknowns, strict=False))
    return Differentiable(tuple(inputs), outputs, at, R.operations, (Argument("doubt", ()),))


def row_solutions(
    e: EquationOfMotion,
    route: str,
    more: Sequence[Argument] = (),
    with_values: Callable[[Sequence[Scalars]], EquationOfMotion] | None = None,
) -> Callable[[Scalars], Solution]:
    """The derivative of (x, λ) of M x − Aᵀλ = f, A x = g by q, t, f, g and ``more`` inputs, which the equation is made with."""
    n, rows = e.model.nv, e.rows
    sizes = {"q": (e.model.nq,), "t": (), "f": (n,), "g": (len(rows),)}
    inputs = [*(Argument(name, shape) for name, shape in sizes.items()), *more]

    def equation(q: Scalars, t: Scalars, f: Scalars, g: Scalars, *rest: Scalars) -> dict[str, Any]:
        *given, x, lam = rest
        now = with_values(given) if with_values else e
        A, forces = settle.near_rows(now, q, None, t[0]).A, mass_matrix_product(now.model, q, x)
        for j, z in zip(rows, lam, strict=True):
            forces = [y - a * z for y, a in zip(forces, A[j], strict=True)]
        held = [dot(A[j], x) - y for j, y in zip(rows, g, strict=True)]
        return {"R": [*(y - z for y, z in zip(forces, f, strict=True)), *held]}

    R = record(equation, [*inputs, Argument("x", (n,)), Argument("multipliers", (len(rows),))])

    def at(y: Scalars) -> Solution:
        q, (t,), f, g, *rest = split(inputs, y)
        saddle = constrained.factors(with_values(rest) if with_values else e, q, rows, route, t)
        x, lam = saddle.solve(f, g)
        return saddle_solution(Linearization.of(R, [*y, *x, *lam]), saddle, range(len(rows)), x, lam)

    return at


def saddle_by_calls(
    calls: Calls, solutions: Callable[[Scalars], Solution], more: Callable[[EquationOfMotion], Scalars] = lambda e: ()
) -> Callable[..., Saddle]:
    """The factors of M and the rows whose solutions are calls; ``more(e)`` are the further inputs of the solutions."""

    def saddle(e: EquationOfMotion, q: Scalars, rows: Sequence[int], route: str, t: Scalar | None) -> Saddle:
        def solve(f: Scalars, g: Scalars) -> tuple[list[Scalar], list[Scalar]]:
            found = calls(solutions, [*q, 0 if t is None else t, *f, *g, *more(e)], len(f) + len(g))
            return found[: len(f)], found[len(f) :]

        return constrained.factors(e, q, rows, route, t)._replace(solve=solve)

    return saddle


def rnea_derivatives_by_forward_mode(
    model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Mapping[str, Scalars] | None = None
) -> Derivatives:
    """∂τ/∂q, ∂τ/∂v and M by tangents carried through the recorded recursion: shorter than the recursion for a few joints."""
    on, n = dict(wrenches or {}), model.nv
    inputs = [Argument("q", (model.nq,)), Argument("v", (n,)), Argument("a", (n,)), *(Argument(f, (6,)) for f in on)]
    p = record(lambda q, v, a, *F: {"tau": rnea(model, q, v, a, dict(zip(on, F, strict=True)))}, inputs)
    x = flat([q, v, a, *on.values()])
    at, by_q = Linearization.of(p, x), Space(inputs[0], 0, (n,), model)
    seeds = [by_q.push(x, unit) for unit in units(n)] + [{k: 1} for k in range(model.nq, model.nq + 2 * n)]
    rows = [list(row) for row in zip(*at.push(seeds), strict=True)]
    return Derivatives(*([row[k : k + n] for row in rows] for k in (0, n, 2 * n)))
