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

if TYPE_CHECKING:
    from torsor.mechanics.task.task import Task

Array = np.ndarray


class Response(NamedTuple):
    """J, J G and the acceleration V̇ of the task under some joint forces, and the joint acceleration a."""

    J: Array
    JG: Array
    acceleration: Array
    a: Array

    @property
    def inverse_mass(self) -> Array:
        """Λ⁻¹ = J G Jᵀ, symmetric."""
        A = self.JG @ np.swapaxes(self.J, -1, -2)
        return (A + np.swapaxes(A, -1, -2)) / 2


def respond(task: Task, q: ArrayLike, v: ArrayLike, tau: ArrayLike | None = None, **options: Any) -> Response:
    """The task under joint forces τ, by default none; ``options`` are those of forward dynamics: wrenches, the time."""
    robot, J = task.robot, task.jacobian(q)
    force = np.zeros(robot.nv) if tau is None else tau
    a = robot.forward_dynamics(q, v, force, **options)
    G = robot.forward_dynamics_derivatives(q, v, force, **options).tau
    return Response(J, J @ G, task.acceleration(q, v, a), a)


def force_for(task: Task, response: Response, acceleration: ArrayLike) -> tuple[Array, Array]:
    """F = Λ (V̇ − V̇(τ)) and JᵀF."""
    lacking = np.asarray(acceleration, float) - response.acceleration
    F = (mass_matrix(task, response) @ lacking[..., None])[..., 0]
    return F, (np.swapaxes(response.J, -1, -2) @ F[..., None])[..., 0]


def mass_matrix(task: Task, response: Response) -> Array:
    """Λ, or its replacement where the task is singular."""
    A = response.inverse_mass
    if task.treatment.treatment != "raise":
        return task.treatment.mass(A)
    scale = np.sqrt(np.einsum("...ii->...i", A))
    least = np.linalg.eigvalsh(
        A / np.where(scale == 0, 1.0, scale)[..., :, None] / np.where(scale == 0, 1.0, scale)[..., None, :]
    )
    if (least[..., 0] < 10 / LARGEST).any():
        raise SingularError(
            f"{task.robot.name!r} cannot accelerate all rows of this task under its constraints: Λ does not exist; omit a row, "
            'or choose singular="damped" or "truncated"'
        )
    return np.linalg.inv(A)


def inverse_dynamics(
    task: Task, q: Any, v: Any, acceleration: Any, null_torque: Any = None, **options: Any
) -> tuple[Array, Array]:
    """F and τ = JᵀF + N τ₀; options as for :func:`respond`."""
    F, tau = force_for(task, respond(task, q, v, None, **options), acceleration)
    if null_torque is None:
        return F, tau
    own = force_for(task, respond(task, q, v, null_torque, **options), acceleration)[1]
    return F, np.asarray(null_torque, float) + own
