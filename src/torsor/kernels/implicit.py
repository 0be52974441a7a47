"""Implicit derivatives: those of the solution y of an equation R(x, y) = 0.

With K = ∂R/∂y, ẏ = −K⁻¹ (∂R/∂x) ẋ and wᵀ(∂y/∂x) = −λ′ᵀ ∂R/∂x with Kᵀλ′ = w: one more solve with the factors of K, which the
solution has already; its solver is not differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from torsor.algorithms.closed_loops import Saddle
from torsor.compile.derivative import Linear, Linearization
from torsor.scalar import Scalar, Scalars, is_zero

Solve = Callable[[Scalars], list[Scalar]]


class Solution(NamedTuple):
    """The derivative of the solution y of R(x, y) = 0, from that of R and the factors of K; y are the last inputs of R."""

    equation: Linearization
    solve: Solve  #: K⁻¹ r
    solve_transposed: Solve  #: K⁻ᵀ w
    results: list[Scalar]  #: y

    def push(self, directions: Sequence[Mapping[int, Scalar]]) -> list[list[Scalar]]:
        """ẏ = −K⁻¹ Ṙ for each direction."""
        return [self.solve([-r for r in rates]) for rates in self.equation.push(directions)]

    def pull(self, weights: Scalars) -> Mapping[int, Scalar]:
        """−∂Rᵀ λ′ with Kᵀλ′ = w."""
        given = sum(a.size for a in self.equation.program.inputs) - len(self.results)
        found = self.equation.pull([-x for x in self.solve_transposed(weights)])
        return {k: x for k, x in found.items() if k < given}


def saddle_solution(R: Linearization, saddle: Saddle, rows: Sequence[int], motion: Scalars, multipliers: Scalars) -> Solution:
    """The derivative of (x, λ) as the solution of R = (M x − Aᵀλ − f, A x − g) = 0; K = [[M, −Aᵀ], [A, 0]].

    ẋ and λ̇ solve the same system with −Ṙ on the right.  Kᵀ(y, z) = w is it too, with −w_λ on the right and −z for λ.
    """
    n = len(motion)

    def solve(r: Scalars, sign: int = 1) -> list[Scalar]:
        dx, held = saddle.solve(r[:n], [r[n + j] * sign for j in rows])
        found = list(r[n:])  # of redundant rows: 0 = 0
        for j, y in zip(rows, held, strict=True):
            found[j] = y * sign
        return [*dx, *found]

    return Solution(R, solve, lambda w: solve(w, -1), [*motion, *multipliers])


class Checked(NamedTuple):
    """The derivative of the first ``size`` results, by default of all, and their checks, numbers that have no derivative."""

    linear: Linear
    checks: list[Scalar]
    size: int | None = None

    @property
    def results(self) -> list[Scalar]:
        return self.linear.results[: self.size]

    def push(self, directions: Sequence[Mapping[int, Scalar]]) -> list[list[Scalar]]:
        """The rates of these results for each direction."""
        return [rates[: self.size] for rates in self.linear.push(directions)]

    def pull(self, weights: Scalars) -> Mapping[int, Scalar]:
        """The adjoints of the inputs."""
        return self.linear.pull([*weights, *([0] * (len(self.linear.results) - len(weights)))])


def nonzero(x: Mapping[int, Scalar]) -> dict[int, Scalar]:
    """The entries that are not zero whatever the inputs are."""
    return {k: a for k, a in x.items() if not is_zero(a)}


def product(columns: Sequence[Mapping[int, Scalar]], x: Mapping[int, Scalar], size: int) -> list[Scalar]:
    """Σ x_k column_k, of ``size`` rows."""
    y: dict[int, Scalar] = {}
    for k, r in x.items():
        for i, d in columns[k].items():
            y[i] = y[i] + d * r if i in y else d * r
    return [y.get(i, 0) for i in range(size)]


def columns_of(linear: Linear, positions: Sequence[int]) -> list[dict[int, Scalar]]:
    """Columns of the matrix of a derivative, one per position of the inputs."""
    return [nonzero(dict(enumerate(y))) for y in linear.push([{k: 1} for k in positions])]


class Matrix(NamedTuple):
    """The derivative as a matrix: one column {row: entry} per coordinate of a direction; entries that are missing are zero.

    ``coordinates`` maps rates of the inputs to those of the matrix, where they differ.
    """

    columns: Sequence[Mapping[int, Scalar]]
    coordinates: Callable[[Mapping[int, Scalar]], Mapping[int, Scalar]] = nonzero

    def __call__(self, rates: Mapping[int, Scalar], size: int) -> list[Scalar]:
        return product(self.columns, self.coordinates(rates), size)


class WithMatrix(NamedTuple):
    """A derivative that has a ``matrix``, computed once for many directions: they do not pass through the function."""

    linear: Linear
    matrix: Callable[[], Matrix]
    many: int  #: directions from which the matrix is the shorter way

    @property
    def results(self) -> list[Scalar]:
        return self.linear.results

    def push(self, directions: Sequence[Mapping[int, Scalar]]) -> list[list[Scalar]]:
        """The rates of all results for each direction."""
        if len(directions) < self.many:
            return self.linear.push(directions)
        matrix, size = self.matrix(), len(self.results)
        return [matrix(rates, size) for rates in directions]

    def pull(self, weights: Scalars) -> Mapping[int, Scalar]:
        """The adjoints of the inputs."""
        return self.linear.pull(weights)
