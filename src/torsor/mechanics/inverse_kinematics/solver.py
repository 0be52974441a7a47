"""Inverse kinematics of one target or a batch: attempts from seeds, in blocks of steps, each in one call of a compiled loop.

Each attempt takes blocks of :data:`BLOCK` steps until its error is within the tolerance; it is given up where a block does not
reduce ½|e|² to a share.  The successful attempt of lowest rank counts: guess, table, random; so the answer does not depend on
what else is in the batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from torsor.errors import ArgumentError
from torsor.mechanics.inverse_kinematics import seeds
from torsor.mechanics.inverse_kinematics.problem import Problem
from torsor.mechanics.inverse_kinematics.quantities import CLOSED, FAR
from torsor.mechanics.inverse_kinematics.result import InverseKinematicsResult
from torsor.mechanics.inverse_kinematics.targets import Target
from torsor.model.names import configuration_names
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.robot import Robot

#: steps of a block, most blocks of an attempt, and the share of ½|e|² that must be left after a block to go on
BLOCK, BLOCKS, SHARE = 4, 10, 0.3
#: problems of a robot that are kept, the newest
KEPT = 16


def inverse_kinematics(
    robot: Robot,
    targets: Mapping[str, Target],
    q0: Array | None,
    *,
    joints: Sequence[str] | None,
    limits: tuple[Array, Array],
    angles: Sequence[int],
    attempts: int,
    seed: int,
    tolerances: tuple[float, float],
) -> InverseKinematicsResult:
    """q with φ(q) = 0 of the targets, within limits; see :meth:`Robot.inverse_kinematics`."""
    problem = _problem(robot, targets, joints, limits, angles)
    postures = [t.numbers for t in targets.values() if t.what == "posture"]
    guess = q0 if q0 is not None else postures[0] if postures else robot.clip(robot.neutral())
    batch = _batch(guess, targets)
    numbers = [np.broadcast_to(t.numbers, (*batch, t.numbers.shape[-1])) for t in targets.values()]
    flat = np.concatenate(numbers, axis=-1).reshape(-1, problem.scan.inputs[-1].size)
    if np.abs(flat).max(initial=0.0) > FAR:
        raise ArgumentError(f"a target is farther away than {FAR:g} m; lengths are in metres")
    start = np.broadcast_to(guess, (*batch, robot.nq)).reshape(-1, robot.nq)
    begin = np.clip(start, problem.lower, problem.upper)
    moved = q0 is not None and bool((begin != start).any())
    notes = ["q0 is outside its limits; the nearest configuration within them was used"] * moved
    run = Run(problem, flat, begin, np.array([*tolerances, CLOSED]), attempts)
    run.solve(seed, guessed=q0 is not None or bool(postures))
    q = problem.wrap(run.q, start)
    columns = (q, run.success, *run.errors.T[:2], run.tried, problem.at_limit(q))
    q, success, length, angle, tried, at_limit = (x.reshape((*batch, *x.shape[1:]))[()] for x in columns)
    return InverseKinematicsResult(q, success, length, angle, tried, at_limit, configuration_names(robot.model), notes)


def _problem(
    robot: Robot,
    targets: Mapping[str, Target],
    joints: Sequence[str] | None,
    limits: tuple[Array, Array],
    angles: Sequence[int],
) -> Problem:
    """The problem of this structure, made once."""
    structures, named = tuple(t.structure(frame) for frame, t in targets.items()), None if joints is None else tuple(joints)
    known: dict[object, Problem] = vars(robot).setdefault("_problems", {})
    key = structures, named, *(x.tobytes() for x in limits)
    problem = known.get(key)
    if problem is None:
        problem = known[key] = Problem(robot, structures, named, limits, angles)
        while len(known) > KEPT:
            known.pop(next(iter(known)), None)
    return problem


def _batch(guess: Array, targets: Mapping[str, Target]) -> tuple[int, ...]:
    shapes = {"q0": guess.shape[:-1], **{frame: t.numbers.shape[:-1] for frame, t in targets.items()}}
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        given = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ArgumentError(f"the batches of guess and targets do not fit together: {given}") from None


class Run:
    """Attempts for N targets: for each the best configuration so far, its errors, and the number of attempts."""

    def __init__(self, problem: Problem, numbers: Array, start: Array, tolerances: Array, attempts: int):
        self.problem, self.numbers, self.start = problem, numbers, start
        self.tolerances, self.attempts = tolerances, attempts
        n = len(numbers)
        self.q, self.success, self.kept, self.tried = start.copy(), np.zeros(n, bool), np.zeros(n, bool), np.zeros(n, int)
        self.errors, self.value = np.full((n, 3), np.inf), np.full(n, np.inf)

    def solve(self, seed: int, guessed: bool) -> None:
        """From the guess, from the table, and from random configurations."""
        left = np.arange(len(self.numbers))
        if guessed or not len(self.problem.rows):
            left = self._attempt(left, self.start)
        if len(left) and len(self.problem.rows):
            left = self._from_table(left)
        for entries in self.problem.random(seed, self.attempts) if len(left) and len(self.problem.rows) else ():
            left = self._attempt(left, self._with_entries(left, entries))
        moved = np.flatnonzero(~self.kept)  # since their error was measured
        _, self.errors[moved], _ = self._steps(self.q[moved], moved, 1)
        self.success[moved] = (self.errors[moved] <= self.tolerances).all(axis=1)

    def _with_entries(self, targets: Array, entries: Array) -> Array:
        q = self.start[targets].copy()
        q[:, self.problem.rows] = entries
        return q

    def _from_table(self, left: Array) -> Array:
        """Attempts from the table, in the order of the error that one step from there leaves, after that step."""
        n, count = len(left), seeds.BEST
        chosen = self.problem.table[self.problem.seeds_for(self.numbers[left])]
        each = np.repeat(left, count)
        q, _, state = self._steps(self._with_entries(each, chosen.reshape(n * count, -1)), each, 1)
        order = np.argsort(state[:, 1].reshape(n, count), axis=1, kind="stable")
        ranked, place = q.reshape(n, count, -1)[np.arange(n)[:, None], order], np.zeros(len(self.numbers), int)
        place[left] = np.arange(n)
        for k in range(count):
            if len(left):
                left = self._attempt(left, ranked[place[left], k])
        return left

    def _attempt(self, targets: Array, q: Array) -> Array:
        """One attempt for each of some targets; those that were not successful, and have attempts left."""
        self.tried[targets] += 1
        left, before = np.arange(len(targets)), np.full(len(targets), np.inf)
        for _ in range(BLOCKS):
            if not len(left):
                break
            q[left], error, state = self._steps(q[left], targets[left], BLOCK)
            met = np.all(error <= self.tolerances, axis=1)
            self._keep(targets[left], q[left], error, state, met)
            falls = state[:, 0] < SHARE * before[left]
            before[left] = state[:, 0]
            left = left[(state[:, 2] == 0) & (falls | met)]
        return targets[~self.success[targets] & (self.tried[targets] < self.attempts)]

    def _keep(self, targets: Array, q: Array, error: Array, state: Array, met: Array) -> None:
        """Remember configurations that meet the targets, or are the closest so far."""
        better = met | (~self.success[targets] & (state[:, 0] < self.value[targets]))
        at = targets[better]
        self.q[at], self.errors[at], self.success[at] = q[better], error[better], met[better]
        self.value[at], self.kept[at] = state[better, 0], state[better, 2] > 0

    def _steps(self, q: Array, targets: Array, steps: int) -> tuple[Array, Array, Array]:
        """Some steps: q after them; the errors and the state at the beginning of the last."""
        p = self.problem
        found: tuple[Array, Array, Array] = p.scan(
            q, p.lower, p.upper, self.tolerances, self.numbers[targets], steps=steps, every=steps
        )
        return found
