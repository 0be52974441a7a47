"""Forward kinematics: transforms, subspaces and twists, from the base to the tips."""

from __future__ import annotations

from collections.abc import Sequence

from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Inertia, Motion, Subspace, Transform


def joints(model: Model, q: Scalars) -> tuple[list[Transform], list[Subspace]]:
    """X[i], from body λ(i) to body i (MR 8.50), and S[i], the joint's motion subspace (F&O's h)."""
    X, S = [Transform.identity()], [Subspace(())]
    rows = model.configuration(q)
    for i, _ in model.outward():
        X.append(model.joint[i].transform(rows[i]) @ model.offset[i])
        S.append(model.joint[i].subspace(rows[i]))
    return X, S


def velocities(
    model: Model, X: Sequence[Transform], S: Sequence[Subspace], v: Scalars, base: Motion | None = None
) -> list[Motion]:
    """V[i], the twist of body i in its own frame; ``base`` is that of the base, at rest unless given."""
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


def subspace_rates(model: Model, q: Scalars, v: Scalars) -> list[Subspace]:
    """Ṡ[i] as seen in body i; zero for every joint whose motion subspace is fixed in the body."""
    qs, vs = model.configuration(q), model.rates(v)
    return [model.joint[i].subspace_rate(qs[i], vs[i]) for i in range(len(model.parent))]


def pose(model: Model, q: Scalars, frame: str) -> list[list[Scalar]]:
    """T_world_frame, 4×4."""
    return poses(model, q, [frame])[0]


def poses(model: Model, q: Scalars, frames: Sequence[str] | str | None = None) -> list[list[list[Scalar]]]:
    """T_world_frame, 4×4, of each frame; by default of all frames of the model."""
    names = model.frames if frames is None else [frames] if isinstance(frames, str) else frames
    X, _ = joints(model, q)
    X0 = from_world(model, X)
    found: list[list[list[Scalar]]] = []
    for body, XF in map(model.frame, names):
        R, p = (XF @ X0[body]).pose
        found.append([*([*row, x] for row, x in zip(R, p, strict=True)), [0, 0, 0, 1]])
    return found


def composite_inertias(model: Model, X: Sequence[Transform]) -> list[Inertia]:
    """I^C of each body, in its frame: its inertia and those of all bodies after it; the base's is that of the robot (F&O 9)."""
    I = list(model.inertia)
    for i, p in model.inward():
        I[p] = I[p] + X[i].T @ I[i]
    return I


def total_inertia(model: Model, q: Scalars) -> Inertia:
    """The inertia of all bodies, the base included, as one rigid body about the world's origin."""
    return composite_inertias(model, joints(model, q)[0])[0]
