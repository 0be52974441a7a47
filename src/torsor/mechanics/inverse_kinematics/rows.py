"""Constraints that serve as targets: a pose, an axis along a direction, the centre of mass at a point, a posture, a twist."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Any

from torsor.algorithms import centroidal
from torsor.algorithms.configuration import difference
from torsor.algorithms.equation.at import At
from torsor.algorithms.jacobian import jacobian
from torsor.model.model import Frame, Model
from torsor.model.terms.constraint import Constraint
from torsor.model.terms.frames import BetweenFrames
from torsor.model.terms.loop import JointConstraint
from torsor.model.terms.term import ConstraintRows
from torsor.scalar import Scalar, atan2, sqrt, where
from torsor.spatial import Force, Mat, Transform, Vec
from torsor.spatial.recovery import quaternion_of
from torsor.spatial.vector import AXES, ZERO

#: sin² of an angle that is zero but for rounding
ALIGNED = 1e-20


@dataclass(frozen=True)
class AtOrientation(JointConstraint):
    """The axes of a frame are those of R*: ``matrix`` is R* (9), or T* (16), row by row."""

    matrix: tuple[Scalar, ...] = ()
    NUMBERS = ("matrix",)

    @property
    def target(self) -> Transform:
        """T*, or R* at the origin, as a transform, which has Rᵀ."""
        m, n = self.matrix, isqrt(len(self.matrix))
        x, y, z = (Vec(m[k], m[k + n], m[k + 2 * n]) for k in range(3))
        return Transform(Mat(x, y, z), Vec(m[3], m[7], m[11]) if n == 4 else ZERO)

    def frames(self, model: Model) -> tuple[Frame, Frame]:
        body, X = model.frame(self.predecessor)
        return Frame(body, self.target @ X), model.frame(self.successor)

    def faults(self) -> list[Scalar]:
        """How far R Rᵀ is from 1, det R from 1, and the last row of T* from (0, 0, 0, 1), each entry."""
        E, last = self.target.E, self.matrix[12:]
        pairs = [E[i].dot(E[j]) - int(i == j) for i in range(3) for j in range(i + 1)]
        return [*map(abs, pairs), 1 - E[0].cross(E[1]).dot(E[2]), *(abs(x - int(k == 3)) for k, x in enumerate(last))]


@dataclass(frozen=True)
class AtPose(AtOrientation):
    """A frame at a pose T*: φ = (log R, Rᵀp), whose lengths are the angle and the distance from it."""

    def error(self, X: Transform) -> Sequence[Any]:
        return [*quaternion_of(X.pose[0]).log, *(X.E @ X.r)]


@dataclass(frozen=True)
class Pointing(BetweenFrames):
    """R a = d: ``axis`` a of the frame points along d, in the axes of ``relative_to``.

    φ = −θ u, of the shortest rotation θ u that turns a to d, in the frame: three rows of rank two, as u is perpendicular to a.
    """

    name: str
    frame: str
    axis: Vec
    along: Vec
    relative_to: str = "world"
    NUMBERS = ("axis", "along")
    places = ("frame", "relative_to")

    def labels(self) -> tuple[str, ...]:
        return ("wx", "wy", "wz")

    def frames(self, model: Model) -> tuple[Frame, Frame]:
        return model.frame(self.relative_to), model.frame(self.frame)

    def forces(self, X: Transform) -> Sequence[Force]:
        """Moments across a: what turns about it is free."""
        a = self.axis
        return [Force(e - a * a.dot(e), ZERO) for e in AXES]

    def error(self, X: Transform) -> Sequence[Any]:
        there = X.E @ self.along
        u, c = self.axis.cross(there), self.axis.dot(there)
        square = u.dot(u)
        small = square < ALIGNED
        s = sqrt(where(small, 1.0, square))
        return list(u * -where(small, 1.0, atan2(s, c) / s))


@dataclass(frozen=True)
class CenterOfMass(Constraint):
    """c(q) = c*: the centre of mass of the robot is at a point of the world."""

    name: str
    place: Vec
    NUMBERS = ("place",)

    def labels(self) -> tuple[str, ...]:
        return ("x", "y", "z")

    def rows(self, at: At) -> ConstraintRows:
        zero = [0] * at.model.nv
        error = [x - y for x, y in zip(centroidal.center_of_mass(at.model, at.q), self.place, strict=True)]
        drift = centroidal.center_of_mass_acceleration(at.model, at.q, at.v, zero)
        return ConstraintRows(error, centroidal.center_of_mass_jacobian(at.model, at.q), [0] * 3, drift)


@dataclass(frozen=True)
class Posture(Constraint):
    """q = q*: every coordinate."""

    name: str
    place: tuple[Scalar, ...]
    NUMBERS = ("place",)

    def labels(self) -> tuple[str, ...]:
        return tuple(f"coordinate {k}" for k in range(len(self.place)))

    def rows(self, at: At) -> ConstraintRows:
        n = at.model.nv
        unit = [[int(i == j) for j in range(n)] for i in range(n)]
        return ConstraintRows(difference(at.model, list(self.place), at.q), unit, [0] * n, [0] * n)


@dataclass(frozen=True)
class AtTwist(Constraint):
    """J v = V: entries of the twist of a frame from ``first`` on, in the world's axes at the frame's origin."""

    name: str
    frame: str
    first: int
    twist: tuple[Scalar, ...]
    NUMBERS = ("twist",)
    places = ("frame",)

    def labels(self) -> tuple[str, ...]:
        return ("wx", "wy", "wz", "vx", "vy", "vz")[self.first :][: len(self.twist)]

    def rows(self, at: At) -> ConstraintRows:
        J = jacobian(at.model, at.q, self.frame)[self.first :][: self.size]
        return ConstraintRows([0] * self.size, J, list(self.twist), [0] * self.size)
