"""Method 2 of F&O §3.4: the multipliers first, then the motion (eq. 21; MR 8.96–8.98)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NamedTuple

from torsor.algorithms.inverse_mass import InverseMass
from torsor.scalar import Scalar, Scalars, maximum
from torsor.spatial import factor, solve
from torsor.spatial.linear import dot

#: error message for a vanishing pivot of A M⁻¹ Aᵀ
DEPENDENT = "constraint row {!r} depends on the rows before it here; omit it, or use method='null_space'"

#: length² of a row, in the metric M⁻¹, relative to the longest, below which the longest is the reference instead: the rounding
#: error in a row that vanishes here must not count as an independent direction
SHORT = 1e-6


class Saddle(NamedTuple):
    """M x − Aᵀλ = f, A x = g, solved; ``pivots``: independent share of each row, 1 (best) to 0 (depends on earlier rows).

    ``solve(f, g)`` is (x, λ) for another right-hand side, by the same factors.
    """

    x: list[Scalar]
    multipliers: list[Scalar]
    pivots: list[Scalar]
    solve: Callable[[Scalars, Scalars], tuple[list[Scalar], list[Scalar]]]


def solve_by_multipliers(
    M: InverseMass, A: Sequence[Any], f: Any, g: Scalars, names: Sequence[str] = (), off: Scalars = ()
) -> Saddle:
    """λ from A M⁻¹Aᵀ λ = g − A M⁻¹ f, then x = M⁻¹ (f + Aᵀλ).  F&O 21, MR 8.98 and 8.96.

    M⁻¹ is never formed: each row of A goes through the inward pass once, O(n n_c² + n_c³) in all.  ``off`` is 1 for rows that
    are zero, with g = 0, and 0 for the others: on the diagonal of A M⁻¹Aᵀ it makes λ = 0 the solution of those rows.
    Rows of A and f may be anything that ``M.inward`` takes.
    """
    rows = [M.inward(row) for row in A]
    E, U = [e for e, _ in rows], [u for _, u in rows]
    G = [[dot(E[j], U[i]) if j <= i else 0 for j in range(len(E))] for i in range(len(E))]  # A M⁻¹ Aᵀ, its lower half
    lengths = [G[i][i] for i in range(len(G))]
    for i, s in enumerate(off):
        G[i][i] = G[i][i] + s
    factors = factor(G, names, DEPENDENT)

    def solve_for(f: Any, g: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        _, uf = M.inward(f)
        lam = solve(factors, [gi - dot(e, uf) for gi, e in zip(g, E, strict=True)])  # F&O 21
        u = [uj + dot(column, lam) for uj, column in zip(uf, zip(*U, strict=True), strict=True)] if U else uf
        return M.outward(u), lam  # F&O 15

    return Saddle(*solve_for(f, g), shares(factors[1], lengths, off), solve_for)


def shares(inverse: Scalars, lengths: Scalars, off: Scalars = ()) -> list[Scalar]:
    """Independent part of each row (1/``inverse``) relative to its length or, if that is about zero, to the longest row's.

    That of a row that is ``off`` is 1.
    """
    longest = reduce(maximum, lengths) if lengths else 0
    least = [longest * SHORT * (1 - s) + s for s in off] or [longest * SHORT] * len(lengths)
    return [1 / (d * maximum(x, low)) for d, x, low in zip(inverse, lengths, least, strict=True)]
