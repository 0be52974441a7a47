"""The robot of Mlist, Glist and Slist, and the functions of MR §8.11 over any scalar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from torsor import algorithms as alg
from torsor.bridges.modern_robotics.deferred_compilation import DeferredKernel
from torsor.errors import ModelError
from torsor.io.screws import from_mr
from torsor.kernels import Kernels, Quantity, Spec, Table
from torsor.model import Model, assemble
from torsor.model.regrouping import with_fewest_parameters
from torsor.scalar import Scalars, tidy
from torsor.spatial import Vec
from torsor.support.user_arrays import as_array

#: robots kept, the least recently used one goes
KEPT = 64
TIP = "end_effector"


def chain(Mlist: Any, Glist: Any, Slist: Any) -> Chain:
    """The robot of the lists: read once, then cached by their bytes."""
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
    """The robot of the lists and its functions.  Gravity and the tip's wrench are inputs, so neither makes a new robot."""

    def __init__(self, M: np.ndarray, G: np.ndarray, S: np.ndarray):
        if S.ndim != 2 or S.shape[0] != 6:
            raise ModelError(f"Slist must have shape (6, n), one screw axis per column; its shape is {S.shape}")
        w, v = np.linalg.norm(S[:3], axis=0), np.linalg.norm(S[3:], axis=0)
        size = np.where(w > 1e-12 * np.maximum(1, v), w, v)
        unit = S / np.where(size > 0, size, 1)
        self.model = with_fewest_parameters(assemble(from_mr(M, G, unit, gravity=(0, 0, 0))))
        self.n = n = self.model.nv
        joints = dict.fromkeys(("thetalist", "dthetalist", "ddthetalist", "taulist"), (n,))
        shapes = {**joints, "state": (2, n), "g": (3,), "Ftip": (6,), "dt": ()}
        self._kernels = Kernels("", Screws(self.model, tuple(tidy(float(x)) for x in size)), TABLE, shapes)
        self.functions = {name: self._function(Spec(((name,),))) for name in TABLE}

    def _function(self, spec: Spec) -> DeferredKernel:
        kernels = self._kernels
        return DeferredKernel(kernels.inputs(spec), partial(kernels.evaluate, spec), partial(kernels.kernel, spec))


@dataclass(frozen=True)
class Screws:
    """Unit screws, and the lengths of the given ones.

    A screw axis of another length than 1, as the book's own examples have, is a unit screw whose joint runs faster:
    S θ = Ŝ (|S| θ), so θ̂ = |S| θ and, the power being the same, τ = |S| τ̂.
    """

    model: Model
    length: tuple[Any, ...]

    def times(self, x: Scalars) -> list[Any]:
        return [a * s for a, s in zip(x, self.length, strict=True)]

    def over(self, x: Scalars) -> list[Any]:
        return [a if s == 1 and isinstance(s, int) else a / s for a, s in zip(x, self.length, strict=True)]


def torques(screws: Screws, q: Scalars, v: Scalars = (), a: Scalars = (), g: Scalars = (0, 0, 0), F: Scalars = ()) -> list[Any]:
    """τ = M(θ)θ̈ + c(θ, θ̇) + g(θ) + JᵀF_tip (MR 8.50–8.54); F_tip acts on the environment, so −F_tip acts on the robot."""
    model, still = replace(screws.model, gravity=Vec(*g)), [0] * len(q)
    wrenches = {TIP: [-x for x in F]} if F else None
    return screws.times(alg.rnea(model, screws.times(q), screws.times(v or still), screws.times(a or still), wrenches))


def mass_matrix(screws: Screws, q: Scalars) -> list[list[Any]]:
    """M_ij = |S_i| M̂_ij |S_j| (MR 8.57)."""
    M = alg.crba(screws.model, screws.times(q))
    return [[x * s for x in screws.times(row)] for row, s in zip(M, screws.length, strict=True)]


def accelerations(
    screws: Screws, q: Scalars, v: Scalars, tau: Scalars, g: Scalars, F: Scalars,
    solve: Callable[..., Any] = alg.forward_dynamics,
) -> list[Any]:  # fmt: skip
    """θ̈ = M⁻¹(τ − c − g − JᵀF_tip) (MR 8.81)."""
    model = replace(screws.model, gravity=Vec(*g))
    return screws.over(solve(model, screws.times(q), screws.times(v), screws.over(tau), {TIP: [-x for x in F]}))


def step(
    screws: Screws, x: Scalars, tau: Scalars, g: Scalars, F: Scalars, h: Any, solve: Callable[..., Any] = alg.forward_dynamics
) -> list[list[Any]]:
    """(θ, θ̇) + h (θ̇, θ̈): Euler's step (MR §8.11, EulerStep)."""
    n = len(tau)
    q, v = list(x[:n]), list(x[n:])
    a = accelerations(screws, q, v, tau, g, F, solve)
    return [[y + h * rate for y, rate in zip(ys, rates, strict=True)] for ys, rates in ((q, v), (v, a))]


def gravity_forces(screws: Screws, q: Scalars, g: Scalars) -> list[Any]:
    return torques(screws, q, g=g)


def tip_forces(screws: Screws, q: Scalars, F: Scalars) -> list[Any]:
    return torques(screws, q, F=F)


_by_factors = alg.forward_dynamics_by_factors
_STATE = ("thetalist", "dthetalist")
TABLE = Table(
    "torsor.bridges.modern_robotics.chain:TABLE",
    {
        "InverseDynamics": Quantity((*_STATE, "ddthetalist", "g", "Ftip"), torques),
        "MassMatrix": Quantity(("thetalist",), mass_matrix),
        "VelQuadraticForces": Quantity(_STATE, torques),
        "GravityForces": Quantity(("thetalist", "g"), gravity_forces),
        "EndEffectorForces": Quantity(("thetalist", "Ftip"), tip_forces),
        "ForwardDynamics": Quantity(
            (*_STATE, "taulist", "g", "Ftip"), accelerations, alternatives=(partial(accelerations, solve=_by_factors),)
        ),
        "EulerStep": Quantity(
            ("state", "taulist", "g", "Ftip", "dt"), step, outputs=("state",), alternatives=(partial(step, solve=_by_factors),)
        ),
    },
)
