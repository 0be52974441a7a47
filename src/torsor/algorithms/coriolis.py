"""The Coriolis matrix C(q, v), Ṁ and the Christoffel symbols."""

from __future__ import annotations

from torsor.algorithms import rotors
from torsor.algorithms.configuration import configuration_rate
from torsor.algorithms.crba import crba
from torsor.algorithms.kinematics import joints, subspace_rates, velocities
from torsor.model.model import Model
from torsor.scalar import Dual, Scalar, Scalars, rate
from torsor.spatial import Subspace, symmetrize
from torsor.spatial.coriolis import BodyCoriolis


def coriolis_matrix(model: Model, q: Scalars, v: Scalars) -> list[list[Scalar]]:
    """C(q, v) with C v = c(q, v) and Ṁ − 2C skew (MR eq. 8.19, Prop. 8.1).

    The composite-body recursion of Echeandia & Wensing (2021); for joints whose velocity is the rate of their coordinate, its
    entries are Σ_k Γ_ijk v_k with the Christoffel symbols of MR eq. 8.17.
    """
    X, S = joints(model, q)
    V = velocities(model, X, S, v)
    dS = subspace_rates(model, q, v)
    dS = [Subspace([V[i].cross(s) + d for s, d in zip(S[i], dS[i], strict=True)]) for i in range(len(S))]
    I = list(model.inertia)
    B = [BodyCoriolis.of(G, Vi) for G, Vi in zip(model.inertia, V, strict=True)]
    B, spin, turned = rotors.add_spin_coriolis(model, B, v), rotors.reflected_inertia(model), rotors.half_spin_rate(model, V)
    C: dict[tuple[int, int], list[list[Scalar]]] = {}
    for i, p in model.inward():
        F1 = [I[i] @ d + B[i] @ s for s, d in zip(S[i], dS[i], strict=True)]
        F2 = [I[i] @ s for s in S[i]]
        F3 = [B[i].transpose_times(s) for s in S[i]]
        C[i, i] = S[i].T @ F1
        j = i
        while model.parent[j] > 0:
            F1, F2, F3 = ([X[j].T @ f for f in F] for F in (F1, F2, F3))
            j = model.parent[j]
            F1, F2, F3 = (rotors.add_rotor_forces(s, i, j, F) for s, F in ((turned, F1), (spin, F2), (turned, F3)))
            C[j, i] = S[j].T @ F1
            C[i, j] = [[d.dot(f2) + s.dot(f3) for s, d in zip(S[j], dS[j], strict=True)] for f2, f3 in zip(F2, F3, strict=True)]
        I[p] = I[p] + X[i].T @ I[i]
        B[p] = B[p] + X[i].T @ B[i]
    return model.gather_matrix(C)


def mass_matrix_rate(model: Model, q: Scalars, v: Scalars) -> list[list[Scalar]]:
    """Ṁ, the rate of M along the motion: M over the duals q + ε q̇."""
    if any(isinstance(x, Dual) for x in (*q, *v)):  # duals do not nest
        return mass_matrix_rate_by_coriolis_matrix(model, q, v)
    rates = configuration_rate(model, q, v)
    M = crba(model, [Dual(x, dx) for x, dx in zip(q, rates, strict=True)])
    return [[rate(x) for x in row] for row in M]


def mass_matrix_rate_by_coriolis_matrix(model: Model, q: Scalars, v: Scalars) -> list[list[Scalar]]:
    """Ṁ = C + Cᵀ, because Ṁ − 2C is skew (MR Prop. 8.1); shorter for some robots of a few joints."""
    C = coriolis_matrix(model, q, v)
    return symmetrize([[C[i][j] + C[j][i] for j in range(len(C))] for i in range(len(C))])


def christoffel_symbols(model: Model, q: Scalars) -> list[list[list[Scalar]]]:
    """Γ_ijk(q), with C_ij = Σ_k Γ_ijk v_k (MR eqs. 8.17, 8.19): C is linear in v, so its columns are C at unit velocities."""
    n = model.nv
    slices = [coriolis_matrix(model, q, [int(k == j) for j in range(n)]) for k in range(n)]
    return [[[slices[k][i][j] for k in range(n)] for j in range(n)] for i in range(n)]
