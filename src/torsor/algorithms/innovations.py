"""The innovations factorization: M = (1 + HᵀφK) D (1 + HᵀφK)ᵀ, each factor applied in O(N), and so is its inverse.

φ = P⁻ᵀ carries forces inwards.  D and the gain G = U D⁻¹ are those of the articulated bodies, K = XᵀG passes a joint's
innovation to its parent, and ψ is φ through joints that are free to move: (1 + HᵀφK)⁻¹ = 1 − HᵀψK, the same pass solved for
the other side.
Rodriguez, Jain & Kreutz-Delgado (F&O §3.5 [28, 29, 17]); Kalman's filter is the same, with bodies in place of time steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from torsor.algorithms.aba import ArticulatedBodies, accelerations, articulated_bodies
from torsor.algorithms.aba import innovations as innovations_of
from torsor.algorithms.configuration import joints_in_order
from torsor.algorithms.crba import crba
from torsor.algorithms.kinematics import joints
from torsor.algorithms.mass_factors import factor_mass_matrix
from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars, log, sqrt
from torsor.spatial import Force, Motion, linear
from torsor.spatial.linear import Factors


class TreeInnovations(NamedTuple):
    """B = 1 + HᵀφK of a tree without mimic joints."""

    model: Model
    bodies: ArticulatedBodies
    G: Sequence[Sequence[Force]]  # Kalman's gain, U D⁻¹

    def times(self, x: Scalars) -> list[Scalar]:
        """y = (1 + HᵀφK) x: forces z = φK x accumulate the innovations x from the tips inwards."""
        X, S, _, _ = self.bodies
        z = [Force.zero() for _ in X]
        y: list[list[Scalar]] = [[] for _ in X]
        rates = self.model.rates(x)
        for i, p in self.model.inward():
            y[i] = [a + b for a, b in zip(rates[i], S[i].T @ z[i], strict=True)]
            z[p] = z[p] + X[i].T @ sum((g * xi for g, xi in zip(self.G[i], rates[i], strict=True)), start=z[i])
        return self.model.gather_forces(y)

    def solve(self, x: Scalars) -> list[Scalar]:
        """(1 − HᵀψK) x, the innovations of x: the same pass for the other side (F&O 13 without bias)."""
        return self.model.gather_forces(innovations_of(self.model, self.bodies, x)[0])

    def transpose_times(self, x: Scalars) -> list[Scalar]:
        """y = (1 + KᵀφᵀH) x: motions V = φᵀH x go outwards."""
        X, S, _, _ = self.bodies
        V = [Motion.zero()]
        y: list[list[Scalar]] = [[] for _ in X]
        rates = self.model.rates(x)
        for i, p in self.model.outward():
            carried = X[i] @ V[p]
            y[i] = [a + carried.dot(g) for a, g in zip(rates[i], self.G[i], strict=True)]
            V.append(carried + S[i] @ rates[i])
        return self.model.gather_forces(y)

    def transpose_solve(self, x: Scalars) -> list[Scalar]:
        """(1 − KᵀψᵀH) x, the same pass for the other side (F&O 14)."""
        return accelerations(self.model, self.bodies, self.model.rates(x))

    def blocks(self) -> list[tuple[slice, Factors]]:
        """Position of each joint's block of D, and its factors."""
        return [(of, self.bodies.D[i]) for i, _, _, of in joints_in_order(self.model)]


class CoupledInnovations(NamedTuple):
    """B of a tree with mimic joints or far rotors, which couple distant bodies: from the entries of M, in O(n²)."""

    factors: Factors  # M = B D Bᵀ, B = L read from its last row to its first

    def times(self, x: Scalars) -> list[Scalar]:
        """B x."""
        return linear.lower_times(self.factors, x[::-1])[::-1]

    def solve(self, x: Scalars) -> list[Scalar]:
        """B⁻¹ x."""
        return linear.lower_solve(self.factors, x[::-1])[::-1]

    def transpose_times(self, x: Scalars) -> list[Scalar]:
        """Bᵀ x."""
        return linear.upper_times(self.factors, x[::-1])[::-1]

    def transpose_solve(self, x: Scalars) -> list[Scalar]:
        """B⁻ᵀ x."""
        return linear.upper_solve(self.factors, x[::-1])[::-1]

    def blocks(self) -> list[tuple[slice, Factors]]:
        """Position of each entry of D, and its factors."""
        return [(slice(k, k + 1), ([[0]], [d])) for k, d in enumerate(self.factors[1][::-1])]


