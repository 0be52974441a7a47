"""Newton's method on the active set of contacts: open, sticking or slipping (Alart & Curnier 1991)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torsor.algorithms.impulses.problem import TINY, Block, Problem, bound_of_normal, squared
from torsor.scalar import Scalar, Scalars, is_zero, maximum, minimum, sqrt, where
from torsor.spatial.linear import dot


class Active(NamedTuple):
    """The active set of a block, 1 or 0: it is closed, it sticks; e is the direction that it slips against, of length 1 or 0.

    ``turn`` is |bound|/|y|, the derivative of a direction across e.
    """

    closed: Scalar
    sticks: Scalar
    e: list[Scalar]
    turn: Scalar
    bound: Scalar


def active_sets(p: Problem, lam: Scalars, u: Scalars) -> list[Active]:
    """The active set of each block at λ and u."""
    found = []
    for b, (normal, tangent) in zip(p.blocks, p.sizes, strict=True):
        if b.normal is not None and not is_zero(bound_of_normal(b)):
            found.append(_stop_with_friction(b, normal, lam[b.normal], u[b.normal]))
            continue
        closed: Scalar = 1 if b.normal is None else where(normal * lam[b.normal] > u[b.normal], 1.0, 0.0)
        bound = closed * b.friction * (0 if b.normal is None else maximum(lam[b.normal], 0)) + b.hold
        y = [lam[k] - u[k] / tangent for k in b.tangents]
        length2 = squared(y)
        size = sqrt(maximum(length2, TINY))
        found.append(Active(closed, where(length2 < bound * bound, 1.0, 0.0), [x / size for x in y], bound / size, bound))
    return found


def _stop_with_friction(b: Block, size: Scalar, lam: Scalar, u: Scalar) -> Active:
    """The pieces of λ = max(Π(λ − (u − b)/G), λ − u/G): at the stop u = 0, sticking u = b, slipping λ = ±c."""
    slips, pushed = size * lam - u + b.shift, size * lam - u
    held = minimum(maximum(slips, -size * b.hold), size * b.hold)
    closed: Scalar = where(pushed > held, 1.0, 0.0)
    sticks = where(abs(slips) < size * b.hold, 1 - closed, 0.0)
    return Active(closed, sticks, [], 0, where(slips > 0, b.hold, -b.hold))


def active_equation(p: Problem, lam: Scalars) -> tuple[list[Scalar], list[list[Scalar]]]:
    """F and A = ∂F/∂λ on the active sets at λ: open λ = 0, sticking u = 0, slipping u_n = 0 and λ_t = (μ λ_n + c) e."""
    u = p.velocity(lam, range(len(lam)))
    sets = active_sets(p, lam, u)
    return active_residual(p, lam, u, sets), newton_matrix(p, sets)


def newton_step(p: Problem, lam: Scalars, damping: float = 0.0) -> list[Scalar]:
    """λ + δ, (A + ε diag G) δ = −F: damping ε keeps δ small where rows depend on each other."""
    F, A = active_equation(p, lam)
    for i, row in enumerate(A if damping else ()):
        row[i] = row[i] + damping * p.G[i][i]
    return [x - d for x, d in zip(lam, solve_unsymmetric(A, F), strict=True)]


def active_residual(p: Problem, lam: Scalars, u: Scalars, sets: Sequence[Active]) -> list[Scalar]:
    """F(λ) with given active sets: one formula for open, sticking and slipping blocks."""
    F: list[Scalar] = [0] * len(lam)
    for b, (normal, tangent), s in zip(p.blocks, p.sizes, sets, strict=True):
        if b.normal is not None:
            held = where(s.sticks > 0, u[b.normal] - b.shift, normal * (lam[b.normal] - s.bound))
            F[b.normal] = where(s.closed > 0, u[b.normal], normal * lam[b.normal] if b.tangents else held)
        for k, e in zip(b.tangents, s.e, strict=True):
            F[k] = where(s.sticks > 0, u[k], tangent * (lam[k] - s.bound * e))
    return F


def newton_matrix(p: Problem, sets: Sequence[Active]) -> list[list[Scalar]]:
    """A = ∂F/∂λ: with P = 1 where it sticks, (bound/|y|)(1 − e eᵀ) where it slips, rows P G_t + ρ (1 − P) − ρ μ e nᵀ."""
    n = len(p.w)
    A: list[list[Scalar]] = [[0] * n for _ in range(n)]
    for b, (normal, tangent), s in zip(p.blocks, p.sizes, sets, strict=True):
        if b.normal is not None:
            touches = s.closed > 0 if b.tangents else s.closed + s.sticks > 0
            A[b.normal] = [where(touches, x, 0) for x in p.G[b.normal]]
            A[b.normal][b.normal] = normal
        for i, (k, e) in enumerate(zip(b.tangents, s.e, strict=True)):
            P = [where(s.sticks > 0, float(i == j), s.turn * ((i == j) - e * f)) for j, f in enumerate(s.e)]
            row = [dot(P, [p.G[t][c] for t in b.tangents]) for c in range(n)]
            for j, t in enumerate(b.tangents):
                row[t] = row[t] + tangent * ((i == j) - P[j])
            if b.normal is not None and not is_zero(b.friction):
                row[b.normal] = row[b.normal] - where(s.sticks > 0, 0, tangent * b.friction * s.closed * e)
            A[k] = row
    return A


def solve_unsymmetric(A: Sequence[Scalars], b: Scalars) -> list[Scalar]:
    """x with A x = b, by elimination without pivoting, in the order of the rows."""
    n = len(A)
    rows = [[*row, y] for row, y in zip(A, b, strict=True)]
    for k in range(n):
        inverse = 1 / rows[k][k]
        for i in range(k + 1, n):
            if is_zero(rows[i][k]):
                continue
            factor_ik = rows[i][k] * inverse
            rows[i] = [*rows[i][: k + 1], *(x - factor_ik * y for x, y in zip(rows[i][k + 1 :], rows[k][k + 1 :], strict=True))]
    x: list[Scalar] = [0] * n
    for k in reversed(range(n)):
        x[k] = (rows[k][n] - dot(rows[k][k + 1 : n], x[k + 1 :])) / rows[k][k]
    return x
