"""The composite-rigid-body algorithm: the mass matrix."""

from __future__ import annotations

from torsor.algorithms import rotors
from torsor.algorithms.kinematics import joints
from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars
from torsor.spatial import plus_diagonal, symmetrize


def crba(model: Model, q: Scalars) -> list[list[Scalar]]:
    """The mass matrix M(q), symmetric bit for bit.

    F&O §3.2, eqs. 9–10; MR eq. 8.57.
    """
    X, S = joints(model, q)
    I, drive, spin = list(model.inertia), rotors.apparent_inertia(model), rotors.reflected_inertia(model)
    M: dict[tuple[int, int], list[list[Scalar]]] = {}
    for i, p in model.inward():
        F = [I[i] @ column for column in S[i]]
        M[i, i] = plus_diagonal(symmetrize(S[i].T @ F), drive[i])  # F&O 10
        j = i
        while model.parent[j] > 0:
            F = [X[j].T @ f for f in F]
            j = model.parent[j]
            F = rotors.add_rotor_forces(spin, i, j, F)  # MR 8.110
            M[j, i] = S[j].T @ F  # F&O 10
            M[i, j] = [list(row) for row in zip(*M[j, i], strict=True)]
        I[p] = I[p] + X[i].T @ I[i]  # F&O 9
    return model.gather_matrix(M)
