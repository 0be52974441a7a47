"""Method 3 of F&O §3.4: the motions that the constraints allow first, with a numerical rank test (eq. 22)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.errors import SingularError

#: singular values of the constraints (each row at unit length in the metric M⁻¹), against the largest, below which a row
#: says nothing new; loops are closed to some 1e-12 in what people simulate, so this is far from both
RANK = 1e-7
#: length of a row against the longest below which only rounding is left of it: it is zero here
SHORT = 1e-9


class Whitened(NamedTuple):
    """The rows A in coordinates where M is the identity, M = C Cᵀ: B = A C⁻ᵀ = diag(length) U s Vᵀ."""

    C: np.ndarray
    length: np.ndarray
    U: np.ndarray
    s: np.ndarray
    Vt: np.ndarray

    def rank(self, tolerance: float = RANK) -> np.ndarray:
        """How many rows are independent, state by state."""
        largest = self.s.max(axis=-1, initial=0.0, keepdims=True)
        return (self.s > tolerance * np.where(largest > 0, largest, 1.0)).sum(axis=-1)


def in_metric(M: np.ndarray, A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(C, B): M = C Cᵀ and the rows in coordinates where M is the identity, B = A C⁻ᵀ."""
    try:
        C = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        raise SingularError(
            "the mass matrix of the spanning tree is singular: some joint moves no mass; add inertia to the links it carries, "
            "an armature to the joint, or lock it (robot.lock)"
        ) from None
    return C, np.swapaxes(np.linalg.solve(C, np.swapaxes(A, -1, -2)), -1, -2)


def whitened(M: np.ndarray, A: np.ndarray) -> Whitened:
    """A in the metric of M, taken apart (M ``(..., n, n)``, A ``(..., k, n)``)."""
    C, B = in_metric(M, A)
    length = np.linalg.norm(B, axis=-1)
    said = length > SHORT * length.max(axis=-1, initial=0.0, keepdims=True)
    length = np.where(said, length, 1.0)
    unit = np.where(said[..., None], B / length[..., None], 0.0)
    return Whitened(C, length, *np.linalg.svd(unit, full_matrices=True))


def null_space(
    M: np.ndarray, A: np.ndarray, f: np.ndarray, g: np.ndarray, tolerance: float = RANK
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(x, λ, rank) with M x − Aᵀλ = f, A x = g, for a batch of states whatever the rank of A.  F&O 22.

    x = K y + x₀ with A K = 0 and A x₀ = g, and KᵀM K y = Kᵀ(f − M x₀).  K is the null space of A, orthonormal in the metric M,
    so KᵀM K = 1 and nothing is left to solve.  Where dependent rows contradict each other (a state off its
    loops), A x is as near to g as it can be.  Of all λ that give the same forces, it is the shortest (rows at unit length).
    """
    w = whitened(M, A)
    rank = w.rank(tolerance)
    x, lam = np.empty_like(f), np.empty_like(g)
    free = np.linalg.solve(w.C, f[..., None])[..., 0]  # C⁻¹ f
    for r in np.unique(rank):
        at = rank == r
        U, s, Vt = w.U[at][..., :, :r], w.s[at][..., :r], w.Vt[at]
        V, K = np.swapaxes(Vt[..., :r, :], -1, -2), np.swapaxes(Vt[..., r:, :], -1, -2)
        x0 = _apply(V, _apply(np.swapaxes(U, -1, -2), g[at] / w.length[at]) / s)
        y = _apply(np.swapaxes(K, -1, -2), free[at] - x0)  # F&O 22
        white = _apply(K, y) + x0  # x = K y + x₀
        x[at] = np.linalg.solve(np.swapaxes(w.C[at], -1, -2), white[..., None])[..., 0]
        lam[at] = _apply(U, _apply(np.swapaxes(V, -1, -2), white - free[at]) / s) / w.length[at]
    return x, lam, rank


def _apply(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    return (A @ x[..., None])[..., 0]
