"""Small dense quadratic programs, over any scalar, by a fixed number of steps without branches.

    minimise ½ xᵀH x + gᵀx    with  l ≤ x ≤ u,  G x ≤ h,  E x = f;    H positive definite, so that the minimum is unique

Mehrotra's interior point method (1992; Nocedal & Wright, Numerical Optimization, algorithm 16.4) finds the inequalities that
hold with equality; two Newton steps with these as equations then remove the error of the path.  The residual of the conditions
of Karush, Kuhn and Tucker is returned: it shows whether the steps were enough, and is large where no x meets the constraints.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from torsor.algorithms.equation.constrained import largest
from torsor.scalar import Scalar, Scalars, is_zero, maximum, minimum, where
from torsor.scalar.repeat import repeatable
from torsor.spatial.linear import Factors, dot, factor, plus_diagonal, solve

#: steps of the interior point method: enough for all but one of 10⁴ random programs with eight unknowns
STEPS = 16
#: largest share of the way to the boundary that a step takes
INSIDE = 0.995
#: distance from the boundary, and t m, at the start, relative to the size of x
BEGIN, PRODUCT = 0.3, 1.0
#: bounds nearer to each other than this, relative to the size of x, are one equation
NARROW = 1e-9
#: t m where the path ends, so that t and m stay positive
END = 1e-18
#: weight on the diagonal, where H has about 1, that keeps an unknown at its bound
HELD = 1e30
#: compliance of equations, so that they may be redundant; a second step removes its error
SOFT = 1e-10
#: the same of rows, for the rounding of their pivots
ROUNDING = 1e-14


class Program(NamedTuple):
    """The numbers of a quadratic program."""

    H: Sequence[Scalars]
    g: Scalars
    lower: Scalars
    upper: Scalars
    G: Sequence[Scalars] = ()
    h: Scalars = ()
    E: Sequence[Scalars] = ()
    f: Scalars = ()


class Point(NamedTuple):
    """A point of the path: x, the distances t > 0 of C x ≤ c, their multipliers m > 0, those of the equations y.

    ``left`` is the share that is left of the residuals of the first point: all are linear, so each step reduces them alike.
    """

    x: Scalars
    t: Scalars
    m: Scalars
    y: Scalars
    left: Scalars


class Residuals(NamedTuple):
    """Those of the first point: H x + g + Cᵀm + Eᵀy, C x + t − c and E x − f."""

    slope: Scalars
    gap: Scalars
    equations: Scalars


def quadratic_program(p: Program, start: Scalars, steps: int = STEPS) -> tuple[list[Scalar], Scalar]:
    """x, and the largest residual of the conditions of a minimum in the units of x.

    The path begins near ``start``, whose largest entry is about that of x.

    >>> x, residual = quadratic_program(Program([[2.0, 0.0], [0.0, 1.0]], [-2.0, -3.0], [0.0, 0.0], [5.0, 1.0]), [1.0, 1.0])
    >>> x, residual < 1e-12
    ([1.0, 1.0], True)
    """
    size = largest(start)
    q = scaled(p, size)
    path = first_point(q, [x / size for x in start])
    C, left = inequalities(q)[0], residuals(q, path)
    ends = [sum(map(len, path[:k])) for k in range(len(path) + 1)]

    def point(z: Scalars) -> Point:
        return Point(*(z[a:b] for a, b in itertools.pairwise(ends)))

    once = repeatable(lambda z: [x for part in newton(q, C, left, point(z)) for x in part])
    z = [x for part in path for x in part]
    for _ in range(steps):
        z = once(z)
    x, gap = polish(q, point(z))
    return [maximum(minimum(size * a, u), l) for a, l, u in zip(x, p.lower, p.upper, strict=True)], size * gap


def scaled(p: Program, size: Scalar) -> Program:
    """The program of x/size, with 1 as the mean of H's diagonal."""
    share = len(p.H) / dot([1] * len(p.H), [row[i] for i, row in enumerate(p.H)])
    g, lower, upper, h, f = ([x / size for x in part] for part in (p.g, p.lower, p.upper, p.h, p.f))
    return Program([[share * x for x in row] for row in p.H], [share * x for x in g], lower, upper, p.G, h, p.E, f)


def inequalities(p: Program) -> tuple[list[Scalars], list[Scalar]]:
    """C and c of C x ≤ c, the lower bounds first, then the upper ones, then G; bounds that are one lie a little apart."""
    n = range(len(p.g))
    unit = [[int(i == j) for j in n] for i in n]
    low = [minimum(l, (l + u - NARROW) / 2) for l, u in zip(p.lower, p.upper, strict=True)]
    up = [maximum(u, (l + u + NARROW) / 2) for l, u in zip(p.lower, p.upper, strict=True)]
    return [*([-x for x in row] for row in unit), *unit, *p.G], [*(-x for x in low), *up, *p.h]


