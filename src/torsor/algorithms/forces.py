"""Force elements of the links (:mod:`torsor.model.forces`): their wrenches on the bodies, and the weight that remains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torsor.algorithms.kinematics import velocities
from torsor.model.forces import ForceRow
from torsor.model.model import Model
from torsor.scalar import Scalars
from torsor.spatial import Force, Inertia, Motion, Subspace, Sym, Transform


def element_wrenches(
    model: Model, X: Sequence[Transform], S: Sequence[Subspace], v: Scalars, base: Motion | None = None
) -> list[tuple[ForceRow, Force]]:
    """Each force element and its wrench, in the axes of its frame; ``base`` is the twist of a moving fixed base."""
    V = velocities(model, X, S, v, base)
    g = [model.gravity]
    for i, p in model.outward():
        g.append(X[i].E @ g[p])
    return [(row, row.wrench(row.X @ V[row.body], row.X.E @ g[row.body])) for row in model.forces]


def add_element_wrenches(
    model: Model, f: Sequence[Force], X: Sequence[Transform], S: Sequence[Subspace], v: Scalars, base: Motion | None = None
) -> list[Force]:
    """f[i], the external wrench on each body, with those of the force elements."""
    out = list(f)
    for row, F in element_wrenches(model, X, S, v, base) if model.forces else ():
        out[row.body] = out[row.body] + row.X.T @ F
    return out


def with_carried_weight(model: Model) -> Model:
    """The model with the masses subtracted whose weight force elements carry; for the potential energy alone."""
    I = list(model.inertia)
    for row in model.forces:
        I[row.body] = I[row.body] - row.X.T @ Inertia(row.m, row.h, Sym.zero())
    return replace(model, inertia=tuple(I))
