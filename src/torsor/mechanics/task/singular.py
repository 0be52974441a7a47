"""Replacements for Λ where J loses rank, used on request."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.errors import ArgumentError, require_known

#: Λ may magnify by this much: beyond, fewer than four of its sixteen digits would be correct, and it is rejected
LARGEST = 1e12
#: singular values of J M^{-½} below this, against the largest, are directions lost: √(1 / LARGEST)
LOST = 1e-6
#: and below this a direction is nearly lost: 10⁶ times the mass
NEAR = 1e-3


class Singular(NamedTuple):
    """``"raise"``, ``"damped"`` or ``"truncated"``, and the number that goes with it."""

    treatment: str = "raise"
    damping: float = 0.1
    tolerance: float = NEAR

    def check_treatment(self) -> Singular:
        require_known("singular=", self.treatment, _TREATMENTS)
        if not (np.isfinite(self.damping) and self.damping > 0):
            raise ArgumentError(f"damping must be a positive number [kg^-½], not {self.damping!r}")
        if not 0 < self.tolerance < 1:
            raise ArgumentError(f"tolerance must lie between 0 and 1, not {self.tolerance!r}")
        return self

    def mass(self, A: np.ndarray) -> np.ndarray:
        """Replacement for Λ, from A = Λ⁻¹, ``(..., k, k)``: f(λ) in the place of 1/λ for each eigenvalue λ = σ² of A.

        ``"damped"``     1 / (λ + ρ²), which is (A + ρ² 1)⁻¹: the effective mass is at most 1/ρ² kg;
        ``"truncated"``  1 / λ where σ > tolerance × the largest σ, and 0 elsewhere: the pseudo-inverse.
        """
        values, axes = np.linalg.eigh(A)
        values = np.maximum(values, 0.0)
        if self.treatment == "damped":
            masses = 1.0 / (values + self.damping**2)
        else:
            kept = values > self.tolerance**2 * values[..., -1:]
            masses = np.divide(1.0, values, out=np.zeros_like(values), where=kept)
        return (axes * masses[..., None, :]) @ np.swapaxes(axes, -1, -2)


_TREATMENTS = ("raise", "damped", "truncated")
