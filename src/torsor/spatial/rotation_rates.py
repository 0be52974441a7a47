"""Rates of roll, pitch and yaw, and of a quaternion, from an angular velocity, over any scalar."""

from __future__ import annotations

from torsor.errors import SingularError
from torsor.scalar import Scalar, cos, is_constant, sin, sqrt, where
from torsor.spatial.rotation import Quaternion
from torsor.spatial.vector import Mat, Vec

#: cos²(pitch) below which roll and yaw turn about one axis to rounding: 1e-10 rad from ±π/2, where six digits are left
LOCKED = 1e-20


def rpy_jacobian(roll: Scalar, pitch: Scalar, yaw: Scalar) -> Mat:
    """B(rpy), with ω = B d/dt(roll, pitch, yaw) in the fixed axes, of R = Rz(yaw) Ry(pitch) Rx(roll).

    Its columns are the axes of the three turns: x after pitch and yaw, y after yaw, z.
    """
    x, s, c = _x_axis(pitch, yaw), sin(yaw), cos(yaw)
    return Mat(Vec(x.x, -s, 0), Vec(x.y, c, 0), Vec(x.z, 0, 1))


def rpy_rates(x: Vec) -> Mat:
    """B⁻¹, with d/dt(roll, pitch, yaw) = B⁻¹ ω, ω in the fixed axes; x is the body's x axis, the first column of R.

    Raises SingularError for numbers at gimbal lock; a recorded B⁻¹ is infinite there.
    """
    square = x.x * x.x + x.y * x.y  # cos²(pitch)
    square = where(square < LOCKED, 0.0, square)
    if is_constant(square) and square == 0:
        raise SingularError(LOCK_MESSAGE)
    cosine = sqrt(square)
    roll = Vec(x.x / square, x.y / square, 0)
    return Mat(roll, Vec(-x.y / cosine, x.x / cosine, 0), Vec(-(x.z * roll.x), -(x.z * roll.y), 1))


#: error message at gimbal lock
LOCK_MESSAGE = (
    "gimbal lock: at a pitch of ±90° roll and yaw turn about the same axis, so rates of roll, pitch and yaw do not exist "
    "(cos pitch < 1e-10); use a quaternion, or the twist itself"
)


def quaternion_rate(q: Quaternion, w: Vec) -> Quaternion:
    """q̇ = ½ (ω, 0) q, with ω in the fixed axes."""
    return Quaternion(*(x * 0.5 for x in Quaternion(*w, 0) @ q))


def _x_axis(pitch: Scalar, yaw: Scalar) -> Vec:
    """Rz(yaw) Ry(pitch) x̂, the first column of R."""
    c = cos(pitch)
    return Vec(cos(yaw) * c, sin(yaw) * c, -sin(pitch))
