"""Small vibrations, M ẍ + D ẋ + K x = 0, and the steps that resolve them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from torsor.errors import ArgumentError, SingularError
from torsor.model.terms.beams import beams_of
from torsor.spatial.rigid.basis import fix_signs

if TYPE_CHECKING:
    from torsor.robot import Robot

#: |λ| dt up to which the Runge–Kutta method is stable; the other explicit methods are not beyond it either
STABLE = 2.8


def fastest_vibration(robot: Robot, q: np.ndarray) -> float:
    """The largest |λ| [rad/s] of M ẍ + D ẋ + K x = 0 at q, with M of the robot, K and D of its beams."""
    n = robot.nv
    K, D = np.zeros((2, n, n))
    for term in beams_of(robot.description):
        rows = robot.joint(term.joint).v_slice
        K[rows, rows] = term.beam.stiffness
        D[rows, rows] = term.beam.damping * K[rows, rows]
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(robot.mass_matrix(q), np.hstack((K, D)))]])
    return float(np.abs(np.linalg.eigvals(A)).max())


def check_step_resolves_vibrations(robot: Robot, q: np.ndarray, dt: float) -> None:
    """ArgumentError if explicit steps of dt from q, of one or many robots, diverge, as beams vibrate too fast for them."""
    if not (q.size and beams_of(robot.description)):
        return
    fastest = fastest_vibration(robot, q.reshape(-1, robot.nq)[0])
    if fastest * dt > STABLE:
        raise ArgumentError(
            f"dt = {dt:g} s is too long for the fastest vibration or damping of the beams, {fastest:.4g} rad/s: give one below "
            f"{STABLE / fastest:.2g} s; fewer modes, or beams without their stiffest direction, allow longer steps"
        )


def frequencies(M: np.ndarray, K: np.ndarray) -> np.ndarray:
    """Angular frequencies [rad/s], ascending: √λ of K x = λ M x; where λ < 0 the equilibrium is unstable, with −√|λ|."""
    values, _ = modes(M, K)
    return np.sign(values) * np.sqrt(np.abs(values))


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
