"""Equations of motion to simulate: one class each for the rigid tree, sticking joints, closed loops and elastic joints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from torsor.errors import ArgumentError, ClosureError
from torsor.kernels import NO_LOSSES, Kernels, Losses, Spec
from torsor.mechanics.constraints.constrained_robot import Stabilization
from torsor.simulate import stiction
from torsor.simulate.bristles import Bristles, bristle_rows
from torsor.simulate.quantities import QUANTITIES
from torsor.simulate.singular import NoSingularPositions, SingularPositions

if TYPE_CHECKING:
    from torsor.mechanics.constraints import Constraint
    from torsor.mechanics.flexible import ElasticJoints
    from torsor.robot import Robot

Array: TypeAlias = np.ndarray
#: a function of (t, q, v)
Law = Callable[[float, Array, Array], Array]

#: largest closure error [m, rad] and velocity residual [m/s, rad/s] of a start on the constraints
OPEN = 1e-6
#: largest force of a hard stop, relative to the largest force of the problem
HARD = 1e4


class Memory(Protocol):
    """First-order states beside the motion, solved from the beginning of a step to any time within it."""

    felt: bool  #: whether the motion depends on them

    def begin(self, t: float, q: Array, v: Array, tau: Array) -> None: ...
    def states(self, t: float, q: Array, v: Array) -> list[Array]: ...
    def columns(self) -> dict[str, list[str]]: ...


@dataclass
class Frozen:
    """Constant within a step: the velocities at its beginning, and the joints that rest on their stops."""

    v: Array
    leaning: list[tuple[int, int]] = field(default_factory=list)  # (row of v, +1 at a lower stop or −1 at an upper one)


class System:
    """M(q) a + h(q, v) = τ + Jᵀf + ...: a robot's equations of motion on its manifold; this base class has no constraints.

    A subclass gives ``acceleration`` and ``mobility``.  The rest is for systems whose coordinates are not those of the
    robot's tree (``inertias``, ``own``, ``start``) or not independent (``project``, ``closure_error``).
    """

    inertias: tuple[float, ...] = ()  #: of coordinates behind those of the model
    dry_rows: tuple[int, ...] = ()  #: rows of v with dry friction
    memories: tuple[Memory, ...] = ()  #: states beside the motion
    one_kernel = False  #: whether a = f(q, v, τ) is a kernel of the robot, so that whole steps can be compiled
    advice = ", or an adaptive integrator"  #: for an implicit step that was not solved

    def __init__(self, robot: Robot):
        self.robot, self.model = robot, robot.model
        self.frozen = Frozen(np.zeros(0))

    @property
    def kernels(self) -> Kernels:
        """Kernels of steps and charts."""
        return self.robot.kernels.of(QUANTITIES)

    @property
    def singular_positions(self) -> SingularPositions | NoSingularPositions:
        """The check of each step of an adaptive integrator for positions where constraint rows lose rank."""
        return NoSingularPositions()

    def result_fields(self) -> dict[str, Any]:
        """Objects that the result needs to compute energies and residuals."""
        return {}

    def acceleration(self, t: float, q: Array, v: Array, tau: Array, *F: Array) -> Array:
        """a (nv,) at one state, under joint forces τ and wrenches F."""
        raise NotImplementedError

    def mobility(self, q: Array) -> Array:
        """∂a/∂τ (nv, nv): M⁻¹ of a tree."""
        raise NotImplementedError

    def held_acceleration(
        self, rows: Sequence[int], t: float, q: Array, v: Array, tau: Array, *F: Array
    ) -> tuple[Array, Array]:
        """(a, λ), (nv,) each: λ are the forces on ``rows`` that keep their accelerations zero.

        a = a₀ + W λ,    W_rr λ_r = −a₀_r
        """
        a, force = self.acceleration(t, q, v, tau, *F), np.zeros(len(v))
        if not rows:
            return a, force
        W = self.mobility(q)
        force[rows] = np.linalg.solve(W[np.ix_(rows, rows)], -a[rows])
        a = a + W @ force
        a[rows] = 0.0
        return a, force

    def under_wrenches(self, wrenches: Sequence[Law]) -> Callable[[float, Array, Array, Array], Array]:
        """a(t, q, v, τ) under wrenches that are functions of (t, q, v)."""

        def accelerate(t: float, q: Array, v: Array, tau: Array) -> Array:
            return self.acceleration(t, q, v, tau, *(w(t, *self.own(q, v)) for w in wrenches))

        return accelerate

    def own(self, q: Array, v: Array) -> tuple[Array, Array]:
        """The coordinates of the robot, without those of its motors."""
        return q, v

    def start(self, q: Array, v: Array, motors: Any) -> tuple[Array, Array]:
        """The initial state on the whole manifold, from the robot's q and v and ``motors`` as users give them."""
        if motors is not None:
            raise ArgumentError("motors= is the start of elastic joints' motors; without springs= there are none")
        return q, v

    def project(self, q: Array, v: Array, t: float) -> tuple[Array, Array]:
        """The nearest state that satisfies the constraints."""
        return q, v

    def closure_error(self, q: Array, t: float) -> float:
        """max |φ(q)| [m, rad], the error that :meth:`project` removes."""
        return 0.0


