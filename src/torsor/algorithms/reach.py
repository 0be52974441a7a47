"""One step of inverse kinematics within limits, over any scalar: damped least squares (Levenberg 1944; Sugihara 2011).

    (JᵀJ + λ 1) d = Jᵀe,    λ = 0.1 · ½|e|² + 10⁻¹²

A joint at a limit that the step would push outward is held; joints that the step takes past a limit are put on it, and the
others solved once more.  Every step is taken: the damping vanishes with the error, so that the last steps are Newton's.
"""

from __future__ import annotations

from collections.abc import Sequence

from torsor.algorithms.equation.constrained import largest
from torsor.scalar import Scalar, Scalars, maximum, minimum, where
from torsor.spatial.linear import dot, factor_free, solve

#: λ per ½|e|², and the least λ
DAMPING, LEAST = 0.1, 1e-12
#: the longest step of a coordinate [rad, m]
LONGEST = 1.0
#: weight of the first level against the second, relative to their own sizes
FIRST = 1e6


def reaching_step(e: Scalars, J: Sequence[Scalars], down: Scalars, up: Scalars) -> list[Scalar]:
    """d with J d ≈ e and down ≤ d ≤ up, the ways to the limits, |d| ≤ :data:`LONGEST`."""
    H, g = normal_equations(J, e, DAMPING / 2 * dot(e, e) + LEAST)
    free = [where(x > 0, where(u <= 0, 0, 1), where(w >= 0, 0, 1)) for w, u, x in zip(down, up, g, strict=True)]
    d = solve(factor_free(H, free), g)
    stopped = [maximum(minimum(x, u), w) for x, w, u in zip(d, down, up, strict=True)]
    still = [where(x > u, 0, where(x < w, 0, f)) for x, w, u, f in zip(d, down, up, free, strict=True)]
    moved = [x * (f - s) for x, f, s in zip(stopped, free, still, strict=True)]
    rest = [x - dot(row, moved) for x, row in zip(g, H, strict=True)]
    d = [x + y for x, y in zip(moved, solve(factor_free(H, still), rest), strict=True)]
    return limit_length([maximum(minimum(x, u), w) for x, w, u in zip(d, down, up, strict=True)])


def normal_equations(J: Sequence[Scalars], e: Scalars, damping: Scalar) -> tuple[list[list[Scalar]], list[Scalar]]:
    """JᵀJ + λ 1 and Jᵀe."""
    columns = list(zip(*J, strict=True))
    H = [[dot(a, b) + (damping if a is b else 0) for b in columns] for a in columns]
    return H, [dot(column, e) for column in columns]


def second_level(
    d: Scalars, first: tuple[Scalars, Sequence[Scalars]], second: tuple[Scalars, Sequence[Scalars]], down: Scalars, up: Scalars
) -> tuple[list[Scalar], Scalar]:
    """d + N z, z for the second rows e₂, J₂ in the null space of the first, and |N z| (Nakamura, Hanafusa & Yoshikawa 1987).

    (ρ J₁ᵀJ₁ + J₂ᵀJ₂ + λ 1) z = J₂ᵀ(e₂ − J₂ d),    N z = z − (J₁ᵀJ₁ + λ 1)⁻¹ J₁ᵀJ₁ z
    """
    (e1, J1), (e2, J2) = first, second
    H1, _ = normal_equations(J1, e1, 0)
    left = [x - dot(row, d) for x, row in zip(e2, J2, strict=True)]
    H2, g = normal_equations(J2, left, DAMPING / 2 * dot(e2, e2) + LEAST)
    size = sum(H2[i][i] for i in range(len(d))) / (sum(H1[i][i] for i in range(len(d))) + LEAST)
    one = [1] * len(d)
    both = [[x + FIRST * size * y for x, y in zip(a, b, strict=True)] for a, b in zip(H2, H1, strict=True)]
    z = solve(factor_free(both, one), g)
    damped = [[x + (LEAST if i == j else 0) for j, x in enumerate(row)] for i, row in enumerate(H1)]
    back = solve(factor_free(damped, one), [dot(row, z) for row in H1])
    z = [x - y for x, y in zip(z, back, strict=True)]
    end = limit_length([maximum(minimum(x + y, u), w) for x, y, w, u in zip(d, z, down, up, strict=True)])
    return end, largest(z)


def limit_length(d: Scalars) -> list[Scalar]:
    """d, or a shorter step in its direction, |d| ≤ :data:`LONGEST`."""
    scale = LONGEST / maximum(largest(d), LONGEST)
    return [x * scale for x in d]
