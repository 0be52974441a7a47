"""Constraints made by a joint: the joint that closes a loop, or holds a frame (F&O §3.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from torsor.model.description import Loop
from torsor.model.joints import JointType
from torsor.model.model import Frame, Model
from torsor.model.terms.frames import BetweenFrames, relative_motion
from torsor.scalar import Scalars, is_zero
from torsor.spatial import Force, Motion, Transform, Vec, factor, solve
from torsor.spatial.exponential import log
from torsor.spatial.recovery import quaternion_of

if TYPE_CHECKING:
    from torsor.algorithms.equation.at import At

_AXES = ("wx", "wy", "wz", "vx", "vy", "vz")


@dataclass(frozen=True)
class JointConstraint(BetweenFrames):
    """The relative motion of two frames is that of a joint of this type: T(q_J)ᵀ V = 0.

    ``predecessor`` and ``successor`` are names of frames, each moved by ``origin`` and ``child_origin``.  The joint has no
    coordinate in q: its configuration q_J follows from the two frames.  ``row_names`` are the labels of the rows, by default
    those of the motions that they prevent.
    """

    name: str
    joint_type: JointType
    predecessor: str
    successor: str
    origin: Transform = Transform.identity()
    child_origin: Transform = Transform.identity()
    row_names: tuple[str, ...] = ()
    NUMBERS: ClassVar[tuple[str, ...]] = ("joint_type", "origin", "child_origin")
    places = ("predecessor", "successor")

    @classmethod
    def of(cls, loop: Loop) -> JointConstraint:
        """The constraint of a loop in the frames of its description, so multipliers and wrenches are in the user's axes."""
        return cls(loop.name, loop.kind, loop.parent, loop.child, loop.origin, loop.child_origin)

    def labels(self) -> tuple[str, ...]:
        motions = enumerate(() if self.row_names else self.joint_type.complement(self.joint_type.neutral()), start=1)
        return self.row_names or tuple(_label(F, k) for k, F in motions)

    @property
    def integrable_off_zero(self) -> bool:
        return False

    def frames(self, model: Model) -> tuple[Frame, Frame]:
        return _frame(model, self.predecessor, self.origin), _frame(model, self.successor, self.child_origin)

    def forces(self, X: Transform) -> Sequence[Force]:
        return self.joint_type.complement(self.joint_type.coordinates(X))

    def error(self, X: Transform) -> Sequence[Any]:
        """T · log of the displacement from the successor's pose by the joint to its actual pose."""
        qJ = self.joint_type.coordinates(X)
        R, p = (X @ self.joint_type.transform(qJ).inverse).pose
        gap = log(quaternion_of(R), p)
        return [gap.dot(F) for F in self.joint_type.complement(qJ)]

    def small_error(self, X: Transform, offset: Vec) -> Sequence[Any]:
        """T · (the skew part of the rotation, the translation): the logarithm to first order, without its quaternion."""
        qJ = self.joint_type.coordinates(X)
        J = self.joint_type.transform(qJ)
        R = J.E @ X.E.T
        turn = Vec(R.z.y - R.y.z, R.x.z - R.z.x, R.y.x - R.x.y) * 0.5
        gap = Motion(turn, offset - X.E @ J.r)
        return [gap.dot(F) for F in self.joint_type.complement(qJ)]

    def velocity(self, at: At) -> list[Any]:
        """v_J with S v_J = V, the joint's own velocity: (SᵀS)⁻¹ SᵀV."""
        seen = relative_motion(at, *self.frames(at.model))
        S = self.joint_type.subspace(self.joint_type.coordinates(seen.X))
        return solve(_gram(S), [c.w.dot(seen.V.w) + c.v.dot(seen.V.v) for c in S])

    def drive_wrench(self, at: At, tau: Scalars) -> Force:
        """The wrench on the successor, in its frame, when the joint applies τ (F&O 19's τ_a): F = S (SᵀS)⁻¹ τ, so SᵀF = τ."""
        X = relative_motion(at, *self.frames(at.model)).X
        S = self.joint_type.subspace(self.joint_type.coordinates(X))
        weights = solve(_gram(S), tau)
        return sum((Force(c.w, c.v) * k for c, k in zip(S, weights, strict=True)), start=Force.zero())


def _frame(model: Model, name: str, offset: Transform) -> Frame:
    body, X = model.frame(name)
    return Frame(body, offset @ X)


def _label(F: Force, k: int) -> str:
    """The axis of a wrench or, if it is oblique, its largest component and k: names of a joint's rows are unique."""
    six = [*F.m, *F.f]
    largest = max(range(6), key=lambda i: abs(six[i]))
    askew = sum(not is_zero(x) for x in six) > 1
    return f"{_AXES[largest][0]}{k}" if askew else _AXES[largest]


def _gram(S: Sequence[Motion]) -> Any:
    return factor([[a.w.dot(b.w) + a.v.dot(b.v) for b in S] for a in S])
