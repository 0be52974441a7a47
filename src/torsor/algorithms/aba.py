"""The articulated-body algorithm: forward dynamics in O(N)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torsor.algorithms import rotors
from torsor.algorithms.articulated import articulated, joint_accelerations
from torsor.algorithms.kinematics import Scalars, accelerations, joints, velocities
from torsor.algorithms.wrenches import on_bodies
from torsor.model.model import Model
from torsor.spatial import Acceleration, Motion


def aba(model: Model, q: Scalars, v: Scalars, tau: Scalars, wrenches: Mapping[str, Scalars] | None = None) -> list[Any]:
    """Accelerations of joint forces: a = M(q)⁻¹ (τ − h(q, v) + Jᵀf).  For local models.

    Accelerations are counted from what the bodies would have with every joint at constant velocity (A below, as in RNEA with
    a = 0).  F&O's velocity products ḣ q̇ are in A, so they appear once, in the bias forces p.

    F&O §3.3, eqs. 11–14.
    """
    X, S = joints(model, q)
    f = on_bodies(model, wrenches)
    V = velocities(model, X, S, v)  # F&O 3
    still = Acceleration.of(Motion.zero(), Motion.zero(), model.gravity)
    A = accelerations(model, X, S, V, q, v, [0] * model.nv, still)  # F&O 4 without q̈
    p = [I.inverse_dynamics(Ai) - fi for I, Ai, fi in zip(model.inertia, A, f, strict=True)]  # F&O 5
    p, tau = rotors.carried(model, p, A, v, [0] * model.nv), rotors.unbiased(model, tau, A)  # MR 8.110, 8.112
    return joint_accelerations(model, articulated(model, X, S), tau, p)  # F&O 11–14
