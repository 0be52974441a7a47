"""Closed loops: the rows against differences, their forces against the equation of motion, F&O's methods against each other.

The states satisfy the loops: random ones near the neutral configuration, projected, with a velocity that satisfies them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from torsor.checks.certify import differences
from torsor.checks.certify.comparison import Array, Comparison, Skip, compare, per_sample, times
from torsor.checks.certify.rounding import EPS
from torsor.mechanics.constraints import closing
from torsor.mechanics.constraints.closure import CLOSED

if TYPE_CHECKING:
    from torsor.checks.certify.subject import Samples
    from torsor.mechanics.constraints import ConstrainedRobot

#: F&O's methods beside the one in use
METHODS = ("direct", "multipliers", "null_space")
#: distance of the guesses from the neutral configuration [rad, m]
GUESS_DISTANCE = 0.2


@dataclass(frozen=True)
class LoopSamples:
    """A system under its loops, at states that keep them; a and λ by ``robot.constrained()``."""

    system: ConstrainedRobot
    q: Array
    v: Array
    tau: Array
    a: Array
    multipliers: Array
    A: Array
    M: Array
    h: Array

    @classmethod
    def of(cls, s: Samples) -> LoopSamples:
        system, rng = s.robot.constrained(), np.random.default_rng(s.seed)
        guesses = s.robot.integrate(s.robot.neutral(), GUESS_DISTANCE * rng.normal(size=(len(s.q), s.robot.nv)), 1.0)
        every = np.ones(s.robot.nv, bool)
        ends = [closing.close_loops(system, guess, every, None) for guess in guesses]
        q = np.array([end.q for end in ends if end.closed])
        if not len(q):
            raise Skip(f"no closed configuration was found from {len(guesses)} guesses near the neutral one")
        v = system.project_velocity(q, rng.normal(size=(len(q), s.robot.nv)))
        h = s.tree.bias_force(q, v)
        tau = rng.normal(size=v.shape) * (1 + per_sample(h))[:, None]
        a, multipliers = system.forward_dynamics(q, v, tau)
        return cls(system, q, v, tau, a, multipliers, system.jacobian(q), s.tree.mass_matrix(q), h)

    @property
    def condition(self) -> Array:
        """cond(A M⁻¹Aᵀ) of the independent rows, scaled to unit length: the magnification of errors in λ."""
        rows = self.A[:, list(self.system.independent_rows)]
        gram = rows @ np.linalg.solve(self.M, np.swapaxes(rows, 1, 2))
        scale = np.sqrt(np.einsum("skk->sk", gram))
        return np.linalg.cond(gram / (scale[:, :, None] * scale[:, None, :])) if gram.size else np.ones(len(rows))

    @property
    def accuracy(self) -> Array:
        """ε times both condition numbers, ``(samples,)``: relative accuracy of a and λ."""
        return EPS * self.condition * np.linalg.cond(self.M)


def jacobian(s: Samples) -> Comparison:
    """A u = dφ/dt along a motion u that opens the loops, by differences (see :mod:`torsor.checks.certify.differences`)."""
    c, keep = s.loop_samples, s.loop_samples.system.holonomic
    u = np.random.default_rng(s.seed).normal(size=c.v.shape)
    u /= np.abs(u).sum(axis=1, keepdims=True)
    slope = differences.derivative_along(s, c.system.residual, c.q, u)
    moved = times(c.A, u)
    labels = tuple(name for name, kept in zip(c.system.rows, keep, strict=True) if kept)
    return _compare_with_differences(moved[:, keep], slope[:, keep], per_sample(c.A), labels)


def drift(s: Samples) -> Comparison:
    """Ȧv by the kernel against differences of A v along the motion."""
    c = s.loop_samples
    speed = np.abs(c.v).sum(axis=1, keepdims=True)
    slope = differences.derivative_along(s, lambda q: times(c.system.jacobian(q), c.v), c.q, c.v / speed) * speed
    return _compare_with_differences(c.system.drift(c.q, c.v), slope, per_sample(c.A) * speed[:, 0] ** 2, c.system.rows)


def loops_stay_closed(s: Samples) -> Comparison:
    """A a + Ȧv = 0: the acceleration keeps the loops.  Redundant rows follow from the others as far as the loops are closed."""
    c = s.loop_samples
    drifted = c.system.drift(c.q, c.v)
    gap = times(c.A, c.a) + drifted
    size = per_sample(times(np.abs(c.A), np.abs(c.a)) + np.abs(drifted))
    sigma = (c.accuracy + CLOSED) * size
    return compare(gap, np.zeros_like(gap), sigma[:, None], c.system.rows, size=size)


def balance(s: Samples) -> Comparison:
    """M a + h = τ + Aᵀλ (F&O 19): the residual of the equation of motion."""
    c = s.loop_samples
    force = np.einsum("skn,sk->sn", c.A, c.multipliers)
    size = per_sample(times(np.abs(c.M), np.abs(c.a)) + np.abs(c.h) + np.abs(c.tau) + np.abs(force))
    left = times(c.M, c.a) + c.h
    return compare(left, c.tau + force, (c.accuracy * size)[:, None], s.names, size=size)


def no_constraint_power(s: Samples) -> Comparison:
    """λᵀA v = 0: the loops do no work."""
    c = s.loop_samples
    terms = c.multipliers * times(c.A, c.v)
    size = np.einsum("sk,skn,sn->s", np.abs(c.multipliers), np.abs(c.A), np.abs(c.v))
    return compare(terms.sum(axis=1), np.zeros(len(size)), (c.accuracy + CLOSED) * size, size=size)


def power(s: Samples) -> Comparison:
    """τᵀv = dK/dt + dP/dt of the motion under loops: no equation of constraints on either side."""
    from torsor.checks.certify.relations import energy_rate

    c = s.loop_samples
    Ma = times(np.abs(c.M), np.abs(c.a))
    size = (np.abs(c.v) * (Ma + np.abs(c.h) + np.abs(c.tau))).sum(axis=1)
    return compare((c.tau * c.v).sum(axis=1), energy_rate(s, c.q, c.v, c.a), (c.accuracy + CLOSED) * size, size=size)


def methods(s: Samples) -> Comparison:
    """a by F&O's three methods (eqs. 20, 21, 22) = a by the one in use; twice, since both sides are off."""
    c = s.loop_samples
    others = np.stack([c.system.forward_dynamics(c.q, c.v, c.tau, method=way).a for way in METHODS], axis=1)
    sigma = 2 * (c.accuracy + CLOSED) * per_sample(c.a)
    return compare(others, np.broadcast_to(c.a[:, None], others.shape), sigma[:, None, None], METHODS)


def _compare_with_differences(found: Array, slope: Array, size: Array, labels: Sequence[str]) -> Comparison:
    """Tolerance for differences of rows that are accurate to ε of their largest entry."""
    return differences.with_truncation(
        compare(found, slope, (differences.ROUNDING_GAIN * EPS * size)[:, None], labels, size=size)
    )
