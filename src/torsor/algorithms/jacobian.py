"""Jacobians of a frame, their rates, and the frame's twist and acceleration, in three conventions (``expressed_in``).

``"body"``   in the frame's own axes, at its origin (MR's body Jacobian);
``"space"``  in the world's axes, at the world's origin (MR's space Jacobian);
``"world"``  in the world's axes, at the frame's origin: (ω, ṗ), the most common choice.

``relative_to`` names a frame B that takes the world's place: results are those of an observer who moves with B.
``at`` is a point of the frame, in its axes, that takes the place of the frame's origin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from torsor.algorithms.kinematics import frame_at, from_world, joints, model_relative_to, subspace_rates, velocities
from torsor.algorithms.rnea import outward
from torsor.errors import require_known
from torsor.model.model import Frame, Model
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Acceleration, Force, Motion, Subspace, Transform
from torsor.spatial.motion import six_numbers
from torsor.spatial.vector import ZERO

EXPRESSIONS = ("world", "body", "space")
#: an acceleration's linear part: that of a point of the body, or that of the field of velocities (F&O footnote 1)
KINDS = ("classical", "spatial")


class Sight(NamedTuple):
    """Frame F as B sees it: B is ``relative_to``, or the world.  X0 goes from the base to each body, X0F and X0B to F and B."""

    model: Model
    F: Frame
    B: Frame
    X: list[Transform]
    S: list[Subspace]
    X0: list[Transform]
    X0F: Transform
    X0B: Transform

    @classmethod
    def of(cls, model: Model, q: Scalars, frame: str, relative_to: str | None, at: Scalars | None) -> Sight:
        F = frame_at(model, frame, at)
        model, B = model_relative_to(model, relative_to, [F])
        X, S = joints(model, q)
        X0 = from_world(model, X)
        return cls(model, F, B, X, S, X0, F.X @ X0[F.body], B.X @ X0[B.body])

    @property
    def XBF(self) -> Transform:
        """From B to F; its pose is T_B_F."""
        return self.X0F @ self.X0B.inverse

    def to_observer(self, expressed_in: str) -> dict[int, Transform]:
        """The transform from each body on the way to F or to B, to the axes and the point that components are taken in."""
        require_known("expressed_in=", expressed_in, EXPRESSIONS)
        XO = {"body": self.X0F, "space": self.X0B, "world": Transform(self.X0B.E, self.X0F.r)}[expressed_in]
        ways = [*self.model.path(self.B.body), *self.model.path(self.F.body)]
        Y = {i: XO @ self.X0[i].inverse for i in ways}
        if expressed_in == "body":  # shorter: composed on the way down
            to_frame = self.F.X
            for i in self.model.path(self.F.body):
                Y[i] = to_frame
                to_frame = to_frame @ self.X[i]
        return Y

    def signs(self) -> dict[int, int]:
        """1 for the bodies on the way to F, −1 for those on the way to B; no joint that moves is on both."""
        return dict.fromkeys(self.model.path(self.B.body), -1) | dict.fromkeys(self.model.path(self.F.body), 1)


def columns(model: Model, by_body: Mapping[int, Sequence[Motion | Force]]) -> list[list[Scalar]]:
    """A 6×nv matrix from motions or forces by body; mimic joints add to their leaders' columns."""
    out: list[list[Scalar]] = [[0] * model.nv for _ in range(6)]
    for i, several in by_body.items():
        c = model.coupling[i]
        for d, column in enumerate(several):
            for r, x in enumerate(six_numbers(column)):
                k = model.v_start[i] + d
                out[r][k] = out[r][k] + (x if c is None else x * c.k)
    return out


def jacobian(
    model: Model,
    q: Scalars,
    frame: str,
    expressed_in: str = "world",
    relative_to: str | None = None,
    at: Scalars | None = None,
) -> list[list[Scalar]]:
    """J(q), 6×nv, with (ω, v) of the frame = J v (MR eqs. 5.11, 5.18).

    A column is the joint's motion S_i: of joints on the way to the frame, minus those on the way to ``relative_to``.
    """
    sight = Sight.of(model, q, frame, relative_to, at)
    Y, sign = sight.to_observer(expressed_in), sight.signs()
    return columns(sight.model, {i: [Y[i] @ s * sign[i] for s in sight.S[i]] for i in sign})


