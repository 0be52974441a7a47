"""Robot: a mechanism and its compiled kernels; the methods users call, each a few lines."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from torsor import quantities as table
from torsor.compile import Kernel, Program
from torsor.errors import ArgumentError
from torsor.mechanism import Mechanism
from torsor.method import kernel_method
from torsor.model import Description
from torsor.recording import make_kernel

if TYPE_CHECKING:
    from torsor.algorithms.stacked import Stacked
    from torsor.constrained import Constrained
    from torsor.constraints import Constraint
    from torsor.operators import Innovations, Operators
    from torsor.symbolic.closed_form import ClosedForm
    from torsor.understanding import Ellipsoid, Explanation, Trace

FLOAT64 = np.dtype(np.float64)
Array: TypeAlias = np.ndarray
Wrenches: TypeAlias = Mapping[str, ArrayLike]


class Robot(Mechanism):
    """A robot: immutable, picklable, safe in threads.  Every method takes one state or a batch, ``(..., n)``.

    ``q`` configuration (``nq``), ``v`` velocity, ``a`` acceleration, ``tau`` joint force (``nv``); SI units.  ``out=`` takes an
    array for the result where a caller wants no allocation.

    >>> import torsor as ts
    >>> robot = ts.robots.two_link()
    >>> robot.gravity_force([0.0, 0.0]).round(2)
    array([29.43,  9.81])
    """

    def __init__(self, description: Description):
        super().__init__(description)
        self._kernels: dict[tuple, Kernel] = {}
        self._entries: dict[tuple[str, ...], Callable[..., Any]] = {}
        self._lock = threading.RLock()
        self._looped: Constrained | None = None

    # -- dynamics --------------------------------------------------------------------------------------------

    @kernel_method
    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        wrenches: Wrenches | None = None,
        *,
        damping: bool = False,
        base_velocity: ArrayLike | None = None,
        base_acceleration: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """τ = M(q) a + h(q, v) − Jᵀf, the joint forces of a motion (RNEA; MR 8.50–8.54, F&O 3–8).

        ``wrenches={"frame": F}`` act on the robot, at and in that frame, F = (moment, force).  ``damping`` adds the model's
        viscous joint friction.  ``base_velocity`` and ``base_acceleration`` are the twist of a base that is carried along, and
        its rate, in the base's axes.
        """
        extra = {k: x for k, x in (("base_velocity", base_velocity), ("base_acceleration", base_acceleration)) if x is not None}
        if extra and self._description.base == "floating":
            raise ArgumentError(f"{next(iter(extra))} is for a fixed base; a floating base has its velocity in v and a")
        return self._run("inverse_dynamics", (q, v, a), wrenches=wrenches, extra=extra, damping=damping, out=out)

    @kernel_method
    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None = None,
        *,
        damping: bool = False,
        out: Array | None = None,
    ) -> Array:
        """a = M(q)⁻¹ (τ − h(q, v) + Jᵀf), the acceleration under joint forces (ABA; F&O 11–14, MR 8.81).

        ``wrenches`` and ``damping`` as for :meth:`inverse_dynamics`.  A robot with loops moves as they let it (F&O 15–22);
        ``robot.constrained()`` also gives the loops' forces.
        """
        if self._model.loops:
            if damping:
                tau = np.asarray(tau, float) - self.damping_force(v)
            a = self.constrained().forward_dynamics(q, v, tau, wrenches).a
            if out is None:
                return a
            np.copyto(out, a)
            return out
        return self._run("forward_dynamics", (q, v, tau), wrenches=wrenches, damping=damping, out=out)

    @kernel_method
    def mass_matrix(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """M(q), ``(nv, nv)``, symmetric to the bit (CRBA; F&O 9–10, MR 8.57)."""
        return self._run("mass_matrix", (q,), out=out)

    @kernel_method
    def mass_matrix_inverse(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """M(q)⁻¹, symmetric to the bit, by the sparse factors of M."""
        return self._run("mass_matrix_inverse", (q,), out=out)

    @kernel_method
    def bias_force(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """h(q, v) = c(q, v) + g(q) (MR 8.1, Exercise 8.11)."""
        return self._run("bias_force", (q, v), out=out)

    @kernel_method
    def gravity_force(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """g(q), the joint forces that hold the robot still (MR 8.10)."""
        return self._run("gravity_force", (q,), out=out)

    @kernel_method
    def velocity_force(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """c(q, v), the Coriolis and centripetal forces (MR 8.10)."""
        return self._run("velocity_force", (q, v), out=out)

    @kernel_method
    def damping_force(self, v: ArrayLike, *, out: Array | None = None) -> Array:
        """D v, the viscous friction of the joints as the model has it; part of no other result unless asked for."""
        return self._run("damping_force", (v,), out=out)

    @kernel_method
    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """C(q, v), with C v = c and Ṁ − 2C skew (MR 8.19, Prop. 8.1)."""
        return self._run("coriolis_matrix", (q, v), out=out)

    @kernel_method
    def christoffel_symbols(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """Γ(q), ``(nv, nv, nv)``, with C_ij = Σ_k Γ_ijk v_k (MR 8.17)."""
        return self._run("christoffel_symbols", (q,), out=out)

    @kernel_method
    def mass_matrix_rate(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """Ṁ(q, v) = dM/dt along the motion."""
        return self._run("mass_matrix_rate", (q, v), out=out)

    @kernel_method
    def kinetic_energy(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Any:
        """½ vᵀ M v [J] (MR 8.55)."""
        return self._run("kinetic_energy", (q, v), out=out)

    @kernel_method
    def potential_energy(self, q: ArrayLike, *, out: Array | None = None) -> Any:
        """−Σ m gᵀc of all that moves [J]."""
        return self._run("potential_energy", (q,), out=out)

    @kernel_method
    def momentum(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """(angular, linear) momentum of all that moves, in the world, about its origin (MR 8.34)."""
        return self._run("momentum", (q, v), out=out)

    # -- kinematics ------------------------------------------------------------------------------------------

    @kernel_method
    def center_of_mass(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """Centre of mass of all that moves [m], in the world; a fixed base is left out."""
        return self._run("center_of_mass", (q,), out=out)

    def pose(self, q: ArrayLike, frame: str, *, out: Array | None = None) -> Array:
        """T_world_frame, 4×4."""
        return self._at_frame(("pose", frame), (q,), out)

    def jacobian(self, q: ArrayLike, frame: str, expressed_in: str = "world", *, out: Array | None = None) -> Array:
        """J(q), 6×nv: (ω, v) of the frame = J v.

        ``expressed_in``: ``"world"`` (world axes, at the frame's origin), ``"body"`` or ``"space"`` (MR's two Jacobians).
        """
        return self._at_frame(("jacobian", frame, expressed_in), (q,), out)

    def jacobian_rate(
        self, q: ArrayLike, v: ArrayLike, frame: str, expressed_in: str = "world", *, out: Array | None = None
    ) -> Array:
        """J̇(q, v) = dJ/dt, 6×nv, expressed as J is."""
        return self._at_frame(("jacobian_rate", frame, expressed_in), (q, v), out)

    def twist(self, q: ArrayLike, v: ArrayLike, frame: str, expressed_in: str = "world", *, out: Array | None = None) -> Array:
        """(ω, v) of a frame: J v."""
        return self._at_frame(("twist", frame, expressed_in), (q, v), out)

    def acceleration(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, frame: str, expressed_in: str = "world", *, out: Array | None = None
    ) -> Array:
        """The rate of :meth:`twist`, J a + J̇ v: classical (ω̇, p̈) in ``"world"``, spatial in ``"body"`` and ``"space"``."""
        return self._at_frame(("acceleration", frame, expressed_in), (q, v, a), out)

    # -- configurations --------------------------------------------------------------------------------------

    def integrate(self, q: ArrayLike, v: ArrayLike, dt: ArrayLike = 1.0, *, out: Array | None = None) -> Array:
        """q ⊕ v dt: where the constant velocity v leads in time dt, on the manifold (quaternions stay unit)."""
        return self._run("integrate", (q, v, dt), out=out)

    def configuration_rate(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """q̇, ``(nq,)``: the rate of the coordinates at velocity v; v itself but for quaternions."""
        return self._run("configuration_rate", (q, v), out=out)

    def difference(self, q0: ArrayLike, q1: ArrayLike, *, out: Array | None = None) -> Array:
        """q1 ⊖ q0, ``(nv,)``: the constant velocity that leads from q0 to q1 in unit time."""
        return self._run("difference", (q0, q1), out=out)

    # -- constraints and loops -------------------------------------------------------------------------------

    def constrained(self, *constraints: Constraint) -> Constrained:
        """The robot held to its own loops and to these constraints (:mod:`torsor.constraints`): MR §8.7, F&O §3.4."""
        from torsor.constrained import Constrained

        if not constraints:
            with self._lock:
                if self._looped is None:
                    self._looped = Constrained(self)
                return self._looped
        return Constrained(self, constraints)

    def assemble(self, q_guess: ArrayLike | None = None, **options: Any) -> Array:
        """q that closes the loops, near a guess (F&O 16); options as :meth:`torsor.constrained.Constrained.assemble` has."""
        return self.constrained().assemble(q_guess, **options)

    def reaction_wrenches(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Wrenches | None = None, *, out: Array | None = None
    ) -> Array:
        """The wrench each joint puts on its child link, ``(N, 6)``, a row a name in ``joints``: in that link's frame (MR 8.53).

        Drive and bearing together, moment first [N·m, N].  Of loops: ``robot.constrained().reactions``.
        """
        return self._run("reaction_wrenches", (q, v, a), wrenches=wrenches, out=out)

    def operators(
        self,
        q: ArrayLike,
        v: ArrayLike | None = None,
        tau: ArrayLike | None = None,
        wrenches: Wrenches | None = None,
        *,
        frame: str = "body",
    ) -> Operators:
        """P, H, I, S, T of the whole tree as sparse matrices, and F&O 23–29 made of them; one state at a time."""
        from torsor import operators

        return operators.operators(self, q, v, tau, wrenches, frame=frame)

    def innovations(self, q: ArrayLike) -> Innovations:
        """M(q) = L Lᵀ as operators in O(N): M x, M⁻¹x, L x, L⁻¹x, log det M, samples (F&O §3.5)."""
        from torsor import operators

        return operators.innovations(self, q)

    # -- understanding, one state at a time ------------------------------------------------------------------

    def explain(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Wrenches | None = None, *, damping: bool = False
    ) -> Explanation:
        """Each joint force split by cause: inertia by joint, velocity products by pair, gravity by link, ... (MR 8.16)."""
        from torsor import understanding

        return understanding.explain(self, q, v, a, wrenches, damping=damping)

    def stacked(
        self, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None, wrenches: Wrenches | None = None
    ) -> Stacked:
        """𝒜, 𝒢, 𝒲, ℒ, [ad_𝒱], [ad_𝒜θ̇], 𝒱_base, 𝒱̇_base, ℱ_tip by name (MR 8.58–8.72)."""
        from torsor import understanding

        return understanding.stacked(self, q, v, a, wrenches)

    def newton_euler_trace(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Wrenches | None = None, *, at: str = "link"
    ) -> Trace:
        """The recursion body by body, as a table (MR 8.50–8.54); ``at`` the "link" frames or the "com"."""
        from torsor import understanding

        return understanding.newton_euler_trace(self, q, v, a, wrenches, at=at)

    def torque_ellipsoid(self, q: ArrayLike) -> Ellipsoid:
        """{M θ̈ : |θ̈| = 1}: the torques of unit accelerations (MR Fig. 8.3)."""
        from torsor import understanding

        return understanding.torque_ellipsoid(self, q)

    def mass_ellipsoid(self, q: ArrayLike, frame: str, rows: Any = "linear", expressed_in: str = "world") -> Ellipsoid:
        """Λ = (J M⁻¹ Jᵀ)⁻¹, how massy a frame feels (MR 8.21, Fig. 8.4)."""
        from torsor import understanding

        return understanding.mass_ellipsoid(self, q, frame, rows, expressed_in)

    def acceleration_ellipsoid(
        self, q: ArrayLike, frame: str | None = None, rows: Any = "linear", expressed_in: str = "world"
    ) -> Ellipsoid:
        """The accelerations of unit forces, of the joints or of a frame: M⁻¹ or Λ⁻¹ (MR Figs. 8.3, 8.4)."""
        from torsor import understanding

        return understanding.acceleration_ellipsoid(self, q, frame, rows, expressed_in)

    def symbolic(self, parameters: str = "symbols", form: str = "auto") -> ClosedForm:
        """The closed-form equations of motion: M, c, g, Γ and J as formulas (SymPy, LaTeX, Markdown, Python).

        ``parameters`` as "symbols" named from the model, or as "numbers"; ``form`` "expanded", "program" or "auto" by size.
        """
        from torsor.symbolic.closed_form import symbolic

        return symbolic(self, parameters, form)

    def export_c(self, path: str | PathLike[str], *specs: table.Spec, **options: Any) -> tuple[Path, Path, Path]:
        """Write quantities as C99: ``path.h``, ``path.c`` and a test program; options as :func:`torsor.export.export_c` has."""
        from torsor.export import export_c

        return export_c(self, path, *specs, **options)

    def export_python(self, path: str | PathLike[str], *specs: table.Spec, **options: Any) -> Path:
        """Write quantities as a Python module that needs NumPy alone; options as :func:`torsor.export.export_python` has."""
        from torsor.export import export_python

        return export_python(self, path, *specs, **options)

    # -- kernels ---------------------------------------------------------------------------------------------

    def kernel(self, *specs: str, dtype: Any = np.float64) -> Kernel:
        """Several results in one kernel that shares their common work; called with the state variables they need.

        A spec is a method's name, with its words after colons: ``"mass_matrix"``, ``"pose:tool0"``, ``"jacobian:tool0:body"``.

        >>> import torsor as ts
        >>> robot = ts.robots.two_link()
        >>> M, g = robot.kernel("mass_matrix", "gravity_force")([0.0, 0.5])
        """
        if not specs:
            raise ArgumentError(f"name what the kernel computes, one or more of: {', '.join(table.QUANTITIES)}")
        return self._kernel(specs, np.dtype(dtype))

    def program(self, *specs: str) -> Program:
        """The recorded program of a kernel: operations, counts, code."""
        return self.kernel(*specs).program

    def _kernel(
        self,
        specs: tuple[table.Spec, ...],
        dtype: np.dtype = FLOAT64,
        frames: tuple[str, ...] = (),
        extra: tuple[str, ...] = (),
        damping: bool = False,
    ) -> Kernel:
        key = (specs, dtype, frames, extra, damping)
        kernel = self._kernels.get(key)
        if kernel is None:
            with self._lock:
                kernel = self._kernels.get(key) or self._kernels.setdefault(key, make_kernel(self._model, *key))
        return kernel

    def _run(self, name: str, values: tuple, *, wrenches: Wrenches | None = None, extra=None, damping=False, out=None) -> Any:
        if wrenches is None and not extra and not damping:
            return self._kernel((name,))(*values, out=out)
        if wrenches is not None and not isinstance(wrenches, Mapping):
            raise ArgumentError(f'wrenches must be a dict such as {{"{self.links[-1]}": F}}, not {type(wrenches).__name__}')
        extra, wrenches = extra or {}, wrenches or {}
        for frame in wrenches:
            self._model.frame(frame)
        kernel = self._kernel((name,), frames=tuple(wrenches), extra=tuple(extra), damping=bool(damping))
        return kernel(*values, *extra.values(), *wrenches.values(), out=out)

    def _at_frame(self, key: tuple[str, ...], values: tuple, out: Array | None) -> Any:
        """A kernel of one frame, through its built-in entry; ``key`` is the quantity and its words."""
        try:
            fast = self._entries[key]
        except (KeyError, TypeError):
            self._model.frame(key[1])
            kernel = self._kernel((key,))
            fast = self._entries[key] = kernel.builtin(key[0], "", kernel)
        return fast(*values) if out is None else fast(*values, out=out)
