"""The articulated-body algorithm: forward dynamics in O(N)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torsor.algorithms.kinematics import Scalars, accelerations, joints, velocities
from torsor.algorithms.wrenches import on_bodies
from torsor.model.model import Model
from torsor.spatial import Acceleration, ArticulatedInertia, Motion, Subspace, factor, plus_diagonal, solve


def aba(model: Model, q: Scalars, v: Scalars, tau: Scalars, wrenches: Mapping[str, Scalars] | None = None) -> list[Any]:
    """Accelerations of joint forces: a = M(q)⁻¹ (τ − h(q, v) + Jᵀf).  For models without coupled joints.

    Accelerations are counted from what the bodies would have with every joint at constant velocity (A below, as in RNEA with
    a = 0).  F&O's velocity products ḣ q̇ are in A, so they appear once, in the bias forces p, and A' is what τ − h adds.

    F&O §3.3, eqs. 11–14.
    """
    X, S = joints(model, q)
    f = on_bodies(model, wrenches)
    V = velocities(model, X, S, v)  # F&O 3
    still = Acceleration.of(Motion.zero(), Motion.zero(), model.gravity)
    A = accelerations(model, X, S, V, q, v, [0] * model.nv, still)  # F&O 4 without q̈
    p = [I.inverse_dynamics(Ai) - fi for I, Ai, fi in zip(model.inertia, A, f, strict=True)]  # F&O 5
    IA = [ArticulatedInertia.of(I) for I in model.inertia]
    t = model.rates(tau)
    n = len(model.parent)
    U: list[Any] = [None] * n
    D: list[Any] = [None] * n
    u: list[Any] = [None] * n
    for i, j in model.inward():
        U[i] = IA[i] @ S[i]
        D[i] = factor(plus_diagonal(S[i].T @ U[i], model.armature[i]), [model.joint_names[i]] * len(S[i]))
        u[i] = solve(D[i], [a - b for a, b in zip(t[i], S[i].T @ p[i], strict=True)])
        free = S[i] if not any(model.armature[i]) else Subspace(())
        IA[j] = IA[j] + X[i].T @ IA[i].without(free, U[i], solve(D[i], U[i]))  # F&O 12
        p[j] = p[j] + X[i].T @ sum((column * ui for column, ui in zip(U[i], u[i], strict=True)), start=p[i])  # F&O 13
    more = [Motion.zero()]  # A'
    a: list[Any] = [[] for _ in model.parent]
    for i, j in model.outward():
        carried = X[i] @ more[j]
        a[i] = [x - y for x, y in zip(u[i], solve(D[i], [carried.dot(column) for column in U[i]]), strict=True)]  # F&O 14
        more.append(carried + S[i] @ a[i])
    return model.gathered(a)
