"""One step of a rollout as a program, the scan that repeats it, and the errors for states that are not finite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from torsor.algorithms.equation import EquationOfMotion
from torsor.algorithms.equation.at import Inputs
from torsor.algorithms.equation.contact import contact_gap
from torsor.algorithms.equation.step import StateAfterStep, advance
from torsor.compile import Argument, Program, Scan, interpret, record
from torsor.compile.program import evaluate
from torsor.compile.recorded_function import RecordedFunction
from torsor.compile.rules import RECORD
from torsor.compile.scan import NotFinite
from torsor.errors import ArgumentError, SingularError, TorsorError
from torsor.kernels.checks import check_configuration
from torsor.model import Model
from torsor.simulate.held_rows import next_residual, violation

if TYPE_CHECKING:
    from torsor.robot import Robot
    from torsor.simulate.controller_functions import ControlLaw
    from torsor.simulate.parameters import VariedConstant


class StepInput(NamedTuple):
    """An input of the kernel besides the state: its values, and whether they are new at each step."""

    argument: Argument
    values: np.ndarray
    stepped: bool = False


def at_records(feed: StepInput, every: int, t: np.ndarray, start: bool = False) -> np.ndarray:
    """The values of an input at the recorded states, or at the start and these, with an axis of records; after the last step,
    that of the last step."""
    if feed.argument.name == "t":
        return t
    axis = feed.values.ndim - len(feed.argument.shape) - feed.stepped
    if not feed.stepped:
        return np.expand_dims(feed.values, axis) if axis else feed.values
    following = np.minimum(np.arange(0 if start else every, feed.values.shape[axis] + 1, every), feed.values.shape[axis] - 1)
    return np.take(feed.values, following, axis)


def wrench_argument(frame: str) -> Argument:
    """The wrench on a frame, an input of the kernel."""
    return Argument(f"wrenches[{frame!r}]", (6,))


#: inputs of a step by which no gradient is taken
CONSTANT = ("dt", "t")


class Plan(NamedTuple):
    """All that the kernel of a rollout depends on: equal plans have one kernel.

    ``fed`` are the further inputs, each with whether it is new at every step.  The memory, a carried state beside q and v, is
    that of the controller, then x, the first-order states of the robot's terms.
    """

    integrator: str
    fed: tuple[tuple[Argument, bool], ...]
    controller: ControlLaw | None = None
    vary: tuple[VariedConstant, ...] = ()
    frames: tuple[str, ...] = ()
    laws: tuple[tuple[str, RecordedFunction], ...] = ()  #: wrenches that are functions of t, by frame
    expressed_in: str = "body"
    memory: int = 0  #: size of the memory
    limits: tuple[float, ...] = ()  #: of the residual of the rows, which is then carried too

    @property
    def controller_memory(self) -> int:
        """Size of the controller's part of the memory."""
        return self.controller.memory if self.controller else 0

    @property
    def quantity(self) -> str:
        """The row of the table of quantities."""
        return ("settled " if self.limits else "") + ("rollout with memory" if self.memory else "rollout")

    @property
    def adjoint_quantity(self) -> str:
        """The row of the step's adjoint: with the gradients by inputs that are new at each step, if there are some."""
        rows = any(stepped and a.name not in CONSTANT for a, stepped in self.fed)
        return "adjoint of rollout, with rows" if rows else "adjoint of rollout"

    @property
    def last(self) -> tuple[str, ...]:
        """Carried outputs beside q and v: the memory, and the residual of constraint rows."""
        return ("memory",) * bool(self.memory) + ("residual",) * bool(self.limits)

    @property
    def carry(self) -> dict[str, str]:
        """Inputs that are outputs of the step before."""
        return {"q0": "q", "v0": "v", **{name: name for name in self.last}}

    def inputs(self, model: Model) -> list[Argument]:
        """The state, then the further inputs."""
        sizes = {"memory": self.memory, "residual": len(self.limits)}
        state = [Argument("q0", (model.nq,)), Argument("v0", (model.nv,)), *(Argument(x, (sizes[x],)) for x in self.last)]
        return [*state, *(a for a, _ in self.fed)]

    def split(self, rest: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
        """The memory and the further inputs, from the inputs after q and v."""
        return (rest[0] if self.memory else []), tuple(rest[len(self.last) :])

    def by_name(self, fed: Sequence[Any]) -> dict[str, Any]:
        """The further inputs by name."""
        return {a.name: x for (a, _), x in zip(self.fed, fed, strict=True)}

    def with_recording(self, model: Model) -> Plan:
        """The plan with the controller's program, unless the controller is recorded once; random numbers in it are refused.

        It is recorded twice: one draw of random numbers would count for all robots and steps.
        """
        if self.controller is None:
            return self
        inputs = self.inputs(model)

        def law(*values: list[Any]) -> dict[str, Any]:
            q, v, *rest = (x if a.shape else x[0] for a, x in zip(inputs, values, strict=True))
            memory, fed = self.split(rest)
            own = memory[: self.controller_memory]
            return dict(zip(("tau", "memory"), commands(self, model, q, v, own, *fed), strict=True))

        first, second = (record(law, inputs) for _ in range(2))
        if (first.code, first.results) != (second.code, second.results):
            raise ArgumentError(
                f"controller {self.controller.name} gave other joint forces when recorded a second time: it reads random "
                "numbers, a clock or a counter, whose first value would count for all robots and steps; draw the noise "
                "beforehand, one row per robot and step: Controller(..., parameters={'noise': per_robot_and_step(values)})"
            )
        if self.controller.is_recorded_once:
            return self
        return self._replace(controller=replace(self.controller, program=(first.code, first.results)))


def recorded_forces(e: EquationOfMotion, q: Sequence[Any], v: Sequence[Any], *rest: Any, plan: Plan) -> list[Any]:
    """τ (nv) at the beginning of a step, as the plan's controller was recorded: a number in it may have changed since."""
    memory, fed = plan.split(rest)
    own, model = plan.controller_memory, e.model
    at = e.at(q, v, plan.by_name(fed).get("t"), memory[own:])
    at.dt = plan.by_name(fed)["dt"]
    if plan.controller is None or not plan.controller.program:
        return e.transmit(at, commands(plan, model, q, v, memory[:own], *fed)[0])
    code, results = plan.controller.program
    program = Program(tuple(plan.inputs(model)), (Argument("tau", (model.nv,)),), code, results[: model.nv])
    inputs = [x for part in (q, v, *rest) for x in (part if isinstance(part, (list, tuple)) else [part])]
    values = evaluate(program, inputs, RECORD)
    return e.transmit(at, [values[k] for k in program.results])


def commands(
    plan: Plan, model: Model, q: Sequence[Any], v: Sequence[Any], memory: Sequence[Any], *fed: Any
) -> tuple[list[Any], list[Any]]:
    """Commands (nv) of the controller, else the controls, else zero; and the controller's memory of the next step."""
    if plan.controller is None:
        return list(plan.by_name(fed).get("controls", [0] * model.nv)), []
    from torsor.simulate.controller_functions import row

    given = {a.name: row(x, a.shape) if a.shape else x for (a, _), x in zip(plan.fed, fed, strict=True)}
    known = {"q": row(q), "v": row(v), "t": given.get("t"), "u": given.get("controls"), "memory": row(memory)}
    return plan.controller(known | {p: given[f"parameters[{p!r}]"] for p in plan.controller.takes if p not in known})


def recorded_gaps(e: EquationOfMotion, q: Sequence[Any], v: Sequence[Any], *rest: Any, plan: Plan) -> list[Any]:
    """φ of all contacts [m] at a record, from surfaces at its time and of varied heights."""
    given = plan.by_name(plan.split(rest)[1])
    return contact_gap(_varied(e, plan, given), q, Inputs(given.get("t")))


def _varied(e: EquationOfMotion, plan: Plan, given: dict[str, Any]) -> EquationOfMotion:
    """The equation with the numbers by which robots differ."""
    if not plan.vary:
        return e.of_model(e.model)
    from torsor.simulate.parameters import vary_model

    return e.of_model(vary_model(e.model, [(key, given[key.label]) for key in plan.vary]))


def next_state(e: EquationOfMotion, q: Sequence[Any], v: Sequence[Any], *rest: Any, plan: Plan, **how: Any) -> tuple[Any, ...]:
    """The state a step later, over any scalar: q, v, the memory, if there is one, and the residual of rows, if it is carried.

    The memory is that of the controller, then x.  Within a step the controller's is constant, for all evaluations of an
    integrator; the next one follows from the beginning of the step.  ``how`` is for :func:`advance`.
    """
    moving, after = _advance(e, q, v, rest, plan, **how)
    memory, fed = plan.split(rest)
    state: list[Any] = [after.q, after.v]
    if plan.memory:
        state.append([*commands(plan, e.model, q, v, memory[: plan.controller_memory], *fed)[1], *after.x])
    if plan.limits:
        state.append(next_residual(moving, plan.limits, rest[bool(plan.memory)], after.checks))
    return tuple(state)


def distances_of_step(e: EquationOfMotion, q: Sequence[Any], v: Sequence[Any], *rest: Any, plan: Plan, **how: Any) -> list[Any]:
    """How far the contacts, stops and dry friction of a step are from switching between open, stick and slip."""
    return _advance(e, q, v, rest, plan, **how)[1].distances


def _advance(
    e: EquationOfMotion, q: Sequence[Any], v: Sequence[Any], rest: Sequence[Any], plan: Plan, **how: Any
) -> tuple[EquationOfMotion, StateAfterStep]:
    """The equation of a robot, with the numbers by which it differs, and its state after a step."""
    memory, fed = plan.split(rest)
    given, own = plan.by_name(fed), plan.controller_memory
    moving = _varied(e, plan, given)
    wrenches = {frame: given[wrench_argument(frame).name] for frame in plan.frames} | dict(plan.laws)
    clock = next((k for k, (a, _) in enumerate(plan.fed) if a.name == "t"), len(fed))

    def command(q: Sequence[Any], v: Sequence[Any], t: Any) -> Sequence[Any]:
        now = fed if t is None else (*fed[:clock], t, *fed[clock + 1 :])
        return commands(plan, e.model, q, v, memory[:own], *now)[0]

    inputs = Inputs(given.get("t"), memory[own:], wrenches, plan.expressed_in)
    return moving, advance(moving, q, v, command, given["dt"], inputs, plan.integrator, **how)


class StepProgram:
    """(q, v, memory) → (q⁺, v⁺, memory⁺) for all steps and robots: the kernel of a plan, and the values it is called with."""

    def __init__(self, robot: Robot, plan: Plan, feeds: Sequence[StepInput]):
        self.robot, self.plan, self.feeds = robot, plan, feeds

    # -- errors ----------------------------------------------------------------------------------------------

    def explain(self, scan: Scan, state: Sequence[np.ndarray], dt: float, error: NotFinite) -> TorsorError:
        """The robot, step, time and joint of a state that is not finite; that robot alone is run again up to there."""
        at, k = error.state, error.step
        if not k:
            self.check_start(state[0], at)
        state = [_of_robot(x, at, 1) for x in state]
        values = [_of_robot(f.values, at, len(f.argument.shape) + f.stepped) for f in self.feeds]
        if k:
            before = (x[:k] if f.stepped else x for f, x in zip(self.feeds, values, strict=True))
            state = [np.ravel(x) for x in scan(*state, *before, steps=k, every=k)]
        fed = [x[k] if f.stepped else x for f, x in zip(self.feeds, values, strict=True)]
        with np.errstate(all="ignore"):
            end, after, *memory = interpret(scan.program, [*state, *fed])
        robot = f"robot {at[0] if len(at) == 1 else at} of {scan.name}" if at else scan.name
        if self.plan.limits and not np.isfinite(memory.pop()).all():
            before, fast, there = (np.asarray(x, float).tolist() for x in (*state[:2], end))
            if why := violation(self.robot.kernels.subject, self.plan.limits, before, fast, there, k * dt, dt):
                return NotFinite(f"{robot}, step {k} (t = {(k + 1) * dt:.6g} s): {why}", at, k, "residual")
        self._raise_singular_error(state, fed)
        when = f"{robot} is not finite after step {k} (t = {(k + 1) * dt:.6g} s)"
        if np.isfinite(after).all() and memory and not np.isfinite(memory[0]).all():
            place = int(np.argmin(np.isfinite(memory[0])))
            own = self.plan.controller_memory
            name = f"memory[{place}]" if place < own else f"x[{place - own}]"
            return NotFinite(f"{when}: {name}, although q and v are", at, k, name)
        joint, speed = self._fastest(np.asarray(state[1]), ~np.isfinite(after))
        return NotFinite(
            f"{when}: joint {joint!r}, whose speed was {speed:.3g} "
            "just before; a smaller dt, more damping or smaller gains may keep it finite",
            at, k, joint,
        )  # fmt: skip

    def check_start(self, q0: np.ndarray, at: tuple[int, ...]) -> None:
        """An error if the initial configuration of a robot is none: a quaternion of zeros."""
        name = f"q0[{', '.join(map(str, at))}]" if at else "q0"
        check_configuration(self.robot.model, name, _of_robot(q0, at, 1).tolist())

    def _fastest(self, v: np.ndarray, lost: np.ndarray) -> tuple[str, float]:
        """The fastest joint among those with a velocity that is not finite."""
        m = self.robot.model
        rows = {i: slice(m.v_start[i], m.v_start[i] + m.joint[i].nv) for i in m.own_joints}
        speed = {i: float(np.abs(v[row]).max()) for i, row in rows.items() if lost[row].any() or not lost.any()}
        fastest = max(speed, key=speed.__getitem__)
        return m.joint_names[fastest], speed[fastest]

    def _raise_singular_error(self, state: Sequence[np.ndarray], fed: list[np.ndarray]) -> None:
        """Repeat the step over floats, which raises an error that names the joint of a zero pivot."""
        values: Any = (np.ravel(x).tolist() if np.ndim(x) else float(x) for x in (*state, *fed))
        try:
            with np.errstate(all="ignore"):
                next_state(self.robot.kernels.subject, *values, plan=self.plan)
        except SingularError:
            raise
        except (ArithmeticError, ValueError):  # the floats overflow too
            return


def _of_robot(x: np.ndarray, at: tuple[int, ...], own: int) -> np.ndarray:
    """One robot's part of an array whose leading axes broadcast."""
    lead = x.shape[: x.ndim - own]
    return x[tuple(0 if n == 1 else k for n, k in zip(lead, at[len(at) - len(lead) :], strict=True))]
