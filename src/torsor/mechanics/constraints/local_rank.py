"""Rank of the constraint rows at a configuration and near it: redundant, singular and contradictory rows.

Redundant rows are dependent everywhere near a configuration; they have no effect.  At a singular configuration fewer rows are
independent than near it: their equations leave directions free that the mechanism cannot follow, and they determine neither the
acceleration there nor its limit.  Contradictory rows are dependent rows with independent right-hand sides.

At a state whose loops are slightly open (drift of a simulation, a Runge–Kutta stage) redundant rows differ by the drift, which
changes rank and consistency.  Both are therefore determined at the nearest configuration with closed loops, where the rank is
affected by rounding alone, and no tolerance has to be larger than the drift.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from torsor.algorithms.equation.constrained import REDUNDANT
from torsor.errors import SingularError
from torsor.mechanics.constraints import closing
from torsor.mechanics.constraints.null_space import Whitened, in_mass_metric, solve_with_rank
from torsor.mechanics.constraints.rank import independent_rows
from torsor.model.names import coordinate_names

if TYPE_CHECKING:
    from torsor.mechanics.constraints.constrained_robot import ConstrainedRobot

#: coordinate change [rad, m] up to which a state counts as one with loops slightly open
SLIGHTLY_OPEN = 1e-2
#: length of the steps [of kinetic metric 1] to the configurations where the rank nearby is computed
STEP = 1e-2
#: number of these configurations
STEPS = 5


class LocalRank(NamedTuple):
    """The rows at a configuration that closes the loops (or at the given one, if there is none near it)."""

    q: np.ndarray
    A: np.ndarray
    rows: Whitened
    here: int  #: independent rows at q
    near: int  #: independent rows at configurations near q

    @property
    def motions(self) -> np.ndarray:
        """Velocities that keep the rows, ``(nv, nv − here)``, orthonormal in the metric of M."""
        return np.linalg.solve(self.rows.C.T, self.rows.Vt[self.here :].T)


def local_rank(system: ConstrainedRobot, q: np.ndarray, time: float | None, expected: int | None = None) -> LocalRank:
    """The rank at and near q; nearby configurations are not evaluated if the rank is the ``expected`` one."""
    robot, clock, every = system.robot, system.clock(time), np.ones(system.robot.nv, bool)
    end = closing.close_loops(system, q, every, time)
    is_nearly_closed = end.closed and np.abs(robot.difference(q, end.q)).max(initial=0.0) <= SLIGHTLY_OPEN
    q = end.q if is_nearly_closed else q
    A, M = system.solver.rows_and_mass(q, clock)
    rows = in_mass_metric(M, A, robot.model)
    here = int(rows.rank())
    found = LocalRank(q, A, rows, here, here)
    if here == expected:
        return found
    K = found.motions if is_nearly_closed else np.eye(robot.nv)
    steps = STEP * K @ np.random.default_rng(0).normal(size=(K.shape[1], STEPS))
    near = robot.integrate(q, steps.T, 1.0)
    if is_nearly_closed:
        near = np.array([closing.close_loops(system, x, every, time).q for x in near])
    A, M = system.solver.rows_and_mass(near, clock)
    return found._replace(near=int(in_mass_metric(M, A, robot.model).rank().max(initial=here)))


def ranks(system: ConstrainedRobot, rows: Whitened, q: ArrayLike, time: ArrayLike | None) -> np.ndarray:
    """The rank of each state of a batch, ``(...)``; SingularError where it is singular."""
    usual = len(system.independent_rows)
    clear = np.asarray(rows.has_rank(usual))
    out = np.full(clear.shape, usual)
    Q = np.broadcast_to(np.asarray(q, float), (*clear.shape, system.robot.nq))
    T = None if time is None else np.broadcast_to(np.asarray(time, float), clear.shape)
    for at in map(tuple, np.argwhere(~clear)):
        local = local_rank(system, Q[at], None if T is None else float(T[at]), usual)
        if local.here < local.near:
            raise SingularError(_singular_message(system, local))
        out[at] = local.here
    return out


def solve_by_local_rank(
    system: ConstrainedRobot,
    what: str,
    M: np.ndarray,
    A: np.ndarray,
    f: np.ndarray,
    g: np.ndarray,
    state: dict[str, np.ndarray],
) -> tuple[np.ndarray, np.ndarray, int]:
    """(x, λ, rank) of one state whose rows do not have the usual rank, or contradict each other.

    ``what`` is "dynamics" or "impulse".  Raises SingularError where the state is singular or the rows contradict each other.
    """
    time = float(state["t"]) if "t" in state else None
    local = local_rank(system, state["q"], time, len(system.independent_rows))
    w = in_mass_metric(M, A, system.robot.model, zero=np.isinf(local.rows.length))
    x, lam = (part[0] for part in solve_with_rank(w.at(None), f[None], g[None], np.array([local.here])))
    if local.here < local.near and not _is_solved_by_zero(w, what, f, g, x, state["v"]):
        raise SingularError(_singular_message(system, local))
    if violated_rows(A, x, g).any() and (rows := _contradictory(system, local, what, state["v"], time)):
        raise SingularError(rows)
    return x, lam, local.here


def violated_rows(A: np.ndarray, x: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Which rows of A x = g are violated by more than REDUNDANT of the sizes of their terms, ``(..., k)`` bool."""
    gap = np.abs((A @ x[..., None])[..., 0] - g)
    return gap > REDUNDANT * (1 + np.abs(g) + (np.abs(A) @ np.abs(x)[..., None])[..., 0])


