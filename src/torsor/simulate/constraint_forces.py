"""Forces of the constraints in a simulated motion, and the time at which a surface would have to pull."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from torsor.simulate.limits import joints_at_stops, stops_of
from torsor.simulate.modes import decide
from torsor.simulate.system import System
from torsor.simulate.term_states import behind_bristles
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.simulate.result import Result


#: a normal force below this share of the constraint's largest force is zero
ROUNDING = 1e-9


def multipliers(result: Result) -> Array:
    """λ (T, k) [N, N·m] of M a + h = τ + Aᵀλ at the recorded states, under the wrenches, friction and stops of the run."""
    held = result.held
    if held is None:
        return np.zeros((len(result.t), 0))
    time = result.t if held.solver.equations.depends_on_time else None
    tau = result.tau + _forces_of_modes(result)
    return held.forward_dynamics(result.q, result.v, tau, result.wrenches or None, time=time).multipliers


def _forces_of_modes(result: Result) -> Array:
    """The forces of stops, dry friction and bristles on the joints (T, nv), from the mode that each state decides."""
    robot, total = result.require_robot(), np.zeros_like(result.tau)
    system, stops = System(robot, tuple(result.wrenches)), stops_of(robot)
    loads = behind_bristles(result)
    for k, (t, q, v, tau) in enumerate(zip(result.t.tolist(), result.q, result.v, loads, strict=True)):
        if not (system.sticks or joints_at_stops(stops, q, v)):
            continue
        F = [x[k] for x in result.wrenches.values()]
        mode = decide(system, stops, t, q, v, tau, F)
        total[k] = tau - result.tau[k] + system.motion(mode, t, q, v, tau, *F)[1] - system.friction(t, q, v, tau, mode.side)
    return total


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
