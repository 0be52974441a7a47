"""The derivative of impulses that only push, stick or slip: that of the equation of their active set.

    F(G, w, μ, c, b; λ) = 0,    λ̇ = −A⁻¹ Ḟ,    A = ∂F/∂λ

open λ = 0, sticking u = 0, slipping u_n = 0 and λ_t = (μ λ_n + c) e, with the sets that the solution has.  The sweeps and steps
that found it are not differentiated: they work on copies of the problem that have no derivative.  Where a contact is about to
open, to close or to slip, the derivative is that of one side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from torsor.algorithms.impulses import Block, Budget, ImpulseSolver, Problem, active_equation, solve_impulses, solve_unsymmetric
from torsor.compile import Argument, record
from torsor.compile.derivative import Linearization
from torsor.kernels.calls import Calls
from torsor.kernels.implicit import Solution
from torsor.scalar import Expr, Scalar, Scalars

T = TypeVar("T")

#: relative to G's diagonal, what makes the equation of redundant points regular; their sum is right to this
REGULAR = 1e-8
#: numbers of a block that may be inputs
NUMBERS = ("friction", "hold", "shift")


class Constant(NamedTuple):
    """Values without a derivative."""

    results: list[Scalar]

    def push(self, directions: Sequence[Mapping[int, Scalar]]) -> list[list[Scalar]]:
        """Zero rates."""
        return [[0] * len(self.results) for _ in directions]

    def pull(self, weights: Scalars) -> Mapping[int, Scalar]:
        """No adjoints."""
        return {}


def impulse_solver(calls: Calls) -> ImpulseSolver:
    """The solver of impulses in a program with calls, differentiated as the solution of its equation."""

    def without_derivative(x: T) -> T:
        found: dict[int, Expr] = {}
        _map(x, lambda y: found.setdefault(y.index, y))
        if not found:
            return x
        values = calls(lambda y: Constant(list(y)), list(found.values()), len(found))
        copies = dict(zip(found, values, strict=True))
        return _map(x, lambda y: copies[y.index])

    def solve(p: Problem, guess: Scalars, budget: Budget) -> list[Scalar]:
        lam = solve_impulses(without_derivative(p), without_derivative(list(guess)), budget)
        n = len(lam)
        G = [p.G[i][j] for i in range(n) for j in range(i + 1)]
        numbers = [getattr(b, name) for b in p.blocks for name in NUMBERS]
        return calls(_equation_at(p.blocks), [*G, *p.w, *numbers, *lam], n)

    return ImpulseSolver(solve, without_derivative)


def _equation_at(blocks: Sequence[Block]) -> Callable[[Scalars], Solution]:
    """The derivative of λ by G, w and the numbers of the blocks, at these and λ."""
    n = sum(len(b.rows) for b in blocks)
    sizes = (n * (n + 1) // 2, n, len(NUMBERS) * len(blocks), n)
    inputs = [Argument(name, (size,)) for name, size in zip(("G", "w", "numbers", "lam"), sizes, strict=True)]

    def problem(G: Scalars, w: Scalars, numbers: Scalars) -> Problem:
        whole = [[G[max(i, j) * (max(i, j) + 1) // 2 + min(i, j)] for j in range(n)] for i in range(n)]
        for i in (i for b in blocks if b.tangents and b.normal is not None for i in b.rows):
            whole[i][i] = whole[i][i] + REGULAR * whole[i][i]
        made = []
        for k, b in enumerate(blocks):
            friction, hold, shift = numbers[len(NUMBERS) * k : len(NUMBERS) * (k + 1)]
            made.append(b._replace(friction=friction, hold=hold, shift=shift))
        # any sizes have the same solution; these have a derivative where the two tangents are alike
        sizes = [(0 if b.normal is None else whole[b.normal][b.normal], sum(whole[k][k] for k in b.tangents)) for b in made]
        return Problem(whole, w, made, sizes, [])

    def F(G: Scalars, w: Scalars, numbers: Scalars, lam: Scalars) -> dict[str, Any]:
        return {"F": active_equation(problem(G, w, numbers), lam)[0]}

    R = record(F, inputs)

    def at(y: Scalars) -> Solution:
        ends = [sum(sizes[: k + 1]) for k in range(len(sizes))]
        G, w, numbers, lam = (y[end - size : end] for end, size in zip(ends, sizes, strict=True))
        _, A = active_equation(problem(G, w, numbers), lam)

        def solve(r: Scalars) -> list[Scalar]:
            return solve_unsymmetric(A, r)

        def solve_transposed(r: Scalars) -> list[Scalar]:
            return solve_unsymmetric(list(zip(*A, strict=True)), r)

        return Solution(Linearization.of(R, y), solve, solve_transposed, list(lam))

    return at


def _map(x: Any, change: Callable[[Expr], Any]) -> Any:
    """Lists, tuples and dictionaries with other recorded numbers in them."""
    if isinstance(x, Expr):
        return change(x)
    if isinstance(x, Mapping):
        return {key: _map(y, change) for key, y in x.items()}
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*(_map(y, change) for y in x))
    return type(x)(_map(y, change) for y in x) if isinstance(x, (list, tuple)) else x
