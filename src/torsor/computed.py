"""A mechanism and its compiled kernels: the methods that are one kernel each, and the kernels of several."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from torsor import quantities as table
from torsor.compile import Kernel, Program
from torsor.errors import ArgumentError
from torsor.mechanism import Mechanism
from torsor.method import kernel_method
from torsor.model import Description
from torsor.recording import losses_of, make_kernel

Array: TypeAlias = np.ndarray
Wrenches: TypeAlias = Mapping[str, ArrayLike]
FLOAT64 = np.dtype(np.float64)


class MotorTorques(NamedTuple):
    """``(..., R)`` each, a rotor a column: τ_motor (MR 8.112) and τ_gear (MR 8.111)."""

    motor: Array
    gear: Array


class Computed(Mechanism):
    """What a Robot computes itself, in machine code."""

    def __init__(self, description: Description):
        super().__init__(description)
        self._kernels: dict[tuple, Kernel] = {}
        self._entries: dict[tuple[str, ...], Callable[..., Any]] = {}
        self._lock = threading.RLock()

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
        friction: bool = False,
        base_velocity: ArrayLike | None = None,
        base_acceleration: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """τ = M(q) a + h(q, v) − Jᵀf, the joint forces of a motion (RNEA; MR 8.50–8.54, F&O 3–8).

        ``wrenches={"frame": F}`` act on the robot, at and in that frame, F = (moment, force).  ``damping`` adds the model's
        viscous joint friction, ``friction`` that of its laws instead (:meth:`with_friction`, MR §8.9.4; 0 at rest).
        ``base_velocity`` and ``base_acceleration`` are the twist of a base that is carried along, and its rate, in its axes.
        """
        extra = {k: x for k, x in (("base_velocity", base_velocity), ("base_acceleration", base_acceleration)) if x is not None}
        if extra and self._description.base == "floating":
            raise ArgumentError(f"{next(iter(extra))} is for a fixed base; a floating base has its velocity in v and a")
        losses = {"damping": damping, "friction": friction}
        return self._run("inverse_dynamics", (q, v, a), wrenches=wrenches, extra=extra, losses=losses, out=out)

    @kernel_method
    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None = None,
        *,
        damping: bool = False,
        friction: bool = False,
        out: Array | None = None,
    ) -> Array:
        """a = M(q)⁻¹ (τ − h(q, v) + Jᵀf), the acceleration under joint forces (ABA; F&O 11–14, MR 8.81).

        ``wrenches``, ``damping`` and ``friction`` as for :meth:`inverse_dynamics`.  Friction at v = 0 is 0 here, so nothing is
        held: that takes :mod:`torsor.procedures.stiction`, as in simulation.  A robot with loops moves as they let it
        (F&O 15–22); ``robot.constrained()`` also gives the loops' forces.
        """
        losses = {"damping": damping, "friction": friction}
        if self._model.loops:
            if losses_of(self._model, damping, friction):
                tau = np.subtract(tau, self.friction_force(v, tau) if friction else self.damping_force(v))
            return self._through_loops(q, v, tau, wrenches, out)
        return self._run("forward_dynamics", (q, v, tau), wrenches=wrenches, losses=losses, out=out)

    def motor_torques(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Wrenches | None = None) -> MotorTorques:
        """(motor, gear): the torque at each rotor and what its gearhead passes on to the joint (MR 8.111–8.112).

        ``(..., R)`` each, in the order of ``rotors`` [N·m; of the gear N where the joint slides].  Of motors without loss:
        G · motor = gear + G J (u·α_b + G a) is the joint force of :meth:`inverse_dynamics`.
        """
        if not self._model.rotors:
            raise ArgumentError(f"robot {self.name!r} has no rotors; robot.with_rotors({{joint: dict(...)}}) mounts them")
        both = ("motor_torque", "gear_torque")
        wrenches = self._checked(wrenches)
        return MotorTorques(*self._kernel(both, frames=tuple(wrenches))(q, v, a, *wrenches.values()))

    def reaction_wrenches(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Wrenches | None = None, *, out: Array | None = None
    ) -> Array:
        """The wrench each joint puts on its child link, ``(N, 6)``, a row a name in ``joints``: in that link's frame (MR 8.53).

        Drive and bearing together, moment first [N·m, N].  Of loops: ``robot.constrained().reactions``.
        """
        return self._run("reaction_wrenches", (q, v, a), wrenches=wrenches, out=out)

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
    def friction_force(self, v: ArrayLike, load: ArrayLike | None = None, *, out: Array | None = None) -> Array:
        """τ_fric(v), the friction of the joints' laws (MR §8.9.4), 0 at rest; part of no other result unless asked for.

        ``load`` is the joint force without friction [N·m, N], for laws that grow with it.
        """
        return self._run("friction_force", (v,), extra=None if load is None else {"load": load}, out=out)

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

    # -- kernels ---------------------------------------------------------------------------------------------

    def kernel(self, *specs: table.Spec, dtype: Any = np.float64) -> Kernel:
        """Several results in one kernel that shares their common work; called with the state variables they need.

        A spec is a method's name, with its words after colons: ``"mass_matrix"``, ``"pose:tool0"``, ``"jacobian:tool0:body"``;
        or a tuple, ``("pose", "tool:0")``, where a name has a colon itself.

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
        friction: bool = False,
    ) -> Kernel:
        key = (specs, dtype, frames, extra, damping, friction)
        kernel = self._kernels.get(key)
        if kernel is None:
            with self._lock:
                kernel = self._kernels.get(key) or self._kernels.setdefault(key, make_kernel(self._model, *key))
        return kernel

    def _through_loops(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, wrenches: Wrenches | None, out: Array | None) -> Array:
        raise NotImplementedError  # a Robot knows how

    def _run(self, name: str, values: tuple, *, wrenches: Wrenches | None = None, extra=None, losses=None, out=None) -> Any:
        losses = {word: True for word, asked in (losses or {}).items() if asked}
        if wrenches is None and not extra and not losses:
            return self._kernel((name,))(*values, out=out)
        extra, wrenches = extra or {}, self._checked(wrenches)
        kernel = self._kernel((name,), frames=tuple(wrenches), extra=tuple(extra), **losses)
        return kernel(*values, *extra.values(), *wrenches.values(), out=out)

    def _checked(self, wrenches: Wrenches | None) -> Wrenches:
        """The wrenches by frames that there are."""
        if wrenches is not None and not isinstance(wrenches, Mapping):
            raise ArgumentError(f'wrenches must be a dict such as {{"{self.links[-1]}": F}}, not {type(wrenches).__name__}')
        for frame in wrenches or {}:
            self._model.frame(frame)
        return wrenches or {}

    def _at_frame(self, key: tuple[str, ...], values: tuple, out: Array | None) -> Any:
        """A kernel of one frame, through its built-in entry; ``key`` is the quantity and its words."""
        try:
            fast = self._entries[key]
        except (KeyError, TypeError):
            self._model.frame(key[1])
            kernel = self._kernel((key,))
            fast = self._entries[key] = kernel.builtin(key[0], "", kernel)
        return fast(*values) if out is None else fast(*values, out=out)
