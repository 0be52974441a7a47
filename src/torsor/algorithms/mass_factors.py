"""The sparse factors of a mass matrix: M = LᵀDL, made once, then M⁻¹ is applied to any number of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torsor.algorithms.kinematics import Scalars
from torsor.model.model import Model
from torsor.spatial import linear, symmetric
from torsor.spatial.linear import Factors


def factored(model: Model, M: Sequence[Scalars]) -> Factors:
    """M = Lᵀ D L, from the tips to the base: in that order a branch's zeros stay zeros (Featherstone 2005)."""
    owner = [model.joint_names[i] for i, _ in model.outward() if model.coupling[i] is None for _ in range(model.joint[i].nv)]
    return linear.factor([row[::-1] for row in M[::-1]], owner[::-1])


def solve(factors: Factors, b: Scalars) -> list[Any]:
    """M⁻¹ b."""
    return linear.solve(factors, b[::-1])[::-1]


def inverse_inertia(factors: Factors, A: Sequence[Scalars]) -> list[list[Any]]:
    """A M⁻¹ Aᵀ of k rows A: Σ εᵀ D⁻¹ ε with ε = L⁻ᵀ Aᵀ, half a solution a row; symmetric to the bit."""
    e = [linear.lower_solve(factors, row[::-1]) for row in A]
    u = [[x * d for x, d in zip(row, factors[1], strict=True)] for row in e]  # D⁻¹ε
    return symmetric([[linear.dot(a, b) for b in u] for a in e])
