"""Impulses that only push, stick or slip: the data of the problem, the sets of λ, and how far λ is from a solution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import NamedTuple

from torsor.scalar import Scalar, Scalars, is_zero, maximum, minimum, sqrt, where
from torsor.spatial.linear import dot

#: a square below which a number is zero
TINY = 1e-36
#: a distance from switching that is as good as any larger one
FAR = 1e6


class Block(NamedTuple):
    """The rows of one contact: those of its normal and of its tangents in G, and the bound |λ_t| ≤ μ λ_n + c.

    A stop has a normal alone, dry friction a tangent alone.  Both at one coordinate have one row: |λ| ≤ c against the slip
    u_n − b, as long as the stop is not reached.
    """

    normal: int | None
    tangents: tuple[int, ...] = ()
    friction: Scalar = 0  #: μ
    hold: Scalar = 0  #: c
    shift: Scalar = 0  #: b of a normal row, which is in its u

    @property
    def rows(self) -> tuple[int, ...]:
        """The tangents, then the normal."""
        return (*self.tangents, self.normal) if self.normal is not None else self.tangents


class Budget(NamedTuple):
    """The work of one solution: sweeps of Gauss–Seidel over the blocks, then Newton steps, each with a sweep ``between``.

    With ``local`` sweeps over the blocks of a body, row by row, within each sweep over the bodies.  ``damping`` of Newton steps
    is relative to the diagonal of G, for rows that depend on each other.
    """

    sweeps: int = 3
    newton: int = 0
    local: int = 0
    between: bool = False
    damping: float = 0.0


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
    """G (symmetric), w and the blocks, with the sizes that scale impulses to velocities: G_nn, and ρ = λ_max(G_tt).

    ``masses`` are 1/sizes.
    """

    G: Sequence[Scalars]
    w: Scalars
    blocks: Sequence[Block]
    sizes: Sequence[tuple[Scalar, Scalar]]
    masses: Sequence[tuple[Scalar, Scalar]]
    shared: Shared | None = None

    @classmethod
    def of(cls, G: Sequence[Scalars], w: Scalars, blocks: Sequence[Block], shared: Shared | None = None) -> Problem:
        """The problem with its sizes."""
        sizes = [(0 if b.normal is None else G[b.normal][b.normal], _largest(G, b.tangents)) for b in blocks]
        masses = [(0 if is_zero(n) else 1 / n, 0 if is_zero(t) else 1 / t) for n, t in sizes]
        return cls(G, w, blocks, sizes, masses, shared)

    def velocity(self, lam: Scalars, rows: Sequence[int]) -> list[Scalar]:
        """u = G λ + w of some rows."""
        return [self.w[k] + dot(self.G[k], lam) for k in rows]

    def response(self, lam: Scalars) -> list[Scalar]:
        """G λ, through the motions that rows share."""
        if self.shared is None:
            return [dot(row, lam) for row in self.G]
        y = [dot(row, lam) for row in self.shared.P]
        return [self.shared.along(r, y) + d * x for r, (d, x) in enumerate(zip(self.shared.d, lam, strict=True))]


def into_sets(p: Problem, lam: Scalars) -> list[Scalar]:
    """The nearest impulses that only push and are within the bounds of friction."""
    found = list(lam)
    for b in p.blocks:
        if b.normal is not None:
            found[b.normal] = maximum(lam[b.normal], -bound_of_normal(b))
        put(found, b.tangents, onto_disc([lam[k] for k in b.tangents], bound_of(b, found)))
    return found


def residual(p: Problem, lam: Scalars, u: Scalars | None = None) -> list[Scalar]:
    """F(λ), 0 at the solution, as velocities [m/s]: min(u_n, ρ λ_n) and ρ (λ_t − Π(λ_t − u_t/ρ)), row by row."""
    u = [x + y for x, y in zip(p.response(lam), p.w, strict=True)] if u is None else u
    F: list[Scalar] = [0] * len(lam)
    for b, (normal, tangent), (normal_mass, mass) in zip(p.blocks, p.sizes, p.masses, strict=True):
        if b.normal is not None and is_zero(bound_of_normal(b)):
            F[b.normal] = minimum(u[b.normal], normal * lam[b.normal])
        elif b.normal is not None:
            F[b.normal] = normal * (lam[b.normal] - pushed_or_held(b, lam[b.normal], u[b.normal] * normal_mass, normal_mass))
        pushed = [lam[k] - u[k] * mass for k in b.tangents]
        for k, y in zip(b.tangents, onto_disc(pushed, bound_of(b, lam)), strict=True):
            F[k] = tangent * (lam[k] - y)
    return F


def distances_from_switching(p: Problem, lam: Scalars, u: Scalars, unit: Scalar) -> list[Scalar]:
    """How far each block is from another set, 0 where the derivative of λ by its problem has two sides.

    Open and closed: |λ_n − u_n/G_nn| as a velocity, relative to ``unit``.  Stick and slip of a contact that is closed:
    ||λ_t − u_t/ρ|/(μ λ_n + c) − 1|, with the impulse that would stop the slip.
    """
    found = []
    for b, (normal, _), (normal_mass, mass) in zip(p.blocks, p.sizes, p.masses, strict=True):
        far: Scalar = FAR
        bound, tried = bound_of(b, lam), [lam[k] - u[k] * mass for k in b.tangents]
        if b.normal is not None:
            c, n = bound_of_normal(b), b.normal
            pushed, bare = lam[n] - u[n] * normal_mass, lam[n] - (u[n] - b.shift) * normal_mass
            still = 0 if is_zero(c) else onto_disc([bare], c)[0]
            far = abs(pushed - still) * normal / unit
            if not is_zero(c):  # a stop with the dry friction of its joint
                bound, tried = where(pushed > still, 0, c), [bare]
        if tried and not is_zero(bound):
            reached = sqrt(maximum(squared(tried), TINY)) / maximum(bound, TINY)
            far = minimum(far, where(bound > TINY, abs(reached - 1), FAR))
        found.append(minimum(far, FAR))
    return found


def passive_blend(lam: Scalars, still: Scalars, Gl: Scalars, Gs: Scalars, w: Scalars) -> Scalar:
    """The largest a ≤ 1 with which a λ + (1 − a) λ₀ adds no energy E(λ) = λᵀw + ½ λᵀGλ, if λ₀ adds none.

    Newton's restitution may raise the energy of coupled impacts, or with friction; λ₀ is without restitution, and the blend
    still only pushes, to velocities u_n + b ≥ 0 (Glocker 2014).
    """
    d, Gd = ([x - y for x, y in zip(*pair, strict=True)] for pair in ((lam, still), (Gl, Gs)))
    E0, slope, curve = dot(still, w) + dot(still, Gs) / 2, dot(d, w) + dot(d, Gs), dot(d, Gd)
    E0 = minimum(E0, 0)
    rises = E0 + slope + curve / 2 > 0  # then curve > 0, and no root or quotient below is of zero
    root = sqrt(where(rises, slope * slope - 2 * curve * E0, 1))
    return where(rises, minimum((root - slope) / where(rises, curve, 1), 1), 1.0)


def passive_share(lam: Scalars, Gl: Scalars, w: Scalars) -> Scalar:
    """min(1, −2 λᵀw/λᵀGλ), times which impulses add no energy λᵀw + ½ λᵀGλ, solved or not."""
    work = dot(lam, Gl)
    return minimum(maximum(where(work > TINY, -2 * dot(lam, w) / maximum(work, TINY), 1), 0), 1)


# -- small things ----------------------------------------------------------------------------------------------------


def onto_disc(y: Scalars, bound: Scalar) -> list[Scalar]:
    """y, or the nearest point with |y| ≤ bound."""
    if not y:
        return []
    if len(y) == 1:
        return [minimum(maximum(y[0], -bound), bound)]
    scale = minimum(bound / sqrt(maximum(squared(y), TINY)), 1)
    return [x * scale for x in y]


def bound_of(b: Block, lam: Scalars) -> Scalar:
    """μ λ_n + c."""
    return b.hold if b.normal is None or not b.tangents else b.friction * lam[b.normal] + b.hold


def _largest(G: Sequence[Scalars], rows: Sequence[int]) -> Scalar:
    """The largest eigenvalue of G of one or two rows."""
    if len(rows) < 2:
        return G[rows[0]][rows[0]] if rows else 0
    i, j = rows
    mean, half = (G[i][i] + G[j][j]) / 2, (G[i][i] - G[j][j]) / 2
    return mean + sqrt(half * half + G[i][j] * G[i][j])


def bound_of_normal(b: Block) -> Scalar:
    """c, if dry friction acts in the row of the normal."""
    return 0 if b.tangents else b.hold


def pushed_or_held(b: Block, lam: Scalar, step: Scalar, mass: Scalar) -> Scalar:
    """max(Π(λ − (u − b)/G), λ − u/G), Π onto |λ| ≤ c: a stop with the dry friction of its joint; ``step`` is u/G."""
    c = bound_of_normal(b)
    held = 0 if is_zero(c) else onto_disc([lam - step + b.shift * mass], c)[0]
    return maximum(lam - step, held)


def put(lam: list[Scalar], rows: Sequence[int], values: Scalars) -> None:
    """Set the impulses of some rows."""
    for k, x in zip(rows, values, strict=True):
        lam[k] = x


def squared(x: Scalars) -> Scalar:
    """|x|²."""
    return dot(x, x)


def largest(x: Scalars) -> Scalar:
    """The largest |x|."""
    return reduce(maximum, map(abs, x))
