"""Energy balance: work, losses, change of energy, and their discrepancy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from torsor.errors import ArgumentError
from torsor.simulate import bristles

if TYPE_CHECKING:
    from torsor.simulate.result import Result

Array: TypeAlias = np.ndarray


@dataclass(frozen=True, eq=False)
class Audit:
    """dE = work − dissipated, each (T,) [J] from the start on; ``discrepancy`` is the rest: errors of integrator and records.

    ``work`` is that of the joint forces and the external wrenches, ``dissipated`` that of damping, friction, springs' dampers
    and ``impacts``.  Both are integrals over the records: between them forces are taken as held, or as smooth, as the control
    was.  So the discrepancy depends on ``record=``; ``quadrature`` estimates the part that comes from the records, by thinning
    them out, and only a discrepancy well above it is the integrator's error.
    """

    t: Array
    energy: Array
    work: Array
    dissipated: Array
    impacts: float  #: of ``dissipated``, at hard stops [J]
    discrepancy: Array
    quadrature: float = (
        0.0  #: estimated error of work and dissipation that comes from the distance of the records [J]; NaN for too few
    )

    @property
    def worst(self) -> float:
        """The largest discrepancy [J]."""
        return float(np.abs(self.discrepancy).max(initial=0.0))

    @property
    def relative(self) -> float:
        """Against the largest change of anything in the balance."""
        scale = max(float(np.ptp(x)) for x in (self.energy, self.work, self.dissipated))
        return self.worst / scale if scale else self.worst

    def __str__(self) -> str:
        change = self.energy[-1] - self.energy[0]
        share = "an unknown part" if np.isnan(self.quadrature) else f"about {self.quadrature:.1g} J"
        return (
            f"dE = {change:.6g} J = work {self.work[-1]:.6g} − dissipated {self.dissipated[-1]:.6g} "
            f"(impacts {self.impacts:.3g}); largest discrepancy {self.worst:.2g} J, "
            f"{share} of it from the distance of the records"
        )


def audit(result: Result) -> Audit:
    """Simpson's rule between records, with the middle velocity that the distance covered implies, 4 v_m = 6 δ/h − v₀ − v₁."""
    robot = result.robot
    if robot is None:
        raise ArgumentError("an audit needs the robot; ts.simulate.load_result(path, robot=robot)")
    work, lost = _flows(result)
    energy = result.energy
    jumps = np.where(np.diff(result.t) > 0, 0.0, -np.diff(energy))  # no time passes at an impact
    dissipated = lost + _summed(jumps)
    left = energy - energy[0] - work + dissipated
    return Audit(result.t, energy, work, dissipated, float(jumps.sum()), left, _quadrature(result))


def _flows(result: Result) -> tuple[Array, Array]:
    """Work, and the energy lost between impacts, (T,) each."""
    robot = result.robot
    assert robot is not None
    h = np.maximum(np.diff(result.t), 0.0)
    width = np.where(h > 0, h, 1.0)[:, None]
    v = _triple(result.v, robot.difference(result.q[:-1], result.q[1:]), width)
    held = result.info.get("held", False)
    power = _power([result.tau[:-1]] * 3 if held else _smooth(result.t, result.tau), _at_motors(result, v, width))
    power += _power(_smooth(result.t, _external(result)), v)
    return _summed(power * h), _summed(_lost(result, v) * h)


def _quadrature(result: Result) -> float:
    """The error of work − losses that the distance h of the records makes [J] (Richardson); NaN where they are too few.

    With every second and every fourth record the errors are e(2h) and e(4h); differences of the three give the order and e(h).
    """
    if _held_between_records(result):
        result = replace(result, tau=np.zeros_like(result.tau))  # whose work is exact: τ·(q₁ ⊖ q₀)
    sets = [_thinned(result.t, step) for step in (1, 2, 4)]
    work = [np.subtract(*_flows(_part(result, kept))) for kept in sets]
    if len(sets[1]) == len(sets[0]):
        return float("nan") if work[0].any() else 0.0
    at = [w[np.searchsorted(kept, sets[2])] for kept, w in zip(sets, work, strict=True)]  # at the times that all have
    near, far = (float(np.abs(a - b).max(initial=0.0)) for a, b in pairwise(at))
    ratio = min(max(far / near, 2.0), 16.0) if near else 16.0  # of first to fourth order
    return near / (ratio - 1)


def _held_between_records(result: Result) -> bool:
    """Whether the joint forces are constant from record to record: no tick of the control is between two."""
    if not result.info.get("held"):
        return False
    period = result.info.get("period")
    if not period:
        return period is None and "period" in result.info
    ticks = np.floor(result.t[:-1] / period + 1e-6), np.floor(result.t[1:] / period - 1e-6)
    return bool((ticks[1] <= ticks[0]).all())


def _thinned(t: Array, step: int) -> Array:
    """Numbers of every so many records, and of both at each impact; those of a step are among those of half the step."""
    edges = [0, *(np.flatnonzero(np.diff(t) <= 0) + 1).tolist(), len(t)]
    return np.array([k for a, b in pairwise(edges) for k in (*range(a, b - 1, step), b - 1)])


