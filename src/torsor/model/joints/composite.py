"""Joints in a row, without bodies between them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from torsor.errors import ModelError
from torsor.model.joints.base import JointType
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Motion, Subspace, Transform


class JointOfJoints(JointType):
    """A joint made of others: q and v are theirs, end to end."""

    @abstractmethod
    def sequence(self) -> tuple[JointType, ...]:
        """The joints, from the parent to the child."""

    @property
    def nq(self) -> int:  # type: ignore[override]  # a class variable elsewhere
        return sum(joint.nq for joint in self.sequence())

    @property
    def nv(self) -> int:  # type: ignore[override]  # a class variable elsewhere
        return sum(joint.nv for joint in self.sequence())

    @property
    def angles(self) -> tuple[int, ...]:  # type: ignore[override]  # a class variable elsewhere
        return tuple(at + k for at, joint in self._starts() for k in joint.angles)

    @property
    def quaternions(self) -> tuple[slice, ...]:
        return tuple(slice(at + x.start, at + x.stop) for at, joint in self._starts() for x in joint.quaternions)

    def _starts(self, size: str = "nq") -> Iterator[tuple[int, JointType]]:
        """The first entry of q of each joint, or with ``size="nv"`` of v."""
        start = 0
        for joint in self.sequence():
            yield start, joint
            start += getattr(joint, size)

    def split_configuration(self, q: Sequence[Any]) -> Iterator[tuple[JointType, Sequence[Any]]]:
        """(joint, its part of q), from the parent to the child."""
        for start, joint in self._starts():
            yield joint, q[start : start + joint.nq]

    def split_velocity(self, v: Sequence[Any]) -> Iterator[Sequence[Any]]:
        """The part of v of each joint."""
        for start, joint in self._starts("nv"):
            yield v[start : start + joint.nv]

    def integrate(self, q: Scalars, step: Scalars) -> list[Scalar]:
        parts = zip(self.split_configuration(q), self.split_velocity(step), strict=True)
        return [y for (joint, x), u in parts for y in joint.integrate(x, u)]

    def difference(self, q0: Scalars, q1: Scalars) -> list[Scalar]:
        parts = zip(self.split_configuration(q0), self.split_configuration(q1), strict=True)
        return [y for (joint, x0), (_, x1) in parts for y in joint.difference(x0, x1)]

    def tangent(self, q: Scalars, v: Scalars) -> list[Scalar]:
        parts = zip(self.split_configuration(q), self.split_velocity(v), strict=True)
        return [y for (joint, x), u in parts for y in joint.tangent(x, u)]

    def bracket(self, v: Scalars) -> list[list[Scalar]]:
        rows: list[list[Scalar]] = []
        for joint, u in zip(self.sequence(), self.split_velocity(v), strict=True):
            before, after = [0] * len(rows), [0] * (self.nv - len(rows) - joint.nv)
            rows += [[*before, *row, *after] for row in joint.bracket(u)]
        return rows

    def neutral(self) -> list[float]:
        return [x for joint in self.sequence() for x in joint.neutral()]

    def random(self, rng: Any, lower: Sequence[float], upper: Sequence[float], shape: tuple[int, ...] = ()) -> list[Any]:
        parts = zip(self.split_configuration(lower), self.split_configuration(upper), strict=True)
        return [x for (joint, low), (_, high) in parts for x in joint.random(rng, low, high, shape)]

    def fault(self, q: Sequence[float]) -> str:
        return next((found for joint, x in self.split_configuration(q) if (found := joint.fault(x))), "")


class JointSequence(JointOfJoints):
    """X = X_n ⋯ X_1: the transform of joints in a row.

    Y_k = X_n ⋯ X_{k+1} carries the columns of joint k to the body: S = (Y_1 S_1, ..., S_n).  They turn there with the joints
    that follow, of twist W_k = Σ_{j>k} Y_j S_j v_j, so d/dt(Y_k S_k) = Y_k Ṡ_k − W_k × Y_k S_k.
    """

    def transform(self, q: Scalars) -> Transform:
        X = Transform.identity()
        for joint, x in self.split_configuration(q):
            X = joint.transform(x) @ X
        return X

    def subspace(self, q: Scalars) -> Subspace:
        Y, columns = Transform.identity(), list[Motion]()
        for joint, x in reversed(list(self.split_configuration(q))):
            columns[:0] = [Y @ s for s in joint.subspace(x)]
            Y = Y @ joint.transform(x)
        return Subspace(columns)

    def subspace_rate(self, q: Scalars, v: Scalars) -> Subspace:
        Y, W, columns = Transform.identity(), Motion.zero(), list[Motion]()
        for (joint, x), u in reversed(list(zip(self.split_configuration(q), self.split_velocity(v), strict=True))):
            S = Subspace([Y @ s for s in joint.subspace(x)])
            columns[:0] = [Y @ r - W.cross(s) for r, s in zip(joint.subspace_rate(x, u), S, strict=True)]
            W = W + S @ u
            Y = Y @ joint.transform(x)
        return Subspace(columns)


@dataclass(frozen=True)
class Composite(JointSequence):
    """Joints in a row without bodies between: q = (q_1, ..., q_n), v = (v_1, ..., v_n).

    All of them start at the joint frame; joints that are apart need a massless link between.  Where their columns are
    dependent (two prismatic joints along one axis, a gimbal lock), M is singular.

    >>> from torsor.model.joints import Prismatic, Revolute
    >>> rail = Composite([Prismatic((1, 0, 0)), Revolute((0, 0, 1))])
    >>> rail.nq, rail.transform([0.5, 0.0]).r
    (2, Vec(x=0.5, y=0.0, z=0.0))
    """

    joints: Sequence[JointType]
    name = "composite"

    def __post_init__(self) -> None:
        given = tuple(self.joints) if isinstance(self.joints, (list, tuple)) else ()
        wrong = next((x for x in given if not isinstance(x, JointType)), None)
        if wrong is not None or not given:
            raise ModelError(
                f"Composite: joints must be a list of joint types, such as Revolute((0, 0, 1)), not {wrong or self.joints!r}"
            )
        if not sum(joint.nv for joint in given):
            raise ModelError("Composite: its joints are all fixed; use a fixed joint")
        object.__setattr__(self, "joints", given)

    def sequence(self) -> tuple[JointType, ...]:
        return tuple(self.joints)