def first_point(p: Program, start: Scalars) -> Point:
    """x within the bounds, and distances and multipliers whose products are all the same."""
    n, (C, c) = len(p.g), inequalities(p)
    ways = [BEGIN * minimum(u + l, 1) for l, u in zip(c[:n], c[n : 2 * n], strict=True)]
    x = [maximum(minimum(a, u - w), w - l) for a, l, u, w in zip(start, c[:n], c[n : 2 * n], ways, strict=True)]
    t = [a - dot(row, x) for row, a in zip(C, c, strict=True)]
    t = [*t[: 2 * n], *(maximum(a, BEGIN) for a in t[2 * n :])]
    return Point(x, t, [PRODUCT / a for a in t], [0.0] * len(p.f), [1.0])


def residuals(p: Program, z: Point) -> Residuals:
    """Those of a point; C x + t − c is zero for bounds, within which x stays."""
    k, (C, c) = 2 * len(p.g), inequalities(p)
    slope = plus_rows(plus_rows([dot(row, z.x) + g for row, g in zip(p.H, p.g, strict=True)], C, z.m), p.E, z.y)
    gap = [dot(row, z.x) + t - a for row, t, a in zip(C[k:], z.t[k:], c[k:], strict=True)]
    return Residuals(slope, gap, [dot(row, z.x) - f for row, f in zip(p.E, p.f, strict=True)])


