"""Many robots, many steps: the whole time loop in one SIMD kernel, a controller recorded into it (MR §8.5)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from torsor.algorithms.equation import EquationOfMotion
from torsor.algorithms.equation.settle import LIMITS
from torsor.algorithms.equation.step import has_impulses
from torsor.algorithms.equation.stiff import check_method
from torsor.compile import Argument, Scan
from torsor.compile.arrays import as_rows, batch_shape, check_finite
from torsor.compile.recorded_function import RecordedFunction
from torsor.compile.scan import NotFinite
from torsor.errors import ArgumentError, TorsorError
from torsor.kernels import Spec
from torsor.kernels.axes import Spread, with_axes
from torsor.kernels.checks import check_step_length, check_wrenches, with_their_axes
from torsor.kernels.options import Wrenches
from torsor.kernels.quantities import labels
from torsor.kernels.replaced import name_replacements
from torsor.kernels.spec import wrench_law
from torsor.mechanics.flexible.frequencies import check_step_resolves_vibrations
from torsor.model.terms.capabilities import refuse
from torsor.simulate.controller_functions import Controller
from torsor.simulate.held_rows import check_start
from torsor.simulate.quantities import QUANTITIES
from torsor.simulate.rollout_failures import Failures, failures_of, is_mask
from torsor.simulate.rollout_output import Rollout, RolloutInputs, inputs_at_records, memory_rows
from torsor.simulate.step_program import Plan, StepInput, StepProgram, wrench_argument
from torsor.support.user_arrays import float_type

if TYPE_CHECKING:
    from torsor.model.sensor import Sensor
    from torsor.robot import Robot
    from torsor.simulate.parameters import VariedConstant

FLOAT64 = np.dtype(np.float64)


@name_replacements
def rollout(
    robot: Robot,
    q0: ArrayLike,
    v0: ArrayLike,
    controls: ArrayLike | Spread | None = None,
    *,
    dt: float,
    steps: int | None = None,
    x: ArrayLike | None = None,
    integrator: str = "semi_implicit",
    wrenches: Wrenches | None = None,
    controller: Controller | Callable[..., Any] | None = None,
    vary: Mapping[str, Mapping[str, Any]] | None = None,
    record: str | int = "all",
    sensors: Mapping[str, Sensor] | None = None,
    differentiable: bool = False,
    dtype: Any = np.float64,
    on_failure: str = "raise",
) -> Rollout:
    """The motion of many robots from (q0, v0), ``(..., nq)`` and ``(..., nv)``, in steps of dt [s].

    ``controls`` are commands constant over each step, (..., T, nv), or over all, (nv,): joint forces where the robot has no
    actuators and drives (:meth:`Robot.with_actuators`, :meth:`Robot.with_drives`).  ``x`` (n,) or (..., n) are the first-order
    states at the start (``robot.state_names``), by default those of bristles, currents and memories at rest: 0.
    ``controller`` is a function over scalars of some of q, v, t and u (the controls), or a :class:`Controller` with such a
    function, its parameters and its memory.  It returns the commands, is recorded into the kernel and part of the equation of
    motion: "rk4" evaluates it 4 times.  Noise is a parameter, drawn beforehand; a controller that draws random numbers itself
    is refused.
    ``integrator``: "semi_implicit", "euler", "rk4", "midpoint", "variational", "implicit".
    ``wrenches={frame: F}`` act on the robots, F (6,) at that frame's origin in its axes, or as ``WorldAxes({frame: F})`` in
    the world's, spread as parameters are, or a function of t over scalars, recorded into the kernel.
    ``vary={"mass": {"link": per_robot(factors)}}`` makes robots differ without compiling again
    (:data:`torsor.simulate.parameters.VARIATIONS`).  ``record`` is "all", "last", or the number of steps between records.
    The terms of the robot act.  Contacts, stops and dry friction of joints act by impulses: "semi_implicit" and "implicit" have
    them, and ``rollout.contact_residual`` is what is left of their equations in each step [m/s].
    ``sensors={"imu": ts.Sensor("accelerometer", "imu_link")}`` gives ``rollout.sensors["imu"]``, (..., T, 3): readings at the
    recorded states, under the joint forces of the step that follows; so are the joint forces ``rollout.tau``.
    ``dtype="float32"`` computes in single precision, with twice as many robots in a vector register.
    ``differentiable=True`` keeps what :meth:`Rollout.gradient` needs: with ``record="all"`` the states, else about √T of them.
    A robot that is no longer finite raises :class:`NotFinite`; with ``on_failure="mask"`` it is listed in ``rollout.failed``,
    and its states are NaN from that step on.  The other robots have the same bits as without it.

    >>> import numpy as np, torsor as ts
    >>> fall = rollout(ts.robots.two_link(), np.zeros((100, 2)), np.zeros(2), dt=1e-3, steps=50)
    >>> fall.q.shape, float(fall.t[-1])
    ((100, 50, 2), 0.05)
    """
    more_given = (
        on_failure != "raise" or differentiable or vary or wrenches or sensors or robot.state_names or robot.model.has_rows
    )
    if controller is x is None and not more_given and dtype is np.float64 and isinstance(record, str) and record == "all":
        one = _one_step(robot, q0, v0, controls, dt, steps, integrator)
        if one is not None:
            return one
    check_method(integrator)
    mask, kind = is_mask(on_failure), float_type(dtype)
    check_step_length(dt)
    robot = robot_in_steps(robot, float(dt))
    refuse(robot.model, "step")
    asked = {}
    if sensors:
        from torsor.simulate.sensors import check_sensors, rollout_readings

        asked = check_sensors(robot, sensors)
    entries = labels(robot.model)
    q = as_rows(Argument("q0", (robot.nq,), entries["q0"]), q0, FLOAT64)
    v = as_rows(Argument("v0", (robot.nv,), entries["v0"]), v0, FLOAT64)
    check_step_resolves_vibrations(robot, q, float(dt))
    u, own = _controls(controls, robot.nv, controller is None), None if controller is None else Controller.of(controller)
    m, more = np.zeros(0) if own is None else own.start, _initial_states(robot, x)
    law = None if own is None else own.law(robot.nv, u is not None)
    axes = max(1, *(y.ndim - 1 for y in (q, v, m, more)), u.values.ndim - 2 if u is not None and u.steps else 0)
    feeds = [StepInput(Argument("dt", ()), np.asarray(float(dt)))]
    if u is not None:
        feeds.append(StepInput(Argument("controls", u.values.shape[-1:]), u.values, u.steps))
    feeds += [_step_input(f"parameters[{name!r}]", values, axes) for name, values in (own.parameters if own else {}).items()]
    differ: dict[VariedConstant, tuple[Argument, Spread]] = {}
    if vary:
        from torsor.simulate.parameters import variations

        differ = variations(robot, vary)
    feeds += [_step_input(a.name, values, axes, a.shape) for a, values in differ.values()]
    by_frame, axes_of_wrenches = with_their_axes(wrenches)
    laws, on = _wrench_laws(robot, by_frame)
    feeds += [_step_input(wrench_argument(frame).name, F, axes, (6,)) for frame, F in on.items()]
    T = _steps(steps, feeds)
    if (law is not None and "t" in law.takes) or laws or robot.model.depends_on_time:
        feeds.append(StepInput(Argument("t", ()), np.arange(T) * float(dt), True))
    fed, size = tuple((f.argument, f.stepped) for f in feeds), m.shape[-1] + more.shape[-1]
    plan, check = _record_controller(robot, Plan(integrator, fed, law, tuple(differ), tuple(on), laws, axes_of_wrenches, size))
    state = [q, v, *([_side_by_side(m, more)] if size else [])]
    limits = LIMITS[kind.name] if robot.model.has_rows else ()
    if limits:
        check_start(robot.constrained(), q, v, limits[0])
        state.append(np.zeros(len(limits)))
    checked = plan._replace(limits=limits)
    scan, step, every = _scan(robot, checked, check, kind.name), StepProgram(robot, checked, feeds), _every(record, T)
    if checked.last and (differentiable or (size and asked)):
        scan = scan.with_all_rows  # the memory is needed at each record
    adjoint = None
    try:
        if differentiable:
            from torsor.simulate.rollout_gradient import Adjoint, run_in_ranges

            backward = _scan(robot, plan, check, kind.name, backwards=True)
            state = [np.array(y) for y in state]  # the caller may change the arrays before the gradient is computed
            (qs, vs, *after), ranges, failed = run_in_ranges(scan, state, feeds, T, every, mask)
            batches = {name: y.shape[:-1] for name, y in {"q0": q, "v0": v, "memory": m, "x": more}.items()}
            adjoint = Adjoint(robot.kernels.lean_tree, plan, feeds, batches, scan, backward, ranges, every)
            if has_impulses(EquationOfMotion(robot.model)):
                spec = Spec((("distances from switching", plan),), dtype=kind.name)
                adjoint = adjoint._replace(kernel=partial(robot.kernels.of(QUANTITIES).kernel, spec))
        else:
            found = scan(*state, *(f.values for f in feeds), steps=T, every=every, mask=mask)
            (qs, vs, *after), failed = found if mask else (found, None)
    except NotFinite as error:
        raise step.explain(scan, state, float(dt), error) from None
    failures = _failures(step, scan, state, float(dt), failed) if failed is not None and (failed >= 0).any() else None
    if adjoint and failures:
        adjoint = adjoint._replace(sound=failures.steps < 0)
    residual = after.pop().reshape(*qs.shape[:-2], -1, len(limits))[..., -1, :] if limits else None
    t = np.arange(every, T + 1, every) * float(dt)
    starts, ends, lost = state[: 2 + bool(size)], (qs, vs, *after), failures and failures.steps
    read = rollout_readings(robot, asked, plan, feeds, every, t, starts, ends, lost) if asked else {}
    rows = memory_rows(scan, state, feeds, T, every, *after) if size else None
    given = inputs_at_records(robot, plan, feeds, float(dt), T, every, t, rows)._replace(failures=failures)
    return Rollout(t, qs, vs, read, given, adjoint, residual)


def _failures(step: StepProgram, scan: Scan, state: Sequence[np.ndarray], dt: float, failed: np.ndarray) -> Failures:
    """The failed robots; an initial configuration that is none, such as a quaternion of zeros, is an error."""
    start = [np.array(x) for x in state]
    for at in map(tuple, np.argwhere(failed == 0).tolist()):
        step.check_start(start[0], at)
    return Failures(failed, lambda: failures_of(failed, partial(step.explain, scan, start, dt)))


def _one_step(robot: Robot, q0: Any, v0: Any, controls: Any, dt: Any, steps: Any, integrator: str) -> Rollout | None:
    """One robot and one step by ``robot.step``, equal bit for bit; None for all other calls."""
    if not (type(q0) is type(v0) is type(controls) is np.ndarray and type(dt) is float and 0 < dt < math.inf):
        return None
    rows = controls.ndim - 1  # 1 if the controls have an axis of steps, 0 if they are constant
    if q0.shape != (robot.nq,) or v0.shape != (robot.nv,) or controls.shape[rows:] != (robot.nv,):
        return None
    if not ((rows == 1 and len(controls) == 1 and steps in (None, 1)) or (rows == 0 and steps == 1)):
        return None
    try:
        q, v, *_ = robot.step(q0, v0, controls[0] if rows else controls, dt, integrator)
    except TorsorError:
        return None  # the general path names a rollout's arguments in its errors
    inputs = RolloutInputs(robot, integrator, dt, 1, None, (controls.copy(),))
    return Rollout(np.array([dt]), q[None], v[None], inputs=inputs)


def robot_in_steps(robot: Robot, dt: float) -> Robot:
    """The robot in a motion by steps of dt [s]: another one if the number of its states depends on dt."""
    known: dict[float, Robot] = vars(robot).setdefault("_in_steps", {})
    if dt not in known:
        d = robot.description
        terms = tuple(term.in_steps(dt) for term in d.terms)
        known[dt] = robot if all(x is y for x, y in zip(terms, d.terms, strict=True)) else type(robot)(replace(d, terms=terms))
    return known[dt]


def no_states(robot: Robot) -> ArgumentError:
    """The error for an x of a robot that has none."""
    return ArgumentError(f"x is given, but robot {robot.name!r} has no first-order states (bristles, currents, memories)")


def _initial_states(robot: Robot, x: Any) -> np.ndarray:
    """x at the start, (..., n); (0,) if the robot has none."""
    start = np.array(EquationOfMotion(robot.model).start)
    if x is None:
        return start
    if not start.size:
        raise no_states(robot)
    argument = Argument("x", start.shape, robot.state_names)
    given = as_rows(argument, x, FLOAT64)
    check_finite([argument], [given])  # the kernel has one memory, in which places differ
    return given


def _side_by_side(memory: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Arrays (..., n) and (..., m) as one, (..., n + m)."""
    parts = [memory, x]
    batch = batch_shape([Argument("memory", memory.shape[-1:]), Argument("x", x.shape[-1:])], parts)
    return np.concatenate([np.broadcast_to(x, (*batch, x.shape[-1])) for x in parts], axis=-1)


