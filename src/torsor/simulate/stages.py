"""A step whose accelerations come from Python: what lies between two of them is a kernel.

The step is the recorded one of :mod:`torsor.simulate.steps`.  Each time it asks for an acceleration, one kernel ends: it gives
the state at which the acceleration is asked for, and the next kernel begins with the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from torsor.compile import Argument, Kernel, trace
from torsor.errors import TorsorError
from torsor.model.model import Model
from torsor.simulate.field import Field
from torsor.simulate.steps import Midpoint, scaled, step_named
from torsor.version import __version__

Array: TypeAlias = np.ndarray
#: a(t, q, v)
Acceleration = Callable[[float, Array, Array], Array]
#: (q, v, t, dt, a(t, q, v)) → (q⁺, v⁺)
Advance = Callable[[Array, Array, float, float, Array], tuple[Array, Array]]

#: guesses of the mean velocity after which a step is given up; how near two must be, relative, to be the same; how far apart,
#: against the nearest two, to be on their way to infinity
MOST, SAME, APART = 100, 4e-16, 1e6


class Unsettled(TorsorError, ArithmeticError):
    """An implicit step whose equation was not solved by iterating it."""


class _Asked(Exception):
    """The step wants an acceleration that is not there yet."""


def stages(model: Model, inertias: tuple[Any, ...], integrator: str) -> list[Callable[..., Any]]:
    """The kernels of a fixed-step method."""
    step = step_named(integrator)
    make: Callable[..., list[Any]] = _midpoint_programs if isinstance(step, Midpoint) else _programs
    return [_entry(p, f"{model.name}.{integrator}[{k}]") for k, p in enumerate(make(model, inertias, step), start=1)]


def advance(kernels: Sequence[Callable[..., Any]], integrator: str, acceleration: Acceleration) -> Advance:
    """A method as a function of arrays, from its stages; the first acceleration is the caller's, who has it already."""
    if isinstance(step_named(integrator), Midpoint):
        return _midpoint(kernels, integrator, acceleration)
    return _explicit(kernels, acceleration)


def _explicit(kernels: Sequence[Callable[..., Any]], acceleration: Acceleration) -> Advance:
    first, *rest = kernels
    if not rest:
        return lambda q, v, t, dt, a: first(q, v, dt, a)

    def advanced(q: Array, v: Array, t: float, dt: float, a: Array) -> tuple[Array, Array]:
        given, kernel = [a], first
        for after in rest:
            there, fast, later = kernel(q, v, dt, *given)
            given.append(acceleration(t + later, there, fast))
            kernel = after
        return kernel(q, v, dt, *given)

    return advanced


def _programs(model: Model, inertias: tuple, step: Any) -> list[Any]:
    """The step up to its second question, its third ... its end, from the answers so far."""
    programs: list[Any] = []
    while True:
        asked: list[Any] = []
        programs.append(_program(model, inertias, step, len(programs) + 1, asked))
        if not asked:
            return programs


def _program(model: Model, inertias: tuple, step: Any, answers: int, asked: list[Any]) -> Any:
    def partial(q: Any, v: Any, dt: Any, *given: Any) -> dict[str, Any]:
        waiting = list(given)

        def acceleration(there: Any, fast: Any, t: Any) -> Any:
            if waiting:
                return waiting.pop(0)
            asked[:] = [there, fast, t]
            raise _Asked

        try:
            end = step(Field(model, acceleration, inertias), q, v, 0, dt[0])
        except _Asked:
            return dict(zip(("q", "v", "t"), asked, strict=True))
        return dict(zip(("q", "v"), end, strict=True))

    named = [Argument(f"a{k}", (model.nv + len(inertias),)) for k in range(1, answers + 1)]
    return trace(partial, [*_state(model, inertias), *named])


def _midpoint_programs(model: Model, inertias: tuple, rule: Midpoint) -> list[Any]:
    """The first guess of the mean velocity, a better one, the end of the step."""

    def no(q: Any, v: Any, t: Any) -> Any:
        raise AssertionError

    f = Field(model, no, inertias)
    q, v, dt = _state(model, inertias)
    w, a = Argument("w", v.shape), Argument("a", v.shape)

    def begun(q: Any, v: Any, dt: Any, a: Any) -> dict[str, Any]:
        w = [x + y * (dt[0] / 2) for x, y in zip(v, a, strict=True)]
        return {"w": w, "q": f.moved(q, scaled(w, dt[0] / 2))}

    def again(q: Any, v: Any, dt: Any, w: Any, a: Any) -> dict[str, Any]:
        w = rule.improved(f, q, v, w, a, dt[0])
        return {"w": w, "q": f.moved(q, scaled(w, dt[0] / 2))}

    def ended(q: Any, v: Any, dt: Any, w: Any, a: Any) -> dict[str, Any]:
        return {"q": f.moved(q, scaled(w, dt[0])), "v": rule.velocity(f, q, v, w, a, dt[0])}

    return [trace(begun, [q, v, dt, a]), trace(again, [q, v, dt, w, a]), trace(ended, [q, v, dt, w, a])]


def _midpoint(kernels: Sequence[Callable[..., Any]], name: str, acceleration: Acceleration) -> Advance:
    begin, improve, end = kernels

    def advanced(q: Array, v: Array, t: float, dt: float, a: Array) -> tuple[Array, Array]:
        half, least = t + dt / 2, np.inf
        w, middle = begin(q, v, dt, a)
        for _ in range(MOST):
            a = acceleration(half, middle, w)
            before, (w, middle) = w, improve(q, v, dt, w, a)
            change, size = float(np.abs(w - before).max(initial=0.0)), float(np.abs(w).max(initial=0.0))
            # rounding keeps the last digits moving: at the smallest change there is, it is solved
            if change <= SAME * size or (change >= least and change < 1e-10 * (1 + size)):
                return end(q, v, dt, w, a)
            if change > APART * (least + 1):
                break
            least = min(least, change)
        raise Unsettled(
            f"the equation of the {name} step was not solved by iterating it at t = {t:.6g} s, dt = {dt:g} s (w still "
            f"changes by {change:.1e}); take a smaller dt"
        )

    return advanced


def _state(model: Model, inertias: tuple) -> tuple[Argument, Argument, Argument]:
    n = len(inertias)
    return Argument("q", (model.nq + n,)), Argument("v", (model.nv + n,)), Argument("dt", ())


def _entry(program: Any, name: str) -> Callable[..., Any]:
    return Kernel(program, name=name, version=__version__).__call__
