"""The problem of all contacts that touch, solved until it is converged: impulses at an impact, or forces that decide modes.

    u = G λ + w,    0 ≤ λ_n ⊥ u_n ≥ 0,    |λ_t| ≤ μ λ_n against u_t

with velocities and impulses, or accelerations and forces, which obey the same laws where u = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from torsor.algorithms.impulses import Block, Budget, Problem, active_equation, into_sets, residual, solve_impulses
from torsor.scalar import Scalar, Scalars
from torsor.support.user_arrays import Array

#: compliance relative to G where rows depend on each other, and where rounding alone needs one
REGULAR, ROUNDING = 1e-10, 1e-15
#: of eigenvalues of G: smaller ones are of rows that depend on each other
DEPENDENT = 1e-11
#: sweeps of a round, Newton steps after them, and rounds; Newton's matrix is singular below this share
SWEEPS, NEWTON, ROUNDS, SINGULAR = 20, 12, 20, 1e-13
#: least share of a Newton step that is tried
SHORTEST = 1e-3
#: residual relative to the largest w at which λ is converged, and below which a round without progress is the last one
CONVERGED, STALLED = 1e-14, 1e-9


class Solved(NamedTuple):
    """λ (3k,), the rows of two tangents and the normal of each contact; u there; the largest violation, relative to w."""

    impulses: Array
    u: Array
    residual: float


def solve(G: Array, w: Array, friction: Sequence[float], guess: Array | None = None) -> Solved:
    """λ of the problem; its residual is for the caller to judge: there may be no solution."""
    size = float(np.abs(w).max(initial=0.0))
    if size == 0:
        return Solved(np.zeros(len(w)), np.zeros(len(w)), 0.0)
    eigenvalues = np.linalg.eigvalsh(G)
    depends = eigenvalues[0] <= DEPENDENT * eigenvalues[-1]
    small = (REGULAR if depends else ROUNDING) * float(np.trace(G)) / len(G)
    blocks = [Block(3 * k + 2, (3 * k, 3 * k + 1), float(mu)) for k, mu in enumerate(friction)]
    p = Problem.of((G + small * np.eye(len(G))).tolist(), (w / size).tolist(), blocks)
    lam: list[Scalar] = [0.0] * len(w) if guess is None else (guess / size).tolist()
    best, least = lam, _left(p, lam)
    for _ in range(ROUNDS):
        if least <= CONVERGED:
            break
        lam, left = _by_newton(p, solve_impulses(p, lam, Budget(SWEEPS)))
        stalled = left > least / 2 and least < STALLED
        best, least = (lam, left) if left < least else (best, least)
        if stalled:
            break
    found = np.array(best) * size
    return Solved(found, G @ found + w, least)


def _by_newton(p: Problem, lam: list[Scalar]) -> tuple[list[Scalar], float]:
    """λ after Newton steps on the active sets, by least squares: many points share their forces; and its residual."""
    left = _left(p, lam)
    for _ in range(NEWTON):
        if left <= CONVERGED:
            break
        F, A = active_equation(p, lam)
        step, share = np.linalg.lstsq(np.array(A, float), np.array(F, float), rcond=SINGULAR)[0], 1.0
        while share > SHORTEST:
            better = into_sets(p, (np.array(lam) - share * step).tolist())
            if (there := _left(p, better)) < left:
                lam, left = better, there
                break
            share /= 2
        else:
            break
    return lam, left


def _left(p: Problem, lam: Scalars) -> float:
    """The largest violation of the laws."""
    left = np.abs(np.array(residual(p, lam), float)).max()
    return float(left) if np.isfinite(left) else np.inf
