"""Motor and gear torques of robots with rotors (MR §8.9.3)."""

from __future__ import annotations

from collections.abc import Mapping

from torsor.algorithms import rotors
from torsor.algorithms.rnea import outward, rnea
from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars


def motor_torque(
    model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Mapping[str, Scalars] | None = None
) -> list[Scalar]:
    """τ_motor = τ_gear / G + J (u·α_b + G a_i), a rotor each [N·m]: the torque at the rotor (MR 8.112).

    It is the joint's force over the ratio, τ_i / G: what a coordinate's joint force works on is the rotor.
    """
    tau = rnea(model, q, v, a, wrenches)
    return [tau[model.v_start[r.joint]] / r.ratio for r in model.rotors]  # MR 8.112


def gear_torque(
    model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Mapping[str, Scalars] | None = None
) -> list[Scalar]:
    """τ_gear = SᵀF, one per rotor [N·m; N for prismatic joints]: output torque of the gearhead (MR 8.111).

    That of joints coupled to it, and of an armature of its own, included.
    """
    tau, turning = rnea(model, q, v, a, wrenches), rotors.turning(model, outward(model, q, v, a).A, a)
    return [tau[model.v_start[r.joint]] - t for r, t in zip(model.rotors, turning, strict=True)]  # MR 8.111