def newton(p: Program, C: Sequence[Scalars], first: Residuals, z: Point) -> Point:
    """The next point of the path: Mehrotra's predictor and corrector, with one factorization.

    Along Newton's direction to t m = p τ, with p = t m before, the rates are ṫ = −r t and ṁ = (r − 1 + τ) m.  The corrector is
    weighted by the square of the predictor's step, without which the steps may go round in circles (Colombo & Gondzio 2008).
    """
    n, k, (left,) = len(z.x), 2 * len(z.x), z.left
    products = [t * m for t, m in zip(z.t, z.m, strict=True)]
    over = [1 / x for x in products]
    near = [m * x for m, x in zip(z.m, over, strict=True)]  # 1/t
    weights = [m * x for m, x in zip(z.m[:k], near, strict=False)]
    K = plus_diagonal(p.H, [a + b for a, b in zip(weights[:n], weights[n:], strict=True)])
    soft = [-t * t * x - ROUNDING for t, x in zip(z.t[k:], over[k:], strict=True)]  # −t/m
    factors = bordered(K, [*p.G, *p.E], [*soft, *([-SOFT] * len(p.f))])
    gap = [0] * k + [left * x for x in first.gap]

    def direction(keep: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        """The direction for 1 − τ, and r."""
        force = [m * x for m, x in zip(z.m[:k], keep, strict=False)]
        rows = [t * x - e for t, x, e in zip(z.t[k:], keep[k:], gap[k:], strict=True)]
        slope = plus_rows([-left * x for x in first.slope], C[:k], force)
        d = solve(factors, [*slope, *rows, *(-left * x for x in first.equations)])
        return d, [(dot(row, d[:n]) + x) * y for row, x, y in zip(C, gap, near, strict=True)]

    _, r = direction([1] * len(products))
    a = longest([maximum(x, 1 - x) for x in r])
    bent = [x * (1 - x) for x in r]  # ṫ ṁ/p
    now = dot([1] * len(r), products)
    ratio = (1 - a) + a * a * dot(products, bent) / now
    mu = maximum(ratio * ratio * ratio * now / len(r), END)
    keep = [1 - mu * x + a * a * y for x, y in zip(over, bent, strict=True)]
    d, r = direction(keep)
    rates = [x - y for x, y in zip(r, keep, strict=True)]
    a = longest([maximum(x, -y) for x, y in zip(r, rates, strict=True)])
    goes_on = where(dot(d, d) >= 0, now, 0) > 2 * END * len(r)  # beyond, rounding is larger than the steps, or overflows
    ahead = Point(
        [x + a * y for x, y in zip(z.x, d[:n], strict=True)],
        [t * (1 - a * x) for t, x in zip(z.t, r, strict=True)],
        [m * (1 + a * x) for m, x in zip(z.m, rates, strict=True)],
        [x + a * y for x, y in zip(z.y, d[n + len(p.h) :], strict=True)],
        [left * (1 - a)],
    )
    return Point(*([where(goes_on, x, y) for x, y in zip(*pair, strict=True)] for pair in zip(ahead, z, strict=True)))


def longest(rates: Scalars) -> Scalar:
    """The step, at most 1, that goes :data:`INSIDE` of the way to the boundary, from the relative rates towards it."""
    most: Scalar = INSIDE
    for x in rates:
        most = maximum(most, x)
    return INSIDE / most


def bordered(K: Sequence[Scalars], rows: Sequence[Scalars], corner: Scalars) -> Factors:
    """L D Lᵀ of (K, rowsᵀ; rows, corner): pivots that are positive, then negative, in any order of K (Vanderbei 1995)."""
    below = [[*row, *(corner[j] if i == j else 0 for j in range(len(rows)))] for i, row in enumerate(rows)]
    return factor([*([*row, *([0] * len(rows))] for row in K), *below])


def plus_rows(x: Scalars, rows: Sequence[Scalars], factors: Scalars) -> list[Scalar]:
    """x + rowsᵀ factors."""
    total = list(x)
    for row, a in zip(rows, factors, strict=True):
        total = [y if is_zero(b) else y + b * a for y, b in zip(total, row, strict=True)]
    return total


def polish(p: Program, z: Point) -> tuple[list[Scalar], Scalar]:
    """The best of the end of the path, the minimum with its active inequalities as equations, and that with those of this one.

    An inequality is active where m > t, and at the second try where a step against the slope would violate it.
    """
    k = 2 * len(p.g)
    x, y = z.x, [*z.m[k:], *z.y]
    gap, slope = residual(p, x, y)
    active = [where(m > t, 1, 0) for t, m in zip(z.t, z.m, strict=True)]
    best = list(x)
    for _ in range(3):
        x, y = newton_on_active(p, x, y, active)
        off, slope = residual(p, x, y)
        best, gap = [where(off < gap, a, b) for a, b in zip(x, best, strict=True)], minimum(off, gap)
        ahead = [a - s for a, s in zip(x, slope, strict=True)]
        over = [*(l - a for a, l in zip(ahead, p.lower, strict=True)), *(a - u for a, u in zip(ahead, p.upper, strict=True))]
        over += [dot(row, x) - h + m for row, h, m in zip(p.G, p.h, y, strict=False)]
        active = [where(a > 0, 1, 0) for a in over]
    return best, gap


def newton_on_active(p: Program, x: Scalars, y: Scalars, active: Scalars) -> tuple[list[Scalar], list[Scalar]]:
    """x and the multipliers of rows and equations, with active inequalities as equations: one step, and one for rounding."""
    n, rows = len(p.g), active[2 * len(p.g) :]
    low = [where(u - l <= NARROW, 1, a) for a, l, u in zip(active, p.lower, p.upper, strict=False)]
    held = [maximum(a, b) for a, b in zip(low, active[n : 2 * n], strict=True)]
    x = [where(a > 0, l, where(b > 0, u, c)) for a, b, l, u, c in zip(low, held, p.lower, p.upper, x, strict=True)]
    y = [*(a * m for a, m in zip(rows, y, strict=False)), *y[len(rows) :]]
    A = [*([a * b for b in row] for row, a in zip(p.G, rows, strict=True)), *p.E]
    ends = [*(a * h for a, h in zip(rows, p.h, strict=True)), *p.f]
    corner = [*(a - 1 - SOFT for a in rows), *([-SOFT] * len(p.f))]
    factors = bordered(plus_diagonal(p.H, [HELD * a for a in held]), A, corner)
    for _ in range(2 if A else 1):
        slope = plus_rows([dot(row, x) + g for row, g in zip(p.H, p.g, strict=True)], A, y)
        d = solve(factors, [*(-s for s in slope), *(b - dot(row, x) for row, b in zip(A, ends, strict=True))])
        x, y = ([a + b for a, b in zip(*pair, strict=True)] for pair in ((x, d[:n]), (y, d[n:])))
    return x, y


def residual(p: Program, x: Scalars, y: Scalars) -> tuple[Scalar, list[Scalar]]:
    """The largest of |x − clip(x − H x − g − Gᵀm − Eᵀy, l, u)|, |min(h − G x, m)| and |E x − f|, and this slope; y = (m, y)."""
    slope = plus_rows([dot(row, x) + g for row, g in zip(p.H, p.g, strict=True)], [*p.G, *p.E], y)
    bounds = zip(x, slope, p.lower, p.upper, strict=True)
    parts = [a - maximum(minimum(a - s, u), l) for a, s, l, u in bounds]
    parts += [minimum(h - dot(row, x), m) for row, h, m in zip(p.G, p.h, y, strict=False)]
    return largest([*parts, *(dot(row, x) - f for row, f in zip(p.E, p.f, strict=True))]), slope
