"""Velocities within limits that follow a motion as fast as these permit, over any scalar.

    v₀ = argmin ½|J v − y|² + ½ λ|v|²,      of all v with the same J v the one with the least ½|J₂ v − y₂|² + ½ η|v|²
    v, s = argmin ½ (v − s v₀)ᵀH (v − s v₀) + ½ κ (2 − s)²,      H = JᵀJ + η (J₂ᵀJ₂ + 1),    κ = ς v₀ᵀH v₀

both with E v = f, and the second, a convex quadratic program with one minimum, with l ≤ v ≤ u, G v ≤ h and 0 ≤ s ≤ 1.  Where
v₀ is within the limits it is the solution, with s = 1.  Elsewhere other joints take over, and where they cannot, s is as large
as the limits permit: with η = 10⁻⁶ and ς = 10⁻⁵, J v keeps the direction of J v₀ to about ς of its length.
"""

from __future__ import annotations

from collections.abc import Sequence

from torsor.algorithms.quadratic_program import SOFT, Program, bordered, plus_rows, quadratic_program
from torsor.algorithms.reach import normal_equations
from torsor.scalar import Scalar, Scalars, maximum, minimum, sqrt, where
from torsor.spatial.linear import dot, solve

#: η and ς: weight of motions that J does not see, and of the speed, against the direction
WEAK, SPEED = 1e-6, 1e-5

#: rows and their right-hand side
Rows = tuple[Sequence[Scalars], Scalars]


def velocity_within_limits(
    first: Rows,
    second: Rows,
    closed: Rows,
    below: Rows,
    lower: Scalars,
    upper: Scalars,
    damping: Scalar,
    slowest: Scalar,
    steps: int,
) -> tuple[list[Scalar], Scalar, Scalar]:
    """v, s from ``slowest`` to 1, and the residual of the program; of (J, y), (J₂, y₂), (E, f) and (G, h).

    Without ``steps``, v₀ and how far it is outside the limits.
    """
    (J, y), (J2, y2), (E, f), (G, h) = first, second, closed, below
    v0 = least_squares(J, y, damping, E, f)
    H, _ = normal_equations(J, y, WEAK)
    if J2:
        left = [a - dot(row, v0) for row, a in zip(J2, y2, strict=True)]
        v0 = [a + b for a, b in zip(v0, least_squares(J2, left, WEAK, [*J, *E], [0] * (len(J) + len(E))), strict=True)]
        H = [[a + WEAK * b for a, b in zip(*pair, strict=True)] for pair in zip(H, normal_equations(J2, y2, 0)[0], strict=True)]
    if not steps:
        outside: Scalar = 0.0
        for x in [l - x for l, x in zip(lower, v0, strict=True)] + [x - u for x, u in zip(v0, upper, strict=True)]:
            outside = maximum(outside, x)
        for row, x in zip(G, h, strict=True):
            outside = maximum(outside, dot(row, v0) - x)
        return v0, 1.0, outside
    Hv = [dot(row, v0) for row in H]
    kappa = SPEED * dot(v0, Hv) + SPEED * WEAK
    program = Program(
        [*([*row, -a] for row, a in zip(H, Hv, strict=True)), [*(-a for a in Hv), dot(v0, Hv) + kappa]],
        [*([0] * len(v0)), -2 * kappa],
        [*lower, slowest],
        [*upper, 1.0],
        [[*row, 0] for row in G],
        h,
        [[*row, 0] for row in E],
        f,
    )
    near = [maximum(minimum(x, u), w) for x, w, u in zip(v0, lower, upper, strict=True)]
    (*v, s), residual = quadratic_program(program, [*near, 1.0], steps)
    return v, s, residual


def least_squares(J: Sequence[Scalars], y: Scalars, damping: Scalar, E: Sequence[Scalars], f: Scalars) -> list[Scalar]:
    """argmin ½|J v − y|² + ½ λ|v|² with E v = f: (JᵀJ + λ 1) v + Eᵀz = Jᵀy, once more for the error of :data:`SOFT`."""
    H, g = normal_equations(J, y, damping)
    factors = bordered(H, E, [-SOFT] * len(E))
    v = solve(factors, [*g, *f])
    if E:
        z = plus_rows([x - dot(row, v[: len(H)]) for x, row in zip(g, H, strict=True)], E, [-x for x in v[len(H) :]])
        left = [*z, *(x - dot(row, v[: len(H)]) for x, row in zip(f, E, strict=True))]
        v = [x + y for x, y in zip(v, solve(factors, left), strict=True)]
    return v[: len(H)]


def velocity_bounds(
    room: tuple[Scalars, Scalars], v: Scalars, speed: Scalars, acceleration: Scalars, dt: Scalar, change: Scalar
) -> tuple[list[Scalar], list[Scalar]]:
    """l and u of the velocity of a step dt, from the rooms q − q_min and q_max − q, speed limits and accelerations a.

        v dt + v²/2a ≤ room,      |v| ≤ v_max,      |v − v_now| ≤ a · change

    The first is the longest step from which braking at a ends at the limit, v = 2 room/(dt + √(dt² + 2 room/a)); outside the
    limit it is the one that leads back.  It goes before the second, and the second before the third.
    """
    low, up = [], []
    for down, ahead, now, most, a in zip(*room, v, speed, acceleration, strict=True):
        least, greatest = -braking_speed(down, a, dt), braking_speed(ahead, a, dt)
        least = where(ahead < 0, minimum(least, greatest), least)  # outside, the way back goes before the other limit
        greatest = maximum(greatest, least)
        for one, other in ((-most, most), (now - a * change, now + a * change)):
            least, greatest = (maximum(minimum(x, greatest), least) for x in (one, other))
        low.append(least)
        up.append(greatest)
    return low, up


def braking_speed(room: Scalar, a: Scalar, dt: Scalar) -> Scalar:
    """v with v dt + v²/2a = room, or room/dt where that is negative."""
    return 2 * room / (dt + sqrt(dt * dt + 2 * maximum(room, 0) / a))
