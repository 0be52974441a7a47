"""Work and losses of a motion, summed over all steps, including those that are not recorded.

Over an interval from state 0 to state 1, h apart, by Simpson's rule with the middle velocity that the distance implies:

    ∫ f·v dt = h (f₀·v₀ + 4 f_m·v_m + f₁·v₁) / 6
    v_m = (6 (q₁ ⊖ q₀)/h − v₀ − v₁) / 4

f_m = f₀ if forces are held over the step, else the cubic through the four nearest steps between impacts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from torsor.simulate import bristles

if TYPE_CHECKING:
    from torsor.simulate.result import Result

Array: TypeAlias = np.ndarray

#: steps on either side of an interval that its middle force may depend on
NEIGHBOURS = 3


class Intervals(NamedTuple):
    """Intervals between rows ``a`` and ``b`` of a result, (m,) each; row a is step number ``k`` among ``steps``."""

    steps: Array
    k: Array
    a: Array
    b: Array

    @classmethod
    def between(cls, steps: Array, others: Array) -> Intervals:
        """From each step to the next, then from steps to ``others``, which are rows after a step and before the next."""
        before = np.searchsorted(steps, others, side="right") - 1
        k = np.concatenate([np.arange(len(steps) - 1), before]).astype(int)
        return cls(steps, k, steps[k], np.concatenate([steps[1:], others]).astype(int))


def summed_flows(result: Result) -> dict[str, Array]:
    """``work`` and ``lost`` [J], (T,) each, from the start to each record of a result that has all steps."""
    work, lost = interval_flows(result, Intervals.between(np.arange(len(result.t)), np.zeros(0, int)))
    return {"work": np.concatenate([[0.0], np.cumsum(work)]), "lost": np.concatenate([[0.0], np.cumsum(lost)])}


class Waiting(NamedTuple):
    """Rows that are not complete: some steps before the first of them, and the sums there."""

    rows: list[Array]
    step: Array
    kept: Array
    first: int  #: number of the step at which the sums are ``total``
    total: Array


class FlowSum:
    """Work and losses summed block by block during a run, for the rows that are recorded.

    ``result_of(columns)`` makes a result of some rows.  Rows are steps, or records between two steps, or both.  The last few
    steps of a block wait for the next one, because middle forces depend on their neighbours: so sums equal those of one block.
    """

    def __init__(self, result_of: Callable[[Sequence[Array]], Result]):
        self.result_of = result_of
        self.waiting = Waiting([], np.zeros(0, bool), np.zeros(0, bool), 0, np.zeros(2))

    def after(self, columns: Sequence[Array], step: Array, kept: Array, final: bool) -> tuple[Waiting, list[Array]]:
        """``waiting`` after some more rows, and the recorded rows that are complete, with the columns ``work`` and ``lost``."""
        rows, own, flags, first, total = self.waiting
        if columns:
            rows = [np.concatenate(x) for x in zip(rows, columns, strict=True)] if rows else list(columns)
            own, flags = np.concatenate([own, step]), np.concatenate([flags, kept])
        steps = np.flatnonzero(own)
        last = len(steps) - 1 if final else len(steps) - 1 - NEIGHBOURS
        if last < first or (last == first and not final):
            return Waiting(rows, own, flags, first, total), []
        begin, end = int(steps[first]), len(own) if final else int(steps[last])
        others = np.flatnonzero(~own & (np.arange(len(own)) < end) & (np.arange(len(own)) > begin))
        flows = np.zeros((len(own), 2))
        each = Intervals.between(steps, others)
        wanted = (each.a >= begin) & (each.b <= end)
        part = each._replace(k=each.k[wanted], a=each.a[wanted], b=each.b[wanted])
        flows[part.b] = np.stack(interval_flows(self.result_of(rows), part), axis=1)
        sums = np.cumsum(np.concatenate([[total], flows[steps[first + 1 : last + 1]]]), axis=0)
        flows[steps[first : last + 1]] = sums
        flows[others] += sums[np.searchsorted(steps, others, side="right") - 1 - first]
        complete = np.arange(begin, end)
        chosen = complete[flags[complete]]
        done = [*(x[chosen] for x in rows), *flows[chosen].T]
        context = int(steps[max(last - NEIGHBOURS, 0)])
        left = [x[context:] for x in rows], own[context:], flags[context:]
        return Waiting(*left, last - max(last - NEIGHBOURS, 0), sums[-1]), done


def interval_flows(result: Result, at: Intervals) -> tuple[Array, Array]:
    """Work of joint forces, wrenches and moving constraints, and the energy lost between impacts, [J], (m,) each."""
    robot = result.require_robot()
    if not len(at.a):
        return np.zeros(0), np.zeros(0)
    h = np.maximum(result.t[at.b] - result.t[at.a], 0.0)
    width = np.where(h > 0, h, 1.0)[:, None]
    v = _triple(result.v, robot.difference(result.q[at.a], result.q[at.b]), width, at)
    tau = [result.tau[at.a]] * 3 if result.info.get("held", False) else _interpolate_forces(result.t, result.tau, at)
    power = _power(tau, _at_motors(result, v, width, at))
    if result.wrenches or _constraints_depend_on_time(result):
        power = power + _power(_interpolate_forces(result.t, _external(result), at), v)
    return power * h, _mean_loss(result, v, h, at) * h


def _triple(v: Array, moved: Array, width: Array, at: Intervals) -> list[Array]:
    """Velocities at the beginning, the middle and the end of each interval."""
    return [v[at.a], (6 * moved / width - v[at.a] - v[at.b]) / 4, v[at.b]]


def _power(forces: list[Array], v: list[Array]) -> Array:
    """The mean of f·v over each interval, by Simpson's rule."""
    first, middle, last = (np.einsum("tn,tn->t", f, x) for f, x in zip(forces, v, strict=True))
    return (first + 4 * middle + last) / 6


