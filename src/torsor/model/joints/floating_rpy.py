"""Floating joint with roll, pitch and yaw as coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torsor.model.joints.base import JointType
from torsor.model.joints.euler_angles import EulerAngles
from torsor.model.joints.floating import random_position
from torsor.scalar import Scalars
from torsor.spatial import Motion, Subspace, Transform, Vec
from torsor.spatial.vector import ZERO

_TURN = EulerAngles("zyx")


@dataclass(frozen=True)
class FloatingRPY(JointType):
    """q = (x, y, z [m], roll, pitch, yaw [rad]), R = Rz(yaw) Ry(pitch) Rx(roll); v = q̇, and not the body's twist.

    Six numbers that can be added, as in planners and optimisers.  At pitch = ±π/2 (gimbal lock) M is singular;
    :class:`Floating` has no such configuration.
    """

    name = "floating_rpy"
    nq = nv = 6
    angles = (3, 4, 5)

    def transform(self, q: Scalars) -> Transform:
        return Transform(_TURN.transform(_yaw_first(q)).E, Vec(*q[:3]))

    def subspace(self, q: Scalars) -> Subspace:
        R, _ = self.transform(q).pose
        return Subspace((*(Motion(ZERO, row) for row in R), *reversed(_TURN.subspace(_yaw_first(q)))))

    def subspace_rate(self, q: Scalars, v: Scalars) -> Subspace:
        R, _ = self.transform(q).pose
        angles, rates = _yaw_first(q), _yaw_first(v)
        w = (_TURN.subspace(angles) @ rates).w
        carried = (Motion(ZERO, row.cross(w)) for row in R)  # the world's axes, seen from a body that turns
        return Subspace((*carried, *reversed(_TURN.subspace_rate(angles, rates))))

    def random(self, rng: Any, lower: Sequence[float], upper: Sequence[float], shape: tuple[int, ...] = ()) -> list[Any]:
        """x, y and z as :class:`Floating`, angles as :class:`EulerAngles`."""
        angles = _TURN.random(rng, _yaw_first(lower), _yaw_first(upper), shape)
        return [*random_position(rng, lower, upper, shape), *reversed(angles)]


def _yaw_first(q: Sequence[Any]) -> list[Any]:
    """(yaw, pitch, roll), in the order of the rotations."""
    return [q[5], q[4], q[3]]
