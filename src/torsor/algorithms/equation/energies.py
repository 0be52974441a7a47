"""Energies of a robot and its terms, the power of terms, and the part of it that they turn into heat."""

from __future__ import annotations

from torsor.algorithms.energy import kinetic_energy, potential_energy
from torsor.algorithms.equation.equation import EquationOfMotion
from torsor.algorithms.rnea import rnea
from torsor.scalar import Scalar, Scalars
from torsor.spatial.linear import dot


def energies(e: EquationOfMotion, q: Scalars, v: Scalars, t: Scalar | None = None, x: Scalars | None = None) -> list[Scalar]:
    """½ vᵀM v, the potential energy of the tree, and the energy that each term stores [J]."""
    at = e.at(q, v, t, x)
    return [kinetic_energy(e.model, q, v), potential_energy(e.model, q), *(term.energy(at) for term in e.terms)]


def flows(e: EquationOfMotion, q: Scalars, v: Scalars, t: Scalar | None = None, x: Scalars | None = None) -> list[Scalar]:
    """The power of terms on the robot that is not stored in them, and the power that they turn into heat [W].

    That of a moving base is the power of the inertial forces on the motion relative to it, whose energy is counted.
    """
    at, still = e.at(q, v, t, x), [0] * e.model.nv
    power = sum(term.power(at) for term in e.terms)
    if at.model.is_on_moving_base:
        power = power + dot(rnea(e.model, q, v, still), v) - dot(rnea(at.model, q, v, still), v)
    return [power, sum(term.heat(at) for term in e.terms)]
