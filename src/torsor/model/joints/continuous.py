"""Continuous joint: a revolute joint without limits; differences are taken modulo 2π."""

from __future__ import annotations

from dataclasses import dataclass

from torsor.model.joints.revolute import Revolute
from torsor.scalar import Scalar, Scalars, atan2, cos, sin


@dataclass(frozen=True)
class Continuous(Revolute):
    """Rotation by q [rad] about a unit axis; q and q + 2π are the same configuration."""

    name = "continuous"

    def difference(self, q0: Scalars, q1: Scalars) -> list[Scalar]:
        d = q1[0] - q0[0]
        return [atan2(sin(d), cos(d))]
