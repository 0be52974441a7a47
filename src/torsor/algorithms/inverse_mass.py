"""M⁻¹ as two passes: to the base, with the contribution u = D⁻¹ε of each joint, and back to the tips.

Tasks and constraints need A M⁻¹Aᵀ = Σ εᵀu, which takes only the inward pass of each row; the pass is zero on branches that the
row does not involve.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from torsor.algorithms import mass_factors
from torsor.algorithms.aba import ArticulatedBodies, accelerations, articulated_bodies, innovations
from torsor.algorithms.crba import crba
from torsor.algorithms.kinematics import joints
from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Force, symmetrize
from torsor.spatial.linear import Factors, dot, lower_solve, upper_solve


class InverseMass(NamedTuple):
    """``inward``: joint forces f → (ε, u = D⁻¹ε), with fᵀM⁻¹f = εᵀu; ``outward``: u → M⁻¹f.

    Vereshchagin's ``inward`` takes forces on the bodies as well.
    """

    inward: Callable[..., tuple[list[Scalar], list[Scalar]]]
    outward: Callable[[Scalars], list[Scalar]]

    def solve(self, f: Scalars) -> list[Scalar]:
        """M⁻¹ f."""
        return self.outward(self.inward(f)[1])

    def inverse_inertia(self, A: Sequence[Scalars]) -> list[list[Scalar]]:
        """A M⁻¹ Aᵀ of k rows A (a Jacobian's, or a loop's), symmetric bit for bit."""
        both = [self.inward(row) for row in A]
        return symmetrize([[dot(e, u) for _, u in both] for e, _ in both])


def by_articulated_bodies(model: Model, q: Scalars) -> InverseMass:
    """By the articulated-body algorithm (F&O 12–14): O(N) per pass, no mass matrix is formed.  Not for mimic joints."""
    return of_bodies(model, articulated_bodies(model, *joints(model, q)))


def of_bodies(model: Model, bodies: ArticulatedBodies) -> InverseMass:
    """By given articulated bodies; ``inward`` takes bias forces p on the bodies as well."""

    def inward(f: Scalars, p: Sequence[Force | None] | None = None) -> tuple[list[Scalar], list[Scalar]]:
        e, u = innovations(model, bodies, f, p)  # F&O 13
        return model.gather_forces(e), model.gather_forces(u)

    return InverseMass(inward, lambda u: accelerations(model, bodies, model.rates(u)))


def by_factors(model: Model, q: Scalars) -> InverseMass:
    """By the sparse factors of M = LᵀDL: fewer operations while the joints are few."""
    return of_matrix(model, crba(model, q))


def of_matrix(model: Model, M: Sequence[Scalars]) -> InverseMass:
    """By the sparse factors of a given mass matrix."""
    return of_factors(mass_factors.factor_mass_matrix(model, M))


def of_factors(factors: Factors) -> InverseMass:
    """By factors of M from the tips to the base, so vectors are reversed."""

    def inward(f: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        e = lower_solve(factors, list(f)[::-1])
        return e, [x * d for x, d in zip(e, factors[1], strict=True)]

    return InverseMass(inward, lambda u: upper_solve(factors, u)[::-1])
