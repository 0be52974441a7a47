"""What the targets of a robot have in common, whatever their numbers: the equation, the kernel, the limits and the seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.algorithms.equation import EquationOfMotion
from torsor.compile.entry import decline
from torsor.errors import ArgumentError
from torsor.kernels import Spec
from torsor.mechanics.inverse_kinematics import seeds
from torsor.mechanics.inverse_kinematics.quantities import (
    ANGULAR,
    FAR,
    LENGTH,
    LOOP,
    Plan,
    Row,
    kernels_of,
    limited_entries,
)
from torsor.mechanics.inverse_kinematics.targets import Structure
from torsor.model.names import configuration_names
from torsor.model.terms.capabilities import refuse
from torsor.model.terms.numbers import put_numbers, take_numbers
from torsor.support.locks import cached_property
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.robot import Robot

#: steps in a call of the kernel
STEPS = 4
#: a whole turn [rad]
TURN = 2 * np.pi


def check_limits(robot: Robot, limits: tuple[Array, Array]) -> None:
    """Raise an error where nothing is between the limits, (nq,) each."""
    low, high = limits
    if (low > high).any():
        k = int(np.argmax(low > high))
        name = configuration_names(robot.model)[k]
        raise ArgumentError(f"the limits of {name!r} leave nothing between them: from {low[k]:g} to {high[k]:g}")


class Targets:
    """Targets of one structure, their equation, and the plan of its rows.

    ``joints`` may move, by default those that move the targets.  With ``every``, constraints of velocities count, too.
    """

    def __init__(
        self, robot: Robot, targets: tuple[Structure, ...], joints: tuple[str, ...] | None, every: bool = False
    ) -> None:
        refuse(robot.model, "reach")
        if all(t.level == 2 for t in targets):
            raise ArgumentError("all targets are of the second level; give at least one of the first")
        self.robot, self.targets = robot, targets
        made = [t.constraint() for t in targets]
        for t, c in zip(targets, made, strict=True):
            if t.what == "posture" and t.size != robot.nq:
                raise ArgumentError(f"a posture of robot {robot.name!r} has {robot.nq} numbers, not {t.size}")
            c.check(robot.model)
        own = [c for c in EquationOfMotion(robot.model).constraints if every or any(c.holonomic)]
        slotted, _ = take_numbers(made)
        model = robot.model.with_same_mass_matrix(terms=(*own, *slotted))
        self.equation = EquationOfMotion(model, numbers=sum(t.size for t in targets))
        self.plan = self._plan(self.equation, len(own), joints)

    def _plan(self, e: EquationOfMotion, own: int, joints: tuple[str, ...] | None) -> Plan:
        """The rows of the robot's own constraints and of the targets, and the velocities that may move."""
        rows: list[Row] = []
        for k, c in enumerate(e.constraints[:own]):
            rows += [Row(k, LOOP, 1.0, int(holds)) for holds in c.holonomic]
        for k, t in enumerate(self.targets):
            size = e.model.nv if t.what == "posture" else e.constraints[own + k].size
            kinds = [ANGULAR] * t.kind.angles + [LENGTH] * (size - t.kind.angles)
            rows += [Row(own + k, kind, t.weight, t.level) for kind in kinds]
        moving, places = self._moving(e, bool(own), joints), limited_entries(e.model)
        return Plan(tuple(rows), moving, tuple(places[v] for v in moving))

    def _moving(self, e: EquationOfMotion, closed: bool, joints: tuple[str, ...] | None) -> tuple[int, ...]:
        robot = self.robot
        if joints is not None:
            return tuple(sorted({k for name in joints for k in range(*robot.joint(name).v_slice.indices(robot.nv))}))
        if closed or any(t.kind.whole and t.level == 1 for t in self.targets):
            return tuple(range(robot.nv))
        at = e.at(robot.random_configuration(np.random.default_rng(0)).tolist())
        filled = put_numbers(e.constraints, np.random.default_rng(1).normal(size=e.numbers).tolist())
        first = [c.rows(at).A for c, t in zip(filled, self.targets, strict=True) if not t.kind.whole]
        moved = np.flatnonzero(np.abs(np.concatenate(first)).max(axis=0)) if first else np.arange(robot.nv)
        if not len(moved):
            raise ArgumentError(f"no joint of robot {robot.name!r} moves {', '.join(t.frame for t in self.targets)}")
        return tuple(int(k) for k in moved)


