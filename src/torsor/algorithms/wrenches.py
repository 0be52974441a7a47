"""External wrenches: from the frames they act at to the bodies that carry those frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torsor.algorithms.kinematics import pose
from torsor.model.model import Frame, Model
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Force


def wrenches_on_bodies(model: Model, wrenches: Mapping[Any, Any] | None) -> list[Force]:
    """f[i] (F&O's f^x): external wrench on body i, in its frame, of wrenches by frame (six numbers) or by body (a Force).

    Wrenches on the base do no work.
    """
    f = [Force.zero() for _ in model.parent]
    for name, F in (wrenches or {}).items():
        body, push = (name, F) if isinstance(F, Force) else _on_body(model.frame(name), F)
        f[body] = f[body] + push
    return f


def _on_body(frame: Frame, F: Scalars) -> tuple[int, Force]:
    return frame.body, frame.X.T @ Force.of(F)


def in_frame_axes(model: Model, q: Scalars, frame: str, F: Scalars) -> list[Scalar]:
    """(Rᵀm, Rᵀf): a wrench (m, f) at a frame's origin, given in the world's axes, in the frame's own."""
    R = pose(model, q, frame)
    return [R[0][i] * F[k] + R[1][i] * F[k + 1] + R[2][i] * F[k + 2] for k in (0, 3) for i in range(3)]
