"""Impulses of rows that can only push, stick or slip: Signorini's and Coulomb's conditions at velocity level, over any scalar.

    u = G λ + w,    0 ≤ λ_n ⊥ u_n ≥ 0,    λ_t = Π(λ_t − u_t/ρ),    Π onto |λ_t| ≤ μ λ_n + c

G = J M⁻¹Jᵀ is Delassus' matrix and w the relative velocity without impulses.  u_t may not be zero where λ_t is on its bound;
the impulse is then against u_t: this is the cone of friction with de Saxcé's shift (Acary & Brogliato 2008, §3.9).

A fixed budget without branches: sweeps of block Gauss–Seidel, then steps of Newton's method on the active set (Alart & Curnier
1991).  At every budget λ is in its set.  Many contacts of one body are swept among themselves, in the few motions of the body
that they share, before those of the next body.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from torsor.algorithms.impulses.newton import active_equation, newton_step, solve_unsymmetric
from torsor.algorithms.impulses.problem import (
    Block,
    Body,
    Budget,
    Problem,
    Shared,
    distances_from_switching,
    into_sets,
    largest,
    passive_blend,
    passive_share,
    residual,
    squared,
)  # fmt: skip
from torsor.algorithms.impulses.sweeps import block_sweep, local_factors, sweep_bodies
from torsor.scalar import Scalar, Scalars, repeatable, where
from torsor.spatial import factor, solve

__all__ = [
    "BY_SWEEPS",
    "active_equation",
    "distances_from_switching",
    "Block",
    "Body",
    "Budget",
    "ImpulseSolver",
    "Problem",
    "Shared",
    "into_sets",
    "largest",
    "passive_blend",
    "passive_share",
    "residual",
    "solve_impulses",
    "solve_unsymmetric",
]


class ImpulseSolver(NamedTuple):
    """λ of a problem from a guess and a budget; ``without_derivative`` has the same values as constants.

    A derivative brings its own.
    """

    solve: Callable[[Problem, Scalars, Budget], list[Scalar]]
    without_derivative: Callable[[Any], Any] = lambda x: x


def solve_impulses(p: Problem, guess: Scalars, budget: Budget) -> list[Scalar]:
    """λ from a guess."""
    lam = list(guess)
    by_body = p.shared if budget.local else None
    local = [] if by_body and not budget.between else [local_factors(p, b) for b in p.blocks]

    def sweep(lam: Scalars) -> list[Scalar]:
        """λ after a sweep over the blocks."""
        found = list(lam)
        for k, b in enumerate(p.blocks):
            block_sweep(p, k, b, found, local)
        return found

    if budget.newton:  # from the impulses with which all blocks stick, where these are nearer
        lam = _nearest(p, lam, [-x for x in solve(factor(p.G), p.w)])
    if by_body:
        sweep_bodies(p, by_body, lam, budget)
    else:
        sweep_once = repeatable(sweep) if budget.sweeps > 3 else sweep
        for _ in range(budget.sweeps):
            lam = sweep_once(lam)

    def improve(lam: Scalars) -> list[Scalar]:
        """λ after a Newton step, or a quarter of it, where that is nearer to the solution."""
        full = newton_step(p, lam, budget.damping)
        found = _nearest(p, lam, full, [x + (y - x) / 4 for x, y in zip(lam, full, strict=True)])
        return sweep(found) if budget.between else found

    once = repeatable(improve) if budget.newton > 1 else improve
    for _ in range(budget.newton):
        lam = once(lam)
    return lam


def _nearest(p: Problem, lam: Scalars, *others: Scalars) -> list[Scalar]:
    """λ, or of other impulses within their sets those with the least residual."""
    found, least = list(lam), squared(residual(p, lam))
    for other in others:
        x = into_sets(p, other)
        size = squared(residual(p, x))
        nearer = size < least
        found, least = [where(nearer, a, b) for a, b in zip(x, found, strict=True)], where(nearer, size, least)
    return found


#: solved by sweeps and steps whose operations may be differentiated one by one
BY_SWEEPS = ImpulseSolver(solve_impulses)
