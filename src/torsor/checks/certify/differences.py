"""Kernels differentiated by differences: gradients, Jacobians and rates against the kernels that compute them directly.

f′ ≈ (8 (f₁ − f₋₁) − (f₂ − f₋₂)) / 12h with f_k = f(x + k h) leaves out h⁴/30 of the fifth derivative.  For h = 1e-4 rad (or m)
that is some 1e-13 of f even where ten joints turn together, and a hundred times as much is allowed.  Rounding errors grow by
1.5/h, so 30 σ of the kernel count that often.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from torsor.algorithms.task_space import TWIST
from torsor.checks.certify.comparison import Array, Comparison, broadcast_samples, compare, per_sample
from torsor.checks.certify.subject import Samples

#: the step [rad, m], and the truncation error of the formula relative to the largest f
STEP, TRUNCATED = 1e-4, 1e-11
#: the formula's weights, and their magnification of rounding errors: Σ|w| / h
WEIGHTS = {-2: 1 / 12, -1: -8 / 12, 1: 8 / 12, 2: -1 / 12}
ROUNDING_GAIN = 1.5 / STEP


def derivative_along(s: Samples, f: Callable[[Array], Array], q: Array, u: Array) -> Array:
    """df/dt of f(q ⊕ t u) at t = 0; the leading axes of q and u broadcast."""
    moved = {k: s.kernel("integrate", q, u, np.array(k * STEP)) for k in WEIGHTS}
    return np.sum([weight * f(moved[k]) for k, weight in WEIGHTS.items()], axis=0) / STEP


def gravity(s: Samples) -> Comparison:
    """g = ∂P/∂q"""
    unit = np.broadcast_to(np.eye(s.model.nv), (len(s.q), s.model.nv, s.model.nv))
    slope = derivative_along(s, lambda q: s.kernel("potential_energy", q), s.q[:, None], unit)
    P, sigma = s.kernel("potential_energy", s.q), s.sigma("potential_energy", s.q)
    size = np.abs(P) + per_sample(s.g)
    found = compare(s.g, slope, ROUNDING_GAIN * sigma[:, None], s.names, size=size)
    return with_truncation(found)


def jacobian(s: Samples) -> Comparison:
    """J = ∂T/∂q: the columns of the Jacobian compared with the change of the pose of the furthest frame, (ω, ṗ)."""
    frame, n = s.tip, s.model.nv
    unit = np.broadcast_to(np.eye(n), (len(s.q), n, n))
    T, slope = s.kernel(("pose", frame), s.q), derivative_along(s, lambda q: s.kernel(("pose", frame), q), s.q[:, None], unit)
    W = np.einsum("snij,skj->snik", slope[..., :3, :3], T[:, :3, :3])  # [ω] = Ṙ Rᵀ
    columns = np.concatenate([np.stack([W[..., 2, 1], W[..., 0, 2], W[..., 1, 0]], axis=-1), slope[..., :3, 3]], axis=-1)
    sigma = per_sample(s.sigma(("pose", frame), s.q))
    J = np.swapaxes(s.kernel(("jacobian", frame), s.q), 1, 2)
    size = per_sample(T) + per_sample(J)
    return with_truncation(compare(J, columns, 3 * ROUNDING_GAIN * sigma[:, None, None], s.names, TWIST, size=size))


def mass_matrix_rate(s: Samples) -> Comparison:
    """dM/dt = C + Cᵀ along the motion: that Ṁ − 2C is skew (MR Prop. 8.1)."""
    speed = np.abs(s.v).sum(axis=1)[:, None, None]  # the step is shared out over all joints
    slope = derivative_along(s, lambda q: s.kernel("mass_matrix", q), s.q, s.v / speed[:, 0]) * speed
    size = per_sample(s.M) * speed[:, 0, 0] + per_sample(s.C)
    found = compare(s.C + np.swapaxes(s.C, 1, 2), slope, ROUNDING_GAIN * speed * s.M_sigma, s.names, s.names, size=size)
    return with_truncation(found)


def with_truncation(c: Comparison) -> Comparison:
    """The truncation error is added to the tolerance."""
    return c._replace(allowed=c.allowed + TRUNCATED * broadcast_samples(c.size, c.error))
