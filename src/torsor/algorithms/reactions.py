"""Reaction wrenches of the joints, and joint forces of wrenches on bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torsor.algorithms.kinematics import child_links
from torsor.algorithms.rnea import inward, outward
from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Force, Subspace, Transform
from torsor.spatial.motion import six_numbers


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
    return [six_numbers(link.inverse.T @ F[i]) for i, link in child_links(model)]


def joint_forces_of_wrenches(
    model: Model, X: Sequence[Transform], S: Sequence[Subspace], f: Mapping[int, Force]
) -> list[Scalar]:
    """Jᵀf (nv): the joint forces equivalent to wrenches on bodies, summed from the tips to the base (MR 8.53, 8.54)."""
    F = inward(model, X, [f.get(i, Force.zero()) for i in range(len(model.parent))])  # F&O 7
    return model.gather_forces([S[i].T @ F[i] for i in range(len(S))])  # F&O 8
