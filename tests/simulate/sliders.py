"""Sliders in series between stops, driven from event to event in exact arithmetic: the reference for hard stops.

Body i moves along x on body i − 1, with the joint coordinate q_i, so the body velocities are sums of joint velocities:

    u = L v,   M = Lᵀ diag(m) L,   W = M⁻¹ = L⁻¹ diag(1/m) L⁻ᵀ

Between strikes the acceleration W f of constant forces f is constant.  A strike is an impulse problem of all joints that are
at a stop and do not leave it:

    v⁺ = v + W ι,   w_i = σ_i v_i⁺ + e σ_i v_i ≥ 0,   σ_i ι_i ≥ 0,   w_i ι_i = 0

(e counts where the joint moves into the stop), found by trying all sets of joints with an impulse.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import inf, sqrt
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


def wait(gap, rate, change):
    """The time until gap + rate t + ½ change t² is zero from above, inf if it never is; exact without a change of rate."""
    if gap == 0:
        return 0 if rate < 0 else -2 * rate / change if change < 0 else inf
    square = rate * rate - 2 * change * gap
    if square < 0:
        return inf
    speed = (sqrt(square) if change else abs(rate)) - rate
    return 2 * gap / speed if speed > 0 else inf


def reference(masses, lower, upper, q, v, duration, e, forces=None, most=100):
    """The motion under constant joint forces; without them in exact arithmetic."""
    number, same = (exact, 0) if forces is None else (float, 1e-13)
    W, e, end = [[number(x) for x in row] for row in mobility(masses)], number(e), number(duration)
    bounds = [(s, i, number(b[i])) for s, b in ((1, lower), (-1, upper)) for i in range(len(q))]
    q, v, t, strikes = [number(x) for x in q], [number(x) for x in v], number(0), []
    a = [sum((w * f for w, f in zip(row, forces or (), strict=False)), number(0)) for row in W]
    while len(strikes) < most:
        times = {(s, i): wait(s * (q[i] - b), s * v[i], s * a[i]) for s, i, b in bounds}
        step = min(end - t, *times.values())
        t, q = t + step, [x + step * (y + step * z / 2) for x, y, z in zip(q, v, a, strict=True)]
        v = [y + step * z for y, z in zip(v, a, strict=True)]
        if t >= end:
            return Motion(q, v, strikes)
        reached = [(s, i, b) for s, i, b in bounds if times[s, i] <= step + same or q[i] == b]
        for _, i, b in reached:
            q[i] = b
        at = {i: s for s, i, _ in reached if s * v[i] <= 0}
        strikes.append((t, tuple(i for i in at if at[i] * v[i] < 0)))
        v = impact(W, v, at, e)
    raise AssertionError(f"more than {most} strikes")
