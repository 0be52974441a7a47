"""A step in time through contact: impulses of all contacts at once, at velocity level.

    v_f = v + dt a          a without contact
    u   = J v_f + G λ,      G = J M⁻¹Jᵀ
    0 ≤ λ_n ⊥ u_n + b ≥ 0,  |λ_t| ≤ μ λ_n
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
from torsor.algorithms.equation.at import ALONE, At, Inputs
from torsor.algorithms.equation.equation import EquationOfMotion
from torsor.algorithms.impulses import Block, Body, Budget, Problem, Shared, largest, passive_share, residual, solve_impulses
from torsor.algorithms.inverse_mass import InverseMass
from torsor.algorithms.steps import plus
from torsor.errors import ModelError
from torsor.model.contact.surfaces import tangents
from torsor.model.terms.contacts import Contacts, Touch
from torsor.scalar import Scalar, Scalars, is_zero, maximum, minimum, where
from torsor.spatial import Vec
from torsor.spatial.linear import dot

#: ε of G + ε tr(G_ii)/3: for redundant points, and directions that nothing moves
REGULAR = 1e-9
#: the same where rows are swept one by one: nothing is inverted
REGULAR_ROWS = 1e-12
#: largest velocity that pushes out of the ground [m/s]
PUSH = 0.1
#: share of the depth that is moved out in a step by positions, and the largest velocity of it [m/s]
SPLIT, SPLIT_SPEED = 0.2, 1.0
#: sweeps for it
SPLIT_SWEEPS = 4
#: points on a body from which its six motions serve them all, and the rows are dependent
MANY = 3
#: then sweeps over the bodies, over the contacts of each; and over those of a body that is the only one
BODIES, WITHIN, ONLY_BODY = 3, 4, 32


class Row(NamedTuple):
    """A row of J as Σ share × row of the basis, by the place in the basis."""

    shares: Mapping[int, Scalar]


class Contact(NamedTuple):
    """A possible contact with its term and its axes: two tangents and the normal, in the world's axes."""

    term: Contacts
    touch: Touch
    axes: tuple[Vec, Vec, Vec]


class AfterContact(NamedTuple):
    """The state after a step; of each term the forces in the world's axes [N], then the residual [m/s]."""

    q: list[Scalar]
    v: list[Scalar]
    impulses: dict[str, list[Scalar]]


def contact_terms(terms: Sequence[object]) -> tuple[Contacts, ...]:
    """The terms that are contacts."""
    return tuple(term for term in terms if isinstance(term, Contacts))


def contacts_at(terms: Sequence[Contacts], at: At) -> list[Contact]:
    """All possible contacts at a state."""
    return [Contact(term, touch, (*tangents(touch.normal), touch.normal)) for term in terms for touch in term.touches(at)]


def contact_gap(e: EquationOfMotion, q: Scalars, inputs: Inputs = ALONE) -> list[Scalar]:
    """φ of all possible contacts [m], negative inside."""
    return [c.touch.gap for c in contacts_at(contact_terms(e.terms), e.at(q, None, inputs.t))]


def budget_of(contacts: Sequence[Contact]) -> Budget:
    """The default budget: three sweeps over the contacts, and a Newton step where links touch each other, as in a stack.

    Where many points share a body, whose rows depend on each other: sweeps over the points of each body.
    """
    many = [n for n in _counts(contacts).values() if n >= MANY]
    if not many:
        return Budget(newton=int(any(c.touch.other for c in contacts)))
    return Budget(1, 0, ONLY_BODY) if len(many) == 1 and many[0] == len(contacts) else Budget(BODIES, 0, WITHIN)


