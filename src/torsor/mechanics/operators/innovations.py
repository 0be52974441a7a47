"""M and M⁻¹ as operators: products, solutions, square roots, whitening, sampling, the determinant; never a matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from torsor.algorithms import innovations as factorization
from torsor.errors import ArgumentError, SingularError, require_known
from torsor.kernels import Quantity, Table
from torsor.model import Model
from torsor.model.refusals import refuse_symbols
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.robot import Robot

#: products with L of M = L Lᵀ, its transpose and their inverses
HALVES = ("half_times", "half_transpose_times", "half_solve", "half_transpose_solve")
#: sampled quantity → the operator that gives its covariance
SAMPLES = {"velocity": "half_transpose_solve", "momentum": "half_times"}


def _operator(function: Callable[..., Any], *inputs: str) -> Quantity:
    """A row of the table; over floats, a singular M raises an error that names the joint."""

    def run(model: Model, *values: Any) -> Any:
        try:
            return function(model, *values)
        except (ValueError, ZeroDivisionError):  # the root or the logarithm of a pivot that is zero or below
            raise SingularError(f"the mass matrix of {model.name!r} is not positive definite here: see robot.report") from None

    return Quantity(inputs, run, joint_space=True)


QUANTITIES = Table(
    "torsor.mechanics.operators.innovations:QUANTITIES",
    {name: _operator(getattr(factorization, name), "q", "y") for name in HALVES}
    | {"log_determinant": _operator(factorization.log_determinant, "q")},
    title="innovations",
    symbols="torsor.algorithms.innovations takes them",
)


class Innovations:
    """M(q) = L Lᵀ, L = (1 + HᵀφK) D^½: the operators of one configuration, or of a batch ``(..., nq)``.

    Each takes ``(..., nv)`` and runs a compiled kernel of O(N) operations that factors M on the way (O(n²) for a robot with
    mimic joints).  Rodriguez, Jain & Kreutz-Delgado; F&O §3.5.

    >>> import numpy as np, torsor as ts
    >>> M = Innovations(ts.robots.two_link(), [0.0, np.pi / 2])
    >>> M.times([1.0, 0.0])
    array([3., 1.])
    >>> M.solve([3.0, 1.0]).round(12) + 0.0
    array([1., 0.])
    >>> print(np.exp(M.logdet).round(12))  # 3 · 1 − 1 · 1
    2.0
    """

    def __init__(self, robot: Robot, q: ArrayLike):
        refuse_symbols(robot.model, "this factorization", "torsor.algorithms.innovations takes them")
        self.robot, self.q = robot, np.array(q, dtype=float)
        if self.q.ndim == 0 or self.q.shape[-1] != robot.nq:
            raise ArgumentError(f"q has shape {self.q.shape}, expected (..., {robot.nq})")
        self._kernels = robot.kernels.of(QUANTITIES)

    def __reduce__(self) -> tuple:
        return Innovations, (self.robot, self.q)

    def __repr__(self) -> str:
        return f"<Innovations of {self.robot.name!r}, q of shape {self.q.shape}>"

    def times(self, y: ArrayLike) -> Array:
        """M y: the joint forces, or momenta, of accelerations, or velocities, y."""
        return self.robot.mass_matrix_product(self.q, y)

    def solve(self, y: ArrayLike) -> Array:
        """M⁻¹ y: the accelerations from rest of joint forces y."""
        return self.robot.mass_matrix_solve(self.q, y)

    def half_times(self, y: ArrayLike) -> Array:
        """L y = (1 + HᵀφK) D^½ y, with M = L Lᵀ."""
        return self._run("half_times", y)

    def half_transpose_times(self, y: ArrayLike) -> Array:
        """Lᵀ y: ½|Lᵀ v|² is the kinetic energy of v."""
        return self._run("half_transpose_times", y)

    def half_solve(self, y: ArrayLike) -> Array:
        """L⁻¹ y = D^-½ (1 − HᵀψK) y: forces of covariance M become white."""
        return self._run("half_solve", y)

    def half_transpose_solve(self, y: ArrayLike) -> Array:
        """L⁻ᵀ y = (1 − HᵀψK)ᵀ D^-½ᵀ y: white numbers become velocities of covariance M⁻¹."""
        return self._run("half_transpose_solve", y)

    @property
    def logdet(self) -> Any:
        """log det M = Σ log det D_i, ``(...)``."""
        return self._kernels("log_determinant")(self.q)

    def sample(
        self,
        rng: np.random.Generator | int | None = None,
        size: int | tuple[int, ...] = (),
        *,
        of: str = "velocity",
        kT: float = 1.0,
    ) -> Array:
        """Draws from N(0, kT M⁻¹), the ``velocity`` of a robot at temperature T, or from N(0, kT M), its ``momentum``.

        ``(*size, ..., nv)``; ½ vᵀM v is then ½ kT for each degree of freedom, on average (equipartition).  ``kT`` in joules.
        """
        require_known("of=", of, SAMPLES)
        if not (np.isfinite(kT) and kT >= 0):
            raise ArgumentError(f"kT must be an energy [J] of zero or more, not {kT!r}")
        shape = ((size,) if isinstance(size, int) else tuple(size)) + self.q.shape[:-1] + (self.robot.nv,)
        white = np.random.default_rng(rng).standard_normal(shape)
        return np.sqrt(kT) * self._run(SAMPLES[of], white)

    def _run(self, name: str, y: ArrayLike) -> Array:
        return self._kernels(name)(self.q, y)


def innovations(robot: Robot, q: ArrayLike) -> Innovations:
    """The innovations factorization of M at q, as operators; M is that of the tree, with or without loops and other terms."""
    return Innovations(robot, q)
