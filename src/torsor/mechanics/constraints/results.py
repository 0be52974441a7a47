"""Results of the dynamics under constraints, and the gains of their stabilization."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class ConstrainedMotion(NamedTuple):
    """The acceleration and the multipliers: M a + h = τ + Aᵀλ, A a = −(Ȧv − ḃ)."""

    a: np.ndarray  #: (..., nv)
    multipliers: np.ndarray  #: λ (..., k), acting on the robot: F&O's sign, the opposite of MR's


class Impact(NamedTuple):
    """The velocity after an impact on the constraints, and the impulses: M (v⁺ − v⁻) = Aᵀι."""

    v: np.ndarray  #: v⁺ (..., nv)
    impulses: np.ndarray  #: ι (..., k) [N·s, N·m·s], acting on the robot


class Stabilization(NamedTuple):
    """Baumgarte's gains: φ̈ + 2 decay φ̇ + stiffness² φ = 0 in place of φ̈ = 0 [1/s]; equal ones are critically damped."""

    decay: float = 10.0
    stiffness: float = 10.0
