"""Control inputs over time: none, an array, a function of the state, or a sampled controller."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.algorithms.equation import EquationOfMotion
from torsor.errors import ArgumentError
from torsor.kernels.axes import Spread
from torsor.kernels.checks import check_wrenches, with_their_axes
from torsor.kernels.quantities import labels
from torsor.simulate.callbacks import Law, as_vector, guarded_law
from torsor.simulate.controller_functions import Controller
from torsor.support.user_arrays import Array, as_array

if TYPE_CHECKING:
    from torsor.robot import Robot


#: largest number of controller calls; more would take hours, and their times would fill the memory
SAMPLES_AT_MOST = 1e7


@dataclass(frozen=True)
class SampledController:
    """A controller that runs at ``rate`` [Hz] and holds its joint forces between samples (zero-order hold).

    ``function(t, q, v)`` returns τ (nv); with an initial ``state``, ``function(t, q, v, state)`` returns (τ, next state).
    Each simulation begins with a copy of ``state``, if it can be copied.

    >>> import numpy as np
    >>> integral = SampledController(lambda t, q, v, e: (-8 * q - 2 * e, e + 0.01 * q), rate=100, state=np.zeros(2))
    """

    function: Callable[..., Any]
    rate: float
    state: Any = None

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ArgumentError(f"a controller is a function of (t, q, v), not {type(self.function).__name__}")
        if not (isinstance(self.rate, (int, float, np.number)) and np.isfinite(self.rate) and self.rate > 0):
            raise ArgumentError(f"a sample rate must be positive [Hz], not {self.rate!r}")


@dataclass
class HeldForces:
    """Joint forces that are constant between ticks, ``period`` apart [s]; None without ticks.

    With a ``law``, only its memory is constant between ticks, and advances at each ``sample``.
    """

    sample: Callable[[float, Array, Array], Array]
    period: float | None
    table: bool = False  #: whether all forces are given in advance
    law: Law | None = None  #: the forces between ticks, if they are not constant


#: forces as a function of the state, or held between ticks
Control = Law | HeldForces


def control_of(robot: Robot, control: Any, duration: float, dt: float) -> Control:
    """The ``control`` of a simulation in steps of dt [s], as users give it."""
    if control is None:
        return _constant_forces(np.zeros(robot.nv))
    if isinstance(control, Controller):
        return _law_over_floats(robot, control, dt)
    if isinstance(control, SampledController):
        if duration * control.rate > SAMPLES_AT_MOST:
            raise ArgumentError(
                f"SampledController at {control.rate:g} Hz: {duration * control.rate:.0e} calls in {duration:g} s; at most "
                f"{SAMPLES_AT_MOST:.0e} are allowed: give a lower rate [Hz], or a function of (t, q, v) without a rate"
            )
        return HeldForces(_law_with_state(control, robot.nv, labels(robot.model)["tau"]), 1 / control.rate)
    if callable(control):
        return guarded_law(control, _name(control), robot.nv, FORCES, labels(robot.model)["tau"])
    table = as_array("control", control, labels(robot.model)["tau"], float, "real numbers or a function")
    if not np.isfinite(table).all():
        raise ArgumentError("control has numbers that are not finite")
    if table.shape == (robot.nv,):
        return _constant_forces(table)
    if table.ndim == 2 and table.shape[1] == robot.nv and len(table):
        period = duration / len(table)
        return HeldForces(lambda t, q, v: table[min(int(t / period + 1e-6), len(table) - 1)], period, True)
    raise ArgumentError(
        f"control has shape {table.shape}; give joint forces ({robot.nv},), rows (T, {robot.nv}) spread over the duration, a "
        "function of (t, q, v), ts.Controller(function, parameters=), or ts.simulate.SampledController(function, rate)"
    )


def _law_over_floats(robot: Robot, controller: Controller, dt: float) -> Control:
    """A controller of rollouts, called with numbers; its memory is constant over each step of dt, as there."""
    law, start = controller.law(robot.nv, controls=False), controller.start
    if start.ndim > 1:
        raise ArgumentError(f"memory of shape {start.shape}: simulate has one robot; give an array ({start.shape[-1]},)")
    given = {name: of_one_robot(f"parameters[{name!r}]", x) for name, x in controller.parameters.items()}
    memory, following = start, start

    def commands(t: float, q: Array, v: Array) -> list[Array]:
        state = {"q": q.copy(), "v": v.copy(), "t": t, "memory": memory.copy()}
        return [np.array(x, float) for x in law(state | given)]

    def sample(t: float, q: Array, v: Array) -> Array:
        nonlocal memory, following
        memory = following
        tau, following = commands(t, q, v)
        return tau

    forces: Law = lambda t, q, v: commands(t, q, v)[0]  # noqa: E731
    return HeldForces(sample, dt, law=forces) if law.memory else forces


def of_one_robot(name: str, values: Any) -> Any:
    """A value that may be spread over robots, of which there is one."""
    if not isinstance(values, Spread):
        return values
    if not (values.robots or values.steps):
        return values.values
    if values.steps or len(values.values) != 1:
        raise ArgumentError(f"{name}: simulate has one robot and its own steps; give one value, or a function of t")
    return values.values[0]


def _constant_forces(tau: Array) -> HeldForces:
    return HeldForces(lambda t, q, v: tau, None)


def _law_with_state(controller: SampledController, nv: int, labels: Sequence[str]) -> Law:
    name = _name(controller.function)
    if controller.state is None:
        return guarded_law(controller.function, name, nv, FORCES, labels)
    memory = [_copy_state(controller.state)]

    def law(t: float, q: Array, v: Array) -> Array:
        returned = controller.function(t, q.copy(), v.copy(), memory[0])
        if not isinstance(returned, (tuple, list)) or len(returned) != 2:
            raise ArgumentError(f"{name} must return the pair (joint forces, next state): SampledController has a state")
        tau, memory[0] = returned
        return as_vector(tau, name, nv, FORCES, labels=labels)

    return law


def _copy_state(state: Any) -> Any:
    """A copy, so that a controller that writes into its state does not change the start of the next simulation."""
    try:
        return copy.deepcopy(state)
    except Exception:  # an open file, a lock: used without a copy
        return state


#: the result of a controller, in error messages
FORCES = "joint forces [N·m, N]"


def _name(function: Callable[..., Any]) -> str:
    name = getattr(function, "__name__", "<lambda>")
    return "the controller" if name == "<lambda>" else f"the controller {name!r}"


def wrench_laws(robot: Robot, wrenches: Any) -> dict[str, Law]:
    """External wrenches over time, in the frames' own axes: {frame: F (6,) or a function of (t, q, v)}."""
    on, expressed_in = with_their_axes(wrenches)
    laws = {frame: _wrench(frame, F) for frame, F in check_wrenches(robot.model, on).items()}
    return laws if expressed_in == "body" else {frame: _in_frame_axes(robot, frame, law) for frame, law in laws.items()}