class RigidTree(System):
    """M a + h = τ + Jᵀf − losses, one kernel; hybrid dynamics where joints are held (F&O 11–14)."""

    def __init__(self, robot: Robot, frames: tuple[str, ...], losses: Losses = NO_LOSSES):
        super().__init__(robot)
        self.one_kernel = not frames
        self._still = np.zeros(robot.nv)

        @cache
        def entry(*names: str) -> Callable[..., Any]:
            return robot.kernels.kernel(Spec(tuple((name,) for name in names), frames, losses=losses)).__call__

        self._entry = entry

    def acceleration(self, t: float, q: Array, v: Array, tau: Array, *F: Array) -> Array:
        return self._entry("forward_dynamics")(q, v, tau, *F)

    def held_acceleration(
        self, rows: Sequence[int], t: float, q: Array, v: Array, tau: Array, *F: Array
    ) -> tuple[Array, Array]:
        held = np.zeros(len(v))
        held[rows] = 1.0
        a, force = self._entry("hybrid_acceleration", "hybrid_force")(q, v, self._still, tau, held, *F)
        return a, force - tau

    def under_wrenches(self, wrenches: Sequence[Law]) -> Callable[[float, Array, Array, Array], Array]:
        if wrenches:
            return super().under_wrenches(wrenches)
        entry = self._entry("forward_dynamics")
        return lambda t, q, v, tau: entry(q, v, tau)

    def mobility(self, q: Array) -> Array:
        """M⁻¹; M is the shorter kernel, and the kernel of M⁻¹ names the joint that moves no mass."""
        try:
            return np.linalg.inv(self.robot.mass_matrix(q))
        except np.linalg.LinAlgError:
            return self.robot.mass_matrix_inverse(q)


class StickingTree(System):
    """M a + h + φ = τ + Jᵀf, φ the friction of the joints' laws; which joints stick is solved with the accelerations.

    See :mod:`torsor.simulate.stiction`; LuGre friction has states beside the motion, see :mod:`torsor.simulate.bristles`.
    """

    def __init__(self, robot: Robot, frames: tuple[str, ...]):
        super().__init__(robot)
        self.dry_rows = stiction.sticking_rows(robot.model)
        self.memories = self._bristles = (Bristles(robot),) if bristle_rows(robot.model) else ()
        self._tree = RigidTree(robot, frames)  # friction is subtracted from τ, or solved for
        self._terms = robot.kernels.kernel(Spec((("mass_matrix",), ("inverse_dynamics",)), frames)).__call__
        self._still = np.zeros(robot.nv)

    def acceleration(self, t: float, q: Array, v: Array, tau: Array, *F: Array) -> Array:
        dry = stiction.dry_friction(self.model, v, load=tau)
        bristles = [m.forces(t, q, v) for m in self._bristles]
        if not self.dry_rows:
            return self._tree.acceleration(t, q, v, sum(map(np.negative, bristles), tau - dry.drag), *F)
        M, h = self._terms(q, v, self._still, *F)
        f = sum(map(np.negative, bristles), tau - h)
        if self.frozen.leaning:
            dry = _widen_at_stops(dry, self.frozen.leaning, HARD * (1 + float(np.abs(f).max(initial=0.0))))
        return stiction.accelerations(M, f, self.frozen.v, dry).x

    def mobility(self, q: Array) -> Array:
        return self.robot.mass_matrix_inverse(q) if self.dry_rows else self._tree.mobility(q)


def _widen_at_stops(dry: stiction.DryFriction, rows: Sequence[tuple[int, int]], hard: float) -> stiction.DryFriction:
    """The bounds of φ with those of a stop, which holds like friction that acts in one direction."""
    low, high = dry.hold[0].copy(), dry.hold[1].copy()
    for row, side in rows:
        if side > 0:
            low[row] -= hard
        else:
            high[row] += hard
    return dry._replace(hold=(low, high))


