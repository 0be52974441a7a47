"""Singular positions of a linkage: found in the steps of adaptive integrators, which may leave them on another branch.

σ, the smallest singular value of the constraint rows that is not zero by redundancy, in coordinates where M is the identity,
vanishes where the rows lose rank.  Along a step it is |t − t₀| times a slope there, and no error estimate shows it: the stages
of a method lie on both sides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from torsor.errors import SingularError
from torsor.mechanics.constraints.null_space import RANK, in_metric

if TYPE_CHECKING:
    from torsor.mechanics.constraints import ConstrainedRobot

Array: TypeAlias = np.ndarray

#: intervals into which a step is divided first
PARTS = 4
#: σ against its largest value so far, and against the ends of a step, at which a position counts as singular
FLAT, DIP = 1e-4, 0.02
#: the slope of σ between samples is at most so many times the steepest seen
SAFETY = 2.0


class NoSingularPositions:
    """Of systems without constraints."""

    def check(self, start: float, end: float, at: Callable[[float], tuple[Array, Array]], first: Array) -> None:
        """There is nothing to check."""


class SingularPositions:
    """Checks each step of a run: raises where the constraint rows lose rank, or nearly so and unresolved by the step."""

    def __init__(self, held: ConstrainedRobot):
        self.held, self.rank, self.largest = held, 0, 0.0

    def check(self, start: float, end: float, at: Callable[[float], tuple[Array, Array]], first: Array) -> None:
        """A step from ``start``, where q is ``first``, to ``end``; ``at(t)`` is the state in between.

        σ is sampled, then wherever it could be small between two samples, given its slope, sampled again (Piyavskii's search).
        """
        t = np.linspace(start, end, PARTS + 1)
        s = self._spectrum(t, np.array([first, *(at(x)[0] for x in t[1:].tolist())]))
        if not self.rank:
            self.rank = max(1, int((s > RANK * s[:, :1]).sum(axis=1).max()))
        sigma = s[:, self.rank - 1]
        self.largest = max(self.largest, float(sigma.max()))
        small = max(FLAT * self.largest, DIP * float(min(sigma[0], sigma[-1])))
        slope = SAFETY * float((np.abs(np.diff(sigma)) / np.diff(t)).max())
        ends = np.array([t[:-1], t[1:]]), np.array([sigma[:-1], sigma[1:]])
        while True:
            (left, right), values = ends
            if (values <= small).any():
                self._raise(float(np.array([left, right]).flat[np.argmin(values)]))
            unclear = values.sum(axis=0) - slope * (right - left) <= 2 * small
            if not unclear.any():
                return
            left, right, values = left[unclear], right[unclear], values[:, unclear]
            middle = (left + right) / 2
            between = self._spectrum(middle, np.array([at(x)[0] for x in middle.tolist()]))[:, self.rank - 1]
            ends = (
                np.array([[*left, *middle], [*middle, *right]]),
                np.array([[*values[0], *between], [*between, *values[1]]]),
            )

    def _spectrum(self, t: Array, q: Array) -> Array:
        """Singular values of A C⁻ᵀ with M = C Cᵀ, the largest first, one row per time."""
        solver = self.held.solver
        A, M = solver.rows_and_mass(q, (t,) if solver.equations.depends_on_time else ())
        return np.linalg.svd(in_metric(M, A)[1], compute_uv=False)

    def _raise(self, t: float) -> None:
        raise SingularError(
            f"the linkage passes a singular position at t = {t:.6g} s: its constraint rows lose rank there, more motions are "
            "possible, and an adaptive integrator may continue along the wrong one; stop before it (a terminal event), or take "
            "integrator='rk4', which steps over it, and check result.audit() and result.q"
        )
