"""ConstrainedRobot: a robot with constraints; forward and inverse dynamics, impacts, closure, mobility."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from torsor.algorithms.equation import EquationOfMotion
from torsor.compile import Argument, Kernel
from torsor.compile.arrays import as_rows, check_finite
from torsor.compile.dask_blocks import FLOAT64
from torsor.errors import ArgumentError, printable, require_known
from torsor.kernels.kernel_method import kernel_method_of
from torsor.kernels.quantities import labels
from torsor.kernels.replaced import name_replacements
from torsor.mechanics.constraints import closing, drives, frame_wrenches, switching
from torsor.mechanics.constraints.differentiation import Differentiation
from torsor.mechanics.constraints.inputs import read_inputs
from torsor.mechanics.constraints.local_rank import ranks, solve_by_local_rank
from torsor.mechanics.constraints.mobility import Mobility, mobility_at
from torsor.mechanics.constraints.motion import ConstrainedMotion, Impact, Stabilization
from torsor.mechanics.constraints.null_space import Whitened, in_mass_metric
from torsor.mechanics.constraints.solving import Inputs, Solver
from torsor.mechanics.constraints.switching import Active, solve_active
from torsor.model.terms.constraint import Constraint
from torsor.support.locks import cached_property
from torsor.support.text import count

if TYPE_CHECKING:
    from torsor.kernels.options import Wrenches
    from torsor.robot import Robot


@name_replacements
class ConstrainedRobot(Differentiation):
    """A robot under constraints A(q) v = b(t): its loops, and additional constraints (MR §8.7, F&O §3.4).

    Made by :meth:`Robot.constrained`.  Methods take one state or a batch, ``(..., n)``.  λ acts on the robot,
    M a + h = τ + Aᵀλ: F&O's sign (eq. 19).  MR 8.93 has λ act on the world, so the book's λ is the opposite of torsor's.

    >>> import torsor as ts
    >>> arm = ts.robots.two_link().with_gravity((0, 0, 0))
    >>> held = arm.constrained(ts.constraints.point_on_plane("tip", normal=(1, 0, 0), through=(1, 0, 0)))
    >>> a, multipliers = held.forward_dynamics([-np.pi / 3, 2 * np.pi / 3], [1.0, 0.0], [0.0, 0.0])  # MR Example 8.5
    >>> a.round(3), -multipliers.round(3)
    (array([ 0.289, -1.155]), array([-0.167]))
    """

    def __init__(self, robot: Robot, constraints: Sequence[Constraint] = ()):
        self.robot, self._more = robot, tuple(constraints)
        for c in constraints:
            if not isinstance(c, Constraint):
                raise ArgumentError(f"a constraint must be one of torsor.constraints, not {type(c).__name__}")
            c.check(robot.model)
        model = robot.model.with_same_mass_matrix(terms=(*robot.model.terms, *constraints))
        equation = EquationOfMotion(model)
        self.constraints = equation.constraints
        names = [c.name for c in self.constraints]
        if twice := {n for n in names if names.count(n) > 1}:
            raise ArgumentError(f"two constraints are named {min(twice)!r}; give each a different name=")
        ways = partial(closing.select_rows, self), partial(solve_by_local_rank, self)
        self.solver = Solver(equation, len(robot.model.loops), robot.kernels.share, *ways)
        self._labels = labels(robot.model)
        self.parts: dict[tuple[bool, ...], ConstrainedRobot] = {}  #: under some of its constraints, made when needed

    def __reduce__(self) -> Any:
        return type(self), (self.robot, self._more)

    def __repr__(self) -> str:
        names = ", ".join(c.name for c in self.constraints) or "none"
        return printable(f"<ConstrainedRobot of {self.robot.name!r}: {count(len(self.rows), 'row')}; constraints: {names}>")

    # -- properties ------------------------------------------------------------------------------------------

    @cached_property
    def tree(self) -> Robot:
        """The robot without constraints: the spanning tree, whose M and h are those of M a + h = τ + Aᵀλ."""
        return self.robot.without_loops() if self.robot.loops else self.robot

    @property
    def rows(self) -> tuple[str, ...]:
        """The motion that each row constrains, ``"loop: vx"``, in the order of A and λ."""
        return self.solver.equations.names

    @property
    def holonomic(self) -> np.ndarray:
        """Which rows are the rate of a function of q, (k,) bool."""
        return np.array([x for c in self.constraints for x in c.holonomic], dtype=bool)

    @property
    def independent_rows(self) -> tuple[int, ...]:
        """The rows that the others follow from, in configurations that close the loops (F&O 18's L)."""
        return self.solver.independent_rows

    # -- kinematics ------------------------------------------------------------------------------------------

    def residual(self, q: ArrayLike, *, time: ArrayLike | None = None) -> np.ndarray:
        """φ(q, t), ``(..., k)`` [m, rad]: closure error of each row; 0 for nonholonomic rows (F&O 16)."""
        return self.solver.kernel("position")(q, *self.clock(time))[0]

    def jacobian(self, q: ArrayLike, *, time: ArrayLike | None = None) -> np.ndarray:
        """A(q), ``(..., k, nv)`` (MR 8.92)."""
        return self.solver.kernel("position")(q, *self.clock(time))[1]

    def jacobian_rate(self, q: ArrayLike, v: ArrayLike, *, time: ArrayLike | None = None) -> np.ndarray:
        """Ȧ(q, v), ``(..., k, nv)``, of motion and time together (MR 8.95)."""
        clock = self.clock(time)
        along = self.solver.kernel("jacobian", derivative=("jvp", "q", *self.solver.clock))
        return along(q, *clock, self._vector("v", v, self.robot.nv), *(1.0 for _ in clock))

    def drift(self, q: ArrayLike, v: ArrayLike, *, time: ArrayLike | None = None) -> np.ndarray:
        """Ȧv − ḃ, ``(..., k)``: the row's acceleration with every joint at constant velocity (F&O 17)."""
        return self.solver.kernel("rows")(q, v, *self.clock(time))[3]

    def slip(self, q: ArrayLike, v: ArrayLike, *, time: ArrayLike | None = None) -> np.ndarray:
        """A v − b, ``(..., k)``: velocity residual of each row."""
        _, A, speed, _ = self.solver.kernel("rows")(q, v, *self.clock(time))
        return np.einsum("...kn,...n->...k", A, self._vector("v", v, self.robot.nv)) - speed

    # -- dynamics --------------------------------------------------------------------------------------------

    @kernel_method_of(ConstrainedMotion, guards={"doubt": 1.0})
    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None = None,
        *,
        expressed_in: str = "body",
        method: str = "auto",
        time: ArrayLike | None = None,
        loop_forces: Mapping[str, ArrayLike] | None = None,
        stabilization: Stabilization | tuple[float, float] | None = None,
        active: Active | None = None,
    ) -> ConstrainedMotion:
        """(a, λ) with M a + h = τ + Aᵀλ and A a = −(Ȧv − ḃ) (F&O 15–19; MR 8.96–8.98).

        ``method`` is F&O's: "direct" (eq. 20), "multipliers" (eq. 21), "null_space" (eq. 22, for any rank), or "auto":
        eq. 21 in a kernel over the rows that are independent, and eq. 22 for states with another rank.
        ``loop_forces={"loop": τ_a}`` drive loop joints (eq. 19).  ``stabilization`` adds Baumgarte's terms.  Where rows are
        redundant, many λ give the same motion: "null_space" returns the smallest, the others set redundant rows to zero.
        The terms of the robot act, as in :meth:`Robot.forward_dynamics`.
        ``active`` switches constraints on and off: a flag each, ``(..., len(constraints))``, or ``{name: flag}``.  Inactive
        ones do not act, and their λ is 0; one kernel serves all patterns, so that a gait is compiled once.
        """
        inputs, extra = read_inputs(self, wrenches, expressed_in, loop_forces, stabilization)
        values = (q, v, tau, *self.clock(time), *extra)
        return ConstrainedMotion(*solve_active(self, "dynamics", method, inputs, values, active, loop_forces or ()))

    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        wrenches: Wrenches | None = None,
        *,
        expressed_in: str = "body",
        multipliers: ArrayLike | None = None,
        actuated: Sequence[str] | None = None,
        time: ArrayLike | None = None,
        active: Active | None = None,
    ) -> np.ndarray:
        """τ = M a + h − Aᵀλ (MR 8.93) for an acceleration that satisfies the constraints and given multipliers λ.

        By default λ = 0; with ``actuated`` joints, λ is computed so that all other joints need no force, with the τ of
        smallest norm if it is not unique.  Raises if ``a`` breaks the constraints, or if no such forces exist.  ``active`` as
        in :meth:`forward_dynamics`: inactive constraints may be broken and have no force.
        """
        tree = self.tree.inverse_dynamics(q, v, a, wrenches, expressed_in=expressed_in)
        _, A, _, drift = self.solver.kernel("rows")(q, v, *self.clock(time))
        if active is not None:
            on = switching.row_flags(self, switching.read_flags(self, active))
            A, drift = A * on[..., None], drift * on
        drives.check_acceleration(self.rows, A, drift, np.asarray(a, float))
        if actuated is not None:
            if multipliers is not None:
                raise ArgumentError("give either multipliers or actuated, not both")
            return drives.share_among_drives(self.robot, actuated, A, tree)
        if multipliers is None:
            return tree
        lam = self._vector("multipliers", multipliers, len(self.rows))
        return tree - np.einsum("...kn,...k->...n", A, lam)

    def projector(self, q: ArrayLike, *, time: ArrayLike | None = None, active: Active | None = None) -> np.ndarray:
        """P = 1 − Aᵀ(A M⁻¹Aᵀ)⁻¹A M⁻¹, ``(..., nv, nv)``: P τ moves the robot, (1 − P) τ acts on the constraints (MR 8.100).

        ``active`` as in :meth:`forward_dynamics`: A has the rows of the active constraints alone.
        """
        return np.swapaxes(self.acceleration_projector(q, time=time, active=active), -1, -2)

    def acceleration_projector(
        self, q: ArrayLike, *, time: ArrayLike | None = None, active: Active | None = None
    ) -> np.ndarray:
        """P_θ̈ = M⁻¹P M = 1 − M⁻¹Aᵀ(A M⁻¹Aᵀ)⁻¹A = Pᵀ, ``(..., nv, nv)`` (MR 8.102); also of velocities."""
        if active is not None:
            return switching.acceleration_projector(self, q, time, active)
        w = self._in_mass_metric(q, time)
        return w.onto_null_space(ranks(self, w, q, time))

    def inverse_mass_matrix(self, q: ArrayLike, *, time: ArrayLike | None = None) -> np.ndarray:
        """∂a/∂τ = M⁻¹P = K (KᵀM K)⁻¹Kᵀ with A K = 0, ``(..., nv, nv)``: the accelerations of unit joint forces (MR 8.100).

        It exists where links of a loop have no mass, and M⁻¹ does not.
        """
        w = self._in_mass_metric(q, time)
        K = w.motions(ranks(self, w, q, time))
        return K @ np.swapaxes(K, -1, -2)

    def _in_mass_metric(self, q: ArrayLike, time: ArrayLike | None) -> Whitened:
        A, M = self.solver.rows_and_mass(q, self.clock(time))
        return in_mass_metric(M, A, self.robot.model)

    def inverse_effective_mass(
        self, q: ArrayLike, *, time: ArrayLike | None = None, active: Active | None = None
    ) -> np.ndarray:
        """A M⁻¹Aᵀ, ``(..., k, k)``, symmetric bit for bit: the rows' accelerations under unit multipliers (Delassus' matrix).

        One inward pass over the articulated bodies for each row, O(N k²) in all; M⁻¹ is not formed (F&O 21).  Rows and columns
        of constraints that are not ``active`` are zero.
        """
        whole = self.solver.kernel("inverse_effective_mass")(q, *self.clock(time))
        return whole if active is None else whole * switching.both_flags(self, active)

    def wrench(
        self, q: ArrayLike, multipliers: ArrayLike, frame: str, rows: str = "all", *, time: ArrayLike | None = None
    ) -> np.ndarray:
        """F = J⁻ᵀAᵀλ, ``(..., 6)``: the wrench that constraints put on a frame's link, in the world's axes (MR §8.7).

        It is the constraints' own wrench, so JᵀF = Aᵀλ if they act on no other link.  With ``rows="linear"`` or ``"angular"``
        a pure force or moment, ``(..., 3)``.  MR's F_tip, the wrench of the robot on the world, is −F.  A constraint in joint
        coordinates has the F with JᵀF = Aᵀλ.  Raises where there is no such F, or more than one.
        """
        lam = self._vector("multipliers", multipliers, len(self.rows))
        return frame_wrenches.wrench_of_multipliers(self, q, lam, frame, rows, time)

    def multipliers_of(
        self,
        q: ArrayLike,
        wrench: ArrayLike,
        frame: str,
        rows: str = "all",
        *,
        time: ArrayLike | None = None,
        nearest: bool = False,
    ) -> np.ndarray:
        """λ = (J⁻ᵀAᵀ)†F, ``(..., k)``: the multipliers of a wrench at a frame, in the world's axes (MR §8.7).

        F has to lie in the column space of J⁻ᵀAᵀ.  With ``nearest=True`` it need not: λ is that of the nearest wrench, the same
        formula, and F − ``wrench(q, λ, frame)`` is left.  Of several λ it is the smallest.
        """
        F = self._vector("wrench", wrench, 6 if rows == "all" else 3)
        return frame_wrenches.multipliers_of_wrench(self, q, F, frame, rows, time, nearest)

    def impact(
        self,
        q: ArrayLike,
        v: ArrayLike,
        restitution: float = 0.0,
        *,
        method: str = "auto",
        time: ArrayLike | None = None,
        active: Active | None = None,
    ) -> Impact:
        """(v⁺, ι) with M (v⁺ − v⁻) = Aᵀι and A v⁺ − b = −e (A v⁻ − b): impact with restitution 0 ≤ e ≤ 1.

        ``active`` as in :meth:`forward_dynamics`: the constraints that the robot hits, and those that hold meanwhile.
        """
        e = as_rows(Argument("restitution", ()), restitution, FLOAT64)
        if not (np.all(e >= 0) and np.all(e <= 1)):
            raise ArgumentError(f"restitution must be between 0 and 1, not {restitution}")
        change, impulses = solve_active(self, "impulse", method, Inputs(), (q, v, restitution, *self.clock(time)), active)
        return Impact(self._vector("v", v, self.robot.nv) + change, impulses)

    def reactions(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None = None,
        *,
        expressed_in: str = "body",
        method: str = "auto",
        time: ArrayLike | None = None,
        loop_forces: Mapping[str, ArrayLike] | None = None,
        active: Active | None = None,
    ) -> dict[str, np.ndarray]:
        """The wrench through every joint and constraint in forward dynamics, by name: ``(..., 6)``, moment first [N·m, N].

        The wrench of a joint acts on its child link, in that link's frame; that of a loop or another constraint between
        frames acts on its successor, in the successor's frame: drive and bearing together, whichever joint is cut.  Where
        constraints are redundant the reactions are not unique: redundant rows are zero, with ``method="null_space"`` λ has the
        smallest norm.
        """
        options: Any = {"method": method, "time": time, "loop_forces": loop_forces, "expressed_in": expressed_in}
        a, multipliers = self.forward_dynamics(q, v, tau, wrenches, active=active, **options)
        inputs, extra = read_inputs(self, wrenches, expressed_in, loop_forces, None)
        kernel = self.solver.kernel("reactions", inputs=inputs)
        tree, loops = kernel(q, v, a, multipliers, *self.clock(time), *extra)
        out = {name: tree[..., i, :] for i, name in enumerate(self.robot.joints)}
        return out | {c.name: loops[..., i, :] for i, c in enumerate(self.constraints)}

    # -- positions and velocities that keep the constraints ----------------------------------------------------

    def assemble(
        self,
        q_guess: ArrayLike | None = None,
        *,
        fixed: Sequence[str] = (),
        free: Sequence[str] | None = None,
        time: ArrayLike | None = None,
        attempts: int = 20,
        rng: np.random.Generator | int | None = 0,
    ) -> np.ndarray:
        """q with φ(q) = 0, near a guess or a batch of them (the neutral configuration unless given) (F&O 16).

        ``fixed`` joints keep their coordinates, or only ``free`` joints move.  If the loops do not close, closure
        is repeated from ``attempts`` random configurations of the free joints; then ClosureError names the open loop.
        """
        q0 = self.robot.neutral() if q_guess is None else self._vector("q_guess", q_guess, self.robot.nq).copy()
        return closing.assemble(self, q0, closing.movable_mask(self, fixed, free), time, attempts, np.random.default_rng(rng))

    def project(self, q: ArrayLike, v: ArrayLike | None = None, *, time: ArrayLike | None = None) -> Any:
        """q, or (q, v), projected onto the constraints to rounding: the nearest q, and v by the least change of momentum."""
        every, start = np.ones(self.robot.nv, bool), self._vector("q", q, self.robot.nq).copy()
        moved = closing.assemble(self, start, every, time, 0, np.random.default_rng(0))
        return moved if v is None else (moved, self.project_velocity(moved, v, time=time))

    def project_velocity(
        self, q: ArrayLike, v: ArrayLike, *, time: ArrayLike | None = None, active: Active | None = None
    ) -> np.ndarray:
        """The velocity nearest to v, in kinetic energy, that keeps the (``active``) constraints: A v = b."""
        return self.impact(q, v, 0.0, time=time, active=active).v

    def mobility(self, q: ArrayLike | None = None, *, time: float | None = None, active: Active | None = None) -> Mobility:
        """Degrees of freedom, rank and redundancy at a configuration that closes the loops (assembled if none is given).

        ``active`` as in :meth:`with_active`: under these constraints alone.
        """
        if active is not None:
            held = self.with_active(active)
            return held.mobility(q, time=time if held.solver.clock else None)
        at = self.assemble(time=time) if q is None else self._vector("q", q, self.robot.nq).copy()
        if at.ndim > 1:
            raise ArgumentError(f"q has shape {at.shape}, expected ({self.robot.nq},): one configuration at a time")
        return mobility_at(self, at, time)

    def with_active(self, active: Active) -> ConstrainedRobot:
        """The robot under its active constraints alone, with rows and kernels of its own: a flag each, or ``{name: flag}``."""
        return switching.select_constraints(self, switching.read_pattern(self, active))

    # -- how -----------------------------------------------------------------------------------------------------

    def kernel(self, method: str = "auto", *, switched: bool = False) -> Kernel:
        """(q, v, τ) → a, λ, doubt over the independent rows; reject the result where doubt > 1.

        ``switched=True``: (q, v, τ, active) over all rows, with a flag 1 or 0 for each constraint; (q, v, τ, t, active) where
        constraints depend on time.
        """
        require_known("method", method, ("auto", "direct", "multipliers"))
        if not switched:
            return self.solver.kernel_of_rows("dynamics", method)
        return self.solver.kernel_of_rows("dynamics", method, Inputs(extra=("active",)), range(len(self.rows)))

    def clock(self, time: Any) -> tuple:
        """The time as an input of the kernels, where the constraints read it."""
        if self.solver.equations.depends_on_time and time is None:
            timed = ", ".join(repr(c.name) for c in self.constraints if c.depends_on_time)
            raise ArgumentError(f"these constraints depend on time, so time= is needed: {timed}")
        if not self.solver.equations.depends_on_time and time is not None:
            raise ArgumentError("time= was given, but none of these constraints depends on it")
        return () if time is None else (time,)

    def _kernel_for(
        self,
        name: str,
        method: str = "auto",
        wrenches: tuple[str, ...] = (),
        expressed_in: str = "body",
    ) -> Kernel | None:
        """The kernel of forward dynamics, valid where doubt < 1; None if it does not apply."""
        if self.solver.equations.depends_on_time or method == "null_space":
            return None
        return self.solver.kernel_of_rows("dynamics", method, Inputs(wrenches, expressed_in))

    def _vector(self, label: str, value: ArrayLike, n: int) -> np.ndarray:
        """An argument that NumPy computes with, as ``(..., n)`` in C order, checked as a kernel checks its own."""
        argument = Argument(label, (n,), self._labels.get(label, ()))
        array = np.ascontiguousarray(as_rows(argument, value, FLOAT64))
        check_finite([argument], [array])
        return array
