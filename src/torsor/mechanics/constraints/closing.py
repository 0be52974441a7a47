"""Configurations that close the loops, from initial guesses, and error messages for loops that stay open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.algorithms.closed_loops import regular_mass
from torsor.compile import Argument
from torsor.compile.arrays import as_rows, batch_shape
from torsor.compile.dask_blocks import FLOAT64
from torsor.errors import ArgumentError, ClosureError
from torsor.mechanics.constraints.closure import CLOSED, Closure, close
from torsor.mechanics.constraints.null_space import in_metric
from torsor.mechanics.constraints.rank import independent_rows

if TYPE_CHECKING:
    from torsor.mechanics.constraints.constrained_robot import ConstrainedRobot
    from torsor.robot import Robot

#: steps of the kernel after which a state is closed alone
_BATCH_STEPS = 20


def close_loops(system: ConstrainedRobot, q: np.ndarray, movable: np.ndarray, time: float | None) -> Closure:
    """The iteration of :func:`torsor.mechanics.constraints.closure.close` on the rows that have a position."""
    clock, keep = system.clock(time), system.holonomic
    kernel, step = system.solver.kernel("position"), system.robot.integrate

    def residual(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        phi, A = kernel(q, *clock)
        return phi[keep], A[keep]

    return close(residual, lambda q, v: step(q, v, 1.0), q, movable)


def samples(system: ConstrainedRobot, more: int = 7) -> tuple[np.ndarray, float | None]:
    """(q, time): 1 + ``more`` configurations that close the loops, near one another; any, where none is found."""
    robot, rng = system.robot, np.random.default_rng(0)
    time = 0.3 if system.solver.equations.depends_on_time else None
    every = np.ones(robot.nv, bool)
    here = close_loops(system, robot.neutral(), every, time)
    if here.closed:  # the branch of the model: random guesses also end on others, where other rows are independent
        guesses = [here.q, *(robot.integrate(here.q, v, 1.0) for v in 0.2 * rng.normal(size=(more, robot.nv)))]
    else:
        guesses = [here.q, *robot.random_configuration(rng, more)]
    ends = [close_loops(system, q, every, time) for q in guesses]
    found = np.array([end.q for end in ends if end.closed] or guesses)
    near = [robot.integrate(q, v, 1.0) for q, v in zip(found, 1e-3 * rng.normal(size=(len(found), robot.nv)), strict=True)]
    return np.array([close_loops(system, q, every, time).q for q in near]), time


def select_rows(system: ConstrainedRobot, known: tuple[int, ...] | None = None) -> tuple[int, ...]:
    """The independent rows where the loops are closed; those ``known`` of other numbers, if one configuration confirms them."""
    if not system.constraints:
        return ()
    if known is not None:
        B = _rows_in_metric(system, 0)
        if len(independent_rows(B)) == len(known) == len(independent_rows(B[:, list(known)])):
            return known
    return independent_rows(_rows_in_metric(system))


def _rows_in_metric(system: ConstrainedRobot, more: int = 7) -> np.ndarray:
    """The rows at configurations that close the loops, in coordinates where M is the identity."""
    configurations, time = samples(system, more)
    kernel, lean, clock = system.solver.kernel("position"), system.solver.equations.lean.model, system.clock(time)
    A = np.array([kernel(q, *clock)[1] for q in configurations])
    M = np.array([regular_mass(lean, *x)[0] for x in zip(configurations.tolist(), A.tolist(), strict=True)])  # over floats: few
    return in_metric(M, A, system.robot.model)[1]


def assemble(
    system: ConstrainedRobot, q: np.ndarray, movable: np.ndarray, time: Any, attempts: int, rng: np.random.Generator
) -> np.ndarray:
    """Configurations with closed loops, from q: a batch by steps of a kernel; one state, and those left open, by themselves."""
    given = [as_rows(Argument("time", ()), x, FLOAT64) for x in system.clock(time)]
    batch = batch_shape([Argument("q", q.shape[-1:]), *(Argument("time", ()) for _ in given)], [q, *given])
    if not batch:
        return _assemble_one(system, q, movable, time, attempts, rng)
    start = np.broadcast_to(q, (*batch, q.shape[-1])).reshape(-1, q.shape[-1])
    clock = [np.broadcast_to(x, batch).ravel() for x in given]
    kernel, free, end, left = system.solver.kernel("closing_step"), movable.astype(float), start.copy(), np.arange(len(start))
    for _ in range(_BATCH_STEPS):
        end[left], error = kernel(end[left], free, *(t[left] for t in clock))
        left = left[~_is_closed(error, CLOSED)]  # of those that are closed, this step was the one more: to rounding
        if not len(left):
            break
    for k in np.flatnonzero(~_is_closed(kernel(end, free, *clock)[1], 1e3 * CLOSED)).tolist():
        try:
            end[k] = _assemble_one(system, start[k], movable, float(clock[0][k]) if clock else None, attempts, rng)
        except ClosureError as problem:
            place = [int(i) for i in np.unravel_index(k, batch)]
            raise ClosureError(f"state {place} of the batch: {problem}") from None
    return end.reshape(*batch, q.shape[-1])


def _is_closed(error: np.ndarray, bound: float) -> np.ndarray:
    return np.abs(error).max(axis=-1, initial=0.0) <= bound


def _assemble_one(
    system: ConstrainedRobot, q: np.ndarray, movable: np.ndarray, time: float | None, attempts: int, rng: np.random.Generator
) -> np.ndarray:
    """A configuration with closed loops, from q, else from random configurations of the movable joints."""
    best = close_loops(system, q, movable, time)
    for _ in range(attempts):
        if best.closed:
            break
        start = redraw_movable(system, q, system.robot.random_configuration(rng), movable)
        best = min(best, close_loops(system, start, movable, time), key=lambda end: float(np.linalg.norm(end.error)))
    if not best.closed:
        raise ClosureError(open_loop_message(system, best, movable))
    return best.q


def movable_mask(system: ConstrainedRobot, fixed: Sequence[str], free: Sequence[str] | None) -> np.ndarray:
    """Mask of the velocities that may change, (nv,) bool, from the joints named."""
    movable = np.ones(system.robot.nv, bool) if free is None else joint_mask(system.robot, free)
    return movable & ~joint_mask(system.robot, fixed)


def joint_mask(robot: Robot, names: Sequence[str], what: str = "joints") -> np.ndarray:
    """Mask of the velocities of the joints named, (nv,) bool."""
    if isinstance(names, str):
        raise ArgumentError(f"give {what} as a list, [{names!r}], not as a string")
    out = np.zeros(robot.nv, bool)
    for name in names:
        out[robot.joint(name).v_slice] = True
    return out


def redraw_movable(system: ConstrainedRobot, kept: np.ndarray, drawn: np.ndarray, movable: np.ndarray) -> np.ndarray:
    """A configuration with new random values of the movable joints."""
    q = kept.copy()
    for name in system.robot.joints:
        joint = system.robot.joint(name)
        if joint.mimic is None and movable[joint.v_slice].all():
            q[joint.q_slice] = drawn[joint.q_slice]
    return q


def open_loop_message(system: ConstrainedRobot, end: Closure, movable: np.ndarray) -> str:
    """Part of an error message: the constraint with the largest closure error, the error, and advice."""
    keep = np.flatnonzero(system.holonomic)
    owner = np.array([c.name for c in system.constraints for _ in range(c.size)])[keep]
    sizes = {str(name): float(np.linalg.norm(end.error[owner == name])) for name in dict.fromkeys(owner)}
    worst = max(sizes, key=lambda name: sizes[name])
    held = [name for name in system.robot.joints if not movable[system.robot.joint(name).v_slice].any()]
    why = f"with {', '.join(held)} held, " if held else ""
    return (
        f"no closure found: {why}{worst!r} has a closure error of {sizes[worst]:.3g} (m, rad) "
        f"at the nearest configuration found, q = {np.array2string(end.q, precision=3, separator=', ')}; "
        "the links may be too short to meet, or the guess too far away"
    )