class ClosedLinkage(System):
    """M a + h = τ + Aᵀλ, A a = −Ȧv + ...: loops and constraints (MR §8.7).

    ``stabilization``: "projection" of each state, Baumgarte's (decay, stiffness), or None.
    """

    advice = ", or integrator='rk4'; is the linkage near a singular position (robot.constrained().mobility(q).rank)?"

    def __init__(
        self, robot: Robot, constraints: Sequence[Constraint], frames: tuple[str, ...], damping: bool, stabilization: Any
    ):
        super().__init__(robot)
        self.held, self.frames, self.damping = robot.constrained(*constraints), frames, damping
        self._projects = stabilization == "projection"
        self._gains = None if stabilization in ("projection", None) else Stabilization(*stabilization)
        self._timed = self.held.solver.equations.depends_on_time

    @property
    def singular_positions(self) -> SingularPositions:
        return SingularPositions(self.held)

    def result_fields(self) -> dict[str, Any]:
        return {"held": self.held}

    def acceleration(self, t: float, q: Array, v: Array, tau: Array, *F: Array) -> Array:
        if self.damping:
            tau = tau - self.robot.damping_force(v)
        wrenches = dict(zip(self.frames, F, strict=True)) or None
        time = self._time(t)
        return self.held.forward_dynamics(q, v, tau, wrenches, time=time, stabilization=self._gains, friction=False).a

    def mobility(self, q: Array) -> Array:
        return self.held.acceleration_projector(q) @ self.held.tree.mass_matrix_inverse(q)

    def project(self, q: Array, v: Array, t: float) -> tuple[Array, Array]:
        return self.held.project(q, v, time=self._time(t)) if self._projects else (q, v)

    def closure_error(self, q: Array, t: float) -> float:
        return float(np.abs(self.held.residual(q, time=self._time(t))).max(initial=0.0)) if self._projects else 0.0

    def start(self, q: Array, v: Array, motors: Any) -> tuple[Array, Array]:
        """The initial state, on the constraints to rounding; one that is not near them is refused."""
        q, v = super().start(q, v, motors)
        held, time = self.held, self._time(0.0)
        gap, slip = held.residual(q, time=time), held.slip(q, v, time=time)
        if np.abs(gap).max(initial=0.0) > OPEN:
            row = held.rows[int(np.argmax(np.abs(gap)))]
            raise ClosureError(
                f"the initial q violates constraint {row!r} by {np.abs(gap).max():.3g} [m, rad]; use robot.assemble(q)"
            )
        if np.abs(slip).max(initial=0.0) > OPEN:
            row = held.rows[int(np.argmax(np.abs(slip)))]
            raise ArgumentError(
                f"the initial v violates constraint {row!r} by {np.abs(slip).max():.3g} [m/s, rad/s]; "
                "use robot.constrained().project_velocity(q, v)"
            )
        return held.project(q, v, time=time)

    def _time(self, t: float) -> float | None:
        return t if self._timed else None


class ElasticTree(System):
    """Motors and links with springs between them (MR §8.9.5): coordinates (q, θ), velocities (v, ω)."""

    def __init__(self, elastic: ElasticJoints, frames: tuple[str, ...]):
        super().__init__(elastic.robot)
        self.elastic, self.model = elastic, elastic.elastic.model
        self.inertias = tuple(float(t.B) for t in elastic.elastic.transmissions)
        self._entry = elastic.kernels("forward_dynamics", frames=frames).__call__

    @property
    def kernels(self) -> Kernels:
        return self.elastic.kernels.of(QUANTITIES)

    def result_fields(self) -> dict[str, Any]:
        return {"elastic": self.elastic}

    def acceleration(self, t: float, q: Array, v: Array, tau: Array, *F: Array) -> Array:
        n, k = self.robot.nq, self.robot.nv
        return np.concatenate(self._entry(q[:n], v[:k], q[n:], v[k:], tau, *F))

    def mobility(self, q: Array) -> Array:
        k, B = self.robot.nv, np.array(self.inertias)
        out = np.zeros((k + len(B), k + len(B)))
        out[:k, :k] = np.linalg.inv(self.elastic.kernels("mass_matrix")(q[: self.robot.nq]))
        out[range(k, len(out)), range(k, len(out))] = 1 / B
        return out

    def own(self, q: Array, v: Array) -> tuple[Array, Array]:
        return q[: self.robot.nq], v[: self.robot.nv]

    def start(self, q: Array, v: Array, motors: Any) -> tuple[Array, Array]:
        """(q, θ), (v, ω): the motors start with their joints unless ``motors`` is given."""
        joints = [self.robot.joint(n) for n in self.elastic.joints]
        theta, omega = (np.asarray(x, float) for x in motors) if motors else (
            np.array([q[j.q_slice.start] for j in joints]), np.array([v[j.v_slice.start] for j in joints])
        )  # fmt: skip
        if theta.shape != (len(joints),) or omega.shape != (len(joints),):
            raise ArgumentError(f"motors are (θ, ω), ({len(joints)},) each, for {', '.join(self.elastic.joints)}")
        return np.concatenate([q, theta]), np.concatenate([v, omega])
