"""Equations of motion to simulate: one class each for the tree and for loops and constraints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from torsor.algorithms.equation import EquationOfMotion
from torsor.algorithms.equation.settle import SHARES
from torsor.errors import ArgumentError
from torsor.kernels import Kernels, Spec
from torsor.mechanics.constraints.motion import Stabilization
from torsor.model.terms.constraint import PROJECTION, VELOCITY
from torsor.model.terms.stops import Stops
from torsor.simulate import complementarity, stiction
from torsor.simulate.held_rows import check_start
from torsor.simulate.quantities import QUANTITIES
from torsor.simulate.singular import NoSingularPositions, SingularPositions
from torsor.support.locks import cached_property

if TYPE_CHECKING:
    from torsor.robot import Robot
    from torsor.simulate.modes import Mode
    from torsor.simulate.term_states import TermStates

Array: TypeAlias = np.ndarray
#: a function of (t, q, v)
Law = Callable[[float, Array, Array], Array]

#: the accuracy of ∂a/∂τ under constraints, relative to its largest entry: smaller mobilities of held joints are none
DEPENDENT = 1e-9
#: closure error [m, rad] that one Newton step reduces to rounding, and steps after which the null space is used
SETTLED, NEWTON_STEPS = 1e-8, 4
#: velocity of joints that constraints tie to others at rest, or slip of a constraint, that is rounding [rad/s, m/s]
AT_REST = 1e-9


class System:
    """M(q) a + h(q, v) + φ = τ + Jᵀf + ...: a robot's equations of motion on its manifold; this base class has no constraints.

    φ is the friction of joints that can stick: dry friction holds joints at rest and has one direction in each mode (MR
    §8.9.4), LuGre friction has internal states.  All other terms are in the kernels of ``smooth``, the robot without these and
    without stops.  A subclass implements ``acceleration`` and ``inverse_mass``.  The rest is for systems whose coordinates are
    not independent (``start``, ``project``, ``closure_error``).
    """

    one_kernel = False  #: whether a = f(q, v, τ) is a kernel of the robot, so that whole steps can be compiled
    dependent = False  #: whether constraints tie coordinates together, so that ∂a/∂τ may be singular
    rounding = complementarity.ROUNDING  #: of ∂a/∂τ, relative to its largest entry
    advice = ", or an adaptive integrator"  #: for an implicit step that was not solved

    def __init__(self, robot: Robot):
        self.robot, self.model = robot, robot.model
        rubbing = [term for term in robot.model.terms if term.kind == "friction"]
        sticks = [t.name for t in rubbing if "step" in t.cannot(robot.model) or t.states(robot.model).size]
        stops = [term.name for term in robot.model.terms if isinstance(term, Stops)]
        self.smooth = robot.without_terms(*sticks, *stops) if sticks or stops else robot
        rest = zip(robot.model.friction, self.smooth.model.friction, strict=True)
        self.rubbing = replace(robot.model, friction=tuple(() if b else a for a, b in rest))
        self.sticks = bool(sticks)
        self.dry_rows = stiction.sticking_rows(self.rubbing)  #: rows of v with dry friction
        self.transmits = EquationOfMotion(robot.model).transmits
        self.states: TermStates | None = None  #: of this run

    @property
    def kernels(self) -> Kernels:
        """Kernels of steps and charts."""
        return self.robot.kernels.of(QUANTITIES)

    @property
    def singular_positions(self) -> SingularPositions | NoSingularPositions:
        """Finds positions where constraint rows lose rank in the steps of an adaptive integrator."""
        return NoSingularPositions()

    def result_fields(self) -> dict[str, Any]:
        """Objects that the result needs to compute energies and residuals."""
        return {}

    def acceleration(self, t: float, q: Array, v: Array, tau: Array, *F: Array) -> Array:
        """a (nv,) at one state, under joint forces τ and wrenches F."""
        raise NotImplementedError

    def inverse_mass(self, q: Array, t: float = 0.0) -> Array:
        """∂a/∂τ (nv, nv): M⁻¹ of a tree; t matters where constraints depend on time."""
        raise NotImplementedError

    def held_acceleration(
        self, rows: Sequence[int], t: float, q: Array, v: Array, tau: Array, *F: Array
    ) -> tuple[Array, Array]:
        """(a, λ), (nv,) each: λ are the forces on ``rows`` that keep their accelerations zero.

        a = a₀ + W λ
        W_rr λ_r = −a₀_r
        """
        a, force = self.acceleration(t, q, v, tau, *F), np.zeros(len(v))
        W = self.inverse_mass(q, t)
        force[rows] = np.linalg.lstsq(W[np.ix_(rows, rows)], -a[rows], rcond=self.rounding)[0]
        a = a + W @ force
        a[rows] = 0.0
        return a, force

    def dry_friction(self, v: Array, tau: Array) -> stiction.DryFriction:
        """The levels of dry friction at a velocity, under joint forces τ."""
        return stiction.dry_friction(self.rubbing, v, tau=tau)

    def friction(self, t: float, q: Array, v: Array, tau: Array, side: Array) -> Array:
        """φ = φ_kinetic + drag + bristles (nv,), of joints that slide in the direction ``side``, ±1 where friction is dry."""
        dry = self.dry_friction(v, tau)
        phi = dry.drag + np.where(side > 0, dry.slide[1], np.where(side < 0, dry.slide[0], 0.0))
        return phi if self.states is None else phi + self.states.friction(t, q, v, tau)

    def motion(self, mode: Mode, t: float, q: Array, v: Array, tau: Array, *F: Array) -> tuple[Array, Array]:
        """(a, λ), (nv,) each, in a mode: λ are the forces that hold joints at rest."""
        if self.sticks:
            tau = tau - self.friction(t, q, v, tau, mode.side)
        if mode.held:
            return self.held_acceleration(list(mode.held), t, q, v, tau, *F)
        return self.acceleration(t, q, v, tau, *F), np.zeros(len(v))

    def under_wrenches(self, wrenches: Sequence[Law]) -> Callable[[float, Array, Array, Array], Array]:
        """a(t, q, v, τ) under wrenches that are functions of (t, q, v), of a system that has one mode only."""

        none = np.zeros(self.model.nv)

        def accelerate(t: float, q: Array, v: Array, tau: Array) -> Array:
            if self.sticks:
                tau = tau - self.friction(t, q, v, tau, none)
            return self.acceleration(t, q, v, tau, *(w(t, q, v) for w in wrenches))

        return accelerate

    def start(self, q: Array, v: Array) -> tuple[Array, Array]:
        """The initial state on the whole manifold."""
        return q, v

    def onto_constraints(self, q: Array, v: Array, t: float) -> tuple[Array, Array]:
        """The nearest state that satisfies the constraints."""
        return q, v

    def velocity_on_constraints(self, q: Array, v: Array, t: float) -> Array:
        """v, or the nearest velocity that satisfies the constraints where v does not to AT_REST."""
        return v

    @property
    def projection(self) -> Callable[[Array, Array, float], tuple[Array, Array]] | None:
        """:meth:`onto_constraints` if constraints are satisfied by projection."""
        return None

    def project(self, q: Array, v: Array, t: float) -> tuple[Array, Array]:
        """The state after a step, on the constraints if they are satisfied by projection."""
        return self.projection(q, v, t) if self.projection else (q, v)

    def closure_error(self, q: Array, t: float) -> float:
        """max |φ(q)| [m, rad], the error that :meth:`project` removes."""
        return 0.0


class RigidTree(System):
    """M a + h = τ + Jᵀf + Σf, one kernel; hybrid dynamics if joints are held (F&O 11–14)."""

    def __init__(self, robot: Robot, frames: tuple[str, ...]):
        super().__init__(robot)
        self._timed = robot.model.depends_on_time
        self.one_kernel = not frames and not self.sticks and not self._timed
        self._still = np.zeros(robot.nv)

        @cache
        def entry(*names: str) -> Callable[..., Any]:
            clock = ("t",) if self._timed else ()
            return self.smooth.kernels.kernel(Spec(tuple((name,) for name in names), frames, extra=clock)).__call__

        self._entry = entry

    def acceleration(self, t: float, q: Array, v: Array, tau: Array, *F: Array) -> Array:
        return self._entry("forward_dynamics")(q, v, tau, *self._clock(t), *F)

    def _clock(self, t: float) -> tuple[float, ...]:
        return (t,) if self._timed else ()

    def held_acceleration(
        self, rows: Sequence[int], t: float, q: Array, v: Array, tau: Array, *F: Array
    ) -> tuple[Array, Array]:
        held = np.zeros(len(v))
        held[rows] = 1.0
        a, force = self._entry("hybrid_acceleration", "hybrid_force")(q, v, self._still, tau, held, *self._clock(t), *F)
        return a, force - tau

    def under_wrenches(self, wrenches: Sequence[Law]) -> Callable[[float, Array, Array, Array], Array]:
        if wrenches or self.sticks or self._timed:
            return super().under_wrenches(wrenches)
        entry = self._entry("forward_dynamics")
        return lambda t, q, v, tau: entry(q, v, tau)

    def inverse_mass(self, q: Array, t: float = 0.0) -> Array:
        """M⁻¹; M is the shorter kernel, and the kernel of M⁻¹ names the joint that moves no mass."""
        try:
            return np.linalg.inv(self.robot.mass_matrix(q))
        except np.linalg.LinAlgError:
            return self.robot.mass_matrix_inverse(q)


class ClosedLinkage(System):
    """M a + h = τ + Aᵀλ, A a = −Ȧv + ...: loops and constraints (MR §8.7).

    They are satisfied as the robot's constraints say: by projection of each state, at the velocities of steps of dt, by
    Baumgarte's (decay, stiffness), or not at all.
    """

    dependent, rounding = True, DEPENDENT
    advice = ", or integrator='rk4'; the linkage may be near a singular position, where its constraint rows lose rank"

    def __init__(self, robot: Robot, frames: tuple[str, ...], dt: float = 0.0, integrator: Any = "rk4"):
        super().__init__(robot)
        self.held, self.frames, self._fixed = self.smooth.constrained(), frames, isinstance(integrator, str)
        way = self.held.solver.equations.settling
        if way == VELOCITY:  # A v⁺ = b − φ/dt
            if integrator not in SHARES:
                raise ArgumentError(f"stabilization={way!r} is for {' and '.join(SHARES)}; {integrator!r} needs 'projection'")
            way = (0.5 / dt, SHARES[integrator] ** 0.5 / dt)
        self._projects = way == PROJECTION
        self._gains = None if way in (PROJECTION, None) else Stabilization(*way)
        self._timed = self.held.solver.equations.depends_on_time

    @property
    def singular_positions(self) -> SingularPositions:
        return SingularPositions(self.held)

    def result_fields(self) -> dict[str, Any]:
        return {"held": self.held}

    def acceleration(self, t: float, q: Array, v: Array, tau: Array, *F: Array) -> Array:
        wrenches = dict(zip(self.frames, F, strict=True)) or None
        return self.held.forward_dynamics(q, v, tau, wrenches, time=self._time(t), stabilization=self._gains).a

    def inverse_mass(self, q: Array, t: float = 0.0) -> Array:
        return self.held.acceleration_projector(q, time=self._time(t)) @ self.held.tree.mass_matrix_inverse(q)

    def onto_constraints(self, q: Array, v: Array, t: float) -> tuple[Array, Array]:
        return self.held.project(q, v, time=self._time(t))

    def project(self, q: Array, v: Array, t: float) -> tuple[Array, Array]:
        """Fixed steps by Newton steps in a kernel over the independent rows; where these are dependent, by the null space."""
        if not (self._projects and self._fixed):
            return super().project(q, v, t)
        near, clock = (q, v), (t,) if self._timed else ()
        for _ in range(NEWTON_STEPS):
            *near, error, doubt = self._settled(*near, *clock)
            if not doubt < 1:
                break
            if np.abs(error).max(initial=0.0) <= SETTLED:
                return near[0], near[1]
        return self.onto_constraints(q, v, t)

    @cached_property
    def _settled(self) -> Callable[..., Any]:
        return self.held.solver.kernel("settled", self.held.independent_rows).__call__

    def velocity_on_constraints(self, q: Array, v: Array, t: float) -> Array:
        slips = np.abs(self.held.slip(q, v, time=self._time(t))).max(initial=0.0) > AT_REST
        return self.held.project_velocity(q, v, time=self._time(t)) if slips else v

    @property
    def projection(self) -> Callable[[Array, Array, float], tuple[Array, Array]] | None:
        return self.onto_constraints if self._projects else None

    def closure_error(self, q: Array, t: float) -> float:
        return float(np.abs(self.held.residual(q, time=self._time(t))).max(initial=0.0)) if self._projects else 0.0

    def start(self, q: Array, v: Array) -> tuple[Array, Array]:
        """The initial state, projected onto the constraints; a state that is not near them is refused."""
        check_start(self.held, q, v)
        return self.held.project(q, v, time=self._time(0.0))

    def _time(self, t: float) -> float | None:
        return t if self._timed else None
