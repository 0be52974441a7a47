"""The recursive Newton–Euler algorithm: inverse dynamics in O(N)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torsor.algorithms.kinematics import Scalars, joints
from torsor.algorithms.wrenches import on_bodies
from torsor.model.model import Model
from torsor.spatial import Acceleration, Force, Motion


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

    F&O §3.1, eqs. 3–8; MR eqs. 8.50–8.54.
    """
    X, S = joints(model, q)
    q, v, a = model.configuration(q), model.rates(v), model.rates(a)
    f = on_bodies(model, wrenches)
    V = [Motion.of(base_velocity) if base_velocity else Motion.zero()]
    A = [Acceleration.of(V[0], Motion.of(base_acceleration) if base_acceleration else Motion.zero(), model.gravity)]
    F = [Force.zero()]
    tau: list[list[Any]] = [[] for _ in model.parent]
    for i, p in model.outward():
        vJ = S[i] @ v[i]
        cJ = model.joint[i].bias(q[i], v[i])
        V.append(X[i] @ V[p] + vJ)  # MR 8.51, F&O 3
        A.append((X[i] @ A[p]).joined(V[i].w, vJ, S[i] @ a[i] + cJ))  # MR 8.52, F&O 4
        F.append(model.inertia[i].inverse_dynamics(A[i]) - f[i])  # MR 8.53, F&O 5
    for i, p in model.inward():
        tau[i] = [t + I * ai for t, I, ai in zip(S[i].T @ F[i], model.armature[i], a[i], strict=True)]  # MR 8.54, F&O 8
        F[p] = F[p] + X[i].T @ F[i]  # F&O 7
    return model.gathered(tau)
