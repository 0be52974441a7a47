"""Constraints between two frames: wrenches T that do no work on the motions they allow (F&O's T).

A row is Tᵀ(V_s − V_p) = 0, the relative twist of the successor's frame seen from the predecessor's.  Only the joints between
the two frames appear in it: the motion of their common ancestors cancels.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from torsor.model.model import Frame, Model
from torsor.model.terms.constraint import Constraint
from torsor.model.terms.term import ConstraintRows
from torsor.scalar import Dual, is_zero, rate, value
from torsor.spatial import Acceleration, Force, Mat, Motion, Transform, Vec

if TYPE_CHECKING:
    from torsor.algorithms.equation.at import At


class Relative(NamedTuple):
    """The successor's frame seen from the predecessor's."""

    X: Transform  #: from the predecessor's frame to the successor's
    from_body: Transform  #: from the predecessor's body to the successor's frame
    offset: Vec  #: from the predecessor's origin to the successor's, in the successor's axes [m]
    V: Motion  #: the relative twist, in the successor's frame
    rate: Motion  #: V̇ with every joint at constant velocity


class BetweenFrames(Constraint):
    """Rows given by wrenches at the successor's frame, as functions of where it is seen from the predecessor's."""

    def frames(self, model: Model) -> tuple[Frame, Frame]:
        """(predecessor, successor); their names are the second and the first of its ``places``."""
        s, p = (model.frame(getattr(self, place)) for place in self.places)
        return p, s

    @abstractmethod
    def forces(self, X: Transform) -> Sequence[Force]:
        """T, in the successor's frame."""

    @abstractmethod
    def error(self, X: Transform) -> Sequence[Any]:
        """φ, whose rate is TᵀV where φ = 0."""

    def small_error(self, X: Transform, offset: Vec) -> Sequence[Any]:
        """φ to first order where it is small; ``offset`` as in :class:`Relative`."""
        return self.error(X)

    def rows(self, at: At) -> ConstraintRows:
        p, s = self.frames(at.model)
        seen = relative_motion(at, p, s)
        T = self.forces(_with_rate(seen.X, seen.V))  # each wrench with its rate
        now = [_parts(F, value) for F in T]
        drift = [seen.rate.dot(F) + seen.V.dot(_parts(dF, rate)) for F, dF in zip(now, T, strict=True)]
        A = force_rows(at, p, s, seen.from_body, now)
        error = self.small_error(seen.X, seen.offset) if at.near else self.error(seen.X)
        given = relative_motion(at.at_rest, p, s).V if at.model.is_on_moving_base else Motion.zero()
        return ConstraintRows(list(error), A, [-given.dot(F) for F in now], drift)

    def wrench(self, at: At, multipliers: Sequence[Any]) -> Force:
        """T λ, the wrench on the successor, in the successor's frame."""
        X = relative_motion(at, *self.frames(at.model)).X
        return sum((f * k for f, k in zip(self.forces(X), multipliers, strict=True)), start=Force.zero())

    def on_bodies(self, at: At, F: Force) -> dict[int, Force]:
        """A wrench on the successor's frame, and its opposite on the predecessor's, as wrenches on their bodies."""
        p, s = self.frames(at.model)
        on = {s.body: s.X.T @ F}
        on[p.body] = on.get(p.body, Force.zero()) - p.X.T @ (relative_motion(at, p, s).X.T @ F)
        return on

    def wrenches(self, at: At, multipliers: Sequence[Any]) -> dict[int, Force]:
        return self.on_bodies(at, self.wrench(at, multipliers))

    def check(self, model: Model) -> None:
        self.frames(model)


def between_frames(c: Constraint) -> BetweenFrames | None:
    """The constraint, or the one that it prescribes, if it is between frames; None for joint coordinates."""
    while not isinstance(c, BetweenFrames) and hasattr(c, "constraint"):
        c = c.constraint
    return c if isinstance(c, BetweenFrames) else None


def relative_motion(at: At, p: Frame, s: Frame) -> Relative:
    """Pose and motion of the successor's frame relative to the predecessor's.

    V = V_s − X V_p and V̇ = A_s − X A_p + V × X V_p, with the common ancestor taken at rest: its motion cancels.
    """
    root = at.model.common_ancestor(p.body, s.body)
    (Yp, Vp, Ap), (Ys, Vs, As) = (_motion_from_root(at, root, f) for f in (p, s))
    Xs, Xp = s.X @ Ys, p.X @ Yp
    X = Xs @ Xp.inverse
    from_body = Transform(Xs.E @ Yp.E.T, Yp.E @ (Xs.r - Yp.r)) if at.near else X @ p.X  # the shorter: the drift needs X
    VX = X @ Vp
    V = Vs - VX
    return Relative(X, from_body, Xs.E @ (Xs.r - Xp.r), V, As - X @ Ap + V.cross(VX))


def _motion_from_root(at: At, root: int, f: Frame) -> tuple[Transform, Motion, Motion]:
    """The transform from body ``root`` to a frame's body, the frame's twist and spatial acceleration with the root at rest."""
    model, (X, S) = at.model, at.kinematics
    Y, V, A = Transform.identity(), Motion.zero(), Acceleration.of(Motion.zero(), Motion.zero())
    way = [i for i in model.path(f.body) if i > root]
    for i in reversed(way):
        vJ = model.joint[i].twist(S[i], at.vs[i])
        V = X[i] @ V + vJ  # MR 8.51
        A = (X[i] @ A).past_joint(vJ, model.joint[i].bias(at.qs[i], at.vs[i]))  # MR 8.52
        Y = X[i] @ Y
    V, A = f.X @ V, f.X @ A
    return Y, V, Motion(A.alpha, A.a - V.w.cross(V.v))


def force_rows(at: At, p: Frame, s: Frame, from_body: Transform, T: Sequence[Force]) -> list[list[Any]]:
    """The joint forces of each wrench at the successor and its opposite at the predecessor: rows of A (k, nv).

    The joints' motions are seen from the two bodies: constraints on the same body share them.
    """
    model, (Xs, S) = at.model, at.kinematics
    root = model.common_ancestor(p.body, s.body)
    rows: list[list[Sequence[Any]]] = [[[] for _ in model.parent] for _ in T]
    for body, on in ((s.body, [s.X.T @ F for F in T]), (p.body, [-(from_body.T @ F) for F in T])):
        Y = Transform.identity()  # from body i to this one
        for i in model.path(body):
            if i <= root:
                break
            motions = [Y @ c for c in S[i]]
            for row, F in zip(rows, on, strict=True):
                row[i] = [c.dot(F) for c in motions]
            Y = Y @ Xs[i]
    return [model.gather_forces(row) for row in rows]


def _with_rate(X: Transform, V: Motion) -> Transform:
    """X as it changes with the relative twist V: Ė = −[ω]E, ṙ = Eᵀv."""
    if all(map(is_zero, (*V.w, *V.v))):
        return X
    dE = V.w.skew() @ X.E
    E = Mat(*(Vec(*(Dual(x, -d) for x, d in zip(a, b, strict=True))) for a, b in zip(X.E, dE, strict=True)))
    r = Vec(*(Dual(x, d) for x, d in zip(X.r, X.E.T @ V.v, strict=True)))
    return Transform(E, r)


def _parts(F: Force, part: Any) -> Force:
    return Force(Vec(*map(part, F.m)), Vec(*map(part, F.f)))