def _controls(controls: Any, nv: int, forces: bool) -> Spread | None:
    """The controls, (..., T, m) or (m,); without a controller they are the joint forces."""
    if controls is None:
        return None
    u = with_axes("controls", controls)
    if not isinstance(controls, Spread):
        u = Spread(u.values, robots=u.values.ndim > 2, steps=u.values.ndim > 1)
    if u.values.ndim == 0 or (forces and u.values.shape[-1] != nv):
        raise ArgumentError(
            f"controls has shape {u.values.shape}, expected (..., steps, {nv if forces else 'm'}), or "
            f"({nv if forces else 'm'},) for all steps; without a controller they are the joint forces"
        )
    return u


def _wrench_laws(
    robot: Robot, wrenches: Mapping[str, Any] | None
) -> tuple[tuple[tuple[str, RecordedFunction], ...], dict[str, Any]]:
    """The wrenches that are functions of t, and the others."""
    on = check_wrenches(robot.model, wrenches)
    laws = tuple((frame, wrench_law(frame, F)) for frame, F in on.items() if callable(F))
    return laws, {frame: F for frame, F in on.items() if not callable(F)}


def _step_input(name: str, values: Any, axes: int, shape: tuple[int, ...] | None = None) -> StepInput:
    """An input of the kernel from values spread over robots and steps; its shape is checked if it is known."""
    x = with_axes(name, values)
    own = x.shape(axes)
    if shape is not None and own != shape:
        raise ArgumentError(f"{name} has values of shape {own}, expected {shape}; per_robot(values) gives each robot its own")
    return StepInput(Argument(name, own), x.values, x.steps)


