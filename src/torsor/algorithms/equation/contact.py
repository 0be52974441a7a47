"""Possible contacts of a robot at a state: their rows in v, the guess of their impulses, and the results of a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import NamedTuple

from torsor.algorithms.equation.at import ALONE, At, Inputs
from torsor.algorithms.equation.equation import EquationOfMotion
from torsor.algorithms.impulses import largest
from torsor.model.contact.surfaces import tangents
from torsor.model.terms.contacts import Contacts, Touch
from torsor.scalar import Scalar, Scalars, is_zero
from torsor.spatial import Vec
from torsor.spatial.linear import dot

#: points on a body from which its six motions serve them all, and the rows are dependent
MANY = 3


class Row(NamedTuple):
    """A row of J as Σ share × row of the basis, by the place in the basis."""

    shares: Mapping[int, Scalar]


class Contact(NamedTuple):
    """A possible contact with its term and its axes: two tangents and the normal, in the world's axes."""

    term: Contacts
    touch: Touch
    axes: tuple[Vec, Vec, Vec]


def contact_terms(terms: Sequence[object]) -> tuple[Contacts, ...]:
    """The terms that are contacts."""
    return tuple(term for term in terms if isinstance(term, Contacts))


def contacts_at(terms: Sequence[Contacts], at: At) -> list[Contact]:
    """All possible contacts at a state."""
    return [Contact(term, touch, (*tangents(touch.normal), touch.normal)) for term in terms for touch in term.touches(at)]


def contact_gap(e: EquationOfMotion, q: Scalars, inputs: Inputs = ALONE) -> list[Scalar]:
    """φ of all possible contacts [m], negative inside."""
    return [c.touch.gap for c in contacts_at(contact_terms(e.terms), e.at(q, None, inputs.t))]


def contact_geometry(e: EquationOfMotion, q: Scalars, inputs: Inputs = ALONE) -> tuple[list[Vec], list[Vec]]:
    """The points of all possible contacts [m] and their normals, in world axes."""
    touches = [c.touch for c in contacts_at(contact_terms(e.terms), e.at(q, None, inputs.t))]
    return [c.at for c in touches], [c.normal for c in touches]


# -- rows ------------------------------------------------------------------------------------------------------------


def contact_rows(contacts: Sequence[Contact], at: At) -> tuple[list[list[Scalar]], list[Row]]:
    """A basis, and the rows of J, tangents and normal of each contact, as its sums.

    Three points and more of a body share the six motions of this body; others are their own basis.
    """
    basis: list[list[Scalar]] = []
    rows: list[Row] = []
    counts, first = points_by_body(contacts), dict[int, int]()
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


def base_speeds(contacts: Sequence[Contact], at: At) -> list[Scalar]:
    """The velocities of contacts on a moving base at rest in its joints."""
    found = []
    for c in contacts:
        V, seen = at.at_rest.twists[c.touch.body], at.from_world[c.touch.body]
        p_rate = seen.E.T @ V.v + (seen.E.T @ V.w).cross(c.touch.at - seen.r)
        found += [d.dot(p_rate) for d in c.axes]
    return found


def points_by_body(contacts: Sequence[Contact]) -> dict[int, int]:
    """The number of points with the world by body."""
    counts: dict[int, int] = {}
    for c in contacts:
        if c.touch.other == 0:
            counts[c.touch.body] = counts.get(c.touch.body, 0) + 1
    return counts


# -- forces ----------------------------------------------------------------------------------------------------------


def guess(terms: Sequence[Contacts], contacts: Sequence[Contact], at: At, dt: Scalar) -> list[Scalar]:
    """λ from the forces of the step before."""
    forces = [f * dt for term in terms for f in term.forces(at)]
    if not forces:
        return [0] * (3 * len(contacts))
    return [d.dot(f) for c, f in zip(contacts, forces, strict=True) for d in c.axes]


def results(
    terms: Sequence[Contacts], contacts: Sequence[Contact], lam: Scalars, left: Scalars, dt: Scalar
) -> dict[str, list[Scalar]]:
    """By term: forces, then the largest residual, with that of stops and dry friction of joints."""
    out: dict[str, list[Scalar]] = {}
    for term in terms:
        own = [k for k, c in enumerate(contacts) if c.term is term]
        forces: list[Scalar] = []
        for k in own:
            f = reduce(lambda x, y: x + y, (d * (lam[3 * k + i] / dt) for i, d in enumerate(contacts[k].axes)))
            forces += [*f]
        out[term.name] = [*forces, largest([*(left[3 * k + i] for k in own for i in range(3)), *left[3 * len(contacts) :]])]
    return out
