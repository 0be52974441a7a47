"""The sparse factors of a mass matrix: M = LᵀDL, made once, then M⁻¹ is applied to any number of vectors."""

from __future__ import annotations

from collections.abc import Sequence

from torsor.algorithms.massless import check_inertia, joint_without_inertia, least_pivots, owners
from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars
from torsor.spatial import linear
from torsor.spatial.linear import Factors


def factor_mass_matrix(model: Model, M: Sequence[Scalars]) -> Factors:
    """M = Lᵀ D L, from the tips to the base: in that order a branch's zeros stay zeros (Featherstone 2005)."""
    check_inertia(model)
    return linear.factor([row[::-1] for row in M[::-1]], owners(model), least=_least(model))


def factor_free_part(model: Model, A: Sequence[Scalars]) -> Factors:
    """The same factors of M with rows and columns of the unit matrix at joints that do not accelerate.

    The rest may be regular where M is singular at every configuration; then each pivot is compared with its rounding error.
    """
    rows = [row[::-1] for row in A[::-1]]
    if joint_without_inertia(model):
        return linear.factor_with_error_bounds(rows, owners(model))
    return linear.factor(rows, owners(model), least=_least(model))


def _least(model: Model) -> list[float]:
    """The rounding error of each pivot that may vanish, from the tips to the base."""
    rows = least_pivots(model)
    kept = [x for i in model.own_joints for x in rows[i] or [0.0] * model.joint[i].nv]
    return kept[::-1]


def solve(factors: Factors, b: Scalars) -> list[Scalar]:
    """M⁻¹ b."""
    return linear.solve(factors, b[::-1])[::-1]


def inverse(factors: Factors) -> list[list[Scalar]]:
    """M⁻¹, symmetric bit for bit."""
    return [row[::-1] for row in linear.inverse(factors)[::-1]]
