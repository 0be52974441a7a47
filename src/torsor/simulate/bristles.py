"""LuGre friction in a simulation: bristle deflections from the motion of the joints since the step began."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from torsor.model.model import Model

if TYPE_CHECKING:
    from torsor.model.friction import LuGre

Array: TypeAlias = np.ndarray


class BristleRow(NamedTuple):
    """A law, the coordinate it acts on, and k of a mimic joint that moves at k v (else 1)."""

    law: LuGre
    at: int
    k: Any


def bristle_rows(model: Model) -> list[BristleRow]:
    """The laws of a model that have an internal state, in the order of their joints."""
    rows = []
    for i, laws in enumerate(model.friction):
        coupling = model.coupling[i]
        k = 1 if coupling is None else coupling.k
        rows += [BristleRow(law, model.v_start[i] + d, k) for d, law in enumerate(laws) if getattr(law, "states", 0)]
    return rows


def stored_energy(model: Model, z: Array) -> Array:
    """Σ ½σ₀z² [J], of z (T, nz): (T,)."""
    return 0.5 * z**2 @ np.array([float(r.law.stiffness) for r in bristle_rows(model)])


def heat(model: Model, z: Array, v: Array, load: Array) -> Array:
    """Power dissipated by LuGre friction [W], (T,), at z (T, nz), v and load (T, nv)."""
    total = np.zeros(len(v))
    for zs, r in zip(z.T, bristle_rows(model), strict=True):
        columns = (x.tolist() for x in (zs, r.k * v[:, r.at], load[:, r.at]))
        total += [float(r.law.dissipation(*x)) for x in zip(*columns, strict=True)]
    return total


def steady_friction(model: Model, v: Array, load: Array) -> Array:
    """Steady-state force of the laws with an internal state at v (T, nv): their part of ``robot.friction_force``."""
    tau = np.zeros_like(v)
    for r in bristle_rows(model):
        tau[:, r.at] += [r.k * r.law.steady(*x) for x in zip((r.k * v[:, r.at]).tolist(), load[:, r.at].tolist(), strict=True)]
    return tau


def deflections_at_midpoint(model: Model, z: Array, moved: Array, half: Array, load: Array) -> Array:
    """z (T, nz) after the joints have moved (T, nv) in the half (T,) of an interval [s]."""
    out = z.copy()
    for k, r in enumerate(bristle_rows(model)):
        rate = r.k * moved[:, r.at] / half
        columns = (x.tolist() for x in (z[:, k], rate, half, load[:, r.at]))
        out[:, k] = [r.law.step(*x) for x in zip(*columns, strict=True)]
    return out
