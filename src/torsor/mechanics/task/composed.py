"""Tasks of robots with constraints, or under wrenches: Λ and η from the robot's own forward dynamics.

Under joint forces τ the task accelerates by V̇ = V̇₀ + J G τ, G = ∂a/∂τ: M⁻¹ of a tree, P M⁻¹ under constraints.
So Λ⁻¹ = J G Jᵀ, η = −Λ V̇₀, and F = Λ (V̇ − V̇₀), as for a tree (MR 8.89–8.91).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import SingularError
from torsor.mechanics.task.singular import LARGEST
from torsor.model.terms.constraint import Constraint
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.mechanics.task.task import Task
    from torsor.robot import Robot

#: Newton steps for τ under friction, which is piecewise linear in the load: each load may change its sign on the way
NEWTON_STEPS = 6
#: entries of Λ⁻¹ below this, relative to the largest, are rounding errors of a row that constraints hold
ROUNDING = 1e-12


class Response(NamedTuple):
    """J, G = ∂a/∂τ, and the acceleration V̇ of the task under some joint forces, and the joint acceleration a."""

    J: Array
    G: Array
    acceleration: Array
    a: Array

    @property
    def gain(self) -> Array:
        """J G Jᵀ = ∂V̇/∂F, symmetric unless friction grows with the load."""
        return self.J @ self.G @ np.swapaxes(self.J, -1, -2)

    @property
    def inverse_mass(self) -> Array:
        """Λ⁻¹ = J G Jᵀ, made symmetric."""
        return (self.gain + np.swapaxes(self.gain, -1, -2)) / 2


def respond(task: Task, q: ArrayLike, v: ArrayLike, tau: ArrayLike | None = None, **options: Any) -> Response:
    """The task under joint forces τ, by default none; ``options`` are those of forward dynamics: wrenches, the time."""
    robot, J = task.robot, task.jacobian(q)
    force = np.zeros(robot.nv) if tau is None else tau
    a = robot.forward_dynamics(q, v, force, **options)
    G = robot.forward_dynamics_derivatives(q, v, force, **options).tau
    return Response(J, G, task.acceleration(q, v, a), a)


def force_for(task: Task, response: Response, acceleration: ArrayLike) -> tuple[Array, Array]:
    """F = Λ (V̇ − V̇(τ)) and JᵀF."""
    lacking, mass = (np.asarray(acceleration, float) - response.acceleration)[..., None], mass_matrix(task, response)
    F = (np.linalg.solve(response.gain, lacking) if task.treatment.treatment == "raise" else mass @ lacking)[..., 0]
    return F, (np.swapaxes(response.J, -1, -2) @ F[..., None])[..., 0]


def mass_matrix(task: Task, response: Response) -> Array:
    """Λ, or its replacement where the task is singular."""
    A = response.inverse_mass
    if task.treatment.treatment != "raise":
        return task.treatment.mass(A)
    own = np.einsum("...ii->...i", A)
    held = own <= ROUNDING * np.abs(own).max(axis=-1, keepdims=True, initial=0)  # rows that no force accelerates
    scale = np.sqrt(np.where(held, 1.0, own))
    least = np.linalg.eigvalsh(A / (scale[..., :, None] * scale[..., None, :]))[..., 0]
    if (held.any(axis=-1) | ~(least > 10 / LARGEST)).any():
        raise SingularError(
            f"{task.robot.name!r} cannot accelerate all rows of this task under its constraints: Λ does not exist; omit a row, "
            'or choose singular="damped" or "truncated"'
        )
    return np.linalg.inv(A)


# -- quantities of the mechanism alone: its links and constraints, without other terms, as those of a tree -----------------


def unloaded(task: Task, q: Any, time: Any = None) -> Response:
    """J and G = P M⁻¹ of the links and constraints."""
    clock = time if task.robot.constrained().solver.clock else None
    G = task.robot.constrained().inverse_mass_matrix(q, time=clock)
    return Response(task.jacobian(q), G, np.zeros(len(task.rows)), np.zeros(task.robot.nv))


def bias_force(task: Task, q: Any, v: Any, robot: Robot | None = None) -> Array:
    """η = −Λ V̇₀, V̇₀ the acceleration without joint forces."""
    robot = robot or bare(task)
    free = task.acceleration(q, v, robot.forward_dynamics(q, v, np.zeros(robot.nv)))
    return -(mass_matrix(task, unloaded(task, q)) @ free[..., None])[..., 0]


def velocity_force(task: Task, q: Any, v: Any) -> Array:
    """η without gravity."""
    return bias_force(task, q, v, bare(task, weightless=True))


def gravity_force(task: Task, q: Any) -> Array:
    """η at rest."""
    return bias_force(task, q, np.zeros(task.robot.nv))


def consistent_inverse(task: Task, q: Any) -> Array:
    """J̄ = G JᵀΛ with G = ∂a/∂τ: J J̄ = 1 and A J̄ = 0."""
    found = unloaded(task, q)
    return found.G @ np.swapaxes(found.J, -1, -2) @ mass_matrix(task, found)


def null_space(task: Task, q: Any) -> Array:
    """N = 1 − JᵀJ̄ᵀ."""
    return np.eye(task.robot.nv) - np.swapaxes(consistent_inverse(task, q) @ task.jacobian(q), -1, -2)


def velocity(task: Task, q: Any, twist: Any) -> Array:
    """v = J̄ V."""
    return (consistent_inverse(task, q) @ np.asarray(twist, float)[..., None])[..., 0]


def joint_acceleration(task: Task, q: Any, v: Any, acceleration: Any) -> Array:
    """a = a₀ + J̄ (V̇ − V̇(a₀)), a₀ the acceleration that the constraints need at v without any force."""
    robot = bare(task, weightless=True)
    a = robot.forward_dynamics(q, v, robot.velocity_force(q, v))
    return a + velocity(task, q, np.asarray(acceleration, float) - task.acceleration(q, v, a))


def bare(task: Task, weightless: bool = False) -> Robot:
    """The robot with its constraints, and without other terms that add no coordinates."""
    robot = task.robot
    others = [term.name for term in robot.model.terms if not (isinstance(term, Constraint) or term.added)]
    robot = robot.without_terms(*others) if others else robot
    return robot.with_gravity((0, 0, 0)) if weightless else robot


# -- dynamics with all terms of the robot --------------------------------------------------------------------------------


def constrained_dynamics(task: Task, q: Any, v: Any, tau: Any, acceleration: Any) -> tuple[Array, Array]:
    """a = a(τ) + G JᵀF, and F = Λ (V̇ − V̇(τ))."""
    found = respond(task, q, v, tau)
    F, push = force_for(task, found, acceleration)
    return found.a + (found.G @ push[..., None])[..., 0], F


def inverse_dynamics(
    task: Task, q: Any, v: Any, acceleration: Any, null_torque: Any = None, **options: Any
) -> tuple[Array, Array]:
    """F and τ = JᵀF + N τ₀; options as for :func:`respond`.

    V̇ is linear in τ unless friction grows with the load: then each step begins at the τ of the one before (Newton's method).
    """
    F, tau = _solve(task, q, v, np.zeros(task.robot.nv), acceleration, **options)
    if null_torque is None:
        return F, tau
    return F, _solve(task, q, v, np.asarray(null_torque, float), acceleration, **options)[1]


def _solve(task: Task, q: Any, v: Any, tau: Array, acceleration: Any, **options: Any) -> tuple[Array, Array]:
    """F, and τ + JᵀF under which the task has an acceleration."""
    F: Any = 0.0
    for _ in range(NEWTON_STEPS if task.robot.model.joints_with_friction else 1):
        more, push = force_for(task, respond(task, q, v, tau, **options), acceleration)
        F, tau = F + more, tau + push
    return F, tau
