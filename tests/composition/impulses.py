"""Steps of first order with impulses, composed by hand: stops, dry friction and contacts by Lemke's method.

    M (v_f − v) − Aᵀλ = h f,    A v_f = b(t + h)
    w = J v⁺ + b ⊥ x,           v⁺ = v_f + W Jᵀx,   q⁺ = q ⊕ h v⁺

A stop or a contact that closes with restitution has b = e u⁻, and moves by v up to its impact.  The state after the step is
projected onto the rows.  The components of a floating base's velocity are kept in axes that do not turn.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import NamedTuple

import numpy as np

from tests.composition.equation import REDUNDANT, Equation, State
from torsor.simulate.complementarity import solve

#: the largest velocity that pushes back [m/s, rad/s]
PUSH = 0.1
#: short steps in which states are followed
FOLLOWED = 20


class Row(NamedTuple):
    """A row of J, with the velocity that it has at v = 0; bounds of its impulse; its gap, and its restitution, of normals."""

    J: np.ndarray
    given: float
    lower: float
    upper: float
    gap: float | None = None
    restitution: float = 0.0


def run(e: Equation, s: State, u: Callable[[State], np.ndarray], dt: float, steps: int) -> list[State]:
    """The states after each step."""
    out = []
    for _ in range(steps):
        s = step(e, s, u, dt)
        out.append(s)
    return out


def step(e: Equation, s: State, u: Callable[[State], np.ndarray], h: float) -> State:
    M, (A, _) = e.mass(s), e.constraint_rows(s.q, s.t)
    command = u(s)
    force = e.transmit(s, command) + e.load(s, dry=False)
    free = s.v + _saddle(M, A, h * force, e.constraint_rows(s.q, s.t + h)[1] - A @ s.v) - h * _turning(e, s.v)
    rows = _rows(e, s, h)
    J = np.array([r.J for r in rows])
    W = np.array([_saddle(M, A, r, np.zeros(len(A))) for r in J])
    before, after = (J @ v + np.array([r.given for r in rows]) for v in (s.v, free))
    b, hits = np.zeros(len(rows)), []
    for k, r in enumerate(rows):
        if r.gap is None:
            continue
        b[k] = max(r.gap / h, -PUSH)
        if r.restitution and before[k] < -2 * max(before[k] - after[k], 0) and r.gap + h * after[k] <= 0:
            b[k] = r.restitution * before[k]
            hits.append(r.gap / (-before[k] * h))
    x = solve(J @ W.T, after + b, [r.lower for r in rows], [r.upper for r in rows]).x
    v = free + x @ W
    share = min([1.0, *hits]) if hits else 0.0
    q, v = _carry(e, s.q, h * (share * s.v + (1 - share) * v), v)
    mean = share * s.v + (1 - share) * (free + x @ W)
    ticked = {name: tick(s, command) for name, tick in e.ticks.items()}
    return _project(e, State(q, v, _follow(e, s._replace(v=mean), command, h) | ticked, s.t + h), M, A)


def _follow(e: Equation, s: State, command: np.ndarray, h: float) -> dict[str, np.ndarray]:
    """x after h at the mean velocity of the step, by the classical Runge–Kutta method in short steps."""
    x = {name: s.x[name] for name in e.rates}
    dt = h / FOLLOWED

    def rates(x: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {name: f(s._replace(x=s.x | x), command) for name, f in e.rates.items()}

    def after(x: dict[str, np.ndarray], k: dict[str, np.ndarray], h: float) -> dict[str, np.ndarray]:
        return {name: y + h * k[name] for name, y in x.items()}

    for _ in range(FOLLOWED if x else 0):
        k1 = rates(x)
        k2 = rates(after(x, k1, dt / 2))
        k3 = rates(after(x, k2, dt / 2))
        k4 = rates(after(x, k3, dt))
        x = {n: y + dt / 6 * (k1[n] + 2 * k2[n] + 2 * k3[n] + k4[n]) for n, y in x.items()}
    return x


def _rows(e: Equation, s: State, h: float) -> list[Row]:
    unit = np.eye(e.nv)
    rows = [Row(unit[at], 0.0, 0.0, np.inf, s.q[row] - bound, e_) for row, at, bound, e_ in e.stops]
    rows += [Row(unit[at], 0.0, -h * level, h * level) for at, level in e.dry]
    for frame, height in e.contacts:
        J = e.jacobian(s.q, frame, s.t)[5]
        gap = e.pose(s.q, frame, s.t)[2, 3] - height
        rows.append(Row(J @ e.projection(s.q, s.t), J @ e.given(s.q, s.t), 0.0, np.inf, gap))
    return rows


def _saddle(M: np.ndarray, A: np.ndarray, f: np.ndarray, g: np.ndarray) -> np.ndarray:
    """x of M x − Aᵀλ = f, A x = g."""
    matrix = np.block([[M, -A.T], [A, np.zeros((len(A), len(A)))]])
    return np.linalg.lstsq(matrix, np.concatenate([f, g]), rcond=REDUNDANT * 1e-3)[0][: len(M)]


def _project(e: Equation, s: State, M: np.ndarray, A: np.ndarray) -> State:
    """The state on the rows: two Newton steps for q, the first with the matrices of the beginning, one step for v."""
    if not e.rows:
        return s
    for _ in range(2):
        error = np.concatenate([r.error(s.q, s.t) for r in e.rows])
        s = s._replace(q=e.move(s.q, _saddle(M, A, np.zeros(len(M)), -error), 1.0))
        M, (A, b) = e.mass(s), e.constraint_rows(s.q, s.t)
    return s._replace(v=s.v + _saddle(M, A, np.zeros(len(M)), b - A @ s.v))


def _floats(e: Equation) -> bool:
    return e.tree.nq > e.tree.nv


def _turning(e: Equation, v: np.ndarray) -> np.ndarray:
    out = np.zeros(e.nv)
    if _floats(e):
        out[3:6] = -np.cross(v[:3], v[3:6])
    return out


def _carry(e: Equation, q: np.ndarray, way: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """q after a way in axes that do not turn, and the components of v there."""
    if not _floats(e):
        return e.move(q, way, 1.0), v
    turned = way.copy()
    turned[3:6] = 0.0
    end, R = e.move(q, turned, 1.0), _rotation(q[3:7])
    end[:3] = q[:3] + R @ way[3:6]
    v = v.copy()
    v[3:6] = _rotation(end[3:7]).T @ R @ v[3:6]
    return end, v


def _rotation(quaternion: np.ndarray) -> np.ndarray:
    x, y, z, w = quaternion / np.linalg.norm(quaternion)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


# -- located in time -------------------------------------------------------------------------------------------------------


def located(e: Equation, s: State, u: Callable[[State], np.ndarray], dt: float, steps: int) -> State:
    """The end of a motion with one contact without friction, touched once: its impact, then J a = −J̇ v while pressed."""
    ((frame, height),) = e.contacts

    def gap(s: State) -> float:
        return e.pose(s.q, frame, s.t)[2, 3] - height

    end = s.t + steps * dt
    while s.t < end and gap(after := e.step(s, u, min(dt, end - s.t))) > 0:
        s = after
    if s.t >= end:
        return s
    low, high = 0.0, min(dt, end - s.t)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if gap(e.step(s, u, middle)) > 0 else (low, middle)
    hit = e.step(s, u, low)
    J, W = _normal(e, hit.q, hit.t, frame), np.linalg.inv(e.mass(hit))
    s = hit._replace(v=hit.v - W @ J * (J @ hit.v) / (J @ W @ J))
    pressed = copy(e)
    pressed.forward = lambda s, tau: _pressed(e, s, tau, frame)  # type: ignore[method-assign]
    count = max(1, round((end - s.t) / dt))
    h = (end - s.t) / count
    for _ in range(count):
        s = pressed.step(s, u, h)
    return s


def _pressed(e: Equation, s: State, tau: np.ndarray, frame: str, h: float = 1e-5) -> np.ndarray:
    """a with J a = −J̇ v, the drift by differences, or free if that would pull: the hand leaves again."""
    J, W, free = _normal(e, s.q, s.t, frame), np.linalg.inv(e.mass(s)), e.forward(s, tau)
    ahead, behind = (_normal(e, e.move(s.q, s.v, x), s.t, frame) @ s.v for x in (h, -h))
    force = -(J @ free + (ahead - behind) / (2 * h)) / (J @ W @ J)
    return free + W @ J * max(force, 0.0)


def _normal(e: Equation, q: np.ndarray, t: float, frame: str) -> np.ndarray:
    """The row of the height of a frame."""
    J: np.ndarray = e.jacobian(q, frame, t)[5] @ e.projection(q, t)
    return J
