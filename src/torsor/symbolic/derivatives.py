"""Parts of the equations of motion that follow from M(q), c, g and Q by differentiation, in SymPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torsor.symbolic.expression_trigonometry import shorter, simplify_trigonometry
from torsor.symbolic.library import sympy_library

if TYPE_CHECKING:
    from torsor.symbolic.equations import EquationsOfMotion


def christoffel_symbols(eom: EquationsOfMotion) -> Any:
    """Γ_ijk = ½(∂m_ij/∂q_k + ∂m_ik/∂q_j − ∂m_jk/∂q_i), n×n×n (MR 8.17)."""
    M, q = eom.M, eom.q
    return _cube(eom, lambda i, j, k: (M[i, j].diff(q[k]) + M[i, k].diff(q[j]) - M[j, k].diff(q[i])) / 2)


def three_index_symbols(eom: EquationsOfMotion) -> Any:
    """C_ijk = ∂H_ij/∂q_k − ½ ∂H_jk/∂q_i, n×n×n (ASADA 7.2.22)."""
    M, q = eom.M, eom.q
    return _cube(eom, lambda i, j, k: M[i, j].diff(q[k]) - M[j, k].diff(q[i]) / 2)


def coriolis_matrix(eom: EquationsOfMotion) -> Any:
    """C_ij = Σ_k Γ_ijk v_k (MR 8.19)."""
    n, G, v = range(len(eom.v)), eom.Gamma, eom.v
    return _matrix([[simplify_trigonometry(sum(G[i, j, k] * v[k] for k in n)) for j in n] for i in n])


def centrifugal_force(eom: EquationsOfMotion) -> Any:
    """Σ_j Γ_ijj v_j² (ASADA 7.2.23, first sum)."""
    n, G, v = range(len(eom.v)), eom.Gamma, eom.v
    return _matrix([simplify_trigonometry(sum(G[i, j, j] * v[j] ** 2 for j in n)) for i in n])


def coriolis_force(eom: EquationsOfMotion) -> Any:
    """Σ_j≠k Γ_ijk v_j v_k (ASADA 7.2.23, second sum)."""
    n, G, v = range(len(eom.v)), eom.Gamma, eom.v
    return _matrix([simplify_trigonometry(sum(G[i, j, k] * v[j] * v[k] for j in n for k in n if j != k)) for i in n])


def mass_matrix_rate(eom: EquationsOfMotion) -> Any:
    """Ṁ = Σ_k ∂M/∂q_k v_k + ∂M/∂t."""
    rate = eom.M.applyfunc(lambda m: sum(m.diff(q) * v for q, v in zip(eom.q, eom.v, strict=True)))
    return (rate if eom.M_t is None else rate + eom.M_t).applyfunc(simplify_trigonometry)


def bias_force(eom: EquationsOfMotion) -> Any:
    """h = c + g − Q (MR 8.1)."""
    return eom.c + eom.g - eom.forces


def joint_force(eom: EquationsOfMotion) -> Any:
    """τ = M a + h (MR 8.1)."""
    sp = sympy_library()
    rows = [sp.Add(*(eom.M[i, j] * x for j, x in enumerate(eom.a)), eom.h[i]) for i in range(len(eom.a))]
    return _matrix([shorter(row) for row in rows])


#: letter of a part → the function that derives it
DERIVED: dict[str, Callable[[EquationsOfMotion], Any]] = {
    "Gamma": christoffel_symbols,
    "C": coriolis_matrix,
    "M_rate": mass_matrix_rate,
    "h": bias_force,
    "tau": joint_force,
}


def _cube(eom: EquationsOfMotion, entry: Callable[[int, int, int], Any]) -> Any:
    n = range(len(eom.q))
    rows = [[[simplify_trigonometry(entry(i, j, k)) for k in n] for j in n] for i in n]
    return sympy_library().ImmutableDenseNDimArray(rows)


def _matrix(rows: Any) -> Any:
    return sympy_library().ImmutableDenseMatrix(rows)
