"""Floating joint: six degrees of freedom, for floating bases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torsor.model.joints.base import JointType, bounds
from torsor.model.joints.spherical import quaternion_tangent, random_quaternion, twist_bracket
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Force, Motion, Quaternion, Subspace, Transform, Vec
from torsor.spatial.exponential import exp, log
from torsor.spatial.recovery import quaternion_of
from torsor.spatial.vector import AXES, ZERO


@dataclass(frozen=True)
class Floating(JointType):
    """q = (x, y, z [m], qx, qy, qz, qw); v = body twist (ω, v): S = 1."""

    name = "floating"
    nq, nv = 7, 6
    quaternion = slice(3, 7)

    def transform(self, q: Scalars) -> Transform:
        return Transform.of_pose(Quaternion.of(q[3:]).matrix, Vec(*q[:3]))

    def subspace(self, q: Scalars) -> Subspace:
        return Subspace((*(Motion(a, ZERO) for a in AXES), *(Motion(ZERO, a) for a in AXES)))

    def complement(self, q: Scalars) -> tuple[Force, ...]:
        return ()

    def coordinates(self, X: Transform) -> list[Scalar]:
        return [*X.r, *quaternion_of(X.pose[0])]

    def integrate(self, q: Scalars, step: Scalars) -> list[Scalar]:
        p, R = Vec(*q[:3]), Quaternion.of(q[3:]).normalized
        dR, dp = exp(Motion.of(step))
        return [*(p + R.matrix @ dp), *(R @ dR).normalized]

    def turning(self, v: Scalars) -> list[Scalar]:
        return [0, 0, 0, *-Vec(*v[:3]).cross(Vec(*v[3:]))]

    def carry(self, q: Scalars, step: Scalars, v: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        p, R = Vec(*q[:3]), Quaternion.of(q[3:]).normalized
        dR, _ = exp(Motion(Vec(*step[:3]), ZERO))
        return [*(p + R.matrix @ Vec(*step[3:])), *(R @ dR).normalized], [*v[:3], *(dR.matrix.T @ Vec(*v[3:]))]

    def difference(self, q0: Scalars, q1: Scalars) -> list[Scalar]:
        p0, R0 = Vec(*q0[:3]), Quaternion.of(q0[3:]).normalized
        p1, R1 = Vec(*q1[:3]), Quaternion.of(q1[3:]).normalized
        V = log(R0.conjugate @ R1, R0.matrix.T @ (p1 - p0))
        return [*V.w, *V.v]

    def tangent(self, q: Scalars, v: Scalars) -> list[Scalar]:
        return [*(Quaternion.of(q[3:]).matrix @ Vec(*v[3:])), *quaternion_tangent(q[3:], v[:3])]

    def bracket(self, v: Scalars) -> list[list[Scalar]]:
        return twist_bracket(self.subspace(()), v)

    def neutral(self) -> list[float]:
        return [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]

    def random(self, rng: Any, lower: Sequence[float], upper: Sequence[float], shape: tuple[int, ...] = ()) -> list[Any]:
        """x, y and z within the limits and [−1, 1] [m]; the orientation uniform."""
        return [*random_position(rng, lower, upper, shape), *random_quaternion(rng, shape)]


def random_position(rng: Any, lower: Sequence[float], upper: Sequence[float], shape: tuple[int, ...] = ()) -> list[Any]:
    """x, y and z uniform within the first three limits and [−1, 1] [m]."""
    return [rng.uniform(*bounds(a, b, 1.0), size=shape) for a, b in zip(lower[:3], upper[:3], strict=True)]
