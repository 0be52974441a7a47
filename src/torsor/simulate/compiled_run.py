"""Runs without Python between steps: the loop over time in machine code, one chunk of steps per call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.compile.scan import NotFinite
from torsor.kernels.quantities import labels
from torsor.simulate.rollout import rollout
from torsor.simulate.stages import Advance
from torsor.simulate.time_loop import Run
from torsor.support.user_arrays import as_array

if TYPE_CHECKING:
    from torsor.robot import Robot

#: steps per chunk; the clock is read between chunks
CHUNK = 8192


def constant_force_step(robot: Robot, integrator: str) -> Advance:
    """A whole step under constant joint forces, in one kernel; its input is the forces instead of an acceleration."""
    step = robot.kernels("step", integrator).__call__
    return lambda q, v, t, dt, tau: step(q, v, tau, dt)


def run_compiled(run: Run, control: Any, duration: float, dt: float, every: int, **options: Any) -> None:
    """A run with forces that are constant or given per step, by rollouts of one robot; ``options`` are those of a rollout."""
    n = max(1, int(np.ceil(duration / dt - 1e-9)))
    rest = duration - (n - 1) * dt  # length of the last step, if dt does not divide the duration
    even = abs(rest - dt) <= 1e-9 * dt
    tau = np.broadcast_to(
        0.0 if control is None else as_array("control", control, labels(run.system.robot.model)["tau"], float),
        (n, run.system.robot.nv),
    )
    run.forces.box[0] = tau[0].copy()
    run.keep()
    whole_steps = n if even else n - 1
    while run.steps < whole_steps:
        _chunk(run, tau, dt, min(CHUNK, whole_steps - run.steps), every, dt, duration if even else None, **options)
    if not even:
        _chunk(run, tau, rest, 1, every, dt, duration, **options)


def _chunk(
    run: Run, tau: np.ndarray, width: float, steps: int, every: int, dt: float, end: float | None, **options: Any
) -> None:
    """Some steps of one width, and their records; states before the first that is not finite are kept."""
    first, n = run.steps, len(tau)
    forces = tau[first : first + steps]
    try:
        moved = rollout(run.system.smooth, run.q, run.v, forces, dt=width, steps=steps, **options)
    except NotFinite as error:
        if error.step:
            _chunk(run, tau, width, error.step, every, dt, end, **options)
        raise
    k = first + 1 + np.arange(steps)
    kept, t = (k % every == 0) | (k == n), k * dt
    if end is not None and k[-1] == n:
        t[-1] = end
    state = int(k[-1]), float(t[-1]), moved.q[-1].copy(), moved.v[-1].copy()
    run.record.extend(t, moved.q, moved.v, tau[np.minimum(k, n - 1)], kept=kept)
    run.steps, run.t, run.q, run.v = state  # after its rows: if Ctrl-C comes before, all of this chunk is left out
    run.progress(run.t)
