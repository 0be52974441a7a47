"""∂J/∂θ by brackets of the Jacobian's own columns (MR Exercise 8.6)."""

from __future__ import annotations

from torsor.algorithms.kinematics import from_world, joints
from torsor.errors import UnknownName
from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Motion, Transform


def jacobian_derivative(model: Model, q: Scalars, frame: str, expressed_in: str = "space") -> list[list[list[Scalar]]]:
    """∂J_i/∂θ_j at [row][i][j], so that (∂J/∂θ) v = J̇ (MR Exercise 8.6).

    Space Jacobian: ad_{J_j}(J_i) for a joint j on the way from the base to joint i, zero otherwise.
    Body Jacobian: ad_{J_i}(J_j) for a joint j on the way from joint i to the frame, zero otherwise.

    Within a joint of several degrees of freedom the columns may move relative to each other (F&O §3.1's Ṡ): in the body,
    ∂S/∂θ_j; seen from space, plus ad_{J_j}(J_i).  Where v is not a rate of coordinates (floating base), ∂/∂θ_j is along v_j.

    >>> import torsor as ts
    >>> dJ = jacobian_derivative(ts.robots.two_link().model, [0.0, 0.0], "tip")
    >>> [row[1][0] for row in dJ]  # ∂J₂/∂θ₁ = ad_{J₁}(J₂): turning joint 1 carries axis 2 along ŷ
    [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    """
    if expressed_in not in ("space", "body"):
        raise UnknownName("expressed_in=", expressed_in, ("space", "body"))
    body, XF = model.frame(frame)
    X, S = joints(model, q)
    X0 = from_world(model, X)
    XO = XF @ X0[body] if expressed_in == "body" else Transform.identity()
    Y = {i: XO @ X0[i].inverse for i in model.path(body)}
    J = {i: [Y[i] @ s for s in S[i]] for i in Y}
    rows = model.configuration(q)
    out: list[list[list[Scalar]]] = [[[0] * model.nv for _ in range(model.nv)] for _ in range(6)]
    for i in Y:
        for j in Y:
            for e in range(model.joint[j].nv):
                outer = j < i if expressed_in == "space" else i < j
                moving = expressed_in == "space" and i == j
                changes = [
                    _bracket(J[i][d], J[j][e], expressed_in) if outer or moving else Motion.zero() for d in range(len(J[i]))
                ]
                if i == j:
                    unit = [int(e == d) for d in range(model.joint[i].nv)]
                    own = model.joint[i].subspace_rate(rows[i], unit)
                    changes = [c + Y[i] @ s for c, s in zip(changes, own, strict=True)]
                _add(model, out, (i, j, e), changes)
    return out


def _bracket(Ji: Motion, Jj: Motion, expressed_in: str) -> Motion:
    return Jj.cross(Ji) if expressed_in == "space" else Ji.cross(Jj)


def _add(model: Model, out: list[list[list[Scalar]]], place: tuple[int, int, int], changes: list[Motion]) -> None:
    """Add to the columns of joints i and j, degree of freedom e; mimic joints add to their leaders' columns."""
    i, j, e = place
    ci, cj = model.coupling[i], model.coupling[j]
    gain = (1 if ci is None else ci.k) * (1 if cj is None else cj.k)
    for d, change in enumerate(changes):
        for r, x in enumerate((*change.w, *change.v)):
            entries = out[r][model.v_start[i] + d]
            entries[model.v_start[j] + e] = entries[model.v_start[j] + e] + x * gain
