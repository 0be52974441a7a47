"""What the motors and their gearheads deliver, of robots with rotors (MR §8.9.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torsor.algorithms import rotors
from torsor.algorithms.kinematics import Scalars, accelerations, joints, velocities
from torsor.algorithms.rnea import rnea
from torsor.model.model import Model
from torsor.spatial import Acceleration, Motion


def motor_torque(model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Mapping[str, Scalars] | None = None) -> list[Any]:
    """τ_motor = τ_gear / G + J (u·α_b + G a_i), a rotor each [N·m]: the torque at the rotor (MR 8.112).

    It is the joint's force over the ratio, τ_i / G: what a coordinate's joint force works on is the rotor.
    """
    tau = rnea(model, q, v, a, wrenches)
    return [tau[model.v_start[r.joint]] / r.ratio for r in model.rotors]  # MR 8.112


def gear_torque(model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Mapping[str, Scalars] | None = None) -> list[Any]:
    """τ_gear = SᵀF, a rotor each [N·m; N where the joint slides]: what the gearhead passes on to the joint (MR 8.111).

    That of joints coupled to it, and of an armature of its own, included.
    """
    X, S = joints(model, q)
    V = velocities(model, X, S, v)
    A = accelerations(model, X, S, V, q, v, a, Acceleration.of(Motion.zero(), Motion.zero(), model.gravity))
    tau = rnea(model, q, v, a, wrenches)
    turning = rotors.turning(model, A, a)
    return [tau[model.v_start[r.joint]] - t for r, t in zip(model.rotors, turning, strict=True)]  # MR 8.111
