"""The articulated-body algorithm: forward dynamics in O(N)."""

from __future__ import annotations

from collections.abc import Mapping

from torsor.algorithms import rotors
from torsor.algorithms.articulated import articulated_inertias, joint_accelerations
from torsor.algorithms.rnea import outward
from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars


def aba(model: Model, q: Scalars, v: Scalars, tau: Scalars, wrenches: Mapping[str, Scalars] | None = None) -> list[Scalar]:
    """Accelerations of joint forces: a = M(q)⁻¹ (τ − h(q, v) + Jᵀf).  For local models.

    Accelerations are counted from what the bodies would have with every joint at constant velocity (A below, as in RNEA with
    a = 0).  F&O's velocity products ḣ q̇ are in A, so they appear once, in the bias forces p.

    F&O §3.3, eqs. 11–14.
    """
    X, S, _, A, p = outward(model, q, v, [0] * model.nv, wrenches)  # F&O 3–5 without q̈
    tau = rotors.subtract_rotor_bias(model, tau, A)  # MR 8.112
    return joint_accelerations(model, articulated_inertias(model, X, S), tau, p)  # F&O 11–14