#: M = B D Bᵀ with B unit triangular from the tips to the base, D block diagonal; D = ℓ d ℓᵀ by joint, d > 0
InnovationsFactors = TreeInnovations | CoupledInnovations


def innovations(model: Model, q: Scalars) -> InnovationsFactors:
    """M(q) = (1 + HᵀφK) D (1 + HᵀφK)ᵀ (Rodriguez et al., F&O [29])."""
    if not model.local:
        return CoupledInnovations(factor_mass_matrix(model, crba(model, q)))
    bodies = articulated_bodies(model, *joints(model, q))
    G: list[list[Force]] = [[]] + [linear.solve(bodies.D[i], bodies.U[i]) for i, _ in model.outward()]
    return TreeInnovations(model, bodies, G)


def half_times(model: Model, q: Scalars, x: Scalars) -> list[Scalar]:
    """M^½ x := (1 + HᵀφK) D^½ x, with M = M^½ M^½ᵀ: x of unit covariance becomes momenta of covariance M."""
    b = innovations(model, q)
    return b.times(_by_joint(b, x, lambda D, y: linear.lower_times(D, _over_roots(y, D))))  # D^½ = ℓ √d


def half_transpose_times(model: Model, q: Scalars, x: Scalars) -> list[Scalar]:
    """M^½ᵀ x = D^½ᵀ (1 + HᵀφK)ᵀ x: |M^½ᵀ v|² = vᵀM v, twice the kinetic energy."""
    b = innovations(model, q)
    return _by_joint(b, b.transpose_times(x), lambda D, y: _over_roots(linear.upper_times(D, y), D))


def half_solve(model: Model, q: Scalars, x: Scalars) -> list[Scalar]:
    """M^-½ x = D^-½ (1 − HᵀψK) x: whitens joint forces or momenta of covariance M."""
    b = innovations(model, q)
    return _by_joint(b, b.solve(x), lambda D, y: _times_roots(linear.lower_solve(D, y), D))


def half_transpose_solve(model: Model, q: Scalars, x: Scalars) -> list[Scalar]:
    """M^-½ᵀ x = (1 − HᵀψK)ᵀ D^-½ᵀ x: x of unit covariance becomes velocities of covariance M⁻¹."""
    b = innovations(model, q)
    return b.transpose_solve(_by_joint(b, x, lambda D, y: linear.upper_solve(D, _times_roots(y, D))))


def log_determinant(model: Model, q: Scalars) -> Scalar:
    """log det M = Σ log det D_i, since the other factors have ones on their diagonals."""
    return -sum((log(d) for _, (_, inverse) in innovations(model, q).blocks() for d in inverse), start=0)


# -- D = D^½ D^½ᵀ, D^½ = ℓ √d, joint by joint ----------------------------------------------------------------------


def _by_joint(b: InnovationsFactors, x: Scalars, function: Callable[[Factors, Scalars], list[Scalar]]) -> list[Scalar]:
    return [y for place, D in b.blocks() for y in function(D, x[place])]


def _over_roots(y: Scalars, D: Factors) -> list[Scalar]:
    """√d y; D has 1/d."""
    return [yi / sqrt(d) for yi, d in zip(y, D[1], strict=True)]


def _times_roots(y: Scalars, D: Factors) -> list[Scalar]:
    """y / √d."""
    return [yi * sqrt(d) for yi, d in zip(y, D[1], strict=True)]
