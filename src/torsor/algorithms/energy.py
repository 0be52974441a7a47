"""Energies and momentum."""

from __future__ import annotations

from torsor.algorithms import rotors
from torsor.algorithms.forces import with_carried_weight
from torsor.algorithms.kinematics import joints, total_inertia, velocities
from torsor.algorithms.rnea import inward
from torsor.model.model import Model
from torsor.model.part import part_of
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Force
from torsor.spatial.motion import six_numbers


def kinetic_energy(model: Model, q: Scalars, v: Scalars) -> Scalar:
    """K = ½ Σ Vᵢᵀ Gᵢ Vᵢ (MR eq. 8.55), plus the rotors' spin energy: ½ Σ armature v² for armatures alone."""
    V, rates = velocities(model, *joints(model, q), v), model.rates(v)
    total: Scalar = 0
    for i, _ in model.outward():
        total = total + model.inertia[i].kinetic_energy(V[i])
        for armature, rate in zip(model.armature[i], rates[i], strict=True):
            total = total + rate * rate * armature / 2
    return total + rotors.kinetic_energy(model, V, v)  # MR §8.9.2


def potential_energy(model: Model, q: Scalars) -> Scalar:
    """P = −Σ mᵢ gᵀcᵢ of moving links, zero with every centre of mass at the world's origin; less what force elements carry."""
    return -total_inertia(part_of(with_carried_weight(model), moving=True), q).h.dot(model.gravity)


def momentum(model: Model, q: Scalars, v: Scalars) -> list[Scalar]:
    """Σ Gᵢ Vᵢ (MR eq. 8.34): (angular, linear) momentum of all moving links, in world axes, about the world origin."""
    X, S = joints(model, q)
    V = velocities(model, X, S, v)
    P = [Force.zero()] + [model.inertia[i] @ V[i] for i, _ in model.outward()]
    P = rotors.momenta(model, P, v)
    return six_numbers(inward(model, X, P)[0])
