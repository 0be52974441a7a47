"""Methods of Robot: the configuration manifold."""

from __future__ import annotations

from numpy.typing import ArrayLike

from torsor.kernels.compiled_mechanism import Array, CompiledMechanism
from torsor.kernels.kernel_method import kernel_method


class Configurations(CompiledMechanism):
    """Sums and differences of configurations, and their rates."""

    @kernel_method
    def integrate(self, q: ArrayLike, v: ArrayLike, dt: ArrayLike = 1.0, *, out: Array | None = None) -> Array:
        """q ⊕ v dt, ``(nq,)``: the configuration after dt [s] at constant velocity v (unit quaternions stay unit)."""
        return self._run("integrate", (q, v, dt), out=out)

    @kernel_method
    def configuration_rate(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """q̇ = N(q) v, ``(nq,)``: the rate of the coordinates at velocity v; equal to v except for joints with a quaternion."""
        return self._run("configuration_rate", (q, v), out=out)

    @kernel_method
    def difference(self, q0: ArrayLike, q1: ArrayLike, *, out: Array | None = None) -> Array:
        """q1 ⊖ q0, ``(nv,)``: the constant velocity that leads from q0 to q1 in one second; q0 ⊕ (q1 ⊖ q0) = q1."""
        return self._run("difference", (q0, q1), out=out)
