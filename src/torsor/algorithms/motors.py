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
    """τ_motor = τ_gear / G + J (u·α_b + G a_i), one per rotor [N·m]: the torque at the rotor (MR 8.112).

    It equals τ_i / G, the joint force divided by the ratio, because the joint force does its work on the rotor.
    """
    tau = rnea(model, q, v, a, wrenches)
    return [tau[model.v_start[r.joint]] / r.ratio for r in model.rotors]  # MR 8.112


def gear_torque(
    model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Mapping[str, Scalars] | None = None
) -> list[Scalar]:
    """τ_gear = SᵀF, one per rotor [N·m; N for prismatic joints]: output torque of the gearhead (MR 8.111).

    It includes the torque for mimic joints of this joint and for the joint's armature.
    """
    tau, turning = rnea(model, q, v, a, wrenches), rotors.rotor_acceleration_forces(model, outward(model, q, v, a).A, a)
    return [tau[model.v_start[r.joint]] - t for r, t in zip(model.rotors, turning, strict=True)]  # MR 8.111
