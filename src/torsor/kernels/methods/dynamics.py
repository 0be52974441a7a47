"""Methods of Robot: inverse, forward and hybrid dynamics, matrices, energies, one step in time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike

from torsor.algorithms.equation.stiff import check_method
from torsor.errors import ArgumentError
from torsor.kernels.compiled_mechanism import CompiledMechanism
from torsor.kernels.kernel_method import kernel_method, kernel_method_of, quantity_method, quantity_method_of
from torsor.kernels.options import ForceOptions, ForceOptionsOut, Wrenches
from torsor.kernels.replaced import name_replacements
from torsor.model import Description
from torsor.support.user_arrays import Array

_ZERO_OR_ONE = frozenset({0.0, 1.0})


class MotorTorques(NamedTuple):
    """τ_motor (MR 8.112) and τ_gear (MR 8.111), each ``(..., R)``: one column per rotor."""

    motor: Array
    gear: Array


class HybridDynamics(NamedTuple):
    """``(..., nv)`` each: the accelerations and the joint forces of all joints."""

    a: Array
    tau: Array


class State(NamedTuple):
    """A configuration ``(..., nq)`` and a velocity ``(..., nv)``."""

    q: Array
    v: Array


class StateWithX(NamedTuple):
    """A configuration ``(..., nq)``, a velocity ``(..., nv)``, and first-order states ``(..., nx)`` (``robot.state_names``)."""

    q: Array
    v: Array
    x: Array


@name_replacements
class Dynamics(CompiledMechanism):
    """Inverse and forward dynamics, matrices and energies of a mechanism."""

    def __init__(self, description: Description):
        super().__init__(description)
        self._masks: dict[tuple[str, ...], Array] = {}  # by the names of the prescribed joints of hybrid dynamics

    @quantity_method
    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        wrenches: Wrenches | None = None,
        *,
        expressed_in: str = "body",
        base_velocity: ArrayLike | None = None,
        base_acceleration: ArrayLike | None = None,
        x: ArrayLike | None = None,
        time: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """τ = M(q) a + h(q, v) − Jᵀf, the joint forces of a motion [N·m, N] (RNEA; MR 8.50–8.54, F&O 3–8).

        ``wrenches={"frame": F}`` act on the robot at that frame's origin, F = (moment, force) [N·m, N], in its axes, or with
        ``expressed_in="world"`` in world axes: then Jᵀf is ``robot.jacobian(q, frame).T @ F``.  All terms of the robot act
        (``robot.terms``): friction laws add τ_fric(v, ℓ), 0 at rest, ℓ the joint force without it (MR §8.9.4).
        F may be a function of t, too.  ``time`` t [s] is needed where a wrench or a term depends on it.
        ``base_velocity`` and ``base_acceleration`` are the twist of a moving fixed base, and its rate, in its axes.  ``x`` are
        the first-order states (``robot.state_names``), by default where they rest: LuGre friction then is that of its curve.
        """

    @kernel_method
    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None = None,
        *,
        expressed_in: str = "body",
        method: str | None = None,
        x: ArrayLike | None = None,
        time: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """a = M(q)⁻¹ (τ − h(q, v) + Jᵀf), the acceleration under joint forces [rad/s², m/s²] (ABA; F&O 11–14, MR 8.81).

        ``wrenches``, ``x`` and ``time`` as for :meth:`inverse_dynamics`; all terms act (``robot.terms``).  Friction at
        v = 0 is 0 here, without stiction; :mod:`torsor.simulate.stiction` finds the joints that stick, as in simulation.
        ``method="aba"`` is the articulated-body algorithm, ``"factors"`` solves with the sparse factors of M; by default the
        one of fewer operations.  They differ in the last digits.  Loop constraints are satisfied
        (F&O 15–22); ``robot.constrained()`` also returns the loops' forces.
        """
        if self._model.has_rows and method is not None:
            raise ArgumentError("method= selects an algorithm for trees; robot.constrained() has those for closed loops")
        options: Any = {"expressed_in": expressed_in, "method": method, "extra": {} if x is None else {"x": x}}
        return self._run("forward_dynamics", (q, v, tau), wrenches, **options, time=time, out=out)

    def hybrid_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        tau: ArrayLike,
        prescribed: Sequence[str] | ArrayLike,
        wrenches: Wrenches | None = None,
        **options: Unpack[ForceOptions],
    ) -> HybridDynamics:
        """Hybrid dynamics: (a, τ) of all joints, given a for the joints in ``prescribed`` and τ for the rest.

        M(q) a + h(q, v) = τ + Jᵀf, where each row has one unknown (Featherstone 2008, §9.2).  ``prescribed`` names joints, or
        is an array of 0 and 1, ``(..., nv)``, which may differ from state to state.  ``a`` of the other joints and ``tau`` of
        the prescribed ones are ignored.  ``wrenches`` and ``time`` as for :meth:`inverse_dynamics`; all terms act.

        >>> import torsor as ts
        >>> robot = ts.robots.two_link()
        >>> a, tau = robot.hybrid_dynamics([0.1, 0.5], [0, 0], [0, 0], [0, 0], prescribed=["joint1"])  # joint2 falls
        """
        mask = self._prescribed_rows(prescribed)
        return self._hybrid(q, v, a, tau, mask, wrenches, **options)

    @quantity_method_of(HybridDynamics)
    def _hybrid(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        tau: ArrayLike,
        prescribed: ArrayLike,
        wrenches: Wrenches | None = None,
        **options: Unpack[ForceOptions],
    ) -> HybridDynamics:
        """Hybrid dynamics, with ``prescribed`` as numbers."""

    def _prescribed_rows(self, prescribed: Any) -> Array:
        """1 in the rows of v whose acceleration is given, else 0; ``prescribed`` may name joints."""
        names = (prescribed,) if isinstance(prescribed, str) else prescribed
        if isinstance(names, (list, tuple)) and all(isinstance(name, str) for name in names):
            key = tuple(names)
            if key not in self._masks:
                mask = np.zeros(self.nv)
                for name in key:
                    mask[self.joint(name).v_slice] = 1.0
                mask.flags.writeable = False
                self._masks[key] = mask
            return self._masks[key]
        given = type(prescribed) is np.ndarray and prescribed.dtype == np.float64 and prescribed.ndim == 1
        if given and _ZERO_OR_ONE.issuperset(prescribed.tolist()):
            return prescribed
        try:
            rows = np.asarray(prescribed)
        except ValueError:  # of unequal rows
            rows = np.array(None)
        if rows.ndim == 1 and rows.dtype.kind in "UO" and all(isinstance(x, str) for x in rows.tolist()):
            return self._prescribed_rows(rows.tolist())
        if rows.dtype.kind not in "biuf" or not ((rows == 0) | (rows == 1)).all():
            raise ArgumentError(
                f"prescribed must be joint names, or an array (..., {self.nv}) of 1 (acceleration given) and 0 (force given), "
                f"not {prescribed!r}"
            )
        return rows.astype(float)

    @kernel_method_of(MotorTorques)
    def motor_torques(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Wrenches | None = None, *, expressed_in: str = "body"
    ) -> MotorTorques:
        """(motor, gear): the torque at each rotor and the output torque of its gearhead (MR 8.111–8.112).

        ``(..., R)`` each, in the order of ``rotors`` [N·m; gear force in N for prismatic joints].  For motors without loss:
        G · motor = gear + G J (u·α_b + G a) is the joint force of :meth:`inverse_dynamics`.
        """
        if not self._model.rotors:
            raise ArgumentError(f"robot {self.name!r} has no rotors; add them with robot.with_rotors({{joint: dict(...)}})")
        return MotorTorques(*self._run("motor_torques", (q, v, a), wrenches, expressed_in=expressed_in))

    @quantity_method
    def reaction_wrenches(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Wrenches | None = None, **options: Unpack[ForceOptionsOut]
    ) -> Array:
        """F_i = G_i V̇_i − ad_Vᵀ G_i V_i − f_i + Σ X_jᵀ F_j, ``(N, 6)``: the wrench of each joint on its child link (MR 8.53).

        One row per name in ``joints``, in the child link's frame: drive and bearing together, moment first [N·m, N].
        For robots with loops: ``robot.constrained().reactions``.
        """

    @quantity_method
    def mass_matrix(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """M(q), ``(nv, nv)``, with K = ½ vᵀ M v [kg·m²; kg for prismatic joints] (CRBA; F&O 9–10, MR 8.57).

        The result is exactly symmetric.  It is that of the tree, with or without loops and other constraints.
        """

    @quantity_method
    def mass_matrix_inverse(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """M(q)⁻¹, ``(nv, nv)``, with a = M⁻¹ (τ − h) [1/(kg·m²), 1/kg]; exactly symmetric, by the factors of M (MR 8.2).

        It is that of the tree: under loops and other constraints a = M⁻¹ (τ + Aᵀλ − h).
        """

    @quantity_method
    def bias_force(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """h(q, v) = c(q, v) + g(q) [N·m; N for prismatic joints]: the joint forces at a = 0 (MR 8.1, Exercise 8.11).

        With force elements (:meth:`with_forces`) it includes them, drag as well.  It is that of the tree: other terms of the
        robot, its loops and constraints are not in it.
        """

    @quantity_method
    def gravity_force(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """g(q) = ∂P/∂q [N·m, N]: the joint forces that hold the robot at rest, for gravity compensation (MR 8.10).

        Weight that force elements carry (buoyancy, :meth:`with_forces`) is not in it.  It is that of the tree, also of a robot
        with loops, whose drives need other forces: ``robot.inverse_dynamics`` at rest.
        """

    @quantity_method
    def velocity_force(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """c(q, v) = C(q, v) v [N·m, N], the Coriolis and centripetal forces of the tree (MR 8.10)."""

    @quantity_method
    def damping_force(self, v: ArrayLike, *, out: Array | None = None) -> Array:
        """τ = D v [N·m, N]: the damping of the model's joints; it acts on a robot made by :meth:`with_damping`."""

    @quantity_method
    def friction_force(self, v: ArrayLike, *, load: ArrayLike | None = None, out: Array | None = None) -> Array:
        """τ_fric(v, load) [N·m, N], of τ = M a + h + τ_fric: the friction laws of the joints, 0 at rest (MR §8.9.4).

        ``load`` is the joint force without friction [N·m, N], for laws that grow with it.  It is part of inverse, forward and
        hybrid dynamics, and never of M, h, g or the energies.
        """

    @quantity_method
    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """C(q, v), ``(nv, nv)``, with C v = c [N·m, N] and Ṁ − 2C skew (MR 8.19, Prop. 8.1)."""

    @quantity_method
    def christoffel_symbols(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """Γ(q), ``(nv, nv, nv)``, with C_ij = Σ_k Γ_ijk v_k, in the units of M per radian or metre (MR 8.17)."""

    @quantity_method
    def mass_matrix_rate(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """Ṁ(q, v) = dM/dt along the motion, ``(nv, nv)`` [kg·m²/s, kg/s]; Ṁ = C + Cᵀ (MR Prop. 8.1)."""

    @quantity_method
    def kinetic_energy(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Any:
        """K = ½ vᵀ M v [J] of all moving links (MR 8.14, 8.55)."""

    @quantity_method
    def potential_energy(self, q: ArrayLike, *, out: Array | None = None) -> Any:
        """P = −Σ m gᵀc [J] of all moving links, c the centres of mass; zero with all of them at the world's origin.

        Weight that force elements carry (:meth:`with_forces`) is subtracted.
        """

    @quantity_method
    def momentum(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """(L, p) = Σ G V, ``(6,)``: momentum of all moving links, in world axes, about its origin [N·m·s, N·s] (MR 8.34)."""

    @kernel_method_of(State)
    def step(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        dt: ArrayLike,
        integrator: str = "semi_implicit",
        wrenches: Wrenches | None = None,
        *,
        expressed_in: str = "body",
        x: ArrayLike | None = None,
        time: ArrayLike | None = None,
        out: tuple[Array, ...] | None = None,
    ) -> State | StateWithX:
        """(q⁺, v⁺), the state after a step of dt [s] with constant joint forces and wrenches: one step of a rollout (MR §8.5).

        ``tau`` are commands where the robot has actuators or drives.  ``integrator``: "semi_implicit", "euler", "rk4",
        "midpoint", "variational", or "implicit" for joint forces that are steep in q or v.  A robot with first-order states
        (``robot.state_names``) needs ``x`` too, and (q⁺, v⁺, x⁺) is returned.  Other options as for :meth:`forward_dynamics`.
        Contacts, stops and dry friction of joints act by impulses, in "semi_implicit" and "implicit".

        >>> import torsor as ts
        >>> q, v = ts.robots.two_link().step([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], 1e-3)
        """
        check_method(integrator)
        names = self.state_names
        if (x is None) == bool(names):
            have = f"has first-order states, {', '.join(names)}: give x=" if names else "has no first-order states: omit x="
            raise ArgumentError(f"robot {self.name!r} {have}")
        options: Any = {"integrator": integrator, "expressed_in": expressed_in, "time": time, "out": out}
        if x is not None:
            return StateWithX(*self._run("step", (q, v, tau, dt, x), wrenches, **options))
        return State(*self._run("step", (q, v, tau, dt), wrenches, **options))

    def joint_forces(
        self, u: ArrayLike, q: ArrayLike, v: ArrayLike, *, x: ArrayLike | None = None, out: Array | None = None
    ) -> Array:
        """τ ``(nv,)`` [N·m, N], the joint forces of commands u ``(nv,)``: what actuators and drives make of them at (q, v, x).

        ``x`` (``robot.state_names``) has their memory and currents, by default zero memory and currents at rest.  Without
        actuators and drives τ = u.
        """
        return self._run("joint_forces", (u, q, v), extra={} if x is None else {"x": x}, out=out)
