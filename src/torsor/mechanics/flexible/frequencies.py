"""Small vibrations: M ẍ + K x = 0."""

from __future__ import annotations

import numpy as np

from torsor.errors import SingularError
from torsor.spatial.rigid.basis import fix_signs


def frequencies(M: np.ndarray, K: np.ndarray) -> np.ndarray:
    """Angular frequencies [rad/s], ascending: √λ of K x = λ M x; where λ < 0 the equilibrium is unstable, with −√|λ|."""
    return _signed_root(modes(M, K)[0])


def modes(M: np.ndarray, K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(λ, Φ) with K Φ = M Φ diag(λ) and ΦᵀM Φ = 1, by the Cholesky factor of M; batched.  The symmetric part of K counts.

    The largest entry of each mode is positive.
    """
    try:
        L = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        raise SingularError("the mass matrix is not positive definite here, so small vibrations have no frequencies") from None
    left = np.linalg.solve(L, (K + np.swapaxes(K, -1, -2)) / 2)
    A = np.linalg.solve(L, np.swapaxes(left, -1, -2))
    values, vectors = np.linalg.eigh((A + np.swapaxes(A, -1, -2)) / 2)
    return values, fix_signs(np.linalg.solve(np.swapaxes(L, -1, -2), vectors))


def _signed_root(values: np.ndarray) -> np.ndarray:
    return np.sign(values) * np.sqrt(np.abs(values))
