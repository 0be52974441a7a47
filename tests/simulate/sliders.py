"""Sliders in series between stops, driven from event to event in exact arithmetic: the reference for hard stops.

Body i moves along x on body i − 1, with the joint coordinate q_i, so the body velocities are sums of joint velocities:

    u = L v,   M = Lᵀ diag(m) L,   W = M⁻¹ = L⁻¹ diag(1/m) L⁻ᵀ

Between strikes v is constant.  A strike is an impulse problem of all joints that are at a stop and do not leave it:

    v⁺ = v + W ι,   w_i = σ_i v_i⁺ + e σ_i v_i ≥ 0,   σ_i ι_i ≥ 0,   w_i ι_i = 0

(e counts where the joint moves into the stop), found by trying all sets of joints with an impulse.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

import torsor as ts


class Motion(NamedTuple):
    """The end of a motion and its strikes, (time, joints) each."""

    q: list[Fraction]
    v: list[Fraction]
    strikes: list[tuple[Fraction, tuple[int, ...]]]


def exact(x):
    """The decimal number that a user types, as a fraction."""
    return x if isinstance(x, Fraction) else Fraction(str(x))


def series(masses, lower, upper, *, gravity=(0, 0, 0), axis=(1, 0, 0)):
    """Sliders in series with stops, as a robot."""
    build = ts.Builder("sliders").link("ground")
    below = "ground"
    for k, m in enumerate(masses):
        build.link(f"body{k}", mass=float(m))
        limits = {"lower": float(lower[k]), "upper": float(upper[k])}
        build.joint(f"x{k}", "prismatic", below, f"body{k}", axis=axis, **limits)
        below = f"body{k}"
    return build.build().with_gravity(gravity)


def mobility(masses):
    """W = M⁻¹ of sliders in series: L⁻¹ has 1 on its diagonal and −1 below."""
    n, inverse = len(masses), [1 / exact(m) for m in masses]
    W = [[Fraction(0)] * n for _ in range(n)]
    for i in range(n):
        W[i][i] = inverse[i] + (inverse[i - 1] if i else 0)
        if i:
            W[i][i - 1] = W[i - 1][i] = -inverse[i - 1]
    return W


def kinetic_energy(masses, v):
    """½ Σ m_i (v_1 + ... + v_i)²."""
    return sum(m * sum(v[: i + 1]) ** 2 for i, m in enumerate(masses)) / 2


def impact(W, v, sides, e):
    """v⁺ of the joints {row: side} that are at a stop; ``sides`` may include joints at rest."""
    rows = sorted(sides)
    target = {i: -e * v[i] if sides[i] * v[i] < 0 else Fraction(0) for i in rows}
    for size in range(len(rows) + 1):
        for some in combinations(rows, size):
            iota = _solve([[W[i][j] for j in some] for i in some], [target[i] - v[i] for i in some])
            after = [v[i] + sum(W[i][j] * x for j, x in zip(some, iota, strict=True)) for i in range(len(v))]
            pushing = all(sides[i] * x >= 0 for i, x in zip(some, iota, strict=True))
            if pushing and all(sides[i] * (after[i] - target[i]) >= 0 for i in rows):
                return after
    raise AssertionError("W is positive definite, so there is a solution")


def _solve(A, b):
    """A⁻¹ b by elimination; A is positive definite."""
    A, n = [[*row, x] for row, x in zip(A, b, strict=True)], len(b)
    for i in range(n):
        for j in range(n):
            if j != i:
                factor = A[j][i] / A[i][i]
                A[j] = [x - factor * y for x, y in zip(A[j], A[i], strict=True)]
    return [A[i][n] / A[i][i] for i in range(n)]


def reference(masses, lower, upper, q, v, duration, e, most=100):
    """The motion without forces, in exact arithmetic."""
    W, e, end = mobility(masses), exact(e), exact(duration)
    bounds = [(1, [exact(x) for x in lower]), (-1, [exact(x) for x in upper])]
    q, v, t = [exact(x) for x in q], [exact(x) for x in v], Fraction(0)
    strikes = []
    for _ in range(most):
        stops = [(i, s, s * (q[i] - b[i])) for s, b in bounds for i in range(len(q))]
        wait = min((-gap / (s * v[i]) for i, s, gap in stops if s * v[i] < 0), default=end)
        if t + wait >= end:
            return Motion([x + (end - t) * y for x, y in zip(q, v, strict=True)], v, strikes)
        t, q = t + wait, [x + wait * y for x, y in zip(q, v, strict=True)]
        at = {i: s for s, b in bounds for i in range(len(q)) if q[i] == b[i] and s * v[i] <= 0}
        strikes.append((t, tuple(i for i in at if at[i] * v[i] < 0)))
        v = impact(W, v, at, e)
    raise AssertionError(f"more than {most} strikes")
