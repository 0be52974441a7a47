"""The problem of all contacts that touch, solved until it is converged: impulses at an impact, or forces that decide modes.

    u = G λ + w,    0 ≤ λ_n ⊥ u_n ≥ 0,    |λ_t| ≤ μ λ_n against u_t

with velocities and impulses, or accelerations and forces, which obey the same laws where u = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from torsor.algorithms.impulses import Block, Budget, Problem, residual, solve_impulses
from torsor.support.user_arrays import Array

#: compliance relative to G where rows depend on each other, and where rounding alone needs one
REGULAR, ROUNDING = 1e-10, 1e-15
#: of eigenvalues of G: smaller ones are of rows that depend on each other
DEPENDENT = 1e-11
#: sweeps and Newton steps of a round, rounds, and rounds without progress after which the best λ is taken
SWEEPS, NEWTON, ROUNDS, STALLED = 12, 2, 60, 6
#: residual relative to the largest w at which λ is converged
CONVERGED = 1e-14


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
    lam = [0.0] * len(w) if guess is None else (guess / size).tolist()
    best, least, stalled, newton = lam, _left(p, lam), 0, NEWTON
    for _ in range(ROUNDS):
        if least <= CONVERGED or stalled >= STALLED:
            break
        try:
            lam = solve_impulses(p, lam, Budget(SWEEPS, newton))
        except ArithmeticError:  # a pivot of Newton's matrix is zero: sweeps alone
            if not newton:
                break
            lam, newton = best, 0
            continue
        left = _left(p, lam)
        stalled = stalled + 1 if left >= least / 2 else 0
        if left < least:
            best, least = lam, left
    found = np.array(best) * size
    return Solved(found, G @ found + w, least)


def _left(p: Problem, lam: Sequence[float]) -> float:
    left = np.abs(np.array(residual(p, lam), float)).max()
    return float(left) if np.isfinite(left) else np.inf
