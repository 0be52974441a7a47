"""Method 1 of F&O §3.4: accelerations and multipliers at once (eq. 20)."""

from __future__ import annotations

from collections.abc import Sequence

from torsor.algorithms.closed_loops.multipliers import DEPENDENT, Saddle, shares
from torsor.algorithms.crba import crba
from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars
from torsor.spatial import factor, solve
from torsor.spatial.linear import dot


def solve_direct(
    model: Model, q: Scalars, A: Sequence[Scalars], f: Scalars, g: Scalars, names: Sequence[str] = (), off: Scalars = ()
) -> Saddle:
    """[[M, Aᵀ], [A, 0]] [x; −λ] = [f; g], factored as it stands.  F&O 20.

    M is positive definite, so with its rows first (from the tips to the base, where branches stay apart) the factorization
    L D Lᵀ needs no pivoting: after n pivots of M, the constraint rows have those of −A M⁻¹ Aᵀ.  ``off`` as in
    :func:`solve_by_multipliers`.
    """
    n, k = model.nv, len(A)
    M = crba(model, q)
    K = [[M[n - 1 - i][n - 1 - j] for j in range(n)] + [0] * k for i in range(n)]
    K += [[*list(row)[::-1], *([0] * k)] for row in A]
    for i, s in enumerate(off):
        K[n + i][n + i] = -s
    factors = factor(K, [*(["of the tree"] * n), *(names or range(k))], DEPENDENT)

    def solve_for(f: Scalars, g: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        x = solve(factors, [*list(f)[::-1], *g])  # F&O 20
        return x[:n][::-1], [-l for l in x[n:]]

    L, inverse = factors
    rows = range(n, n + k)
    reach = [dot([x * x for x in L[i][:n]], [1 / d for d in inverse[:n]]) for i in rows]  # the diagonal of A M⁻¹ Aᵀ
    return Saddle(*solve_for(f, g), shares([-inverse[i] for i in rows], reach, off), solve_for)
