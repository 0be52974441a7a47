"""The gear ratio that accelerates a load most (MR Exercise 8.9)."""

from __future__ import annotations

from torsor.errors import ArgumentError
from torsor.model.actuators.parameters import require
from torsor.scalar import Scalar, is_constant, sqrt


def load_acceleration(
    ratio: Scalar,
    *,
    motor_torque: Scalar,
    load_inertia: Scalar,
    rotor_inertia: Scalar,
    opposing_torque: Scalar = 0,
    efficiency: Scalar = 1,
) -> Scalar:
    """θ̈ = (ηG τ_m − τ_L)/(I_link + G² I_rotor) [rad/s²] (MR Exercise 8.9, there with η = 1 and τ_L = 0).

    ``opposing_torque`` τ_L [N·m] acts on the load: friction, or gravity.  η as in :class:`Drive`.

    >>> load_acceleration(ratio=10, motor_torque=1.0, load_inertia=0.5, rotor_inertia=0.005)
    10.0
    """
    return (efficiency * ratio * motor_torque - opposing_torque) / (load_inertia + ratio**2 * rotor_inertia)


def inertia_matching_ratio(
    load_inertia: Scalar,
    rotor_inertia: Scalar,
    *,
    opposing_torque: Scalar = 0,
    motor_torque: Scalar | None = None,
    efficiency: Scalar = 1,
) -> Scalar:
    """G* = √(I_link/I_rotor): dθ̈/dG = 0, where reflected rotor inertia and link inertia are equal (MR Exercise 8.9).

    Against an opposing torque τ_L [N·m] the ratio must grow: G* = s + √(s² + I_link/I_rotor) with s = τ_L/(η τ_m); then it
    depends on ``motor_torque`` τ_m, and a gear's efficiency η counts.  Inertias in kg·m².

    >>> inertia_matching_ratio(0.5, 0.005)
    10.0
    """
    require("inertia_matching_ratio", "load_inertia", load_inertia, "kg·m²", above=0)
    require("inertia_matching_ratio", "rotor_inertia", rotor_inertia, "kg·m²", above=0)
    require("inertia_matching_ratio", "efficiency", efficiency, "(a fraction)", above=0)
    require("inertia_matching_ratio", "opposing_torque", opposing_torque, "N·m")
    matched = load_inertia / rotor_inertia
    if is_constant(opposing_torque) and opposing_torque == 0:
        return sqrt(matched)
    if motor_torque is None:
        raise ArgumentError("inertia_matching_ratio: with an opposing_torque the ratio depends on motor_torque; give it")
    require("inertia_matching_ratio", "motor_torque", motor_torque, "N·m", above=0)
    s = opposing_torque / (efficiency * motor_torque)
    return s + sqrt(s**2 + matched)
