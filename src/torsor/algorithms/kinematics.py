"""Forward kinematics: transforms, subspaces and twists, from the base to the tips."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torsor.model.model import Model
from torsor.spatial import Motion, Subspace, Transform

Scalars = Sequence[Any]


def joints(model: Model, q: Scalars) -> tuple[list[Transform], list[Subspace]]:
    """X[i], from body λ(i) to body i (MR 8.50), and S[i], the joint's motion freedom (F&O's h)."""
    X, S = [Transform.identity()], [Subspace(())]
    rows = model.configuration(q)
    for i, _ in model.outward():
        X.append(model.joint[i].transform(rows[i]) @ model.offset[i])
        S.append(model.joint[i].subspace(rows[i]))
    return X, S


def velocities(model: Model, X: Sequence[Transform], S: Sequence[Subspace], v: Scalars, base: Motion | None = None) -> list[Motion]:
    """V[i], the twist of body i in its own frame."""
    V = [base or Motion.zero()]
    rows = model.rates(v)
    for i, p in model.outward():
        V.append(X[i] @ V[p] + S[i] @ rows[i])  # MR 8.51, F&O 3
    return V


def from_world(model: Model, X: Sequence[Transform]) -> list[Transform]:
    """The transform from the world to each body; its pose is T_world_body."""
    X0 = [Transform.identity()]
    for i, p in model.outward():
        X0.append(X[i] @ X0[p])
    return X0
