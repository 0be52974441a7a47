"""Readings of sensors along a motion: quantities at its recorded rows, then delay, noise and resolution."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.algorithms.equation import EquationOfMotion
from torsor.compile import Argument
from torsor.errors import ArgumentError
from torsor.kernels import Spec
from torsor.model.sensor import Sensor
from torsor.simulate import quantities
from torsor.simulate.contact_events import accelerations
from torsor.simulate.modes import decide
from torsor.simulate.result import Result, between_records
from torsor.simulate.rollout_failures import evaluate_before_failures, rows_before
from torsor.simulate.step_program import Plan, at_records, wrench_argument
from torsor.simulate.system import System
from torsor.simulate.term_states import behind_bristles
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.robot import Robot
    from torsor.simulate.step_program import StepInput
    from torsor.simulate.term_states import TermStates
    from torsor.simulate.time_loop import Run

#: a quantity with its option, or a column of the motion
Asked = tuple[str, ...]
#: quantities of the forces inside the robot
FORCES = ("force_torque", "joint_torque_sensor")
#: quantities of the acceleration
OF_ACCELERATION = ("accelerometer", *FORCES)


def check_sensors(robot: Robot, sensors: Any, system: System | None = None) -> dict[str, Sensor]:
    """The sensors as users give them, a dict by name; unknown frames and joints, and readings without rows, are errors."""
    if not isinstance(sensors, Mapping) or not all(isinstance(s, Sensor) for s in sensors.values()):
        raise ArgumentError('sensors must be a dict such as {"imu": ts.Sensor("accelerometer", "imu_link")}')
    for name, sensor in sensors.items():
        if not isinstance(name, str) or not name:
            raise ArgumentError(f"the name of a sensor must be a string, not {name!r}")
        sensor.rows(robot.model)
        quantity, reading = sensor.quantity[0], f"sensor {name!r} ({sensor.kind})"
        if quantity in FORCES and system is not None and system.touching:
            raise ArgumentError(f"{reading}: forces inside a robot with contacts are read in fixed steps, "
                                "integrator='semi_implicit'")  # fmt: skip
        if quantity in FORCES and system is not None and system.held:
            raise ArgumentError(f"{reading}: forces inside a robot with loops or constraints are not recorded; "
                                "robot.constrained().reactions(q, v, tau) computes them")  # fmt: skip
    return dict(sensors)


# -- simulations -----------------------------------------------------------------------------------------------------------


def simulation_readings(run: Run, result: Result, sensors: Mapping[str, Sensor]) -> dict[str, Array]:
    """The readings, (T, n) by name, at the recorded rows of a simulation."""
    robot = run.system.robot

    def compute(asked: Sequence[Asked]) -> list[Array]:
        if run.states and run.states.stepped and not run.system.touching:
            return _by_steps(run, run.states, result, asked)
        loaded = tuple(result.wrenches) if any(name in FORCES for name, *_ in asked) else ()
        clock = ("t",) if robot.kernels.reads_time(*(name for name, *_ in asked)) else ()
        spec = Spec(tuple(asked), loaded, extra=clock)
        state = {"q": result.q, "v": result.v, "t": result.t}
        if any(name in OF_ACCELERATION for name, *_ in asked):
            state["a"] = _accelerations(run, result)
        given = [state[x.name] for x in robot.kernels.inputs(spec) if x.name in state]
        values = robot.kernels.kernel(spec)(*given, *(result.wrenches[frame] for frame in loaded))
        return [values] if len(asked) == 1 else list(values)

    return _readings(robot, sensors, result.t, {"q": result.q, "v": result.v, "tau": result.tau}, compute)


def _by_steps(run: Run, states: TermStates, result: Result, asked: Sequence[Asked]) -> list[Array]:
    """The quantities at the recorded rows of a motion through contact: those of a rollout's step that begins there."""
    robot, frames = run.system.robot, run.system.frames
    rows = zip(result.t.tolist(), result.q, result.v, strict=True)
    columns = [np.array([states.command(*row) for row in rows]), *(result.wrenches[frame] for frame in frames)]
    fed = [Argument("dt", ()), Argument("controls", (robot.nv,)), *map(wrench_argument, frames)]
    given = [np.asarray(float(result.info["dt"])), *columns]
    if robot.model.depends_on_time:
        fed, given = [*fed, Argument("t", ())], [*given, result.t]
    x = states_of(robot, result)
    plan = Plan(result.info["integrator"], tuple((a, True) for a in fed), frames=frames, memory=x.shape[-1])
    kernel = robot.kernels.of(quantities.QUANTITIES).kernel(Spec((("sensors", plan, tuple(asked)),)))
    values = kernel(result.q, result.v, x, *given)
    return np.split(values, np.cumsum([_size(robot, name) for name, *_ in asked])[:-1], axis=-1)


def states_of(robot: Robot, result: Result) -> Array:
    """x (T, n) at the recorded rows, from the states that are recorded; memories that are not are those of the start."""
    x = np.tile(np.array(EquationOfMotion(robot.model).start, float), (len(result.t), 1))
    named = result.info.get("states", {})
    for k, name in enumerate(robot.state_names):
        joint, kind = name.rsplit(" ", 1)
        if joint in named.get(kind, ()):
            x[:, k] = result.states[kind][:, named[kind].index(joint)]
    return x


def _size(robot: Robot, name: str) -> int:
    """Entries of a reading."""
    return robot.nv if name in ("tau", "joint_torque_sensor") else 6 if name in FORCES else 3


