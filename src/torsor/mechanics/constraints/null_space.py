"""Method 3 of F&O §3.4: the motions that the constraints allow first, with a numerical rank test (eq. 22)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from torsor.algorithms import mass_factors
from torsor.algorithms.massless import owners
from torsor.errors import SingularError
from torsor.model import Model
from torsor.spatial.linear import MASSLESS

#: singular values of the constraints (each row at unit length in the metric M⁻¹), against the largest, below which they count
#: as zero.  Their error is about 1e-16, so the smallest that counts still gives an acceleration to 1e-6.  This covers the
#: rounding of a state that closes its loops; for slightly open loops see :mod:`torsor.mechanics.constraints.local_rank`
RANK = 1e-10
#: singular values above this are trusted at a state whose loops may be slightly open; PIVOT of the kernels is its square
CLEAR = 1e-4
#: length of a row against the longest below which only rounding is left of it: it is zero here
SHORT = 1e-9


class Whitened(NamedTuple):
    """The rows A in coordinates where M is the identity, M = C Cᵀ: B = A C⁻ᵀ = diag(length) U s Vᵀ."""

    C: np.ndarray
    length: np.ndarray  #: of each row of B; infinite for a row that is zero
    U: np.ndarray
    s: np.ndarray
    Vt: np.ndarray

    @property
    def unit(self) -> np.ndarray:
        """B with its rows at length one, ``(..., k, n)``; zero rows are zero."""
        m = self.s.shape[-1]
        return (self.U[..., :m] * self.s[..., None, :]) @ self.Vt[..., :m, :]

    def rank(self, tolerance: float = RANK) -> np.ndarray:
        """Number of independent rows, state by state."""
        largest = self.s.max(axis=-1, initial=0.0, keepdims=True)
        return (self.s > tolerance * np.where(largest > 0, largest, 1.0)).sum(axis=-1)

    def has_rank(self, rank: int) -> np.ndarray:
        """Whether ``rank`` singular values are far from zero and stand out from those after them.

        A smaller one may come from a state near a singular configuration, or from drift in a row that is dependent where the
        loops are closed: the state alone does not distinguish the two.
        """
        s = self.s
        if rank > s.shape[-1]:
            return np.zeros(s.shape[:-1], bool)
        rest = s[..., rank] if rank < s.shape[-1] else np.zeros(s.shape[:-1])
        return (s[..., rank - 1] > CLEAR * s[..., 0]) & (s[..., rank - 1] > 10 * rest) if rank else rest == 0

    def motions(self, rank: np.ndarray) -> np.ndarray:
        """Velocities that keep the rows, orthonormal in the metric of M, ``(..., n, n)``; with the rank of each state given.

        They are columns, and those in the place of independent rows are zero.
        """
        keep = np.arange(self.Vt.shape[-2]) >= np.asarray(rank)[..., None]
        K = self.Vt * keep[..., None]  # rows: the null space, in coordinates where M is the identity
        return np.linalg.solve(np.swapaxes(self.C, -1, -2), np.swapaxes(K, -1, -2))

    def onto_null_space(self, rank: np.ndarray) -> np.ndarray:
        """K KᵀM, ``(..., n, n)``: the projector of velocities onto those that keep the rows."""
        K = self.motions(rank)
        return K @ ((np.swapaxes(K, -1, -2) @ self.C) @ np.swapaxes(self.C, -1, -2))

    def at(self, states: Any) -> Whitened:
        """Some states of the batch, by index or mask."""
        return Whitened(*(part[states] for part in self))


def in_metric(M: np.ndarray, A: np.ndarray, model: Model | None = None) -> tuple[np.ndarray, np.ndarray]:
    """(C, B): M = C Cᵀ and the rows in coordinates where M is the identity, B = A C⁻ᵀ.

    With the ``model`` that M belongs to, the error of a singular M names the joint.
    """
    try:
        C = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        raise SingularError(_massless(M, model)) from None
    return C, np.swapaxes(np.linalg.solve(C, np.swapaxes(A, -1, -2)), -1, -2)


def _massless(M: np.ndarray, model: Model | None) -> str:
    """Error message for mass matrices of which one has no Cholesky factor: it names the joint with the smallest pivot."""
    if model is None:
        return "the mass matrix is singular: some joint moves no mass; add inertia to the links it moves, or an armature"
    least, name = np.inf, ""
    for one in M.reshape(-1, *M.shape[-2:]):
        try:
            _, inverse = mass_factors.factor_free_part(model, one.tolist())
        except SingularError as error:
            return str(error)
        share = 1 / (np.array(inverse) * one.diagonal()[::-1])  # of M_jj that is left with the joints outward of j free
        if share.min() < least:
            least, name = float(share.min()), owners(model)[int(np.argmin(share))]
    return MASSLESS.format(name)


def in_mass_metric(M: np.ndarray, A: np.ndarray, model: Model | None = None, zero: np.ndarray | None = None) -> Whitened:
    """A in the metric of M, factored (M ``(..., n, n)``, A ``(..., k, n)``); ``zero`` marks rows, (k,), to be omitted."""
    C, B = in_metric(M, A, model)
    length = np.linalg.norm(B, axis=-1)
    counts = length > SHORT * length.max(axis=-1, initial=0.0, keepdims=True)
    if zero is not None:
        counts = counts & ~zero
    length = np.where(counts, length, np.inf)
    return Whitened(C, length, *np.linalg.svd(B / length[..., None], full_matrices=True))


def solve_with_rank(w: Whitened, f: np.ndarray, g: np.ndarray, rank: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(x, λ) with M x − Aᵀλ = f, A x = g, for a batch of states, with the rank of A given for each.  F&O 22.

    x = K y + x₀ with A K = 0 and A x₀ = g, and KᵀM K y = Kᵀ(f − M x₀).  K is the null space of A, orthonormal in the metric M,
    so KᵀM K = 1 and no further solve is needed.  Where dependent rows contradict each other, A x is as near to g as it can be,
    and the caller has to compare.  Of all λ that give the same forces, it has the smallest norm (rows at unit length).
    """
    x, lam = np.empty_like(f), np.empty_like(g)
    free = np.linalg.solve(w.C, f[..., None])[..., 0]  # C⁻¹ f
    for r in np.unique(rank):
        at = rank == r
        U, s, Vt = w.U[at][..., :, :r], w.s[at][..., :r], w.Vt[at]
        V, K = np.swapaxes(Vt[..., :r, :], -1, -2), np.swapaxes(Vt[..., r:, :], -1, -2)
        x0 = apply(V, apply(np.swapaxes(U, -1, -2), g[at] / w.length[at]) / s)
        y = apply(np.swapaxes(K, -1, -2), free[at] - x0)  # F&O 22
        white = apply(K, y) + x0  # x = K y + x₀
        x[at] = np.linalg.solve(np.swapaxes(w.C[at], -1, -2), white[..., None])[..., 0]
        lam[at] = apply(U, apply(np.swapaxes(V, -1, -2), white - free[at]) / s) / w.length[at]
    return x, lam


def apply(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A x of a batch, ``(..., m)``."""
    return (A @ x[..., None])[..., 0]
