"""The sparse factors of a mass matrix: M = LᵀDL, made once, then M⁻¹ is applied to any number of vectors."""

from __future__ import annotations

from collections.abc import Sequence

from torsor.algorithms.massless import check_tips
from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars
from torsor.spatial import linear
from torsor.spatial.linear import Factors


def factor_mass_matrix(model: Model, M: Sequence[Scalars]) -> Factors:
    """M = Lᵀ D L, from the tips to the base: in that order a branch's zeros stay zeros (Featherstone 2005)."""
    check_tips(model)
    return factor_from_tips(model, M)


def factor_from_tips(model: Model, A: Sequence[Scalars]) -> Factors:
    """The same factors of any symmetric matrix with M's zeros."""
    return linear.factor([row[::-1] for row in A[::-1]], owners(model))


def owners(model: Model) -> list[str]:
    """The joint of each pivot, from the tips to the base."""
    owner = [model.joint_names[i] for i, _ in model.outward() if model.coupling[i] is None for _ in range(model.joint[i].nv)]
    return owner[::-1]


def solve(factors: Factors, b: Scalars) -> list[Scalar]:
    """M⁻¹ b."""
    return linear.solve(factors, b[::-1])[::-1]


def inverse(factors: Factors) -> list[list[Scalar]]:
    """M⁻¹, symmetric bit for bit."""
    return [row[::-1] for row in linear.inverse(factors)[::-1]]
