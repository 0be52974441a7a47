"""F&O 27 in its perfect elimination order: O(N) factors of a matrix that is sparse because the tree is.

The unknowns are the accelerations a and the constraint forces β.  Body i is coupled to its joint's β_i, and β_i to the
parent's a_λ(i): as a graph the matrix is the tree itself, each body a small clique.  In an order from the tips, with a_i
before β_i, eliminating body i changes only one block, the parent's: I^A accumulates there, and the result is the
articulated-body algorithm (F&O §3.5; Baraff 1996).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from torsor.errors import SingularError
from torsor.mechanics.operators.assembly import rotors, scipy_sparse
from torsor.mechanics.operators.bodies import Array, BodyArrays

#: determinant of I_i, its diagonal scaled to ones, below which it is not a pivot: point masses, thin rods, massless bodies
FLAT = 1e-9


class Elimination(NamedTuple):
    """The factors of F&O 27's matrix: K[order, order] = L U, and the terms added to K for bodies without a usable pivot."""

    K: Any
    order: Array
    lu: Any
    T: Any
    weight: Array

    def solve(self, force: Array, rate: Array) -> tuple[Array, Array]:
        """(a, β) with I a − T β = force and Tᵀ a = rate (F&O 27)."""
        unknowns = np.empty(self.K.shape[0])
        unknowns[self.order] = self.lu.solve(np.concatenate([force + self.T @ (self.weight * rate), rate])[self.order])
        a, minus = np.split(unknowns, [len(force)])
        return a, -minus


def elimination_order(b: BodyArrays, constrained: Array) -> Array:
    """The unknowns (a, rotors, β) from the tips to the base, body by body, accelerations before constraint forces.

    ``constrained`` is the body that each column of T is ordered with.
    """
    body = np.concatenate([np.repeat(np.arange(len(b)), 6), b.body[rotors(b)], constrained])
    last = np.arange(len(body)) >= len(body) - len(constrained)
    return np.lexsort((np.arange(len(body)), last, -body))


def kkt_matrix(I: Any, T: Any) -> Any:
    """[[I, T], [Tᵀ, 0]] (F&O 27)."""
    return scipy_sparse().block_array([[I, T], [T.T, None]], format="csc")


def eliminate(b: BodyArrays, I: Any, T: Any, constrained: Array) -> Elimination:
    """The factors of F&O 27's matrix, without pivoting: in this order none is needed where every I_i is positive definite.

    A body whose own inertia is not (a point mass, a massless link) is stiffened by ρ T_i T_iᵀ, which changes no solution since
    Tᵀ a is given, and no zero outside the tree's pattern.  The remaining failure is that of the articulated-body algorithm,
    too: a joint that moves no mass.
    """
    weight = np.where(is_flat(b), np.abs(b.I).max(initial=0.0), 0.0)[constrained]  # ρ, the size of the largest inertia
    stiffened = I + T @ scipy_sparse().diags_array(weight) @ T.T if weight.any() else I
    K = kkt_matrix(stiffened, T)
    order = elimination_order(b, constrained)
    options = {"SymmetricMode": True, "Equil": False}
    permuted = K[order][:, order].tocsc()
    try:
        lu = scipy_sparse().linalg.splu(permuted, "NATURAL", diag_pivot_thresh=0.0, relax=1, options=options)
    except RuntimeError:  # SuperLU raises this for a zero pivot
        raise SingularError(
            "a joint moves no mass, so no torque gives it a finite acceleration; robot.forward_dynamics names it; "
            "add inertia to the links it moves, or an armature to the joint"
        ) from None
    return Elimination(K, order, lu, T, weight)


def is_flat(b: BodyArrays) -> Array:
    """(N,) whether a body's own inertia is too near a singular matrix to be a pivot."""
    diagonal = np.abs(np.einsum("nii->ni", b.I))
    largest = np.repeat(diagonal.reshape(-1, 2, 3).max(axis=2), 3, axis=1)  # of the moments, and the mass
    scale = np.sqrt(np.where(diagonal > FLAT * largest, diagonal, np.inf))  # a rod's moment about itself is rounding
    return np.linalg.det(b.I / (scale[:, :, None] * scale[:, None, :])) < FLAT
