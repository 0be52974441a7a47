"""Methods of Robot: products with M, M⁻¹, the factors of M and Jᵀ, without forming the matrices."""

from __future__ import annotations

from numpy.typing import ArrayLike

from torsor.kernels.compiled_mechanism import CompiledMechanism
from torsor.kernels.kernel_method import quantity_method
from torsor.support.user_arrays import Array


class Products(CompiledMechanism):
    """Products in O(N), for robots whose matrices are large or used once."""

    @quantity_method
    def mass_matrix_product(self, q: ArrayLike, y: ArrayLike, *, out: Array | None = None) -> Array:
        """z = M(q) y, ``(nv,)`` [N·m, N for an acceleration y]: RNEA from rest without gravity, O(N)."""

    @quantity_method
    def mass_matrix_solve(self, q: ArrayLike, y: ArrayLike, *, out: Array | None = None) -> Array:
        """z = M(q)⁻¹ y, ``(nv,)`` [rad/s², m/s² for a joint force y]: the passes of ABA, O(N) (F&O 12–14)."""

    @quantity_method
    def mass_factor_product(self, q: ArrayLike, y: ArrayLike, *, out: Array | None = None) -> Array:
        """z = L(q) y, ``(nv,)``, of M = LᵀDL, L unit lower triangular, in the units of y where all joints are of one kind.

        vᵀM v = zᵀD z with z = L v; D is :meth:`mass_factor_diagonal`.  ``robot.innovations(q)`` has the square root of M and
        its inverse (Featherstone 2005).
        """

    @quantity_method
    def mass_factor_diagonal(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """D(q) of M = LᵀDL, ``(nv,)`` [kg·m², kg]: the inertia at each joint with all joints after it free; det M = Π D."""

    @quantity_method
    def jacobian_transpose_product(
        self, q: ArrayLike, wrench: ArrayLike, frame: str, expressed_in: str = "world", *, out: Array | None = None
    ) -> Array:
        """τ = J(q)ᵀF, ``(nv,)`` [N·m, N]: the joint forces equivalent to a wrench F = (moment, force) on a frame (MR 5.26).

        F is expressed as :meth:`jacobian` is: ``"world"`` axes at the frame's origin, ``"body"`` axes, or ``"space"``.
        """