def _part(result: Result, kept: Array) -> Result:
    """Some of the records."""

    def some(x: Any) -> Any:
        return {k: y[kept] for k, y in x.items()} if isinstance(x, dict) else None if x is None else x[kept]

    names = ("t", "q", "v", "tau", "wrenches", "states", "theta", "omega")
    return replace(result, **{name: some(getattr(result, name)) for name in names}, stored={})


def _at_motors(result: Result, v: list[Array], width: Array) -> list[Array]:
    """The velocities at which the joint forces work: those of the motors, where a spring comes between."""
    if result.elastic is None or result.theta is None or result.omega is None:
        return v
    rows = [result.elastic.robot.joint(n).v_slice.start for n in result.elastic.joints]
    out = [x.copy() for x in v]
    for x, w in zip(out, _triple(result.omega, np.diff(result.theta, axis=0), width), strict=True):
        x[:, rows] = w
    return out


def _lost(result: Result, v: list[Array]) -> Array:
    """The power of damping, friction or springs' dampers, in the mean of each interval."""
    lost = _power(_losses(result, v), v)
    if "z" in result.states:
        lost = lost + _by_bristles(result, v)
    if result.elastic is not None and result.theta is not None and result.omega is not None:
        taken = result.elastic.dissipation(result.q, result.v, result.theta, result.omega)
        lost = lost + (taken[:-1] + taken[1:]) / 2
    return lost


def _triple(v: Array, moved: Array, width: Array) -> list[Array]:
    """Velocities at the beginning, the middle and the end of each interval."""
    return [v[:-1], (6 * moved / width - v[:-1] - v[1:]) / 4, v[1:]]


def _power(forces: list[Array], v: list[Array]) -> Array:
    """The mean of f·v over each interval, by Simpson's rule."""
    first, middle, last = (np.einsum("tn,tn->t", f, x) for f, x in zip(forces, v, strict=True))
    return (first + 4 * middle + last) / 6


def _smooth(t: Array, f: Array) -> list[Array]:
    """Forces at the beginning, the middle and the end: through the four nearest records that no impact parts."""
    middle, k = (f[:-1] + f[1:]) / 2, np.arange(len(t) - 1)
    impacts = np.flatnonzero(np.diff(t) <= 0)
    piece = np.searchsorted(impacts, k)  # records from first to last belong together
    first, last = np.concatenate([[0], impacts + 1])[piece], np.concatenate([impacts, [len(t) - 1]])[piece]
    enough = (last - first >= 3) & (k < last)
    start = np.clip(k[enough] - 1, first[enough], last[enough] - 3)
    nodes = t[start[:, None] + np.arange(4)]
    there = (t[:-1] + t[1:])[enough, None] / 2
    weights = np.ones_like(nodes)
    for i in range(4):
        for j in range(4):
            if i != j:
                weights[:, i] *= (there[:, 0] - nodes[:, j]) / (nodes[:, i] - nodes[:, j])  # Lagrange's
    middle[enough] = sum(weights[:, i, None] * f[start + i] for i in range(4))
    return [f[:-1], middle, f[1:]]


def _external(result: Result) -> Array:
    """Σ JᵀF, the wrenches as joint forces, and Aᵀλ of constraints that move: the others do no work."""
    robot, total = result.robot, np.zeros_like(result.v)
    assert robot is not None
    for frame, F in result.wrenches.items():
        total = total + np.einsum("trn,tr->tn", robot.jacobian(result.q, frame, "body"), F)
    held = result.held
    if held is not None and held.solver.equations.depends_on_time:
        tau = result.tau - (robot.damping_force(result.v) if result.info.get("damping") else 0)
        _, force = held.forward_dynamics(result.q, result.v, tau, result.wrenches or None, time=result.t, friction=False)
        total = total + np.einsum("tkn,tk->tn", held.jacobian(result.q, time=result.t), force)
    return total


def _losses(result: Result, v: list[Array]) -> list[Array]:
    """Damping or friction at the three velocities."""
    assert result.robot is not None
    if result.info.get("damping"):
        return [result.robot.damping_force(np.ascontiguousarray(x)) for x in v]
    if result.info.get("friction"):
        at, model = zip(v, _loads(result), strict=True), result.robot.model
        # what has a memory is counted apart
        return [result.robot.friction_force(np.ascontiguousarray(x), load=u) - bristles.steady(model, x, u) for x, u in at]
    return [np.zeros_like(x) for x in v]


def _loads(result: Result) -> list[Array]:
    return [result.tau[:-1], (result.tau[:-1] + result.tau[1:]) / 2, result.tau[1:]]


def _by_bristles(result: Result, v: list[Array]) -> Array:
    """What LuGre friction turns to heat; in the middle, z is what half an interval of the parabola v makes of it."""
    assert result.robot is not None
    model, z, h = result.robot.model, result.states["z"], np.maximum(np.diff(result.t), 0.0)
    half = np.where(h > 0, h, 1.0) / 2
    moved = (5 * v[0] + 8 * v[1] - v[2]) / 12 * half[:, None]
    loads = _loads(result)
    middle = bristles.halfway(model, z[:-1], moved, half, loads[0])
    at = zip((z[:-1], middle, z[1:]), v, loads, strict=True)
    return np.array([1, 4, 1]) / 6 @ np.array([bristles.heat(model, *x) for x in at])


def _summed(x: Array) -> Array:
    return np.concatenate([[0.0], np.cumsum(x)])
