"""Actuators of a robot as one function with memory: commands (nv) → joint forces (nv), over any scalar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from torsor.errors import ArgumentError
from torsor.model.actuators.control_laws import ActuatorLaw, Limit, laws_of
from torsor.simulate.axes import Spread, with_axes

if TYPE_CHECKING:
    from torsor.robot import Robot

#: stands for a limit of ±∞ in a kernel, whose inputs are finite: no finite number is clipped by it
LARGEST = float(np.finfo(float).max)
#: actuators of a robot that are kept between rollouts
MOST_KNOWN = 64


class SignalPath(NamedTuple):
    """The laws between the command and the force of one joint, and their rows.

    ``q`` and ``v`` are the joint's rows; ``laws`` are (law, number of its coefficients, size of its memory).
    """

    q: int
    v: int
    laws: tuple[tuple[type[ActuatorLaw], int, int], ...]

    @property
    def memory_size(self) -> int:
        return sum(size for _, _, size in self.laws)


class Actuation(NamedTuple):
    """The actuators of a robot: their paths, and all coefficients in order, (K,) or one row per robot, (..., K)."""

    paths: tuple[SignalPath, ...]
    coefficients: np.ndarray

    @property
    def memory_size(self) -> int:
        return sum(path.memory_size for path in self.paths)


def actuation(robot: Robot, actuators: Any, dt: float, axes: int = 0) -> Actuation:
    """``actuators={joint: law or laws}`` as users give them; ``axes`` is the number of axes of the robots, 0 for one robot."""
    if not isinstance(actuators, Mapping):
        raise ArgumentError(f"actuators must be a dict from joints to actuators, not {type(actuators).__name__}")
    given = tuple((name, laws_of(actuator)) for name, actuator in actuators.items())
    known: dict[Any, tuple[Any, Actuation]] = vars(robot).setdefault("_actuations", {})
    key = dt, tuple((name, *map(id, laws)) for name, laws in given)
    if before := known.get(key):  # in one step: another thread may clear them
        return before[1]
    found = _actuation(robot, given, dt, axes)
    if found.coefficients.ndim == 1:  # arrays of per_robot values may change
        if len(known) >= MOST_KNOWN:
            known.clear()
        known[key] = given, found  # the laws too: so no other law can get their id
    return found


def _actuation(robot: Robot, given: Sequence[tuple[str, tuple[ActuatorLaw, ...]]], dt: float, axes: int) -> Actuation:
    paths, numbers = [], list[Any]()
    for name, laws in given:
        q, v = _rows(robot, name)
        kinds = []
        for law in laws:
            coefficients = _coefficients(name, law, dt, axes)
            kinds.append((type(law), len(coefficients), law.memory_size(dt)))
            numbers += coefficients
        paths.append(SignalPath(q, v, tuple(kinds)))
    rows = _side_by_side(numbers)
    rows = rows if np.isfinite(rows).all() else np.clip(rows, -LARGEST, LARGEST)
    if rows.ndim == 1:
        rows.flags.writeable = False
    return Actuation(tuple(paths), rows)


def _rows(robot: Robot, name: str) -> tuple[int, int]:
    """The joint's row of q and of v."""
    m = robot.model
    i = m.joint_names.index(name) if name in m.joint_names[1:] else robot.joint(name).index  # which raises the error
    if m.coupling[i] is not None:
        raise ArgumentError(f"actuators[{name!r}]: joint {name!r} is a mimic joint; give the actuator to the joint it follows")
    if m.joint[i].nv != 1:
        raise ArgumentError(f"actuators[{name!r}]: joint {name!r} has several degrees of freedom; an actuator moves one")
    return m.q_start[i], m.v_start[i]


def _side_by_side(numbers: list[Any]) -> np.ndarray:
    """Numbers and arrays (...,) as one array, (..., K)."""
    if not any(isinstance(x, np.ndarray) for x in numbers):
        return np.array(numbers, float)
    try:
        return np.stack(np.broadcast_arrays(*numbers), axis=-1).astype(float)
    except ValueError:
        shapes = ", ".join(dict.fromkeys(str(np.shape(x)) for x in numbers if np.ndim(x)))
        raise ArgumentError(f"the actuators have per_robot values of different shapes: {shapes}") from None


def _coefficients(name: str, law: ActuatorLaw, dt: float, axes: int) -> tuple[Any, ...]:
    """Numbers, and arrays (N,) where a field of the law is ``per_robot``, whose smallest and largest values are checked."""
    spread = {field: with_axes(field, x) for field, x in vars(law).items() if isinstance(x, Spread)}
    if not spread:
        return law.coefficients(dt)
    for field, x in spread.items():
        where = f"actuators[{name!r}]: {type(law).__name__}: {field}"
        if not axes:
            raise ArgumentError(f"{where} must be one number, because one robot is simulated; rollouts take per_robot(values)")
        if x.steps or not x.robots or x.shape(axes) != ():
            raise ArgumentError(f"{where} must be one number, or per_robot(values) with one number per robot")
        for extreme in (x.values.min(initial=np.inf), x.values.max(initial=-np.inf)) if x.values.size else ():
            replace(law, **{field: float(extreme)})
    made = copy(law)
    for field, x in spread.items():  # past the checks of one number
        object.__setattr__(made, field, x.values)
    sizes = {x.values.shape for x in spread.values()}  # if they differ, the actuators are refused for that
    if isinstance(made, Limit) and len(sizes) == 1 and np.any(made.lower > made.upper):
        raise ArgumentError(f"actuators[{name!r}]: Limit: lower is above upper for some of the robots")
    return made.coefficients(dt)


def joint_forces(
    paths: Sequence[SignalPath], command: Sequence[Any], q: Sequence[Any], v: Sequence[Any], memory: Sequence[Any],
    coefficients: Sequence[Any],
) -> tuple[list[Any], list[Any]]:  # fmt: skip
    """τ (nv) and the memory of the next step; entries of joints without an actuator are forces, and stay."""
    tau, after, m, c = list(command), list[Any](), 0, 0
    for path in paths:
        x = tau[path.v]
        for law, count, size in path.laws:
            x, kept = law.respond(x, q[path.q], v[path.v], memory[m : m + size], *coefficients[c : c + count])
            after, m, c = after + kept, m + size, c + count
        tau[path.v] = x
    return tau, after
