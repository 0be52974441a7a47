"""M⁻¹ as two passes: to the base, where u = D⁻¹ε is what each joint adds, and back to the tips.

A constraint needs A M⁻¹ Aᵀ = Σ εᵀu: the inward pass of each row is enough, and on branches a row does not touch it is zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from torsor.algorithms import mass_factors
from torsor.algorithms.articulated import articulated, innovations, outward
from torsor.algorithms.crba import crba
from torsor.algorithms.kinematics import Scalars, joints
from torsor.model.model import Model
from torsor.spatial.linear import lower_solve, upper_solve


class Halves(NamedTuple):
    """``inward``: joint forces f → (ε, u = D⁻¹ε), with fᵀM⁻¹f = εᵀu; ``outward``: u → M⁻¹f."""

    inward: Callable[[Scalars], tuple[list[Any], list[Any]]]
    outward: Callable[[Scalars], list[Any]]


def by_articulated_bodies(model: Model, q: Scalars) -> Halves:
    """By the articulated-body algorithm (F&O 12–14): O(n) a pass, no mass matrix is formed.  Not for coupled joints."""
    bodies = articulated(model, *joints(model, q))

    def inward(f: Scalars) -> tuple[list[Any], list[Any]]:
        e, u = innovations(model, bodies, f)
        return model.gathered(e), model.gathered(u)

    return Halves(inward, lambda u: outward(model, bodies, model.rates(u)))


def by_factors(model: Model, q: Scalars) -> Halves:
    """By the sparse factors M = LᵀDL (Featherstone 2005): fewer operations while the joints are few."""
    factors = mass_factors.factored(model, crba(model, q))  # from the tips to the base, so vectors are turned round

    def inward(f: Scalars) -> tuple[list[Any], list[Any]]:
        e = lower_solve(factors, list(f)[::-1])
        return e, [x * d for x, d in zip(e, factors[1], strict=True)]

    return Halves(inward, lambda u: upper_solve(factors, u)[::-1])
