"""A step whose accelerations are computed in Python: the part between two accelerations is a kernel.

The step is that of :mod:`torsor.algorithms.steps`.  Each time it needs an acceleration, one kernel ends and returns
the state to evaluate it at; the next kernel takes that acceleration as an input.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from torsor.algorithms.steps import EVALUATIONS, Midpoint, step_named
from torsor.errors import TorsorError
from torsor.kernels import Kernels

Array: TypeAlias = np.ndarray
#: a(t, q, v)
Acceleration = Callable[[float, Array, Array], Array]
#: (q, v, t, dt, a(t, q, v)) → (q⁺, v⁺)
Advance = Callable[[Array, Array, float, float, Array], tuple[Array, Array]]

#: largest number of guesses of the mean velocity in a step; relative change at which it is converged; growth of the change,
#: relative to the smallest one, at which it diverges
MOST, SAME, DIVERGED = 100, 4e-16, 1e6


class StepNotConverged(TorsorError, ArithmeticError):
    """An implicit step whose equation was not solved by iterating it."""


def stages(kernels: Kernels, inertias: tuple[float, ...], integrator: str) -> list[Callable[..., Any]]:
    """The kernels of a fixed-step method, from the table of :mod:`torsor.simulate.quantities`."""
    if isinstance(step_named(integrator), Midpoint):
        return [kernels(name, integrator, inertias) for name in ("first guess", "better guess", "end")]
    n = EVALUATIONS[integrator]
    return [kernels("stage" if k < n else "last stage", integrator, k, inertias) for k in range(1, n + 1)]


def advance(kernels: Sequence[Callable[..., Any]], integrator: str, acceleration: Acceleration) -> Advance:
    """A method as a function of arrays, from its stages; the caller gives the first acceleration."""
    if isinstance(step_named(integrator), Midpoint):
        return _midpoint(kernels, integrator, acceleration)
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


def _midpoint(kernels: Sequence[Callable[..., Any]], name: str, acceleration: Acceleration) -> Advance:
    begin, improve, end = kernels

    def advance_one(q: Array, v: Array, t: float, dt: float, a: Array) -> tuple[Array, Array]:
        half, least = t + dt / 2, np.inf
        w, middle = begin(q, v, dt, a)
        for _ in range(MOST):
            a = acceleration(half, middle, w)
            before, (w, middle) = w, improve(q, v, dt, w, a)
            change, size = float(np.abs(w - before).max(initial=0.0)), float(np.abs(w).max(initial=0.0))
            # rounding keeps changing the last digits: the smallest change counts as converged
            if change <= SAME * size or (change >= least and change < 1e-10 * (1 + size)):
                return end(q, v, dt, w, a)
            if change > DIVERGED * (least + 1):
                break
            least = min(least, change)
        raise StepNotConverged(
            f"the equation of the {name} step was not solved by iterating it at t = {t:.6g} s, dt = {dt:g} s (w still "
            f"changes by {change:.1e}); take a smaller dt"
        )

    return advance_one
