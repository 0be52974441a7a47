"""Forward kinematics: transforms, subspaces and twists, from the base to the tips."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from torsor.model.joints import Fixed
from torsor.model.model import Frame, Model
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Inertia, Motion, Subspace, Transform, Vec
from torsor.spatial.vector import IDENTITY


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
        V.append(X[i] @ V[p] + model.joint[i].twist(S[i], rows[i]))  # MR 8.51, F&O 3
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


def pose(model: Model, q: Scalars, frame: str, relative_to: str | None = None, at: Scalars | None = None) -> list[list[Scalar]]:
    """T_world_frame, 4×4, or that of the frame at the point ``at`` of it; ``relative_to`` takes the world's place."""
    return _poses(model, q, [frame_at(model, frame, at)], relative_to)[0]


def poses(
    model: Model, q: Scalars, frames: Sequence[str] | str | None = None, relative_to: str | None = None
) -> list[list[list[Scalar]]]:
    """T_world_frame, 4×4, of each frame; by default of all frames of the model.  ``relative_to`` takes the world's place."""
    names = model.frames if frames is None else [frames] if isinstance(frames, str) else frames
    return _poses(model, q, [model.frame(name) for name in names], relative_to)


def _poses(model: Model, q: Scalars, frames: Sequence[Frame], relative_to: str | None) -> list[list[list[Scalar]]]:
    model, B = model_relative_to(model, relative_to, frames)
    X, _ = joints(model, q)
    X0 = from_world(model, X)
    to_world = (B.X @ X0[B.body]).inverse
    found: list[list[list[Scalar]]] = []
    for F in frames:
        R, p = (F.X @ X0[F.body] @ to_world).pose
        found.append([*([*row, x] for row, x in zip(R, p, strict=True)), [0, 0, 0, 1]])
    return found


def frame_at(model: Model, name: str, at: Scalars | None = None) -> Frame:
    """The frame of that name, with its origin at the point ``at`` of it, in its axes."""
    F = model.frame(name)
    return F if at is None else Frame(F.body, Transform(IDENTITY, Vec(*at)) @ F.X)


def model_relative_to(model: Model, relative_to: str | None, frames: Sequence[Frame]) -> tuple[Model, Frame]:
    """The model and its frame B in the place of the world, for the motion of ``frames`` relative to B.

    Joints that carry B and all of the frames do not change this motion.  So the last body that carries them all is put at the
    base, at rest: its joint and those before it are welded, and only the two ways on from it count.
    """
    if relative_to is None:
        return model, Frame(0, Transform.identity())
    B = model.frame(relative_to)
    shared = B.body
    for F in frames:
        shared = model.common_ancestor(shared, F.body)
    joint, offset, coupling = list(model.joint), list(model.offset), list(model.coupling)
    for i in model.path(shared):
        joint[i], offset[i], coupling[i] = Fixed(), Transform.identity(), None
    return replace(model, joint=tuple(joint), offset=tuple(offset), coupling=tuple(coupling)), B


def child_links(model: Model) -> Iterator[tuple[int, Transform]]:
    """Each moving body and the transform to the frame of its joint's child link, which is its first frame."""
    child = {frame.body: frame.X for frame in reversed(model.frames.values())}
    return ((i, child[i]) for i, _ in model.outward())


def composite_inertias(model: Model, X: Sequence[Transform]) -> list[Inertia]:
    """I^C of each body, in its frame: its inertia and those of all bodies after it; the base's is that of the robot (F&O 9)."""
    I = list(model.inertia)
    for i, p in model.inward():
        I[p] = I[p] + X[i].T @ I[i]
    return I


def total_inertia(model: Model, q: Scalars) -> Inertia:
    """The inertia of all bodies, the base included, as one rigid body about the world's origin."""
    return composite_inertias(model, joints(model, q)[0])[0]
