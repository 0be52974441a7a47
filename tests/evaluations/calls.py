"""Quantities of Robot, Task and ConstrainedRobot for table-driven tests: method, arrays, options and kernel."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

import torsor as ts
from tests.trees import random_tree
from torsor.mechanics.constraints import ConstrainedRobot
from torsor.model.friction import LoadDependent, StaticViscous
from torsor.robot import Robot
from torsor.task import Task

Arrays = dict[str, np.ndarray]
#: number of states in a batch, and the state that every way of calling computes
ROWS, ROW = 5, 2


@dataclass(frozen=True, eq=False)
class Subject:
    """One quantity.  ``owner`` makes the object whose ``method`` computes it; ``draw`` its arrays, five rows by name.

    ``words`` are the other arguments.  ``named`` arrays are given by name only; an array with a name such as
    ``wrenches['tip']`` is an entry of the dict ``wrenches=``.  ``kernel`` has the same results first, in the same order.
    ``coarse`` is False where a state rounded to a few digits breaks its constraints.  ``own_check`` arrays have a
    special error.
    """

    name: str
    owner: Callable[[], Any]
    method: str
    draw: Callable[[Any], Arrays]
    words: dict[str, Any] = field(default_factory=dict)
    named: tuple[str, ...] = ()
    kernel: Callable[[Any], Any] | None = None
    out: bool = False
    coarse: bool = True
    own_check: tuple[str, ...] = ()

    @cached_property
    def shared(self) -> Any:
        """The owner shared by the tests; made once."""
        return self.owner()

    @cached_property
    def bound_method(self) -> Any:
        """The method, bound before anything was computed with its owner."""
        return getattr(self.owner(), self.method)

    @cached_property
    def rows(self) -> Arrays:
        return self.draw(self.shared)

    @cached_property
    def state(self) -> Arrays:
        """Row ``ROW`` of the batch, each array in separate memory."""
        return {name: x[ROW].copy() if x.ndim > 1 else np.array(x[ROW]) for name, x in self.rows.items()}

    @cached_property
    def expected(self) -> Any:
        """The positional call for one state."""
        return self.call(self.state)

    @cached_property
    def shared_kernel(self) -> Any:
        """The kernel with the same results."""
        assert self.kernel is not None
        return self.kernel(self.shared)

    def call(self, arrays: Mapping[str, Any], count: int = 99, function: Any = None, **options: Any) -> Any:
        """Call with the first ``count`` arrays by position where allowed, and the others by name."""
        function = function or getattr(self.shared, self.method)
        by_place, by_name = self.split(arrays, count)
        return function(*by_place, **by_name, **self.words, **options)

    def split(self, arrays: Mapping[str, Any], count: int = 99) -> tuple[list[Any], dict[str, Any]]:
        """(arrays by position, arrays by name); entries of one dict are collected."""
        places = [name for name in arrays if name not in self.named and "[" not in name][:count]
        by_name: dict[str, Any] = {}
        for name in (n for n in arrays if n not in places):
            entry = re.fullmatch(r"(\w+)\['(.*)'\]", name)
            if entry:
                by_name.setdefault(entry[1], {})[entry[2]] = arrays[name]
            else:
                by_name[name] = arrays[name]
        return [arrays[name] for name in places], by_name


def parts(result: Any) -> list[Any]:
    """The results of a call, one or several."""
    return list(result.values()) if isinstance(result, dict) else list(result) if isinstance(result, tuple) else [result]


# -- robots ------------------------------------------------------------------------------------------------------------

FRAMES = {"two_link": "tip", "ur5": "tool0", "tree": "frame2", "coupled": "frame3", "quadruped": "HR_FOOT"}
ROBOTS: dict[str, Callable[[], Robot]] = {
    "two_link": ts.robots.two_link,
    "ur5": ts.robots.ur5,
    "tree": lambda: Robot(random_tree(18, bodies=3, base="fixed")),
    "coupled": lambda: Robot(random_tree(50, bodies=5, base="fixed")),
    "quadruped": ts.robots.quadruped,
}
#: quantities tested with larger robots: each kind of input and result once
FEW = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "pose", "jacobian", "integrate", "difference", "potential_energy")


def _robot(name: str) -> Callable[[], Robot]:
    """A function that makes equal robots without shared kernels; joints have effort limits, which payload_capacity needs."""

    def make() -> Robot:
        d = ROBOTS[name]().description
        return Robot(replace(d, joints=tuple(replace(j, effort_limit=(1e3,) * j.kind.nv) for j in d.joints)))

    return make


def draw_state(robot: Robot, names: Sequence[str], seed: int = 5) -> Arrays:
    """Five random states: arrays with these names, one row per state."""
    rng = np.random.default_rng(seed)
    rows: Arrays = {}
    for name in names:
        if name in ("q", "q0", "q1"):
            rows[name] = robot.random_configuration(rng, size=ROWS)
        elif name == "prescribed":
            rows[name] = (np.arange(ROWS * robot.nv).reshape(ROWS, robot.nv) % 2).astype(float)
        elif name in ("dt", "s", "height"):
            rows[name] = rng.uniform(0.1, 0.5, ROWS) - (10 if name == "height" else 0)  # the ground is below the robots
        elif name in ("qdot", "qddot"):
            rows[name] = rng.normal(size=(ROWS, robot.nq))
        else:
            size = 3 if name == "at" else 6 if name.startswith(("wrench", "base")) else robot.nv
            rows[name] = rng.normal(size=(ROWS, size))
    return rows


def _arrays(*names: str) -> Callable[[Robot], Arrays]:
    return lambda robot: draw_state(robot, names)


def _takes_out(owner: type, method: str) -> bool:
    """Whether a method has ``out=``; it is looked up on the class, where nothing is compiled."""
    return "out" in inspect.signature(getattr(owner, method)).parameters


def _inputs(method: str) -> list[str]:
    """The arrays of a state that a method of a robot takes by position."""
    known = ("q", "q0", "q1", "qdot", "qddot", "v", "a", "tau", "u", "dt", "s", "y", "wrench", "height")
    return [x for x in inspect.signature(getattr(Robot, method)).parameters if x in known]


#: quantities with several results or special arguments; their subjects are below
SPECIAL = ("hybrid_dynamics", "motor_torques")
#: the methods of a robot that are one kernel each: those that can write into an array of the caller
METHODS = [
    name
    for name, member in inspect.getmembers(Robot, callable)
    if not name.startswith("_") and name not in SPECIAL and _takes_out(Robot, name)
]


def _of_robot(robot: str, method: str) -> Subject:
    """A quantity at the robot's frame, expressed in body axes where these options exist."""
    parameters = inspect.signature(getattr(Robot, method)).parameters
    choices = {
        "frame": FRAMES[robot],
        "measure": "inverse_condition",
        "rows": LINEAR,
        "expressed_in": "body",
        "rotation": "rpy",
    }
    words = {k: x for k, x in choices.items() if k in parameters and "frame" in parameters}
    if "at" in parameters and parameters["at"].annotation == "str":  # of a sensor
        words["at"] = FRAMES[robot]
    spec = (method, *words.values())
    return Subject(
        f"{robot}.{method}", _robot(robot), method, _arrays(*_inputs(method)), words=words,
        kernel=None if "integrator" in parameters else lambda owner: owner.kernel(spec), out=True,
    )  # fmt: skip


