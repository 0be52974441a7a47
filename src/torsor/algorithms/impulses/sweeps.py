"""Sweeps of Gauss–Seidel over the impulses of contacts: each is solved as if all others were right."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torsor.algorithms.impulses.problem import (
    TINY,
    Block,
    Budget,
    Problem,
    Shared,
    bound_of,
    onto_disc,
    pushed_or_held,
    put,
    squared,
)
from torsor.scalar import Scalar, Scalars, maximum, minimum, sqrt, where
from torsor.spatial import factor, solve
from torsor.spatial.linear import dot

#: a number small against one: of a stiffness that friction makes vanish, of a series that hardly converges
LEAST = 0.1
#: the rest of such a series is at most so many times its last term
FURTHEST = 5

#: u of a row at the present λ, and what is done after a change of a row's impulse
Velocity = Callable[[int], Scalar]
Push = Callable[[int, Scalar], None]
#: L and D of a block's own part of G
LocalFactors = tuple[list[list[Scalar]], list[Scalar]]


def _row_sweep(
    b: Block, masses: tuple[Scalar, Scalar], lam: list[Scalar], velocity: Velocity, push: Push = lambda r, x: None
) -> None:
    """The normal's impulse, then the tangents', as if all others were right; ``push`` hears of the changes, row by row."""
    normal, tangent = masses
    if b.normal is not None:
        old = lam[b.normal]
        lam[b.normal] = pushed_or_held(b, old, velocity(b.normal) * normal, normal)
        push(b.normal, lam[b.normal] - old)
    before = [lam[t] for t in b.tangents]
    after = onto_disc([x - velocity(t) * tangent for t, x in zip(b.tangents, before, strict=True)], bound_of(b, lam))
    for t, x, y in zip(b.tangents, before, after, strict=True):
        lam[t] = y
        push(t, y - x)


def sweep_bodies(p: Problem, s: Shared, lam: list[Scalar], budget: Budget) -> None:
    """Sweeps over the bodies, and over the blocks of each, with the motions y = P λ kept up to date.

    They begin from the guess × −λᵀw/λᵀGλ, the least of λᵀw + ½ λᵀGλ along it: loads that grow at once, as at an impact, are
    so distributed as before.
    """
    work = dot(lam, p.response(lam))
    scale = where(work > TINY, maximum(-dot(lam, p.w), 0) / maximum(work, TINY), 1)
    lam[:] = [scale * x for x in lam]
    y = [dot(row, lam) for row in s.P]

    def velocity(r: int) -> Scalar:
        return p.w[r] + s.d[r] * lam[r] + s.along(r, y)

    for _ in range(budget.sweeps):
        for body in s.bodies:
            rows = [r for k in body.blocks for r in p.blocks[k].rows]
            before = [lam[r] for r in rows]

            def push(r: int, change: Scalar, motions: Sequence[int] = body.motions) -> None:
                for k in motions:
                    y[k] = y[k] + s.P[k][r] * change

            for _ in range(budget.local):
                for k in body.blocks:
                    _row_sweep(p.blocks[k], p.masses[k], lam, velocity, push)
            changes = [lam[r] - x for r, x in zip(rows, before, strict=True)]
            for k in set(range(len(y))) - set(body.motions):
                y[k] = y[k] + dot([s.P[k][r] for r in rows], changes)


def block_sweep(p: Problem, k: int, b: Block, lam: list[Scalar], local: Sequence[LocalFactors]) -> None:
    """The impulse of a block that solves it alone: sticking if that is within its set, else slipping."""
    rows, m = b.rows, len(b.tangents)
    old = [lam[r] for r in rows]
    for r in rows:
        lam[r] = 0
    free = p.velocity(lam, rows)  # without this block
    stick = [-x for x in solve(local[k], free)]
    if not m:
        lam[rows[0]] = pushed_or_held(b, 0, -stick[0], p.masses[k][0])
        return
    slip = _slip(b, [[p.G[i][j] for j in rows] for i in rows], free, old, stick, p.masses[k][1])
    bound = b.hold if b.normal is None else b.friction * stick[m] + b.hold
    sticks: Scalar = squared(stick[:m]) <= bound * bound
    if b.normal is not None:
        sticks = where(stick[m] < 0, 0, sticks)
    put(lam, rows, [where(sticks, x, y) for x, y in zip(stick, slip, strict=True)])


def _slip(b: Block, G: Sequence[Scalars], free: Scalars, old: Scalars, stick: Scalars, mass: Scalar) -> list[Scalar]:
    """The impulse of a block that slips: λ_t = (μ λ_n + c) e with e along y = λ_t − u_t/ρ, and u_n = 0.

    (G_nn + μ G_nt e) λ_n = −w_n − c G_nt e for a direction e; e is the fixed point of λ(e) → e, from two steps and the limit of
    the geometric series that they begin (Aitken's Δ²), as an angle.  The first e is that of the impulse before; where friction
    along it would not be against the slip, that of the impulse that would stick.
    """
    m = len(b.tangents)

    def along(e: Scalars) -> list[Scalar]:
        hold = [b.hold * x for x in e]
        if b.normal is None:
            return hold
        push = [b.friction * x for x in e]
        stiff = maximum(G[m][m] + dot(G[m][:m], push), LEAST * G[m][m])
        n = maximum(-(free[m] + dot(G[m][:m], hold)) / stiff, 0)
        return [*(n * x + c for x, c in zip(push, hold, strict=True)), n]

    def pushed(lam: Scalars) -> list[Scalar]:
        return [lam[t] - (free[t] + dot(G[t], lam)) * mass for t in range(m)]

    y, bound = pushed(old), b.hold if b.normal is None else b.friction * old[m] + b.hold
    inside = squared(y) < bound * bound
    e = [_unit([where(inside, x, z) for x, z in zip(stick, y, strict=False)])]
    e += [_unit(pushed(along(e[0])))]
    if m == 1:
        return along(e[1])
    e += [_unit(pushed(along(e[1])))]
    (x0, y0), (x1, y1), (x2, y2) = e
    first, second = x0 * y1 - y0 * x1, x1 * y2 - y1 * x2
    change = first - second
    converges = change * first > LEAST * first * first
    most = FURTHEST * abs(second)
    turn = minimum(maximum(where(converges, second * second / where(converges, change, 1), 0), -most), most)
    return along(_unit([x2 - y2 * turn, y2 + x2 * turn]))


def local_factors(p: Problem, b: Block) -> LocalFactors:
    return factor([[p.G[i][j] for j in b.rows] for i in b.rows])


def _unit(x: Scalars) -> list[Scalar]:
    k = 1 / sqrt(maximum(squared(x), TINY))
    return [k * y for y in x]
