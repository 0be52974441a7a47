"""External wrenches: from the frames they act at to the bodies that carry those frames."""

from __future__ import annotations

from collections.abc import Mapping

from torsor.algorithms.kinematics import pose
from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Force


def wrenches_on_bodies(model: Model, wrenches: Mapping[str, Scalars] | None) -> list[Force]:
    """f[i] (F&O's f^x): external wrench on body i, in its frame.  Wrenches on the base do no work."""
    f = [Force.zero() for _ in model.parent]
    for name, F in (wrenches or {}).items():
        body, X = model.frame(name)
        f[body] = f[body] + X.T @ Force.of(F)
    return f


def in_frame_axes(model: Model, q: Scalars, frame: str, F: Scalars) -> list[Scalar]:
    """(Rᵀm, Rᵀf): a wrench (m, f) at a frame's origin, given in the world's axes, in the frame's own."""
    R = pose(model, q, frame)
    return [R[0][i] * F[k] + R[1][i] * F[k + 1] + R[2][i] * F[k + 2] for k in (0, 3) for i in range(3)]
