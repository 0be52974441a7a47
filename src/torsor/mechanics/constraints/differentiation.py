"""Methods of ConstrainedRobot: derivatives of its motion and of its rows, and products with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from torsor.compile import Kernel
from torsor.errors import ArgumentError, SingularError, UnknownName, require_known
from torsor.kernels.checked_kernel import CheckedKernel
from torsor.kernels.derivatives import spec_of_derivative
from torsor.kernels.replaced import name_replacements
from torsor.kernels.spec import Spec, as_names
from torsor.mechanics.constraints.inputs import extra_inputs
from torsor.mechanics.constraints.solving import Solver

if TYPE_CHECKING:
    from torsor.robot import Robot

#: quantities that have derivatives
NAMES = ("forward_dynamics", "residual", "jacobian", "drift", "inverse_effective_mass")
METHODS = ("auto", "direct", "multipliers")


class Options(NamedTuple):
    """Options of forward dynamics that its derivative has too."""

    method: str = "auto"
    wrenches: Sequence[str] = ()
    expressed_in: str = "body"
    loop_forces: Sequence[str] = ()
    stabilization: bool = False
    switched: bool = False


@name_replacements
class Differentiation:
    """Derivatives of (a, λ) and of the constraint rows; those by q are along v: of y(q ⊕ δ) by δ at δ = 0."""

    robot: Robot
    solver: Solver
    rows: Any

    def derivative(
        self,
        name: str,
        by: str | Sequence[str],
        *,
        method: str = "auto",
        wrenches: Sequence[str] = (),
        expressed_in: str = "body",
        loop_forces: Sequence[str] = (),
        stabilization: bool = False,
        switched: bool = False,
    ) -> Kernel | CheckedKernel:
        """∂y/∂x of a quantity by one of its inputs, ``(..., *shape of y, n)``, or by several: one result each.

        ``"forward_dynamics"`` has two results y, a (nv) and λ (k): with ``by=("q", "tau")`` the kernel returns ∂a/∂q, ∂a/∂τ,
        ∂λ/∂q, ∂λ/∂τ.  It is the derivative of M a + h = τ + Aᵀλ, A a = −(Ȧv − ḃ): one more solve with the same factors for each
        column.  By ``"q"`` it is along v (nv columns).  The kernel takes the inputs of the quantity: q, v, τ, the time t where
        constraints read it, and those that options add in this order: ``switched=True`` a flag for each constraint,
        ``stabilization=True`` the gains decay and stiffness, ``loop_forces=("loop",)`` and ``wrenches=("frame",)`` one each, in
        the axes of ``expressed_in``.  ``method`` as for :meth:`ConstrainedRobot.forward_dynamics`.
        ``"residual"``, ``"jacobian"``, ``"drift"`` and ``"inverse_effective_mass"`` have no options.

        The derivatives are those over the independent rows, also where q or v break the constraints; the λ of redundant rows
        is 0.  Where the rank drops there is no derivative: SingularError.

        >>> import torsor as ts
        >>> plane = ts.constraints.point_on_plane("tip", normal=(1, 0, 0), through=(1, 0, 0))
        >>> held = ts.robots.two_link().constrained(plane)
        >>> a_tau, multipliers_tau = held.derivative("forward_dynamics", by="tau")([-1.0, 2.0], [0, 0], [0, 0])
        >>> a_tau.shape, multipliers_tau.shape
        ((2, 2), (1, 2))
        """
        options = Options(method, wrenches, expressed_in, loop_forces, stabilization, switched)
        return self._derivative("jacobian", name, by, options)

    def jvp(
        self,
        name: str,
        by: str | Sequence[str] | None = None,
        *,
        method: str = "auto",
        wrenches: Sequence[str] = (),
        expressed_in: str = "body",
        loop_forces: Sequence[str] = (),
        stabilization: bool = False,
        switched: bool = False,
    ) -> Kernel | CheckedKernel:
        """(∂y/∂x) ẋ, the change of a quantity in given directions of its inputs, without a matrix (forward mode).

        The kernel takes the inputs of the quantity, then one direction for each input in ``by``, by default all that have a
        derivative; that of q is a velocity (nv).  Of ``"forward_dynamics"`` it returns (ȧ, λ̇).  Options and errors as for
        :meth:`derivative`.
        """
        options = Options(method, wrenches, expressed_in, loop_forces, stabilization, switched)
        return self._derivative("jvp", name, by, options)

    def vjp(
        self,
        name: str,
        by: str | Sequence[str] | None = None,
        *,
        method: str = "auto",
        wrenches: Sequence[str] = (),
        expressed_in: str = "body",
        loop_forces: Sequence[str] = (),
        stabilization: bool = False,
        switched: bool = False,
    ) -> Kernel | CheckedKernel:
        """wᵀ(∂y/∂x), the gradient of w·y by the inputs of a quantity, without a matrix (reverse mode).

        The kernel takes the inputs of the quantity, then the weights w (the cotangent) of each result: of
        ``"forward_dynamics"`` those of a (nv) and of λ (k).  It returns one gradient for each input in ``by``, by default all
        that have a derivative; that by q is along v (nv).  Options and errors as for :meth:`derivative`.

        >>> import torsor as ts
        >>> plane = ts.constraints.point_on_plane("tip", normal=(1, 0, 0), through=(1, 0, 0))
        >>> gradient = ts.robots.two_link().constrained(plane).vjp("forward_dynamics")
        >>> gq, gv, gtau = gradient([-1.0, 2.0], [0, 0], [0, 0], [1, 0], [0])
        """
        options = Options(method, wrenches, expressed_in, loop_forces, stabilization, switched)
        return self._derivative("vjp", name, by, options)

    def _derivative(self, mode: str, name: str, by: Any, options: Options) -> Kernel | CheckedKernel:
        if name not in NAMES:
            raise UnknownName("quantity with a derivative under constraints", name, NAMES)
        kernels = self.solver.kernels
        if name != "forward_dynamics":
            if given := [x for x, y, z in zip(options._fields, options, Options(), strict=True) if y != z]:
                raise ArgumentError(f"{name} has no option {given[0]!r}; only forward_dynamics has options")
            spec = Spec(((name,),), extra=self.solver.clock)
            return self.solver.bind(spec_of_derivative(kernels, mode, spec, by))
        spec = self._dynamics(options)
        kernel = self.solver.bind(spec_of_derivative(kernels, mode, spec, by))
        return CheckedKernel(kernel, {"doubt": 1.0}, refuse_derivative)

    def _dynamics(self, options: Options) -> Spec:
        """The spec of forward dynamics with these options."""
        require_known("method", options.method, METHODS)
        driven = as_names("loop_forces", options.loop_forces)
        more = extra_inputs(self.solver.equations, options.stabilization, driven)
        extra = (*self.solver.clock, *(("active",) if options.switched else ()), *more)
        rows = tuple(range(len(self.rows))) if options.switched else self.solver.independent_rows
        quantity = f"dynamics.{'direct' if options.method == 'direct' else 'multipliers'}", rows
        return Spec((quantity,), as_names("wrenches", options.wrenches), options.expressed_in, extra)


def refuse_derivative(given: dict[str, Any], bad: np.ndarray | None) -> None:
    """Raise SingularError about the first state that is marked."""
    place = [] if bad is None else [int(k) for k in np.argwhere(bad)[0]]
    where = f"state {place} of the batch: " if place else ""
    raise SingularError(
        f"{where}the motion has no derivative: constraint rows are dependent here that are independent elsewhere (a singular "
        "configuration), or redundant rows contradict each other because of closure error; close the loops "
        "(robot.assemble), omit rows, or move away from this configuration"
    )