def _subjects_with_options(robot: str) -> list[Subject]:
    """Calls of methods with wrenches, losses, a moving base and a load."""
    frame, owner, root = FRAMES[robot], _robot(robot), ROBOTS[robot]().links[1]
    wrench, motion, forces = f"wrenches[{frame!r}]", ("q", "v", "a"), ("q", "v", "tau")
    base = ("base_velocity", "base_acceleration")

    def with_friction() -> Robot:
        return owner().with_friction({_revolute_joint(owner()): LoadDependent(StaticViscous(0.3, 0.2), 0.1)})

    def with_damping() -> Robot:
        return owner().with_damping({_revolute_joint(owner()): 0.4}).with_damping(True)

    def with_rotor() -> Robot:
        return owner().with_rotors({_revolute_joint(owner()): {"mass": 0.1, "inertia": (1e-4, 1e-4, 1e-4), "ratio": 50.0}})

    both = ("hybrid_acceleration", "hybrid_force")
    found = [
        Subject("inverse_dynamics, wrenches", owner, "inverse_dynamics", _arrays(*motion, wrench), out=True),
        Subject("forward_dynamics, wrenches", owner, "forward_dynamics", _arrays(*forces, wrench), out=True),
        Subject("reaction_wrenches, wrenches", owner, "reaction_wrenches", _arrays(*motion, wrench), out=True),
        Subject(
            "inverse_dynamics, damping", with_damping, "inverse_dynamics", _arrays(*motion), out=True,
            kernel=lambda r: r.kernel("inverse_dynamics"),
        ),
        Subject(
            "forward_dynamics, damping", with_damping, "forward_dynamics", _arrays(*forces), out=True,
            kernel=lambda r: r.kernel("forward_dynamics"),
        ),
        Subject(
            "inverse_dynamics, laws", with_friction, "inverse_dynamics", _arrays(*motion), out=True,
            kernel=lambda r: r.kernel("inverse_dynamics"),
        ),
        Subject(
            "forward_dynamics, laws", with_friction, "forward_dynamics", _arrays(*forces), out=True,
            kernel=lambda r: r.kernel("forward_dynamics"),
        ),
        Subject("friction_force, load", with_friction, "friction_force", _arrays("v", "load"), named=("load",), out=True),
        Subject("jacobian, at", owner, "jacobian", _arrays("q", "at"), {"frame": frame}, named=("at",), out=True),
        Subject(
            "acceleration, relative", owner, "acceleration", _arrays(*motion),
            {"frame": frame, "expressed_in": "body", "kind": "classical", "relative_to": root}, out=True,
            kernel=lambda r: r.kernel(("acceleration", frame, "body", "classical", root)),
        ),
        Subject("inverse_dynamics, base", owner, "inverse_dynamics", _arrays(*motion, *base), named=base, out=True),
        Subject(
            "hybrid_dynamics", owner, "hybrid_dynamics", _arrays("q", "v", "a", "tau", "prescribed"), own_check=("prescribed",),
            kernel=lambda r: r.kernel(*both), out=_takes_out(Robot, "hybrid_dynamics"),
        ),
        Subject(
            "hybrid_dynamics, wrenches", owner, "hybrid_dynamics", _arrays("q", "v", "a", "tau", "prescribed", wrench),
            own_check=("prescribed",), out=_takes_out(Robot, "hybrid_dynamics"),
        ),
        Subject(
            "motor_torques", with_rotor, "motor_torques", _arrays(*motion), out=_takes_out(Robot, "motor_torques"),
            kernel=lambda r: r.kernel("motor_torque", "gear_torque"),
        ),
    ]  # fmt: skip
    if "expressed_in" in inspect.signature(Robot.inverse_dynamics).parameters:  # issue 12: wrenches in other axes
        axes = {"expressed_in": "world"}
        for method, state in (("inverse_dynamics", motion), ("forward_dynamics", forces)):
            found.append(Subject(f"{method}, world wrenches", owner, method, _arrays(*state, wrench), axes, out=True))
    return [_with_name(s, f"{robot}.{s.name}") for s in found]


