"""Statics: equilibrium under all forces of a robot at rest, and small vibrations about a configuration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from torsor.errors import ArgumentError, SingularError
from torsor.mechanics.flexible.frequencies import frequencies
from torsor.mechanics.flexible.frequencies import modes as vibrations
from torsor.model.terms.capabilities import refuse

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from torsor.kernels.compiled_mechanism import Wrenches
    from torsor.robot import Robot

Array: TypeAlias = np.ndarray

#: steps towards an equilibrium, and the longest of them [rad, m]
STEPS, LONGEST = 200, 0.5
#: largest force that is left, relative to the stiffness times 1 rad or 1 m and to the force at the start
TOLERANCE = 1e-12
#: smallest stiffness that counts in a direction, relative to the largest
SOFTEST = 1e-6
#: largest part of K that is not symmetric: rounding, and no force that has an energy
ASYMMETRY = 1e-8


class Modes(NamedTuple):
    """Small vibrations M ẍ + K x = 0: angular ``frequencies`` (..., n) [rad/s], ascending, and ``shapes`` (..., n, n).

    The columns of ``shapes`` are Φ with K Φ = M Φ diag(ω²) and ΦᵀM Φ = 1.  Where K has a negative eigenvalue −λ the robot is
    unstable, and −√λ stands in place of ω.
    """

    frequencies: Array
    shapes: Array


def equilibrium(
    robot: Robot,
    q: Array,
    tau: ArrayLike | None = None,
    wrenches: Wrenches | None = None,
    expressed_in: str = "body",
    held: Sequence[str] = (),
) -> Array:
    """q at which the robot rests under joint forces τ, by descent from a first q: f(q) = h(q, 0) − Σ f_k − τ = 0.

    A step is −|K|⁻¹ f with K = ∂f/∂q, Newton's where K is positive, and shortened until the work of f along it is negative: so
    the energy decreases, and the equilibrium is a stable one unless the first q is an equilibrium itself.
    """
    robot, still, free = _without_friction(robot), np.zeros(robot.nv), _free(robot, held)
    given = still if tau is None else np.asarray(tau, float)
    if given.shape[-1:] != (robot.nv,) or not np.isfinite(given).all():
        raise ArgumentError(f"tau must be finite numbers of shape (..., {robot.nv}), not {tau!r}")
    batch = np.broadcast_shapes(q.shape[:-1], given.shape[:-1])
    at = np.broadcast_to(q, (*batch, robot.nq)).reshape(-1, robot.nq).copy()
    applied = np.broadcast_to(given, (*batch, robot.nv)).reshape(-1, robot.nv)

    def force(q: Array, rows: Any) -> Array:
        needed: Array = robot.inverse_dynamics(q, np.zeros((len(q), robot.nv)), still, wrenches, expressed_in=expressed_in)
        return (needed - applied[rows])[:, free]

    scale = np.abs(force(at, slice(None))).max(axis=-1, initial=0.0)
    todo = np.arange(len(at))
    for _ in range(STEPS):
        f, K = force(at[todo], todo), stiffness(robot, at[todo], wrenches, expressed_in)[:, free[:, None], free]
        largest = np.maximum(scale[todo], np.abs(K).max(axis=(-2, -1), initial=0.0))
        left = np.abs(f).max(axis=-1, initial=0.0) > TOLERANCE * largest
        todo, f, K = todo[left], f[left], K[left]
        if not len(todo):
            return at.reshape(*batch, robot.nq)
        step, part, whole = _descent(f, K), np.ones(len(todo)), np.zeros((len(todo), robot.nv))
        whole[:, free] = step
        for _ in range(60):
            there = robot.integrate(at[todo], part[:, None] * whole)
            uphill = np.einsum("bi,bi->b", f + force(there, todo), step) > 0  # work along the step, by its two ends
            if not uphill.any():
                break
            part[uphill] /= 2
        at[todo] = there
    raise SingularError(
        f"robot {robot.name!r} has no equilibrium near q0: after {STEPS} steps the force that is left is "
        f"{np.abs(force(at[todo], todo)).max():.3g} N·m or N; hold it by tau=, springs or constraints"
    )


def _descent(f: Array, K: Array) -> Array:
    """−|K|⁻¹ f, of at most LONGEST; the symmetric part of K counts, and soft directions count as SOFTEST."""
    values, V = np.linalg.eigh((K + np.swapaxes(K, -1, -2)) / 2)
    size = np.abs(values)
    floor = np.maximum(size.max(axis=-1, keepdims=True), np.abs(f).max(axis=-1, keepdims=True)) * SOFTEST
    size = np.maximum(size, floor)
    step: Array = -np.einsum("bij,bj->bi", V, np.einsum("bji,bj->bi", V, f) / size)
    return step * np.minimum(1.0, LONGEST / np.maximum(np.abs(step).max(axis=-1, keepdims=True), LONGEST))


def stiffness(robot: Robot, q: Array, wrenches: Wrenches | None = None, expressed_in: str = "body") -> Array:
    """K = ∂f/∂q (..., nv, nv) at rest: gravity, springs and all other forces."""
    still = np.zeros((*q.shape[:-1], robot.nv))
    K: Array = robot.inverse_dynamics_derivatives(q, still, still, wrenches, expressed_in=expressed_in).q
    return K


def _free(robot: Robot, held: Sequence[str]) -> Array:
    """The entries of v that are not of a joint that is held."""
    free = np.ones(robot.nv, bool)
    for name in [held] if isinstance(held, str) else held:
        free[robot.joint(name).v_slice] = False
    if not free.any():
        raise ArgumentError(f"all joints of robot {robot.name!r} are held, so nothing moves")
    return np.flatnonzero(free)


def _without_friction(robot: Robot) -> Robot:
    """The robot without forces that vanish at rest, whose law may jump there."""
    refuse(robot.model, "statics")
    return robot.without_terms("friction") if any(term.kind == "friction" for term in robot.model.terms) else robot


def modes(robot: Robot, q: Array, held: Sequence[str] = ()) -> Modes:
    """Natural frequencies and shapes of small vibrations about q, where joint forces hold the robot; without damping."""
    free = _free(robot, held)
    M, K = (x[..., free[:, None], free] for x in (robot.mass_matrix(q), stiffness(_without_friction(robot), q)))
    if np.abs(K - np.swapaxes(K, -1, -2)).max(initial=0.0) > ASYMMETRY * np.abs(K).max(initial=0.0):
        raise ArgumentError(
            f"the forces on robot {robot.name!r} at this q have no energy, since K = ∂f/∂q is not symmetric; with balls and "
            "free bodies take an equilibrium (robot.equilibrium); eigenvalues of robot.linearize hold for every force"
        )
    return Modes(frequencies(M, K), vibrations(M, K)[1])
