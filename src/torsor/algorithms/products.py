"""Products with M, M⁻¹, its factors and Jᵀ in O(N), without forming the matrices."""

from __future__ import annotations

from torsor.algorithms import mass_factors
from torsor.algorithms.crba import crba
from torsor.algorithms.innovations import innovations
from torsor.algorithms.inverse_mass import by_articulated_bodies, by_factors
from torsor.algorithms.jacobian import EXPRESSIONS
from torsor.algorithms.kinematics import from_world, joints
from torsor.algorithms.rnea import rnea
from torsor.algorithms.wrenches import in_frame_axes
from torsor.errors import require_known
from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Force, linear
from torsor.spatial.linear import Factors, dot


def mass_matrix_product(model: Model, q: Scalars, x: Scalars) -> list[Scalar]:
    """M x: inverse dynamics of the acceleration x from rest, without gravity (F&O §3.2)."""
    return rnea(model.weightless(), q, [0] * model.nv, x)


def mass_matrix_solve(model: Model, q: Scalars, x: Scalars) -> list[Scalar]:
    """M⁻¹ x: the two passes of the articulated-body algorithm (F&O 12–14), or the factors of M where it is not local."""
    inverse = by_articulated_bodies if model.local else by_factors
    return inverse(model, q).solve(x)


def mass_matrix_solve_by_factors(model: Model, q: Scalars, x: Scalars) -> list[Scalar]:
    """M⁻¹ x by the sparse factors of M: fewer operations while the joints are few."""
    return by_factors(model, q).solve(x)


def mass_factor_product(model: Model, q: Scalars, x: Scalars) -> list[Scalar]:
    """L x of M = LᵀDL, L unit lower triangular, in one pass from the base to the tips.

    M = B D Bᵀ by innovations, with a block of D for each joint; each block is ℓᵀ d ℓ, so L = ℓ Bᵀ (Featherstone 2005).
    """
    b = innovations(model, q)
    y = b.transpose_times(x)
    return [z for place, D in b.blocks() for z in _lower_times(_reversed_factors(D), y[place])]


def mass_factor_product_by_factors(model: Model, q: Scalars, x: Scalars) -> list[Scalar]:
    """L x by the sparse factors of M: fewer operations while the joints are few."""
    return _lower_times(mass_factors.factor_mass_matrix(model, crba(model, q)), x)


def mass_factor_diagonal(model: Model, q: Scalars) -> list[Scalar]:
    """D of M = LᵀDL: the inertia at each joint with the joints after it free, in O(N) by articulated bodies."""
    return [1 / d for _, D in innovations(model, q).blocks() for d in _reversed_factors(D)[1][::-1]]


def mass_factor_diagonal_by_factors(model: Model, q: Scalars) -> list[Scalar]:
    """D by the sparse factors of M."""
    return [1 / d for d in mass_factors.factor_mass_matrix(model, crba(model, q))[1][::-1]]


def _lower_times(factors: Factors, x: Scalars) -> list[Scalar]:
    """L x, by factors that run from the last row to the first."""
    return linear.upper_times(factors, x[::-1])[::-1]


def _reversed_factors(D: Factors) -> Factors:
    """The factors of a block of D from its last row to its first; D = ℓ d ℓᵀ has those from the first to the last."""
    below, inverse = D
    if len(inverse) == 1:
        return D
    L = [[*row[:i], 1, *row[i + 1 :]] for i, row in enumerate(below)]
    rows = [[dot([x / d for x, d in zip(a, inverse, strict=True)], b) for b in L] for a in L]
    return linear.factor([row[::-1] for row in rows[::-1]])


def jacobian_transpose_product(
    model: Model, q: Scalars, wrench: Scalars, frame: str, expressed_in: str = "world"
) -> list[Scalar]:
    """Jᵀ F: the wrench is carried from the frame to the base, and each joint takes its part SᵀF (MR 5.26)."""
    require_known("expressed_in=", expressed_in, EXPRESSIONS)
    body, XF = model.frame(frame)
    X, S = joints(model, q)
    if expressed_in == "space":
        F = from_world(model, X)[body].inverse.T @ Force.of(wrench)
    else:
        F = XF.T @ Force.of(wrench if expressed_in == "body" else in_frame_axes(model, q, frame, wrench))
    tau: list[Scalars] = [()] * len(S)
    for i in model.path(body):
        tau[i] = S[i].T @ F  # F&O 8
        F = X[i].T @ F  # F&O 7
    return model.gather_forces(tau)
