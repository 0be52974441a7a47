"""Adaptive steps: SciPy's methods on the manifold, in coordinates θ = q ⊖ q₀ around a configuration that moves along."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias

import numpy as np

from torsor.errors import MissingExtra, TorsorError
from torsor.simulate.events import StepInterval
from torsor.simulate.stages import Acceleration
from torsor.simulate.system import System

Array: TypeAlias = np.ndarray

#: by the word users choose with: the class in scipy.integrate
METHODS = {"dop853": "DOP853", "rk45": "RK45", "lsoda": "LSODA", "radau": "Radau"}
#: accepted steps that are allowed at least, and per step of dt or tick of a sampled control
STEPS, STEPS_PER_TICK = 10_000, 10
#: over so many steps the mean must not fall below the shortest [s], or that share of the duration, if it is less
WINDOW, SHORTEST, SHARE = 1000, 1e-9, 1e-8
#: evaluations of the acceleration per allowed step, and of how many steps at least: stages, rejected steps, Newton's iterations
EVALUATIONS, EVALUATED_STEPS = 20, 1000
#: how far a rotation may go from the centre of its coordinates [rad]; they end at π
FARTHEST = 1.0


_ADVICE = (
    "forces that jump with the state (sign, if, a switch) make adaptive steps ever shorter: give the controller a rate, "
    "ts.simulate.SampledController(function, rate), smooth the jump, or take fixed steps, integrator='rk4'; otherwise a larger "
    "tolerance needs fewer steps, and max_steps= allows more"
)


class TooManySteps(TorsorError, ArithmeticError):
    """An adaptive integrator used up its steps, or hardly moved on: the motion is not smooth enough for its tolerance."""


class Budget:
    """Counts steps and evaluations; raises when there are too many, or when steps have become too short on average."""

    def __init__(self, steps: int, duration: float):
        self.steps, self.shortest = steps, min(SHORTEST, SHARE * duration)
        self.used, self.began = 0, 0.0
        self.evaluations, self.most = 0, EVALUATIONS * max(steps, EVALUATED_STEPS)

    def evaluate(self) -> None:
        """One more evaluation of the acceleration."""
        self.evaluations += 1
        if self.evaluations > self.most:
            raise TooManySteps(f"{self.most} evaluations, allowed by max_steps = {self.steps}, are used up; {_ADVICE}")

    def spend(self, t: float) -> None:
        """One more step, beginning at t."""
        if self.used >= self.steps:
            raise TooManySteps(f"max_steps = {self.steps} adaptive steps are used up; {_ADVICE}")
        self.used += 1
        if self.used % WINDOW == 0:
            if t - self.began < WINDOW * self.shortest:
                raise TooManySteps(f"the last {WINDOW} adaptive steps advanced by {t - self.began:.1e} s only; {_ADVICE}")
            self.began = t


class Adaptive:
    """One accepted step after another; ``tolerance`` is both the relative and the absolute one of SciPy's error control."""

    def __init__(self, system: System, name: str, acceleration: Acceleration, tolerance: float, longest: float, budget: Budget):
        try:
            import scipy.integrate as methods
        except ImportError:
            raise MissingExtra("scipy", "sparse", f"integrator={name!r}") from None
        self.system, self.acceleration = system, acceleration
        self.make: Any = getattr(methods, METHODS[name])
        self.options, self.budget = {"rtol": tolerance, "atol": tolerance, "max_step": longest}, budget
        self.chart, self.moved = (system.kernels(name, system.inertias) for name in ("chart", "point"))
        self.nv = system.model.nv + len(system.inertias)
        self.curved = any(j.nq != j.nv for j in system.model.joint)
        self.solver: Any = None
        self.center = np.zeros(0)
        self.last: float | None = None
        self.positions = system.singular_positions

    def restart(self) -> None:
        """After a jump, or a new force: nothing of the past counts."""
        self.solver = None

    def advance(self, t: float, q: Array, v: Array, stop: float) -> StepInterval:
        """One step, no further than ``stop``."""
        self.budget.spend(t)
        if self.solver is None or self.solver.t != t or self.solver.t_bound != stop or self._far():
            self._begin(t, q, v, stop)
        message = self.solver.step()
        if self.solver.status == "failed":
            raise TorsorError(f"the integrator found no step that meets its tolerance: {message}")
        self.last = self.solver.step_size
        center, dense = self.center, cache(self.solver.dense_output)  # which costs evaluations: only if it is asked for
        return StepInterval(
            float(self.solver.t), *self._state(center, self.solver.y), lambda s: self._state(center, dense()(s))
        )

    def check(self, start: float, q: Array, end: float, segment: StepInterval) -> None:
        """SingularError where the step passes a singular position of a linkage."""
        self.positions.check(start, end, segment.at, q)

    def settle(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """Back onto the constraints; a method that is off them by more than its own error begins anew from there."""
        if self.system.closure_error(q, t) > self.options["atol"]:
            self.restart()
        return self.system.project(q, v, t)

    def _begin(self, t: float, q: Array, v: Array, stop: float) -> None:
        self.center = q
        first = None if self.last is None else min(self.last, stop - t)
        self.solver = self.make(self._rate, t, np.concatenate([np.zeros(self.nv), v]), stop, first_step=first, **self.options)

    def _far(self) -> bool:
        """Whether rotations want a new centre; plain coordinates never do."""
        return self.curved and float(np.abs(self.solver.y[: self.nv]).max(initial=0.0)) > FARTHEST

    def _rate(self, t: float, y: Array) -> Array:
        self.budget.evaluate()
        n = self.nv
        q, rate = self.chart(self.center, y[:n], v := y[n:])
        return np.concatenate([rate, self.acceleration(t, q, v)])

    def _state(self, center: Array, y: Array) -> tuple[Array, Array]:
        return self.moved(center, y[: self.nv]), y[self.nv :].copy()
