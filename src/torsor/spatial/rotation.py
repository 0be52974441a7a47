"""Rotations: about an axis, by quaternion (x, y, z, w), by roll-pitch-yaw; exponential and logarithm."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from torsor.scalar import Scalar, atan2, cos, ray, sin, sqrt, tidy, where
from torsor.spatial.vector import AXES, Mat, Vec

#: below this squared angle [rad²] a series replaces sin θ/θ: its error is then under one rounding
_SMALL = 1e-3
#: below this |v|² of a unit quaternion its logarithm comes from the series
_SMALL_SINE = 1e-6


def about(axis: Vec, angle: Scalar) -> Mat:
    """R = 1 + sin θ [a] + (1 − cos θ)[a]², the rotation about a unit axis (Rodrigues, MR 3.51).

    >>> about(Vec(0, 0, 1), 0.0).x
    Vec(x=1.0, y=-0.0, z=0)
    """
    s, c = sin(angle), cos(angle)
    unit = next((i for i, a in enumerate(axis) if isinstance(a, int) and abs(a) == 1), None)
    if unit is not None:  # a coordinate axis: two numbers instead of nine
        return about_coordinate_axis(unit, c, s * axis[unit])
    k = axis * (1 - c)
    a = axis * s
    xy, xz, yz = k.x * axis.y, k.x * axis.z, k.y * axis.z
    return Mat(
        Vec(k.x * axis.x + c, xy - a.z, xz + a.y),
        Vec(xy + a.z, k.y * axis.y + c, yz - a.x),
        Vec(xz - a.y, yz + a.x, k.z * axis.z + c),
    )


def about_coordinate_axis(axis: int, c: Scalar, s: Scalar) -> Mat:
    """The rotation about x (0), y (1) or z (2) with this cosine and sine."""
    return (
        Mat(Vec(1, 0, 0), Vec(0, c, -s), Vec(0, s, c)),
        Mat(Vec(c, 0, s), Vec(0, 1, 0), Vec(-s, 0, c)),
        Mat(Vec(c, -s, 0), Vec(s, c, 0), Vec(0, 0, 1)),
    )[axis]


class Quaternion(NamedTuple):
    """(x, y, z, w), the order of SciPy and ROS."""

    x: Scalar
    y: Scalar
    z: Scalar
    w: Scalar

    @classmethod
    def of(cls, q: Iterable[Scalar]) -> Quaternion:
        """The quaternion of coordinates in which a common factor has no meaning: R(k q) = R(q) for any k a double can hold."""
        return cls(*ray(*q))

    @property
    def matrix(self) -> Mat:
        """R of the rotation; the quaternion is normalised on the way, R(k q) = R(q)."""
        k = 2 / (self.x * self.x + self.y * self.y + self.z * self.z + self.w * self.w)
        x2, y2, z2 = self.x * k, self.y * k, self.z * k
        xx, yy, zz = x2 * self.x, y2 * self.y, z2 * self.z
        xy, xz, yz = x2 * self.y, x2 * self.z, y2 * self.z
        wx, wy, wz = x2 * self.w, y2 * self.w, z2 * self.w
        return Mat(
            Vec(1 - (yy + zz), xy - wz, xz + wy),
            Vec(xy + wz, 1 - (xx + zz), yz - wx),
            Vec(xz - wy, yz + wx, 1 - (xx + yy)),
        )

    def __matmul__(self, o: Quaternion) -> Quaternion:
        """Hamilton's product: first o, then self."""
        return Quaternion(
            self.w * o.x + self.x * o.w + self.y * o.z - self.z * o.y,
            self.w * o.y - self.x * o.z + self.y * o.w + self.z * o.x,
            self.w * o.z + self.x * o.y - self.y * o.x + self.z * o.w,
            self.w * o.w - self.x * o.x - self.y * o.y - self.z * o.z,
        )

    @property
    def conjugate(self) -> Quaternion:
        return Quaternion(-self.x, -self.y, -self.z, self.w)

    @property
    def normalized(self) -> Quaternion:
        # 1/n before √: where n loses digits to underflow 1/n overflows, which is found, and 1/√n would not
        k = sqrt(1 / (self.x * self.x + self.y * self.y + self.z * self.z + self.w * self.w))
        return Quaternion(self.x * k, self.y * k, self.z * k, self.w * k)

    @classmethod
    def exp(cls, w: Vec) -> Quaternion:
        """The rotation by the vector w [rad]: (w/|w| sin |w|/2, cos |w|/2), by series near zero."""
        square = w.dot(w)
        small = square < _SMALL
        angle = sqrt(where(small, 1.0, square))
        k = where(
            small,
            0.5 - square * (1 / 48 - square * (1 / 3840 - square * (1 / 645120))),
            sin(angle * 0.5) / angle,
        )
        c = where(
            small,
            1 - square * (1 / 8 - square * (1 / 384 - square * (1 / 46080))),
            cos(angle * 0.5),
        )
        return cls(w.x * k, w.y * k, w.z * k, c)

    @property
    def log(self) -> Vec:
        """The rotation vector of a unit quaternion, the shorter way round: |w| ≤ π."""
        v, w = self._shorter
        square = v.dot(v)
        small = square < _SMALL_SINE
        # θ = 2 atan2(|v|, w); near zero θ/|v| = 2/w (1 − |v|²/(3w²) + |v|⁴/(5w⁴) − ...)
        ratio = square / (where(small, w, 1.0) * where(small, w, 1.0))
        half, norm = self._half_angle
        k = where(small, 2 * (1 - ratio * (1 / 3 - ratio * (1 / 5))) / where(small, w, 1.0), 2 * half / norm)
        return v * k

    @property
    def half_angle(self) -> tuple[Scalar, Scalar]:
        """(θ/2, cot θ/2) of a unit quaternion, the shorter way round; not of a small angle, |v|² < 1e-6."""
        half, norm = self._half_angle
        return half, self._shorter[1] / norm

    @property
    def _shorter(self) -> tuple[Vec, Scalar]:
        """(v, w) with w ≥ 0, of the same rotation."""
        flip = where(self.w < 0, -1.0, 1.0)
        return Vec(self.x * flip, self.y * flip, self.z * flip), self.w * flip

    @property
    def _half_angle(self) -> tuple[Scalar, Scalar]:
        """θ/2 = atan2(|v|, w), and |v|; for a small angle they are meaningless."""
        v, w = self._shorter
        square = v.dot(v)
        norm = sqrt(where(square < _SMALL_SINE, 1.0, square))
        return atan2(norm, w), norm


