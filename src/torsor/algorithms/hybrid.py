"""Hybrid dynamics: the acceleration is given for some joints, and the force for the others."""

from __future__ import annotations

from collections.abc import Mapping

from torsor.algorithms import mass_factors
from torsor.algorithms.crba import crba
from torsor.algorithms.rnea import rnea
from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars


def hybrid_acceleration(
    model: Model,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    tau: Scalars,
    prescribed: Scalars,
    wrenches: Mapping[str, Scalars] | None = None,
) -> list[Scalar]:
    """a: as given where ``prescribed`` is 1; computed from τ where it is 0.

    Featherstone, *Rigid Body Dynamics Algorithms* (2008), §9.2.
    """
    given, x, _, _ = _solve_free(model, q, v, a, tau, prescribed, wrenches)
    return [g + xi for g, xi in zip(given, x, strict=True)]


def hybrid_force(
    model: Model,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    tau: Scalars,
    prescribed: Scalars,
    wrenches: Mapping[str, Scalars] | None = None,
) -> list[Scalar]:
    """τ: as given where ``prescribed`` is 0; where it is 1, the force that gives the prescribed acceleration.

    Featherstone (2008), §9.2.
    """
    _, x, M, h = _solve_free(model, q, v, a, tau, prescribed, wrenches)
    leading = [hi + sum((m * xj for m, xj in zip(row, x, strict=True)), start=0) for row, hi in zip(M, h, strict=True)]
    return [p * f + (1 - p) * t for p, f, t in zip(prescribed, leading, tau, strict=True)]


def _solve_free(
    model: Model, q: Scalars, v: Scalars, a: Scalars, tau: Scalars, prescribed: Scalars, wrenches: Mapping[str, Scalars] | None
) -> tuple[list[Scalar], list[Scalar], list[list[Scalar]], list[Scalar]]:
    """(g, x, M, h): the given accelerations, the others, and h = RNEA(q, v, g).  M x = τ − h in free rows, x = 0 elsewhere.

    A prescribed row of M becomes one of the unit matrix: one factorization, with M's zeros, serves any choice of joints.
    """
    n = range(model.nv)
    free = [1 - prescribed[i] for i in n]
    given = [prescribed[i] * a[i] for i in n]
    h = rnea(model, q, v, given, wrenches)
    M = crba(model, q)
    A = [[free[i] * M[i][j] * free[j] + (prescribed[i] if i == j else 0) for j in n] for i in n]
    factors = mass_factors.factor_free_part(model, A)
    return given, mass_factors.solve(factors, [free[i] * (tau[i] - h[i]) for i in n]), M, h
