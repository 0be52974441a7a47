"""Methods of Robot: manipulability and payload capacity at a frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from torsor.algorithms.manipulability import MEASURES
from torsor.errors import require_known
from torsor.kernels.compiled_mechanism import CompiledMechanism
from torsor.kernels.kernel_method import kernel_method, quantity_method
from torsor.support.user_arrays import Array


class Quality(CompiledMechanism):
    """Measures of a configuration for a frame: manipulability and payload capacity."""

    @kernel_method
    def manipulability(
        self,
        q: ArrayLike,
        frame: str,
        measure: str = "yoshikawa",
        rows: str | Sequence[str] = "all",
        expressed_in: str = "world",
        *,
        out: Array | None = None,
    ) -> Any:
        """w = √det J Jᵀ, or another measure of J(q), which is zero where the frame cannot move in some direction.

        ``measure``: ``"yoshikawa"``, √det J Jᵀ (1985), in the units of J [m, rad] to the power of the rows;
        ``"inverse_condition"``, σ_min/σ_max of J, from 0 to 1 (Salisbury & Craig 1982); ``"smallest_singular_value"``, σ_min
        of J (Klein & Blaho 1987); ``"asada"``, λ_min/λ_max of Λ = (J M⁻¹Jᵀ)⁻¹, from 0 to 1: how alike the effective mass is
        in all directions (Asada 1983).  ``rows`` as for :meth:`task`; the last three compare metres with radians unless rows
        are all ``"linear"`` or all ``"angular"``.

        >>> import numpy as np, torsor as ts
        >>> arm = ts.robots.two_link()
        >>> arm.manipulability([[0.0, 0.0], [0.0, np.pi / 2]], "tip", rows=("vx", "vy")).round(9)  # l₁ l₂ |sin q₂|
        array([0., 1.])
        """
        self._model.frame(frame)
        require_known("measure=", measure, MEASURES)
        names = rows if isinstance(rows, str) else tuple(rows)
        return self._kernels("manipulability", frame, measure, names, expressed_in)(q, out=out)

    @quantity_method
    def payload_capacity(self, q: ArrayLike, frame: str, *, out: Array | None = None) -> Any:
        """m = min (E_i ∓ g_i) / |w_i| [kg]: the largest point mass at a frame that the effort limits hold at rest.

        E are the effort limits of the joints, g the joint forces of gravity, w those of one kilogram at the frame's origin:
        |g_i + m w_i| ≤ E_i.  It is 0 where the limits do not hold the robot alone, and infinite where no limited joint carries
        the load.  A floating base is taken to be held.

        >>> import torsor as ts
        >>> print(f"{ts.robots.ur5().payload_capacity([0.0, 0, 0, 0, 0, 0], 'tool0'):.1f} kg")  # stretched out
        11.3 kg
        """
