"""robot.simulate: one robot over time, with everything that acts on it (MR §8.5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from torsor.algorithms.equation.contact import contact_terms
from torsor.algorithms.equation.step import WITH_IMPULSES
from torsor.algorithms.steps import STEPS, Midpoint
from torsor.compile.scan import NotFinite
from torsor.errors import ArgumentError, TorsorError, UnknownName
from torsor.kernels.axes import Spread
from torsor.kernels.checks import WorldAxes
from torsor.kernels.one_state import one_state
from torsor.kernels.options import Wrenches
from torsor.kernels.quantities import labels
from torsor.kernels.replaced import name_replacements
from torsor.mechanics.flexible.frequencies import check_step_resolves_vibrations
from torsor.model.limit_notes import notes_on_limits
from torsor.model.terms.joint_drive import JointDrive
from torsor.model.terms.joint_losses import notes_on_omitted_losses
from torsor.simulate import adaptive, contact_events, time_loop
from torsor.simulate import limits as hard_stops
from torsor.simulate.adaptive import METHODS, Adaptive, check_positive
from torsor.simulate.compiled_run import CHUNK, constant_force_step, run_compiled
from torsor.simulate.constraint_forces import notes_on_pulling
from torsor.simulate.contact_outputs import notes_on_depth
from torsor.simulate.contact_steps import ContactStep
from torsor.simulate.controller_functions import Controller
from torsor.simulate.controllers import Control, HeldForces, Law, control_of, wrench_laws
from torsor.simulate.energy_flows import ADAPTIVE, FIXED, PowerSum
from torsor.simulate.events import events_of
from torsor.simulate.law_stages import dense_weights, tableau
from torsor.simulate.record import PowerRecord, Record, Schedule, SummingRecord
from torsor.simulate.result import Interrupted, Result, SimulationStopped, names_of, records_from_columns
from torsor.simulate.rollout import robot_in_steps
from torsor.simulate.sensors import check_sensors, simulation_readings
from torsor.simulate.stages import StepNotConverged, advance, stages
from torsor.simulate.system import System
from torsor.simulate.term_states import TermStates, sampled_commands
from torsor.simulate.varied_robot import varied_robot
from torsor.support.progress import Progress
from torsor.support.user_arrays import Array, as_array

if TYPE_CHECKING:
    from torsor.model.sensor import Sensor
    from torsor.robot import Robot


#: note of a run by rk4 with currents and temperatures
SECOND_ORDER = "currents with inductance and winding temperatures are of order 2 in dt, and so is the motion under them"
#: advice for an implicit step of a linkage that was not solved
NEAR_SINGULAR = ", or integrator='rk4'; the linkage may be near a singular position, where its constraint rows lose rank"
#: largest number of steps; more would take weeks
STEPS_AT_MOST = 1e9


@name_replacements
def simulate(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    duration: float,
    control: Any = None,
    *,
    x: ArrayLike | None = None,
    wrenches: Wrenches | None = None,
    integrator: str | Adaptive | None = None,
    dt: float = 1e-3,
    vary: Mapping[str, Mapping[str, Any]] | None = None,
    events: Any = None,
    record: str | int = "all",
    sensors: Mapping[str, Sensor] | None = None,
    progress: bool | None = None,
) -> Result:
    """The motion from (q, v) over ``duration`` seconds, M a + h = τ + Jᵀf + ... integrated; see :class:`Result`.

    ``control``: joint forces (nv,), rows (T, nv) each held for duration/T, a function τ(t, q, v), a :class:`Controller` of
    rollouts (or a function marked by ``record_once``), or a :class:`SampledController` with a rate and a state.
    ``wrenches={frame: F}`` act on the robot, F (6,) or a function of (t, q, v), in the frame's axes or, as
    ``WorldAxes({frame: F})``, in world axes; the result has them in the frame's axes.  Functions get copies of q and v.
    ``integrator``: "euler", "semi_implicit", "rk4" (default), "midpoint", "variational" in steps of ``dt`` [s]; SciPy's
    "dop853", "rk45", "lsoda", "radau" to a relative and absolute tolerance of 1e-8, or as :class:`Adaptive` says.
    With contacts the motion has the steps of a rollout, "semi_implicit" (default) or "implicit", of first order, with stops and
    dry friction in them; impulses are solved to 1e-10 m/s, else a note has the residual.  Adaptive steps locate touch-downs,
    lift-offs and the beginning and end of slip, which are in ``result.events``: exact, for hard contacts that change seldom.
    ``events``: functions of (t, q, v), or :class:`Event`.
    The terms of the robot act, dry friction with stiction: the instants at which joints come to rest, break away, strike or
    leave their stops (:meth:`Robot.with_stops`) are located, so that integrators keep their order.  Loops and constraints are
    satisfied as :meth:`Robot.with_constraints` says, by projection unless it says otherwise; singular positions of a linkage
    are passed on the branch of arrival.  A gait is one run per phase, with ``robot.constrained(...).impact(q, v, active=...)``
    where feet touch down.  ``result.notes`` lists damping of the robot's file that was left out.
    The control are commands of actuators and drives, where the robot has some (:meth:`Robot.with_actuators`,
    :meth:`Robot.with_drives`), as in :func:`rollout`: their memory advances in steps of dt.  ``x`` are the first-order states
    at the start (``robot.state_names``: bristles, currents, memories), by default zero, temperatures ambient; ``result.states``
    has them.
    ``vary={"mass": {"link": factor}}`` has other constants, as in :func:`rollout`: ``result.robot`` is the robot with them.
    ``record``: "all", "last" (and the start), or the number of steps of ``dt`` between records.
    ``sensors={"imu": ts.Sensor("accelerometer", "imu_link")}`` gives ``result.sensors["imu"]``, (T, 3), after a complete run.
    ``progress``: a bar; None (default): on terminals only.

    A state that is not finite stops the run with :class:`SimulationStopped`, which names time, step and joint; Ctrl-C
    stops it with :class:`Interrupted`, a KeyboardInterrupt.  Both have the result so far.

    >>> import torsor as ts
    >>> fall = simulate(ts.robots.two_link(), [0.0, 0.0], [0.0, 0.0], 1.0)
    >>> bool(abs(fall.energy - fall.energy[0]).max() < 1e-8)
    True
    """
    if getattr(getattr(control, "func", control), "record_once", False):  # its arguments are found by name, as in a rollout
        control = Controller(control)
    touching = bool(contact_terms(robot.model.terms))
    integrator = integrator or ("semi_implicit" if touching else "rk4")
    how = Adaptive(integrator) if integrator in METHODS else integrator
    every = _check_arguments(duration, dt, how, record, touching)
    robot = robot_in_steps(varied_robot(robot, vary) if vary else robot, float(dt))
    if touching and isinstance(how, Adaptive):
        contact_events.check_supported(robot)
    start = [np.array(y) for y in one_state(robot, q=q, v=v)]
    if integrator in STEPS:
        check_step_resolves_vibrations(robot, start[0], dt)
    laws = wrench_laws(robot, wrenches)
    system = System(robot, tuple(laws), dt, how)
    steady = control_of(robot, control, duration, dt)
    asked = check_sensors(robot, sensors, system) if sensors else {}
    forces, steady, states = _forces(system, steady, dt, x, list(laws.values()), touching)
    stops = [] if touching else hard_stops.stops_of(robot)
    if touching:
        system.dry_rows = ()  # dry friction is in the impulses of the steps
    at, speed = system.start(start[0], start[1])
    run = time_loop.Run(
        system, forces, stops, events_of(events), Record(), Progress(duration, "simulated", "s", wanted=progress), 0.0,
        hard_stops.snap_to_stops(stops, at), speed, states=states,
    )  # fmt: skip
    if system.touching and states:
        states.evaluate = lambda *state: contact_events.states_of_contacts(run, *state)
    name, tolerance = (how.method, how.tolerance) if isinstance(how, Adaptive) else (how, None)
    settings = {"integrator": name, "duration": duration, "dt": dt, "tolerance": tolerance}
    info = {**names_of(robot), **settings, "held": isinstance(steady, HeldForces) and not (steady.law or system.transmits)}
    lower_order = how == "rk4" and any(isinstance(t, JointDrive) and t.is_second_order for t in robot.model.terms)
    if notes := [SECOND_ORDER] * lower_order + notes_on_omitted_losses(robot.description):
        info["notes"] = notes
    if system.held:
        info["rows"] = list(system.held.rows)
    info["period"] = steady.period if isinstance(steady, HeldForces) else None
    if states and (columns := states.columns()):
        info["states"] = columns
    part: Callable[[Sequence[Array]], Result] = lambda columns: _result_of(columns, run, info)  # noqa: E731
    if isinstance(how, Adaptive):
        working = control is not None or laws or robot.forces
        stages = (len(tableau().later), dense_weights) if run.law and how.method == "dop853" else (ADAPTIVE, None)
        sums = PowerSum(stages[0], run.rows_at, part, stages[1])
        run.record = PowerRecord(sums, idle=not (working or robot.model.terms))
    elif info["period"] is not None and not info["held"]:  # forces that jump at ticks and vary between them
        run.record = PowerRecord(PowerSum(FIXED, run.rows_at, part))
    elif run.modes or every > 1:  # not all rows that are summed are recorded
        run.record = SummingRecord(part)
    try:
        if isinstance(how, Adaptive):
            _adaptive(run, info, steady, every, record == "all", how)
        else:
            known = not isinstance(wrenches, WorldAxes) and not any(map(callable, (wrenches or {}).values()))
            _run_fixed_steps(run, info, steady, every, _rollout_options(run, control, steady, info) if known else None)
    except TorsorError as error:
        raise _stop_error(run, error, info) from error
    except KeyboardInterrupt as stop:
        raise _interruption(run, info) or stop from None
    finally:
        run.progress.close()
    result = _result(run, info)
    if pulling := notes_on_pulling(result):
        result.info["notes"] = [*result.notes, *pulling]
    return replace(result, sensors=simulation_readings(run, result, asked)) if asked else result


def _rollout_options(run: time_loop.Run, control: Any, steady: Control, info: dict[str, Any]) -> dict[str, Any] | None:
    """The arguments of the rollout that is this motion under constant wrenches; None if it needs Python between its steps."""
    system, dt, integrator, steps = run.system, info["dt"], info["integrator"], info["duration"] / info["dt"]
    model, recorded = system.smooth.model, isinstance(control, Controller)
    if system.transmits or system.robot.state_names or any("step" in term.cannot(model) for term in model.terms):
        return None
    if system.held and integrator != "rk4":  # steps of first order solve the rows otherwise in a rollout
        return None
    reads_time = system.timed or (recorded and "t" in control.law(model.nv, False).takes)
    if reads_time and (steps > CHUNK or abs(steps - round(steps)) > 1e-9):  # each rollout begins at t = 0
        return None
    on = {frame: law(run.t, run.q, run.v) for frame, law in zip(system.frames, run.forces.wrenches, strict=True)}
    options = {"controls": None, "wrenches": on, "integrator": integrator}
    if recorded:
        spread = any(isinstance(x, Spread) for x in control.parameters.values())
        return None if spread else options | {"controller": control}
    if not isinstance(steady, HeldForces) or (steady.period and not (steady.table and abs(steady.period - dt) < 1e-9 * dt)):
        return None
    return options if control is None else options | {"controls": as_array("control", control, labels(model)["tau"], float)}


def _check_arguments(duration: Any, dt: Any, how: str | Adaptive, record: Any, touching: bool) -> int:
    """The number of steps between recorded states."""
    check_positive("duration", duration)
    check_positive("dt", dt)
    if not isinstance(how, Adaptive):
        if how not in STEPS and not (touching and how in WITH_IMPULSES):
            raise UnknownName("integrator", how, [*STEPS, *METHODS])
        if duration / dt > STEPS_AT_MOST:
            raise ArgumentError(f"{duration:g} s in steps of {dt:g} s are {duration / dt:.0e} steps; at most {STEPS_AT_MOST:g}")
    if touching and not isinstance(how, Adaptive) and how not in WITH_IMPULSES:
        raise ArgumentError(
            f"contacts act in steps of first order: integrator= must be {' or '.join(map(repr, WITH_IMPULSES))}, not {how!r} "
            "(robot.without_terms('contact') leaves out all terms of this kind)"
        )
    if record in ("all", "last"):
        return 1 if record == "all" else 1 << 62
    if isinstance(record, bool) or not isinstance(record, (int, np.integer)) or record < 1:
        raise ArgumentError(f'record must be "all", "last" or a whole number of steps, not {record!r}')
    return int(record)


def _forces(
    system: System, steady: Control, dt: float, x: Any, wrenches: list[Any], stepped: bool
) -> tuple[time_loop.Forces, Control, TermStates | None]:
    """The joint forces after actuators and drives, the commands, and the first-order states that are followed or recorded."""
    box = [np.zeros(system.robot.nv)]
    held: Law = lambda t, q, v: box[0]  # noqa: E731
    sample, states = held, None
    if system.transmits or system.robot.state_names or x is not None:
        states = TermStates(system, steady.law or held if isinstance(steady, HeldForces) else steady, dt, x, stepped)
        steady = sampled_commands(steady, states, box, dt)
    if isinstance(steady, HeldForces):
        sample = steady.sample
    law = steady.law or held if isinstance(steady, HeldForces) else steady
    if states:
        system.states, law = states, states.forces if system.transmits else law
    watched = states if states and (states.followed or states.columns()) else None
    return time_loop.Forces(law, sample, wrenches, box), steady, watched


def _run_fixed_steps(
    run: time_loop.Run, info: dict[str, Any], steady: Control, every: int, known: dict[str, Any] | None
) -> None:
    """Steps of dt: one kernel for all steps if the forces are given in advance, one per step if held, else one per stage."""
    system, integrator, duration, dt = run.system, info["integrator"], info["duration"], info["dt"]
    watch = bool(run.events or run.stops or system.dry_rows or run.states or isinstance(run.record, PowerRecord))
    if known and not watch and run_compiled(run, duration=duration, dt=dt, every=every, **known):
        return
    grid = time_loop.grid(duration, dt, steady.period if isinstance(steady, HeldForces) else None, every)
    kept = None if grid.kept is None else [t for k, t in enumerate(grid.times) if k in grid.kept]
    if run.states and run.states.stepped:
        method = ContactStep(run, integrator, run.states)
        if notes := notes_on_depth(system.robot, run.q, run.t):
            info["notes"] = [*info.get("notes", ()), *notes]
        time_loop.run_with_events(run, grid, method, Schedule(kept))
        if notes := method.notes():
            info["notes"] = [*info.get("notes", ()), *notes]
        return
    if info["held"] and system.one_kernel and not watch and not isinstance(STEPS[integrator], Midpoint):
        time_loop.run_without_events(run, grid, constant_force_step(system.smooth, integrator), by_force=True)
        return
    project = system.onto_constraints if system.projects else None
    step = advance(stages(system.kernels, integrator), integrator, run.acceleration, project)
    if watch:
        time_loop.run_with_events(run, grid, time_loop.FixedStep(run, step), Schedule(kept))
    else:
        time_loop.run_without_events(run, grid, step)


def _adaptive(run: time_loop.Run, info: dict[str, Any], steady: Control, every: int, all_steps: bool, how: Adaptive) -> None:
    """Adaptive steps of SciPy's methods, from tick to tick."""
    duration, dt = info["duration"], info["dt"]
    period = steady.period if isinstance(steady, HeldForces) else None
    longest = period or np.inf
    if run.events or run.modes:
        longest = min(longest, 50 * dt)  # two zero crossings within a step are not detected
    most = how.max_steps or int(max(adaptive.STEPS, adaptive.STEPS_PER_TICK * duration / min(dt, longest)))
    budget = adaptive.Budget(most, duration)
    followed = None if run.system.touching else run.states
    method = adaptive.AdaptiveSteps(run.system, how, run.acceleration, longest, budget, followed, run.law)
    ticks = np.arange(1, int(np.ceil(duration / period - 1e-9))) * period if period else np.zeros(0)
    times = [0.0, *ticks.tolist(), float(duration)]
    grid = time_loop.Grid(times, [], set(range(len(times))), None)
    recorded = None if all_steps else (np.arange(int(duration / (every * dt)) + 1) * (every * dt)).tolist()
    time_loop.run_with_events(run, grid, method, Schedule(recorded, inner=True))


