"""The robot of Mlist, Glist and Slist, and the functions of MR 8.11 over any scalar."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from torsor import algorithms as alg
from torsor.compat.modern_robotics.recorded import Recorded
from torsor.compile import Argument
from torsor.compile.given import as_array
from torsor.errors import ModelError
from torsor.io.screws import from_mr
from torsor.model import assemble
from torsor.model.regrouping import regrouped
from torsor.scalar import tidy
from torsor.spatial import Vec

#: robots kept, the least recently used one goes
KEPT = 64
TIP = "end_effector"
Scalars = Sequence[Any]


def chain(Mlist: Any, Glist: Any, Slist: Any) -> Chain:
    """The robot of the lists: read once, then found by their bytes."""
    lists = [_array(x, name) for x, name in ((Mlist, "Mlist"), (Glist, "Glist"), (Slist, "Slist"))]
    return _chain(*(part for x in lists for part in (x.tobytes(), x.shape)))


@lru_cache(maxsize=KEPT)
def _chain(M: bytes, m: tuple, G: bytes, g: tuple, S: bytes, s: tuple) -> Chain:
    return Chain(*(np.frombuffer(data).reshape(shape) for data, shape in ((M, m), (G, g), (S, s))))


def _array(x: Any, name: str) -> np.ndarray:
    try:
        return as_array(name, x, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{name} must be an array of numbers, or a list of equal ones: {error}") from None


class Chain:
    """A robot and its recorded functions.  Gravity and the tip's wrench are inputs, so neither makes a new robot.

    A screw axis of another length than 1, as the book's own examples have, is a unit screw whose joint runs faster:
    S θ = Ŝ (|S| θ), so θ̂ = |S| θ and, the power being the same, τ = |S| τ̂.
    """

    def __init__(self, M: np.ndarray, G: np.ndarray, S: np.ndarray):
        if S.ndim != 2 or S.shape[0] != 6:
            raise ModelError(f"Slist must have shape (6, n), one screw axis a column; its shape is {S.shape}")
        w, v = np.linalg.norm(S[:3], axis=0), np.linalg.norm(S[3:], axis=0)
        size = np.where(w > 1e-12 * np.maximum(1, v), w, v)
        unit = S / np.where(size > 0, size, 1)
        self.scale = [tidy(float(x)) for x in size]
        self.model = regrouped(assemble(from_mr(M, G, unit, gravity=(0, 0, 0))))
        self.n = self.model.nv

    # -- over any scalar -------------------------------------------------------------------------------------

    def _torques(self, q: Scalars, v: Scalars, a: Scalars, g: Scalars = (0, 0, 0), F: Scalars = ()) -> dict[str, Any]:
        """τ = M(θ)θ̈ + c(θ, θ̇) + g(θ) + JᵀF_tip (MR 8.50–8.54); F_tip is what the end effector applies, hence −F on it."""
        model = replace(self.model, gravity=Vec(*g))
        wrenches = {TIP: [-x for x in F]} if F else None
        return {"taulist": self._times(alg.rnea(model, self._times(q), self._times(v), self._times(a), wrenches))}

    def _mass_matrix(self, q: Scalars) -> dict[str, Any]:
        """M_ij = |S_i| M̂_ij |S_j| (MR 8.57)."""
        M = alg.crba(self.model, self._times(q))
        return {"M": [[x * s for x in self._times(row)] for row, s in zip(M, self.scale, strict=True)]}

    def _accelerations(self, solve: Callable[..., Any], q: Scalars, v: Scalars, tau: Scalars, g: Scalars, F: Scalars) -> Any:
        """θ̈ = M⁻¹(τ − c − g − JᵀF_tip) (MR 8.81)."""
        model = replace(self.model, gravity=Vec(*g))
        return self._over(solve(model, self._times(q), self._times(v), self._over(tau), {TIP: [-x for x in F]}))

    def _step(self, solve: Callable[..., Any], x: Scalars, tau: Scalars, g: Scalars, F: Scalars, h: Scalars) -> dict[str, Any]:
        """(θ, θ̇) + h (θ̇, θ̈): Euler's step (MR 8.11, EulerStep)."""
        q, v = list(x[: self.n]), list(x[self.n :])
        a = self._accelerations(solve, q, v, tau, g, F)
        return {"state": [[y + h[0] * rate for y, rate in zip(ys, rates, strict=True)] for ys, rates in ((q, v), (v, a))]}

    def _times(self, x: Scalars) -> list[Any]:
        return [a * s for a, s in zip(x, self.scale, strict=True)]

    def _over(self, x: Scalars) -> list[Any]:
        return [a if s == 1 and isinstance(s, int) else a / s for a, s in zip(x, self.scale, strict=True)]

    # -- recorded --------------------------------------------------------------------------------------------

    def _recorded(self, name: str, inputs: Mapping[str, tuple[int, ...]], *functions: Callable[..., Any]) -> Recorded:
        return Recorded(name, [Argument(k, shape) for k, shape in inputs.items()], *functions)

    @cached_property
    def inverse_dynamics(self) -> Recorded:
        n = (self.n,)
        inputs = {"thetalist": n, "dthetalist": n, "ddthetalist": n, "g": (3,), "Ftip": (6,)}
        return self._recorded("InverseDynamics", inputs, self._torques)

    @cached_property
    def mass_matrix(self) -> Recorded:
        return self._recorded("MassMatrix", {"thetalist": (self.n,)}, self._mass_matrix)

    @cached_property
    def velocity_forces(self) -> Recorded:
        inputs = {"thetalist": (self.n,), "dthetalist": (self.n,)}
        return self._recorded("VelQuadraticForces", inputs, lambda q, v: self._torques(q, v, [0] * self.n))

    @cached_property
    def gravity_forces(self) -> Recorded:
        zero = [0] * self.n
        inputs = {"thetalist": (self.n,), "g": (3,)}
        return self._recorded("GravityForces", inputs, lambda q, g: self._torques(q, zero, zero, g))

    @cached_property
    def tip_forces(self) -> Recorded:
        zero = [0] * self.n
        inputs = {"thetalist": (self.n,), "Ftip": (6,)}
        return self._recorded("EndEffectorForces", inputs, lambda q, F: self._torques(q, zero, zero, F=F))

    @cached_property
    def forward_dynamics(self) -> Recorded:
        n = (self.n,)
        inputs = {"thetalist": n, "dthetalist": n, "taulist": n, "g": (3,), "Ftip": (6,)}
        forms = [lambda *x, solve=solve: {"ddthetalist": self._accelerations(solve, *x)} for solve in _SOLVERS]
        return self._recorded("ForwardDynamics", inputs, *forms)

    @cached_property
    def step(self) -> Recorded:
        inputs = {"state": (2, self.n), "taulist": (self.n,), "g": (3,), "Ftip": (6,), "dt": ()}
        return self._recorded("EulerStep", inputs, *(lambda *x, solve=solve: self._step(solve, *x) for solve in _SOLVERS))


_SOLVERS = (alg.forward_dynamics, alg.forward_dynamics_by_factors)
