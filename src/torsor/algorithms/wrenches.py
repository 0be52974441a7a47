"""External wrenches: from the frames they act at to the bodies that carry those frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torsor.algorithms.kinematics import Scalars
from torsor.model.model import Model
from torsor.spatial import Force


def on_bodies(model: Model, wrenches: Mapping[str, Scalars] | None) -> list[Force]:
    """f[i] (F&O's f^x): what acts on body i from outside, in its frame.  Wrenches on the base do no work."""
    f: list[Any] = [Force.zero() for _ in model.parent]
    for name, F in (wrenches or {}).items():
        body, X = model.frame(name)
        f[body] = f[body] + X.T @ Force.of(F)
    return f
