"""Hybrid dynamics: the acceleration is given for some joints, and the force for the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from torsor.algorithms import mass_factors
from torsor.algorithms.aba import accelerations_of_bodies, articulated_bodies, innovations
from torsor.algorithms.crba import crba
from torsor.algorithms.kinematics import joints
from torsor.algorithms.massless import joint_without_inertia
from torsor.algorithms.rnea import rnea
from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars
from torsor.spatial.matrix import Vector

#: (model, q, r, free) → x with M x = r in free rows and x = 0 elsewhere, and M x
Solve = Callable[[Model, Scalars, Scalars, Scalars], tuple[list[Scalar], list[Scalar]]]


def hybrid_acceleration(
    model: Model,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    tau: Scalars,
    prescribed: Scalars,
    wrenches: Mapping[str, Scalars] | None = None,
    solve: Solve | None = None,
) -> list[Scalar]:
    """a: as given where ``prescribed`` is 1; computed from τ where it is 0.

    Featherstone, *Rigid Body Dynamics Algorithms* (2008), §9.2; ``solve`` is the algorithm for the free joints.
    """
    given, x, _ = _solve_free(model, q, v, a, tau, prescribed, wrenches, solve)
    return [g + xi for g, xi in zip(given, x, strict=True)]


def hybrid_force(
    model: Model,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    tau: Scalars,
    prescribed: Scalars,
    wrenches: Mapping[str, Scalars] | None = None,
    solve: Solve | None = None,
) -> list[Scalar]:
    """τ: as given where ``prescribed`` is 0; where it is 1, the force that gives the prescribed acceleration.

    Featherstone (2008), §9.2; ``solve`` as for :func:`hybrid_acceleration`.
    """
    _, _, force = _solve_free(model, q, v, a, tau, prescribed, wrenches, solve)
    return [p * f + (1 - p) * t for p, f, t in zip(prescribed, force, tau, strict=True)]


def _solve_free(
    model: Model,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    tau: Scalars,
    prescribed: Scalars,
    wrenches: Mapping[str, Scalars] | None,
    solve: Solve | None,
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """(g, x, h + M x): the given accelerations, the others, and the forces of prescribed rows, with h = RNEA(q, v, g).

    M x = τ − h in free rows, x = 0 elsewhere.
    """
    n = range(model.nv)
    free, given = [1 - prescribed[i] for i in n], [prescribed[i] * a[i] for i in n]
    h = rnea(model, q, v, given, wrenches)
    rest = [t - y for t, y in zip(tau, h, strict=True)]
    regular = model.local and not joint_without_inertia(model)
    x, Mx = (solve or (free_by_articulated_bodies if regular else free_by_factors))(model, q, rest, free)
    return given, x, [y + z for y, z in zip(h, Mx, strict=True)]


def free_by_articulated_bodies(model: Model, q: Scalars, r: Scalars, free: Scalars) -> tuple[list[Scalar], list[Scalar]]:
    """x with M x = r in free rows and x = 0 elsewhere, and M x in the others: prescribed joints are rigid (F&O 11–14)."""
    bodies = articulated_bodies(model, *joints(model, q), free)
    e, u = innovations(model, bodies, r)
    A, x = accelerations_of_bodies(model, bodies, u)
    more = model.gather_forces({i: Vector(bodies.U[i].T @ A[i]) - e[i] for i in x})  # Uᵀa + Sᵀp^A − r
    return model.gather_forces(x), [y + t for y, t in zip(more, r, strict=True)]


def free_by_factors(model: Model, q: Scalars, r: Scalars, free: Scalars) -> tuple[list[Scalar], list[Scalar]]:
    """The same: prescribed rows of M become those of the unit matrix; one factorization, with M's zeros, serves any choice."""
    n, M = range(model.nv), crba(model, q)
    A = [[free[i] * M[i][j] * free[j] + (1 - free[i] if i == j else 0) for j in n] for i in n]
    x = mass_factors.solve(mass_factors.factor_free_part(model, A), [f * t for f, t in zip(free, r, strict=True)])
    return x, [sum((m * xj for m, xj in zip(row, x, strict=True)), start=0) for row in M]
