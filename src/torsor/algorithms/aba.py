"""The articulated-body algorithm: forward dynamics in O(N)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from torsor.algorithms.kinematics import Scalars, joints
from torsor.algorithms.wrenches import on_bodies
from torsor.model.model import Model
from torsor.spatial import ArticulatedInertia, Force, Motion, Subspace, Transform, factor, solve
from torsor.spatial.linear import Factors
from torsor.spatial.vector import ZERO


class Articulated(NamedTuple):
    """What the inward pass leaves for each joint; it depends on q alone."""

    X: list[Transform]
    S: list[Subspace]
    U: list[list[Force]]  # I^A S
    D: list[Factors]  # Sᵀ I^A S, factored
    Ia: list[Any]  # I^A − U D⁻¹ Uᵀ


def articulated_bodies(model: Model, q: Scalars) -> Articulated:
    """Articulated-body inertias, from the tips to the base (F&O 12)."""
    X, S = joints(model, q)
    n = len(model.parent)
    IA: list[Any] = [ArticulatedInertia.of(G) for G in model.inertia]
    U: list[Any] = [[]] * n
    D: list[Any] = [([], [])] * n
    Ia: list[Any] = [None] * n
    for i, p in model.inward():
        U[i] = IA[i] @ S[i]
        block = S[i].T @ U[i]
        for d, armature in enumerate(model.armature[i]):
            block[d][d] = block[d][d] + armature
        D[i] = factor(block, [model.joint_names[i]] * model.joint[i].nv)
        axes = Subspace(()) if any(model.armature[i]) else S[i]
        Ia[i] = IA[i].without(axes, U[i], solve(D[i], U[i]))  # F&O 12
        if p > 0:
            IA[p] = IA[p] + X[i].T @ Ia[i]
    return Articulated(X, S, U, D, Ia)


def accelerations(
    model: Model, bodies: Articulated, tau: Scalars, c: Sequence[Motion], pA: list[Force], base: Motion
) -> list[Any]:
    """Joint accelerations from joint forces τ, velocity products c and bias forces p (F&O 13, 14)."""
    X, S, U, D, Ia = bodies
    t = model.rates(tau)
    u: list[Any] = [[] for _ in model.parent]
    for i, p in model.inward():
        u[i] = solve(D[i], [ti - si for ti, si in zip(t[i], S[i].T @ pA[i], strict=True)])
        if p > 0:
            pa = pA[i] + Ia[i] @ c[i]
            for column, ui in zip(U[i], u[i], strict=True):
                pa = pa + column * ui
            pA[p] = pA[p] + X[i].T @ pa  # F&O 13
    A = [base]
    a: list[Any] = [[] for _ in model.parent]
    for i, p in model.outward():
        Ap = X[i] @ A[p] + c[i]
        a[i] = [ui - wi for ui, wi in zip(u[i], solve(D[i], [Ap.dot(column) for column in U[i]]), strict=True)]  # F&O 14
        A.append(Ap + S[i] @ a[i])  # F&O 4
    return model.gathered(a)


def aba(
    model: Model,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    wrenches: Mapping[str, Scalars] | None = None,
) -> list[Any]:
    """Accelerations of joint forces: a = M(q)⁻¹ (τ − h(q, v) + Jᵀf).

    F&O §3.3, eqs. 11–14.  For models without coupled joints.
    """
    bodies = articulated_bodies(model, q)
    f = on_bodies(model, wrenches)
    qs, vs = model.configuration(q), model.rates(v)
    V, c, pA = [Motion.zero()], [Motion.zero()], [Force.zero()]
    for i, p in model.outward():
        vJ = bodies.S[i] @ vs[i]
        V.append(bodies.X[i] @ V[p] + vJ)  # F&O 3
        c.append(model.joint[i].bias(qs[i], vs[i]) + V[i].cross(vJ))
        pA.append(V[i].cross(model.inertia[i] @ V[i]) - f[i])
    return accelerations(model, bodies, tau, c, pA, -Motion(ZERO, model.gravity))
