"""Spherical (ball) joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torsor.model.joints.base import JointType, forces
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Force, Motion, Quaternion, Subspace, Transform, Vec
from torsor.spatial.recovery import quaternion_of
from torsor.spatial.vector import AXES, ZERO


@dataclass(frozen=True)
class Spherical(JointType):
    """q = (x, y, z, w), a quaternion (normalised before use); v = ω [rad/s] in the body: S = (1, 0)."""

    name = "spherical"
    nq, nv = 4, 3
    quaternion = slice(0, 4)

    def transform(self, q: Scalars) -> Transform:
        return Transform.of_pose(Quaternion.of(q).matrix, ZERO)

    def subspace(self, q: Scalars) -> Subspace:
        return Subspace(tuple(Motion(axis, ZERO) for axis in AXES))

    def complement(self, q: Scalars) -> tuple[Force, ...]:
        return forces(*AXES)

    def coordinates(self, X: Transform) -> list[Scalar]:
        return list(quaternion_of(X.pose[0]))

    def integrate(self, q: Scalars, step: Scalars) -> list[Scalar]:
        return list((Quaternion.of(q) @ Quaternion.exp(Vec(*step))).normalized)

    def difference(self, q0: Scalars, q1: Scalars) -> list[Scalar]:
        return list((Quaternion.of(q0).normalized.conjugate @ Quaternion.of(q1).normalized).log)

    def tangent(self, q: Scalars, v: Scalars) -> list[Scalar]:
        return quaternion_tangent(q, v)

    def bracket(self, v: Scalars) -> list[list[Scalar]]:
        return twist_bracket(self.subspace(()), v)

    def neutral(self) -> list[float]:
        return [0.0, 0.0, 0.0, 1.0]

    def random(self, rng: Any, lower: Sequence[float], upper: Sequence[float], shape: tuple[int, ...] = ()) -> list[Any]:
        return random_quaternion(rng, shape)


def quaternion_tangent(q: Scalars, w: Scalars) -> list[Scalar]:
    """q̇ = ½ q ⊗ ω, ω in the body's axes, of a quaternion of any length: the length stays."""
    x, y, z = (x * 0.5 for x in w)
    return list(Quaternion(*q) @ Quaternion(x, y, z, 0))


def twist_bracket(S: Subspace, v: Scalars) -> list[list[Scalar]]:
    """−ad_v where v is a twist in the body's axes: the columns of S are unit motions."""
    turned = [s.cross(S @ v) for s in S]
    return [[e.w.dot(t.w) + e.v.dot(t.v) for t in turned] for e in S]


def random_quaternion(rng: Any, shape: tuple[int, ...] = ()) -> list[Any]:
    """Uniform over rotations: a Gaussian direction in four dimensions."""
    return list(Quaternion(*rng.normal(size=(4, *shape))).normalized)
