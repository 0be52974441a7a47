"""Statics: equilibrium under all forces of a robot at rest, and small vibrations about a configuration.

Under rows A the robot moves in the directions N with A N = 0, and λ carries the rest of the force f = h(q, 0) − Σ f_k − τ:

    Nᵀ f = 0,    f = Aᵀλ,    Nᵀ (∂f/∂q − ∂(Aᵀλ)/∂q) N ξ + NᵀM N ξ̈ = 0
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from torsor.errors import ArgumentError, ClosureError, SingularError
from torsor.mechanics.constraints import closing
from torsor.mechanics.constraints.null_space import RANK, apply, in_mass_metric
from torsor.mechanics.flexible.frequencies import frequencies
from torsor.mechanics.flexible.frequencies import modes as vibrations
from torsor.model.terms.capabilities import refuse
from torsor.spatial.rigid.basis import fix_signs
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from torsor.kernels.options import Wrenches
    from torsor.robot import Robot


#: steps towards an equilibrium, and the longest of them [rad, m]
STEPS, LONGEST = 200, 0.5
#: largest force that is left, relative to the stiffness times 1 rad or 1 m and to the force at the start
TOLERANCE = 1e-12
#: smallest stiffness that counts in a direction, relative to the largest
SOFTEST = 1e-6
#: largest part of K that is not symmetric: rounding, and no force that has an energy
ASYMMETRY = 1e-8


class Modes(NamedTuple):
    """Small vibrations M ẍ + K x = 0: angular ``frequencies`` (..., m) [rad/s], ascending, and ``shapes`` (..., n, m).

    The columns of ``shapes`` are Φ with K Φ = M Φ diag(ω²) and ΦᵀM Φ = 1; m = n but for rows, which leave m of the n directions
    free.  Where K has a negative eigenvalue −λ the robot is unstable, and −√λ stands in place of ω.
    """

    frequencies: Array
    shapes: Array


class RobotAtRest:
    """A robot at rest without its friction, some joints held: the forces left in the directions that it can move in."""

    def __init__(self, robot: Robot, held: Sequence[str], wrenches: Wrenches | None = None, expressed_in: str = "body"):
        refuse(robot.model, "statics")
        self.robot = robot
        self.on: dict[str, Any] = {"wrenches": wrenches, "expressed_in": expressed_in}
        self.rows = robot.constrained() if robot.model.has_rows else None
        left_out = [term.name for term in robot.model.terms if term.kind == "friction"]
        left_out += [c.name for c in self.rows.constraints] if self.rows else []
        self.tree = robot.without_terms(*left_out) if left_out else robot
        self.free = ~closing.joint_mask(robot, [held] if isinstance(held, str) else held)
        if not self.free.any():
            raise ArgumentError(f"all joints of robot {robot.name!r} are held, so nothing moves")

    def force(self, q: Array, tau: Array) -> Array:
        """f = h(q, 0) − Σ f_k − τ (b, nv) of the tree."""
        needed: Array = self.tree.inverse_dynamics(q, np.zeros((len(q), self.robot.nv)), np.zeros(self.robot.nv), **self.on)
        return needed - tau

    def directions(self, q: Array) -> Array:
        """N (b, nv, nv): the motions that held joints and rows allow, in columns; the others are 0."""
        if self.rows is None:
            return np.broadcast_to(np.diag(self.free.astype(float)), (len(q), self.robot.nv, self.robot.nv))
        M = self.rows.solver.rows_and_mass(q, ())[1]
        w = in_mass_metric(M, self._rows_and_held(q), self.robot.model)
        N: Array = w.motions(w.rank())
        return N * self.free[:, None]  # held joints stay where they are, to the last bit

    def stiffness(self, q: Array, f: Array) -> Array:
        """∂f/∂q − ∂(Aᵀλ)/∂q (b, nv, nv) at rest, with f = Aᵀλ in the directions that the rows do not allow."""
        still = np.zeros((len(q), self.robot.nv))
        K: Array = self.tree.inverse_dynamics_derivatives(q, still, still, **self.on).q
        if self.rows is None:
            return K
        carried = np.linalg.pinv(np.swapaxes(self._rows_and_held(q), -1, -2), RANK) @ f[..., None]
        along = self.rows.jacobian_rate(q[:, None], np.eye(self.robot.nv))  # ∂A/∂q_j
        return K - np.einsum("bk,bjkn->bnj", carried[:, : len(self.rows.rows), 0], along)

    def step_on_rows(self, q: Array, step: Array) -> Array:
        """q ⊕ step, on the rows."""
        there: Array = self.robot.integrate(q, step)
        return there if self.rows is None else closing.assemble(self.rows, there, self.free, None, 0, np.random.default_rng(0))

    def _rows_and_held(self, q: Array) -> Array:
        assert self.rows is not None
        held = np.eye(self.robot.nv)[~self.free]
        return np.concatenate([self.rows.jacobian(q), np.broadcast_to(held, (len(q), *held.shape))], axis=-2)


def equilibrium(
    robot: Robot,
    q: Array,
    tau: ArrayLike | None = None,
    wrenches: Wrenches | None = None,
    expressed_in: str = "body",
    held: Sequence[str] = (),
) -> Array:
    """q at which the robot rests under joint forces τ, by descent from a first q: Nᵀ f(q) = 0.

    A step is −N |K|⁻¹ Nᵀf with K = Nᵀ(∂f/∂q − ∂(Aᵀλ)/∂q)N, Newton's where K is positive, and shortened until the work of f
    along it is negative: so the energy decreases, and the equilibrium is a stable one unless the first q is one itself.
    """
    resting, nv = RobotAtRest(robot, held, wrenches, expressed_in), robot.nv
    given = np.zeros(nv) if tau is None else np.asarray(tau, float)
    if given.shape[-1:] != (nv,) or not np.isfinite(given).all():
        raise ArgumentError(f"tau must be finite numbers of shape (..., {nv}), not {tau!r}")
    batch = np.broadcast_shapes(q.shape[:-1], given.shape[:-1])
    at = np.broadcast_to(q, (*batch, robot.nq)).reshape(-1, robot.nq).copy()
    applied = np.broadcast_to(given, (*batch, nv)).reshape(-1, nv)
    at = resting.step_on_rows(at, np.zeros(nv))
    scale = np.abs(resting.force(at, applied)).max(axis=-1, initial=0.0)
    todo = np.arange(len(at))
    for _ in range(STEPS):
        f, N = resting.force(at[todo], applied[todo]), resting.directions(at[todo])
        across, K = apply(np.swapaxes(N, -1, -2), f), np.swapaxes(N, -1, -2) @ resting.stiffness(at[todo], f) @ N
        largest = np.maximum(scale[todo], np.abs(K).max(axis=(-2, -1), initial=0.0))
        left = np.abs(across).max(axis=-1, initial=0.0) > TOLERANCE * largest
        todo, N, across, K = todo[left], N[left], across[left], K[left]
        if not len(todo):
            return at.reshape(*batch, robot.nq)
        step, part = apply(N, _descent(across, K)), np.ones(len(todo))
        for _ in range(60):
            try:
                there = resting.step_on_rows(at[todo], part[:, None] * step)
            except ClosureError:  # so long a step leaves the loops open
                part /= 2
                continue
            uphill = np.einsum("bi,bi->b", f[left] + resting.force(there, applied[todo]), step) > 0  # work, by its two ends
            if not uphill.any():
                break
            part[uphill] /= 2
        at[todo] = there
    raise SingularError(
        f"robot {robot.name!r} has no equilibrium near q0: after {STEPS} steps the force that is left is "
        f"{np.abs(across).max():.3g} N·m or N; hold it by tau=, springs or constraints"
    )


def _descent(f: Array, K: Array) -> Array:
    """−|K|⁻¹ f, of at most LONGEST; the symmetric part of K counts, and soft directions count as SOFTEST."""
    values, V = np.linalg.eigh((K + np.swapaxes(K, -1, -2)) / 2)
    size = np.abs(values)
    floor = np.maximum(size.max(axis=-1, keepdims=True), np.abs(f).max(axis=-1, keepdims=True)) * SOFTEST
    size = np.maximum(size, floor)
    step: Array = -apply(V, apply(np.swapaxes(V, -1, -2), f) / size)
    return step * np.minimum(1.0, LONGEST / np.maximum(np.abs(step).max(axis=-1, keepdims=True), LONGEST))


def modes(robot: Robot, q: Array, held: Sequence[str] = ()) -> Modes:
    """Natural frequencies and shapes of small vibrations about q, where joint forces hold the robot; without damping."""
    resting, batch = RobotAtRest(robot, held), q.shape[:-1]
    q = q.reshape(-1, robot.nq)
    N = resting.directions(q)
    moving = np.abs(N).max(axis=-2) > 0
    freedoms = moving.sum(axis=-1)
    if (freedoms != freedoms[:1]).any():
        raise ArgumentError(
            f"robot {robot.name!r} has {freedoms.min()} to {freedoms.max()} freedoms at these q; one call for each"
        )
    N = np.swapaxes(np.swapaxes(N, -1, -2)[moving].reshape(len(q), -1, robot.nv), -1, -2)
    K = np.swapaxes(N, -1, -2) @ resting.stiffness(q, resting.force(q, np.zeros(robot.nv))) @ N
    M = np.swapaxes(N, -1, -2) @ robot.mass_matrix(q) @ N
    if np.abs(K - np.swapaxes(K, -1, -2)).max(initial=0.0) > ASYMMETRY * np.abs(K).max(initial=0.0):
        raise ArgumentError(
            f"the forces on robot {robot.name!r} at this q have no energy, since K = ∂f/∂q is not symmetric; with balls and "
            "free bodies take an equilibrium (robot.equilibrium); eigenvalues of robot.linearize hold for every force"
        )
    shapes = fix_signs(N @ vibrations(M, K)[1])[:, resting.free]
    return Modes(frequencies(M, K).reshape(*batch, -1), shapes.reshape(*batch, *shapes.shape[1:]))
