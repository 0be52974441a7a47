"""Closing loops: from a guess to a configuration with φ(q) = 0 (F&O 16)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

#: φ below this (m, rad) is closed: rounding in a robot of some metres
CLOSED = 1e-12
_MAX_ITERATIONS = 200


class Closure(NamedTuple):
    """Result of the iteration."""

    q: np.ndarray
    error: np.ndarray  #: φ there
    closed: bool


def close(
    residual: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    integrate: Callable[[np.ndarray, np.ndarray], np.ndarray],
    q: np.ndarray,
    free: np.ndarray,
) -> Closure:
    """Gauss–Newton with Levenberg's damping, on the manifold: q ← q ⊕ δ, δ = −A⁺φ over the free coordinates.

    ``residual(q)`` is (φ, A); ``free`` marks the velocities that may change.  The damping decreases with the error, so
    that the last steps are Newton steps, and a singular A is allowed.
    """
    phi, A = residual(q)
    best, damping = float(phi @ phi), 1e-3
    last = False
    for _ in range(_MAX_ITERATIONS):
        if last or not best:
            break
        last = bool(np.abs(phi).max(initial=0.0) <= CLOSED)  # one more Newton step: to rounding
        U, s, Vt = np.linalg.svd(A[:, free], full_matrices=False)
        while True:
            ridge = damping * best
            keep = s > 1e-9 * s.max(initial=0.0)
            shrink = np.where(keep, s / np.where(keep, s * s + ridge, 1.0), 0.0)
            step = np.zeros(len(free))
            step[free] = -(Vt.T @ (shrink * (U.T @ phi)))
            size = np.abs(step).max(initial=0.0)
            step *= min(1.0, 1.0 / size) if size > 0 else 1.0  # a step of a radian or a metre at most
            trial = integrate(q, step)
            phi_trial, A_trial = residual(trial)
            total = float(phi_trial @ phi_trial)
            if total < best:
                q, phi, A, best = trial, phi_trial, A_trial, total
                damping = max(damping / 10, 1e-12)
                break
            damping *= 10
            if last or damping > 1e8 or size < 1e-15:
                return Closure(q, phi, bool(np.abs(phi).max(initial=0.0) <= 1e3 * CLOSED))
    return Closure(q, phi, bool(np.abs(phi).max(initial=0.0) <= 1e3 * CLOSED))
