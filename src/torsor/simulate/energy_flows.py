"""Work and losses of a motion, summed over all steps, including those that are not recorded.

Between two fixed steps, h apart, by Simpson's rule with the middle state that the cubic through both implies:

    ∫ P dt = h (P₀ + 4 P_m + P₁) / 6
    v_m = (6 (q₁ ⊖ q₀)/h − v₀ − v₁) / 4
    q_m = q₀ ⊕ ((q₁ ⊖ q₀)/2 + h (v₀ − v₁)/8)

f_m = f₀ if forces are held over the step, else the cubic through the four nearest steps between impacts.  The long steps of
adaptive integrators are cut into SHARES equal parts, each summed by Gauss's rule on the integrator's own interpolant; so are
fixed steps, undivided and on that cubic, where forces jump at ticks and vary between them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from torsor.simulate.quantities import QUANTITIES

if TYPE_CHECKING:
    from torsor.robot import Robot
    from torsor.simulate.result import Result

Array: TypeAlias = np.ndarray
#: (t, q, v)
State: TypeAlias = tuple[float, Array, Array]

#: steps on either side of an interval that its middle force may depend on
NEIGHBOURS = 3
#: rows closer than this, relative to dt, are at equal times: a polynomial through both would be rounding
CLOSE = 1e-6
#: parts of an adaptive step, which begin and end at its records
SHARES = 4


class GaussRule(NamedTuple):
    """Parts of a step, and the nodes and weights of Gauss's rule in each of them, on [0, 1]."""

    shares: int
    nodes: Array
    weights: Array

    @classmethod
    def of(cls, shares: int, count: int) -> GaussRule:
        """The rule with ``count`` nodes per part, exact for polynomials of degree 2 count − 1."""
        x, w = np.polynomial.legendre.leggauss(count)
        return cls(shares, (1 + x) / 2, w / 2)


#: for adaptive steps, which are long, and for fixed ones, where Simpson's rule has the same degree
ADAPTIVE, FIXED = GaussRule.of(SHARES, 4), GaussRule.of(1, 2)


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


class Parts(NamedTuple):
    """Parts of a step: the number of the first, rows at their nodes, their widths [s], and which of them count in the sums.

    Those that do not count reach from the beginning of a part to a record within it.
    """

    first: int
    rows: list[tuple[Any, ...]]
    widths: list[float]
    counted: list[bool]

    @property
    def end(self) -> int:
        return self.first + len(self.widths)


class GaussSum:
    """Work and losses along steps: nodes are evaluated while the forces of a step are known, and summed block by block.

    ``rows_at(at, times)`` are rows (t, q, v, τ, ...) of the states ``at(times)``; ``result_of`` makes a result of columns.
    """

    def __init__(
        self, rule: GaussRule, rows_at: Callable[[Any, Array], list[Any]], result_of: Callable[[Sequence[Array]], Result]
    ):
        self.rule, self.rows_at, self.result_of = rule, rows_at, result_of
        self.parts: list[Parts] = []

    @property
    def count(self) -> int:
        """The number of parts that are not summed yet."""
        return self.parts[-1].end if self.parts else 0

    def over(self, at: Any, start: float, end: float, times: Sequence[float]) -> dict[float, tuple[int, int]]:
        """Evaluate the nodes of an interval; for each of ``times``, the number of parts before it and that of one to add."""
        shares, n = self.rule.shares, self.count
        ends = [*(start + (end - start) * np.arange(shares) / shares).tolist(), end]
        others = [t for t in times if t not in ends]
        first = [*ends[:-1], *(max(x for x in ends if x < t) for t in others)]
        widths = [b - a for a, b in zip(first, [*ends[1:], *others], strict=True)]
        nodes = (np.array(first)[:, None] + np.array(widths)[:, None] * self.rule.nodes).ravel()
        self.parts.append(Parts(n, self.rows_at(at, nodes), widths, [True] * shares + [False] * len(others)))
        within = {t: (n + ends.index(x), n + shares + k) for k, (t, x) in enumerate(zip(others, first[shares:], strict=True))}
        return within | {t: (n + ends.index(t), -1) for t in times if t in ends}

    def sums(self, total: Array) -> tuple[Array, Array]:
        """Work and loss of each part and a zero, (m + 1, 2), and the sums before each part and after all, from ``total``."""
        if not self.parts:
            return np.zeros((1, 2)), total[None]
        columns = [np.array(x) for x in zip(*(row for p in self.parts for row in p.rows), strict=True)]
        power = np.stack(powers(self.result_of(columns)), axis=1).reshape(self.count, -1, 2)
        widths, counted = (
            np.concatenate(x)[:, None] for x in ([p.widths for p in self.parts], [p.counted for p in self.parts])
        )
        flows = np.einsum("k,ikx->ix", self.rule.weights, power) * widths
        return np.concatenate([flows, [[0.0, 0.0]]]), np.cumsum(np.concatenate([[total], flows * counted]), axis=0)


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
    if robot.forces:  # drag, (h − c − g)·v
        tree = robot if result.held is None else result.held.tree
        h, c, g = tree.kernel("bias_force", "velocity_force", "gravity_force")(result.q, v)
        lost = lost + _dot(h - c - g, v)
    return work, lost


def friction_losses(result: Result) -> Array:
    """Heat of friction [W] and energy of its bristles [J] at the rows of a result, (T, 2)."""
    z = [result.states["z"]] if "z" in result.states else []
    return result.require_robot().kernels.of(QUANTITIES)("losses of friction")(result.q, result.v, result.tau, *z)


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
