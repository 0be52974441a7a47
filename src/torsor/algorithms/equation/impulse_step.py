"""A step in time with impulses that only push, stick or slip: contacts, stops and dry friction at once, at velocity level.

    v_f = v + dt a          a without them, on the robot's constraint rows if it has some
    u   = J v_f + G λ,      G = J M⁻¹Jᵀ, of M and the constraint rows
    0 ≤ λ_n ⊥ u_n + b ≥ 0,  |λ_t| ≤ μ λ_n + c
    v⁺  = v_f + M⁻¹Jᵀλ,     q⁺ = q ⊕ dt v⁺

b = φ/dt lets a gap close within the step and not more, and pushes out of the ground slowly; at an impact with restitution it
is e u_n⁻.  What lies deep in the ground is moved out by positions alone (split impulse; Guendelman et al. 2003).  First order
in dt (Moreau 1988; Stewart & Trinkle 1996).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from math import hypot
from typing import NamedTuple

from torsor.algorithms.configuration import joints_in_order
from torsor.algorithms.equation.at import At
from torsor.algorithms.equation.contact import (
    MANY,
    Contact,
    Row,
    base_speeds,
    contact_rows,
    contact_terms,
    contacts_at,
    guess,
    points_by_body,
    results,
)  # fmt: skip
from torsor.algorithms.equation.joint_impulses import DryFriction, stop_gaps
from torsor.algorithms.impulses import (
    BY_SWEEPS,
    Block,
    Body,
    Budget,
    ImpulseSolver,
    Problem,
    Shared,
    distances_from_switching,
    passive_blend,
    passive_share,
    residual,
)
from torsor.algorithms.inverse_mass import InverseMass
from torsor.algorithms.steps import plus
from torsor.errors import ModelError
from torsor.model.terms.term import Term
from torsor.scalar import Scalar, Scalars, is_zero, maximum, minimum, where
from torsor.spatial.linear import dot

#: ε of G + ε tr(G_ii)/3: for redundant points, and directions that nothing moves
REGULAR = 1e-9
#: the same where rows are swept one by one, and nothing is inverted; and of rows of joints
REGULAR_ROWS = 1e-12
#: largest velocity that pushes out of the ground [m/s], and back within a limit [rad/s, m/s]
PUSH = 0.1
#: share of the depth that is moved out in a step by positions, and the largest velocity of it [m/s]
SPLIT, SPLIT_SPEED = 0.2, 1.0
#: sweeps for it, and the velocity [m/s] by which it leaves contacts alone that rest, on the edge of the condition
SPLIT_SWEEPS, SPLIT_SLACK = 4, 1e-6
#: acceleration whose velocity in a step is the unit of distances between open and closed [m/s², rad/s²]
UNIT = 9.81
#: sweeps over the bodies with many points, over the contacts of each; and over those of a body that is the only one
BODIES, WITHIN, ONLY_BODY = 3, 4, 32
#: Newton steps where joints have stops or dry friction, and in a stack of links
WITH_JOINTS, IN_STACKS = 6, 1
#: damping of these steps for contacts beside joints with rows: feet that stand and joints that stick depend on each other
DAMPING = 1e-3
#: rows above which Newton's method, with dense factors, takes longer than so many sweeps
MOST_ROWS, SWEEPS_OF_MANY = 36, 40


class AfterImpulses(NamedTuple):
    """The state after a step; of each term of contacts the forces in the world's axes [N], then the residual [m/s].

    ``work`` [J] of all impulses is λᵀJ(v + v⁺)/2; that of moving out of the ground by positions is −dt xᵀJ_n a.  ``distances``
    from switching are those of contacts, stops and dry friction, in this order.
    """

    q: list[Scalar]
    v: list[Scalar]
    impulses: dict[str, list[Scalar]]
    work: Scalar
    distances: list[Scalar]


def step_with_impulses(
    terms: Sequence[Term],
    at: At,
    a: Scalars,
    M: InverseMass,
    dt: Scalar,
    dry: Sequence[DryFriction] = (),
    solver: ImpulseSolver = BY_SWEEPS,
) -> AfterImpulses:
    """The state a step later, from the accelerations ``a`` without these impulses but with the mean of dry friction.

    Velocities are those in axes that do not turn, so that a body which flies, or rolls on a plane, keeps its momentum.
    """
    touching = contact_terms(terms)
    contacts, stops = contacts_at(touching, at), stop_gaps(terms, at)
    basis, rows = contact_rows(contacts, at)
    rubbing = {d.row: d.bound * dt for d in dry}
    holds = [rubbing.pop(s.row, 0) for s in stops]  # dry friction of joints with stops
    rows += _coordinate_rows(basis, [*((s.row, s.side) for s in stops), *((row, 1) for row in rubbing)], at.model.nv)
    both = [M.inward(row) for row in basis]
    W = [[dot(e, u) for _, u in both[: i + 1]] for i, (e, _) in enumerate(both)]  # its lower half
    G = _symmetric([[_between(W, r, s) for s in rows[: i + 1]] for i, r in enumerate(rows)])
    free = plus(at.v, plus(a, _turning(at), -1), dt)
    before, after = (_speeds(basis, rows, contacts, at, v) for v in (at.v, free))
    gaps = [_gap_of_contact(c, at, dt) for c in contacts] + [Gap(s.gap, s.restitution) for s in stops]
    laws = {i: _law(gap, before[i], after[i], dt) for gap, i in zip(gaps, _normals(len(contacts), len(stops)), strict=True)}
    blocks = _blocks(contacts, laws, holds, list(rubbing.values()))
    budget = _budget_of(contacts, len(blocks) - len(contacts))
    diagonal = _regularize(G, blocks, contacts, laws, budget)
    p = Problem.of(G, _with(after, laws, "shift"), blocks, _shared(W, rows, blocks, diagonal))
    start = [*guess(touching, contacts, at, dt), *([0] * (len(blocks) - len(contacts)))]
    constant, allowed = solver.without_derivative, _with(after, laws, "allowed")
    lam, Gl, w = _impulses(p, laws, after, allowed, start, budget, solver)
    share = constant(passive_share(*constant((lam, Gl, allowed))))
    lam, u = [x * share for x in lam], [x + share * y for x, y in zip(w, Gl, strict=True)]
    left = residual(*constant((p, lam, u)))
    U = [u for _, u in both]
    fast = plus(free, _response(M, U, rows, lam), 1)
    way = _way_at_impact(at.v, fast, list(laws.values()))
    mean = [(x + y) / 2 for x, y in zip(at.v, fast, strict=True)]  # relative to a moving base, whose energy is not counted
    work = dot(lam, _sums(rows, [dot(row, mean) for row in basis])) + sum(d.mean * dt * mean[d.row] for d in dry)
    if out := _split(G, contacts, laws, u, dt):
        normals, push = [rows[i] for i in out], list(out.values())
        way = plus(way, _response(M, U, normals, push), 1)
        work = work - dt * dot(push, _sums(normals, [dot(row, a) for row in basis]))
    forces, far = results(touching, contacts, lam, left, dt), distances_from_switching(p, lam, u, UNIT * dt)
    return AfterImpulses(*_carry(at, [x * dt for x in way], fast), forces, work, far)


def _normals(contacts: int, stops: int) -> list[int]:
    """The rows of the normals: each contact has two tangents before its normal, a stop has its normal alone."""
    return [*range(2, 3 * contacts, 3), *range(3 * contacts, 3 * contacts + stops)]


def _blocks(contacts: Sequence[Contact], laws: Mapping[int, NormalLaw], holds: Scalars, rubbing: Scalars) -> list[Block]:
    """A block per contact, per stop with the dry friction of its joint, and per other joint with dry friction."""
    first = 3 * len(contacts)
    touching = [Block(3 * k + 2, (3 * k, 3 * k + 1), c.term.mu) for k, c in enumerate(contacts)]
    stopped = [Block(first + k, hold=c, shift=laws[first + k].shift) for k, c in enumerate(holds)]
    return [*touching, *stopped, *(Block(None, (i,), hold=c) for i, c in enumerate(rubbing, first + len(holds)))]


def _regularize(
    G: list[list[Scalar]],
    blocks: Sequence[Block],
    contacts: Sequence[Contact],
    laws: Mapping[int, NormalLaw],
    budget: Budget,
) -> list[Scalar]:
    """ε tr(G_ii)/3 and the compliance of soft contacts, added to the diagonal of G."""
    diagonal: list[Scalar] = []
    for k, b in enumerate(blocks):
        own = [G[i][i] for i in range(len(diagonal), len(diagonal) + len(b.rows))]
        if k < len(contacts):
            _check_moves(contacts[k], own)
        regular = REGULAR if k < len(contacts) and not budget.local else REGULAR_ROWS
        small = regular / len(own) * sum(own)
        diagonal += [small + (laws[i].compliance if i in laws else 0) for i in b.rows]
    for i, x in enumerate(diagonal):
        G[i][i] = G[i][i] + x
    return diagonal


def _with(u: Scalars, laws: Mapping[int, NormalLaw], part: str) -> list[Scalar]:
    """u with a part of the laws of normal rows: b, b without restitution, or the part of b that may add energy."""
    return [x + (getattr(laws[i], part) if i in laws else 0) for i, x in enumerate(u)]


def _impulses(
    p: Problem,
    laws: Mapping[int, NormalLaw],
    after: Scalars,
    allowed: Scalars,
    start: Scalars,
    budget: Budget,
    solver: ImpulseSolver,
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """λ, G λ and w; with restitution the blend with the impulses without it that adds no energy."""
    lam = solver.solve(p, start, budget)
    Gl = p.response(lam)
    if all(is_zero(law.hits) for law in laws.values()):
        return lam, Gl, list(p.w)
    bound = [b if b.normal is None else b._replace(shift=laws[b.normal].still) for b in p.blocks]
    still = p._replace(w=_with(after, laws, "still"), blocks=bound)
    lam0 = solver.solve(still, start, budget)
    Gl0 = p.response(lam0)
    part = passive_blend(lam, lam0, Gl, Gl0, allowed)
    pairs = ((lam, lam0), (Gl, Gl0), (p.w, still.w))
    blended = [[y + part * (x - y) for x, y in zip(*pair, strict=True)] for pair in pairs]
    return blended[0], blended[1], blended[2]


def _budget_of(contacts: Sequence[Contact], joints: int) -> Budget:
    """The default budget: three sweeps over the blocks, and Newton steps where joints have rows, or links touch each other.

    Where many points share a body, whose rows depend on each other: sweeps over the points of each body.
    """
    if joints and 3 * len(contacts) + joints > MOST_ROWS:
        return Budget(SWEEPS_OF_MANY)
    many = [n for n in points_by_body(contacts).values() if n >= MANY]
    newton = WITH_JOINTS if joints else IN_STACKS if any(c.touch.other for c in contacts) else 0
    if not many:
        return Budget(newton=newton, between=joints > 0, damping=DAMPING if joints and contacts else 0.0)
    alone = len(many) == 1 and many[0] == len(contacts)
    return Budget(1 if alone else BODIES, newton, ONLY_BODY if alone else WITHIN, joints > 0)


# -- rows ------------------------------------------------------------------------------------------------------------


def _coordinate_rows(basis: list[list[Scalar]], wanted: Sequence[tuple[int, Scalar]], nv: int) -> list[Row]:
    """Rows of single coordinates of v, with a factor; each coordinate is once in the basis."""
    places: dict[int, int] = {}
    for row, _ in wanted:
        if row not in places:
            places[row] = len(basis)
            basis.append([int(k == row) for k in range(nv)])
    return [Row({places[row]: side}) for row, side in wanted]


def _speeds(basis: Sequence[Scalars], rows: Sequence[Row], contacts: Sequence[Contact], at: At, v: Scalars) -> list[Scalar]:
    """u = J v, and on a moving base what it gives."""
    found = _sums(rows, [dot(row, v) for row in basis])
    own = base_speeds(contacts, at) if at.model.is_on_moving_base else []
    return [*(x + y for x, y in zip(found, own, strict=False)), *found[len(own) :]]


def _sums(rows: Sequence[Row], x: Scalars) -> list[Scalar]:
    return [reduce(lambda y, z: y + z, (share * x[k] for k, share in row.shares.items())) for row in rows]


def _between(W: Sequence[Scalars], r: Row, s: Row) -> Scalar:
    """r W sᵀ, of a symmetric W given by its lower half."""
    total: Scalar = 0
    for i, a in r.shares.items():
        inner: Scalar = 0
        for j, b in s.shares.items():
            inner = inner + b * W[max(i, j)][min(i, j)]
        total = total + a * inner
    return total


def _shared(W: Sequence[Scalars], rows: Sequence[Row], blocks: Sequence[Block], diagonal: Scalars) -> Shared:
    """The rows as sums of the motions of bodies: blocks with the same motions are of one body."""
    E = [row.shares for row in rows]
    P = [_sums(rows, w) for w in _symmetric(W)]
    bodies: dict[tuple[int, ...], list[int]] = {}
    for k, b in enumerate(blocks):
        bodies.setdefault(tuple(sorted({j for i in b.rows for j in rows[i].shares})), []).append(k)
    return Shared(E, P, diagonal, [Body(blocks, motions) for motions, blocks in bodies.items()])


def _symmetric(lower: Sequence[Scalars]) -> list[list[Scalar]]:
    n = len(lower)
    return [[lower[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]


def _response(M: InverseMass, U: Sequence[Scalars], rows: Sequence[Row], lam: Scalars) -> list[Scalar]:
    """M⁻¹Jᵀλ."""
    on: list[Scalar] = [0] * len(U)
    for row, x in zip(rows, lam, strict=True):
        for k, share in row.shares.items():
            on[k] = on[k] + share * x
    return M.outward([dot(column, on) for column in zip(*U, strict=True)])


def _check_moves(c: Contact, diagonal: Scalars) -> None:
    if all(map(is_zero, diagonal)):
        raise ModelError(f"{c.term.name}: nothing moves the contact of {c.term.frames[0]!r} against its surface; leave it out")


# -- laws ------------------------------------------------------------------------------------------------------------


class Gap(NamedTuple):
    """The distance φ of a normal row, and the constants of its law; ``slow``: the speed at which it does not bounce."""

    size: Scalar
    restitution: Scalar = 0
    stiffness: Scalar | None = None
    damping: Scalar | None = None
    slow: Scalar | None = None


class NormalLaw(NamedTuple):
    """b and the compliance of a normal row; b without restitution, its part that may add energy; whether it hits, and when."""

    shift: Scalar
    compliance: Scalar
    still: Scalar
    allowed: Scalar
    hits: Scalar
    share: Scalar


def _gap_of_contact(c: Contact, at: At, dt: Scalar) -> Gap:
    t = c.term
    return Gap(c.touch.gap, t.restitution, t.stiffness, t.damping, 2 * hypot(*at.model.gravity) * dt)


def _law(gap: Gap, before: Scalar, after: Scalar, dt: Scalar) -> NormalLaw:
    """0 ≤ λ ⊥ u + R λ + b ≥ 0: hard, with restitution, or an implicit spring k with a damper d.

    What rests does not bounce: what is slower than twice the speed that a step adds, at a stop, or gravity, at a contact.
    """
    if gap.stiffness is not None:
        stiff = dt * gap.stiffness + (0 if gap.damping is None else gap.damping)
        b = gap.size * gap.stiffness / stiff
        return NormalLaw(b, 1 / (dt * stiff), b, b, 0, 0)
    b = maximum(gap.size / dt, -PUSH)
    push = minimum(b, 0)
    if is_zero(gap.restitution):
        return NormalLaw(b, 0, b, push, 0, 0)
    slow = -2 * maximum(before - after, 0) if gap.slow is None else -gap.slow
    closes = where(gap.size + dt * after <= 0, 1.0, 0.0)
    hits = where(before < slow, closes, 0.0) * where(gap.restitution > 0, 1.0, 0.0)
    share = minimum(maximum(gap.size / where(hits > 0, -dt * before, 1), 0), 1)
    return NormalLaw(where(hits > 0, gap.restitution * before, b), 0, b, push, hits, share)


def _way_at_impact(v: Scalars, fast: Scalars, laws: Sequence[NormalLaw]) -> list[Scalar]:
    """The mean velocity of the step: v up to the first impact with restitution, v⁺ after it."""
    if all(is_zero(law.hits) for law in laws):
        return list(fast)
    first: Scalar = 1.0
    any_hits: Scalar = 0.0
    for law in laws:
        first, any_hits = minimum(first, where(law.hits > 0, law.share, 1.0)), maximum(any_hits, law.hits)
    s = first * any_hits
    return [y + s * (x - y) for x, y in zip(v, fast, strict=True)]


def _turning(at: At) -> list[Scalar]:
    """v̇ at constant velocity in axes that do not turn."""
    return [x for _, j, _, of in joints_in_order(at.model) for x in j.turning(at.v[of])]


def _carry(at: At, step: Scalars, v: Scalars) -> tuple[list[Scalar], list[Scalar]]:
    """q ⊕ step and v there, joint by joint, in axes that do not turn."""
    parts = [j.carry(at.q[q], step[of], v[of]) for _, j, q, of in joints_in_order(at.model)]
    return [x for q, _ in parts for x in q], [x for _, w in parts for x in w]


def _split(
    G: Sequence[Scalars], contacts: Sequence[Contact], laws: Mapping[int, NormalLaw], u: Scalars, dt: Scalar
) -> dict[int, Scalar]:
    """x by row, 0 ≤ x ⊥ u_n⁺ + G_n x + c ≥ 0: M⁻¹J_nᵀx moves hard contacts out of the ground, and v⁺ does not keep it."""
    hard = [k for k, c in enumerate(contacts) if c.term.stiffness is None]
    places = [3 * k + 2 for k in hard]
    w = []
    for k, i in zip(hard, places, strict=True):
        gap = contacts[k].touch.gap
        out = where(gap > 0, gap / dt, maximum(SPLIT * gap / dt, -SPLIT_SPEED))
        w.append(u[i] - laws[i].shift + out + SPLIT_SLACK)
    x: list[Scalar] = [0] * len(places)
    for _ in range(SPLIT_SWEEPS):
        for n, i in enumerate(places):
            x[n] = maximum(x[n] - (w[n] + dot([G[i][j] for j in places], x)) / G[i][i], 0)
    return dict(zip(places, x, strict=True))
