"""Helpers of the tests of beams: coordinates, energies and forces of a robot with beams, written out."""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor import Robot, algorithms
from torsor.model.terms.beams import beams_of


def joints(arm: Robot) -> list[str]:
    """The joints that are not sections of beams."""
    return [name for name in arm.joints if arm.joint(name).type != "deflection"]


def size(arm: Robot) -> int:
    """The number of modes."""
    return sum(term.beam.count for term in beams_of(arm.description))


def join(arm: Robot, x: Any, eta: Any = None) -> np.ndarray:
    """(joints, η) in one array; straight beams unless η is given.  Velocities and forces too."""
    x = np.asarray(x, float)
    eta = np.zeros(size(arm)) if eta is None else np.asarray(eta, float)
    batch = np.broadcast_shapes(x.shape[:-1], eta.shape[:-1])
    return np.concatenate([np.broadcast_to(y, (*batch, y.shape[-1])) for y in (x, eta)], axis=-1)


def stiffness(arm: Robot) -> np.ndarray:
    """The constant elastic K (nv × nv)."""
    K = np.zeros((arm.nv, arm.nv))
    for term in beams_of(arm.description):
        rows = arm.joint(term.joint).v_slice
        K[rows, rows] = term.beam.stiffness
    return K


def elastic_energy(arm: Robot, q: Any) -> Any:
    """½ ηᵀK η over any scalar."""
    K = stiffness(arm)
    n, m = arm.nq - size(arm), arm.nv - size(arm)
    eta = list(q)[n:]
    return sum(eta[i] * eta[j] * (float(K[m + i, m + j]) / 2) for i in range(len(eta)) for j in range(len(eta)))


def energy(arm: Robot, q: Any, v: Any) -> Any:
    """All of the energy, over any scalar."""
    m = arm.model
    return algorithms.kinetic_energy(m, q, v) + algorithms.potential_energy(m, q) + elastic_energy(arm, q)


def frequencies(arm: Robot, q: Any, held: str = "") -> np.ndarray:
    """Those of small vibrations, joints free or ``"locked"``."""
    return arm.modes(q, held=joints(arm) if held == "locked" else ()).frequencies


def inverse(arm: Robot, q: Any, v: Any, a: Any) -> tuple[np.ndarray, np.ndarray]:
    """(τ, η̈) of joint accelerations."""
    n = arm.nv - size(arm)
    full, tau = arm.hybrid_dynamics(q, v, join(arm, a), np.zeros(arm.nv), prescribed=joints(arm))
    return tau[..., :n], full[..., n:]


def rigid(arm: Robot) -> Robot:
    """The robot with its links as they were written."""
    return arm.with_beams({term.link: None for term in beams_of(arm.description)})
