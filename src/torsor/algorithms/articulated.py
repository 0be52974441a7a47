"""The articulated-body factorization: made once for a configuration, then M⁻¹ is applied to any number of vectors in O(N) each.

For local models: coupled joints, and rotors mounted further in than the parent, tie distant bodies together, which breaks the
recursion.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from torsor.algorithms import rotors
from torsor.algorithms.kinematics import Scalars
from torsor.model.model import Model
from torsor.spatial import ArticulatedInertia, Force, Motion, Subspace, Transform, factor, linear, plus_diagonal
from torsor.spatial.linear import Factors


class ArticulatedBodies(NamedTuple):
    """Per body: the joint's transform X and freedom S, U = I^A S, and the factors of D = SᵀI^A S + armature.

    A rotor on the parent adds G² J to D, and to U the moment J G u with which the parent feels the joint accelerate: the same
    moment is what the joint feels of the parent, so M⁻¹ stays one recursion.
    """

    X: Sequence[Transform]
    S: Sequence[Subspace]
    U: Sequence[list[Force]]
    D: Sequence[Factors]


def articulated_inertias(model: Model, X: Sequence[Transform], S: Sequence[Subspace]) -> ArticulatedBodies:
    """The articulated-body inertias, from the tips to the base: I^A_j = I_j + Σ Xᵀ (I^A − U D⁻¹ Uᵀ) X.

    F&O §3.3, eqs. 11–12.
    """
    IA = [ArticulatedInertia.of(I) for I in model.inertia]
    drive, spin = rotors.apparent_inertia(model), rotors.reflected_inertia(model)
    U: list[Any] = [None] * len(X)
    D: list[Any] = [None] * len(X)
    for i, j in model.inward():
        U[i], D[i] = joint_factors(IA[i], S[i], drive[i], model.joint_names[i])
        U[i] = rotors.seen_from(spin, i, j, X[i], U[i])  # MR 8.110
        IA[j] = IA[j] + X[i].T @ inertia_past_joint(IA[i], S[i], drive[i], U[i], D[i])
    return ArticulatedBodies(X, S, U, D)


def innovations(
    model: Model, bodies: ArticulatedBodies, tau: Scalars, p: Sequence[Force | None] | None = None
) -> tuple[list[Any], list[Any]]:
    """What of joint forces τ and bias forces p is new at each joint, from the tips to the base: ε = τ − Sᵀp^A, and D⁻¹ε.

    ``None`` stands for no bias force.  The integer 0 vanishes from every product and sum of a recording, so a sparse right-hand
    side costs only what its part of the tree costs.

    F&O §3.3, eq. 13; the name is Rodriguez's.
    """
    X, S, U, D = bodies
    pA = [pi or Force.zero() for pi in p or [None] * len(X)]
    t = model.rates(tau)
    e: list[Any] = [[] for _ in X]
    u: list[Any] = [[] for _ in X]
    for i, j in model.inward():
        e[i] = [a - b for a, b in zip(t[i], S[i].T @ pA[i], strict=True)]
        u[i] = linear.solve(D[i], e[i])
        pA[j] = pA[j] + X[i].T @ bias_past_joint(pA[i], U[i], u[i])
    return e, u


def joint_accelerations(
    model: Model, bodies: ArticulatedBodies, tau: Scalars, p: Sequence[Force | None] | None = None
) -> list[Any]:
    """M⁻¹ (τ − Jᵀp), (nv), from joint forces τ and bias forces p (one per body), in O(N).

    F&O §3.3, eqs. 13–14.
    """
    return outward(model, bodies, innovations(model, bodies, tau, p)[1])


def outward(model: Model, bodies: ArticulatedBodies, u: Sequence[Scalars]) -> list[Any]:
    """The accelerations (nv) of what each joint adds, u = D⁻¹ε, from the base to the tips.

    F&O §3.3, eq. 14.
    """
    X, S, U, D = bodies
    A = [Motion.zero()]  # what the forces add to the acceleration of each body
    a: list[Any] = [[] for _ in X]
    for i, j in model.outward():
        carried = X[i] @ A[j]
        a[i] = joint_acceleration(u[i], carried, U[i], D[i])
        A.append(carried + S[i] @ a[i])
    return model.gathered(a)


# -- one joint; torsor.mechanics.large.recursions uses these too -------------------------------------------------


def joint_factors(IA: ArticulatedInertia, S: Subspace, drive: Scalars, name: str = "") -> tuple[list[Force], Factors]:
    """U = I^A S, and the factors of D = SᵀI^A S + drive for a free joint (F&O 12)."""
    U = IA @ S
    return U, factor(plus_diagonal(S.T @ U, drive), [name] * len(S))


def inertia_past_joint(IA: ArticulatedInertia, S: Subspace, drive: Scalars, U: list[Force], D: Factors) -> ArticulatedInertia:
    """I^A − U D⁻¹ Uᵀ: the inertia transmitted through the joint (F&O 12)."""
    free = S if all(linear.is_zero(x) for x in drive) else Subspace(())
    return IA.without(free, U, linear.solve(D, U))  # F&O 12


def bias_past_joint(p: Force, U: list[Force], u: Scalars) -> Force:
    """p^A + U u: the bias force transmitted through the joint (F&O 13)."""
    return sum((f * ui for f, ui in zip(U, u, strict=True)), start=p)  # F&O 13


def joint_acceleration(u: Scalars, carried: Motion, U: list[Force], D: Factors) -> list[Any]:
    """q̈ = u − D⁻¹ Uᵀ a_λ: what its own forces and the acceleration of its parent leave to the joint (F&O 14)."""
    return [x - y for x, y in zip(u, linear.solve(D, [carried.dot(f) for f in U]), strict=True)]  # F&O 14
