"""The simulated system: acceleration of a rigid, sticking, constrained or elastic robot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from torsor.errors import ArgumentError, ClosureError
from torsor.kernels import NO_LOSSES, Kernels, Losses, Spec
from torsor.mechanics.constraints.constrained_robot import ConstrainedRobot, Stabilization
from torsor.model.model import Model
from torsor.simulate import stiction
from torsor.simulate.bristles import Bristles, bristle_rows
from torsor.simulate.quantities import QUANTITIES

if TYPE_CHECKING:
    from torsor.mechanics.constraints import Constraint
    from torsor.mechanics.flexible import ElasticJoints
    from torsor.robot import Robot

Array: TypeAlias = np.ndarray

#: a loop open by more than this [m, rad], or torn at more [m/s, rad/s], is no start of a simulation
OPEN = 1e-6
#: what a hard stop can hold, against the largest force there is
HARD = 1e4


@dataclass
class Frozen:
    """What does not change within a step: which joints slid, and which way, when it began; which lean on their stops."""

    v: Array
    leaning: list[tuple[int, int]] = field(default_factory=list)  # (row of v, +1 at a lower stop or −1 at an upper one)


@dataclass
class System:
    """A manifold and a(t, q, v, τ, *wrenches) on it; ``inertias`` belong to coordinates behind those of the model."""

    robot: Robot
    model: Model
    dynamics: Callable[..., Array]
    mobility: Callable[[Array], Array]  #: M⁻¹ of what may move, (nv, nv)
    holding: Callable[..., tuple[Array, Array]] | None = None  #: (a, joint forces) of (t, q, v, τ, held, *wrenches), quickly
    inertias: tuple[float, ...] = ()
    project: Callable[[Array, Array, float], tuple[Array, Array]] | None = None
    held: ConstrainedRobot | None = None
    elastic: ElasticJoints | None = None
    sticking: tuple[int, ...] = ()  #: rows of v with dry friction
    direct: Callable[[], Callable[..., Array]] | None = None  #: makes a(q, v, τ), where that is all there is to it
    bristles: Bristles | None = None  #: of joints whose friction has a memory
    frozen: Frozen = field(default_factory=lambda: Frozen(np.zeros(0)))

    @property
    def kernels(self) -> Kernels:
        """Those of steps and charts, kept with the robot, or with its elastic joints."""
        return (self.robot if self.elastic is None else self.elastic).kernels.of(QUANTITIES)

    def stopped(self, rows: Sequence[int], t: float, q: Array, v: Array, tau: Array, *F: Array) -> tuple[Array, Array]:
        """a, with some joints held where they are, and what holds them: (a, λ), (nv,) each; λ counts in the rows held."""
        if self.holding is not None:
            held = np.zeros(len(v))
            held[rows] = 1.0
            return self.holding(t, q, v, tau, held, *F)
        a, force = self.dynamics(t, q, v, tau, *F), np.zeros(len(v))
        if not rows:
            return a, force
        W = self.mobility(q)
        force[rows] = np.linalg.solve(W[np.ix_(rows, rows)], -a[rows])
        a = a + W @ force
        a[rows] = 0.0
        return a, force


def rigid(robot: Robot, frames: tuple[str, ...], losses: Losses = NO_LOSSES) -> System:
    """a = M⁻¹(τ − h + Jᵀf − losses), one kernel; another one where joints are held."""
    still = np.zeros(robot.nv)

    @cache
    def entry(*names: str) -> Callable[..., Any]:
        return robot.kernels.kernel(Spec(tuple((name,) for name in names), frames, losses=losses)).__call__

    def dynamics(t: float, q: Array, v: Array, tau: Array, *F: Array) -> Array:
        return entry("forward_dynamics")(q, v, tau, *F)

    def holding(t: float, q: Array, v: Array, tau: Array, held: Array, *F: Array) -> tuple[Array, Array]:
        a, force = entry("hybrid_acceleration", "hybrid_force")(q, v, still, tau, held, *F)
        return a, force - tau

    def mobility(q: Array) -> Array:
        """For impacts, which are few: M is the shorter kernel; the other one says which joint moves no mass."""
        try:
            return np.linalg.inv(robot.mass_matrix(q))
        except np.linalg.LinAlgError:
            return robot.mass_matrix_inverse(q)

    direct = None if frames else lambda: entry("forward_dynamics")
    return System(robot, robot.model, dynamics, mobility, holding, direct=direct)


def sticking(robot: Robot, frames: tuple[str, ...]) -> System:
    """True dry friction: which joints stick is solved with the accelerations (:mod:`torsor.simulate.stiction`)."""
    model = robot.model
    rows = stiction.sticking_rows(model)
    bristles = Bristles(robot) if bristle_rows(model) else None
    if rows:
        return _held(robot, frames, rows, bristles)
    return rigid(robot, frames, Losses(friction=True)) if bristles is None else _bending(robot, frames, bristles)


def _bending(robot: Robot, frames: tuple[str, ...], bristles: Bristles) -> System:
    """LuGre friction, whose bristles are a state beside the motion, and perhaps viscous laws; no joint sticks for good."""
    system = rigid(robot, frames, NO_LOSSES)  # friction is subtracted from τ below
    bare = system.dynamics

    def dynamics(t: float, q: Array, v: Array, tau: Array, *F: Array) -> Array:
        drag = stiction.dry_friction(robot.model, v, load=tau).drag
        return bare(t, q, v, tau - drag - bristles.forces(t, q, v), *F)

    return replace(system, dynamics=dynamics, holding=None, bristles=bristles, direct=None)


def _held(robot: Robot, frames: tuple[str, ...], rows: tuple[int, ...], bristles: Bristles | None) -> System:
    """Joints that dry friction can hold, on these rows of v."""
    model = robot.model
    kernel = robot.kernels.kernel(Spec((("mass_matrix",), ("inverse_dynamics",)), frames))  # friction is solved for
    terms, still = kernel.__call__, np.zeros(model.nv)

    def dynamics(t: float, q: Array, v: Array, tau: Array, *F: Array) -> Array:
        M, h = terms(q, v, still, *F)
        f, dry = tau - h, stiction.dry_friction(model, v, load=tau)
        if bristles is not None:
            f = f - bristles.forces(t, q, v)
        if system.frozen.leaning:
            dry = _leaning(dry, system.frozen.leaning, HARD * (1 + float(np.abs(f).max(initial=0.0))))
        return stiction.accelerations(M, f, system.frozen.v, dry).x

    system = System(robot, model, dynamics, robot.mass_matrix_inverse, sticking=rows, bristles=bristles)
    return system


def _leaning(dry: stiction.DryFriction, rows: Sequence[tuple[int, int]], hard: float) -> stiction.DryFriction:
    """A stop holds like friction that acts one way only."""
    low, high = dry.hold[0].copy(), dry.hold[1].copy()
    for row, side in rows:
        if side > 0:
            low[row] -= hard
        else:
            high[row] += hard
    return dry._replace(hold=(low, high))


def closed_system(
    robot: Robot, constraints: Sequence[Constraint], frames: tuple[str, ...], damping: bool, stabilization: Any
) -> System:
    """M a + h = τ + Aᵀλ (MR §8.7); drift is projected away, pulled back (Baumgarte), or left (None)."""
    held = robot.constrained(*constraints)
    timed = held.solver.equations.depends_on_time
    gains = None if stabilization in ("projection", None) else Stabilization(*stabilization)

    def dynamics(t: float, q: Array, v: Array, tau: Array, *F: Array) -> Array:
        if damping:
            tau = tau - robot.damping_force(v)
        wrenches = dict(zip(frames, F, strict=True)) or None
        clock = t if timed else None
        return held.forward_dynamics(q, v, tau, wrenches, time=clock, stabilization=gains, friction=False).a

    def project(q: Array, v: Array, t: float) -> tuple[Array, Array]:
        return held.project(q, v, time=t if timed else None)

    def mobility(q: Array) -> Array:
        return held.acceleration_projector(q) @ held.tree.mass_matrix_inverse(q)

    projected = project if stabilization == "projection" else None
    return System(robot, robot.model, dynamics, mobility, project=projected, held=held)


def consistent_start(system: System, q: Array, v: Array, t: float) -> tuple[Array, Array]:
    """The start, on the constraints to rounding; one that is not near them is refused."""
    held = system.held
    if held is None:
        return q, v
    clock = {"time": t} if held.solver.equations.depends_on_time else {}
    gap, slip = held.residual(q, **clock), held.slip(q, v, **clock)
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
    return held.project(q, v, **clock)


def on_springs(elastic: ElasticJoints, frames: tuple[str, ...]) -> System:
    """Motors and links apart, springs between (MR §8.9.5): coordinates (q, θ), velocities (v, ω)."""
    robot = elastic.robot
    n, k = robot.nq, robot.nv
    entry = elastic.kernels("forward_dynamics", frames=frames).__call__

    def dynamics(t: float, q: Array, v: Array, tau: Array, *F: Array) -> Array:
        return np.concatenate(entry(q[:n], v[:k], q[n:], v[k:], tau, *F))

    def mobility(q: Array) -> Array:
        out = np.zeros((k + len(B), k + len(B)))
        out[:k, :k] = np.linalg.inv(elastic.kernels("mass_matrix")(q[:n]))
        out[range(k, len(out)), range(k, len(out))] = 1 / np.array(B)
        return out

    B = tuple(float(t.B) for t in elastic.elastic.transmissions)
    return System(robot, elastic.elastic.model, dynamics, mobility, inertias=B, elastic=elastic)
