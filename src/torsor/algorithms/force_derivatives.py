"""Derivatives of the force elements' wrenches, as joint forces."""

from __future__ import annotations

from collections.abc import Iterable

from torsor.algorithms.configuration import integrate
from torsor.algorithms.forces import element_wrenches
from torsor.algorithms.kinematics import joints
from torsor.algorithms.reactions import joint_forces_of_wrenches
from torsor.model.forces import ForceRow
from torsor.model.model import Model
from torsor.scalar import Dual, Scalar, Scalars, rate
from torsor.spatial import Force
from torsor.spatial.motion import six_numbers

Rows = list[list[Scalar]]


def element_force_derivatives(model: Model, q: Scalars, v: Scalars) -> tuple[Rows, Rows]:
    """Jᵀ ∂f/∂q (along v) and Jᵀ ∂f/∂v, nv × nv each: f are the wrenches of the elements, in the axes of their frames."""
    X, S = joints(model, q)

    def column(changed: Iterable[tuple[ForceRow, Force]]) -> list[Scalar]:
        f: dict[int, Force] = {}
        for row, F in changed:
            f[row.body] = f.get(row.body, Force.zero()) + row.X.T @ Force.of([rate(x) for x in six_numbers(F)])
        return joint_forces_of_wrenches(model, X, S, f)

    units = [[int(j == k) for k in range(model.nv)] for j in range(model.nv)]
    turned = (integrate(model, q, unit, Dual(0, 1)) for unit in units)  # q ⊕ e dt at dt = 0
    by_q = [column(element_wrenches(model, *joints(model, there), v)) for there in turned]
    by_v = [column(element_wrenches(model, X, S, [Dual(x, e) for x, e in zip(v, unit, strict=True)])) for unit in units]
    return [list(row) for row in zip(*by_q, strict=True)], [list(row) for row in zip(*by_v, strict=True)]