def _interpolate_forces(t: Array, f: Array, at: Intervals) -> list[Array]:
    """Forces at the beginning, the middle and the end: through the four nearest steps without an impact between them."""
    middle, steps = (f[at.a] + f[at.b]) / 2, t[at.steps]
    impacts = np.flatnonzero(np.diff(steps) <= 0)
    piece = np.searchsorted(impacts, at.k)  # steps from first to last belong together
    first, last = np.concatenate([[0], impacts + 1])[piece], np.concatenate([impacts, [len(steps) - 1]])[piece]
    enough = (last - first >= 3) & (at.k < last)
    start = np.clip(at.k[enough] - 1, first[enough], last[enough] - 3)
    nodes = steps[start[:, None] + np.arange(4)]
    there = (t[at.a] + t[at.b])[enough, None] / 2
    weights = np.ones_like(nodes)
    for i in range(4):
        for j in range(4):
            if i != j:
                weights[:, i] *= (there[:, 0] - nodes[:, j]) / (nodes[:, i] - nodes[:, j])  # Lagrange's
    middle[enough] = sum(weights[:, i, None] * f[at.steps[start + i]] for i in range(4))
    return [f[at.a], middle, f[at.b]]


def _external(result: Result) -> Array:
    """Σ JᵀF, the wrenches as joint forces, and Aᵀλ of moving constraints; fixed constraints do no work."""
    robot, total = result.require_robot(), np.zeros_like(result.v)
    for frame, F in result.wrenches.items():
        total = total + np.einsum("trn,tr->tn", robot.jacobian(result.q, frame, "body"), F)
    if (held := result.held) is not None and _constraints_depend_on_time(result):
        tau = result.tau - (robot.damping_force(result.v) if result.info.get("damping") else 0)
        _, force = held.forward_dynamics(result.q, result.v, tau, result.wrenches or None, time=result.t, friction=False)
        total = total + np.einsum("tkn,tk->tn", held.jacobian(result.q, time=result.t), force)
    return total


def _constraints_depend_on_time(result: Result) -> bool:
    """Whether constraints depend on time, and so may do work."""
    return result.held is not None and bool(result.held.solver.equations.depends_on_time)


def _at_motors(result: Result, v: list[Array], width: Array, at: Intervals) -> list[Array]:
    """The velocities at which the joint forces do work: those of the motors at joints with springs."""
    if result.elastic is None or result.theta is None or result.omega is None:
        return v
    rows = [result.elastic.robot.joint(n).v_slice.start for n in result.elastic.joints]
    out = [x.copy() for x in v]
    for x, w in zip(out, _triple(result.omega, result.theta[at.b] - result.theta[at.a], width, at), strict=True):
        x[:, rows] = w
    return out


def _mean_loss(result: Result, v: list[Array], h: Array, at: Intervals) -> Array:
    """The mean power of damping, friction or springs' dampers over each interval."""
    robot, lost = result.require_robot(), np.zeros(len(h))
    if result.info.get("damping"):
        lost = lost + _power([robot.damping_force(np.ascontiguousarray(x)) for x in v], v)
    if result.info.get("friction"):
        loads = [result.tau[at.a], (result.tau[at.a] + result.tau[at.b]) / 2, result.tau[at.b]]
        pairs = [(np.ascontiguousarray(x), u) for x, u in zip(v, loads, strict=True)]
        dry = [robot.friction_force(x, load=u) - bristles.steady_friction(robot.model, x, u) for x, u in pairs]  # no bristles
        lost = lost + _power(dry, v)
        if "z" in result.states:
            lost = lost + _by_bristles(result, v, loads, h, at)
    if robot.forces:
        lost = lost + _drag(result, v, at)
    if result.elastic is not None and result.theta is not None and result.omega is not None:
        taken = result.elastic.dissipation(result.q, result.v, result.theta, result.omega)
        lost = lost + (taken[at.a] + taken[at.b]) / 2
    return lost


def _drag(result: Result, v: list[Array], at: Intervals) -> Array:
    """The mean power of drag, (h − c − g)·v; the middle of an interval is half of the way."""
    tree = result.require_robot() if result.held is None else result.held.tree
    first, last = result.q[at.a], result.q[at.b]
    middle = tree.integrate(first, tree.difference(first, last), 0.5)
    states = [(q, np.ascontiguousarray(x)) for q, x in zip((first, middle, last), v, strict=True)]
    forces = tree.kernel("bias_force", "velocity_force", "gravity_force")
    return _power([h - c - g for h, c, g in (forces(q, x) for q, x in states)], v)


def _by_bristles(result: Result, v: list[Array], loads: list[Array], h: Array, at: Intervals) -> Array:
    """The heat of LuGre friction; z in the middle follows from half an interval with v a parabola."""
    model, z = result.require_robot().model, result.states["z"]
    half = np.where(h > 0, h, 1.0) / 2
    moved = (5 * v[0] + 8 * v[1] - v[2]) / 12 * half[:, None]
    middle = bristles.deflections_at_midpoint(model, z[at.a], moved, half, loads[0])
    each = zip((z[at.a], middle, z[at.b]), v, loads, strict=True)
    return np.array([1, 4, 1]) / 6 @ np.array([bristles.heat(model, *x) for x in each])
