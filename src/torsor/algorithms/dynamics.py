"""Forward dynamics and the inverse mass matrix, and the parts of the bias force."""

from __future__ import annotations

from collections.abc import Mapping

from torsor.algorithms import mass_factors
from torsor.algorithms.aba import aba
from torsor.algorithms.crba import crba
from torsor.algorithms.rnea import rnea
from torsor.errors import ArgumentError
from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars, note_inverse


def forward_dynamics(
    model: Model,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    wrenches: Mapping[str, Scalars] | None = None,
    method: str | None = None,
) -> list[Scalar]:
    """a = M⁻¹ (τ − h + Jᵀf) (MR eq. 8.81), by a ``method`` of :data:`METHODS`; by default in O(N) where the model is local.

    Mimic joints, and rotors mounted further in than the parent, couple distant bodies, which breaks the
    articulated-body recursion; there M is factored.
    """
    if method == "aba" and not model.local:
        raise ArgumentError(
            f"robot {model.name!r} has mimic joints, or rotors mounted further in than the parent, which the articulated-body "
            'algorithm does not support; use method="factors"'
        )
    return METHODS[method or ("aba" if model.local else "factors")](model, q, v, tau, wrenches)


def forward_dynamics_by_factors(
    model: Model, q: Scalars, v: Scalars, tau: Scalars, wrenches: Mapping[str, Scalars] | None = None
) -> list[Scalar]:
    """a from M a = τ − h, M = LᵀDL factored: fewer operations than ABA while the joints are few (F&O §2, Walker & Orin)."""
    h = rnea(model, q, v, [0] * model.nv, wrenches)
    factors = mass_factors.factor_mass_matrix(model, crba(model, q))
    return mass_factors.solve(factors, [t - x for t, x in zip(tau, h, strict=True)])


#: algorithms of forward dynamics: articulated bodies (F&O §3.3), or the mass matrix and its sparse factors (F&O §3.2)
METHODS = {"aba": aba, "factors": forward_dynamics_by_factors}


def mass_matrix_inverse(model: Model, q: Scalars) -> list[list[Scalar]]:
    """M(q)⁻¹, symmetric bit for bit, from the sparse factors of M.

    Row by row from the base to the tips, as accelerations are: a unit force on an earlier joint accelerates joint i through the
    joints that carry it alone, a_i = −Σ_j L_ij a_j, and a unit force on joint i itself adds 1/D_i.
    """
    M = crba(model, q)
    W = mass_factors.inverse(mass_factors.factor_mass_matrix(model, M))
    note_inverse(M, W)
    return W


def bias_force(model: Model, q: Scalars, v: Scalars) -> list[Scalar]:
    """h(q, v) = c(q, v) + g(q): inverse dynamics at zero acceleration (MR Exercise 8.11)."""
    return rnea(model, q, v, [0] * model.nv)


def velocity_force(model: Model, q: Scalars, v: Scalars) -> list[Scalar]:
    """c(q, v), the Coriolis and centripetal forces (MR eq. 8.10)."""
    return rnea(model.weightless(), q, v, [0] * model.nv)


def gravity_force(model: Model, q: Scalars) -> list[Scalar]:
    """g(q), the joint forces that hold the robot at rest (MR eq. 8.10)."""
    return rnea(model, q, [0] * model.nv, [0] * model.nv)


def damping_force(model: Model, v: Scalars) -> list[Scalar]:
    """D v: viscous friction at the joints, added in inverse dynamics and subtracted in forward dynamics on request."""
    rates = model.rates(v)
    return model.gather_forces(
        [[d * x for d, x in zip(model.damping[i], rates[i], strict=True)] for i in range(len(model.parent))]
    )
