"""LuGre friction in a simulation: bristle deflections from the motion of the joints since the step began."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from torsor.model.model import Model

if TYPE_CHECKING:
    from torsor.model.friction import LuGre
    from torsor.robot import Robot

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


class Bristles:
    """z (nz,) of every LuGre joint and its time t₀: z(t) = step(z₀, w, t − t₀) at the mean velocity w = (q ⊖ q₀)/(t − t₀).

    That is exact at constant velocity, and z = z₀ + δ wherever bristles only bend, so each integrator keeps its own order
    there; elsewhere it is of order 2 at most, and no step is too long for stiff bristles.  The load is that of t₀.
    """

    affects_motion = True

    def __init__(self, robot: Robot):
        self.robot, self.rows = robot, bristle_rows(robot.model)
        self.moved = robot.kernels("difference").__call__
        self.z, self.t, self.q, self.load = np.zeros(len(self.rows)), 0.0, np.zeros(0), np.zeros(robot.nv)

    def begin(self, t: float, q: Array, v: Array, tau: Array) -> None:
        """A step begins here."""
        if len(self.q):
            self.z = self.states(t, q, v)[0]
        self.t, self.q, self.load = t, q, tau

    def states(self, t: float, q: Array, v: Array) -> list[Array]:
        """[z] at a time within the step."""
        dt = t - self.t
        if dt <= 0 or not len(self.q):
            return [self.z]
        mean = self.moved(self.q, q) / dt
        return [
            np.array(
                [r.law.step(z, float(r.k * mean[r.at]), dt, float(self.load[r.at])) for z, r in self._deflection_and_row()]
            )
        ]

    def forces(self, t: float, q: Array, v: Array) -> Array:
        """σ₀ z + σ₁ ż + drag of the joints (nv,), as inverse dynamics adds them."""
        tau = np.zeros(len(v))
        for z, r in zip(self.states(t, q, v)[0], self.rows, strict=True):
            tau[r.at] += r.k * r.law.force(float(z), float(r.k * v[r.at]), load=float(self.load[r.at]))
        return tau

    def columns(self) -> dict[str, list[str]]:
        """The joints with these internal states."""
        model = self.robot.model
        named = [(name, laws) for name, laws in zip(model.joint_names, model.friction, strict=True)]
        return {"z": [name for name, laws in named for law in laws if getattr(law, "states", 0)]}

    def _deflection_and_row(self) -> Any:
        return zip(self.z.tolist(), self.rows, strict=True)


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
