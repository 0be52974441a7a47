"""Forces of the constraints in a simulated motion, and the time at which a surface would have to pull."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from torsor.simulate import complementarity
from torsor.simulate.limits import Stop, force_bounds, joints_at_stops

if TYPE_CHECKING:
    from torsor.simulate.result import Result

Array: TypeAlias = np.ndarray

#: a normal force below this share of the constraint's largest force is zero
ROUNDING = 1e-9


def multipliers(result: Result) -> Array:
    """λ (T, k) [N, N·m] of M a + h = τ + Aᵀλ at the recorded states, under the wrenches, losses and stops of the run."""
    held, robot = result.held, result.require_robot()
    if held is None:
        return np.zeros((len(result.t), 0))
    timed = held.solver.equations.depends_on_time
    stops = [Stop(*s) for s in result.info.get("stops", ())]
    tau = result.tau.copy()
    options: Any = {"time": result.t if timed else None}
    free = held.forward_dynamics(result.q, result.v, tau, result.wrenches or None, **options)
    resting = [(k, at) for k in range(len(tau)) if stops and (at := joints_at_stops(stops, result.q[k], result.v[k]))]
    for k, at in resting:  # the stops' forces act as well: w = a_r + W_rr x, as in the modes of the run
        rows, time = sorted({row for row, _ in at}), result.t[k] if timed else None
        W = held.acceleration_projector(result.q[k], time=time) @ held.tree.mass_matrix_inverse(result.q[k])
        lower, upper = force_bounds(at, robot.nv)
        tau[k, rows] += complementarity.solve(W[np.ix_(rows, rows)], free.a[k, rows], lower[rows], upper[rows]).x
    if not resting:
        return free.multipliers
    return held.forward_dynamics(result.q, result.v, tau, result.wrenches or None, **options).multipliers


def notes_on_pulling(result: Result) -> list[str]:
    """One line for each constraint with a surface whose force pulls on the robot, with the first recorded time of it."""
    notes, start = [], 0
    for c in result.held.constraints if result.held else ():
        rows, start = slice(start, start + c.size), start + c.size
        side = c.pushing_side(result.require_robot().gravity.tolist())
        if side is None:
            continue
        force = result.multipliers[:, rows] @ np.array(side, float)
        pulls = np.flatnonzero(force < -ROUNDING * np.abs(result.multipliers[:, rows]).max())
        if len(pulls):
            t, size = result.t[pulls[0]], force[pulls[0]]
            notes.append(
                f"constraint {c.name!r} pulls at t = {t:.4g} s for the first time ({size:.3g} N along the normal): "
                "a foot on the ground would lift off"
            )
    return notes
