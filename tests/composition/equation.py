"""The equation of motion composed by hand: NumPy over M, h and J of the bare tree, and a plain Runge–Kutta method.

    M(q) a + h(q, v) = τ + Σ f(q, v, x, t) + Aᵀλ,    A a + Ȧv = ḃ,    ẋ = g(q, v, x, t)

Nothing of torsor's constraints, friction, actuators, springs or integrators is used: the laws are written again by the
features, Ȧv is a difference quotient, and the saddle system is solved by least squares, so that redundant rows do no harm.

A base that moves as a given function of time, and links that bend, are parts of a larger tree, whose velocity follows from the
machine's own, V = P(q) v + V₀(t).  Its equation, M̄ V̇ + h̄ = ..., is projected: M = PᵀM̄P, h = Pᵀ(h̄ + M̄ (Ṗ v + V̇₀)), A = ĀP.
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
    """q, v of all coordinates (the tree's, then the motors of springs, then the modes of beams), x by name, t."""

    q: np.ndarray
    v: np.ndarray
    x: dict[str, np.ndarray]
    t: float = 0.0


class Rows(NamedTuple):
    """φ(q, t) = 0 and A(q, t) v = b(t), with the columns of the whole tree (:meth:`Equation.jacobian`)."""

    error: Callable[[np.ndarray, float], np.ndarray]
    A: Callable[[np.ndarray, float], np.ndarray]
    speed: Callable[[float], np.ndarray]


class Embedding(NamedTuple):
    """A larger tree that moves as the machine's own coordinates say: on a base that moves, with links that bend.

    Its configuration and its velocity, which is affine in v; q and v are those of the machine without motors.
    """

    tree: ts.Robot
    q: Callable[[np.ndarray, float], np.ndarray]
    v: Callable[[np.ndarray, np.ndarray, float], np.ndarray]


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
    dry: list[tuple[int, float]] = field(default_factory=list)  #: row of v, level of dry friction
    contacts: list[tuple[str, float]] = field(default_factory=list)  #: frame, height of the smooth ground
    modes: int = 0
    embedding: Embedding | None = None

    @property
    def nv(self) -> int:
        return self.tree.nv + len(self.motors) + self.modes

    def without_motors(self, x: np.ndarray) -> np.ndarray:
        """The part of q or v that poses depend on."""
        first = len(x) - self.modes - len(self.motors)
        return np.delete(x, range(first, first + len(self.motors)))

    def row(self, joint: str) -> int:
        """The row of v of a joint."""
        return self.tree.joint(joint).v_slice.start

    def driven_row(self, joint: str) -> int:
        """The row of v at which the joint's drive acts: that of its motor behind a spring, if it has one."""
        row = self.row(joint)
        return next((self.tree.nv + k for k, m in enumerate(self.motors) if m.joint == row), row)

    # -- the whole tree --------------------------------------------------------------------------------------------

    def whole(self, q: np.ndarray, v: np.ndarray, t: float) -> tuple[ts.Robot, np.ndarray, np.ndarray]:
        """The whole tree, its configuration and velocity."""
        e, q, v = self.embedding, self.without_motors(q), self.without_motors(v)
        return (self.tree, q, v) if e is None else (e.tree, e.q(q, t), e.v(q, v, t))

    def projection(self, q: np.ndarray, t: float) -> np.ndarray:
        """P, one column per coordinate of the machine; zero for motors."""
        return np.array([self.whole(q, e, t)[2] for e in np.eye(self.nv)]).T - self.given(q, t)[:, None]

    def given(self, q: np.ndarray, t: float) -> np.ndarray:
        """V₀, the velocity of the whole tree where that of the machine is zero."""
        return self.whole(q, np.zeros(self.nv), t)[2]

    def acceleration(self, s: State, a: np.ndarray) -> np.ndarray:
        """V̇ = P a + Ṗ v + V̇₀."""
        along = lambda t: self.whole(self.move(s.q, s.v, t - s.t), s.v, t)[2]  # noqa: E731
        return self.projection(s.q, s.t) @ a + (0 if self.embedding is None else _rate(along, s.t, STEP / 5))

    def pose(self, q: np.ndarray, frame: str, t: float = 0.0) -> np.ndarray:
        tree, q, _ = self.whole(q, np.zeros(self.nv), t)
        return tree.pose(q, frame)

    def jacobian(self, q: np.ndarray, frame: str, t: float = 0.0, expressed_in: str = "world") -> np.ndarray:
        """J of the whole tree."""
        tree, q, _ = self.whole(q, np.zeros(self.nv), t)
        return tree.jacobian(q, frame, expressed_in=expressed_in)

    def twist(self, s: State, frame: str) -> np.ndarray:
        """(ω, v) of a frame, in its axes."""
        tree, q, v = self.whole(s.q, s.v, s.t)
        return tree.twist(q, v, frame, expressed_in="body")

    # -- the parts at a state --------------------------------------------------------------------------------------

    def drives(self) -> np.ndarray:
        """E (n, nv of the tree): a joint is driven by its motor, if it has one; nothing drives modes."""
        n = self.tree.nv
        E = np.zeros((self.nv, n))
        E[:n] = np.eye(n)
        for k, m in enumerate(self.motors):
            E[[m.joint, n + k], m.joint] = 0.0, 1.0
        return E

    def mass(self, s: State) -> np.ndarray:
        tree, q, _ = self.whole(s.q, s.v, s.t)
        P, n = self.projection(s.q, s.t), self.tree.nv
        motors = range(n, n + len(self.motors))
        M = P.T @ tree.mass_matrix(q) @ P
        M[motors, motors] = [m.B for m in self.motors]
        return M

    def bias(self, s: State) -> np.ndarray:
        """h (n,)."""
        tree, q, v = self.whole(s.q, s.v, s.t)
        return self.projection(s.q, s.t).T @ tree.inverse_dynamics(q, v, self.acceleration(s, np.zeros(self.nv)))

    @property
    def jumps(self) -> bool:
        """Whether impulses act: steps are then of first order (impulses.py)."""
        return bool(self.stops or self.dry or self.contacts)

    def load(self, s: State, dry: bool = True) -> np.ndarray:
        """Σ f + Jᵀw − h (n,), of joints that slide where they have dry friction, or without it."""
        n, nq, P = self.tree.nv, self.tree.nq, self.projection(s.q, s.t)
        total = -self.bias(s)
        for frame, wrench in self.wrenches:
            total += P.T @ (self.jacobian(s.q, frame, s.t, "body").T @ wrench(s))
        for k, m in enumerate(self.motors):
            at = nq - n + m.joint  # the joints of the machine have one coordinate each, after those of its base
            spring = m.K * (s.q[nq + k] - s.q[at]) + m.D * (s.v[n + k] - s.v[m.joint])
            total[[m.joint, n + k]] += spring, -spring
        for row, level in self.dry if dry else ():
            total[row] -= level * np.sign(s.v[row])
        return sum((f(s) for f in self.forces), total)

    def constraint_rows(self, q: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        """A (k, n) and b (k,): the rows with the given part of the velocity on their right-hand side."""
        if not self.rows:
            return np.zeros((0, self.nv)), np.zeros(0)
        A = np.vstack([r.A(q, t) for r in self.rows])
        return A @ self.projection(q, t), np.concatenate([r.speed(t) for r in self.rows]) - A @ self.given(q, t)

    def drift(self, s: State) -> np.ndarray:
        """Ȧv − ḃ (k,), along the motion at constant velocity."""

        def slip(t: float) -> np.ndarray:
            A, b = self.constraint_rows(self.move(s.q, s.v, t - s.t), t)
            return A @ s.v - b

        return _rate(slip, s.t)

    def move(self, q: np.ndarray, v: np.ndarray, h: float) -> np.ndarray:
        """q ⊕ h v."""
        n, k = self.tree.nq, self.tree.nv
        return np.concatenate([self.tree.integrate(q[:n], v[:k], h), q[n:] + h * v[k:]])

    # -- instants --------------------------------------------------------------------------------------------------

    def forward(self, s: State, tau: np.ndarray) -> np.ndarray:
        """a (n,) under joint forces τ after the actuators: M a − Aᵀλ = τ + load, A a = −drift."""
        M, (A, _) = self.mass(s), self.constraint_rows(s.q, s.t)
        k, right = len(A), tau + self.load(s)
        if not k:
            return np.linalg.solve(M, right)
        saddle = np.block([[M, -A.T], [A, np.zeros((k, k))]])
        return np.linalg.lstsq(saddle, np.concatenate([right, -self.drift(s)]), rcond=REDUNDANT * 1e-3)[0][: self.nv]

    def inverse(self, s: State, a: np.ndarray) -> np.ndarray:
        """E u of least norm for which a follows: Nᵀ E u = Nᵀ (M a − load), N the motions that the rows allow."""
        A, _ = self.constraint_rows(s.q, s.t)
        free = np.eye(self.nv)
        if len(A):
            _, size, V = np.linalg.svd(A)
            free = V[int((size > REDUNDANT * size[0]).sum()) :].T
        E, right = self.drives(), free.T @ (self.mass(s) @ a - self.load(s))
        return E @ np.linalg.lstsq(free.T @ E, right, rcond=REDUNDANT)[0]

    def project(self, s: State) -> State:
        """The nearest velocity that obeys the rows."""
        A, b = self.constraint_rows(s.q, s.t)
        return s._replace(v=s.v - np.linalg.pinv(A, rcond=REDUNDANT) @ (A @ s.v - b)) if len(A) else s

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
        A = np.vstack([np.eye(self.nv)[row], self.constraint_rows(s.q, s.t)[0]])
        saddle = np.block([[self.mass(s), -A.T], [A, np.zeros((len(A), len(A)))]])
        right = np.zeros(len(saddle))
        right[self.nv] = -(1 + e) * s.v[row]
        return s.v + np.linalg.lstsq(saddle, right, rcond=REDUNDANT * 1e-3)[0][: self.nv]

    def _unit(self, q: np.ndarray) -> np.ndarray:
        """q with the base's quaternion normalised."""
        if self.tree.nq > self.tree.nv:
            q = q.copy()
            q[3:7] /= np.linalg.norm(q[3:7])
        return q


def _rate(f: Callable[[float], np.ndarray], t: float, h: float = STEP) -> np.ndarray:
    """f′(t), by differences of fourth order."""
    return (8 * (f(t + h) - f(t - h)) - (f(t + 2 * h) - f(t - 2 * h))) / (12 * h)


def _after(s: State, rates: tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]], h: float) -> State:
    dq, dv, dx = rates
    return State(s.q + h * dq, s.v + h * dv, {n: x + h * dx[n] for n, x in s.x.items()}, s.t + h)