def _in_frame_axes(robot: Robot, frame: str, law: Law) -> Law:
    """A wrench given in the world's axes, in the frame's own: (Rᵀm, Rᵀf)."""
    equation = EquationOfMotion(robot.model)

    def in_frame(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        R = robot.pose(q, frame)[:3, :3]
        moved = equation.model_at(t)
        if moved.is_on_moving_base:
            R = np.array(moved.joint[1].transform(()).pose[0], float) @ R
        return (np.reshape(law(t, q, v), (2, 3)) @ R).ravel()

    return in_frame


def _takes_state(function: Callable[..., Any]) -> bool:
    """Whether a function takes (t, q, v), and not t alone."""
    try:
        inspect.signature(function).bind(0.0, 0.0, 0.0)
    except TypeError:
        return False
    except ValueError:  # a built-in function without a signature
        return True
    return True


def _wrench(frame: str, F: Any) -> Law:
    name, meaning = f"wrenches[{frame!r}]", "a moment [N·m] and a force [N]"
    if callable(F):
        return guarded_law(F if _takes_state(F) else lambda t, q, v: F(t), name, 6, meaning)
    fixed = as_vector(of_one_robot(name, F), name, 6, meaning, ("is", "be"))
    if not np.isfinite(fixed).all():
        raise ArgumentError(f"{name} has numbers that are not finite: {fixed}")
    return lambda t, q, v: fixed
