"""Modes of contacts: open, sticking or slipping; constant between events, so that the motion is smooth.

    M a + h = τ + Σ Jᵀλ                                                        (1)
    open    λ = 0
    sticks  J a + J̇ v = 0,          λ of three components                      (2)
    slips   J_n a + J̇_n v = 0,      λ = λ_n (n − μ e),  e = u_t/|u_t|           (3)

At events the laws of contact decide the next mode, at the level of accelerations (Pfeiffer & Glocker 1996, chapter 8).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from torsor.errors import ArgumentError, TorsorError
from torsor.model.terms.contacts import contacts_of
from torsor.simulate import contact_problem
from torsor.simulate.quantities import QUANTITIES
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.simulate.system import System

OPEN, STICKS, SLIPS = 0, 1, 2
#: distance [m] and velocity [m/s] of contacts that touch, and do not slip or part
NEAR, REST = 1e-10, 1e-9
#: an initial gap of at most this size is zero [m]
OUTSIDE = 1e-9
#: depth at which a contact touches that parted without speed [m], above rounding
TOUCH = 1e-12
#: speed below which the direction of slip hardly turns [m/s]: it turns at a rate of μ g/|u_t|, too fast for explicit steps
SLOWEST = 1e-6
#: violation of the laws, relative to the largest force, at which a mode ends; and at which a mode that begins is wrong
SLACK, WRONG = 1e-10, 5e-11
#: accelerations and forces below this, relative to the largest, do not decide a mode by themselves; exact ones of (1)–(3) do
COARSE = 1e-7
#: speed of a slip in the problem that decides modes, relative to its accelerations: its direction is given
GIVEN = 1e4
#: rank of the rows of contacts
DEPENDENT = 1e-10
#: least n·M⁻¹(n − μ e) of a slip relative to n·M⁻¹n: less, and no force λ_n ≥ 0 holds it
JAMMED = 1e-6


class ContactJams(TorsorError, ArithmeticError):
    """No forces of contact satisfy the laws of contact and of friction: an impact without collision (Painlevé)."""


class ContactEdge(TorsorError, ArithmeticError):
    """The normal of a surface jumps, so that motion in contact is not smooth."""


JAMS = (
    "friction jams {}: no contact forces satisfy Coulomb's law there (Painlevé's paradox), and an impact without collision "
    "follows; the fixed steps integrator='semi_implicit' and 'implicit' find it"
)


#: velocity off a surface in a step, relative to the largest of v, that no error of a method explains
EDGE = 0.05
EDGES = (
    "contact {} moves over an edge of its surface, where the normal jumps; take fixed steps, integrator='semi_implicit', or a "
    "surface that is smooth"
)


class Kinematics(NamedTuple):
    """Gaps and velocities of all contacts, in rows of two tangents and the normal of each, with J and J̇ v."""

    gap: Array
    u: Array  #: (k, 3)
    J: Array  #: (k, 3, nv)
    drift: Array  #: (k, 3)
    axes: Array  #: (k, 3, 3)


class ContactMode(NamedTuple):
    """What each contact does, and the direction e (k, 2) of its slip at the beginning of the step."""

    kinds: tuple[int, ...]
    slip: Array

    def of(self, *kinds: int) -> list[int]:
        """The contacts of some kinds."""
        return [k for k, kind in enumerate(self.kinds) if kind in kinds]


class Solution(NamedTuple):
    """a (nv,), λ (k, 3) in the axes of the contacts, whether rows depend on each other, and u̇ (k, 3)."""

    a: Array
    force: Array
    redundant: bool
    rate: Array

    @property
    def size(self) -> float:
        """The largest force [N]."""
        return float(np.abs(self.force).max(initial=0.0))


class Touching:
    """The contacts of a system, with their mode."""

    def __init__(self, system: System):
        self.system = system
        found = contacts_of(system.robot.model)
        self.names = list(found)
        self.mu = np.array([float(c.friction) for c in found.values()])
        self.restitution = np.array([float(c.restitution) for c in found.values()])
        self._kernel = system.robot.kernels.of(QUANTITIES)("contact motion").__call__
        self.mode = ContactMode((OPEN,) * len(found), np.zeros((len(found), 2)))
        #: added to gaps of open contacts, so that one that parts is not at once found to touch
        self.slack = np.zeros(len(found))
        self._last: tuple[bytes, bytes, Kinematics] | None = None
        self._solved: tuple[object, Solution] | None = None
        self._shared: tuple[Solution, Solution] | None = None
        self._within: Array | None = None  #: forces of redundant points that obeyed the laws in this mode

    def at(self, q: Array, v: Array) -> Kinematics:
        """All contacts at a state."""
        key = q.tobytes(), v.tobytes()
        if self._last is None or self._last[:2] != key:
            gap, J, drift, axes = self._kernel(q, v)
            n = len(gap)
            self._last = *key, Kinematics(gap, (J @ v).reshape(n, 3), J.reshape(n, 3, -1), drift.reshape(n, 3), axes)
        return self._last[2]

    # -- motion in a mode ----------------------------------------------------------------------------------------

    def change(self, mode: ContactMode, q: Array, v: Array) -> None:
        """Set the mode that begins at a state: the gap of a contact that bounces is zero there, bit for bit."""
        self.mode, self._solved, self._within = mode, None, None
        kin = self.at(q, v)
        for k in mode.of(OPEN):
            if kin.gap[k] <= NEAR:
                self.slack[k] = -kin.gap[k] if kin.u[k, 2] > REST else TOUCH

    def solution(self, t: float, q: Array, v: Array, tau: Array, *F: Array) -> Solution:
        """a and λ in the present mode; those of the last state are kept."""
        key = (t, q.tobytes(), v.tobytes(), tau.tobytes(), tuple(f.tobytes() for f in F))
        if self._solved is None or self._solved[0] != key:
            free, W = self.system.acceleration(t, q, v, tau, *F), self.system.inverse_mass(q)
            self._solved = key, self.solve(self.mode, self.at(q, v), free, W)
        return self._solved[1]

    def solve(self, mode: ContactMode, kin: Kinematics, free: Array, W: Array, near: Array | None = None) -> Solution:
        """(1)–(3) from the acceleration without contacts and W = M⁻¹; of redundant points the least forces, or the nearest."""
        touching = mode.of(STICKS, SLIPS)
        force = np.zeros_like(kin.u)
        if not touching:
            return Solution(free, force, False, kin.J @ free + kin.drift)
        rows, sources = [], []  # (contact, axis), and forces of each unknown in the axes of its contact
        for k in touching:
            if mode.kinds[k] == STICKS:
                rows += [(k, axis) for axis in range(3)]
                sources += [(k, unit) for unit in np.eye(3)]
            else:
                rows.append((k, 2))
                sources.append((k, np.array([*(-self.mu[k] * self.direction(mode, k, kin)), 1.0])))
        A = np.array([kin.J[k, axis] for k, axis in rows])
        B = W @ np.array([unit @ kin.J[k] for k, unit in sources]).T
        K, size = A @ B, np.sqrt(np.einsum("ij,jk,ik->i", A, W, A))
        for i, (k, _) in enumerate(rows):
            if mode.kinds[k] == SLIPS and K[i, i] < JAMMED * size[i] ** 2:
                raise ContactJams(JAMS.format(self.names[k]))
        right = -(A @ free + np.array([kin.drift[k, axis] for k, axis in rows]))
        guess = np.zeros(len(K)) if near is None else np.array([near[k, axis] for k, axis in rows])
        x, _, rank, _ = np.linalg.lstsq(K, right - K @ guess, rcond=DEPENDENT)
        x = guess + x
        for y, (k, unit) in zip(x, sources, strict=True):
            force[k] += y * unit
        a = free + B @ x
        return Solution(a, force, rank < len(K), kin.J @ a + kin.drift)

    def direction(self, mode: ContactMode, k: int, kin: Kinematics) -> Array:
        """e of a contact that slips; it turns along with u_t, and passes u_t = 0 as a straight line does.

        e ∝ ±u_t + δ e₀/(1 + |u_t|²/δ²), δ = SLOWEST
        """
        u, e = kin.u[k, :2], mode.slip[k]
        if self.mu[k] == 0:
            return e
        turned = (u if e @ u >= 0 else -u) + e * (SLOWEST / (1 + (u @ u) / SLOWEST**2))
        along: Array = turned / np.hypot(*turned)
        return along

    # -- which mode ----------------------------------------------------------------------------------------------

    def decide(self, t: float, q: Array, v: Array, tau: Array, *F: Array) -> ContactMode:
        """The mode of the motion that follows a state, in which contacts that approach have had their impact."""
        kin = self.at(q, v)
        free, W = self.system.acceleration(t, q, v, tau, *F), self.system.inverse_mass(q)
        touching = np.flatnonzero((kin.gap <= NEAR) & (np.abs(kin.u[:, 2]) <= REST)).tolist()
        kinds, slip = np.zeros(len(kin.gap), int), np.zeros_like(self.mode.slip)
        speed = np.hypot(kin.u[:, 0], kin.u[:, 1])
        slides = [k for k in touching if speed[k] > REST and self.mu[k] > 0]
        slip[slides] = kin.u[slides, :2] / speed[slides, None]
        if touching:
            found, size = self._forces_of_laws(kin, touching, slides, slip, free, W)
            for k, lam, w in zip(touching, found.impulses.reshape(-1, 3), found.u.reshape(-1, 3), strict=True):
                if lam[2] <= 0 and w[2] > COARSE * size:
                    continue
                sticks = self.mu[k] > 0 and k not in slides and np.hypot(w[0], w[1]) <= COARSE * size
                kinds[k] = STICKS if sticks else SLIPS
                if not sticks and k not in slides and self.mu[k] > 0:
                    against = -lam[:2] if lam[:2].any() else w[:2]
                    slip[k] = against / np.hypot(*against)
            self._correct(kinds, slip, touching, kin, free, W, found)
        return ContactMode(tuple(kinds.tolist()), slip)

    def _forces_of_laws(
        self,
        kin: Kinematics,
        touching: list[int],
        slides: list[int],
        slip: Array,
        free: Array,
        W: Array,
        guess: Array | None = None,
    ) -> tuple[contact_problem.Solved, float]:
        """Forces by the laws of contact, and the largest acceleration without them; slips have their direction."""
        J, n = np.concatenate([kin.J[k] for k in touching]), len(touching)
        w = (kin.J[touching] @ free + kin.drift[touching]).reshape(n, 3)
        size = float(np.abs(w).max())
        for i, k in enumerate(touching):
            if k in slides:
                w[i, :2] = GIVEN * size * slip[k]
        found = contact_problem.solve(J @ W @ J.T, w.ravel(), self.mu[touching].tolist(), guess)
        u = found.u.reshape(n, 3)
        worst = found.residual * float(np.abs(w).max())
        stopped = [k for i, k in enumerate(touching) if k in slides and u[i, :2] @ slip[k] < GIVEN * size / 2]
        if worst > COARSE * size or stopped:
            raise ContactJams(JAMS.format(" and ".join(self.names[k] for k in stopped or touching)))
        return found, size

    def _correct(
        self,
        kinds: Array,
        slip: Array,
        touching: list[int],
        kin: Kinematics,
        free: Array,
        W: Array,
        found: contact_problem.Solved,
    ) -> None:
        """Change kinds that the exact forces of (1)–(3) contradict, each contact once or twice at most."""
        by_laws = free + W @ np.concatenate([kin.J[k] for k in touching]).T @ found.impulses
        for _ in range(2 * len(touching)):
            s = self.solve(ContactMode(tuple(kinds.tolist()), slip), kin, free, W)
            most = float(np.abs(by_laws).max(initial=0.0)) + float(np.abs(free).max(initial=0.0))
            if s.redundant and np.abs(s.a - by_laws).max() <= COARSE * most:
                return  # other forces of the same motion satisfy the laws
            wrong = self._first_wrong(kinds, touching, s, most)
            if wrong is None:
                return
            k, kind = wrong
            if kind == SLIPS:
                slip[k] = -s.force[k, :2] / np.hypot(*s.force[k, :2])
            kinds[k] = kind

    def _first_wrong(self, kinds: Array, touching: list[int], s: Solution, most: float) -> tuple[int, int] | None:
        """A contact that violates the laws, and its next kind."""
        least = WRONG * s.size
        for k in touching:
            if kinds[k] != OPEN and s.force[k, 2] < -least:
                return k, OPEN
        for k in touching:
            if kinds[k] == STICKS and self.excess(s, k) > least:
                return k, SLIPS
        for k in touching:
            if kinds[k] == OPEN and s.rate[k, 2] < -COARSE * most:
                return k, STICKS if self.mu[k] > 0 else SLIPS
        return None

    def excess(self, s: Solution, k: int) -> float:
        """|λ_t| − μ λ_n [N]."""
        return float(np.hypot(s.force[k, 0], s.force[k, 1]) - self.mu[k] * s.force[k, 2])

    def forces_within_laws(self, t: float, q: Array, v: Array, tau: Array, *F: Array) -> Solution:
        """The solution in the present mode; redundant points have other forces of the same motion, if these obey the laws.

        Those nearest to the forces that obeyed them last, else a solution of the laws.
        """
        s = self.solution(t, q, v, tau, *F)
        if not s.redundant or self._obeys(s):
            return s
        if self._shared is None or self._shared[0] is not s:
            self._shared = s, self._share(s, self.at(q, v), self.system.acceleration(t, q, v, tau, *F), q)
        return self._shared[1]

    def _into_sets(self, force: Array) -> Array:
        """Forces that only push, within the bounds of friction where they stick."""
        force = force.copy()
        force[:, 2] = np.maximum(force[:, 2], 0.0)
        for k in self.mode.of(STICKS):
            size, bound = np.hypot(*force[k, :2]), self.mu[k] * force[k, 2]
            force[k, :2] *= bound / size if size > bound else 1.0
        return force

    def _obeys(self, s: Solution, slack: float = SLACK) -> bool:
        """Whether forces obey the laws of contact."""
        least = slack * s.size
        touching, sticking = self.mode.of(STICKS, SLIPS), self.mode.of(STICKS)
        return all(s.force[k, 2] >= -least for k in touching) and all(self.excess(s, k) <= least for k in sticking)

    def _share(self, s: Solution, kin: Kinematics, free: Array, q: Array) -> Solution:
        """Other forces of the same motion, which obey the laws if there are any."""
        mode, touching, W = self.mode, self.mode.of(STICKS, SLIPS), self.system.inverse_mass(q)
        if self._within is not None and self._obeys(near := self.solve(mode, kin, free, W, self._within), COARSE):
            return near._replace(force=self._into_sets(near.force))
        slip = mode.slip.copy()
        slides = [k for k in mode.of(SLIPS) if self.mu[k] > 0]
        for k in slides:
            slip[k] = self.direction(mode, k, kin)
        try:
            found, _ = self._forces_of_laws(kin, touching, slides, slip, free, W, s.force[touching].ravel())
        except ContactJams:
            return s
        force = np.zeros_like(s.force)
        force[touching] = found.impulses.reshape(-1, 3)
        a = free + W @ np.concatenate([kin.J[k] for k in touching]).T @ found.impulses
        most = float(np.abs(a).max()) + float(np.abs(free).max())
        if np.abs(a - s.a).max() > COARSE * most:
            return s
        self._within = force
        return s._replace(force=self._into_sets(force))

    # -- projection ----------------------------------------------------------------------------------------------

    def start(self, q: Array, v: Array) -> Array:
        """The initial q, with contacts that touch to rounding on their surfaces; one below its surface is refused."""
        gap = self.at(q, v).gap
        k = int(np.argmin(gap))
        if gap[k] < -OUTSIDE:
            raise ArgumentError(
                f"contact {self.names[k]!r} starts {-gap[k]:.3g} m inside its surface; move it out, or take fixed steps, "
                "integrator='semi_implicit', which push it out"
            )
        return self.onto_contacts(q, v, np.flatnonzero(np.abs(gap) <= OUTSIDE).tolist())[0]

    def closure_error(self, q: Array) -> float:
        """The largest distance of contacts that touch in the present mode [m]."""
        touching = self.mode.of(STICKS, SLIPS)
        return float(np.abs(self.at(q, np.zeros(self.system.robot.nv)).gap[touching]).max()) if touching else 0.0

    def onto_contacts(self, q: Array, v: Array, touching: list[int] | None = None) -> tuple[Array, Array]:
        """The nearest state at which the contacts that touch have φ = 0, those of the present mode also u = 0.

        q ← q ⊖ M⁻¹J_nᵀ(J_n M⁻¹J_nᵀ)⁻¹φ,    v ← v − M⁻¹Jᵀ(J M⁻¹Jᵀ)⁻¹u
        """
        closed = self.mode.of(STICKS, SLIPS) if touching is None else touching
        if not closed:
            return q, v
        for _ in range(4):
            kin = self.at(q, v)
            if np.abs(kin.gap[closed]).max() <= 1e-15:
                break
            A = kin.J[closed, 2]
            B = self.system.inverse_mass(q) @ A.T
            q = self.system.robot.integrate(q, -B @ np.linalg.lstsq(A @ B, kin.gap[closed], rcond=DEPENDENT)[0], 1.0)
        if touching is None:
            kin = self.at(q, v)
            if np.abs(kin.u[closed, 2]).max() > EDGE * (1e-3 + np.abs(v).max()):
                k = max(closed, key=lambda k: abs(kin.u[k, 2]))
                raise ContactEdge(EDGES.format(self.names[k]))
            v = self.without_velocities(q, v, [(k, 2) for k in closed] + [(k, i) for k in self.mode.of(STICKS) for i in (0, 1)])
        return q, v

    def without_velocities(self, q: Array, v: Array, rows: list[tuple[int, int]]) -> Array:
        """The nearest v with u = 0 in rows (contact, axis)."""
        kin = self.at(q, v)
        u = np.array([kin.u[row] for row in rows])
        if not len(rows) or np.abs(u).max() <= 1e-16:
            return v
        A = np.array([kin.J[row] for row in rows])
        B = self.system.inverse_mass(q) @ A.T
        return v - B @ np.linalg.lstsq(A @ B, u, rcond=DEPENDENT)[0]
