"""Inverse kinematics of one pose, as a controller calls it: the attempts that are made together, without a batch around them.

It has the kernel, the seeds and the decisions of :mod:`torsor.mechanics.inverse_kinematics.solver`, over lists of a few numbers
in place of arrays, which takes microseconds.  Where it does not succeed at once, or an argument is unusual, the solver begins.
"""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np

from torsor.mechanics.inverse_kinematics.problem import TURN, Problem
from torsor.mechanics.inverse_kinematics.quantities import CLOSED, FAR
from torsor.mechanics.inverse_kinematics.result import InverseKinematicsResult
from torsor.mechanics.inverse_kinematics.seeds import BEST
from torsor.mechanics.inverse_kinematics.solver import BLOCKS, SHARE, lanes
from torsor.model.names import configuration_names
from torsor.support.user_arrays import Array


class FirstTry:
    """``first_try(T, q0)``: a result, or None."""

    def __init__(self, problem: Problem, tolerances: tuple[float, float], attempts: int):
        self.problem, self.follow, self.kernel = problem, problem.follow, problem.steps
        self.names, self.limits = configuration_names(problem.robot.model), (problem.lower, problem.upper)
        low, high = problem.limits  # also of joints that do not move the target
        self.fixed = np.maximum(low, -FAR), np.minimum(high, FAR), np.array([*tolerances, CLOSED])
        self.guess = problem.clip(problem.robot.clip(problem.robot.neutral()))
        self.lanes = lanes()
        self.attempts = min(attempts, BEST) // self.lanes * self.lanes
        self.turning = [(k, float(problem.limits[0][k]), float(problem.limits[1][k])) for k in problem.turning]

    def __call__(self, T: Array, q0: Any) -> InverseKinematicsResult | None:
        if T.shape != (4, 4):
            return None
        numbers = T.reshape(16)
        if q0 is None:
            return self._from_seeds(numbers)
        found = self.follow(q0, *self.fixed, numbers)
        if found is NotImplemented:
            plain = q0.__class__ is np.ndarray and q0.shape == self.guess.shape and q0.dtype == numbers.dtype == float
            return self._attempt(q0[None], q0, numbers, 0) if plain else None
        if found[0].ndim != 1:
            return None
        return InverseKinematicsResult(found[0], True, found[1], 1, self.limits, self.names, [], self.problem)

    def _from_seeds(self, numbers: Array) -> InverseKinematicsResult | None:
        if numbers.dtype != float:
            return None
        begin = self.guess[None].repeat(BEST, axis=0)
        begin[:, self.problem.rows] = self.problem.seeds_for(numbers)
        for first in range(0, self.attempts, self.lanes):
            found = self._attempt(begin[first : first + self.lanes], self.guess, numbers, first)
            if found is not None:
                return found
        return None

    def _attempt(self, q: Array, guess: Array, numbers: Array, first: int) -> InverseKinematicsResult | None:
        """From several q at once, until the first of those that go on is successful; None if all end."""
        before = [np.inf] * len(q)  # −inf: ended
        for k in range(BLOCKS):
            q, errors, state = self.kernel(q, *self.fixed, numbers)
            goes_on = False
            for rank, (value, progress, fault) in enumerate(state.tolist()):
                if not k and not fault <= 0:
                    return None
                if progress == 2 and before[rank] >= 0:
                    if not goes_on:
                        return self._result(q[rank].copy(), guess, errors[rank].copy(), first + rank + 1)
                elif value < SHARE * before[rank]:
                    before[rank], goes_on = value, True
                else:
                    before[rank] = -np.inf
            if not goes_on:
                return None
        return None

    def _result(self, q: Array, guess: Array, errors: Array, attempts: int) -> InverseKinematicsResult:
        """The result, its angles moved by whole turns where that brings them nearer to the guess."""
        x, y = q.tolist(), guess.tolist()
        for k, low, high in self.turning:
            if not (low <= x[k] <= high and -np.pi <= x[k] - y[k] <= np.pi):
                x[k] += TURN * round((y[k] - x[k]) / TURN)
                x[k] -= TURN * ceil(max(x[k] - high, 0.0) / TURN)
                q[k] = x[k] + TURN * ceil(max(low - x[k], 0.0) / TURN)
        return InverseKinematicsResult(q, True, errors, attempts, self.limits, self.names, [], self.problem)
