"""Terms: joint forces with damping and friction against those without; the power of a term against its energy and heat."""

from __future__ import annotations

import numpy as np

from torsor import algorithms as alg
from torsor.algorithms.equation import EquationOfMotion
from torsor.algorithms.terms import force_of_term
from torsor.checks.certify.comparison import Array, Comparison, compare
from torsor.checks.certify.rounding import EPS
from torsor.checks.certify.subject import Samples, as_array
from torsor.scalar import Dual, rate


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


def power_of_term(name: str, s: Samples) -> Comparison:
    """fᵀv = P − dE/dt − heat: the force of a term against its energy, over dual numbers along the motion from t = 0."""
    e = EquationOfMotion(s.given.model)
    term = next(term for term in e.terms if term.name == name)
    q, v = list(s.q.T), list(s.v.T)
    at = e.at(q, v, 0.0)
    later = e.at(alg.integrate(e.model, q, [Dual(0, x) for x in v], 1), v, Dual(0.0, 1.0))
    force = as_array(force_of_term(e, term, at, [0.0] * s.model.nv), len(s.q))
    pushed, left = np.abs(force * s.v).sum(axis=1), (term.power(at), -rate(term.energy(later)), -term.heat(at))
    other = as_array(list(left), len(s.q))
    size = np.maximum(pushed, np.abs(other).sum(axis=1))
    return compare((force * s.v).sum(axis=1), other.sum(axis=1), EPS * len(s.model.parent) * size, size=size)


def _with_gain(c: Comparison, gained: Array) -> Comparison:
    """One more entry: the power that came out of a loss."""
    error = np.concatenate([c.error, np.maximum(gained, 0.0)[:, None]], axis=1)
    allowed = np.concatenate([c.allowed, np.zeros((len(gained), 1))], axis=1)
    return c._replace(error=error, allowed=allowed, labels=((*c.labels[0], "power gained"),))
