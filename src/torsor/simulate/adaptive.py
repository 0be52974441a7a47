"""Adaptive steps: SciPy's methods on the manifold, in coordinates θ = q ⊖ q₀ around a configuration that moves along."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from torsor.errors import ArgumentError, ClosureError, SingularError, TorsorError, UnknownName, needs_extra
from torsor.simulate.callbacks import Law
from torsor.simulate.events import StepInterval
from torsor.simulate.law_stages import law_stages, tableau
from torsor.simulate.passage import PLACE, step_through
from torsor.simulate.quantities import QUANTITIES
from torsor.simulate.singular import SingularPositions
from torsor.simulate.stages import Acceleration
from torsor.simulate.system import System
from torsor.simulate.term_states import TermStates
from torsor.support.user_arrays import Array

#: value of integrator= → class name in scipy.integrate
METHODS = {"dop853": "DOP853", "rk45": "RK45", "lsoda": "LSODA", "radau": "Radau"}
#: default limit of accepted steps: at least the first number, and the second per step of dt or tick of a sampled controller
STEPS, STEPS_PER_TICK = 10_000, 10
#: over WINDOW steps the mean must not fall below the shortest [s], or that share of the duration if it is less
WINDOW, SHORTEST, SHARE = 1000, 1e-9, 1e-8
#: evaluations of the acceleration per allowed step, and the least number of steps counted: stages, rejected steps, iterations
EVALUATIONS, EVALUATED_STEPS = 20, 1000
#: largest rotation from the centre of its coordinates [rad]; the coordinates are valid up to π
FARTHEST = 1.0


#: distance from which a singular position is passed [rad, m], and the earliest and latest time before it [s]
REACH, LONGEST, NEAREST = 0.1, 0.5, 1e-7
#: share of the reach, and of a step, after its end that is searched too: rounding errors of f grow as 1/distance²
BEYOND = 0.25

_PASSED_SINGULARITY = (
    "the linkage is at a singular position at t = {:.6g} s: its constraint rows lose rank there, more motions are possible, "
    "and no step through it meets the tolerance; stop before it (a terminal event), allow a larger tolerance, or use "
    "integrator='rk4', which steps over it, and check result.audit() and result.q"
)
_ADVICE = (
    "forces that jump with the state (sign, if, a switch) make adaptive steps ever shorter: give the controller a rate, "
    "ts.simulate.SampledController(function, rate), smooth the jump, or take fixed steps, integrator='rk4'; otherwise a larger "
    "tolerance needs fewer steps, and integrator=ts.Adaptive(..., max_steps=) allows more"
)


@dataclass(frozen=True)
class Adaptive:
    """An adaptive ``integrator=``: a method of SciPy, its relative and absolute tolerance, and the most steps it may take.

    ``max_steps=None`` allows 10 000, or ten per dt or sample if that is more.

    >>> Adaptive("rk45", tolerance=1e-6)
    Adaptive(method='rk45', tolerance=1e-06, max_steps=None)
    """

    method: str = "dop853"
    tolerance: float = 1e-8
    max_steps: int | None = None

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise UnknownName("adaptive integrator", self.method, METHODS)
        check_positive("tolerance", self.tolerance)
        most = self.max_steps
        if most is not None and (isinstance(most, bool) or not isinstance(most, (int, np.integer)) or most < 1):
            raise ArgumentError(f"max_steps must be a whole number from 1, not {most!r}")


def check_positive(name: str, x: Any) -> None:
    """Raise ArgumentError unless x is a positive, finite number."""
    if not (isinstance(x, (int, float, np.floating, np.integer)) and np.isfinite(x) and x > 0):
        raise ArgumentError(f"{name} must be a positive number, not {x!r}")


class TooManySteps(TorsorError, ArithmeticError):
    """An adaptive integrator used all its steps, or its steps became too short: the motion is not smooth enough."""


class Budget:
    """Counts steps and evaluations; raises when there are too many, or when steps have become too short on average."""

    def __init__(self, steps: int, duration: float):
        self.steps, self.shortest = steps, min(SHORTEST, SHARE * duration)
        self.used, self.began = 0, 0.0
        self.evaluations, self.most = 0, EVALUATIONS * max(steps, EVALUATED_STEPS)

    def evaluate(self, times: int = 1) -> None:
        """Count evaluations of the acceleration."""
        self.evaluations += times
        if self.evaluations > self.most:
            raise TooManySteps(f"{self.most} evaluations, allowed by max_steps = {self.steps}, are used up; {_ADVICE}")

    def spend(self, t: float) -> None:
        """Count one step that begins at t."""
        if self.used >= self.steps:
            raise TooManySteps(f"max_steps = {self.steps} adaptive steps are used up; {_ADVICE}")
        self.used += 1
        if self.used % WINDOW == 0:
            if t - self.began < WINDOW * self.shortest:
                raise TooManySteps(f"the last {WINDOW} adaptive steps advanced by {t - self.began:.1e} s only; {_ADVICE}")
            self.began = t


class AdaptiveSteps:
    """One accepted step after another; ``tolerance`` is both the relative and the absolute one of SciPy's error control."""

    def __init__(
        self,
        system: System,
        how: Adaptive,
        acceleration: Acceleration,
        longest: float,
        budget: Budget,
        states: TermStates | None = None,
        law: Law | None = None,
    ):
        with needs_extra("scipy", "sparse", f"integrator={how.method!r}"):
            import scipy.integrate as methods
        self.system, self.acceleration, self.states = system, acceleration, states
        self.center = np.zeros(0)
        self.make: Any = getattr(methods, METHODS[how.method])
        if law and how.method == "dop853":
            find, numbers = system.smooth.kernels.of(QUANTITIES), tableau()
            names = (("law stage", n := len(numbers.later)), ("step error", numbers.stages + 1), ("law path", n))
            kernels = tuple(find(name, stages).__call__ for name, stages in names)
            own = getattr(law, "of_own_arrays", law)
            self.make = lambda *y, **o: law_stages()(self.center, own, kernels, self.state_at, budget.evaluate, *y, **o)
        self.options, self.budget = {"rtol": how.tolerance, "atol": how.tolerance, "max_step": longest}, budget
        self.chart, self.moved = map(system.kernels, ("chart", "point"))
        self.nv = system.model.nv
        self.curved = any(j.nq != j.nv for j in system.model.joint)
        self.solver: Any = None
        self.last: float | None = None
        self.positions = SingularPositions(system.held) if system.held else None

    def restart(self) -> None:
        """Discard the history of the method, after a jump of the state or of the forces."""
        self.solver = None

    def advance(self, t: float, q: Array, v: Array, stop: float) -> StepInterval:
        """One step, no further than ``stop``; a singular position of a linkage is passed by a separate step."""
        self.budget.spend(t)
        if self.positions is None:
            return self._step(t, q, v, stop)
        reach = 1 / (np.abs(v).max(initial=0.0) / REACH + 1 / LONGEST)  # [s]
        near = self.positions.find(t, t + reach, self._parabola(t, q, v))
        if near is not None:
            return self._pass(t, q, v, near, stop)
        step = self._step(t, q, v, stop)
        beyond = BEYOND * min(reach, step.t - t)
        far = self.positions.find(t, step.t + beyond, lambda s: q if s == t else step.at(s)[0])
        if far is None:
            return step
        self.restart()  # the stages of that step are on both sides, or its end is too close
        return self._step(t, q, v, far - min(reach, far - t) / 2)

    def _parabola(self, t: float, q: Array, v: Array) -> Callable[[float], Array]:
        """q at other times, q ⊕ (v s + a s²/2), from the nearest state on the constraints; evaluated only if it is called."""
        start = cache(lambda: self.system.onto_constraints(q, v, t))
        acceleration = cache(lambda: self.acceleration(t, *start()))
        return lambda s: self.moved(start()[0], (start()[1] + acceleration() * ((s - t) / 2)) * (s - t))

    def _pass(self, t: float, q: Array, v: Array, singular: float, stop: float) -> StepInterval:
        """The step through a singular position, on the branch of arrival; if it fails, a step of half the distance to it."""
        if singular - t < NEAREST:
            raise SingularError(_PASSED_SINGULARITY.format(singular))
        self.restart()
        (q, w), center = self.system.onto_constraints(q, v, t), q
        self.center, y = q, np.concatenate([np.zeros(self.nv), w, self._x(t)])
        passage, tolerance = None, self.options["atol"] + self.options["rtol"] * float(np.abs(v).max())
        with suppress(ClosureError, SingularError):  # no solution of the constraints near a stage
            passage = step_through(self._rate_on_constraints, t, y, (singular - t) / PLACE, tolerance)
        if passage is None:
            return self._step(t, center, v, min(stop, (t + singular) / 2))
        end = min(stop, t + passage.h)
        self._follow(passage.at)
        return StepInterval(end, *self.state_at(q, passage.at(end)), lambda s: self.state_at(q, passage.at(s)))

    def _rate_on_constraints(self, t: float, y: Array) -> Array:
        self.budget.evaluate()
        theta = y[: self.nv]
        q, v = self.system.onto_constraints(self.moved(self.center, theta), y[self.nv : 2 * self.nv], t)
        return np.concatenate([self.chart(self.center, theta, v)[1], *self._rates(t, q, v, y)])

    # -- first-order states, the last entries of y -----------------------------------------------------------------

    def _x(self, t: float) -> Array:
        return self.states.followed_at(t) if self.states else np.zeros(0)

    def _rates(self, t: float, q: Array, v: Array, y: Array) -> list[Array]:
        """(a, ẋ) at a stage; after it, the path is again that of the last step."""
        if not self.states:
            return [self.acceleration(t, q, v)]
        path, self.states.path = self.states.path, lambda _: y[2 * self.nv :].tolist()
        try:
            return [self.acceleration(t, q, v), self.states.rate(t, q, v)]
        finally:
            self.states.path = path

    def _follow(self, path: Callable[[float], Array]) -> None:
        """Their values at other times are those of y."""
        if self.states:
            self.states.path = lambda s: path(s)[2 * self.nv :].tolist()

    def _step(self, t: float, q: Array, v: Array, stop: float) -> StepInterval:
        """One step of SciPy's method."""
        if self.solver is None or self.solver.t != t or self.solver.t_bound != stop or self._needs_new_center():
            self._begin(t, q, v, stop)
        message = self.solver.step()
        if self.solver.status == "failed":
            raise TorsorError(f"the integrator found no step that meets its tolerance: {message}")
        self.last = self.solver.step_size
        center, made = self.center, list[Any]()
        end, y = float(self.solver.t), self.solver.y

        rows = getattr(self.solver, "rows", None)

        def dense() -> Callable[[Any], Any]:
            if not made:  # it costs evaluations
                made.append(self.solver.dense_output() if rows is None else self.solver.interpolant())
            interpolant: Callable[[Any], Any] = made[0]
            return interpolant

        if rows is None:
            self._follow(lambda s: y if s == end else dense()(s))
            return StepInterval(end, *self.state_at(center, y), lambda s: self.state_at(center, dense()(s).T))
        last = rows[self.solver.n_stages]

        def stages(inner: bool) -> list[Any]:
            if inner:
                dense()
            return list(rows)

        return StepInterval(end, last[1], last[2], lambda s: dense()(s), stages=stages, last=last)

    def settle(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """Project onto the constraints; the method restarts there if the state was off by more than its error."""
        if self.system.closure_error(q, t) > self.options["atol"]:
            self.restart()
        return self.system.project(q, v, t)

    def _begin(self, t: float, q: Array, v: Array, stop: float) -> None:
        self.center = q
        first = None if self.last is None else min(self.last, stop - t)
        y = np.concatenate([np.zeros(self.nv), v, self._x(t)])
        self.solver = self.make(self._rate, t, y, stop, first_step=first, **self.options)

    def _needs_new_center(self) -> bool:
        """Whether rotations need a new centre; plain coordinates never do."""
        return self.curved and float(np.abs(self.solver.y[: self.nv]).max(initial=0.0)) > FARTHEST

    def _rate(self, t: float, y: Array) -> Array:
        self.budget.evaluate()
        n = self.nv
        q, rate = self.chart(self.center, y[:n], v := y[n : 2 * n])
        return np.concatenate([rate, *self._rates(t, q, v, y)])

    def state_at(self, center: Array, y: Array) -> tuple[Array, Array]:
        """(q, v) of y, or of rows of y."""
        return self.moved(center, np.ascontiguousarray(y[..., : self.nv])), y[..., self.nv : 2 * self.nv].copy()
