"""One step through a singular position of a linkage, on the branch on which it arrived.

On its branch the motion y(t) is smooth also where the constraint rows lose rank; only the equations cannot be evaluated there.
Gauss's collocation needs them at s nodes on both sides, and no node is at the singular position:

    Y_i = y₀ + h Σ_j a_ij K_j,   K_i = f(t + c_i h, P(Y_i)),   y₁ = y₀ + h Σ_j b_j K_j      (order 2s)

P projects onto the constraints.  Y_i is off the branch by O(h³) at first and less with each iteration, the other branch is O(h)
away: so P finds the branch of arrival.  Hairer, Nørsett, Wanner: Solving Ordinary Differential Equations I, section II.7.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from torsor.simulate.energy_flows import lagrange_integrals
from torsor.support.user_arrays import Array

#: numbers of nodes of the step and of the step that estimates its error
NODES = (4, 6)
#: relative position of the singular position in the step: between two nodes of either, not halfway, where states are recorded
PLACE = 0.45
#: iterations of the stage equations; h times the change of the K, against the tolerance, at which they are solved
ITERATIONS, SOLVED = 60, 0.1
#: smallest tolerance: rounding near a singular position makes errors of this size [rad, m; rad/s, m/s]
ROUNDING = 1e-8


class Passage(NamedTuple):
    """y(t) of a step from t₀, y₀ on, as the polynomial y₀ + h Σ_j b_j((t − t₀)/h) K_j."""

    t: float
    h: float
    y: Array
    K: Array

    def at(self, t: float | Array) -> Array:
        """y at a time within the step, or its rows at several."""
        return self.y + self.h * lagrange_integrals(_rule(len(self.K))[0], (t - self.t) / self.h) @ self.K


def step_through(f: Callable[[float, Array], Array], t: float, y: Array, h: float, tolerance: float) -> Passage | None:
    """A step of length h; ``f`` evaluates on the constraints.  None if its error is above the tolerance."""
    tolerance = max(tolerance, ROUNDING)
    rough, fine = (_stages(f, t, y, h, s, SOLVED * tolerance) for s in NODES)
    if rough is None or fine is None:
        return None
    step = Passage(t, h, y, fine)
    error = float(np.abs(step.at(t + h) - Passage(t, h, y, rough).at(t + h)).max())
    return step if error <= tolerance else None


def _stages(f: Callable[[float, Array], Array], t: float, y: Array, h: float, s: int, small: float) -> Array | None:
    """K (s, n); None if iteration does not bring the change of y below ``small``."""
    c, A = _rule(s)
    first, n = f(t, y), len(y) // 2
    K = np.tile(first, (s, 1))
    K[:, :n] += c[:, None] * h * first[n:]  # positions along a parabola: the branch of arrival to second order
    for _ in range(ITERATIONS):
        before = K
        K = np.array([f(t + x * h, Y) for x, Y in zip(c, y + h * A @ K, strict=True)])
        if h * float(np.abs(K - before).max()) <= small:
            return K
    return None


@cache
def _rule(s: int) -> tuple[Array, Array]:
    """Gauss's nodes c (s,) in (0, 1), and a_ij = ∫₀^{c_i} ℓ_j."""
    c = (np.polynomial.legendre.leggauss(s)[0] + 1) / 2
    return c, lagrange_integrals(c, c)