def _revolute_joint(robot: Robot) -> str:
    """Name of the first revolute joint."""
    return next(name for name in robot.joints if robot.joint(name).type in ("revolute", "continuous"))


def _with_name(subject: Subject, name: str) -> Subject:
    return Subject(**{k: getattr(subject, k) for k in subject.__dataclass_fields__} | {"name": name})


class Fused:
    """A kernel of several quantities under the name of a method."""

    def __init__(self, robot: Robot, *specs: Any):
        self.robot, self.specs = robot, specs

    @cached_property
    def results(self) -> Any:
        return self.robot.kernel(*self.specs)


def _fused_kernel(robot: str) -> Subject:
    """Three quantities in one kernel; every way of calling must equal its positional call."""
    specs = ("mass_matrix", "bias_force", ("pose", FRAMES[robot]))
    return Subject(
        f"{robot}.kernel of three", lambda: Fused(_robot(robot)(), *specs), "results",
        lambda owner: draw_state(owner.robot, ("q", "v")), kernel=lambda owner: owner.results, out=True,
    )  # fmt: skip


# -- tasks -------------------------------------------------------------------------------------------------------------

TASKS: dict[str, tuple[str, ...]] = {
    "jacobian": ("q",), "jacobian_rate": ("q", "v"), "twist": ("q", "v"), "acceleration": ("q", "v", "a"),
    "velocity": ("q", "twist"), "inverse_mass_matrix": ("q",), "joint_force": ("q", "force"), "mass_matrix": ("q",),
    "bias_force": ("q", "v"), "velocity_force": ("q", "v"), "gravity_force": ("q",), "consistent_inverse": ("q",),
    "null_space": ("q",), "inverse_dynamics": ("q", "v", "acceleration"),
}  # fmt: skip
#: rows of the task
LINEAR = ("vx", "vy")