def _result(run: time_loop.Run, info: dict[str, Any]) -> Result:
    result = _result_of(run.record.columns(), run, info | {"steps": run.steps})
    notes = [*info.get("notes", ()), *notes_on_limits(run.system.robot, result.t, result.q, result.v, result.tau)]
    result.info.update({"notes": notes} if notes else {})
    return replace(result, events=run.occurrences, flows=run.record.flows)


def _result_of(columns: Sequence[Array], run: time_loop.Run, info: dict[str, Any]) -> Result:
    """Some rows of a run."""
    parts = records_from_columns(columns, run.system.frames, list(info.get("states", {})))
    return Result(**parts, info=info, robot=run.system.robot, held=run.system.held)


def _stop_error(run: time_loop.Run, error: TorsorError, info: dict[str, Any]) -> TorsorError:
    """The error with its time, step and joint, and the result so far."""
    if not run.steps and not isinstance(error, NotFinite):
        return error  # no step was computed: the error is in the arguments
    joint, result = info["coordinates"][time_loop.likely_failed_row(run, info["dt"])], _result(run, info)
    why = str(error)
    if isinstance(error, NotFinite):
        why = "the next state is not finite; a smaller dt, more damping or smaller gains may help"
    elif isinstance(error, StepNotConverged):
        why += NEAR_SINGULAR if run.system.held else ", or an adaptive integrator"
    message = f"the simulation of {info['robot']!r} stopped at t = {run.t:.6g} s, step {run.steps}, joint {joint!r}: {why}"
    return SimulationStopped(message + _fast_joint_note(result, info["dt"]), result, run.t, run.steps, joint)


def _interruption(run: time_loop.Run, info: dict[str, Any]) -> Interrupted | None:
    """Ctrl-C with the result so far; None if no step was computed."""
    with suppress(Exception, KeyboardInterrupt):  # the controller may fail, or be interrupted, once more
        if run.steps and (run.record.latest or 0.0) < run.t:
            run.keep()
    if run.record.latest is None:
        return None
    when = f"interrupted at t = {run.t:.6g} of {info['duration']:g} s, step {run.steps}"
    return Interrupted(f"the simulation of {info['robot']!r} was {when}", _result(run, info), run.t, run.steps)


def _fast_joint_note(result: Result, dt: float) -> str:
    """The likely cause: the first joint that moved by more than 1 rad within a step."""
    fast = np.abs(result.v) * dt > 1.0
    if not fast.any():
        return ""
    k = int(np.argmax(fast.any(axis=1)))
    joint = result.info["coordinates"][int(np.argmax(np.abs(result.v[k])))]
    return (
        f"; from t = {result.t[k]:.4g} s joint {joint!r} moves by more than 1 rad per step; reduce dt, or check the "
        "model (ts.check, torsor check)"
    )
