"""What drives the joints over time: nothing, an array, a function of the state, or a controller with a clock of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from torsor.errors import ArgumentError
from torsor.simulate.windings import rows_of

if TYPE_CHECKING:
    from torsor.actuators import Drive
    from torsor.robot import Robot

Array: TypeAlias = np.ndarray
Law = Callable[[float, Array, Array], Array]


@dataclass(frozen=True)
class Sampled:
    """A controller that runs ``rate`` times a second [Hz] and holds its joint forces in between (zero-order hold).

    ``function(t, q, v)`` returns τ (nv); with a ``state`` to begin from, ``function(t, q, v, state)`` returns (τ, next state).

    >>> import numpy as np
    >>> integral = Sampled(lambda t, q, v, e: (-8 * q - 2 * e, e + 0.01 * q), rate=100, state=np.zeros(2))
    """

    function: Callable[..., Any]
    rate: float
    state: Any = None

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ArgumentError(f"a controller is a function of (t, q, v), not {type(self.function).__name__}")
        if not (np.isfinite(self.rate) and self.rate > 0):
            raise ArgumentError(f"a sample rate must be positive [Hz], not {self.rate!r}")


@dataclass
class Held:
    """Joint forces that are constant between ticks, ``period`` apart [s]; None if there are no ticks at all."""

    sample: Callable[[float, Array, Array], Array]
    period: float | None
    table: bool = False  #: known beforehand


#: forces that follow the state, or are held
Control = Law | Held


def control_of(robot: Robot, control: Any, duration: float) -> Control:
    """The ``control`` of a simulation, as users give it."""
    if control is None:
        return _constant(np.zeros(robot.nv))
    if isinstance(control, Sampled):
        return Held(_stateful(control, robot.nv), 1 / control.rate)
    if callable(control):
        return _checked(control, robot.nv)
    table = np.asarray(control, float)
    if not np.isfinite(table).all():
        raise ArgumentError("control has numbers that are not finite")
    if table.shape == (robot.nv,):
        return _constant(table)
    if table.ndim == 2 and table.shape[1] == robot.nv and len(table):
        period = duration / len(table)
        return Held(lambda t, q, v: table[min(int(t / period + 1e-6), len(table) - 1)], period, True)
    raise ArgumentError(
        f"control has shape {table.shape}; give joint forces ({robot.nv},), rows (T, {robot.nv}) spread over the duration, a "
        "function of (t, q, v), or ts.simulate.Sampled(function, rate)"
    )


def _constant(tau: Array) -> Held:
    return Held(lambda t, q, v: tau, None)


def _checked(function: Callable[..., Any], nv: int) -> Law:
    """The function, its result an array of the right shape; one that already is costs next to nothing."""

    def law(t: float, q: Array, v: Array) -> Array:
        tau = function(t, q, v)
        return tau if tau.__class__ is np.ndarray and tau.shape == (nv,) and tau.dtype == np.float64 else as_forces(tau, nv)

    return law


def _stateful(controller: Sampled, nv: int) -> Law:
    if controller.state is None:
        return _checked(controller.function, nv)
    memory = [controller.state]

    def law(t: float, q: Array, v: Array) -> Array:
        tau, memory[0] = controller.function(t, q, v, memory[0])
        return as_forces(tau, nv)

    return law


def as_forces(tau: Any, nv: int) -> Array:
    array = np.asarray(tau, float)
    if array.shape != (nv,):
        raise ArgumentError(f"the controller returned joint forces of shape {array.shape}, expected ({nv},)")
    return np.ascontiguousarray(array)


def driven(robot: Robot, control: Control, drives: Mapping[str, Drive]) -> Law:
    """Forces as the drives let them through: commands beyond a motor's current and voltage are cut (MR §8.9.1)."""
    rows = rows_of(robot, drives)
    command = control.sample if isinstance(control, Held) else control

    def law(t: float, q: Array, v: Array) -> Array:
        tau = np.array(command(t, q, v))
        for k, drive in rows:
            tau[k] = drive.saturated_torque(float(tau[k]), float(v[k]))
        return tau

    return law


def wrench_laws(robot: Robot, wrenches: Any) -> dict[str, Law]:
    """External wrenches over time: {frame: F (6,) or a function of (t, q, v)}."""
    if wrenches is None:
        return {}
    if not isinstance(wrenches, Mapping):
        raise ArgumentError(f'wrenches must be a dict such as {{"{robot.links[-1]}": F}}, not {type(wrenches).__name__}')
    laws: dict[str, Law] = {}
    for frame, F in wrenches.items():
        robot.model.frame(frame)
        laws[frame] = _wrench(frame, F)
    return laws


def _wrench(frame: str, F: Any) -> Law:
    def six(value: Any) -> Array:
        array = np.asarray(value, float)
        if array.shape != (6,):
            raise ArgumentError(f"wrenches[{frame!r}] has shape {array.shape}, expected (6,): moment, force")
        return np.ascontiguousarray(array)

    if callable(F):
        return lambda t, q, v: six(F(t, q, v))
    fixed = six(F)
    return lambda t, q, v: fixed
