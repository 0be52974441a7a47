"""The articulated-body algorithm: forward dynamics in O(N), and M⁻¹ applied to any vector.

For local models: mimic joints, and rotors mounted further in than the parent, couple distant bodies, which breaks the
recursion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from torsor.algorithms import rotors
from torsor.algorithms.massless import check_inertia, least_pivots
from torsor.algorithms.rnea import outward
from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars
from torsor.spatial import ArticulatedInertia, Force, Forces, Motion, Subspace, Transform
from torsor.spatial.articulated import accelerate, articulate, innovate
from torsor.spatial.linear import Factors
from torsor.spatial.matrix import Vector


def aba(model: Model, q: Scalars, v: Scalars, tau: Scalars, wrenches: Mapping[str, Scalars] | None = None) -> list[Scalar]:
    """Accelerations of joint forces: a = M(q)⁻¹ (τ − h(q, v) + Jᵀf).

    Accelerations are counted from those of the bodies with every joint at constant velocity (A below, as in RNEA with a = 0).
    F&O's velocity products ḣ q̇ are in A, so they appear once, in the bias forces p.

    F&O §3.3, eqs. 11–14.
    """
    X, S, A, p = outward(model, q, v, [0] * model.nv, wrenches)  # F&O 3–5 without q̈
    bodies = articulated_bodies(model, X, S)  # F&O 11, 12
    _, u = innovations(model, bodies, rotors.subtract_rotor_bias(model, tau, A), p)  # F&O 13, MR 8.112
    return accelerations(model, bodies, u)  # F&O 14


class ArticulatedBodies(NamedTuple):
    """Per body: the joint's transform X and motion subspace S, U = I^A S, and the factors of D = SᵀI^A S + armature.

    A rotor on the parent adds G² J to D, and to U the moment J G u that the joint's acceleration puts on the parent; the
    parent's acceleration puts the same moment on the joint, so M⁻¹ stays one recursion.
    """

    X: Sequence[Transform]
    S: Sequence[Subspace]
    U: Mapping[int, Forces]
    D: Mapping[int, Factors]


def articulated_bodies(
    model: Model, X: Sequence[Transform], S: Sequence[Subspace], free: Scalars | None = None
) -> ArticulatedBodies:
    """The articulated-body inertias, from the tips to the base: I^A_j = I_j + Σ Xᵀ (I^A − U D⁻¹ Uᵀ) X (F&O 11–12).

    Joints are rigid where ``free`` (nv) is 0; it is 1 elsewhere.
    """
    check_inertia(model)
    flags = None if free is None else model.rates(free)
    IA = [ArticulatedInertia.of(I) for I in model.inertia]
    drive, spin = rotors.apparent_inertia(model), rotors.reflected_inertia(model)
    U, D, least = {}, {}, least_pivots(model)
    for i, j in model.inward():
        moment = rotors.spin_in_child(spin, i, j, X[i])  # MR 8.110
        own = None if flags is None else flags[i]
        U[i], D[i], Ia = articulate(IA[i], S[i], drive[i], moment, model.joint_names[i], least[i], own)  # F&O 12
        IA[j] = IA[j] + X[i].T @ Ia  # F&O 12
    return ArticulatedBodies(X, S, U, D)


def innovations(
    model: Model, bodies: ArticulatedBodies, tau: Scalars, p: Sequence[Force | None] | None = None
) -> tuple[dict[int, Vector], dict[int, list[Scalar]]]:
    """ε = τ − Sᵀp^A and u = D⁻¹ε of joint forces τ and bias forces p, from the tips to the base (F&O 13; Rodriguez's name).

    ``None`` means no bias force.  The integer 0 vanishes from every product and sum of a recording, so a sparse right-hand
    side costs only the operations of its part of the tree.
    """
    X, S, U, D = bodies
    pA, t = [x or Force.zero() for x in p or [None] * len(X)], model.rates(tau)
    e, u = {}, {}
    for i, j in model.inward():
        e[i], u[i], pa = innovate(pA[i], S[i], U[i], D[i], t[i])  # F&O 13
        pA[j] = pA[j] + X[i].T @ pa  # F&O 13
    return e, u


def accelerations(model: Model, bodies: ArticulatedBodies, u: Mapping[int, Scalars] | Sequence[Scalars]) -> list[Scalar]:
    """The joint accelerations (nv) of u = D⁻¹ε, from the base to the tips (F&O 14)."""
    return model.gather_forces(accelerations_of_bodies(model, bodies, u)[1])


def accelerations_of_bodies(
    model: Model, bodies: ArticulatedBodies, u: Mapping[int, Scalars] | Sequence[Scalars]
) -> tuple[dict[int, Motion], dict[int, Vector]]:
    """The acceleration of each body due to the forces, and those of its joint."""
    X, S, U, D = bodies
    A, a = {0: Motion.zero()}, {}
    for i, j in model.outward():
        A[i], a[i] = accelerate(X[i] @ A[j], S[i], U[i], D[i], u[i])  # F&O 14
    return A, a
