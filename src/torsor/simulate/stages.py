"""A step whose accelerations are computed in Python: the part between two accelerations is a kernel.

The step is that of :mod:`torsor.algorithms.steps`.  Each time it needs an acceleration, one kernel ends and returns
the state to evaluate it at; the next kernel takes that acceleration as an input.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from torsor.algorithms.steps import EVALUATIONS, Midpoint, step_named
from torsor.errors import TorsorError
from torsor.kernels import Kernels
from torsor.support.user_arrays import Array

#: a(t, q, v)
Acceleration = Callable[[float, Array, Array], Array]
#: (q, v, t) → the nearest (q, v) on the constraints
Projection = Callable[[Array, Array, float], tuple[Array, Array]]
#: (q, v, t, dt, a(t, q, v)) → (q⁺, v⁺)
Advance = Callable[[Array, Array, float, float, Array], tuple[Array, Array]]

#: largest number of guesses of the mean velocity in a step; relative change at which it is converged; growth of the change,
#: relative to the smallest one, at which it diverges
MOST, SAME, DIVERGED = 100, 4e-16, 1e6
#: relative change that may be left by rounding; near a singular position, where rounding errors of a grow as 1/σ³, after
#: STALLED guesses that do not come nearer
ROUNDING, ROUNDING_NEAR_SINGULAR, STALLED = 1e-10, 1e-5, 5


class StepNotConverged(TorsorError, ArithmeticError):
    """An implicit step whose equation was not solved by iterating it."""


def stages(kernels: Kernels, integrator: str) -> list[Callable[..., Any]]:
    """The kernels of a fixed-step method, from the table of :mod:`torsor.simulate.quantities`."""
    if isinstance(step_named(integrator), Midpoint):
        return [kernels(name, integrator) for name in ("first guess", "better guess", "end")]
    n = EVALUATIONS[integrator]
    return [kernels("stage" if k < n else "last stage", integrator, k) for k in range(1, n + 1)]


def advance(
    kernels: Sequence[Callable[..., Any]], integrator: str, acceleration: Acceleration, project: Projection | None = None
) -> Advance:
    """A method as a function of arrays, from its stages; the caller gives the first acceleration.

    ``project`` moves a state onto the constraints, for the implicit steps of a linkage.
    """
    if isinstance(step_named(integrator), Midpoint):
        return _midpoint(kernels, integrator, acceleration, project)
    return _explicit(kernels, acceleration)


def _explicit(kernels: Sequence[Callable[..., Any]], acceleration: Acceleration) -> Advance:
    first, *rest = kernels
    if not rest:
        return lambda q, v, t, dt, a: first(q, v, dt, a)

    def advance_one(q: Array, v: Array, t: float, dt: float, a: Array) -> tuple[Array, Array]:
        given, kernel = [a], first
        for after in rest:
            there, fast, later = kernel(q, v, dt, *given)
            given.append(acceleration(t + later, there, fast))
            kernel = after
        return kernel(q, v, dt, *given)

    return advance_one


def _midpoint(
    kernels: Sequence[Callable[..., Any]], name: str, acceleration: Acceleration, project: Projection | None
) -> Advance:
    """A step with an unknown mean velocity w, by iterating w ← w(a), a = a(q_m, w).

    Off the constraints of a linkage, a changes by |v|/σ times the slip of w, σ the smallest singular value of the rows: near a
    singular position each guess has dt |v|/σ times the error of the last, however small dt is.  Redundant rows contradict
    each other there, so that two solvers may take turns.  A step that is not solved is therefore iterated again with a at the
    state *on* the constraints, where a is as smooth as the motion.  This moves q_m by O(dt²), which is the error of the rule,
    and keeps its symmetry in time.
    """
    begin, improve, end = kernels

    def solve(q: Array, v: Array, t: float, dt: float, a: Array, onto: Projection | None) -> tuple[Any, float]:
        """The end of the step, None if it was not solved; the last change of w."""
        least, change, stalled = np.inf, np.inf, 0
        w, middle = begin(q, v, dt, a)
        for _ in range(MOST):
            state = onto(middle, w, t + dt / 2) if onto else (middle, w)
            a = acceleration(t + dt / 2, *state)
            before, (w, middle) = w, improve(q, v, dt, w, a)
            change, size = float(np.abs(w - before).max(initial=0.0)), float(np.abs(w).max(initial=0.0))
            stalled = stalled + 1 if change >= least else 0
            # rounding keeps changing the last digits: the smallest change counts as converged
            left = ROUNDING_NEAR_SINGULAR if onto and stalled >= STALLED else ROUNDING
            if change <= SAME * size or (stalled and change < left * (1 + size)):
                return end(q, v, dt, w, a), change
            if change > DIVERGED * (least + 1) or (project and not onto and stalled >= STALLED):
                break
            least = min(least, change)
        return None, change

    def advance_one(q: Array, v: Array, t: float, dt: float, a: Array) -> tuple[Array, Array]:
        found, change = solve(q, v, t, dt, a, None)
        if found is None and project:
            found, change = solve(q, v, t, dt, a, project)
        if found is None:
            raise StepNotConverged(
                f"the equation of the {name} step was not solved by iterating it at t = {t:.6g} s, dt = {dt:g} s (w still "
                f"changes by {change:.1e}); take a smaller dt"
            )
        return found

    return advance_one
