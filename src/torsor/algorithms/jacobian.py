"""Jacobians of a frame, their rates, and the frame's twist and acceleration, in three conventions (``expressed_in``).

``"body"``   in the frame's own axes, at its origin (MR's body Jacobian);
``"space"``  in the world's axes, at the world's origin (MR's space Jacobian);
``"world"``  in the world's axes, at the frame's origin: (ω, ṗ), the most common choice.
"""

from __future__ import annotations

from collections.abc import Sequence

from torsor.algorithms.kinematics import from_world, joints, subspace_rates, velocities
from torsor.algorithms.rnea import outward
from torsor.errors import UnknownName
from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Motion, Transform
from torsor.spatial.vector import IDENTITY, ZERO

EXPRESSIONS = ("world", "body", "space")


def _observer(X0F: Transform, expressed_in: str) -> Transform:
    """The transform from the world to the frame the components are taken in; X0F goes from the world to the frame."""
    if expressed_in not in EXPRESSIONS:
        raise UnknownName("expressed_in=", expressed_in, EXPRESSIONS)
    return {"body": X0F, "space": Transform.identity(), "world": Transform(IDENTITY, X0F.r)}[expressed_in]


def _observer_twist(XO: Transform, V: Motion, expressed_in: str) -> Motion:
    """The observer's own twist, in its own axes, when the frame moves with twist V (in the observer's axes)."""
    return {"body": V, "space": Motion.zero(), "world": Motion(ZERO, V.v)}[expressed_in]


def _columns(model: Model, columns: Sequence[dict[int, list[Motion]]]) -> list[list[Scalar]]:
    """A 6×nv matrix from motions by body; mimic joints add to their leaders' columns."""
    out: list[list[Scalar]] = [[0] * model.nv for _ in range(6)]
    for part in columns:
        for i, motions in part.items():
            c = model.coupling[i]
            for d, m in enumerate(motions):
                for r, x in enumerate((*m.w, *m.v)):
                    k = model.v_start[i] + d
                    out[r][k] = out[r][k] + (x if c is None else x * c.k)
    return out


def jacobian(model: Model, q: Scalars, frame: str, expressed_in: str = "world") -> list[list[Scalar]]:
    """J(q), 6×nv, with (ω, v) of the frame = J v (MR eqs. 5.11, 5.18)."""
    body, XF = model.frame(frame)
    X, S = joints(model, q)
    X0 = from_world(model, X)
    XO = _observer(XF @ X0[body], expressed_in)
    columns = {}
    if expressed_in == "body":
        Y = XF  # from body i to the frame, composed on the way down
        for i in model.path(body):
            columns[i] = [Y @ s for s in S[i]]
            Y = Y @ X[i]
    else:
        for i in model.path(body):
            Y = XO @ X0[i].inverse
            columns[i] = [Y @ s for s in S[i]]
    return _columns(model, [columns])


def jacobian_rate(model: Model, q: Scalars, v: Scalars, frame: str, expressed_in: str = "world") -> list[list[Scalar]]:
    """J̇(q, v) = dJ/dt, in the same expression as J (MR Exercise 8.6).

    A column is a motion vector S_i carried by body i: it changes by V_i × S_i + Ṡ_i, minus the observer's own motion.
    """
    body, XF = model.frame(frame)
    X, S = joints(model, q)
    V = velocities(model, X, S, v)
    dS = subspace_rates(model, q, v)
    X0 = from_world(model, X)
    X0F = XF @ X0[body]
    XO = _observer(X0F, expressed_in)
    VO = _observer_twist(XO, XO @ (X0F.inverse @ (XF @ V[body])), expressed_in)
    columns = {}
    for i in model.path(body):
        Y = XO @ X0[i].inverse
        columns[i] = [Y @ (V[i].cross(s) + d) - VO.cross(Y @ s) for s, d in zip(S[i], dS[i], strict=True)]
    return _columns(model, [columns])


def twist(model: Model, q: Scalars, v: Scalars, frame: str, expressed_in: str = "world") -> list[Scalar]:
    """(ω, v) of the frame: J(q) v, by the recursion (MR 8.51)."""
    body, XF = model.frame(frame)
    X, S = joints(model, q)
    V = XF @ velocities(model, X, S, v)[body]
    V = _express(XF @ from_world(model, X)[body], V, expressed_in)
    return [*V.w, *V.v]


def acceleration(model: Model, q: Scalars, v: Scalars, a: Scalars, frame: str, expressed_in: str = "world") -> list[Scalar]:
    """The rate of :func:`twist` as expressed: J a + J̇ v, by the recursion (MR 8.52).

    In the world's axes at the frame's origin this is the classical (ω̇, p̈); in ``"body"`` and ``"space"`` it is the spatial
    acceleration, whose linear part is not p̈ (F&O footnote 1).
    """
    body, XF = model.frame(frame)
    X, S = joints(model, q)
    V = velocities(model, X, S, v)
    A = outward(model.weightless(), q, v, a).A  # MR 8.52
    AF = XF @ A[body]
    linear = AF.a if expressed_in == "world" else AF.a - AF.w.cross((XF @ V[body]).v)
    rate = _express(XF @ from_world(model, X)[body], Motion(AF.alpha, linear), expressed_in)
    return [*rate.w, *rate.v]


def _express(X0F: Transform, V: Motion, expressed_in: str) -> Motion:
    """A motion given in the frame, in the observer's axes."""
    _observer(X0F, expressed_in)  # raises for an unknown value
    R = X0F.E.T
    if expressed_in == "world":
        return Motion(R @ V.w, R @ V.v)
    return V if expressed_in == "body" else X0F.inverse @ V
