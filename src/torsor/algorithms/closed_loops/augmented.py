"""Links without mass inside a loop: the rows of A regularise M (augmented Lagrangian; Golub & Greif 2003).

M x − Aᵀλ = f, A x = g have the same x and λ as (M + w AᵀA) x − Aᵀλ = f + w Aᵀg, A x = g, for any weight w.  M + w AᵀA is
positive definite if every motion that the rows allow moves mass, also where M alone is singular.
"""

from __future__ import annotations

from collections.abc import Sequence

from torsor.algorithms.closed_loops.multipliers import Saddle, solve_by_multipliers
from torsor.algorithms.crba import crba
from torsor.algorithms.inverse_mass import of_factors
from torsor.algorithms.mass_factors import factor_free_part
from torsor.algorithms.massless import joint_without_inertia
from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars
from torsor.spatial.linear import dot


def regular_mass(model: Model, q: Scalars, A: Sequence[Scalars]) -> tuple[list[list[Scalar]], Scalar]:
    """M + w AᵀA and w = tr M / tr AᵀA, if M is singular at every configuration; else M and 0."""
    M = crba(model, q)
    if not (A and joint_without_inertia(model)):
        return M, 0
    columns, n = list(zip(*A, strict=True)), range(model.nv)
    w = sum(M[i][i] for i in n) / sum(dot(row, row) for row in A)
    return [[M[i][j] + w * dot(columns[i], columns[j]) for j in n] for i in n], w


def regular_force(f: Scalars, w: Scalar, A: Sequence[Scalars], g: Scalars) -> list[Scalar]:
    """f + w Aᵀg."""
    return [x + w * dot(column, g) for x, column in zip(f, zip(*A, strict=True), strict=True)] if A else list(f)


def solve_augmented(
    model: Model, q: Scalars, A: Sequence[Scalars], f: Scalars, g: Scalars, names: Sequence[str] = (), off: Scalars = ()
) -> Saddle:
    """F&O 21 with M + w AᵀA in the place of M; options as for :func:`solve_by_multipliers`."""
    M, w = regular_mass(model, q, A)
    inverse = of_factors(factor_free_part(model, M))
    found = solve_by_multipliers(inverse, A, regular_force(f, w, A, g), g, names, off)
    return found._replace(solve=lambda f, g: found.solve(regular_force(f, w, A, g), g))