def _steps(steps: Any, feeds: Sequence[StepInput]) -> int:
    """T: ``steps``, or the length of the first array with an axis of steps."""
    moving = (f.values.shape[-len(f.argument.shape) - 1] for f in feeds if f.stepped)
    T = next(moving, None) if steps is None else steps
    if not isinstance(T, (int, np.integer)) or T < 1:
        raise ArgumentError(f"steps must be a whole number from 1, or follow from controls, not {steps!r}")
    return int(T)


def _every(record: Any, T: int) -> int:
    """The number of steps between recorded states."""
    every = {"all": 1, "last": T}.get(record, record) if isinstance(record, str) else record
    if not isinstance(every, (int, np.integer)) or isinstance(every, bool) or every < 1 or T % every:
        raise ArgumentError(f"record must be 'all', 'last' or a whole number of steps that divides {T}, not {record!r}")
    return int(every)


def _record_controller(robot: Robot, plan: Plan) -> tuple[Plan, Callable[[], Any] | None]:
    """The plan with its controller recorded, and a check to be made before a kernel of it is made.

    A controller marked by ``record_once`` is recorded when its kernel is made; any other controller at each rollout.
    """
    if plan.controller is not None and plan.controller.is_recorded_once:
        return plan, partial(plan.with_recording, robot.model)
    return plan.with_recording(robot.model), None


def _scan(robot: Robot, plan: Plan, check: Callable[[], Any] | None, dtype: str, backwards: bool = False) -> Scan:
    """The robot's kernel of this plan, made once: rollouts that differ in values alone have the same plan.

    Of the memory only the last is kept: storing it at each step could take longer than the dynamics.  The kernel that runs a
    plan backwards is recorded now, with the numbers that the controller reads now.
    """
    kernels, fixed = robot.kernels.of(QUANTITIES), tuple(a.name for a, stepped in plan.fed if not stepped)
    spec = Spec(((plan.adjoint_quantity if backwards else plan.quantity, plan),), dtype=dtype)
    carry, last = ({"adjoint": "adjoint"}, ("adjoint",)) if backwards else (plan.carry, plan.last)
    return kernels.scan(spec, carry, fixed, check, last, reverse=backwards)
