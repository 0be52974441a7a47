"""First-order states x of a robot's terms in a simulation, and the joint forces that actuators and drives make of commands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.algorithms.equation import At, EquationOfMotion
from torsor.errors import ArgumentError
from torsor.model.terms.term import Term
from torsor.simulate.callbacks import as_vector
from torsor.simulate.controllers import Control, HeldForces, Law
from torsor.simulate.quantities import QUANTITIES
from torsor.simulate.rollout import no_states
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.simulate.result import Result
    from torsor.simulate.system import System


#: column of the work of impulses, of contacts, stops and dry friction, since the start [J]
IMPULSE_WORK = "impulse_work"


class TermStates:
    """x, known at the beginning of a step and followed from there to any time within it (:meth:`Term.follow`).

    States that are sampled advance at ticks, dt apart, and are constant between them.  ``stepped``: all advance in the
    kernel of a step, which sets ``x``, and adds to ``work`` [J] of impulses.
    """

    def __init__(self, system: System, command: Law, dt: float, x: Any = None, stepped: bool = False):
        e = EquationOfMotion(system.robot.model)
        self.system, self.command, self.dt, self.equation = system, command, dt, e
        self.stepped, self.work = stepped, 0.0
        self.sampled = [] if stepped else [term for term in e.terms if type(term).tick is not Term.tick]
        #: states that depend on the motion within a step
        self.followed = [] if stepped else [t for t in e.terms if t.states(e.model).size and t not in self.sampled]
        rubbing = tuple(t for t in self.followed if type(t).friction is not Term.friction)
        self._bristles = replace(e, model=e.model.with_same_mass_matrix(terms=rubbing)) if rubbing else None
        if x is not None and not e.start:
            raise no_states(system.robot)
        start = np.array(e.start) if x is None else as_vector(x, "x", len(e.start), "the first-order states", ("is", "be"))
        if not np.isfinite(start).all():
            raise ArgumentError(f"x has numbers that are not finite: {start}")
        self.x, self._next = start.tolist(), dict[str, list[Any]]()
        self._begin: At | None = None
        #: x at a state, if it follows from it
        self.evaluate: Callable[[float, Array, Array], list[float]] | None = None
        #: the states that are followed at a time, in adaptive steps, which integrate their rates
        self.path: Callable[[float], list[float]] | None = None

    # -- time ------------------------------------------------------------------------------------------------

    def tick(self, t: float, q: Array, v: Array) -> None:
        """A step begins: the sampled states become those that follow from the last tick."""
        at = self._at(t, q, v)
        for term in self.sampled:
            at.put(term, self._next.get(term.name, list(at.x_of(term))))
        self.x = self.equation.x_of(at) or []
        self.equation.transmit(at, self.command(t, q, v).tolist())
        self._next = {term.name: term.tick(at, self.dt) for term in self.sampled}
        self._begin = None

    def begin(self, t: float, q: Array, v: Array) -> None:
        """A step of the states that are followed begins here."""
        if self.stepped:
            return
        self.x = self.equation.x_of(self.at(t, q, v)[0]) or []
        begin = self._at(t, q, v)
        self.equation.transmit(begin, self.command(t, q, v).tolist())
        self._begin = begin

    def at(self, t: float, q: Array, v: Array) -> tuple[At, list[Any]]:
        """The robot with its x at a time within the step, and its joint forces."""
        at, u = self._at(t, q, v), self.command(t, q, v).tolist()
        if self.path:
            self._put(at, self.path(t))
            return at, self.equation.transmit(at, u)
        if self._begin is None or t <= self._begin.t:
            return at, self.equation.transmit(at, u)
        return at, self.equation.transmit(at, u, self._begin, t - self._begin.t)

    def rate(self, t: float, q: Array, v: Array) -> Array:
        """ẋ of the states that are followed."""
        at, _ = self.at(t, q, v)
        return np.array([y for term in self.followed for y in term.rate(at)], float)

    def followed_at(self, t: float) -> Array:
        """The states that are followed, in the order of their terms."""
        if self.path:
            return np.array(self.path(t))
        at = self.equation.at([0.0] * self.equation.model.nq, None, t, self.x)
        return np.array([y for term in self.followed for y in at.x_of(term)], float)

    def _put(self, at: At, x: list[float]) -> None:
        """Set the states that are followed."""
        for term in self.followed:
            size = term.states(at.model).size
            at.put(term, x[:size])
            x = x[size:]

    def _at(self, t: float, q: Array, v: Array) -> At:
        at = self.equation.at(q.tolist(), v.tolist(), t, self.x)
        at.dt = self.dt
        return at

    # -- forces ----------------------------------------------------------------------------------------------

    def forces(self, t: float, q: Array, v: Array) -> Array:
        """τ (nv,) from the commands."""
        return np.array(self.at(t, q, v)[1], float)

    def friction(self, t: float, q: Array, v: Array, tau: Array) -> Array:
        """φ (nv,) of the friction with states."""
        if self._bristles is None:
            return np.zeros(len(v))
        return tau - np.array(self._bristles.load(self.at(t, q, v)[0], tau.tolist()), float)

    # -- records ---------------------------------------------------------------------------------------------

    def states(self, t: float, q: Array, v: Array) -> list[Array]:
        """What is recorded of the terms, one array for each kind of :meth:`columns`."""
        if self.evaluate:
            self.x = self.evaluate(t, q, v)
        found = self._readings(self.at(t, q, v)[0])
        return [np.array(list(row.values())) for row in found.values()] + [np.array([self.work])] * self.stepped

    def columns(self) -> dict[str, list[str]]:
        """The joints of which something is recorded, by its kind: z, current, temperature, ...; and the work of impulses."""
        m = self.equation.model
        at = self.equation.at([0.0] * m.nq, [0.0] * m.nv, 0.0, self.x)
        found = {kind: list(row) for kind, row in self._readings(at).items()}
        return found | ({IMPULSE_WORK: ["total"]} if self.stepped else {})

    def _readings(self, at: At) -> dict[str, dict[str, float]]:
        found: dict[str, dict[str, float]] = {}
        for term in self.equation.terms:
            for name, x in term.readings(at).items():
                joint, kind = name.rsplit(" ", 1)
                row = found.setdefault(kind, {})
                row[joint if joint not in row else f"{joint} {len(row)}"] = float(x)
        return found


def behind_bristles(result: Result) -> Array:
    """ℓ (T, nv), the joint forces at the recorded rows behind the friction with states."""
    if "z" not in result.states:
        return result.tau
    kernel = result.require_robot().kernels.of(QUANTITIES)("load behind bristles")
    return kernel(result.q, result.v, result.tau, result.states["z"])


def sampled_commands(command: Control, states: TermStates, box: list[Array], dt: float) -> Control:
    """Commands of a robot whose actuators have memory: its ticks are dt apart, as in a rollout."""
    if not states.sampled:
        return command
    every, ticks = _ticks_per_sample(command, dt) if isinstance(command, HeldForces) else 1, 0

    def sample(t: float, q: Array, v: Array) -> Array:
        nonlocal ticks
        if isinstance(command, HeldForces) and ticks % every == 0:
            box[0] = command.sample(t, q, v)
        ticks += 1
        states.tick(t, q, v)
        return box[0]

    held: Law = lambda t, q, v: box[0]  # noqa: E731
    return HeldForces(sample, dt, law=command.law or held if isinstance(command, HeldForces) else command)


def _ticks_per_sample(command: HeldForces, dt: float) -> int:
    """Steps of dt between the samples of a command; it must be a whole number."""
    if command.period is None:
        return 1
    count = round(command.period / dt)
    if count < 1 or abs(command.period - count * dt) > 1e-6 * dt:
        raise ArgumentError(
            f"with actuators that have memory, commands must change at steps of dt = {dt:g} s; they change every "
            f"{command.period:g} s, {command.period / dt:.6g} steps"
        )
    return count