def _accelerations(run: Run, result: Result) -> Array:
    """a (T, nv) at the recorded rows: of the motion that follows each of them."""
    system, F, loads = run.system, tuple(result.wrenches.values()), behind_bristles(result)
    if system.touching:
        assert result.contact_forces is not None
        return accelerations(system.touching, result.t, result.q, result.v, loads, list(F), result.contact_forces)
    if not run.modes:
        return system.acceleration(result.t, result.q, result.v, loads, *F)  # type: ignore[arg-type]
    system.states = None  # its bristles are counted
    rows = []
    for k, t in enumerate(result.t.tolist()):
        state, wrenches = (t, result.q[k], result.v[k], loads[k]), [f[k] for f in F]
        mode = decide(system, run.stops, *state, wrenches)
        rows.append(system.motion(mode, *state, *wrenches)[0])
    return np.array(rows)


# -- rollouts ----------------------------------------------------------------------------------------------------------------


def rollout_readings(
    robot: Robot,
    sensors: Mapping[str, Sensor],
    plan: Plan,
    feeds: Sequence[StepInput],
    every: int,
    t: Array,
    start: Sequence[Array],
    recorded: Sequence[Array],
    failed: Array | None = None,
) -> dict[str, Array]:
    """The readings, (..., T, n) by name, at the recorded states of a rollout, under the inputs of the step that follows.

    ``start`` and ``recorded`` are q, v and the memory.  The start counts for delays and in the noise, as in a simulation, whose
    first row it is.  Robots that ``failed`` at a step, (...), have NaN from the record that it follows.
    """
    t = np.concatenate([[0.0], t])
    good = None if failed is None else rows_before(failed, np.arange(len(t)) * every)
    q, v, *internal_states = (_with_first(x, y) for x, y in zip(start, recorded, strict=True))

    def compute(asked: Sequence[Asked]) -> list[Array]:
        kernels, spec = robot.kernels.of(quantities.QUANTITIES), Spec((("sensors", plan, tuple(asked)),), dtype=q.dtype.name)
        kernel, arrays = kernels.kernel(spec), (q, v, *internal_states, *(at_records(f, every, t, start=True) for f in feeds))
        values = evaluate_before_failures(kernel, arrays, [len(a.shape) for a in kernel.inputs], good)
        return np.split(values, np.cumsum([_size(robot, name) for name, *_ in asked])[:-1], axis=-1)

    found = _readings(robot, sensors, t, {"q": q, "v": v}, compute, first=1)
    for y in found.values() if failed is not None else ():
        y[np.isnan(recorded[0]).any(axis=-1)] = np.nan  # a delayed reading would be of earlier states
    return found


def _with_first(start: Array, recorded: Array) -> Array:
    """The recorded rows (..., T, n) with the start (..., n) before them, in their precision."""
    first = np.broadcast_to(start, (*recorded.shape[:-2], start.shape[-1]))[..., None, :]
    return np.concatenate([first, recorded], axis=-2, dtype=recorded.dtype)


# -- both --------------------------------------------------------------------------------------------------------------------


def _readings(
    robot: Robot,
    sensors: Mapping[str, Sensor],
    t: Array,
    columns: dict[str, Array],
    compute: Callable[[Sequence[Asked]], list[Array]],
    first: int = 0,
) -> dict[str, Array]:
    """The readings by name, from columns of the motion and quantities computed from it, each once."""
    found: dict[Asked, Array] = {(name,): x for name, x in columns.items()}
    if asked := [x for x in dict.fromkeys(s.quantity for s in sensors.values()) if x not in found]:
        found |= dict(zip(asked, compute(asked), strict=True))
    return {name: reading(name, s, t, found[s.quantity][..., s.rows(robot.model)], first) for name, s in sensors.items()}


def reading(name: str, sensor: Sensor, t: Array, y: Array, first: int = 0) -> Array:
    """The reading of a sensor, (..., T, n), where y is the exact value: delayed, with noise, rounded to steps.

    From row ``first`` on: the rows before it count for delays alone.
    """
    read = _apply_delay(t, y, sensor.delay)[..., first:, :] + _noise(name, sensor, y.shape, first)
    return _round_to_steps(read, sensor.step).astype(y.dtype, copy=False)


def _round_to_steps(x: Array, step: float) -> Array:
    """x to the nearest step; a number that is a multiple of steps finer than its last digit stays."""
    if not step:
        return x
    with np.errstate(over="ignore"):
        n = x / step
    return np.where(np.abs(n) < 2.0**52, np.floor(n + 0.5) * step, x)


def _apply_delay(t: Array, y: Array, delay: float) -> Array:
    """y(t − delay), linear between the rows; the first value before them."""
    if not delay:
        return y
    k, after, s = between_records(t, np.maximum(t - delay, t[0]))
    return y[..., k, :] + (y[..., after, :] - y[..., k, :]) * s[:, None]


def _noise(name: str, sensor: Sensor, drawn: tuple[int, ...], first: int) -> Array | float:
    given = np.asarray(sensor.noise, dtype=float)
    shape = (*drawn[:-2], drawn[-2] - first, drawn[-1])
    try:
        spread = np.broadcast_to(given, shape)
    except ValueError:
        raise ArgumentError(
            f"noise of sensor {name!r} has shape {given.shape}; its readings have {shape}: give one standard deviation, "
            f"{shape[-1]} of them, or a row per recorded time"
        ) from None
    if given.ndim > 1 or not given.any():
        return spread
    draw = np.random.default_rng([sensor.seed, zlib.crc32(name.encode())])
    return draw.standard_normal(drawn)[..., first:, :] * spread
