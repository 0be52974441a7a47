"""Work and losses of a motion, summed over all steps, including those that are not recorded.

Between two fixed steps, h apart, by Simpson's rule with the middle state that the cubic through both implies:

    ∫ P dt = h (P₀ + 4 P_m + P₁) / 6
    v_m = (6 (q₁ ⊖ q₀)/h − v₀ − v₁) / 4
    q_m = q₀ ⊕ ((q₁ ⊖ q₀)/2 + h (v₀ − v₁)/8)

f_m = f₀ if forces are held over the step, else the cubic through the four nearest steps between impacts.  The long steps of
adaptive integrators have the polynomial through the powers at nine points on the integrator's own interpolant; so have
fixed steps, at three points on that cubic (Simpson's rule), where forces jump at ticks and vary between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import numpy as np

from torsor.simulate.quantities import QUANTITIES
from torsor.support.locks import cached_property
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.robot import Robot
    from torsor.simulate.events import StepInterval
    from torsor.simulate.result import Result

#: (t, q, v)
State: TypeAlias = tuple[float, Array, Array]

#: steps on either side of an interval that its middle force may depend on
NEIGHBOURS = 3
#: stands for the length of a step of length 0 [s]
TINY = 1e-300
#: rows closer than this, relative to dt, are at equal times: a polynomial through both would be rounding
CLOSE = 1e-6


#: points per step, ends included, between which power is a polynomial: of adaptive steps, which are long, and of fixed ones
ADAPTIVE, FIXED = 9, 3


def summed_flows(result: Result) -> dict[str, Array]:
    """``work`` and ``lost`` [J], (T,) each, from the start to each record of a result that has all steps."""
    work, lost = interval_flows(result, np.arange(len(result.t) - 1))
    return {"work": np.concatenate([[0.0], np.cumsum(work)]), "lost": np.concatenate([[0.0], np.cumsum(lost)])}


class Waiting(NamedTuple):
    """Rows that are not complete: some steps before the first of them, and the sums there."""

    rows: list[Array]
    kept: Array
    first: int  #: number of the row at which the sums are ``total``
    total: Array


class FlowSum:
    """Work and losses summed block by block during a run of fixed steps, for the rows that are recorded.

    ``result_of(columns)`` makes a result of some rows.  The last few steps of a block wait for the next one, because middle
    forces depend on their neighbours: so sums equal those of one block.
    """

    def __init__(self, result_of: Callable[[Sequence[Array]], Result]):
        self.result_of = result_of
        self.waiting = Waiting([], np.zeros(0, bool), 0, np.zeros(2))

    def after(self, columns: Sequence[Array], kept: Array, final: bool) -> tuple[Waiting, list[Array]]:
        """``waiting`` after some more rows, and the recorded rows that are complete, with the columns ``work`` and ``lost``."""
        rows, flags, first, total = self.waiting
        if columns:
            rows = [np.concatenate(x) for x in zip(rows, columns, strict=True)] if rows else list(columns)
            flags = np.concatenate([flags, kept])
        last = len(flags) - 1 if final else len(flags) - 1 - NEIGHBOURS
        if last < first or (last == first and not final):
            return Waiting(rows, flags, first, total), []
        flows = np.stack(interval_flows(self.result_of(rows), np.arange(first, last)), axis=1)
        sums = np.cumsum(np.concatenate([[total], flows]), axis=0)
        complete = np.arange(first, last + 1 if final else last)
        chosen = complete[flags[complete]]
        done = [*(x[chosen] for x in rows), *sums[chosen - first].T]
        context = max(last - NEIGHBOURS, 0)
        return Waiting([x[context:] for x in rows], flags[context:], last - context, sums[-1]), done


def columns_of(rows: Sequence[Sequence[Any]]) -> list[Array]:
    """Rows of numbers and vectors as one array per column."""
    return [np.concatenate(x).reshape(len(x), -1) if np.ndim(x[0]) else np.array(x) for x in zip(*rows, strict=True)]


class SummedStep(NamedTuple):
    """A step: its rows, its beginning, its length h [s], and the end of its part that was taken."""

    rows: list[tuple[Any, ...]]
    start: float
    h: float
    end: float


class PowerSum:
    """Work and losses along steps: power at ``points`` per step, evaluated while the forces of the step are known.

    ``weights(θ)`` (..., points) integrate it up to θ: those of the stages of a method, or of the polynomial through equidistant
    points.  ``rows_at(at, times)`` are rows (t, q, v, τ, ...) of the states ``at(times)``; ``result_of(columns)`` is a result.
    """

    def __init__(
        self,
        points: int,
        rows_at: Callable[[Any, Array], list[Any]],
        result_of: Callable[[Sequence[Array]], Result],
        weights: Callable[[Any], Array] | None = None,
    ):
        self.points, self.rows_at, self.result_of = points, rows_at, result_of
        self.nodes = np.linspace(0, 1, points)
        self.weights = weights or partial(lagrange_integrals, self.nodes)
        self.steps: list[SummedStep] = []  #: steps that are not summed yet

    def over(self, interval: StepInterval, start: float, end: float, inner: bool) -> dict[float, tuple[Any, ...]]:
        """Evaluate the rows of a step, from its start to its end; those of its motion, by their times.

        ``inner``: the sums are needed between the two.
        """
        if interval.stages:
            rows = interval.stages(inner or end < interval.t)
            self.steps.append(SummedStep(rows, start, interval.t - start, end))
            return {}
        rows = self.rows_at(interval.along or interval.at, start + (end - start) * self.nodes)
        self.steps.append(SummedStep(rows, start, end - start, end))
        return {row[0]: row for row in rows}

    def sums(self, steps: Sequence[SummedStep], total: Array, step: Array, t: Array) -> tuple[Array, Array]:
        """Work and loss up to the times t (m,) in steps of these numbers, (m, 2), and after all; ``total`` is that before.

        W(t) = W₀ + h Σ_k w_k(θ) P_k, θ = (t − t₀)/h
        """
        if not steps:
            return np.tile(total, (len(t), 1)), total
        rows, start, h, end = zip(*steps, strict=True)
        columns = columns_of([row for step_rows in rows for row in step_rows])
        power = np.stack(powers(self.result_of(columns)), axis=1).reshape(-1, self.points, 2)

        def within(k: Array, t: Array) -> Array:
            theta = np.where(k < 0, 0.0, (t - np.array(start)[k]) / np.maximum(h, TINY)[k])
            return np.array(h)[k, None] * np.einsum("ik,ikx->ix", self.weights(theta), power[k])

        before = np.cumsum(np.concatenate([[total], within(np.arange(len(h)), np.array(end))]), axis=0)
        return before[np.maximum(step, 0)] + within(step, t), before[-1]


class LateFlows(Mapping[str, Array]):
    """``work`` and ``lost`` of ``compute()``, (T, 2), called when one of them is first read."""

    def __init__(self, compute: Callable[[], Array]):
        self._compute: Callable[[], Array] | None = compute

    @cached_property
    def _flows(self) -> dict[str, Array]:
        work, lost = cast("Callable[[], Array]", self._compute)().T
        self._compute = None  # it keeps all steps
        return {"work": work, "lost": lost}

    def __getitem__(self, name: str) -> Array:
        return self._flows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(("work", "lost"))

    def __len__(self) -> int:
        return 2

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


def lagrange_integrals(nodes: Array, x: float | Array) -> Array:
    """∫₀ˣ ℓ_j (..., n) of the Lagrange polynomials of n nodes."""
    k = np.arange(len(nodes))
    return np.linalg.solve((nodes[:, None] ** k).T, (np.asarray(x)[..., None] ** (k + 1) / (k + 1)).T).T


def interval_flows(result: Result, k: Array) -> tuple[Array, Array]:
    """Work of joint forces, wrenches and moving constraints, and the energy lost, [J], (m,) each, from rows k to rows k + 1."""
    if not len(k):
        return np.zeros(0), np.zeros(0)
    h = np.maximum(result.t[k + 1] - result.t[k], 0.0)
    first, last = _rows(result, k), _rows(result, k + 1)
    if result.info.get("held", False):
        last = replace(last, tau=first.tau)
    each = [powers(x) for x in (first, _middles(result, first, last, h, k), last)]
    work, lost = (h * (a + 4 * m + b) / 6 for a, m, b in zip(*each, strict=True))
    return work, lost


def powers(result: Result) -> tuple[Array, Array]:
    """Power of joint forces, wrenches and moving constraints, and power lost, [W], (T,) each, at the rows of a result."""
    robot, v = result.require_robot(), result.v
    work, lost = _dot(result.tau, v), np.zeros(len(v))
    if result.wrenches or _constraints_depend_on_time(result):
        work = work + _dot(_external(result), v)
    if robot.model.terms:
        kernel = robot.kernel("flows")
        power, heat = np.moveaxis(kernel(*(getattr(result, x.name) for x in kernel.inputs)), -1, 0)  # q, v and perhaps t
        work, lost = work + power, lost + heat
    if robot.model.joints_with_friction:
        lost = lost + friction_losses(result)[:, 0]
    if result.contact_forces is not None and result.info.get("tolerance"):  # at its instant, by adaptive steps
        lost = lost + contact_losses(result, result.contact_forces)
    if robot.forces:  # drag, (h − c − g)·v
        tree = robot if result.held is None else result.held.tree
        h, c, g = tree.kernel("bias_force", "velocity_force", "gravity_force")(result.q, v)
        lost = lost + _dot(h - c - g, v)
    return work, lost


def friction_losses(result: Result) -> Array:
    """Heat of friction [W] and energy of its bristles [J] at the rows of a result, (T, 2)."""
    z = [result.states["z"]] if "z" in result.states else []
    return result.require_robot().kernels.of(QUANTITIES)("losses of friction")(result.q, result.v, result.tau, *z)


def contact_losses(result: Result, forces: Array) -> Array:
    """Heat of the friction of contacts at the rows of a result, −f·u (T,) [W]."""
    _, J, _, axes = result.require_robot().kernels.of(QUANTITIES)("contact motion")(result.q, result.v)
    u = np.einsum("tij,tj->ti", J, result.v).reshape(forces.shape)
    return -np.einsum("tkj,tkij,tki->t", forces, axes, u)


def _dot(f: Array, v: Array) -> Array:
    return np.einsum("tn,tn->t", f, v)


def _rows(result: Result, k: Array) -> Result:
    """Some rows of a result."""
    parts: dict[str, Any] = {name: getattr(result, name)[k] for name in ("t", "q", "v", "tau")}
    tables: dict[str, Any] = {name: {key: x[k] for key, x in getattr(result, name).items()} for name in ("wrenches", "states")}
    return replace(result, **parts, **tables)


def _middles(result: Result, first: Result, last: Result, h: Array, k: Array) -> Result:
    """The rows in the middle of the intervals k between rows ``first`` and ``last``."""
    robot, width = result.require_robot(), np.where(h > 0, h, 1.0)[:, None]
    moved = robot.difference(first.q, last.q)
    v, half = _hermite(moved, first.v, last.v, width)
    tau = first.tau if result.info.get("held", False) else _interpolate_forces(result, result.tau, k)
    wrenches = {frame: _interpolate_forces(result, F, k) for frame, F in result.wrenches.items()}
    parts: dict[str, Any] = {"t": (first.t + last.t) / 2, "q": robot.integrate(first.q, half), "v": v, "tau": tau}
    if "z" in result.states:
        kernel = robot.kernels.of(QUANTITIES)("later bristles")
        z = kernel(first.q, first.v, first.tau, first.states["z"], parts["q"], width[:, 0] / 2)
        parts["states"] = {**first.states, "z": z}
    return replace(first, wrenches=wrenches, **parts)


def _hermite(moved: Array, v0: Any, v1: Any, h: Array) -> tuple[Array, Array]:
    """The velocity in the middle of an interval h, and the way to there, of the cubic with these ends."""
    return np.ascontiguousarray((6 * moved / h - v0 - v1) / 4), moved / 2 + h * (v0 - v1) / 8


def interpolate(robot: Robot, first: State, last: State, times: Array) -> tuple[Array, Array]:
    """(q, v), one row per time, of the cubic between two states (t, q, v)."""
    (t, q0, v0), (end, q1, v1) = first, last
    h, s = end - t, (times - t) / (end - t)
    moved = robot.difference(q0, q1)
    v = np.array([v0, (6 * moved / h - v0 - v1) / 4, v1])
    rates = np.array([(1 - s) * (1 - 2 * s), 4 * s * (1 - s), s * (2 * s - 1)])
    ways = np.array([s - s**2 * (3 / 2 - 2 / 3 * s), s**2 * (2 - 4 / 3 * s), s**2 * (2 / 3 * s - 1 / 2)]) * h
    return robot.integrate(q0, ways.T @ v), rates.T @ v


def _interpolate_forces(result: Result, f: Array, k: Array) -> Array:
    """Forces in the middle of the intervals k: through the four nearest rows without an impact or two equal times between."""
    middle, t = (f[k] + f[k + 1]) / 2, result.t
    impacts = np.flatnonzero(np.diff(t) <= CLOSE * result.info.get("dt", 0.0))
    piece = np.searchsorted(impacts, k)  # rows from first to last belong together
    first, last = np.concatenate([[0], impacts + 1])[piece], np.concatenate([impacts, [len(t) - 1]])[piece]
    enough = (last - first >= 3) & (k < last)
    start = np.clip(k[enough] - 1, first[enough], last[enough] - 3)
    nodes = t[start[:, None] + np.arange(4)]
    there = (t[k] + t[k + 1])[enough, None] / 2
    weights = np.ones_like(nodes)
    for i in range(4):
        for j in range(4):
            if i != j:
                weights[:, i] *= (there[:, 0] - nodes[:, j]) / (nodes[:, i] - nodes[:, j])  # Lagrange's
    middle[enough] = sum(weights[:, i, None] * f[start + i] for i in range(4))
    return middle


def _external(result: Result) -> Array:
    """Σ JᵀF, the wrenches as joint forces, and Aᵀλ of moving constraints; fixed constraints do no work."""
    robot, total = result.require_robot(), np.zeros_like(result.v)
    for frame, F in result.wrenches.items():
        total = total + np.einsum("trn,tr->tn", robot.jacobian(result.q, frame, "body"), F)
    if (held := result.held) is not None and _constraints_depend_on_time(result):
        _, force = held.forward_dynamics(result.q, result.v, result.tau, result.wrenches or None, time=result.t)
        total = total + np.einsum("tkn,tk->tn", held.jacobian(result.q, time=result.t), force)
    return total


def _constraints_depend_on_time(result: Result) -> bool:
    """Whether constraints depend on time, and so may do work."""
    return result.held is not None and bool(result.held.solver.equations.depends_on_time)
