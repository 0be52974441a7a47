"""The recursive Newton–Euler algorithm: inverse dynamics in O(N)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from torsor.algorithms import rotors
from torsor.algorithms.kinematics import Scalars, accelerations, joints, velocities
from torsor.algorithms.wrenches import on_bodies
from torsor.model.model import Model
from torsor.spatial import Acceleration, Force, Motion, Subspace, Transform


class Bodies(NamedTuple):
    """Of each body, in its own frame: X from its parent, its joint's subspace S, twist V, acceleration A, force F."""

    X: list[Transform]
    S: list[Subspace]
    V: list[Motion]
    A: list[Acceleration]
    F: list[Force]


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
    X, S, _, A, F = outward(model, q, v, a, wrenches, base_velocity, base_acceleration)
    F = inward(model, X, F)  # MR 8.53, F&O 7
    rotor = rotors.joint_forces(model, A, a)  # MR 8.112
    tau: list[list[Any]] = [[] for _ in model.parent]
    for i, _ in model.outward():
        tau[i] = [t + r for t, r in zip(S[i].T @ F[i], rotor[i], strict=True)]  # MR 8.54, F&O 8
    return model.gathered(tau)


def outward(
    model: Model,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    wrenches: Mapping[str, Scalars] | None = None,
    base_velocity: Scalars | None = None,
    base_acceleration: Scalars | None = None,
) -> Bodies:
    """From the base to the tips: how each body moves, and the force that this takes, less the wrenches on it (F&O 3–5)."""
    X, S = joints(model, q)  # MR 8.50
    V0 = Motion.of(base_velocity) if base_velocity else Motion.zero()
    A0 = Motion.of(base_acceleration) if base_acceleration else Motion.zero()
    V = velocities(model, X, S, v, V0)  # MR 8.51, F&O 3
    A = accelerations(model, X, S, V, q, v, a, Acceleration.of(V0, A0, model.gravity))  # MR 8.52, F&O 4
    f = on_bodies(model, wrenches)
    F = [I.inverse_dynamics(Ai) - fi for I, Ai, fi in zip(model.inertia, A, f, strict=True)]  # MR 8.53, F&O 5
    return Bodies(X, S, V, A, rotors.add_rotor_spin(model, F, A, v, a))  # MR 8.110


def inward(model: Model, X: Sequence[Transform], F: Sequence[Force]) -> list[Force]:
    """From the tips to the base: the wrench through each joint, the body's force and those of its children (F&O 7)."""
    through = list(F)
    for i, p in model.inward():
        through[p] = through[p] + X[i].T @ through[i]  # MR 8.53, F&O 7
    return through
