"""The sliders of a robot: one per degree of freedom of a joint, and q from their values."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from torsor.model.terms.beams import rigid_joints
from torsor.spatial.rotation import Quaternion, to_rpy
from torsor.spatial.vector import AXES
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.robot import Robot


_XYZ, _RPY = ("x", "y", "z"), ("roll", "pitch", "yaw")
#: names of the coordinates of a joint that has several, where these are not their numbers
_WORDS: dict[str, tuple[str, ...]] = {
    "cylindrical": ("turn", "slide"),
    "planar": ("x", "y", "turn"),
    "spherical": _RPY,
    "translation": _XYZ,
    "floating_rpy": _XYZ + _RPY,
    "floating": _XYZ + _RPY,
}


class Slider(NamedTuple):
    """One slider: its joint, its label, its unit [rad] or [m], and its range."""

    joint: str
    label: str
    unit: str
    lower: float
    upper: float


class Sliders:
    """The sliders of a robot.  ``rows`` are in the order of q; a joint with a quaternion has roll, pitch and yaw in its place.

    Without limits the range is half a turn in both directions, or twice the robot's ``size`` [m].  Mimic joints and modes of
    beams have no slider.

    >>> import torsor as ts
    >>> sliders = Sliders(ts.robots.cart_pole(), 1.0)
    >>> [(s.label, s.unit) for s in sliders.rows]
    [('slide', 'm'), ('hinge', 'rad')]
    >>> sliders.configuration([0.1, 0.2])
    array([0.1, 0.2])
    """

    def __init__(self, robot: Robot, size: float):
        self.joints = [robot.joint(name) for name in rigid_joints(robot.model)]
        self.rest = robot.nq - sum(len(joint.lower) for joint in self.joints)  # modes of beams, which have no slider
        self.rows: list[Slider] = []
        for joint in self.joints:
            several = joint.q_slice.stop - joint.q_slice.start > 1
            words = _WORDS.get(joint.type) or tuple(str(k + 1) if several else "" for k in range(len(joint.lower)))
            bounded = len(words) == len(joint.lower)  # limits of a quaternion's numbers do not apply to angles
            for k, word in enumerate(words):
                unit = "m" if word in (*_XYZ, "slide") or joint.type == "prismatic" else "rad"
                free = pi if unit == "rad" else 2 * size
                lower, upper = (joint.lower[k], joint.upper[k]) if bounded else (-np.inf, np.inf)
                self.rows.append(Slider(joint.name, f"{joint.name} {word}".strip(), unit, *_range(lower, upper, free)))

    def values(self, q: ArrayLike) -> list[float]:
        """Values of the sliders at q."""
        q, out = np.asarray(q, float), []
        for joint in self.joints:
            mine = q[joint.q_slice].tolist()
            turned = 4 if joint.type in ("spherical", "floating") else 0
            out += mine[: len(mine) - turned]
            out += _angles(mine[len(mine) - turned :]) if turned else []
        return out

    def configuration(self, values: Sequence[float]) -> Array:
        """q from the values of the sliders."""
        q, rest = [], list(values)
        for joint in self.joints:
            turned = joint.type in ("spherical", "floating")
            straight = joint.q_slice.stop - joint.q_slice.start - (4 if turned else 0)
            mine, rest = rest[: straight + 3 * turned], rest[straight + 3 * turned :]
            q += mine[:straight]
            q += _quaternion(mine[straight:]) if turned else []
        return np.array([*q, *[0.0] * self.rest], float)


def _range(lower: float, upper: float, free: float) -> tuple[float, float]:
    """The given limits; a missing limit is ``free`` beyond the other."""
    if np.isfinite(lower) and np.isfinite(upper):
        return (float(lower), float(upper)) if upper > lower else (float(lower) - 1e-6, float(lower) + 1e-6)
    if np.isfinite(lower):
        return float(lower), float(lower) + 2 * free
    if np.isfinite(upper):
        return float(upper) - 2 * free, float(upper)
    return -free, free


def _angles(xyzw: Sequence[float]) -> list[float]:
    return [float(x) for x in to_rpy(Quaternion.of(xyzw).matrix)]


def _quaternion(rpy: Sequence[float]) -> list[float]:
    """Rz(yaw) Ry(pitch) Rx(roll)."""
    x, y, z = (Quaternion.exp(axis * angle) for axis, angle in zip(AXES, rpy, strict=True))
    return [float(c) for c in z @ y @ x]