def _task_state(*names: str) -> Callable[[Task], Arrays]:
    def draw(task: Task) -> Arrays:
        sizes, rng = {"null_torque": task.robot.nv}, np.random.default_rng(8)
        own = [name for name in names if name in ("force", "twist", "acceleration", "null_torque")]
        return draw_state(task.robot, names) | {x: rng.normal(size=(ROWS, sizes.get(x, len(task.rows)))) for x in own}

    return draw


def _task_subjects(robot: str) -> list[Subject]:
    def owner() -> Task:
        return _robot(robot)().task(FRAMES[robot], LINEAR)

    found = [
        Subject(name, owner, name, _task_state(*inputs), kernel=lambda t, name=name: t.kernel(name), out=_takes_out(Task, name))
        for name, inputs in TASKS.items()
    ]
    forward = {"force": "forward_dynamics_of_force", "tau": "forward_dynamics"}
    out = _takes_out(Task, "forward_dynamics")
    found += [
        Subject(
            f"forward_dynamics, {given}", owner, "forward_dynamics", _task_state("q", "v", given), named=(given,), out=out,
            kernel=lambda t, spec=spec: t.kernel(spec),
        )
        for given, spec in forward.items()
    ]  # fmt: skip
    found += [
        Subject(
            "inverse_dynamics, null torque", owner, "inverse_dynamics",
            _task_state("q", "v", "acceleration", "null_torque"), named=("null_torque",),
            kernel=lambda t: t.kernel("inverse_dynamics_with_null_space_force"), out=_takes_out(Task, "inverse_dynamics"),
        )
    ]  # fmt: skip
    return [_with_name(s, f"{robot} task.{s.name}") for s in found]


# -- constrained robots ------------------------------------------------------------------------------------------------


def _four_bar() -> ConstrainedRobot:
    return ts.mechanisms.four_bar().constrained()


def _held_arm() -> ConstrainedRobot:
    """A UR5 whose tool stays in a plane: a constraint without loops."""
    return _robot("ur5")().constrained(ts.constraints.point_on_plane("tool0", normal=(0, 0, 1), through=(0, 0, 0.4)))


def _closed_states(system: ConstrainedRobot, seed: int = 3) -> Arrays:
    """Five states consistent with the constraints, and random τ and λ."""
    robot, rng = system.robot, np.random.default_rng(seed)
    start = system.assemble(robot.neutral() + 0.3)
    steps = 0.2 * rng.uniform(-1, 1, (ROWS, robot.nv))
    q = np.array([system.project(robot.integrate(start, dv, 1.0)) for dv in steps])
    v = np.array([system.project_velocity(x, y) for x, y in zip(q, rng.normal(size=(ROWS, robot.nv)), strict=True)])
    return {"q": q, "v": v, "tau": rng.normal(size=(ROWS, robot.nv)), "multipliers": rng.normal(size=(ROWS, len(system.rows)))}


def _constrained_state(*names: str) -> Callable[[ConstrainedRobot], Arrays]:
    def draw(system: ConstrainedRobot) -> Arrays:
        rows = _closed_states(system)
        rows["restitution"] = np.linspace(0, 1, ROWS)
        return {name: rows[name] if name in rows else np.random.default_rng(4).normal(size=(ROWS, 6)) for name in names}

    return draw