def jacobian_rate(
    model: Model,
    q: Scalars,
    v: Scalars,
    frame: str,
    expressed_in: str = "world",
    relative_to: str | None = None,
    at: Scalars | None = None,
) -> list[list[Scalar]]:
    """J̇(q, v) = dJ/dt, in the same expression as J (MR Exercise 8.6).

    A column is a motion vector S_i carried by body i: it changes by V_i × S_i + Ṡ_i, minus the observer's own motion.
    """
    sight = Sight.of(model, q, frame, relative_to, at)
    model, Y, sign = sight.model, sight.to_observer(expressed_in), sight.signs()
    V, dS = velocities(model, sight.X, sight.S, v), subspace_rates(model, q, v)
    VF, VB = (axes_from_frame(sight.XBF, expressed_in) @ V for V in _twists(sight, V))
    VO = {"body": VF, "space": VB, "world": Motion(VB.w, VF.v)}[expressed_in]  # the observer's own twist
    rates = {
        i: [(Y[i] @ (V[i].cross(s) + d) - VO.cross(Y[i] @ s)) * sign[i] for s, d in zip(sight.S[i], dS[i], strict=True)]
        for i in sign
    }
    return columns(model, rates)


def twist(
    model: Model,
    q: Scalars,
    v: Scalars,
    frame: str,
    expressed_in: str = "world",
    relative_to: str | None = None,
    at: Scalars | None = None,
) -> list[Scalar]:
    """(ω, v) of the frame: J(q) v, by the recursion (MR 8.51)."""
    sight = Sight.of(model, q, frame, relative_to, at)
    V = axes_from_frame(sight.XBF, expressed_in) @ _relative_twist(sight, v)
    return [*V.w, *V.v]


def acceleration(
    model: Model,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    frame: str,
    expressed_in: str = "world",
    kind: str | None = None,
    relative_to: str | None = None,
    at: Scalars | None = None,
) -> list[Scalar]:
    """J a + J̇ v, the rate of :func:`twist` as expressed, by the recursion (MR 8.52).

    ``"classical"`` is (ω̇, acceleration of the body's point that is at the origin of the axes), ``"spatial"`` is
    (ω̇, rate of the velocity there): they differ by ω × v (F&O footnote 1).  The rate of the twist is the classical one in
    ``"world"`` and the spatial one in ``"body"`` and ``"space"``: this is the default.
    """
    sight = Sight.of(model, q, frame, relative_to, at)
    to_axes, V = axes_from_frame(sight.XBF, expressed_in), _relative_twist(sight, v)
    A = outward(replace(sight.model.weightless(), rotors=()), q, v, a).A  # MR 8.52; rotors spin without moving the frames
    AF, AB = sight.F.X @ A[sight.F.body], sight.XBF @ (sight.B.X @ A[sight.B.body])
    alpha = AF.alpha - AB.alpha - AB.w.cross(V.w)
    linear = AF.a - AB.a - AB.w.cross(V.v) * 2  # Coriolis' theorem
    if kind is None:
        kind = "classical" if expressed_in == "world" else "spatial"
    require_known("kind=", kind, KINDS)
    if kind == "classical":
        C = to_axes @ Acceleration(V.w, alpha, linear)
        return [*C.alpha, *C.a]
    rate = to_axes @ Motion(alpha, linear - V.w.cross(V.v))
    return [*rate.w, *rate.v]


def _twists(sight: Sight, V: list[Motion]) -> tuple[Motion, Motion]:
    """The twists of F and of B, both in F's axes at its origin, from those of the bodies."""
    return sight.F.X @ V[sight.F.body], sight.XBF @ (sight.B.X @ V[sight.B.body])


def _relative_twist(sight: Sight, v: Scalars) -> Motion:
    """The twist of F minus that of B, in F's axes at its origin."""
    VF, VB = _twists(sight, velocities(sight.model, sight.X, sight.S, v))
    return VF - VB


def axes_from_frame(XBF: Transform, expressed_in: str) -> Transform:
    """From the frame to the axes and the point that components are taken in."""
    require_known("expressed_in=", expressed_in, EXPRESSIONS)
    return {"body": Transform.identity(), "space": XBF.inverse, "world": Transform(XBF.E.T, ZERO)}[expressed_in]