class Problem(Targets):
    """Inverse kinematics of these targets, between ``limits``, (nq,) each.

    ``angles`` are the entries of q that may change by whole turns.
    """

    def __init__(
        self,
        robot: Robot,
        targets: tuple[Structure, ...],
        joints: tuple[str, ...] | None,
        limits: tuple[Array, Array],
        angles: Sequence[int],
    ):
        if velocities := [t.what for t in targets if t.kind.moving]:
            raise ArgumentError(f"a {velocities[0]} is a target of differential_inverse_kinematics, not of a configuration")
        super().__init__(robot, targets, joints)
        self.limits = limits
        self.rows = np.array([k for k in self.plan.entries if k >= 0], int)  #: entries of q that seeds differ in
        low, high = limits
        check_limits(robot, limits)
        turning = tuple(k for k in self.rows.tolist() if k in angles and high[k] - low[k] >= TURN)
        self.plan, self.turning = self.plan._replace(turning=turning), list(turning)
        free = np.setdiff1d(np.arange(robot.nq), self.rows)
        self.lower, self.upper = np.maximum(low, -FAR), np.minimum(high, FAR)
        self.lower[free], self.upper[free] = -FAR, FAR
        self.kernels, self.newton = robot.kernels.share(kernels_of(self.equation)), Spec((("newton", self.plan),))
        self.step, self.steps = (self.kernels("reach", self.plan, count) for count in (1, STEPS))

    @cached_property
    def follow(self) -> Callable[..., Any]:
        """``follow(q, lower, upper, tolerance, numbers)``: (q, errors), or NotImplemented where four steps do not settle it."""
        kernel = self.kernels("follow", self.plan, STEPS)
        size = sum(t.size for t in self.targets)
        kernel(self.robot.neutral(), self.lower, self.upper, np.ones(3), np.ones(size))  # compiles it: a function declines
        return kernel.builtin("follow", "", decline, guards={"open": 0.5})

    # -- seeds ---------------------------------------------------------------------------------------------------

    @cached_property
    def pose_place(self) -> int | None:
        """Where the numbers of T* begin, if the only target of the first level is a pose in the world."""
        first = [k for k, t in enumerate(self.targets) if t.level == 1]
        alone = len(first) == 1 and self.targets[first[0]].what == "pose" and self.targets[first[0]].other == "world"
        return sum(t.size for t in self.targets[: first[0]]) if alone else None

    @cached_property
    def table(self) -> Array:
        """Entries of q spread evenly within the limits, (TABLE, number of rows)."""
        return seeds.spread(seeds.TABLE, *self._range())

    @cached_property
    def points(self) -> Array:
        """The rows of :func:`seeds.nearest_rows` for the poses of the target's frame at the table."""
        q = np.tile(self.robot.neutral(), (seeds.TABLE, 1))
        q[:, self.rows] = self.table
        (target,) = (t for t in self.targets if t.level == 1)
        return seeds.rows_of(self.robot.pose(q, target.frame))

    def seeds_for(self, numbers: Array) -> Array:
        """Entries of q to begin with, for each target, (..., BEST, number of rows)."""
        k = self.pose_place
        if k is None:
            return np.broadcast_to(self.table[: seeds.BEST], (*numbers.shape[:-1], seeds.BEST, len(self.rows)))
        found = seeds.nearest_kernel()(self.points, np.ascontiguousarray(numbers[..., k : k + 16]))
        return self.table.take(found.astype(np.intp), axis=0)

    def random(self, seed: int, count: int) -> Array:
        """Random entries of q within the limits, (count, number of rows)."""
        low, high = self._range()
        return low + (high - low) * np.random.default_rng(seed).random((count, len(low)))

    def _range(self) -> tuple[Array, Array]:
        lower, upper, turning = self.lower[self.rows], self.upper[self.rows], np.isin(self.rows, self.turning)
        return np.where(turning | (lower <= -FAR), -np.pi, lower), np.where(turning | (upper >= FAR), np.pi, upper)

    # -- configurations -------------------------------------------------------------------------------------------------

    def clip(self, q: Array) -> Array:
        """The nearest q within the limits, also of joints that do not move; angles that may turn stay."""
        found = np.clip(q, *self.limits)
        found[..., self.turning] = q[..., self.turning]
        return found

    def within_half_turn(self, q: Array, towards: Array) -> Array:
        """q with angles that have a turn or more moved by whole turns towards others."""
        k, q = self.turning, q.copy()
        q[..., k] += TURN * np.round((towards[..., k] - q[..., k]) / TURN)
        return q

    def wrap(self, q: Array, towards: Array) -> Array:
        """The same, within the limits."""
        k = self.turning
        if k:
            low, high = (limit[k] for limit in self.limits)
            q = self.within_half_turn(q, towards)
            q[..., k] -= TURN * np.ceil(np.maximum(q[..., k] - high, 0.0) / TURN)
            q[..., k] += TURN * np.ceil(np.maximum(low - q[..., k], 0.0) / TURN)
        return q
