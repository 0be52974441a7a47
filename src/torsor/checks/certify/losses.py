"""Friction: the joint forces with it against those without, and that it only ever takes energy away."""

from __future__ import annotations

import numpy as np

from torsor.checks.certify.comparison import Array, Comparison, compare
from torsor.checks.certify.rounding import EPS
from torsor.checks.certify.subject import Samples


def damping(s: Samples) -> Comparison:
    """τ(damping) = τ + D v, D from the model's own numbers: that of a coupled joint counts k² times."""
    D = np.zeros(s.model.nv)
    for i, _ in s.model.outward():
        coupling = s.model.coupling[i]
        gain = 1.0 if coupling is None else float(coupling.k)
        for d, x in enumerate(s.model.damping[i]):
            D[s.model.v_start[i] + d] += gain * gain * float(x)
    lost = D * s.v
    damped = s.tree.with_damping(True).inverse_dynamics(s.q, s.v, s.a)
    return compare(damped, s.tau + lost, s.tau_sigma + 4 * EPS * (np.abs(s.tau) + np.abs(lost)), s.names)


def friction(s: Samples) -> Comparison:
    """τ(friction) = τ + τ_fric(v, τ), and τ_fricᵀv ≥ 0: power that friction adds to the motion is an error."""
    lost = s.rubbing.friction_force(s.v, load=s.tau)
    rubbed = s.rubbing.inverse_dynamics(s.q, s.v, s.a)
    sigma = s.tau_sigma + 4 * EPS * (np.abs(s.tau) + np.abs(lost))
    return _with_gain(compare(rubbed, s.tau + lost, sigma, s.names), -(lost * s.v).sum(axis=1))


def _with_gain(c: Comparison, gained: Array) -> Comparison:
    """One more entry: the power that came out of a loss."""
    error = np.concatenate([c.error, np.maximum(gained, 0.0)[:, None]], axis=1)
    allowed = np.concatenate([c.allowed, np.zeros((len(gained), 1))], axis=1)
    return c._replace(error=error, allowed=allowed, labels=((*c.labels[0], "power gained"),))
