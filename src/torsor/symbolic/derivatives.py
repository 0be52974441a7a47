"""Parts of the equations of motion that follow from M(q), c, g and Q by differentiation, in SymPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torsor.symbolic.expression_trigonometry import shorter, simplify_trigonometry
from torsor.symbolic.forces import split_velocity_force, three_index
from torsor.symbolic.library import sympy_library

if TYPE_CHECKING:
    from torsor.symbolic.equations import EquationsOfMotion


def christoffel_symbols(eom: EquationsOfMotion) -> Any:
    """Γ_ijk = ½(∂m_ij/∂q_k + ∂m_ik/∂q_j − ∂m_jk/∂q_i), n×n×n (MR 8.17)."""
    n, dM = range(eom.nv), _mass_matrix_gradient(eom)
    return _array([[[(dM[i][j][k] + dM[i][k][j] - dM[j][k][i]) / 2 for k in n] for j in n] for i in n])


def three_index_symbols(eom: EquationsOfMotion) -> Any:
    """C_ijk = ∂H_ij/∂q_k − ½ ∂H_jk/∂q_i, n×n×n (ASADA 7.2.22)."""
    return _array(three_index(_mass_matrix_gradient(eom)))


def coriolis_matrix(eom: EquationsOfMotion) -> Any:
    """C_ij = Σ_k Γ_ijk v_k (MR 8.19)."""
    n, G, v = range(eom.nv), eom.Gamma, eom.v
    return _matrix([[sum(G[i, j, k] * v[k] for k in n) for j in n] for i in n])


def velocity_force_parts(eom: EquationsOfMotion) -> tuple[Any, Any]:
    """(Σ_j Γ_ijj v_j², Σ_j≠k Γ_ijk v_j v_k): the centrifugal and the Coriolis part of c (ASADA 7.2.23)."""
    centrifugal, coriolis = split_velocity_force(eom.Gamma.tolist(), eom.v)
    return _matrix(centrifugal), _matrix(coriolis)


def mass_matrix_rate(eom: EquationsOfMotion) -> Any:
    """Ṁ = Σ_k ∂M/∂q_k v_k + ∂M/∂t."""
    rate = eom.M.applyfunc(lambda m: sum(m.diff(q) * v for q, v in zip(eom.q, eom.v, strict=True)))
    return _matrix(rate if eom.M_t is None else rate + eom.M_t)


def bias_force(eom: EquationsOfMotion) -> Any:
    """h = c + g − Q (MR 8.1)."""
    return eom.c + eom.g - eom.forces


def joint_force(eom: EquationsOfMotion) -> Any:
    """τ = M a + h (MR 8.1)."""
    sp = sympy_library()
    rows = [sp.Add(*(eom.M[i, j] * x for j, x in enumerate(eom.a)), eom.h[i]) for i in range(len(eom.a))]
    return sp.ImmutableDenseMatrix([shorter(row) for row in rows])


#: letter of a part → the function that derives it
DERIVED: dict[str, Callable[[EquationsOfMotion], Any]] = {
    "Gamma": christoffel_symbols,
    "C": coriolis_matrix,
    "M_rate": mass_matrix_rate,
    "h": bias_force,
    "tau": joint_force,
}


def _mass_matrix_gradient(eom: EquationsOfMotion) -> list[list[list[Any]]]:
    """dM_ijk = ∂m_ij/∂q_k."""
    return [[[m.diff(q) for q in eom.q] for m in row] for row in eom.M.tolist()]


def _array(rows: Any) -> Any:
    return sympy_library().ImmutableDenseNDimArray(rows).applyfunc(simplify_trigonometry)


def _matrix(rows: Any) -> Any:
    return sympy_library().ImmutableDenseMatrix(rows).applyfunc(simplify_trigonometry)
