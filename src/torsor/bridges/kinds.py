"""Coordinates of one joint in other libraries.

The other library's velocity is V = T(q) v with T orthogonal; so joint forces are TAU = T τ, and accelerations A = T a + Ṫ v.
Leading axes are batches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from torsor.model.polynomials import derivative, evaluate
from torsor.spatial import Mat, Quaternion, Transform, Vec
from torsor.spatial.recovery import quaternion_of
from torsor.spatial.rigid import reading as read
from torsor.spatial.rigid.motions import from_quaternion
from torsor.spatial.rotation import to_rpy
from torsor.spatial.vector import AXES, IDENTITY, ZERO
from torsor.support.user_arrays import Array


def _identity(x: Array) -> Array:
    return x


@dataclass(frozen=True)
class Kind:
    """Conversions of q in both directions; T(q) (..., n, n), None where it is 1; Ṫ v (..., n), None where it is 0."""

    q: Callable[[Array], Array] = _identity
    q_back: Callable[[Array], Array] = _identity
    T: Callable[[Array], Array] | None = None
    drift: Callable[[Array, Array], Array] | None = None


def _times(R: Array, x: Array) -> Array:
    return (R @ x[..., None])[..., 0]


def _w_first(q: Array) -> Array:
    return q[..., [3, 0, 1, 2]]


def _w_last(q: Array) -> Array:
    return q[..., [1, 2, 3, 0]]


#: the same numbers
SAME = Kind()

#: an angle as (cos θ, sin θ); back it is in (−π, π], whole turns are lost
CIRCLE = Kind(
    lambda q: np.concatenate([np.cos(q), np.sin(q)], axis=-1), lambda Q: np.arctan2(Q[..., 1:2], Q[..., 0:1])
)  # fmt: skip

#: a quaternion (w, x, y, z)
W_FIRST = Kind(_w_first, _w_last)


def polynomial(p: Sequence[Any]) -> Kind:
    """A joint that follows its leader by a polynomial: q = p(x), T = p′(x), Ṫ v = p″(x) v²."""
    slope = derivative(p)
    return Kind(
        lambda x: np.asarray(evaluate(p, x)),
        T=lambda x: np.asarray(evaluate(slope, x))[..., None],
        drift=lambda x, v: np.asarray(evaluate(derivative(slope), x) * v * v),
    )


# -- floating joints: torsor has p, (x, y, z, w), body twist (ω, v) ------------------------------------------------------


def _blocks(upper: Array, lower: Array, crossed: bool) -> Array:
    """A 6×6 of two 3×3, on the diagonal or crossed."""
    T = np.zeros((*upper.shape[:-2], 6, 6))
    first, second = (slice(3, 6), slice(0, 3)) if crossed else (slice(0, 3), slice(3, 6))
    T[..., :3, first], T[..., 3:, second] = upper, lower
    return T


def _omega_cross_v(q: Array, v: Array) -> Array:
    """R (ω × v): difference between the linear acceleration in world axes and R v̇."""
    return _times(from_quaternion(q[..., 3:]), np.cross(v[..., :3], v[..., 3:]))


#: Pinocchio: the body twist as (v, ω)
FREE_LINEAR_FIRST = Kind(T=lambda q: _blocks(np.eye(3), np.eye(3), True))

#: MuJoCo: p, (w, x, y, z); velocity of the origin in the world, ω in the body
FREE_MIXED = Kind(
    lambda q: np.concatenate([q[..., :3], _w_first(q[..., 3:])], axis=-1),
    lambda Q: np.concatenate([Q[..., :3], _w_last(Q[..., 3:])], axis=-1),
    lambda q: _blocks(from_quaternion(q[..., 3:]), np.broadcast_to(np.eye(3), (*q.shape[:-1], 3, 3)), True),
    lambda q, v: np.concatenate([_omega_cross_v(q, v), np.zeros_like(v[..., :3])], axis=-1),
)

#: Drake: (w, x, y, z), p; ω and the velocity of the origin, both in the world
FREE_WORLD = Kind(
    lambda q: np.concatenate([_w_first(q[..., 3:]), q[..., :3]], axis=-1),
    lambda Q: np.concatenate([Q[..., 4:], _w_last(Q[..., :4])], axis=-1),
    lambda q: _blocks(from_quaternion(q[..., 3:]), from_quaternion(q[..., 3:]), False),
    lambda q, v: np.concatenate([np.zeros_like(v[..., :3]), _omega_cross_v(q, v)], axis=-1),
)


def free_body_in_world(kind: Kind, X: Transform) -> Kind:
    """A floating joint: the other library's pose is in the world, torsor's in a joint frame; X leads from world to it."""
    R, p = X.pose
    if R == IDENTITY and p == ZERO:
        return kind
    assert kind.T is not None
    assert kind.drift is not None
    there, back = _compose_poses(R, p), _compose_poses(R.T, -(R.T @ p))
    T, drift = kind.T, kind.drift
    return Kind(
        lambda q: kind.q(there(q)), lambda Q: back(kind.q_back(Q)), lambda q: T(there(q)), lambda q, v: drift(there(q), v)
    )  # fmt: skip


def _compose_poses(R: Mat, p: Vec) -> Callable[[Array], Array]:
    """Poses (p, quaternion) seen from elsewhere: p + R p_q, R R_q."""
    turn, matrix, shift = quaternion_of(R), np.array(R, float), np.array(p, float)

    def compose(q: Array) -> Array:
        quaternion: tuple[Any, ...] = turn @ Quaternion(*np.moveaxis(q[..., 3:], -1, 0))
        return np.concatenate([shift + _times(matrix, q[..., :3]), np.stack(quaternion, axis=-1)], axis=-1)

    return compose


# -- balls and pucks -----------------------------------------------------------------------------------------------------


def _to_rpy(q: Array) -> Array:
    return read.stack(to_rpy(read.mat(from_quaternion(q))))


def _from_rpy(Q: Array) -> Array:
    """The quaternion of Rz(yaw) Ry(pitch) Rx(roll)."""
    x, y, z = (Quaternion.exp(axis * angle) for axis, angle in zip(AXES, np.moveaxis(Q, -1, 0), strict=True))
    return read.stack(z @ y @ x)


#: Drake's ball: roll, pitch, yaw about fixed axes; ω in the frame it turns in
BALL_RPY = Kind(_to_rpy, _from_rpy, from_quaternion)


#: x, y, z, roll, pitch, yaw in Pinocchio: a translation and a SphericalZYX, so yaw first
YAW_FIRST = Kind(
    lambda q: q[..., [0, 1, 2, 5, 4, 3]], lambda Q: Q[..., [0, 1, 2, 5, 4, 3]],
    lambda q: np.broadcast_to(np.eye(6)[[0, 1, 2, 5, 4, 3]], (*q.shape[:-1], 6, 6)),
)  # fmt: skip


def _to_body_axes(q: Array) -> Array:
    """Rᵀ(θ) on (x, y), 1 on θ."""
    c, s = np.cos(q[..., 2]), np.sin(q[..., 2])
    return read.matrix(((c, s, 0), (-s, c, 0), (0, 0, 1)))


def _body_axes_drift(q: Array, v: Array) -> Array:
    u = _times(_to_body_axes(q), v)
    return np.stack([u[..., 1] * v[..., 2], -u[..., 0] * v[..., 2], np.zeros_like(v[..., 2])], axis=-1)


#: Pinocchio's planar joint: (x, y, cos θ, sin θ), and the velocity in axes of the moving body; torsor's is in fixed axes
PLANAR_IN_BODY_AXES = Kind(
    lambda q: np.concatenate([q[..., :2], CIRCLE.q(q[..., 2:])], axis=-1),
    lambda Q: np.concatenate([Q[..., :2], CIRCLE.q_back(Q[..., 2:])], axis=-1),
    _to_body_axes,
    _body_axes_drift,
)
