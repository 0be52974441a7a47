"""Inverse kinematics of one pose, as a controller calls it: the attempts that are made together, without a batch around them.

It has the kernel, the seeds and the decisions of :mod:`torsor.mechanics.inverse_kinematics.solver`, over lists of a few numbers
in place of arrays, which takes microseconds.  Where it does not succeed at once, or an argument is unusual, the solver begins.
"""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np

from torsor.mechanics.inverse_kinematics.problem import TURN, Problem
from torsor.mechanics.inverse_kinematics.quantities import CLOSED
from torsor.mechanics.inverse_kinematics.result import InverseKinematicsResult
from torsor.mechanics.inverse_kinematics.solver import BLOCKS, LANES, SHARE
from torsor.model.names import configuration_names
from torsor.support.user_arrays import Array

DOUBLE = np.dtype(float)
#: the places in a pose (4, 4) of the numbers of its target: Rᵀ, then p
PLACES = np.array([0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11])


class FirstTry:
    """``first_try(T, q0)``: a result, or None."""

    def __init__(self, problem: Problem, tolerances: tuple[float, float], attempts: int):
        self.problem, self.kernel, self.names = problem, problem.steps, configuration_names(problem.robot.model)
        self.fixed = problem.lower, problem.upper, np.array([*tolerances, CLOSED])
        self.guess = np.clip(problem.robot.clip(problem.robot.neutral()), problem.lower, problem.upper)[None]
        self.attempts = attempts
        self.turning = [(k, float(problem.limits[0][k]), float(problem.limits[1][k])) for k in problem.turning]

    def __call__(self, T: Array, q0: Any) -> InverseKinematicsResult | None:
        if T.shape != (4, 4) or T.dtype is not DOUBLE or T[3].tolist() != [0.0, 0.0, 0.0, 1.0]:
            return None
        numbers = T.take(PLACES)
        if q0 is None:
            entries = self.problem.seeds_for(numbers)
            for first in range(0, min(self.attempts, len(entries)) - LANES + 1, LANES):
                q = self.guess[LANES * [0]]
                q[:, self.problem.rows] = entries[first : first + LANES]
                found = self._attempt(q, self.guess[0], numbers, first)
                if found is not None:
                    return found
            return None
        plain = q0.__class__ is np.ndarray and q0.shape == self.guess[0].shape and q0.dtype is DOUBLE
        return self._attempt(q0, q0, numbers, 0) if plain else None

    def _attempt(self, q: Array, guess: Array, numbers: Array, first: int) -> InverseKinematicsResult | None:
        """From q (nq,), or from several at once, until the first of those that go on is successful; None if all end."""
        before = [np.inf] * LANES  # −inf: ended
        for k in range(BLOCKS):
            q, errors, state = self.kernel(q, *self.fixed, numbers)
            goes_on = False
            for rank, (value, progress, fault) in enumerate(state.tolist() if q.ndim > 1 else [state.tolist()]):
                if not k and not fault <= 0:
                    return None
                if progress == 2 and before[rank] >= 0:
                    if not goes_on:
                        found = (q, errors) if q.ndim == 1 else (q[rank], errors[rank])
                        return self._result(found, guess, first + rank + 1)
                elif value < SHARE * before[rank]:
                    before[rank], goes_on = value, True
                else:
                    before[rank] = -np.inf
            if not goes_on:
                return None
        return None

    def _result(self, found: tuple[Array, Array], guess: Array, attempts: int) -> InverseKinematicsResult:
        """The result, its angles moved by whole turns where that brings them nearer to the guess."""
        q, errors = found
        if self.turning:
            x, y = q.tolist(), guess.tolist()
            for k, low, high in self.turning:
                if not (low <= x[k] <= high and -np.pi <= x[k] - y[k] <= np.pi):
                    x[k] += TURN * round((y[k] - x[k]) / TURN)
                    x[k] -= TURN * ceil(max(x[k] - high, 0.0) / TURN)
                    q[k] = x[k] + TURN * ceil(max(low - x[k], 0.0) / TURN)
        return InverseKinematicsResult(q, True, errors, attempts, self.fixed[:2], self.names, [], self.problem)
