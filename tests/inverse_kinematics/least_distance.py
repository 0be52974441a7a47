"""Quadratic programs by least distance programming, with nonnegative least squares (Lawson & Hanson 1974, chapter 23)."""

import numpy as np
from scipy.optimize import nnls


def solve_program(H, g, lower, upper, G=None, h=None, E=None, f=None):
    """argmin ½ xᵀH x + gᵀx with l ≤ x ≤ u, G x ≤ h and E x = f, one program.

    x = x₀ + N y takes out the equations, y = y₀ + L⁻ᵀz with H = L Lᵀ makes it min |z| with A z ≤ b: z = −Aᵀλ.
    """
    n = len(g)
    x0, N = np.zeros(n), np.eye(n)
    if E is not None and len(E):
        x0 = np.linalg.lstsq(E, f, rcond=None)[0]
        _, size, V = np.linalg.svd(E)
        N = V[np.sum(size > 1e-9 * size[0]) :].T
    A = np.vstack([-np.eye(n), np.eye(n), *([G] if G is not None else [])])
    b = np.concatenate([-lower, upper, *([h] if h is not None else [])])
    A, b = A[b < 1e8], b[b < 1e8]
    L = np.linalg.cholesky(N.T @ H @ N)
    y0 = -np.linalg.solve(N.T @ H @ N, N.T @ (g + H @ x0))
    if not len(A):
        return x0 + N @ y0
    rows, rest = np.linalg.solve(L, (A @ N).T).T, b - A @ (x0 + N @ y0)
    weight = np.linalg.norm(rows, axis=1) + 1e-300
    rows, rest = rows / weight[:, None], rest / weight
    scale = max(np.abs(rest).max(initial=0), 1e-12)
    u, _ = nnls(np.vstack([-rows.T, -rest / scale]), np.append(np.zeros(len(L)), 1.0), maxiter=10_000)
    r = np.vstack([-rows.T, -rest / scale]) @ u - np.append(np.zeros(len(L)), 1.0)
    z = -r[:-1] / r[-1] * scale
    active = u > 0
    if active.any():  # once more, with the active rows as equations
        z = np.linalg.lstsq(rows[active], rest[active], rcond=None)[0]
    return x0 + N @ (y0 + np.linalg.solve(L.T, z))
