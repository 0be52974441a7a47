"""The recursive Newton–Euler algorithm: inverse dynamics in O(N)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from torsor.algorithms import rotors
from torsor.algorithms.forces import add_element_wrenches
from torsor.algorithms.kinematics import joints
from torsor.algorithms.wrenches import wrenches_on_bodies
from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Acceleration, Force, Inertia, Motion, Subspace, Transform


class Bodies(NamedTuple):
    """Per body, in its own frame: X from its parent, its joint's subspace S, its acceleration A (with ω), the force F."""

    X: list[Transform]
    S: list[Subspace]
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
) -> list[Scalar]:
    """Joint forces of a motion: τ = M(q) a + h(q, v) − Jᵀf.

    ``wrenches`` act *on* the robot, each at and in its frame.  ``base_velocity`` and ``base_acceleration`` are the twist of
    a fixed base that moves along a given path, and its rate, in the base frame.

    F&O §3.1, eqs. 3–8; MR eqs. 8.50–8.54, with geared rotors 8.104–8.112.
    """
    X, S, A, F = outward(model, q, v, a, wrenches, base_velocity, base_acceleration)
    F = inward(model, X, F)  # MR 8.53, F&O 7
    rotor = rotors.joint_forces(model, A, a)  # MR 8.112
    return model.gather_forces([S[i].T @ F[i] + rotor[i] for i in range(len(S))])  # MR 8.54, F&O 8


def outward(
    model: Model,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    wrenches: Mapping[str, Scalars] | None = None,
    base_velocity: Scalars | None = None,
    base_acceleration: Scalars | None = None,
) -> Bodies:
    """From the base to the tips: motion of each body, and the force it needs, minus the wrenches on it (F&O 3–5)."""
    qs, vs, rates, f = model.configuration(q), model.rates(v), model.rates(a), wrenches_on_bodies(model, wrenches)
    V0, A0 = (Motion.of(x) if x else Motion.zero() for x in (base_velocity, base_acceleration))
    X, S = joints(model, q)  # MR 8.50
    f = add_element_wrenches(model, f, X, S, v, V0)
    A, F = [Acceleration.of(V0, A0, model.gravity)], [Force.zero()]
    for i, p in model.outward():
        vJ = model.joint[i].twist(S[i], vs[i])
        aJ = S[i] @ rates[i] + model.joint[i].bias(qs[i], vs[i])  # F&O's h q̈ + ḣ q̇
        Ai, Fi = newton_euler(X[i] @ A[p], vJ, aJ, model.inertia[i])
        A.append(Ai)
        F.append(Fi - f[i])
    return Bodies(X, S, A, rotors.add_rotor_spin(model, F, A, v, a))  # MR 8.110


def newton_euler(A: Acceleration, vJ: Motion, aJ: Motion, I: Inertia) -> tuple[Acceleration, Force]:
    """The motion of a body after its joint, and the force it needs; A is the parent's, in the body's frame (F&O 3–5)."""
    # The books print V = Ad(V_λ) + S q̇ and V̇ = Ad(V̇_λ) + ad_V(S) q̇ + S q̈.  (ω, α, a) is V̇ = (α, a − ω × v) without the linear
    # velocity v, which no force depends on (F&O footnote 1); tests/textbook/test_books.py has both forms side by side.
    A = A.past_joint(vJ, aJ)  # MR 8.51, 8.52, F&O 3, 4
    return A, I.inverse_dynamics(A)  # MR 8.53, F&O 5


def inward(model: Model, X: Sequence[Transform], F: Sequence[Force]) -> list[Force]:
    """From the tips to the base: the wrench through each joint, the body's force and those of its children (F&O 7)."""
    through = list(F)
    for i, p in model.inward():
        through[p] = through[p] + X[i].T @ through[i]  # MR 8.53, F&O 7
    return through
