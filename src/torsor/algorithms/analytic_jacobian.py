"""Analytic Jacobians: rates of the coordinates of a frame's rotation, in place of its angular velocity (MR §5.1.5)."""

from __future__ import annotations

from collections.abc import Callable

from torsor.algorithms.jacobian import jacobian
from torsor.algorithms.kinematics import pose
from torsor.errors import require_known
from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Mat, Vec
from torsor.spatial.exponential import left_jacobian_inverse
from torsor.spatial.recovery import quaternion_of
from torsor.spatial.rotation_rates import quaternion_rate, rpy_rates

#: the rates of coordinates of a rotation R, from an angular velocity in the world's axes
ROTATIONS: dict[str, Callable[[Mat, Vec], tuple[Scalar, ...]]] = {
    "rpy": lambda R, w: rpy_rates(R.T.x) @ w,
    "quaternion": lambda R, w: quaternion_rate(quaternion_of(R), w),
    "rotation_vector": lambda R, w: left_jacobian_inverse(quaternion_of(R).log) @ w,
}


def analytic_jacobian(
    model: Model,
    q: Scalars,
    frame: str,
    rotation: str = "rpy",
    relative_to: str | None = None,
    at: Scalars | None = None,
) -> list[list[Scalar]]:
    """J_a(q), with (ẋ, ṗ) = J_a v: x the coordinates of R in the pose (R, p) of the frame, named by ``rotation``."""
    require_known("rotation=", rotation, ROTATIONS)
    J = jacobian(model, q, frame, "world", relative_to, at)
    R = Mat(*(Vec(*row[:3]) for row in pose(model, q, frame, relative_to)[:3]))
    rates = [ROTATIONS[rotation](R, Vec(*column)) for column in zip(*J[:3], strict=True)]
    return [*([rate[k] for rate in rates] for k in range(4 if rotation == "quaternion" else 3)), *J[3:]]
