"""The recursive Newton–Euler algorithm: inverse dynamics in O(N)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torsor.algorithms import rotors
from torsor.algorithms.kinematics import Scalars, accelerations, joints, velocities
from torsor.algorithms.wrenches import on_bodies
from torsor.model.model import Model
from torsor.spatial import Acceleration, Motion


def rnea(
    model: Model,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    wrenches: Mapping[str, Scalars] | None = None,
    base_velocity: Scalars | None = None,
    base_acceleration: Scalars | None = None,
) -> list[Any]:
    """Joint forces of a motion: τ = M(q) a + h(q, v) − Jᵀf.

    ``wrenches`` act *on* the robot, each at and in its frame.  ``base_velocity`` and ``base_acceleration`` are the twist of
    a fixed base that is carried along, and its rate, in the base frame.

    F&O §3.1, eqs. 3–8; MR eqs. 8.50–8.54, with geared rotors 8.104–8.112.
    """
    X, S = joints(model, q)
    f = on_bodies(model, wrenches)
    V0 = Motion.of(base_velocity) if base_velocity else Motion.zero()
    A0 = Motion.of(base_acceleration) if base_acceleration else Motion.zero()
    V = velocities(model, X, S, v, V0)  # MR 8.51, F&O 3
    A = accelerations(model, X, S, V, q, v, a, Acceleration.of(V0, A0, model.gravity))  # MR 8.52, F&O 4
    F = [I.inverse_dynamics(Ai) - fi for I, Ai, fi in zip(model.inertia, A, f, strict=True)]  # MR 8.53, F&O 5
    F = rotors.carried(model, F, A, v, a)  # MR 8.110
    rotor = rotors.joint_forces(model, A, a)  # MR 8.112
    tau: list[list[Any]] = [[] for _ in model.parent]
    for i, p in model.inward():
        tau[i] = [t + r for t, r in zip(S[i].T @ F[i], rotor[i], strict=True)]  # MR 8.54, F&O 8
        F[p] = F[p] + X[i].T @ F[i]  # MR 8.53, F&O 7
    return model.gathered(tau)
