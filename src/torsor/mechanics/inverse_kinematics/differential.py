"""Differential inverse kinematics of one state or a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from torsor.algorithms.quadratic_program import STEPS
from torsor.compile import Kernel
from torsor.compile.entry import decline
from torsor.errors import ArgumentError
from torsor.kernels.derivatives import NUMBERS
from torsor.mechanics.inverse_kinematics.problem import Targets, check_limits
from torsor.mechanics.inverse_kinematics.quantities import FAR
from torsor.mechanics.inverse_kinematics.solver import kept
from torsor.mechanics.inverse_kinematics.targets import Structure, Target
from torsor.mechanics.inverse_kinematics.targets import posture as posture_target
from torsor.mechanics.inverse_kinematics.velocities import kernels_of
from torsor.mechanics.inverse_kinematics.velocity_result import VelocityResult
from torsor.model.joints.follower import Follower
from torsor.model.names import coordinate_names
from torsor.model.polynomials import derivative, evaluate
from torsor.spatial.rigid import reading as read
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.robot import Robot

#: steps of the kernels that are tried one after the other: the first has the velocity without limits alone
LADDER = 0, STEPS, 4 * STEPS


class VelocityProblem(Targets):
    """Velocities of targets of one structure under a number of ``rows`` G v ≤ h."""

    def __init__(self, robot: Robot, targets: tuple[Structure, ...], joints: tuple[str, ...] | None, rows: int):
        super().__init__(robot, targets, joints, every=True)
        self.rows, self.kernels = rows, robot.kernels.share(kernels_of(self.equation))
        names = enumerate(coordinate_names(robot.model))
        self.names = tuple(x if k in self.plan.moving else "" for k, x in names)  #: of the velocities that may move

    @property
    def answers_alone(self) -> bool:
        """Whether all targets are twists, and the limits the same for all configurations."""
        return all(t.what == "twist" for t in self.targets) and not any(isinstance(j, Follower) for j in self.robot.model.joint)

    def kernel(self, steps: int = STEPS) -> Kernel:
        """The kernel with a number of steps of the interior point method."""
        return self.kernels("velocity", self.plan, steps, self.rows)

    def solve(self, given: Mapping[str, Array]) -> VelocityResult:
        """The velocities of a batch, from the inputs of the kernel by name.

        Each kernel is called for the states that the one before it leaves, so that a state has the same result in any batch.
        """
        first = self.kernel(LADDER[0])
        shapes = {a.name: given[a.name].shape[: given[a.name].ndim - len(a.shape)] for a in first.inputs}
        try:
            batch = np.broadcast_shapes(*shapes.values())
        except ValueError:
            named = ", ".join(f"{name} {shape}" for name, shape in shapes.items() if shape)
            raise ArgumentError(f"the batches of the arguments do not fit together: {named}") from None
        flat = [
            np.broadcast_to(given[a.name], (*batch, *a.shape)).reshape(-1, *a.shape)
            if shapes[a.name] or a.name == "q"
            else given[a.name]
            for a in first.inputs
        ]
        batched = [bool(shapes[a.name]) or a.name == "q" for a in first.inputs]
        count = len(flat[0])
        found = [np.zeros((count, *o.shape)) for o in first.outputs]
        left = np.arange(count)
        for steps in LADDER:
            some = flat if len(left) == count else [x[left] if b else x for x, b in zip(flat, batched, strict=True)]
            for column, x in zip(found, self.kernel(steps)(*some), strict=True):
                column[left] = x
            left = left[found[5][left] != 0]
            if not len(left):
                break
        success = np.ones(count, bool)
        success[left] = False
        v, scale, errors, bounds = found[:4]
        rest = np.clip(0.0, bounds[left, 0], bounds[left, 1])
        v[left], scale[left] = np.where(np.isfinite(v[left]), v[left], rest), np.nan_to_num(scale[left])
        v, scale, success, errors, bounds = (x.reshape((*batch, *x.shape[1:]))[()] for x in (v, scale, success, errors, bounds))
        return VelocityResult(v, scale, errors, bounds, success, self.names, self)


class OneState:
    """Answers calls for one state with the options of an earlier call; None where the solver has to decide.

    The kernels and the rule by which they are chosen are those of :meth:`VelocityProblem.solve`.
    """

    def __init__(self, problem: VelocityProblem, given: Mapping[str, Array]):
        self.problem, self.names, self.still = problem, problem.names, np.zeros(problem.robot.nv)
        self.fixed = [x if x.ndim else float(x) for x in (given[a.name] for a in problem.kernel().inputs[2:-1])]
        self.shapes = [(t.size,) for t in problem.targets]
        self.kernels: list[Callable[..., Any] | None] = [None] * 2  #: the first of :data:`LADDER`, once they are needed

    def _kernel(self, steps: int) -> Callable[..., Any]:
        """A kernel that returns NotImplemented where its result does not count, or an argument is unusual."""
        kernel, numbers = self.problem.kernel(steps), np.zeros(sum(t.size for t in self.problem.targets))
        kernel(self.problem.robot.neutral(), self.still, *self.fixed, numbers)  # compiles it: a function declines
        return kernel.builtin("velocity", "", decline, guards={"residual": np.inf, "open": 0.5})

    def __call__(self, q: Any, v: Any, twists: Sequence[Any]) -> VelocityResult | None:
        if q.__class__ is np.ndarray and q.ndim != 1:
            return None
        if len(twists) == 1:
            (numbers,) = twists
        elif all(x.__class__ is np.ndarray and x.shape == n for x, n in zip(twists, self.shapes, strict=True)):
            numbers = np.concatenate(twists)
        else:
            return None
        present = self.still if v is None else v
        for k, kernel in enumerate(self.kernels):
            if kernel is None:
                kernel = self.kernels[k] = self._kernel(LADDER[k])
            found = kernel(q, present, *self.fixed, numbers)
            if found is not NotImplemented:
                found_v, scale, errors, bounds = found
                if found_v.ndim != 1:  # the targets are a batch
                    return None
                return VelocityResult(found_v, scale, errors, bounds, np.True_, self.names, self.problem)
        return None


def problem_and_inputs(
    robot: Robot,
    q: Array,
    targets: Mapping[str, Target],
    dt: ArrayLike,
    *,
    present: ArrayLike | None,
    joints: Sequence[str] | None,
    posture: ArrayLike | None,
    limits: tuple[Array, Array],
    speed: ArrayLike | None,
    acceleration: ArrayLike | None,
    inequalities: tuple[ArrayLike, ArrayLike] | None,
    numbers: Mapping[str, ArrayLike],
    slowest: bool,
) -> tuple[VelocityProblem, dict[str, Array]]:
    """The problem and the inputs of its kernel by name; see :meth:`Robot.differential_inverse_kinematics`."""
    nv = robot.nv
    check_limits(robot, limits)
    if posture is not None:
        if "posture" in targets:
            raise ArgumentError("give the posture once: posture=q, or a target")
        targets = {**targets, "posture": posture_target(posture)}
    given = {"dt": _numbers("dt", dt, 0.0), **{name: _numbers(name, x, 0.0) for name, x in numbers.items()}}
    given["q"], (given["lower"], given["upper"]) = q, (np.clip(x, -FAR, FAR) for x in limits)
    most = speed_limits(robot, q) if speed is None else _by_velocity("velocity", speed, nv)
    given["speed"] = np.minimum(most, FAR)
    given["acceleration"] = np.full(nv, FAR) if acceleration is None else _by_velocity("acceleration", acceleration, nv, 0.0)
    given["v"] = np.zeros(nv) if present is None else read.array(present, (nv,), "v")
    given["change"] = given["dt"] if present is not None else np.asarray(FAR)
    given["slowest"] = np.asarray(float(slowest))
    given |= _rows(inequalities, nv)
    try:
        batch = np.broadcast_shapes(*(t.numbers.shape[:-1] for t in targets.values()))
    except ValueError:
        shapes = ", ".join(f"{frame} {t.numbers.shape[:-1]}" for frame, t in targets.items())
        raise ArgumentError(f"the batches of the targets do not fit together: {shapes}") from None
    given[NUMBERS] = np.concatenate(
        [np.broadcast_to(t.numbers, (*batch, t.numbers.shape[-1])) for t in targets.values()], axis=-1
    )
    for name in (NUMBERS, "v"):
        if np.abs(given[name]).max(initial=0.0) > FAR:
            raise ArgumentError(f"{'a target' if name == NUMBERS else name} has a number above {FAR:g}; units are m, rad and s")
    structures = tuple(t.structure(frame) for frame, t in targets.items())
    named, rows = None if joints is None else tuple(joints), given["h"].shape[-1] if "h" in given else 0
    return kept(robot, (structures, named, rows), lambda: VelocityProblem(robot, structures, named, rows)), given


def _numbers(name: str, x: ArrayLike, least: float) -> Array:
    """Numbers above ``least``."""
    found = read.numbers(x, name)
    if not (found > least).all():
        raise ArgumentError(f"{name} must be positive, not {x!r}")
    return found


def _by_velocity(name: str, x: ArrayLike, nv: int, least: float = -1e-300) -> Array:
    """One number for all velocities, or one for each, (..., nv); inf for none."""
    try:
        found = np.asarray(x, float)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} must be a number or an array (..., {nv}), not {x!r}") from None
    if found.ndim and found.shape[-1] != nv:
        raise ArgumentError(f"{name} has shape {found.shape}; it must be a number or an array (..., {nv})")
    if not (found > least).all():
        raise ArgumentError(f"{name} must not be negative{' or zero' * (least == 0)}, not {x!r}")
    return np.minimum(found if found.ndim else np.full(nv, float(found)), FAR)


def _rows(inequalities: Any, nv: int) -> dict[str, Array]:
    """G and h of G v ≤ h; nothing without inequalities."""
    if inequalities is None:
        return {}
    if not isinstance(inequalities, (tuple, list)) or len(inequalities) != 2:
        raise ArgumentError(f"inequalities must be (G, h) of G v ≤ h, (..., k, {nv}) and (..., k), not {inequalities!r}")
    G, h = read.array(inequalities[0], (nv,), "G of inequalities"), read.numbers(inequalities[1], "h of inequalities")
    if G.ndim < 2 or not h.ndim or G.shape[-2] != h.shape[-1]:
        raise ArgumentError(f"inequalities have G {G.shape} and h {h.shape}; they must be (..., k, {nv}) and (..., k)")
    return {"G": G, "h": h} if len(h.T) else {}


def speed_limits(robot: Robot, q: Array) -> Array:
    """The speed limits (..., nv): of leaders those at which their mimic joints are within theirs, too; inf for none."""
    model, most = robot.model, robot.velocity_limit
    for i, c in enumerate(model.coupling):
        name = model.joint_names[i]
        limit = robot.joint(name).velocity_limit if c is not None and name in robot.joints else None
        if c is None or limit is None:
            continue
        kind, k = model.joint[i], model.v_start[i]
        slope: Any = evaluate(derivative(kind.coefficients), q[..., model.q_start[i]]) if isinstance(kind, Follower) else c.k
        most = np.array(np.broadcast_to(most, (*np.broadcast_shapes(most.shape[:-1], np.shape(slope)), model.nv)))
        with np.errstate(divide="ignore"):
            most[..., k : k + kind.nv] = np.minimum(most[..., k : k + kind.nv], limit / np.abs(slope)[..., None])
    return most
