"""Robot, the main public class.  Kernel methods are inherited from Computed; other packages are imported on first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from torsor.kernels.export_methods import Exports
from torsor.kernels.options import Wrenches
from torsor.kernels.replaced import name_replacements
from torsor.kernels.spec import Spec
from torsor.model import Description
from torsor.robot.reaching import Reaching
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.algorithms.equation import EquationOfMotion
    from torsor.algorithms.stacked import StackedEquations
    from torsor.checks.certify import Certificate
    from torsor.kernels.axes import Spread
    from torsor.look.explain import Ellipsoid, Explanation, NewtonEulerTable
    from torsor.look.viewer import Viewer
    from torsor.mechanics.constraints import ConstrainedRobot, Constraint
    from torsor.mechanics.operators import Innovations, Operators
    from torsor.mechanics.task import Task
    from torsor.model.sensor import Sensor
    from torsor.simulate import Adaptive, Controller, Result, Rollout
    from torsor.symbolic.closed_form import ClosedForm


@name_replacements
class Robot(Reaching, Exports):
    """A robot: immutable, picklable, safe in threads.  Every method takes one state or a batch, ``(..., n)``.

    ``q`` configuration (``nq``), ``v`` velocity, ``a`` acceleration, ``tau`` joint force (``nv``); SI units.  Results are
    float64, also those of lists and float32 arrays; ``out=`` is a preallocated array for them.  Dynamics, derivatives,
    steps and motions obey all terms of the robot, its loops and constraints among them (``robot.terms``); M, c, g, h and the
    kinematics are those of its tree.

    >>> import torsor as ts
    >>> robot = ts.robots.two_link()
    >>> robot.gravity_force([0.0, 0.0]).round(2)
    array([29.43,  9.81])
    """

    def __init__(self, description: Description):
        super().__init__(description)
        self._looped: ConstrainedRobot | None = None

    # -- tasks, constraints and loops -------------------------------------------------------------------------------

    def task(
        self,
        frame: str | Sequence[Any],
        rows: str | Sequence[str] = "all",
        expressed_in: str = "world",
        *,
        singular: str = "raise",
        damping: float = 0.1,
        tolerance: float = 1e-3,
    ) -> Task:
        """F = Λ V̇ + η for chosen rows of a frame's twist, or of several frames: operational space (MR §8.6, 8.89).

        ``rows``: ``"all"``, ``"linear"``, ``"angular"`` or names among wx wy wz vx vy vz.  Several frames are a list, each a
        name or with its own rows, ``[("left_foot", "linear"), "tool0"]``.  ``singular`` selects the treatment of Λ where the
        Jacobian loses rank: ``"raise"``, ``"damped"`` or ``"truncated"``, see :class:`torsor.task.Task`.
        """
        from torsor.mechanics.task import Task

        return Task(self, frame, rows, expressed_in, singular=singular, damping=damping, tolerance=tolerance)

    def constrained(self, *constraints: Constraint) -> ConstrainedRobot:
        """M a + h = τ + Aᵀλ, A a = −Ȧ v: the robot with its loops and other constraints (MR §8.7, F&O §3.4).

        :mod:`torsor.constraints` creates them; λ acts on the robot [N, N·m].
        """
        from torsor.mechanics.constraints import ConstrainedRobot

        if not constraints:
            with self._lock:
                if self._looped is None:
                    self._looped = ConstrainedRobot(self)
                return self._looped
        return ConstrainedRobot(self, constraints)

    def constraint_forces(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None = None,
        *,
        expressed_in: str = "body",
        time: ArrayLike | None = None,
    ) -> Array:
        """λ of M a + h = τ + Σf + Aᵀλ, ``(..., k)`` [N, N·m]: the forces of the rows of loops and constraints (MR §8.7).

        One entry per name in ``robot.constrained().rows``.  ``time`` [s] is needed where a constraint reads it.

        >>> import torsor as ts
        >>> plane = ts.constraints.point_on_plane("tip", normal=(1, 0, 0), through=(1, 0, 0))
        >>> robot = ts.robots.two_link().with_gravity((0, 0, 0)).with_constraints(plane)
        >>> robot.constraint_forces([-3.14159265 / 3, 2 * 3.14159265 / 3], [1.0, 0.0], [0.0, 0.0]).round(3)  # MR Example 8.5
        array([0.167])
        """
        found = self.constrained().forward_dynamics(q, v, tau, wrenches, expressed_in=expressed_in, time=time)
        return found.multipliers

    def assemble(
        self,
        q_guess: ArrayLike | None = None,
        *,
        fixed: Sequence[str] = (),
        free: Sequence[str] | None = None,
        time: float | None = None,
        attempts: int = 20,
        rng: np.random.Generator | int | None = 0,
    ) -> Array:
        """q with φ(q) = 0: the loops closed, near a guess (F&O 16).

        Options as for :meth:`torsor.constraints.ConstrainedRobot.assemble`.
        """
        return self.constrained().assemble(q_guess, fixed=fixed, free=free, time=time, attempts=attempts, rng=rng)

    def operators(
        self,
        q: ArrayLike,
        v: ArrayLike | None = None,
        *,
        tau: ArrayLike | None = None,
        wrenches: Wrenches | None = None,
        frame: str = "body",
    ) -> Operators:
        """P, H, I, S, T of the whole tree as sparse matrices, and F&O 23–29 in terms of them; one state at a time."""
        from torsor.mechanics import operators

        return operators.operators(self, q, v, tau=tau, wrenches=wrenches, frame=frame)

    def innovations(self, q: ArrayLike) -> Innovations:
        """M(q) = L Lᵀ as operators in O(N): M x, M⁻¹x, L x, L⁻¹x, log det M, samples (F&O §3.5)."""
        from torsor.mechanics import operators

        return operators.innovations(self, q)

    # -- motion over time ------------------------------------------------------------------------------------

    def simulate(
        self,
        q: ArrayLike,
        v: ArrayLike,
        duration: float,
        control: Any = None,
        *,
        x: ArrayLike | None = None,
        wrenches: Wrenches | None = None,
        integrator: str | Adaptive | None = None,
        dt: float = 1e-3,
        vary: Mapping[str, Mapping[str, Any]] | None = None,
        events: Any = None,
        record: str | int = "all",
        sensors: Mapping[str, Sensor] | None = None,
        progress: bool | None = None,
    ) -> Result:
        """M a + h = τ over ``duration`` [s], with controllers, stops, friction, loops: :func:`torsor.simulate.simulate`."""
        from torsor.simulate import simulate

        return simulate(
            self, q, v, duration, control, x=x, wrenches=wrenches, integrator=integrator, dt=dt, vary=vary,
            events=events, record=record, sensors=sensors, progress=progress)  # fmt: skip

    def rollout(
        self,
        q0: ArrayLike,
        v0: ArrayLike,
        controls: ArrayLike | Spread | None = None,
        *,
        dt: float,
        steps: int | None = None,
        x: ArrayLike | None = None,
        integrator: str = "semi_implicit",
        wrenches: Wrenches | None = None,
        controller: Controller | Callable[..., Any] | None = None,
        vary: Mapping[str, Mapping[str, Any]] | None = None,
        record: str | int = "all",
        sensors: Mapping[str, Sensor] | None = None,
        differentiable: bool = False,
        dtype: Any = np.float64,
        on_failure: str = "raise",
    ) -> Rollout:
        """Simulate many robots for many steps of dt [s] in one kernel: t, q ``(..., T, nq)``, v ``(..., T, nv)``.

        ``controls`` are commands held over each step, ``controller=`` a function recorded into the kernel or a
        :class:`Controller` with its parameters and memory, ``vary=`` makes robots differ, ``differentiable=True`` keeps the
        states for gradients, ``on_failure="mask"`` the robots that stay finite; see :func:`torsor.simulate.rollout` (MR §8.5).
        """
        from torsor.simulate import rollout

        return rollout(
            self, q0, v0, controls, dt=dt, steps=steps, x=x, integrator=integrator, wrenches=wrenches,
            controller=controller, vary=vary, record=record, sensors=sensors, differentiable=differentiable, dtype=dtype,
            on_failure=on_failure,
        )  # fmt: skip

    # -- display ---------------------------------------------------------------------------------------------

    def view(
        self,
        q: ArrayLike | None = None,
        result: Result | None = None,
        *,
        port: int = 0,
        roots: Sequence[str | PathLike[str]] = (),
        style: str = "auto",
        open: bool = True,
        block: bool = False,
    ) -> Viewer:
        """Open the browser viewer (127.0.0.1 only): sliders, joint forces, a draggable force, playback of ``result``.

        Options as for :func:`torsor.look.viewer.view`.
        """
        from torsor.look.viewer import view

        return view(self, q, result, port=port, roots=roots, style=style, open=open, block=block)

    def verify(self, samples: int = 16, seed: int = 0, *, thorough: bool = False, peers: bool = True) -> Certificate:
        """Cross-check this robot's dynamics with independent methods on this machine; returns a Certificate.

        RNEA, CRBA, ABA, Lagrange, O(log N), energy, differences, 50 digits, and Pinocchio and MuJoCo if they are installed;
        options as for :func:`torsor.checks.certify.verify`.
        """
        from torsor.checks.certify import verify

        return verify(self, samples, seed, thorough=thorough, peers=peers)

    # -- understanding, one state at a time ------------------------------------------------------------------

    def explain(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        wrenches: Wrenches | None = None,
        *,
        expressed_in: str = "body",
        time: float | None = None,
    ) -> Explanation:
        """τ_i = Σ M_ij a_j + ΣΣ Γ_ijk v_j v_k + g_i [N·m, N], term by term: each joint force split by cause (MR 8.16).

        Inertia by joint, velocity products by pair, gravity by link, then rotors, damping, friction and wrenches; ``print`` it.
        ``expressed_in`` and ``time`` as for :meth:`inverse_dynamics`.
        """
        from torsor.look import explain as understanding

        return understanding.explain(self, q, v, a, wrenches, expressed_in=expressed_in, time=time)

    def stacked_equations(
        self,
        q: ArrayLike,
        v: ArrayLike | None = None,
        a: ArrayLike | None = None,
        wrenches: Wrenches | None = None,
        *,
        expressed_in: str = "body",
    ) -> StackedEquations:
        """𝒜, 𝒢, 𝒲, ℒ, [ad_𝒱], [ad_𝒜θ̇], 𝒱_base, 𝒱̇_base, ℱ_tip by name (MR 8.58–8.72)."""
        from torsor.look import explain as understanding

        return understanding.stacked_equations(self, q, v, a, wrenches, expressed_in=expressed_in)

    def newton_euler_table(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        wrenches: Wrenches | None = None,
        *,
        at: str = "link",
        expressed_in: str = "body",
    ) -> NewtonEulerTable:
        """V_i, V̇_i, F_i, τ_i of the recursion, body by body, as a table (MR 8.50–8.54); ``at`` "link" frames or the "com"."""
        from torsor.look import explain as understanding

        return understanding.newton_euler_table(self, q, v, a, wrenches, at=at, expressed_in=expressed_in)

    def torque_ellipsoid(self, q: ArrayLike) -> Ellipsoid:
        """{M θ̈ : |θ̈| = 1}: the joint forces of unit accelerations [N·m, N] (MR Fig. 8.3)."""
        from torsor.look import explain as understanding

        return understanding.torque_ellipsoid(self, q)

    def mass_ellipsoid(self, q: ArrayLike, frame: str, rows: Any = "linear", expressed_in: str = "world") -> Ellipsoid:
        """Λ = (J M⁻¹ Jᵀ)⁻¹: effective mass at a frame [kg; kg·m² for angular rows] (MR 8.21, Fig. 8.4)."""
        from torsor.look import explain as understanding

        return understanding.mass_ellipsoid(self, q, frame, rows, expressed_in)

    def acceleration_ellipsoid(
        self, q: ArrayLike, frame: str | None = None, rows: Any = "linear", expressed_in: str = "world"
    ) -> Ellipsoid:
        """{M⁻¹ τ : |τ| = 1}, or Λ⁻¹ of a frame: the accelerations under unit forces [rad/s², m/s²] (MR Figs. 8.3, 8.4)."""
        from torsor.look import explain as understanding

        return understanding.acceleration_ellipsoid(self, q, frame, rows, expressed_in)

    def velocity_ellipsoid(self, q: ArrayLike, frame: str, rows: Any = "linear", expressed_in: str = "world") -> Ellipsoid:
        """{J v : |v| = 1}: the velocities of a frame at unit joint velocities [m/s; rad/s for angular rows] (MR §5.4)."""
        from torsor.look import explain as understanding

        return understanding.velocity_ellipsoid(self, q, frame, rows, expressed_in)

    def force_ellipsoid(self, q: ArrayLike, frame: str, rows: Any = "linear", expressed_in: str = "world") -> Ellipsoid:
        """{F : |JᵀF| = 1}: the forces on a frame that unit joint forces balance [N; N·m for angular rows] (MR §5.4)."""
        from torsor.look import explain as understanding

        return understanding.force_ellipsoid(self, q, frame, rows, expressed_in)

    def symbolic(self, parameters: str = "symbols", form: str = "auto") -> ClosedForm:
        """τ = M(q) a + c(q, v) + g(q) as formulas: SymPy, LaTeX, Markdown, Python, C; also Γ, C and Jacobians (MR 8.10).

        ``parameters`` as "symbols" named from the model, or as "numbers"; ``form`` "expanded", "program" or "auto" by size.
        """
        from torsor.symbolic.closed_form import symbolic

        return symbolic(self, parameters, form)

    def _with_independent_rows(self, equation: EquationOfMotion) -> EquationOfMotion:
        return replace(equation, rows=self.constrained().independent_rows)

    def _refuse_states(self, spec: Spec, given: dict[str, Any], bad: Array | None) -> list[Array] | None:
        from torsor.mechanics.constraints.differentiation import refuse_derivative
        from torsor.mechanics.constraints.drives import refuse_motion
        from torsor.simulate.held_rows import refuse_step

        if spec.quantities == (("forward_dynamics",),) and not spec.derivative and bad is not None:
            return [self.constrained().solver.acceleration(spec, given)]
        if "dt" in given:
            refuse_step(self.constrained(), given, bad)
        if "a" in given:
            refuse_motion(self.constrained(), given["q"], given["v"], given["a"], given.get("t"))
        refuse_derivative(given, bad)
        return None
