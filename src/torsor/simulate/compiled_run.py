"""Runs without Python between steps: the loop over time in machine code, one chunk of steps per call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.compile.scan import NotFinite
from torsor.errors import ArgumentError, SingularError
from torsor.simulate.rollout import rollout
from torsor.simulate.stages import Advance
from torsor.simulate.time_loop import Run

if TYPE_CHECKING:
    from torsor.robot import Robot

#: steps per chunk; the clock is read between chunks
CHUNK = 8192
#: doubt of constraint rows at the beginning of steps above which a singular position may lie within one
NEARLY_SINGULAR = 1e-5


def constant_force_step(robot: Robot, integrator: str) -> Advance:
    """A whole step under constant joint forces, in one kernel; its input is the forces instead of an acceleration."""
    step = robot.kernels("step", integrator).__call__
    return lambda q, v, t, dt, tau: step(q, v, tau, dt)


def run_compiled(run: Run, controls: Any, duration: float, dt: float, every: int, **options: Any) -> bool:
    """A run as rollouts of one robot, with the ``options`` of these: all that acts is known before it begins, or recorded.

    False near a singular position of a linkage, which a rollout cannot pass, and for a controller that cannot be recorded: the
    steps up to there are done.
    """
    n = max(1, int(np.ceil(duration / dt - 1e-9)))
    rest = duration - (n - 1) * dt  # length of the last step, if dt does not divide the duration
    even = abs(rest - dt) <= 1e-9 * dt
    run.forces.tick(run.t, run.q, run.v)
    whole_steps = n if even else n - 1
    try:
        while run.steps < whole_steps:
            times = (np.arange(run.steps, min(run.steps + CHUNK, whole_steps)) + 1) * dt
            _chunk(run, controls, times, (n, duration), every, dt, **options)
        if not even:
            _chunk(run, controls, np.array([duration]), (n, duration), every, rest, **options)
    except (NotFinite, SingularError, ArgumentError) as error:
        if run.system.held is None and not (isinstance(error, ArgumentError) and "controller" in options):
            if not run.steps:
                run.keep()  # the result so far
            raise
        return False
    return True


def _chunk(run: Run, controls: Any, times: np.ndarray, end: tuple[int, float], every: int, dt: float, **options: Any) -> None:
    """Some steps of one length, to these times, and their records; those before the first that fails are kept.

    ``end`` is the number of the last step of the run, and its time.
    """
    steps, first, (n, duration) = len(times), run.steps, end
    given = controls[first : first + steps] if np.ndim(controls) == 2 else controls
    try:
        moved = rollout(run.system.smooth, run.q, run.v, given, dt=dt, steps=steps, **options)
    except NotFinite as error:
        if error.step:
            _chunk(run, controls, times[: error.step], end, every, dt, **options)
        raise
    if moved.residual is not None and moved.residual[2] > NEARLY_SINGULAR:
        raise SingularError("constraint rows are nearly dependent")
    k = first + 1 + np.arange(steps)
    t = np.where(k == n, duration, times)
    state = int(k[-1]), float(t[-1]), moved.q[-1].copy(), moved.v[-1].copy()
    held = np.broadcast_to(0.0 if controls is None else controls, (n, run.system.robot.nv))
    tau = moved.tau if options.get("controller") else held[np.minimum(k, n - 1)]
    wrenches = (np.broadcast_to(F, (steps, 6)) for F in (options.get("wrenches") or {}).values())
    if not first:
        run.keep()
    run.record.extend(t, moved.q, moved.v, tau, *wrenches, kept=(k % every == 0) | (k == n))
    run.steps, run.t, run.q, run.v = state  # after its rows: if Ctrl-C comes before, all of this chunk is left out
    run.progress(run.t)
