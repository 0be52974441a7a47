"""Numbers and poses as MJCF writes them."""

from __future__ import annotations

from torsor.io.shared.xml_text import number, numbers
from torsor.spatial import Inertia, Transform, Vec
from torsor.spatial.recovery import quaternion_of
from torsor.spatial.vector import IDENTITY, ZERO, Mat


def pose_attributes(who: str, X: Transform) -> dict[str, str]:
    """``pos`` and ``quat`` (w, x, y, z) of the frame that X leads to; attributes with default values are omitted."""
    R, p = X.pose
    out = {} if p == ZERO else {"pos": numbers(who, p)}
    return out if R == IDENTITY else out | {"quat": quaternion(who, R)}


def quaternion(who: str, R: Mat) -> str:
    x, y, z, w = quaternion_of(Mat(*(Vec(*(number(who, a) for a in row)) for row in R)))
    return numbers(who, (w, x, y, z))


def massless(G: Inertia) -> bool:
    return Inertia.zero() == G