def from_rpy(roll: Scalar, pitch: Scalar, yaw: Scalar) -> Mat:
    """R = Rz(yaw) Ry(pitch) Rx(roll): URDF's fixed-axis roll, pitch, yaw [rad]."""
    R = fixed_axis_rotation(roll, pitch, yaw)
    return Mat(*(Vec(*(tidy(a) for a in row)) for row in R))


def fixed_axis_rotation(roll: Scalar, pitch: Scalar, yaw: Scalar) -> Mat:
    """R = Rz(yaw) Ry(pitch) Rx(roll), as computed: :func:`from_rpy` puts right angles in order, which arrays cannot be."""
    x, y, z = AXES
    return about(z, yaw) @ about(y, pitch) @ about(x, roll)


def to_rpy(R: Mat) -> tuple[Scalar, Scalar, Scalar]:
    """Roll, pitch, yaw of a rotation, which give R back to rounding, near the poles too.

    There the yaw is arbitrary, but with the roll and pitch of Rz(−yaw) R, R = Ry(pitch) Rx(roll) holds for any yaw.
    """
    yaw = atan2(R.y.x, R.x.x)
    s, c = sin(yaw), cos(yaw)
    x, y = R.x * c + R.y * s, R.y * c - R.x * s
    return atan2(-y.z, y.y), atan2(-R.z.x, x.x), yaw
