"""Motion of possible contacts at a state: distances, velocities, and the part of their accelerations that v alone makes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

from torsor.algorithms.equation.at import At
from torsor.algorithms.equation.contact import Contact, contact_rows, contact_terms, contacts_at
from torsor.algorithms.equation.equation import EquationOfMotion
from torsor.scalar import Scalar, Scalars, rate
from torsor.spatial.linear import dot


class ContactMotion(NamedTuple):
    """φ and, in the rows of two tangents and the normal of each contact, u = J v and the drift of u̇ = J a + J̇ v."""

    gap: list[Scalar]
    J: list[list[Scalar]]
    drift: list[Scalar]
    axes: list[list[list[Scalar]]]  #: the tangents and the normal of each contact, in the world's axes


def contact_motion(e: EquationOfMotion, q: Scalars, v: Scalars) -> ContactMotion:
    """φ, J, J̇ v and axes of all possible contacts.

    J̇ v = d/dt (J(q) v) along q̇ = v at constant v, by dual numbers.
    """
    terms, at = contact_terms(e.terms), e.at(q, v)
    contacts = contacts_at(terms, at)
    moving = At(e.model, at.moving)
    drift = [rate(dot(row, v)) for row in _jacobian(contacts_at(terms, moving), moving)]
    axes = [[[*d] for d in c.axes] for c in contacts]
    return ContactMotion([c.touch.gap for c in contacts], _jacobian(contacts, at), drift, axes)


def _jacobian(contacts: Sequence[Contact], at: At) -> list[list[Scalar]]:
    """J, three rows per contact."""
    basis, rows = contact_rows(contacts, at)
    found = []
    for row in rows:
        parts = ([share * x for x in basis[k]] for k, share in row.shares.items())
        found.append(reduce(lambda a, b: [x + y for x, y in zip(a, b, strict=True)], parts))
    return found
