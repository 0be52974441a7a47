"""∂J/∂q by brackets of the Jacobian's own columns: the kinematic Hessian (MR Exercise 8.6)."""

from __future__ import annotations

from torsor.algorithms.jacobian import Sight
from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Motion


def jacobian_derivative(
    model: Model,
    q: Scalars,
    frame: str,
    expressed_in: str = "world",
    relative_to: str | None = None,
    at: Scalars | None = None,
) -> list[list[list[Scalar]]]:
    """∂J_i/∂q_j at [row][i][j], so that (∂J/∂q) v = J̇ (MR Exercise 8.6).

    Turning joint j carries axis J_i along, if j is on the way from the base to joint i, by ad_{J_j}(J_i); minus the observer's
    own motion.  So it is ad_{J_j}(J_i) for j before i in ``"space"``, ad_{J_i}(J_j) for j after i in ``"body"``; in ``"world"``
    ω_j turns the axes after it, and v_j moves the point away from those before it.

    Within a joint of several degrees of freedom the columns may move relative to each other (F&O §3.1's Ṡ): in the body,
    ∂S/∂q_j; seen from space, plus ad_{J_j}(J_i).  Where v is not a rate of coordinates (floating base), ∂/∂q_j is along v_j.

    >>> import torsor as ts
    >>> dJ = jacobian_derivative(ts.robots.two_link().model, [0.0, 0.0], "tip", "space")
    >>> [row[1][0] for row in dJ]  # ∂J₂/∂q₁ = ad_{J₁}(J₂): turning joint 1 carries axis 2 along ŷ
    [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    """
    sight = Sight.of(model, q, frame, relative_to, at)
    model, Y, sign = sight.model, sight.to_observer(expressed_in), sight.signs()
    J = {i: [Y[i] @ s for s in sight.S[i]] for i in sign}
    rows = model.configuration(q)
    out: list[list[list[Scalar]]] = [[[0] * model.nv for _ in range(model.nv)] for _ in range(6)]
    for i in sign:
        before = set(model.path(i))
        for j in sign:
            turns, moves = _observer_follows(expressed_in, sign[j])
            w, v = int(j in before) - turns, int(j in before) - moves
            for e, Jj in enumerate(J[j]):
                seen = Motion(Jj.w * w, Jj.v * v)  # of body i, minus that of the observer, per unit of v_j
                changes = [seen.cross(Ji) for Ji in J[i]]
                if i == j:
                    unit = [int(e == d) for d in range(model.joint[i].nv)]
                    own = model.joint[i].subspace_rate(rows[i], unit)
                    changes = [c + Y[i] @ s for c, s in zip(changes, own, strict=True)]
                _add(model, out, (i, j, e), [c * sign[i] for c in changes])
    return out


def _observer_follows(expressed_in: str, sign: int) -> tuple[int, int]:
    """Whether the observer turns, and moves, with a joint on the way to the frame (sign 1), or to ``relative_to`` (−1)."""
    frame, reference = int(sign == 1), int(sign == -1)
    return {"body": (frame, frame), "space": (reference, reference), "world": (reference, frame)}[expressed_in]


def _add(model: Model, out: list[list[list[Scalar]]], place: tuple[int, int, int], changes: list[Motion]) -> None:
    """Add to the columns of joints i and j, degree of freedom e; mimic joints add to their leaders' columns."""
    i, j, e = place
    ci, cj = model.coupling[i], model.coupling[j]
    gain = (1 if ci is None else ci.k) * (1 if cj is None else cj.k)
    for d, change in enumerate(changes):
        for r, x in enumerate((*change.w, *change.v)):
            entries = out[r][model.v_start[i] + d]
            entries[model.v_start[j] + e] = entries[model.v_start[j] + e] + x * gain
