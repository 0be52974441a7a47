"""Axes and poses from the arrays of other libraries, with rounding removed from 0 and ±1."""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.scalar import tidy
from torsor.spatial import Mat, Transform, Vec


def unit(v: Any) -> Vec:
    """The direction of a vector."""
    return Vec(*(tidy(float(x)) for x in np.asarray(v) / np.linalg.norm(v)))


def transform_to(R: Any, p: Any) -> Transform:
    """X to a frame with axes R (3×3) at p."""
    return Transform.of_pose(snap_rotation(np.asarray(R, float)), Vec(*(tidy(float(x), 0.0) for x in p)))


def snap_rotation(R: Any) -> Mat:
    """The rows of a rotation, with entries within rounding of 0 and ±1 as those; they may be symbols."""
    return Mat(*(Vec(*(tidy(x) for x in row)) for row in R))