def _is_solved_by_zero(w: Whitened, what: str, f: np.ndarray, g: np.ndarray, x: np.ndarray, v: np.ndarray) -> bool:
    """Whether x = 0 solves the equations: then it does so for any rank, and a singular state makes no difference."""
    scale = np.linalg.norm(np.linalg.solve(w.C, f)) + (np.linalg.norm(w.C.T @ v) if what == "impulse" else 0.0)
    return float(np.linalg.norm(w.C.T @ x) + np.linalg.norm(g / w.length)) <= 1e-9 * float(scale)


def _singular_message(system: ConstrainedRobot, local: LocalRank) -> str:
    here = independent_rows(local.rows.unit[None], local.here)
    lost = [name for k, name in enumerate(system.rows) if k in system.independent_rows and k not in here]
    names, size = coordinate_names(system.robot.model), np.abs(local.motions).max(axis=1, initial=0.0)
    moving = [name for name, part in zip(names, size, strict=True) if part > 1e-6 * size.max(initial=0.0)]
    return (
        f"singular configuration: {local.here} of {len(system.rows)} constraint rows are independent here and {local.near} "
        f"nearby (dependent here: {_list_names(lost)}), so the motion of {_list_names(moving)} is undetermined; "
        "move away from it along one branch, see mobility(q)"
    )


def _contradictory(system: ConstrainedRobot, local: LocalRank, what: str, v: np.ndarray, time: float | None) -> str:
    """Error message if the rows contradict each other where the loops are closed and v keeps them; else empty."""
    rows, rank, A = local.rows.at(None), np.array([local.here]), local.A

    def least_squares(right: np.ndarray) -> np.ndarray:
        return solve_with_rank(rows, np.zeros((1, A.shape[-1])), right[None], rank)[0][0]

    kernel, clock = system.solver.kernel("rows"), system.clock(time)
    speed = kernel(local.q, v, *clock)[2]
    v = v + least_squares(speed - A @ v)
    right = speed if what == "impulse" else -kernel(local.q, v, *clock)[3]
    x = least_squares(right)
    if not violated_rows(A, x, right).any():
        return ""
    gap = np.abs(A @ x - right)
    names = [name for name, size in zip(system.rows, gap, strict=True) if size > 1e-3 * gap.max()]
    kind, unit = ("velocity", "m/s, rad/s") if what == "impulse" else ("acceleration", "m/s², rad/s²")
    return (
        f"contradictory constraint rows: no {kind} satisfies {_list_names(names)} together, the nearest violates them by "
        f"{gap.max():.3g} [{unit}]; remove one of them, or make them consistent"
    )


def _list_names(names: list[str]) -> str:
    return ", ".join(map(repr, names))
