"""Geared rotors in every recursion: MR §8.9.3, eqs. 8.104–8.112, on any tree and for a mount on any earlier link.

A rotor is symmetric about its spin axis u, so its inertia, seen from its mount b, does not depend on its angle and 8.104 need
not be computed.  Standing still on b it belongs to b's inertia (:func:`torsor.model.assembly.assemble` puts it there).  The
rest is its spin against b, at G v_i, with the angular momentum H = J G v_i u, a free moment:

    moment on b   J G a_i u + ω_b × H              besides its own inertia (8.106, 8.108 in 8.110)
    its joint     G J (u·α_b + G a_i)              besides the gear torque (8.112, times G)
    the energy    J G v_i u·ω_b + ½ G² J v_i²      besides K of b
    M             M_ji = J G u·s_j, M_ii = G² J    s_j the turn of b at unit v_j

The cross terms are the gyroscopic coupling; without them a rotor is an armature of G² J.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Acceleration, Force, Motion, Transform
from torsor.spatial.coriolis import BodyCoriolis
from torsor.spatial.vector import ZERO

#: (joint's body, mount) → the wrench of a rotor's spin on its mount
Spin = Mapping[tuple[int, int], Force]


# -- inverse dynamics ----------------------------------------------------------------------------------------------------


def add_rotor_spin(model: Model, F: Sequence[Force], A: Sequence[Acceleration], v: Scalars, a: Scalars) -> list[Force]:
    """F[b] + J G a_i u + ω_b × J G v_i u: the bodies' forces with the spin of the rotors mounted on them."""
    out, vs, rates = list(F), model.rates(v), model.rates(a)
    for r in model.rotors:
        H = r.momentum
        spin = H * rates[r.joint][0] + A[r.mount].w.cross(H * vs[r.joint][0])  # MR 8.106, 8.108
        out[r.mount] = out[r.mount] + Force(spin, ZERO)  # MR 8.110
    return out


def rotor_acceleration_forces(model: Model, A: Sequence[Acceleration], a: Scalars) -> list[Scalar]:
    """G J (u·α_b + G a_i), one per rotor: joint force that accelerates the rotor (MR 8.112, times G)."""
    rates = model.rates(a)
    return [r.momentum.dot(A[r.mount].alpha) + rates[r.joint][0] * r.apparent_inertia for r in model.rotors]


def joint_forces(model: Model, A: Sequence[Acceleration], a: Scalars) -> list[list[Scalar]]:
    """Joint forces that accelerate the drives: armature × acceleration, plus the force for the rotor (MR 8.112)."""
    out = model.rotor_forces(a)
    for r, t in zip(model.rotors, rotor_acceleration_forces(model, A, a), strict=True):
        out[r.joint] = [out[r.joint][0] + t]
    return out


def subtract_rotor_bias(model: Model, tau: Scalars, A: Sequence[Acceleration]) -> list[Scalar]:
    """τ_i − G J u·α_b, with the bodies' accelerations A at a = 0: the part of τ that accelerates the joints."""
    out = list(tau)
    for r in model.rotors:
        k = model.v_start[r.joint]
        out[k] = out[k] - r.momentum.dot(A[r.mount].alpha)
    return out


# -- the mass matrix -----------------------------------------------------------------------------------------------------


def apparent_inertia(model: Model) -> list[tuple[Scalar, ...]]:
    """Inertia of each joint's own drive: its armature, plus G² J of its rotor (MR §8.9.2)."""
    out = list(model.armature)
    for r in model.rotors:
        out[r.joint] = (out[r.joint][0] + r.apparent_inertia,)
    return out


def reflected_inertia(model: Model) -> Spin:
    """(J G u, 0): wrench on a rotor's mount at unit acceleration of its joint."""
    return {(r.joint, r.mount): Force(r.momentum, ZERO) for r in model.rotors}


def add_rotor_forces(spin: Spin, i: int, b: int, F: list[Force]) -> list[Force]:
    """Joint i's forces F, carried inwards to body b, plus those of its rotor if it is mounted on b."""
    return [F[0] + spin[i, b]] if (i, b) in spin else F


def spin_in_child(spin: Spin, i: int, p: int, X: Transform) -> Force | None:
    """The moment of joint i's rotor on body p in the frame of body i, X from p to i; None if no rotor of i is mounted there."""
    return Force(X.E @ spin[i, p].m, ZERO) if (i, p) in spin else None  # a free moment: X only rotates it


# -- the Coriolis matrix -------------------------------------------------------------------------------------------------


def add_spin_coriolis(model: Model, B: Sequence[BodyCoriolis], v: Scalars) -> list[BodyCoriolis]:
    """B[b] − ½[H]: the spin H = J G v_i u counts as angular momentum of the mount."""
    out, vs = list(B), model.rates(v)
    for r in model.rotors:
        H = r.momentum * (vs[r.joint][0] * -0.5)
        out[r.mount] = out[r.mount] + BodyCoriolis(H.skew(), ZERO)
    return out


def half_spin_rate(model: Model, V: Sequence[Motion]) -> Spin:
    """½ ω_b × J G u: half the rate of a rotor's unit momentum due to the rotation of its mount.

    With m_j = M_ji = J G u·s_j, MR 8.17 gives C_ji = ½ Σ_k (∂m_j/∂q_k − ∂m_k/∂q_j) v_k = ½ s_j·(ω_b × J G u) and
    C_ij = J G u·ṡ_j + C_ji, so that C_ij + C_ji = ṁ_j.
    """
    return {(r.joint, r.mount): Force(V[r.mount].w.cross(r.momentum * 0.5), ZERO) for r in model.rotors}


# -- energy and momentum -------------------------------------------------------------------------------------------------


def kinetic_energy(model: Model, V: Sequence[Motion], v: Scalars) -> Scalar:
    """Σ J G v_i u·ω_b + ½ G² J v_i² (MR §8.9.2): kinetic energy of the rotors' spin."""
    vs = model.rates(v)
    total: Scalar = 0
    for r in model.rotors:
        rate = vs[r.joint][0]
        total = total + r.momentum.dot(V[r.mount].w) * rate + rate * rate * r.apparent_inertia / 2
    return total


def momenta(model: Model, P: Sequence[Force], v: Scalars) -> list[Force]:
    """P[b] + (J G v_i u, 0): the bodies' momenta with those of the spins."""
    out, vs = list(P), model.rates(v)
    for r in model.rotors:
        out[r.mount] = out[r.mount] + Force(r.momentum * vs[r.joint][0], ZERO)
    return out
