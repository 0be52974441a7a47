"""Comparisons of algorithms that must agree for every robot.

Kernels are compared within 30 σ of their own rounding errors (:mod:`torsor.checks.certify.rounding`).  Arrays that the source
computes have σ = ε of the largest term of τ = M a + C v + g, once for each body: terms that cancel are rounded
before they cancel.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor import algorithms as alg
from torsor.algorithms.joining import ROUNDING
from torsor.algorithms.kinematics import joints
from torsor.checks.certify.comparison import Array, Comparison, Skip, compare, per_sample, times
from torsor.checks.certify.lagrange import lagrange
from torsor.checks.certify.rounding import EPS
from torsor.checks.certify.subject import Samples
from torsor.errors import ArgumentError, MissingExtra, ModelError, SingularError
from torsor.scalar import Dual, rate
from torsor.spatial.linear import factor, plus_diagonal


def rnea_crba(s: Samples) -> Comparison:
    """τ = M a + h: RNEA against CRBA.  σ of τ, h and M, and of the sum M a."""
    Ma, sizes = times(s.M, s.a), times(np.abs(s.M), np.abs(s.a))
    sigma = s.tau_sigma + s.h_sigma + times(s.M_sigma, np.abs(s.a)) + EPS * sizes
    return compare(s.tau, Ma + s.h, sigma, s.names, size=per_sample(s.force_sizes))


def rnea_aba(s: Samples) -> Comparison:
    """a = FD(q, v, ID(q, v, a)): ABA undoes RNEA.  σ of a, and |M⁻¹| times σ of τ: the effect of cond(M)."""
    found = compare(s.acceleration, s.a, s.acceleration_sigma(s.tau_sigma), s.names)
    return found._replace(note=f"cond(M) up to {s.condition.max():.1e}")


def rnea_lagrange(s: Samples) -> Comparison:
    """τ = d/dt ∂L/∂ẋ − ∂L/∂x, L = K − P (MR 8.3): Newton–Euler against Lagrange, for every joint type."""
    tau = lagrange(s.model, s.q, s.v, s.a)
    return compare(s.tau, tau, s.tau_sigma + s.source_sigma, s.names, size=per_sample(s.force_sizes))


def coriolis(s: Samples) -> Comparison:
    """C(q, v) v + g = h (MR 8.19)."""
    return compare(times(s.C, s.v) + s.g, s.h, s.h_sigma + s.source_sigma, s.names, size=per_sample(s.force_sizes))


def positive_definite(s: Samples) -> Comparison:
    """vᵀM v > 0: M is symmetric to the bit, and no motion has negative energy.

    The error is the asymmetry of M, or the amount of its smallest eigenvalue below zero; n ε of the largest is allowed.
    """
    eigenvalues = np.linalg.eigvalsh(s.M)
    skew = np.abs(s.M - np.swapaxes(s.M, 1, 2)).reshape(len(s.M), -1).max(axis=1)
    size = np.abs(eigenvalues).max(axis=1)
    below = np.maximum(0.0, -eigenvalues[:, 0])
    allowed = np.stack([np.zeros_like(size), s.model.nv * EPS * size], axis=1)
    return Comparison(np.stack([skew, below], axis=1), allowed, size, (("M − Mᵀ", "eigenvalue"),))


# -- energy --------------------------------------------------------------------------------------------------------------


def kinetic(s: Samples) -> Comparison:
    """K = ½ vᵀM v (MR 8.55): the sum over bodies against CRBA."""
    K = s.kernel("kinetic_energy", s.q, s.v)
    v = np.abs(s.v)
    sizes = np.einsum("si,sij,sj->s", v, np.abs(s.M), v) / 2
    sigma = s.sigma("kinetic_energy", s.q, s.v) + np.einsum("si,sij,sj->s", v, s.M_sigma, v) / 2 + EPS * sizes
    return compare(K, np.einsum("si,sij,sj->s", s.v, s.M, s.v) / 2, sigma, size=sizes)


def power(s: Samples) -> Comparison:
    """τᵀv = dK/dt + dP/dt: the power of the joints equals the rate of the energies."""
    gained = energy_rate(s, s.q, s.v, s.a)
    size = (np.abs(s.v) * s.force_sizes).sum(axis=1)
    sigma = (np.abs(s.v) * s.tau_sigma).sum(axis=1) + EPS * len(s.model.parent) * size
    return compare((s.v * s.tau).sum(axis=1), gained, sigma, size=size)


def energy_rate(s: Samples, q: Array, v: Array, a: Array) -> Array:
    """dK/dt + dP/dt along the motion, ``(samples,)``: the energy functions, over dual numbers."""
    qs, vs = list(q.T), list(v.T)
    later = alg.integrate(s.model, qs, [Dual(0, x) for x in vs], 1)
    K = alg.kinetic_energy(s.model, later, [Dual(x, y) for x, y in zip(vs, a.T, strict=True)])
    found: Any = rate(K) + rate(alg.potential_energy(s.model, later))
    return np.broadcast_to(found, (len(q),))


def wrenches(s: Samples) -> Comparison:
    """τ(f) = τ − Jᵀf: a wrench in the recursion against the Jacobian."""
    frame, f = s.tip, np.random.default_rng(s.seed).normal(size=(len(s.q), 6))
    J = s.source(alg.jacobian, s.q, frame=frame, expressed_in="body")
    loaded = s.source(alg.rnea, s.q, s.v, s.a, wrenches={frame: list(f.T)})
    size = per_sample(s.force_sizes + np.einsum("sri,sr->si", np.abs(J), np.abs(f)))
    sigma = s.tau_sigma + EPS * len(s.model.parent) * size[:, None]
    return compare(loaded, s.tau - np.einsum("sri,sr->si", J, f), sigma, s.names, size=size)


# -- O(log N) and other orders of elimination ----------------------------------------------------------------------------


def divide_and_conquer(s: Samples) -> Comparison:
    """a by joining bodies in pairs, O(log N), = a by ABA."""
    return _by_large_tree(s, "divide_and_conquer")


def odd_even(s: Samples) -> Comparison:
    """a by odd-even reduction of the constraint forces, O(log N) (F&O 28), = a by ABA."""
    return _by_large_tree(s, "constraint_force")


def _by_large_tree(s: Samples, method: str) -> Comparison:
    """The tolerance is the rounding error of elimination in another order: see :func:`_sigma_of_other_orders`."""
    from torsor.mechanics.large import LargeTree

    try:
        a = LargeTree.of(s.model).forward_dynamics(s.q, s.v, s.tau, method=method)
    except (ModelError, ArgumentError, SingularError) as error:
        raise Skip(str(error)) from error
    return compare(a, s.acceleration, _sigma_of_other_orders(s), s.names)


def sparse_elimination(s: Samples) -> Comparison:
    """a by the sparse equations of all bodies at once (F&O 27) = a by ABA; allowed as for O(log N)."""
    n = min(4, len(s.q))
    try:
        rows = []
        for q, v, tau in zip(s.q[:n], s.v, s.tau, strict=False):
            o = s.tree.operators(q, v, tau=tau)
            rows.append(o.joint_acceleration(o.by_elimination()[0]))
    except (ModelError, SingularError, MissingExtra) as error:
        raise Skip(str(error)) from error
    return compare(np.array(rows), s.acceleration[:n], _sigma_of_other_orders(s)[:n], s.names)


def _sigma_of_other_orders(s: Samples) -> Array:
    """σ of a when joints are not eliminated from the tips inwards: 20 ROUNDING (cond(M) + ρ²) |a|, ``(samples, 1)``.

    ROUNDING is the shift that keeps pivots above zero.  A body eliminated alone joins its neighbours with its own inertia
    and not with that of its subtree.  ρ is the ratio of the inertia at a joint of the body with its children to a pivot of the
    body alone: as many digits are lost, in the inward and again in the outward pass.  Bodies below LIGHT are not eliminated
    alone.  Where several light bodies follow each other, or a joint inside of the tree has six degrees of freedom, it is worse
    than that: of 65 robots the worst lost at most 2.5 times as much, a random tree (seed 8026) 15 times.
    """
    from torsor.mechanics.large.divide_and_conquer import LIGHT

    X, S = joints(s.model, list(s.q.T))
    near = list(s.model.inertia)
    for i, p in s.model.outward():
        near[p] = near[p] + X[i].T @ s.model.inertia[i]
    rows: list[Any] = list(zip(s.model.inertia, near, S, s.model.armature, strict=True))[1:]
    found: list[Any] = []
    for G, N, columns, ms in rows:
        size = [x.dot(N @ x) + m + 1e-300 for x, m in zip(columns, ms, strict=True)]
        D = [[x.dot(G @ y) for y in columns] for x in columns]
        _, inverse = factor(plus_diagonal(D, [m + n * (LIGHT / 100) for m, n in zip(ms, size, strict=True)]))
        found += [1 / (n * i) for n, i in zip(size, inverse, strict=True)]
    share = np.array([np.broadcast_to(x, (len(s.q),)) for x in found])
    rho = 1 / np.where(share < LIGHT, 1.0, share).min(axis=0)
    return (20 * ROUNDING * (s.condition + rho**2) * per_sample(s.acceleration))[:, None]
