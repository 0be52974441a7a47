"""Singular positions of a linkage, found in the steps of adaptive integrators, which would leave them on any branch.

σ, the smallest singular value of the constraint rows that is not zero by redundancy, in coordinates where M is the identity,
vanishes where the rows lose rank.  Along a step it is |t − t₀| times a slope there, and no error estimate shows it: the stages
of a method lie on both sides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from torsor.mechanics.constraints.null_space import RANK, in_metric
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.mechanics.constraints import ConstrainedRobot


#: intervals into which a step is divided first
PARTS = 4
#: σ relative to its largest value so far, and to the ends of a step, below which a position counts as singular
FLAT, DIP = 1e-4, 0.02
#: largest slope of σ between samples, relative to the steepest sampled slope
SAFETY = 2.0
#: samples of σ per interval, and number of times the interval is narrowed, to locate the minimum
SAMPLES, NARROWED = 17, 8


class SingularPositions:
    """The times at which the constraint rows lose rank within a step, or nearly so and unresolved by the step."""

    def __init__(self, held: ConstrainedRobot):
        self.held, self.rank, self.largest = held, 0, 0.0

    def find(self, start: float, end: float, at: Callable[[float], Array]) -> float | None:
        """The time of a singular position between ``start`` and ``end``; ``at(t)`` is q in between.

        σ is sampled, then wherever it could be small between two samples, given its slope, sampled again (Piyavskii's search).
        """
        t = np.linspace(start, end, PARTS + 1)
        if (np.diff(t) <= 0).any():  # a step of a few rounding errors
            return None
        s = self._spectrum(t, at)
        if not self.rank:
            self.rank = max(1, int((s > RANK * s[:, :1]).sum(axis=1).max()))
        sigma = s[:, self.rank - 1]
        self.largest = max(self.largest, float(sigma.max()))
        small = max(FLAT * self.largest, DIP * float(min(sigma[0], sigma[-1])))
        slope = SAFETY * float((np.abs(np.diff(sigma)) / np.diff(t)).max())
        ends = np.array([t[:-1], t[1:]]), np.array([sigma[:-1], sigma[1:]])
        while True:
            (left, right), values = ends
            low = (values <= small).any(axis=0)
            if low.any():
                around = ((2 * left - right).clip(start, end)[low], (2 * right - left).clip(start, end)[low])
                return min((x for a, b in zip(*around, strict=True) for x in self._least(a, b, (start, end), at)), default=None)
            unclear = values.sum(axis=0) - slope * (right - left) <= 2 * small
            if not unclear.any():
                return None
            left, right, values = left[unclear], right[unclear], values[:, unclear]
            middle = (left + right) / 2
            between = self._spectrum(middle, at)[:, self.rank - 1]
            ends = (
                np.array([[*left, *middle], [*middle, *right]]),
                np.array([[*values[0], *between], [*between, *values[1]]]),
            )

    def _least(self, low: float, high: float, ends: tuple[float, float], at: Callable[[float], Array]) -> list[float]:
        """[the time of the least σ between ``low`` and ``high``]; empty if that is an end of the step, which is not passed."""
        for _ in range(NARROWED):
            t = np.linspace(low, high, SAMPLES)
            k = int(np.argmin(self._spectrum(t, at)[:, self.rank - 1]))
            low, high = float(t[max(k - 1, 0)]), float(t[min(k + 1, SAMPLES - 1)])
        return [] if low == ends[0] or high == ends[1] else [(low + high) / 2]

    def _spectrum(self, t: Array, at: Callable[[float], Array]) -> Array:
        """Singular values of A C⁻ᵀ with M = C Cᵀ, the largest first, one row per time."""
        solver, q = self.held.solver, np.array([at(x) for x in t.tolist()])
        A, M = solver.rows_and_mass(q, (t,) if solver.equations.depends_on_time else ())
        return np.linalg.svd(in_metric(M, A)[1], compute_uv=False)
