"""The equation of motion to simulate: a robot's tree with its terms, and its loops and constraints if it has some."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.algorithms.equation import EquationOfMotion
from torsor.algorithms.equation.contact import contact_terms
from torsor.algorithms.equation.settle import SHARES
from torsor.errors import ArgumentError
from torsor.kernels import Kernels, Spec
from torsor.mechanics.constraints.motion import Stabilization
from torsor.model.terms.constraint import PROJECTION, VELOCITY
from torsor.model.terms.stops import Stops
from torsor.simulate import complementarity, stiction
from torsor.simulate.contact_modes import Touching
from torsor.simulate.held_rows import check_start
from torsor.simulate.quantities import QUANTITIES
from torsor.support.locks import cached_property
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.robot import Robot
    from torsor.simulate.modes import Mode
    from torsor.simulate.term_states import TermStates

#: a function of (t, q, v)
Law = Callable[[float, Array, Array], Array]

#: the accuracy of ∂a/∂τ under constraints, relative to its largest entry: smaller mobilities of held joints are none
DEPENDENT = 1e-9
#: closure error [m, rad] that one Newton step reduces to rounding, and steps after which the null space is used
SETTLED, NEWTON_STEPS = 1e-8, 4
#: velocity of joints that constraints tie to others at rest, or slip of a constraint, that is rounding [rad/s, m/s]
AT_REST = 1e-9


class System:
    """M(q) a + h(q, v) + φ = τ + Jᵀf + Aᵀλ, A a = −Ȧv + ḃ: a robot's equation of motion on its manifold (MR §8.7).

    φ is the friction of joints that can stick: dry friction holds joints at rest and has one direction in each mode (MR
    §8.9.4), LuGre friction has internal states.  All other terms are in the kernels of ``smooth``, the robot without these and
    without stops.  Rows A are satisfied as the robot's constraints say: by projection of each state, at the velocities of steps
    of dt, by Baumgarte's (decay, stiffness), or not at all; a robot without rows has neither λ nor projections.
    """

    def __init__(self, robot: Robot, frames: tuple[str, ...] = (), dt: float = 0.0, integrator: Any = "rk4"):
        self.robot, self.model, self.frames = robot, robot.model, frames
        rubbing = [term for term in robot.model.terms if term.kind == "friction"]
        sticks = [t.name for t in rubbing if t.row(robot.model) == "dry friction" or t.states(robot.model).size]
        stops = [term.name for term in robot.model.terms if isinstance(term, Stops)]
        #: whether contacts are located in time, and their forces apart from the kernels; else they are in steps
        located = [] if isinstance(integrator, str) else [term.name for term in contact_terms(robot.model.terms)]
        apart = [*sticks, *stops, *located]
        self.smooth = robot.without_terms(*apart) if apart else robot
        rest = zip(robot.model.friction, self.smooth.model.friction, strict=True)
        self.rubbing = replace(robot.model, friction=tuple(() if b else a for a, b in rest))
        self.sticks = bool(sticks)
        self.dry_rows = stiction.sticking_rows(self.rubbing)  #: rows of v with dry friction
        self.transmits = EquationOfMotion(robot.model).transmits
        self.states: TermStates | None = None  #: of this run
        self.timed = robot.model.depends_on_time
        self.held = self.smooth.constrained() if robot.model.has_rows else None  #: the view on its rows, if it has some
        #: of ∂a/∂τ, relative to its largest entry; rows tie coordinates together, so that it is singular
        self.rounding = complementarity.ROUNDING if self.held is None else DEPENDENT
        way = self.held.solver.equations.settling if self.held else None
        if way == VELOCITY:  # A v⁺ = b − φ/dt
            if integrator not in SHARES:
                raise ArgumentError(f"stabilization={way!r} is for {' and '.join(SHARES)}; {integrator!r} needs 'projection'")
            way = (0.5 / dt, SHARES[integrator] ** 0.5 / dt)
        self.projects = way == PROJECTION
        self._by_newton = self.projects and isinstance(integrator, str)
        self._gains = None if way in (PROJECTION, None) else Stabilization(*way)

        @cache
        def entry(*names: str) -> Callable[..., Any]:
            clock = ("t",) if self.timed else ()
            return self.smooth.kernels.kernel(Spec(tuple((name,) for name in names), frames, extra=clock)).__call__

        self._entry = entry
        self.touching = Touching(self) if located else None  #: contacts whose events are located in time
        #: whether a = f(q, v, τ) is a kernel of ``smooth``, so that whole steps can be compiled
        self.one_kernel = not (frames or self.sticks or self.timed or self.held or located)

    @property
    def kernels(self) -> Kernels:
        """Kernels of steps and charts."""
        return self.robot.kernels.of(QUANTITIES)

    def time(self, t: Any) -> Any:
        """t as an argument ``time=`` of :class:`ConstrainedRobot`, None if the rows do not depend on it."""
        return t if self.timed else None

    # -- dynamics ------------------------------------------------------------------------------------------------

    def acceleration(self, t: float, q: Array, v: Array, tau: Array, *F: Array) -> Array:
        """a (nv,) at one state, under joint forces τ and wrenches F."""
        if self.held is None:
            return self._entry("forward_dynamics")(q, v, tau, *self._clock(t), *F)
        wrenches = dict(zip(self.frames, F, strict=True)) or None
        return self.held.forward_dynamics(q, v, tau, wrenches, time=self.time(t), stabilization=self._gains).a

    def _clock(self, t: float) -> tuple[float, ...]:
        return (t,) if self.timed else ()

    def inverse_mass(self, q: Array, t: float = 0.0) -> Array:
        """W = ∂a/∂τ (nv, nv): M⁻¹ of a tree, P M⁻¹ under rows; t matters where these depend on time.

        M is a shorter kernel than M⁻¹, which names the joint that moves no mass.
        """
        if self.held is not None:
            return self.held.inverse_mass_matrix(q, time=self.time(t))
        try:
            return np.linalg.inv(self.robot.mass_matrix(q))
        except np.linalg.LinAlgError:
            return self.robot.mass_matrix_inverse(q)

    def held_acceleration(
        self, rows: Sequence[int], t: float, q: Array, v: Array, tau: Array, *F: Array
    ) -> tuple[Array, Array]:
        """(a, λ), (nv,) each: λ are the forces on ``rows`` that keep their accelerations zero.

        a = a₀ + W λ
        W_rr λ_r = −a₀_r

        A tree has hybrid dynamics for it (F&O 11–14).
        """
        if self.held is None:
            held = np.zeros(len(v))
            held[rows] = 1.0
            both = self._entry("hybrid_acceleration", "hybrid_force")
            a, force = both(q, v, np.zeros(len(v)), tau, held, *self._clock(t), *F)
            return a, force - tau
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
        if self.touching:
            return self.touching.solution(t, q, v, tau, *F).a, np.zeros(len(v))
        if self.sticks:
            tau = tau - self.friction(t, q, v, tau, mode.side)
        if mode.held:
            return self.held_acceleration(list(mode.held), t, q, v, tau, *F)
        return self.acceleration(t, q, v, tau, *F), np.zeros(len(v))

    # -- rows ----------------------------------------------------------------------------------------------------

    def start(self, q: Array, v: Array) -> tuple[Array, Array]:
        """The initial state, projected onto the constraints; a state that is not near them is refused."""
        if self.touching:
            return self.touching.start(q, v), v
        if self.held is None:
            return q, v
        check_start(self.held, q, v)
        return self.onto_constraints(q, v, 0.0)

    def onto_constraints(self, q: Array, v: Array, t: float) -> tuple[Array, Array]:
        """The nearest state that satisfies the constraints."""
        return (q, v) if self.held is None else self.held.project(q, v, time=self.time(t))

    def velocity_on_constraints(self, q: Array, v: Array, t: float) -> Array:
        """v, or the nearest velocity that satisfies the constraints where v does not to AT_REST."""
        if self.held is None or np.abs(self.held.slip(q, v, time=self.time(t))).max(initial=0.0) <= AT_REST:
            return v
        return self.held.project_velocity(q, v, time=self.time(t))

    def project(self, q: Array, v: Array, t: float) -> tuple[Array, Array]:
        """The state after a step, on the constraints if they are satisfied by projection.

        Fixed steps take Newton steps in a kernel over the independent rows; where these are dependent, the null space.
        """
        if self.touching:
            return self.touching.onto_contacts(q, v)
        if not self.projects:
            return q, v
        near: Sequence[Array] = (q, v)
        for _ in range(NEWTON_STEPS if self._by_newton else 0):
            *near, error, doubt = self._settled(*near, *self._clock(t))
            if not doubt < 1:
                break
            if np.abs(error).max(initial=0.0) <= SETTLED:
                return near[0], near[1]
        return self.onto_constraints(q, v, t)

    @cached_property
    def _settled(self) -> Callable[..., Any]:
        assert self.held is not None
        return self.held.solver.kernel("settled", self.held.independent_rows).__call__

    def closure_error(self, q: Array, t: float) -> float:
        """max |φ(q)| [m, rad], the error that :meth:`project` removes."""
        if self.touching:
            return self.touching.closure_error(q)
        if self.held is None or not self.projects:
            return 0.0
        return float(np.abs(self.held.residual(q, time=self.time(t))).max(initial=0.0))