def step_through_contact(terms: Sequence[Contacts], at: At, a: Scalars, M: InverseMass, dt: Scalar) -> AfterContact:
    """The state a step later, from the accelerations ``a`` without contact.

    Velocities are those in axes that do not turn, so that a body which flies, or rolls on a plane, keeps its momentum.
    """
    contacts = contacts_at(terms, at)
    basis, rows = contact_rows(contacts, at)
    both = [M.inward(row) for row in basis]
    W = [[dot(e, u) for _, u in both[: i + 1]] for i, (e, _) in enumerate(both)]  # its lower half
    G = _symmetric([[_between(W, r, s) for s in rows[: i + 1]] for i, r in enumerate(rows)])
    free = plus(at.v, plus(a, _turning(at), -1), dt)
    before, after = (_speeds(basis, rows, contacts, at, v) for v in (at.v, free))
    laws = [_law(c, before[3 * k + 2], after[3 * k + 2], at, dt) for k, c in enumerate(contacts)]
    budget, diagonal = budget_of(contacts), list[Scalar]()
    for k, law in enumerate(laws):
        _check_moves(contacts[k], [G[i][i] for i in range(3 * k, 3 * k + 3)])
        small = (REGULAR_ROWS if budget.local else REGULAR) / 3 * sum(G[i][i] for i in range(3 * k, 3 * k + 3))
        diagonal += [small, small, small + law.compliance]
    for i, x in enumerate(diagonal):
        G[i][i] = G[i][i] + x
    w = [x + (laws[i // 3].shift if i % 3 == 2 else 0) for i, x in enumerate(after)]
    p = Problem.of(
        G, w, [Block(3 * k + 2, (3 * k, 3 * k + 1), c.term.mu) for k, c in enumerate(contacts)], _shared(W, rows, diagonal)
    )
    lam = solve_impulses(p, _guess(terms, contacts, at, dt), budget)
    Gl = p.response(lam)
    share = passive_share(lam, Gl, [x + (laws[i // 3].allowed if i % 3 == 2 else 0) for i, x in enumerate(after)])
    lam, u = [x * share for x in lam], [x + share * y for x, y in zip(w, Gl, strict=True)]
    left = residual(p, lam, u)
    fast = plus(free, _response(M, [u for _, u in both], rows, lam), 1)
    way = _way_at_impact(at.v, fast, laws)
    moved = plus(way, _split(M, [u for _, u in both], rows, G, contacts, laws, u, dt), 1)
    return AfterContact(*_carry(at, [x * dt for x in moved], fast), _results(terms, contacts, lam, left, dt))


# -- rows ------------------------------------------------------------------------------------------------------------


def contact_rows(contacts: Sequence[Contact], at: At) -> tuple[list[list[Scalar]], list[Row]]:
    """A basis, and the rows of J, tangents and normal of each contact, as its sums.

    Three points and more of a body share the six motions of this body; others are their own basis.
    """
    basis: list[list[Scalar]] = []
    rows: list[Row] = []
    counts, first = _counts(contacts), dict[int, int]()
    for c in contacts:
        seen = at.from_world[c.touch.body]
        if counts.get(c.touch.body, 0) >= MANY and c.touch.other == 0:
            if c.touch.body not in first:
                first[c.touch.body] = len(basis)
                basis += motions(at, c.touch.body, seen.r)
            start, arm = first[c.touch.body], c.touch.at - seen.r
            rows += [Row({start + j: x for j, x in enumerate((*arm.cross(d), *d)) if not is_zero(x)}) for d in c.axes]
            continue
        on, under = (motions(at, body, c.touch.at, False) for body in (c.touch.body, c.touch.other))
        relative = [[x - y for x, y in zip(*pair, strict=True)] for pair in zip(on, under, strict=True)]
        for d in c.axes:
            rows.append(Row({len(basis): 1}))
            basis.append([dot(d, column) for column in zip(*relative, strict=True)])
    return basis, rows


def motions(at: At, body: int, point: Vec, angular: bool = True) -> list[list[Scalar]]:
    """ω and ṗ of a body's point in the world's axes as rows (6 × nv), or ṗ alone."""
    model, (_, S) = at.model, at.kinematics
    by_joint: list[list[list[Scalar]]] = [[[] for _ in model.parent] for _ in range(6 if angular else 3)]
    for i in model.path(body):
        seen = at.from_world[i]
        for s in S[i]:
            w = seen.E.T @ s.w
            v = seen.E.T @ s.v + w.cross(point - seen.r)
            for row, x in zip(by_joint, (*w, *v) if angular else v, strict=True):
                row[i].append(x)
    return [model.gather_forces(row) for row in by_joint]


def _speeds(basis: Sequence[Scalars], rows: Sequence[Row], contacts: Sequence[Contact], at: At, v: Scalars) -> list[Scalar]:
    """u = J v, and on a moving base what it gives."""
    found = _sums(rows, [dot(row, v) for row in basis])
    return [x + y for x, y in zip(found, _base_speeds(contacts, at), strict=True)] if at.model.is_on_moving_base else found


def _base_speeds(contacts: Sequence[Contact], at: At) -> list[Scalar]:
    found = []
    for c in contacts:
        V, seen = at.at_rest.twists[c.touch.body], at.from_world[c.touch.body]
        p_rate = seen.E.T @ V.v + (seen.E.T @ V.w).cross(c.touch.at - seen.r)
        found += [d.dot(p_rate) for d in c.axes]
    return found


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


def _shared(W: Sequence[Scalars], rows: Sequence[Row], diagonal: Scalars) -> Shared:
    """The rows as sums of the motions of bodies: contacts with the same motions are of one body."""
    E = [row.shares for row in rows]
    P = [_sums(rows, w) for w in _symmetric(W)]
    bodies: dict[tuple[int, ...], list[int]] = {}
    for k in range(len(rows) // 3):
        bodies.setdefault(tuple(sorted({j for row in rows[3 * k : 3 * k + 3] for j in row.shares})), []).append(k)
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


def _counts(contacts: Sequence[Contact]) -> dict[int, int]:
    """The number of points with the world by body."""
    counts: dict[int, int] = {}
    for c in contacts:
        if c.touch.other == 0:
            counts[c.touch.body] = counts.get(c.touch.body, 0) + 1
    return counts


def _check_moves(c: Contact, diagonal: Scalars) -> None:
    if all(map(is_zero, diagonal)):
        raise ModelError(f"{c.term.name}: nothing moves the contact of {c.term.frames[0]!r} against its surface; leave it out")


# -- laws ------------------------------------------------------------------------------------------------------------


class NormalLaw(NamedTuple):
    """b and the compliance of a normal row; the part of b that may add energy; whether it hits, and when in the step."""

    shift: Scalar
    compliance: Scalar
    allowed: Scalar
    hits: Scalar
    share: Scalar


def _law(c: Contact, before: Scalar, after: Scalar, at: At, dt: Scalar) -> NormalLaw:
    """0 ≤ λ ⊥ u + R λ + b ≥ 0: hard, with restitution, or an implicit spring k with a damper d."""
    t, gap = c.term, c.touch.gap
    if t.stiffness is not None:
        stiff = dt * t.stiffness + (0 if t.damping is None else t.damping)
        b = gap * t.stiffness / stiff
        return NormalLaw(b, 1 / (dt * stiff), b, 0, 0)
    b = maximum(gap / dt, -PUSH)
    push = minimum(b, 0)
    if is_zero(t.restitution):
        return NormalLaw(b, 0, push, 0, 0)
    slow = -2 * hypot(*at.model.gravity) * dt
    hits = where(before < slow, where(gap + dt * after <= 0, 1.0, 0.0), 0.0) * where(t.restitution > 0, 1.0, 0.0)
    share = minimum(maximum(gap / (dt * maximum(-before, -slow + 1e-30)), 0), 1)
    return NormalLaw(where(hits > 0, t.restitution * before, b), 0, where(hits > 0, 0, push), hits, share)


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
    M: InverseMass,
    U: Sequence[Scalars],
    rows: Sequence[Row],
    G: Sequence[Scalars],
    contacts: Sequence[Contact],
    laws: Sequence[NormalLaw],
    u: Scalars,
    dt: Scalar,
) -> list[Scalar]:
    """M⁻¹J_nᵀx, 0 ≤ x ⊥ u_n⁺ + G_n x + c ≥ 0: the velocity that moves hard contacts out of the ground.  v⁺ does not keep it."""
    hard = [k for k, c in enumerate(contacts) if c.term.stiffness is None]
    if not hard:
        return [0] * len(M.outward(U[0]))
    places = [3 * k + 2 for k in hard]
    w = []
    for k, i in zip(hard, places, strict=True):
        gap = contacts[k].touch.gap
        out = where(gap > 0, gap / dt, maximum(SPLIT * gap / dt, -SPLIT_SPEED))
        w.append(u[i] - laws[k].shift + out)
    x: list[Scalar] = [0] * len(places)
    for _ in range(SPLIT_SWEEPS):
        for n, i in enumerate(places):
            x[n] = maximum(x[n] - (w[n] + dot([G[i][j] for j in places], x)) / G[i][i], 0)
    return _response(M, U, [rows[i] for i in places], x)


# -- forces ----------------------------------------------------------------------------------------------------------


def _guess(terms: Sequence[Contacts], contacts: Sequence[Contact], at: At, dt: Scalar) -> list[Scalar]:
    """λ from the forces of the step before."""
    forces = [f * dt for term in terms for f in term.forces(at)]
    if not forces:
        return [0] * (3 * len(contacts))
    return [d.dot(f) for c, f in zip(contacts, forces, strict=True) for d in c.axes]


def _results(
    terms: Sequence[Contacts], contacts: Sequence[Contact], lam: Scalars, left: Scalars, dt: Scalar
) -> dict[str, list[Scalar]]:
    """By term: forces, then the largest residual."""
    out: dict[str, list[Scalar]] = {}
    for term in terms:
        own = [k for k, c in enumerate(contacts) if c.term is term]
        forces: list[Scalar] = []
        for k in own:
            f = reduce(lambda x, y: x + y, (d * (lam[3 * k + i] / dt) for i, d in enumerate(contacts[k].axes)))
            forces += [*f]
        out[term.name] = [*forces, largest([left[3 * k + i] for k in own for i in range(3)])]
    return out
