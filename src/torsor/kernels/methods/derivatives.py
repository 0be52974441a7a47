"""Methods of Robot: derivatives of its quantities, and products with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike

from torsor.algorithms.equation.stiff import check_method
from torsor.compile import Kernel
from torsor.errors import ArgumentError
from torsor.kernels.checked_kernel import CheckedKernel
from torsor.kernels.checks import check_step_length, wrenches_at
from torsor.kernels.compiled_mechanism import CompiledMechanism
from torsor.kernels.derivatives import spec_of_derivative
from torsor.kernels.kernel_method import quantity_method_of
from torsor.kernels.options import DerivativeOptions, ForceOptions, KernelOptions, KernelOptionsExtra, Wrenches
from torsor.kernels.replaced import name_replacements
from torsor.kernels.spec import Name
from torsor.model.terms.contacts import contact_places
from torsor.support.user_arrays import Array


class InverseDynamicsDerivatives(NamedTuple):
    """∂τ/∂q (along v), ∂τ/∂v and ∂τ/∂a = M, ``(..., nv, nv)`` each."""

    q: Array
    v: Array
    a: Array


class ForwardDynamicsDerivatives(NamedTuple):
    """∂a/∂q (along v), ∂a/∂v and ∂a/∂τ = M⁻¹, ``(..., nv, nv)`` each."""

    q: Array
    v: Array
    tau: Array


class Linearized(NamedTuple):
    """A ``(..., 2nv, 2nv)`` and B ``(..., 2nv, nv)`` of δ⁺ = A δ + B δτ, or of δ̇ = A δ + B δτ."""

    A: Array
    B: Array


@name_replacements
class Differentiation(CompiledMechanism):
    """Derivatives of the quantities of a mechanism; those by q are along v: of y(q ⊕ δ) by δ at δ = 0."""

    @quantity_method_of(InverseDynamicsDerivatives)
    def inverse_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Wrenches | None = None, **options: Unpack[DerivativeOptions]
    ) -> InverseDynamicsDerivatives:
        """∂τ/∂q, ∂τ/∂v and ∂τ/∂a = M of :meth:`inverse_dynamics`, ``(..., nv, nv)`` each (Singh, Russell & Wensing 2022).

        In [N·m, N] per unit of q [rad, m], v and a: entry (i, j) is that of τ_i by coordinate j.
        That by q is along v: of τ(q ⊕ δ, v, a) by δ (nv) at δ = 0.  Wrenches are constant in the axes of ``expressed_in``.
        Options as for :meth:`inverse_dynamics`; friction laws that jump have no derivative at v = 0, ``law.smooth(width)`` has.

        >>> import torsor as ts
        >>> d = ts.robots.two_link().inverse_dynamics_derivatives([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
        >>> d.a.tolist()  # M
        [[5.0, 2.0], [2.0, 1.0]]
        """

    @quantity_method_of(ForwardDynamicsDerivatives)
    def forward_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, wrenches: Wrenches | None = None, **options: Unpack[DerivativeOptions]
    ) -> ForwardDynamicsDerivatives:
        """∂a/∂q = −M⁻¹ ∂τ/∂q, ∂a/∂v = −M⁻¹ ∂τ/∂v and ∂a/∂τ = M⁻¹ of :meth:`forward_dynamics`, ``(..., nv, nv)`` each.

        In [rad/s², m/s²] per unit of q [rad, m], v and τ (Carpentier & Mansard 2018).  Options as for
        :meth:`inverse_dynamics_derivatives`.

        >>> import torsor as ts
        >>> robot = ts.robots.two_link()
        >>> d = robot.forward_dynamics_derivatives([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
        >>> (d.tau @ robot.mass_matrix([0.0, 0.0])).round(12).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        """

    def derivative(self, name: Name, by: str | Sequence[str], **options: Unpack[KernelOptionsExtra]) -> Kernel | CheckedKernel:
        """∂y/∂x of a quantity by one of its inputs, ``(..., *shape of y, n)``, or by several: one result each.

        Inputs are those of the method, and ``"wrenches['frame']"``; options as for :meth:`kernel`.  By ``"q"`` the
        derivative is along v (nv columns).  The kernel takes the inputs of the quantity.

        >>> import torsor as ts
        >>> slope = ts.robots.two_link().derivative("gravity_force", by="q")
        >>> slope([0.0, 0.0]).round(2).tolist()
        [[-0.0, -0.0], [-0.0, -0.0]]
        """
        return self._derivative("jacobian", name, by, **options)

    def jvp(
        self, name: Name, by: str | Sequence[str] | None = None, **options: Unpack[KernelOptionsExtra]
    ) -> Kernel | CheckedKernel:
        """(∂y/∂x) ẋ, the change of a quantity in given directions of its inputs, without a matrix (forward mode).

        The kernel takes the inputs of the quantity, then one direction for each input in ``by``, by default all of them;
        that of a configuration is a velocity (nv).  Options as for :meth:`kernel`.

        >>> import torsor as ts
        >>> robot = ts.robots.two_link()
        >>> da = robot.jvp("forward_dynamics")([0.0, 0.5], [0, 0], [0, 0], [0, 0], [0, 0], [1, 0])  # by τ alone
        >>> bool(abs(da - robot.mass_matrix_inverse([0.0, 0.5])[:, 0]).max() < 1e-14)
        True
        """
        return self._derivative("jvp", name, by, **options)

    def vjp(
        self, name: Name, by: str | Sequence[str] | None = None, **options: Unpack[KernelOptionsExtra]
    ) -> Kernel | CheckedKernel:
        """wᵀ(∂y/∂x), the gradient of w·y by the inputs of a quantity, without a matrix (reverse mode).

        The kernel takes the inputs of the quantity, then the weights w (the cotangent), one array for each result; it returns
        one gradient for each input in ``by``, by default all of them, in their order; that by a configuration is along v (nv).

        >>> import torsor as ts
        >>> robot = ts.robots.two_link()
        >>> gq, gv, gtau = robot.vjp("forward_dynamics")([0.0, 0.5], [0, 0], [0, 0], [1, 0])
        >>> bool(abs(gtau - robot.mass_matrix_inverse([0.0, 0.5])[0]).max() < 1e-14)
        True
        """
        return self._derivative("vjp", name, by, **options)

    def second_derivatives(
        self, name: Name, by: str | Sequence[str] | None = None, **options: Unpack[KernelOptions]
    ) -> Kernel | CheckedKernel:
        """∂²(w·y)/∂x², ``(..., n, n)``: the Hessian of weighted results by the inputs in ``by`` together, by default all.

        The kernel takes the inputs of the quantity, then the weights w.  By a configuration it is the Hessian of
        δ ↦ w·y(q ⊕ δ) at δ = 0, symmetric; if y is a configuration (step, integrate), of δ ↦ w·(y(q ⊕ δ) ⊖ y(q)).

        >>> import torsor as ts
        >>> H = ts.robots.two_link().second_derivatives("inverse_dynamics", by=("q", "v"))
        >>> H([0.0, 0.5], [0, 0], [0, 0], [1, 0]).shape
        (4, 4)
        """
        return self._derivative("second", name, by, **options)

    def linearize(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None = None,
        *,
        dt: float | None = None,
        integrator: str = "semi_implicit",
        x: ArrayLike | None = None,
        **options: Unpack[ForceOptions],
    ) -> Linearized:
        """A, B of δ⁺ = A δ + B δτ, one step of dt [s] of a rollout; without dt, of the motion itself: δ̇ = A δ + B δτ.

        δ = (δq, δv) (2 nv) is the deviation q ⊕ δq, v + δv.  A is ``(..., 2nv, 2nv)``, B ``(..., 2nv, nv)``.  dt is one
        positive number for all states; options as for :meth:`step`.  A step through contacts begins the search of its impulses
        with the forces in ``x``, those of the step before (``rollout.x``), by default 0: A and B are those of the side on which
        each contact is.

        >>> import torsor as ts
        >>> A, B = ts.robots.two_link().linearize([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], dt=1e-3)
        >>> A.shape, B.shape
        ((4, 4), (4, 2))
        """
        check_method(integrator)
        if not self.nv:
            raise ArgumentError(f"robot {self.name!r} has no moving joint, so there is no motion to linearize")
        if dt is None and x is not None:
            raise ArgumentError("x= is for a step; give dt= too")
        if dt is None:
            return self._linearize_motion(q, v, tau, wrenches, **options)
        check_step_length(dt)
        contact_states = sum(map(len, contact_places(self._model)))
        if contact_states and contact_states == len(self.state_names):
            given = {"x": np.zeros(contact_states) if x is None else x}
            return Linearized(*self._linearize_contacts((q, v, tau, dt, *given.values()), integrator, wrenches, **options))
        if x is not None:
            raise ArgumentError(
                f"x= is for robots whose first-order states are those of contacts; {self.name!r} has none of these"
            )
        if self.state_names:
            raise ArgumentError(
                f"robot {self.name!r} has first-order states ({', '.join(self.state_names)}), which A and B leave out; "
                'robot.derivative("step", by=("q", "v", "tau", "x")) has its derivatives'
            )
        return self._linearize_step(q, v, tau, dt, integrator, wrenches, **options)

    def _linearize_contacts(
        self,
        values: tuple[ArrayLike, ...],
        integrator: str,
        wrenches: Wrenches | None,
        expressed_in: str = "body",
        time: ArrayLike | None = None,
    ) -> Any:
        """A, B of a step that has x."""
        on = wrenches_at(self._model, wrenches, time)
        options: dict[str, Any] = {"wrenches": tuple(on), "expressed_in": expressed_in} if on else {}
        kernel = self._derivative("linearization", f"step:{integrator}", ("q", "v", "tau"), **options)
        clock = (time,) if self._reads_time("step") else ()
        return kernel(*values, *clock, *on.values())[:2]

    @quantity_method_of(Linearized)
    def _linearize_motion(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, wrenches: Wrenches | None = None, **options: Unpack[ForceOptions]
    ) -> Linearized:
        """A, B of δ̇ = A δ + B δτ."""

    @quantity_method_of(Linearized)
    def _linearize_step(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        dt: ArrayLike,
        integrator: str,
        wrenches: Wrenches | None = None,
        **options: Unpack[ForceOptions],
    ) -> Linearized:
        """A, B of δ⁺ = A δ + B δτ."""

    def _derivative(self, mode: str, name: Name, by: str | Sequence[str] | None, **options: Any) -> Kernel | CheckedKernel:
        """The kernel of a derivative of a quantity by the inputs named, or by all of them; ``options`` of :meth:`spec`."""
        return self._checked(spec_of_derivative(self._kernels, mode, self.spec(name, **options), by))
