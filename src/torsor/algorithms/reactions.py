"""Reaction wrenches of the joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torsor.algorithms.rnea import inward, outward
from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Force


def reaction_wrenches(
    model: Model,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    wrenches: Mapping[str, Scalars] | None = None,
    on_bodies: Sequence[Force] | None = None,
) -> list[list[Scalar]]:
    """F[i] = I[i] A[i] + V[i] ×* I[i] V[i] − f[i] + Σ F of its children: (N, 6), one row per moving joint (F&O 5–7, MR 8.53).

    The wrench (m [N·m], f [N]) that the joint puts on its child link, in that link's frame, drive and bearing together: SᵀF is
    the joint's τ less its rotor's, the gear torque (MR 8.111).  ``wrenches`` act on the robot at and in their frames,
    ``on_bodies`` one on each body.
    """
    X, _, _, F = outward(model, q, v, a, wrenches)  # F&O 3–5
    if on_bodies is not None:
        F = [x - y for x, y in zip(F, on_bodies, strict=True)]
    F = inward(model, X, F)  # F&O 7
    child = {frame.body: frame.X for frame in reversed(model.frames.values())}  # a body's first frame is its joint's child link
    seen = [child[i].inverse.T @ F[i] for i, _ in model.outward()]
    return [[*x.m, *x.f] for x in seen]
