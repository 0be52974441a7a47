"""Impulses of rows that can only push, stick or slip: Signorini's and Coulomb's conditions at velocity level, over any scalar.

    u = G λ + w,    0 ≤ λ_n ⊥ u_n ≥ 0,    λ_t = Π(λ_t − u_t/ρ),    Π onto |λ_t| ≤ μ λ_n + c

G = J M⁻¹Jᵀ is Delassus' matrix and w the relative velocity without impulses.  u_t may not be zero where λ_t is on its bound;
the impulse is then against u_t: this is the cone of friction with de Saxcé's shift (Acary & Brogliato 2008, §3.9).

A fixed budget without branches: sweeps of block Gauss–Seidel, then steps of Newton's method on the active set (Alart & Curnier
1991).  At every budget λ is in its set.  Many contacts of one body are swept among themselves, in the few motions of the body
that they share, before those of the next body.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import NamedTuple

from torsor.scalar import Scalar, Scalars, is_zero, maximum, minimum, sqrt, where
from torsor.spatial import factor, solve
from torsor.spatial.linear import dot

#: a number small against one: of a stiffness that friction makes vanish, of a series that hardly converges
LEAST = 0.1
#: the rest of such a series is at most so many times its last term
FURTHEST = 5
#: a square below which a number is zero
TINY = 1e-36


#: u of a row at the present λ, and what is done after a change of a row's impulse
Velocity = Callable[[int], Scalar]
Push = Callable[[int, Scalar], None]
#: L and D of a block's own part of G
LocalFactors = tuple[list[list[Scalar]], list[Scalar]]


class Block(NamedTuple):
    """The rows of one contact: those of its normal and of its tangents in G, and the bound |λ_t| ≤ μ λ_n + c.

    A stop has a normal alone, dry friction a tangent alone.
    """

    normal: int | None
    tangents: tuple[int, ...] = ()
    friction: Scalar = 0  #: μ
    hold: Scalar = 0  #: c

    @property
    def rows(self) -> tuple[int, ...]:
        """The tangents, then the normal."""
        return (*self.tangents, self.normal) if self.normal is not None else self.tangents


class Budget(NamedTuple):
    """The work of one solution: sweeps of Gauss–Seidel over the blocks, then Newton steps.

    With ``local`` sweeps over the blocks of a body, row by row, within each sweep over the bodies.
    """

    sweeps: int = 3
    newton: int = 0
    local: int = 0


class Shared(NamedTuple):
    """G = E P + diag(d): rows that are sums of the motions of bodies, E by row, with P = W Eᵀ; and the blocks by body."""

    E: Sequence[Mapping[int, Scalar]]
    P: Sequence[Scalars]
    d: Scalars
    bodies: Sequence[Body]

    def along(self, row: int, y: Scalars) -> Scalar:
        """E y of a row."""
        return reduce(lambda a, b: a + b, (share * y[k] for k, share in self.E[row].items()))


class Body(NamedTuple):
    """The blocks of a body, and the places of its motions in P."""

    blocks: Sequence[int]
    motions: Sequence[int]


class Problem(NamedTuple):
    """G (symmetric), w and the blocks, with the sizes that scale impulses to velocities: G_nn, and λ_max(G_tt)."""

    G: Sequence[Scalars]
    w: Scalars
    blocks: Sequence[Block]
    sizes: Sequence[tuple[Scalar, Scalar]]
    shared: Shared | None = None

    @classmethod
    def of(cls, G: Sequence[Scalars], w: Scalars, blocks: Sequence[Block], shared: Shared | None = None) -> Problem:
        """The problem with its sizes."""
        sizes = [(0 if b.normal is None else G[b.normal][b.normal], _largest(G, b.tangents)) for b in blocks]
        return cls(G, w, blocks, sizes, shared)

    def velocity(self, lam: Scalars, rows: Sequence[int]) -> list[Scalar]:
        """u = G λ + w of some rows."""
        return [self.w[k] + dot(self.G[k], lam) for k in rows]

    def response(self, lam: Scalars) -> list[Scalar]:
        """G λ, through the motions that rows share."""
        if self.shared is None:
            return [dot(row, lam) for row in self.G]
        y = [dot(row, lam) for row in self.shared.P]
        return [self.shared.along(r, y) + d * x for r, (d, x) in enumerate(zip(self.shared.d, lam, strict=True))]


def solve_impulses(p: Problem, guess: Scalars, budget: Budget) -> list[Scalar]:
    """λ from a guess."""
    lam = list(guess)
    if budget.local and p.shared:
        _sweep_bodies(p, p.shared, lam, budget)
    else:
        local = [_local_factors(p, b) for b in p.blocks]
        for _ in range(budget.sweeps):
            for k, b in enumerate(p.blocks):
                _block_sweep(p, k, b, lam, local)
    for _ in range(budget.newton):
        better = into_sets(p, newton_step(p, lam))
        closer = _squared(residual(p, better)) < _squared(residual(p, lam))
        lam = [where(closer, x, y) for x, y in zip(better, lam, strict=True)]
    return lam


def into_sets(p: Problem, lam: Scalars) -> list[Scalar]:
    """The nearest impulses that only push and are within the bounds of friction."""
    found = list(lam)
    for b in p.blocks:
        if b.normal is not None:
            found[b.normal] = maximum(lam[b.normal], 0)
        _put(found, b.tangents, onto_disc([lam[k] for k in b.tangents], _bound(b, found)))
    return found


def residual(p: Problem, lam: Scalars, u: Scalars | None = None) -> list[Scalar]:
    """F(λ), 0 at the solution, as velocities [m/s]: min(u_n, ρ λ_n) and ρ (λ_t − Π(λ_t − u_t/ρ)), row by row."""
    u = [x + y for x, y in zip(p.response(lam), p.w, strict=True)] if u is None else u
    F: list[Scalar] = [0] * len(lam)
    for b, (normal, tangent) in zip(p.blocks, p.sizes, strict=True):
        if b.normal is not None:
            F[b.normal] = minimum(u[b.normal], normal * lam[b.normal])
        pushed = [lam[k] - u[k] / tangent for k in b.tangents]
        for k, y in zip(b.tangents, onto_disc(pushed, _bound(b, lam)), strict=True):
            F[k] = tangent * (lam[k] - y)
    return F


def passive_share(lam: Scalars, Gl: Scalars, w: Scalars) -> Scalar:
    """min(1, −2 λᵀw/λᵀGλ), times which impulses add no energy λᵀw + ½ λᵀGλ, solved or not."""
    work = dot(lam, Gl)
    return minimum(maximum(where(work > TINY, -2 * dot(lam, w) / maximum(work, TINY), 1), 0), 1)


# -- sweeps ----------------------------------------------------------------------------------------------------------


def _row_sweep(
    b: Block, sizes: tuple[Scalar, Scalar], lam: list[Scalar], velocity: Velocity, push: Push = lambda r, x: None
) -> None:
    """The normal's impulse, then the tangents', as if all others were right; ``push`` hears of the changes, row by row."""
    normal, tangent = sizes
    if b.normal is not None:
        old = lam[b.normal]
        lam[b.normal] = maximum(old - velocity(b.normal) / normal, 0)
        push(b.normal, lam[b.normal] - old)
    before = [lam[t] for t in b.tangents]
    after = onto_disc([x - velocity(t) / tangent for t, x in zip(b.tangents, before, strict=True)], _bound(b, lam))
    for t, x, y in zip(b.tangents, before, after, strict=True):
        lam[t] = y
        push(t, y - x)


def _sweep_bodies(p: Problem, s: Shared, lam: list[Scalar], budget: Budget) -> None:
    """Sweeps over the bodies, and over the blocks of each, with the motions y = P λ kept up to date."""
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
                    _row_sweep(p.blocks[k], p.sizes[k], lam, velocity, push)
            changes = [lam[r] - x for r, x in zip(rows, before, strict=True)]
            for k in set(range(len(y))) - set(body.motions):
                y[k] = y[k] + dot([s.P[k][r] for r in rows], changes)


def _block_sweep(p: Problem, k: int, b: Block, lam: list[Scalar], local: Sequence[LocalFactors]) -> None:
    """The impulse of a block that solves it alone: sticking if that is within its set, else slipping."""
    rows, m = b.rows, len(b.tangents)
    old = [lam[r] for r in rows]
    for r in rows:
        lam[r] = 0
    free = p.velocity(lam, rows)  # without this block
    stick = [-x for x in solve(local[k], free)]
    if not m:
        lam[rows[0]] = maximum(stick[0], 0)
        return
    slip = _slip(b, [[p.G[i][j] for j in rows] for i in rows], free, old, stick, p.sizes[k][1])
    bound = b.hold if b.normal is None else b.friction * stick[m] + b.hold
    sticks: Scalar = _squared(stick[:m]) <= bound * bound
    if b.normal is not None:
        sticks = where(stick[m] < 0, 0, sticks)
    _put(lam, rows, [where(sticks, x, y) for x, y in zip(stick, slip, strict=True)])


def _slip(b: Block, G: Sequence[Scalars], free: Scalars, old: Scalars, stick: Scalars, size: Scalar) -> list[Scalar]:
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
        return [lam[t] - (free[t] + dot(G[t], lam)) / size for t in range(m)]

    y, bound = pushed(old), b.hold if b.normal is None else b.friction * old[m] + b.hold
    inside = _squared(y) < bound * bound
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


def _local_factors(p: Problem, b: Block) -> LocalFactors:
    return factor([[p.G[i][j] for j in b.rows] for i in b.rows])


# -- Newton's method -------------------------------------------------------------------------------------------------


class Active(NamedTuple):
    """The active set of a block, 1 or 0: it is closed, it sticks; e is the direction that it slips against, of length 1 or 0.

    ``turn`` is |bound|/|y|, the derivative of a direction across e.
    """

    closed: Scalar
    sticks: Scalar
    e: list[Scalar]
    turn: Scalar
    bound: Scalar


def active_sets(p: Problem, lam: Scalars, u: Scalars) -> list[Active]:
    """The active set of each block at λ and u."""
    found = []
    for b, (normal, tangent) in zip(p.blocks, p.sizes, strict=True):
        closed: Scalar = 1 if b.normal is None else where(normal * lam[b.normal] > u[b.normal], 1.0, 0.0)
        bound = closed * b.friction * (0 if b.normal is None else maximum(lam[b.normal], 0)) + b.hold
        y = [lam[k] - u[k] / tangent for k in b.tangents]
        squared = _squared(y)
        size = sqrt(maximum(squared, TINY))
        found.append(Active(closed, where(squared < bound * bound, 1.0, 0.0), [x / size for x in y], bound / size, bound))
    return found


def newton_step(p: Problem, lam: Scalars) -> list[Scalar]:
    """λ + δ, A δ = −F: open λ = 0, sticking u = 0, slipping u_n = 0 and λ_t = (μ λ_n + c) e."""
    u = p.velocity(lam, range(len(lam)))
    sets = active_sets(p, lam, u)
    F = active_residual(p, lam, u, sets)
    return [x - d for x, d in zip(lam, solve_unsymmetric(newton_matrix(p, sets), F), strict=True)]


def active_residual(p: Problem, lam: Scalars, u: Scalars, sets: Sequence[Active]) -> list[Scalar]:
    """F(λ) with given active sets: one formula for open, sticking and slipping blocks."""
    F: list[Scalar] = [0] * len(lam)
    for b, (normal, tangent), s in zip(p.blocks, p.sizes, sets, strict=True):
        if b.normal is not None:
            F[b.normal] = where(s.closed > 0, u[b.normal], normal * lam[b.normal])
        for k, e in zip(b.tangents, s.e, strict=True):
            F[k] = where(s.sticks > 0, u[k], tangent * (lam[k] - s.bound * e))
    return F


def newton_matrix(p: Problem, sets: Sequence[Active]) -> list[list[Scalar]]:
    """A = ∂F/∂λ: with P = 1 where it sticks, (bound/|y|)(1 − e eᵀ) where it slips, rows P G_t + ρ (1 − P) − ρ μ e nᵀ."""
    n = len(p.w)
    A: list[list[Scalar]] = [[0] * n for _ in range(n)]
    for b, (normal, tangent), s in zip(p.blocks, p.sizes, sets, strict=True):
        if b.normal is not None:
            A[b.normal] = [where(s.closed > 0, x, 0) for x in p.G[b.normal]]
            A[b.normal][b.normal] = normal
        for i, (k, e) in enumerate(zip(b.tangents, s.e, strict=True)):
            P = [where(s.sticks > 0, float(i == j), s.turn * ((i == j) - e * f)) for j, f in enumerate(s.e)]
            row = [dot(P, [p.G[t][c] for t in b.tangents]) for c in range(n)]
            for j, t in enumerate(b.tangents):
                row[t] = row[t] + tangent * ((i == j) - P[j])
            if b.normal is not None and not is_zero(b.friction):
                row[b.normal] = row[b.normal] - where(s.sticks > 0, 0, tangent * b.friction * s.closed * e)
            A[k] = row
    return A


def solve_unsymmetric(A: Sequence[Scalars], *b: Scalars, transposed: bool = False) -> list[Scalar]:
    """x with A x = b, by elimination without pivoting, in the order of the rows."""
    n = len(A)
    rows = [[*(row if not transposed else (A[j][i] for j in range(n))), b[0][i]] for i, row in enumerate(A)]
    for k in range(n):
        inverse = 1 / rows[k][k]
        for i in range(k + 1, n):
            if is_zero(rows[i][k]):
                continue
            factor_ik = rows[i][k] * inverse
            rows[i] = [*rows[i][: k + 1], *(x - factor_ik * y for x, y in zip(rows[i][k + 1 :], rows[k][k + 1 :], strict=True))]
    x: list[Scalar] = [0] * n
    for k in reversed(range(n)):
        x[k] = (rows[k][n] - dot(rows[k][k + 1 : n], x[k + 1 :])) / rows[k][k]
    return x


# -- small things ----------------------------------------------------------------------------------------------------


def onto_disc(y: Scalars, bound: Scalar) -> list[Scalar]:
    """y, or the nearest point with |y| ≤ bound."""
    if not y:
        return []
    if len(y) == 1:
        return [minimum(maximum(y[0], -bound), bound)]
    squared = _squared(y)
    scale = where(squared <= bound * bound, 1.0, bound / sqrt(maximum(squared, TINY)))
    return [x * scale for x in y]


def _bound(b: Block, lam: Scalars) -> Scalar:
    """μ λ_n + c."""
    return b.hold if b.normal is None or not b.tangents else b.friction * lam[b.normal] + b.hold


def _largest(G: Sequence[Scalars], rows: Sequence[int]) -> Scalar:
    """The largest eigenvalue of G of one or two rows."""
    if len(rows) < 2:
        return G[rows[0]][rows[0]] if rows else 0
    i, j = rows
    mean, half = (G[i][i] + G[j][j]) / 2, (G[i][i] - G[j][j]) / 2
    return mean + sqrt(half * half + G[i][j] * G[i][j])


def _put(lam: list[Scalar], rows: Sequence[int], values: Scalars) -> None:
    for k, x in zip(rows, values, strict=True):
        lam[k] = x


def _squared(x: Scalars) -> Scalar:
    return dot(x, x)


def _unit(x: Scalars) -> list[Scalar]:
    k = 1 / sqrt(maximum(_squared(x), TINY))
    return [k * y for y in x]


def largest(x: Scalars) -> Scalar:
    """The largest |x|."""
    return reduce(maximum, map(abs, x))