def _accelerations(system: ConstrainedRobot) -> Arrays:
    """One state five times with an acceleration consistent with its constraints."""
    rows = _closed_states(system)
    q, v, tau = (np.resize(rows[x][ROW], (ROWS, rows[x].shape[1])) for x in ("q", "v", "tau"))
    a = system.forward_dynamics(q[0], v[0], tau[0]).a
    return {"q": q, "v": v, "a": np.resize(a, (ROWS, len(a)))}


CONSTRAINED: dict[str, tuple[str, ...]] = {
    "residual": ("q",), "jacobian": ("q",), "jacobian_rate": ("q", "v"), "drift": ("q", "v"), "slip": ("q", "v"),
    "forward_dynamics": ("q", "v", "tau"), "reactions": ("q", "v", "tau"), "projector": ("q",),
    "acceleration_projector": ("q",), "inverse_effective_mass": ("q",), "impact": ("q", "v", "restitution"),
    "project_velocity": ("q", "v"),
}  # fmt: skip
OWNERS = {"four-bar": (_four_bar, "rocker"), "held ur5": (_held_arm, "tool0")}


def _constrained_subjects(system: str) -> list[Subject]:
    owner, frame = OWNERS[system]
    found = []
    for name, inputs in CONSTRAINED.items():
        kernel = (lambda c: c.kernel()) if name == "forward_dynamics" else None
        out = _takes_out(ConstrainedRobot, name)
        found.append(Subject(name, owner, name, _constrained_state(*inputs), kernel=kernel, out=out, coarse=False))
    found += [
        Subject("inverse_dynamics", owner, "inverse_dynamics", _accelerations, coarse=False),
        Subject(
            "forward_dynamics, wrenches", owner, "forward_dynamics",
            _constrained_state("q", "v", "tau", f"wrenches[{frame!r}]"), coarse=False,
        ),
        Subject(
            "forward_dynamics, direct", owner, "forward_dynamics", _constrained_state("q", "v", "tau"),
            {"method": "direct"}, kernel=lambda c: c.kernel("direct"), coarse=False,
        ),
        Subject(
            "forward_dynamics, null space", owner, "forward_dynamics", _constrained_state("q", "v", "tau"),
            {"method": "null_space"}, coarse=False,
        ),
        Subject(
            "multipliers_of", owner, "multipliers_of", _constrained_state("q", "wrench"), {"frame": frame, "nearest": True},
            coarse=False,
        ),
    ]  # fmt: skip
    return [_with_name(s, f"{system}.{s.name}") for s in found]


# -- the table ---------------------------------------------------------------------------------------------------------

#: calls of the larger robots and mechanisms that differ most
TASKS_OF_UR5 = ("ur5 task.mass_matrix", "ur5 task.forward_dynamics, force")
OPTIONS_OF_TREE = ("wrenches", "load", "friction", "hybrid_dynamics", "motor_torques")
HELD = ("forward_dynamics", "jacobian_rate", "slip", "reactions", "projector", "impact")
SUBJECTS: dict[str, Subject] = {
    s.name: s
    for s in (
        *(_of_robot(robot, name) for robot in ("two_link", "tree") for name in METHODS),
        *(_of_robot(robot, name) for robot in ("ur5", "coupled", "quadruped") for name in FEW),
        *_subjects_with_options("two_link"),
        *(s for s in _subjects_with_options("tree") if s.name.endswith(OPTIONS_OF_TREE)),
        *(_fused_kernel(robot) for robot in ("two_link", "tree")),
        *_task_subjects("two_link"),
        *(s for s in _task_subjects("ur5") if s.name in TASKS_OF_UR5),
        *_constrained_subjects("four-bar"),
        *(s for s in _constrained_subjects("held ur5") if s.name.endswith(HELD)),
    )
}
#: subjects that are called in every way; larger ones take longer to compile and are called in essential ways only
THOROUGH = tuple(name for name in SUBJECTS if name.startswith(("two_link", "four-bar")))
#: one subject of each kind for the wrong calls: errors do not depend on the size of a robot
SMALL = {name: s for name, s in SUBJECTS.items() if name.startswith(("two_link", "four-bar", "quadruped"))}
