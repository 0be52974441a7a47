"""Energies of a robot and its terms, the power of terms, and the part of it that they turn into heat."""

from __future__ import annotations

from torsor.algorithms.energy import kinetic_energy, potential_energy
from torsor.algorithms.equation.equation import EquationOfMotion
from torsor.scalar import Scalar, Scalars


def energies(e: EquationOfMotion, q: Scalars, v: Scalars, t: Scalar | None = None, x: Scalars | None = None) -> list[Scalar]:
    """½ vᵀM v, the potential energy of the tree, and the energy that each term stores [J]."""
    at = e.at(q, v, t, x)
    return [kinetic_energy(e.model, q, v), potential_energy(e.model, q), *(term.energy(at) for term in e.terms)]


def flows(e: EquationOfMotion, q: Scalars, v: Scalars, t: Scalar | None = None, x: Scalars | None = None) -> list[Scalar]:
    """The power of terms on the robot that is not stored in them, and the power that they turn into heat [W]."""
    at = e.at(q, v, t, x)
    return [sum(term.power(at) for term in e.terms), sum(term.heat(at) for term in e.terms)]
