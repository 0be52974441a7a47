"""Task: rows of the twists of a robot's frames, and the dynamics they obey."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from torsor.algorithms.jacobian import EXPRESSIONS
from torsor.algorithms.task_space import ROUTES, Target, row_names
from torsor.compile import Kernel
from torsor.compile.layout import PRESENT
from torsor.errors import ArgumentError, SingularError, printable, require_known
from torsor.kernels.checked_kernel import CheckedKernel
from torsor.kernels.derivatives import spec_of_derivative
from torsor.kernels.kernel_method import kernel_method, kernel_method_of
from torsor.kernels.replaced import name_replacements
from torsor.kernels.spec import Spec
from torsor.mechanics.task import composed
from torsor.mechanics.task.quantities import QUANTITIES, WITH_GIVEN_MASS, shapes
from torsor.mechanics.task.report import TaskReport, refuse_singular, report
from torsor.mechanics.task.singular import LARGEST, Singular

if TYPE_CHECKING:
    from torsor.kernels.options import Wrenches
    from torsor.robot import Robot

#: a frame name, optionally with its own rows, and with its own ``expressed_in``
Frame = str | tuple[str, Any] | tuple[str, Any, str]


class TaskForce(NamedTuple):
    """A task force F and the joint forces τ that make it."""

    force: np.ndarray
    tau: np.ndarray


class TaskMotion(NamedTuple):
    """Joint accelerations a, and the task force F that acts on the robot to give its rows their accelerations."""

    a: np.ndarray
    force: np.ndarray


@name_replacements
class Task:
    """The dynamics of chosen rows of the twists of one or more frames: F = Λ V̇ + η, with V = J v (MR 8.89).

    Made by ``robot.task(...)``.  k rows; ``(..., n)`` in, ``(..., k)`` out, as for a Robot.  V̇ is the rate of V as expressed:
    classical accelerations in ``"world"``.  F is the force of the actuators at the task; external wrenches are added to it.

    Quantities that exist at every configuration (J, Λ⁻¹, forward dynamics) are always computed.  Where J loses rank, quantities
    that need Λ raise a :class:`~torsor.errors.SingularError` that names the lost directions, unless ``singular`` is
    ``"damped"``, Λ is (J M⁻¹ Jᵀ + ρ² 1)⁻¹ with ρ = ``damping`` [kg^-½], so that the effective mass is at most 1/ρ² kg;
    ``"truncated"``, Λ is the pseudo-inverse of J M⁻¹ Jᵀ without the directions whose σ(J M^-½) is below ``tolerance`` times the
    largest: they have zero effective mass and get no force.

    >>> import numpy as np, torsor as ts
    >>> from torsor.task import Task
    >>> tip = Task(ts.robots.two_link(), "tip", ("vx", "vy"))
    >>> tip.mass_matrix(np.radians([0, 90])).round(9) + 0.0  # MR Fig. 8.4
    array([[1., 0.],
           [0., 2.]])
    """

    def __init__(
        self,
        robot: Robot,
        frame: str | Sequence[Frame],
        rows: str | Sequence[str] = "all",
        expressed_in: str = "world",
        *,
        singular: str = "raise",
        damping: float = Singular().damping,
        tolerance: float = Singular().tolerance,
    ):
        self._robot = robot
        self._targets = _targets(robot, [frame] if isinstance(frame, str) else frame, rows, expressed_in)
        self._singular = Singular(singular, damping, tolerance).check_treatment()
        self._kernels = robot.kernels.of(QUANTITIES, shapes(robot.model, self._targets))

    # -- properties ------------------------------------------------------------------------------------------

    @property
    def robot(self) -> Robot:
        """The robot of the task."""
        return self._robot

    @property
    def targets(self) -> tuple[Target, ...]:
        """Frames, their rows and how they are expressed, in order."""
        return self._targets

    @property
    def rows(self) -> tuple[str, ...]:
        """A name for each of the k rows, ``"vz at tool0"``."""
        return tuple(f"{name} at {t.frame}" for t in self._targets for name in t.rows)

    def __repr__(self) -> str:
        return f"<Task of {self._robot.name!r}: {printable(', '.join(self.rows))}>"

    def __reduce__(self) -> Any:
        return _rebuild_task, (self._robot, self._targets, self._singular)

    # -- kinematics ------------------------------------------------------------------------------------------

    @kernel_method
    def jacobian(self, q: ArrayLike) -> np.ndarray:
        """J(q), ``(k, nv)``: V = J v (MR 8.83)."""
        return self._call("jacobian", q)

    @kernel_method
    def jacobian_rate(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """J̇(q, v), ``(k, nv)``."""
        return self._call("jacobian_rate", q, v)

    @kernel_method
    def twist(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """V = J v, ``(k,)`` (MR 8.83)."""
        return self._call("twist", q, v)

    @kernel_method
    def acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
        """V̇ = J a + J̇ v, ``(k,)`` (MR 8.84)."""
        return self._call("acceleration", q, v, a)

    @kernel_method_of(guards={"magnified": LARGEST})
    def velocity(self, q: ArrayLike, twist: ArrayLike) -> np.ndarray:
        """v = J̄ V, ``(nv,)``: J⁻¹ V where J is square (MR 8.85), else of all v with J v = V that of least kinetic energy."""
        return self._with_mass("velocity", q, twist)

    @kernel_method_of(guards={"magnified": LARGEST})
    def joint_acceleration(self, q: ArrayLike, v: ArrayLike, acceleration: ArrayLike) -> np.ndarray:
        """a = J̄ (V̇ − J̇ v), ``(nv,)``: J⁻¹ V̇ − J⁻¹ J̇ J⁻¹ V where J is square (MR 8.86).

        If there are more joints than rows, it is the a with J a + J̇ v = V̇ of least aᵀM a.

        >>> import numpy as np, torsor as ts
        >>> tip = ts.robots.two_link().task("tip", ("vx", "vy"))
        >>> a = tip.joint_acceleration([0.3, 1.0], [0.5, -2.0], [1.0, 0.0])
        >>> bool(abs(tip.acceleration([0.3, 1.0], [0.5, -2.0], a) - [1.0, 0.0]).max() < 1e-12)
        True
        """
        return self._with_mass("joint_acceleration", q, v, acceleration)

    @property
    def is_composed(self) -> bool:
        """Whether the robot has constraints, so that Λ follows from its own forward dynamics (:mod:`.composed`)."""
        return self._robot.model.has_rows

    def _options(self, wrenches: Any, expressed_in: str, time: Any) -> dict[str, Any]:
        """Options of the robot's forward dynamics, where the task follows from it; else none."""
        own = wrenches or time is not None or self.is_composed or self._robot.model.depends_on_time
        return {"wrenches": wrenches, "expressed_in": expressed_in, "time": time} if own else {}

    @property
    def treatment(self) -> Singular:
        """The treatment of Λ where J loses rank."""
        return self._singular

    # -- dynamics that always exists -------------------------------------------------------------------------

    @kernel_method
    def inverse_mass_matrix(self, q: ArrayLike, method: str | None = None, *, time: ArrayLike | None = None) -> np.ndarray:
        """Λ⁻¹ = J M⁻¹ Jᵀ, ``(k, k)``, symmetric bit for bit; it exists where Λ does not.

        ``method``: ``"articulated"``, an O(N) inward pass per row over articulated-body inertias; ``"composite"``, the modified
        composite-rigid-body method of Lilly & Orin; ``"factors"``, the sparse factors of M.  Default: the shortest.
        """
        if self.is_composed:
            return composed.unloaded(self, q, time).inverse_mass
        return self._call("inverse_mass_matrix", q, route=method)

    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        force: ArrayLike | None = None,
        tau: ArrayLike | None = None,
        wrenches: Wrenches | None = None,
        expressed_in: str = "body",
        time: ArrayLike | None = None,
    ) -> np.ndarray:
        """V̇, ``(k,)``, under a task ``force`` F (k; τ = JᵀF; V̇ = Λ⁻¹ (F − η), MR 8.89), or under joint forces ``tau`` (nv).

        The terms of the robot act, as in :meth:`Robot.forward_dynamics`.
        """
        if (force is None) == (tau is None):
            raise ArgumentError("forward_dynamics needs either force (k entries) or tau (nv entries)")
        if options := self._options(wrenches, expressed_in, time):
            return composed.respond(self, q, v, tau if force is None else self.joint_force(q, force), **options).acceleration
        if tau is not None:
            return self._call("forward_dynamics", q, v, tau)
        return self._call("forward_dynamics_of_force", q, v, force)

    @kernel_method
    def joint_force(self, q: ArrayLike, force: ArrayLike) -> np.ndarray:
        """τ = JᵀF, ``(nv,)``."""
        return self._call("joint_force", q, force)

    # -- dynamics that needs Λ -------------------------------------------------------------------------------

    @kernel_method_of(guards={"magnified": LARGEST})
    def mass_matrix(self, q: ArrayLike, *, time: ArrayLike | None = None) -> np.ndarray:
        """Λ = (J M⁻¹ Jᵀ)⁻¹, ``(k, k)``: J⁻ᵀ M J⁻¹ where J is square (MR 8.90); under constraints P M⁻¹ for M⁻¹."""
        if self.is_composed:
            return composed.mass_matrix(self, composed.unloaded(self, q, time))
        return self._with_mass("mass_matrix", q)

    @kernel_method_of(guards={"magnified": LARGEST})
    def bias_force(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """η = J̄ᵀ h(q, v) − Λ J̇ v, ``(k,)`` (MR 8.91).

        A redundant robot's η depends on all of v, not on V = J v alone.  MR's η(θ, V) is
        ``task.bias_force(q, task.velocity(q, V))``.
        """
        return self._with_mass("bias_force", q, v)

    @kernel_method_of(guards={"magnified": LARGEST})
    def velocity_force(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """The velocity part of η, J̄ᵀ c(q, v) − Λ J̇ v."""
        return self._with_mass("velocity_force", q, v)

    @kernel_method_of(guards={"magnified": LARGEST})
    def gravity_force(self, q: ArrayLike) -> np.ndarray:
        """The gravity part of η, J̄ᵀ g(q)."""
        return self._with_mass("gravity_force", q)

    @kernel_method_of(guards={"magnified": LARGEST})
    def consistent_inverse(self, q: ArrayLike) -> np.ndarray:
        """J̄ = M⁻¹ Jᵀ Λ, ``(nv, k)``, the dynamically consistent inverse: J J̄ = 1 (Khatib 1987)."""
        return self._with_mass("consistent_inverse", q)

    @kernel_method_of(guards={"magnified": LARGEST})
    def null_space(self, q: ArrayLike) -> np.ndarray:
        """N = 1 − Jᵀ J̄ᵀ, ``(nv, nv)``.

        N projects joint forces: N τ accelerates no task row.  Its transpose Nᵀ = 1 − J̄ J projects velocities and accelerations:
        Nᵀ v moves no task row.
        """
        return self._with_mass("null_space", q)

    @kernel_method_of(TaskForce, guards={"magnified": LARGEST})
    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        acceleration: ArrayLike,
        *,
        null_torque: ArrayLike | None = None,
        wrenches: Wrenches | None = None,
        expressed_in: str = "body",
        time: ArrayLike | None = None,
    ) -> TaskForce:
        """F = Λ V̇ + η (MR 8.89) and τ = JᵀF, or JᵀF + N τ₀ with τ₀ = ``null_torque``, for the task acceleration V̇.

        τ has an entry for every degree of freedom, also those of a floating base.  What the robot's terms need, such as
        friction, is added to τ, not to F.  ``wrenches`` act on the robot, as in :meth:`Robot.inverse_dynamics`, with its
        options; accelerations are relative to a base that moves.
        """
        if options := self._options(wrenches, expressed_in, time):
            return TaskForce(*composed.inverse_dynamics(self, q, v, acceleration, null_torque, **options))
        if null_torque is None:
            return TaskForce(*self._with_mass("inverse_dynamics", q, v, acceleration))
        return TaskForce(*self._with_mass("inverse_dynamics_with_null_space_force", q, v, acceleration, null_torque))

    @kernel_method_of(TaskMotion, guards={"magnified": LARGEST})
    def constrained_dynamics(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, acceleration: ArrayLike) -> TaskMotion:
        """(a, F) of M a + h = τ + JᵀF and J a + J̇ v = V̇: forward dynamics with given task accelerations.

        By Vereshchagin's algorithm, O(N) for a given number of rows (F&O §2 [32]); if there are few joints, or mimic joints, by
        the factors of M when that takes fewer operations.  Of all motions with this V̇ it is the one nearest to the motion
        under τ alone, in the metric M (Gauss' principle of least constraint).  V̇ = 0 holds the rows at constant velocity.
        The terms of the robot act, as in :meth:`Robot.forward_dynamics`.

        >>> import torsor as ts
        >>> tip = ts.robots.two_link().task("tip", ("vx",))
        >>> a, F = tip.constrained_dynamics([0.3, 1.0], [0.0, 0.0], [0.0, 0.0], [0.0])  # falls, the tip in a vertical channel
        >>> bool(abs(tip.acceleration([0.3, 1.0], [0.0, 0.0], a)[0]) < 1e-12)
        True
        """
        return TaskMotion(*self._with_mass("constrained_dynamics", q, v, tau, acceleration))

    def report(self, q: ArrayLike) -> TaskReport:
        """Report at one configuration: singular values of J M^-½ and lost directions."""
        return report(self, q)

    # -- kernels ---------------------------------------------------------------------------------------------

    def kernel(self, name: str, method: str | None = None) -> Kernel:
        """The kernel of a quantity, exact; ``method`` as for :meth:`inverse_mass_matrix`.

        If the quantity needs Λ, the last result is the magnification of Λ: above 10¹² the methods reject the other results.
        """
        require_known("task quantity", name, QUANTITIES)
        if method is None:
            return self._kernels(name, self._targets)
        require_known("method", method, ROUTES)
        if method == "articulated" and not self._robot.model.local:
            raise ArgumentError(
                "mimic joints, and rotors mounted further in than the parent, couple distant bodies, which "
                "breaks the articulated-body recursion; "
                'use method="composite" or "factors", or robot.without_couplings()'
            )
        return self._kernels(name, self._targets, method)

    # -- derivatives -----------------------------------------------------------------------------------------

    def derivative(self, name: str, by: str | Sequence[str]) -> Kernel | CheckedKernel:
        """∂y/∂x of a quantity by one of its inputs, ``(..., *shape of y, n)``, or by several: one result each.

        Quantities and their inputs are those of :meth:`kernel`.  By ``"q"`` the derivative is along v (nv columns).  Forces
        and motions are differentiated as solutions of M a + h − JᵀF = τ, J a + J̇v = V̇, one more solve with the same factors
        for each column.  Where Λ does not exist, neither do its derivatives: SingularError, except with ``singular="damped"``.

        >>> import numpy as np, torsor as ts
        >>> tip = ts.robots.two_link().task("tip", ("vx", "vy"))
        >>> slope = tip.derivative("forward_dynamics", by="tau")([0.0, 1.0], [0, 0], [0, 0])  # J M⁻¹
        >>> bool(abs(slope @ tip.jacobian([0.0, 1.0]).T - tip.inverse_mass_matrix([0.0, 1.0])).max() < 1e-12)
        True
        """
        return self._derivative("jacobian", name, by)

    def jvp(self, name: str, by: str | Sequence[str] | None = None) -> Kernel | CheckedKernel:
        """(∂y/∂x) ẋ: the kernel takes the inputs of the quantity, then a direction for each input in ``by`` (default all)."""
        return self._derivative("jvp", name, by)

    def vjp(self, name: str, by: str | Sequence[str] | None = None) -> Kernel | CheckedKernel:
        """wᵀ(∂y/∂x): the kernel takes the inputs of the quantity, then weights of each result; one gradient per input."""
        return self._derivative("vjp", name, by)

    def _derivative(self, mode: str, name: str, by: Any) -> Kernel | CheckedKernel:
        known = [x for x in QUANTITIES if not x.endswith(WITH_GIVEN_MASS.format(""))]
        require_known("task quantity", name, known)
        row, treatment = QUANTITIES[name], self._singular.treatment
        words: tuple[Any, ...] = (self._targets,)
        if row.checks and treatment == "truncated":
            raise ArgumentError(f'{name} jumps with singular="truncated" and has no derivative; use "raise" or "damped"')
        if row.checks and treatment == "damped":
            words += (None, self._singular.damping)
        spec = spec_of_derivative(self._kernels, mode, Spec(((name, *words),)), by)
        kernel = self._kernels.kernel(spec)
        return CheckedKernel(kernel, {"magnified": LARGEST}, self._refuse_derivative) if row.checks else kernel

    def _refuse_derivative(self, given: dict[str, Any], bad: np.ndarray | None) -> None:
        refuse_singular(self, given["q"])

    def _kernel_for(self, name: str, wrenches: tuple[str, ...] = (), **words: Any) -> Kernel | None:
        """The kernel of a method, if its result needs no check; None where Λ is replaced, and with optional arrays."""
        replaced = WITH_GIVEN_MASS.format(name) in QUANTITIES and self._singular.treatment != "raise"
        more = wrenches or any(x is PRESENT for x in words.values()) or self._robot.model.depends_on_time
        return None if replaced or more or self.is_composed else self.kernel(name, words.get("method"))

    def _call(self, name: str, *values: Any, route: str | None = None) -> Any:
        return self.kernel(name, route)(*values)

    def _with_mass(self, name: str, q: Any, *rest: Any) -> Any:
        """A quantity that needs Λ: exact, rejected, or with the replacement for Λ."""
        if self.is_composed:
            return getattr(composed, name)(self, q, *rest)
        if self._singular.treatment != "raise":
            Lambda = self._singular.mass(self._call("inverse_mass_matrix", q))
            return self._call(WITH_GIVEN_MASS.format(name), q, *rest, Lambda)
        try:
            *results, magnified = self._call(name, q, *rest)
        except SingularError:  # exactly singular, here or everywhere
            refuse_singular(self, q)
            raise
        if magnified > LARGEST if isinstance(magnified, float) else (magnified > LARGEST).any():
            refuse_singular(self, q)
        return results[0] if len(results) == 1 else results


def _targets(robot: Robot, frames: Sequence[Frame], rows: Any, expressed_in: str) -> tuple[Target, ...]:
    """Frames as users write them, as targets; a frame's own rows and ``expressed_in`` override the common ones."""
    found = []
    for frame in frames:
        name, *own = (frame,) if isinstance(frame, str) else frame
        if len(own) > 2:
            raise ArgumentError(f"a frame of a task must be a name, (name, rows) or (name, rows, expressed_in), not {frame!r}")
        robot.model.frame(name)
        words = own[1] if len(own) == 2 else expressed_in
        require_known("expressed_in=", words, EXPRESSIONS)
        found.append(Target(name, row_names(own[0] if own else rows), words))
    single = [(t.frame, row, t.expressed_in) for t in found for row in t.rows]
    if not single or len(set(single)) < len(single):
        raise ArgumentError(f"a task needs at least one row, each only once; {found} given")
    return tuple(found)


def _rebuild_task(robot: Robot, targets: Sequence[Target], singular: Singular) -> Task:
    return Task(robot, targets, singular=singular.treatment, damping=singular.damping, tolerance=singular.tolerance)
