"""The equation of motion composed by hand: NumPy over M, h and J of the bare tree, and a plain Runge–Kutta method.

    M(q) a + h(q, v) = τ + Σ f(q, v, x, t) + Aᵀλ,    A a + Ȧv = ḃ,    ẋ = g(q, v, x, t)

Nothing of torsor's constraints, friction, actuators, springs or integrators is used: the laws are written again by the
features, Ȧv is a difference quotient, and the saddle system is solved by least squares, so that redundant rows do no harm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

import torsor as ts

#: of the differences along the motion: fourth order, so that errors are about 1e-11
STEP = 1e-3
#: singular values below this, relative to the largest, are of redundant rows
REDUNDANT = 1e-9


class State(NamedTuple):
    """q, v of all coordinates (the tree's, then the motors of springs), x by name, t."""

    q: np.ndarray
    v: np.ndarray
    x: dict[str, np.ndarray]
    t: float = 0.0


class Rows(NamedTuple):
    """φ(q, t) = 0 and A(q) v = b(t)."""

    error: Callable[[np.ndarray, float], np.ndarray]
    A: Callable[[np.ndarray], np.ndarray]
    speed: Callable[[float], np.ndarray]


class Motor(NamedTuple):
    """The motor behind a spring on a joint: τ_e = K (θ − q) + D (ω − v), B ω̇ + τ_e = τ."""

    joint: int
    K: float
    D: float
    B: float


@dataclass
class Equation:
    """The parts that features add, and the motion that follows from them.

    ``transmissions`` turn commands into joint forces, in their order; ``wrenches`` act on frames, in their axes.
    ``ticks`` are sampled states: their next value, from the state at the beginning of a step.
    """

    tree: ts.Robot
    forces: list[Callable[[State], np.ndarray]] = field(default_factory=list)
    wrenches: list[tuple[str, Callable[[State], np.ndarray]]] = field(default_factory=list)
    rows: list[Rows] = field(default_factory=list)
    motors: list[Motor] = field(default_factory=list)
    transmissions: list[Callable[[State, np.ndarray], np.ndarray]] = field(default_factory=list)
    rates: dict[str, Callable[[State, np.ndarray], np.ndarray]] = field(default_factory=dict)
    ticks: dict[str, Callable[[State, np.ndarray], np.ndarray]] = field(default_factory=dict)
    start: dict[str, np.ndarray] = field(default_factory=dict)
    stops: list[tuple[int, int, float, float]] = field(default_factory=list)  #: row of q, row of v, lower bound, restitution

    @property
    def nv(self) -> int:
        return self.tree.nv + len(self.motors)

    def row(self, joint: str) -> int:
        """The row of v of a joint."""
        return self.tree.joint(joint).v_slice.start

    def driven_row(self, joint: str) -> int:
        """The row of v at which the joint's drive acts: that of its motor behind a spring, if it has one."""
        row = self.row(joint)
        return next((self.tree.nv + k for k, m in enumerate(self.motors) if m.joint == row), row)

    # -- the parts at a state --------------------------------------------------------------------------------------

    def drives(self) -> np.ndarray:
        """E (n, nv of the tree): a joint is driven by its motor, if it has one."""
        E = np.zeros((self.nv, self.tree.nv))
        E[: self.tree.nv] = np.eye(self.tree.nv)
        for k, m in enumerate(self.motors):
            E[[m.joint, self.tree.nv + k], m.joint] = 0.0, 1.0
        return E

    def mass(self, q: np.ndarray) -> np.ndarray:
        M = np.zeros((self.nv, self.nv))
        n = self.tree.nv
        M[:n, :n] = self.tree.mass_matrix(q[: self.tree.nq])
        M[range(n, self.nv), range(n, self.nv)] = [m.B for m in self.motors]
        return M

    def load(self, s: State) -> np.ndarray:
        """Σ f + Jᵀw − h (n,)."""
        n, nq = self.tree.nv, self.tree.nq
        total = np.zeros(self.nv)
        total[:n] = -self.tree.bias_force(s.q[:nq], s.v[:n])
        for frame, wrench in self.wrenches:
            total[:n] += self.tree.jacobian(s.q[:nq], frame, expressed_in="body").T @ wrench(s)
        for k, m in enumerate(self.motors):
            at = nq - n + m.joint  # the joints of the machine have one coordinate each, after those of its base
            spring = m.K * (s.q[nq + k] - s.q[at]) + m.D * (s.v[n + k] - s.v[m.joint])
            total[[m.joint, n + k]] += spring, -spring
        return sum((f(s) for f in self.forces), total)

    def matrix(self, q: np.ndarray) -> np.ndarray:
        """A (k, n)."""
        A = [r.A(q[: self.tree.nq]) for r in self.rows]
        return np.hstack([np.vstack(A), np.zeros((sum(map(len, A)), len(self.motors)))]) if A else np.zeros((0, self.nv))

    def speed(self, t: float) -> np.ndarray:
        """b (k,)."""
        return np.concatenate([np.zeros(0), *(r.speed(t) for r in self.rows)])

    def drift(self, s: State) -> np.ndarray:
        """Ȧv − ḃ (k,), along the motion at constant velocity."""

        def slip(h: float) -> np.ndarray:
            return self.matrix(self.move(s.q, s.v, h)) @ s.v - self.speed(s.t + h)

        return (8 * (slip(STEP) - slip(-STEP)) - (slip(2 * STEP) - slip(-2 * STEP))) / (12 * STEP)

    def move(self, q: np.ndarray, v: np.ndarray, h: float) -> np.ndarray:
        """q ⊕ h v."""
        n, k = self.tree.nq, self.tree.nv
        return np.concatenate([self.tree.integrate(q[:n], v[:k], h), q[n:] + h * v[k:]])

    # -- instants --------------------------------------------------------------------------------------------------

    def forward(self, s: State, tau: np.ndarray) -> np.ndarray:
        """a (n,) under joint forces τ after the actuators: M a − Aᵀλ = τ + load, A a = −drift."""
        M, A = self.mass(s.q), self.matrix(s.q)
        k, right = len(A), tau + self.load(s)
        if not k:
            return np.linalg.solve(M, right)
        saddle = np.block([[M, -A.T], [A, np.zeros((k, k))]])
        return np.linalg.lstsq(saddle, np.concatenate([right, -self.drift(s)]), rcond=REDUNDANT * 1e-3)[0][: self.nv]

    def inverse(self, s: State, a: np.ndarray) -> np.ndarray:
        """E u of least norm for which a follows: Nᵀ E u = Nᵀ (M a − load), N the motions that the rows allow."""
        A = self.matrix(s.q)
        free = np.eye(self.nv)
        if len(A):
            _, size, V = np.linalg.svd(A)
            free = V[int((size > REDUNDANT * size[0]).sum()) :].T
        E, right = self.drives(), free.T @ (self.mass(s.q) @ a - self.load(s))
        return E @ np.linalg.lstsq(free.T @ E, right, rcond=REDUNDANT)[0]

    def project(self, s: State) -> State:
        """The nearest velocity that obeys the rows."""
        A = self.matrix(s.q)
        return s._replace(v=s.v - np.linalg.pinv(A, rcond=REDUNDANT) @ (A @ s.v - self.speed(s.t))) if len(A) else s

    # -- motion ----------------------------------------------------------------------------------------------------

    def transmit(self, s: State, u: np.ndarray) -> np.ndarray:
        """Joint forces τ from commands u."""
        for f in self.transmissions:
            u = f(s, u)
        return u

    def rate(self, s: State, u: np.ndarray) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
        """q̇, v̇, ẋ."""
        n, k = self.tree.nq, self.tree.nv
        dq = np.concatenate([self.tree.configuration_rate(s.q[:n], s.v[:k]), s.v[k:]])
        dx = {name: self.rates[name](s, u) if name in self.rates else np.zeros_like(x) for name, x in s.x.items()}
        return dq, self.forward(s, self.transmit(s, u)), dx

    def step(self, s: State, u: Callable[[State], np.ndarray], h: float) -> State:
        """One step of the classical Runge–Kutta method, in the numbers of q, v and x."""
        k1 = self.rate(s, u(s))
        k2 = self.rate(m := _after(s, k1, h / 2), u(m))
        k3 = self.rate(m := _after(s, k2, h / 2), u(m))
        k4 = self.rate(m := _after(s, k3, h), u(m))
        mean = [(a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(*(k[:2] for k in (k1, k2, k3, k4)), strict=True)]
        dx = {n: (k1[2][n] + 2 * k2[2][n] + 2 * k3[2][n] + k4[2][n]) / 6 for n in s.x}
        return _after(s, (*mean, dx), h)

    def run(self, s: State, u: Callable[[State], np.ndarray], dt: float, steps: int) -> list[State]:
        """The states after each step; sampled states change once a step, impacts on stops happen within it."""
        out = []
        for _ in range(steps):
            sampled = {name: tick(s, u(s)) for name, tick in self.ticks.items()}
            end = s.t + dt
            while s.t < end:
                s = self._to_impact(s, u, end - s.t)
            s = s._replace(t=end, x=s.x | sampled, q=self._unit(s.q))
            out.append(s)
        return out

    def _to_impact(self, s: State, u: Callable[[State], np.ndarray], h: float) -> State:
        """The state at the end of h, or after the first impact before that."""
        end = self.step(s, u, h)
        beyond = [x for x in self.stops if end.q[x[0]] < x[2]]
        if not beyond:
            return end
        ((row, at, bound, e),) = beyond
        low, high = 0.0, h
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self.step(s, u, middle).q[row] > bound else (low, middle)
        hit = self.step(s, u, low)
        q = hit.q.copy()
        q[row] = bound
        return hit._replace(q=q, v=self._impact(hit, at, e))

    def _impact(self, s: State, row: int, e: float) -> np.ndarray:
        """v⁺ = v + W ι with v⁺_row = −e v_row: Newton's restitution; W = P M⁻¹ of the motions that the rows allow."""
        A = np.vstack([np.eye(self.nv)[row], self.matrix(s.q)])
        saddle = np.block([[self.mass(s.q), -A.T], [A, np.zeros((len(A), len(A)))]])
        right = np.zeros(len(saddle))
        right[self.nv] = -(1 + e) * s.v[row]
        return s.v + np.linalg.lstsq(saddle, right, rcond=REDUNDANT * 1e-3)[0][: self.nv]

    def _unit(self, q: np.ndarray) -> np.ndarray:
        """q with the base's quaternion normalised."""
        if self.tree.nq > self.tree.nv:
            q = q.copy()
            q[3:7] /= np.linalg.norm(q[3:7])
        return q


def _after(s: State, rates: tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]], h: float) -> State:
    dq, dv, dx = rates
    return State(s.q + h * dq, s.v + h * dv, {n: x + h * dx[n] for n, x in s.x.items()}, s.t + h)
