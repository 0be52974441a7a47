"""Inverse kinematics of one target or a batch: attempts from seeds.

Each attempt calls a kernel of a few steps until its error is within the tolerance; it is given up where a call does not reduce
½|e|² to a share.  The successful attempt of lowest rank counts: guess, table, random; so the answer does not depend on what
else is in the batch, nor on the number of attempts that are made together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from torsor.compile import Kernel
from torsor.compile.build import available
from torsor.errors import ArgumentError
from torsor.mechanics.inverse_kinematics.problem import Problem
from torsor.mechanics.inverse_kinematics.quantities import CLOSED, FAR
from torsor.mechanics.inverse_kinematics.result import InverseKinematicsResult
from torsor.mechanics.inverse_kinematics.targets import Target
from torsor.model.names import configuration_names
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.robot import Robot

Made = TypeVar("Made")

#: most calls of an attempt, and the share of ½|e|² that a call may leave
BLOCKS, SHARE = 10, 0.3
#: steps from the closest configuration of a target that is not met
SETTLING = 60
#: solutions that differ by no more in any coordinate [rad, m] are one
SAME = 1e-3
#: problems of a robot that are kept, the newest
KEPT = 16


def inverse_kinematics(
    problem: Problem,
    targets: Mapping[str, Target],
    q0: Array | None,
    *,
    attempts: int,
    seed: int,
    tolerances: tuple[float, float],
    every: bool,
) -> InverseKinematicsResult:
    """q with φ(q) = 0 of the targets, within limits; see :meth:`Robot.inverse_kinematics`."""
    postures = [t.numbers for t in targets.values() if t.what == "posture"]
    guess = q0 if q0 is not None else postures[0] if postures else problem.robot.clip(problem.robot.neutral())
    batch = _batch(guess, targets)
    if every and batch:
        raise ArgumentError(f"all_solutions=True takes one target, not a batch {batch}; call it for each")
    numbers = [np.broadcast_to(t.numbers, (*batch, t.numbers.shape[-1])) for t in targets.values()]
    flat = np.concatenate(numbers, axis=-1).reshape(-1, sum(t.size for t in problem.targets))
    if np.abs(flat).max(initial=0.0) > FAR:
        raise ArgumentError(f"a target is farther away than {FAR:g} m; lengths are in metres")
    start = np.broadcast_to(guess, (*batch, problem.robot.nq)).reshape(-1, problem.robot.nq)
    begin, guessed = problem.clip(start), q0 is not None or bool(postures)
    moved = q0 is not None and bool((begin != start).any())
    notes = ["q0 is outside its limits; the nearest configuration within them was used"] * moved
    limits = np.array([*tolerances, CLOSED])
    if every:  # each of the initial configurations for itself
        entries = np.concatenate([begin[:, problem.rows], problem.table, problem.random(seed, attempts)])
        begin = np.repeat(begin, len(entries), axis=0)
        begin[:, problem.rows] = entries
        flat, batch, attempts, guessed = np.repeat(flat, len(entries), axis=0), (len(entries),), 1, True
    run = Run(problem, flat, begin, limits, attempts)
    run.solve(seed, guessed)
    columns: tuple[Array, ...] = problem.wrap(run.q, start), run.success, run.errors, run.rank + 1
    if every:
        chosen = distinct(problem, start[0], columns[0], run.success, run.errors)
        columns, batch = tuple(x[chosen] for x in (*columns[:3], np.full(len(entries), len(entries)))), (len(chosen),)
    q, success, errors, tried = (x.reshape((*batch, *x.shape[1:]))[()] for x in columns)
    names, bounds = configuration_names(problem.robot.model), (problem.lower, problem.upper)
    return InverseKinematicsResult(q, success, errors, tried, bounds, names, notes, problem)


def lanes() -> int:
    """Attempts of one target that are made together: as many states as a vector has, where that is more than 4."""
    host = available()
    return max(4, host.width if host else 0)


def distinct(problem: Problem, guess: Array, q: Array, success: Array, errors: Array) -> list[int]:
    """The successes that differ by more than :data:`SAME`, by their distance from the guess; if there are none, the closest."""
    apart = np.linalg.norm(problem.robot.difference(guess, q), axis=-1)
    chosen: list[int] = []
    for k in np.flatnonzero(success)[np.argsort(apart[success], kind="stable")]:
        if all(np.abs(problem.robot.difference(q[j], problem.within_half_turn(q[k], q[j]))).max() > SAME for j in chosen):
            chosen.append(int(k))
    return chosen or [int(np.argmin((errors / (1 + errors)).max(axis=1)))]


def problem_of(
    robot: Robot,
    targets: Mapping[str, Target],
    joints: Sequence[str] | None,
    limits: tuple[Array, Array],
    angles: Sequence[int],
) -> Problem:
    """The problem of this structure, made once."""
    structures, named = tuple(t.structure(frame) for frame, t in targets.items()), None if joints is None else tuple(joints)
    key = structures, named, *(x.tobytes() for x in limits)
    return kept(robot, key, lambda: Problem(robot, structures, named, limits, angles))


def kept(robot: Robot, key: object, make: Callable[[], Made]) -> Made:
    """What ``make`` returns, made once for each key; a robot keeps the newest."""
    known: dict[object, Any] = vars(robot).setdefault("_problems", {})
    found: Made | None = known.get(key)
    if found is None:
        found = known[key] = make()
        while len(known) > KEPT:
            known.pop(next(iter(known)), None)
    return found


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
        self.q, self.success, self.rank, self.ranks = start.copy(), np.zeros(n, bool), np.full(n, attempts - 1), 0
        self.errors, self.value = np.full((n, 3), np.inf), np.full(n, np.inf)

    def solve(self, seed: int, guessed: bool) -> None:
        """From the guess, from the table, and from random configurations."""
        left, rows = np.arange(len(self.numbers)), self.problem.rows
        if guessed or not len(rows):
            left = self._attempt(left, self.start[:, None])
        if len(left) and len(rows):
            each = self.problem.seeds_for(self.numbers[left])
            place = left
            while len(left) and each.shape[1]:
                each, count = each[np.searchsorted(place, left)], self._at_once(left)
                place, each, now = left, each[:, count:], each[:, :count]
                left = self._attempt(left, self._with_entries(left, now))
        if len(left) and len(rows):
            entries = self.problem.random(seed, self.attempts)
            while len(left):
                now, entries = np.split(entries, [self._at_once(left)])
                left = self._attempt(left, self._with_entries(left, now))
        self._settle(np.flatnonzero(~self.success))

    def _settle(self, failed: Array) -> None:
        """From the closest configurations of targets that are not met, downhill to where ½|e|² falls no more.

        Far from a target, Gauss–Newton's steps are too long, and can go round the closest configuration forever: a step that
        does not reduce ½|e|² is halved.
        """
        robot, q, share = self.problem.robot, self.q[failed], np.ones(len(failed))
        try_q, best, ways = q, np.full(len(failed), np.inf), np.zeros((len(failed), robot.nv))
        for _ in range(SETTLING if len(failed) else 0):
            end, errors, state = self._call(self.problem.step, try_q, self.numbers[failed])
            lower = state[:, 0] < best
            q, best = np.where(lower[:, None], try_q, q), np.where(lower, state[:, 0], best)
            ways = np.where(lower[:, None], robot.difference(try_q, end), ways)
            share = np.where(lower, np.minimum(1.0, 2 * share), share / 2)
            self.errors[failed[lower]], self.success[failed[lower]] = errors[lower], state[lower, 1] > 0
            try_q = np.asarray(robot.integrate(q, ways * share[:, None]))
        self.q[failed] = q

    def _at_once(self, left: Array) -> int:
        """Attempts of a target that are made together: few targets leave lanes of the kernel free."""
        return max(1, lanes() // len(left))

    def _with_entries(self, targets: Array, entries: Array) -> Array:
        q = np.repeat(self.start[targets, None], entries.shape[-2], axis=1)
        q[:, :, self.problem.rows] = entries
        return q

    def _attempt(self, targets: Array, q: Array) -> Array:
        """Attempts from q (N, W, nq) for each of some targets; those without success, if there are attempts left.

        An attempt ends where its targets are met, or a call reduces ½|e|² by less than a share; and where another of the same
        target, of lower rank, is successful.
        """
        n, width = len(targets), min(q.shape[1], self.attempts - self.ranks)
        q = q[:, :width].reshape(n * width, -1)
        of, rank = np.repeat(targets, width), np.tile(np.arange(self.ranks, self.ranks + width), n)
        numbers, before = self.numbers[of], np.full(n * width, np.inf)
        self.ranks += width
        for k in range(BLOCKS):
            q, errors, state = self._call(self.problem.steps, q, numbers)
            value, met = state[:, 0], state[:, 1] > 0
            if met.any():
                self._keep(met, of, rank, q, errors)
            ended = np.where(met, state[:, 1] == 2, (value >= SHARE * before) | (k == BLOCKS - 1))
            self._keep_closest(np.flatnonzero(ended & ~met), of, q, value)
            left = np.flatnonzero(~ended & (rank <= self.rank[of]))
            if not len(left):
                break
            if len(left) < len(of):
                q, of, rank, numbers, value = q[left], of[left], rank[left], numbers[left], value[left]
            before = value
        return targets[~self.success[targets]] if self.ranks < self.attempts else targets[:0]

    def _keep(self, met: Array, of: Array, rank: Array, q: Array, errors: Array) -> None:
        """Remember successes, of each target that of lowest rank."""
        np.minimum.at(self.rank, of[met], rank[met])
        first = met & (rank == self.rank[of])
        at = of[first]
        self.q[at], self.errors[at], self.success[at] = q[first], errors[first], True

    def _keep_closest(self, failed: Array, of: Array, q: Array, value: Array) -> None:
        """Remember the closest configurations of targets that are not met yet."""
        failed = failed[~self.success[of[failed]]]
        np.minimum.at(self.value, of[failed], value[failed])
        failed = failed[value[failed] == self.value[of[failed]]]
        self.q[of[failed]] = q[failed]

    def _call(self, kernel: Kernel, q: Array, numbers: Array) -> tuple[Array, Array, Array]:
        """q after the steps of a kernel; errors and state before the last."""
        p = self.problem
        found: tuple[Array, Array, Array] = kernel(q, p.lower, p.upper, self.tolerances, numbers)
        return found
