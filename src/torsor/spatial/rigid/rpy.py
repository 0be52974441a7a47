"""Roll, pitch and yaw as arrays: to and from rotations, and the Jacobian between their rates and the angular velocity.

The formulas are those of :mod:`torsor.spatial.rotation` and :mod:`torsor.spatial.rotation_rates`, over any scalar.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import SingularError, require_known
from torsor.scalar import Dual, rate
from torsor.spatial import Vec, rotation, rotation_rates
from torsor.spatial.rigid import reading as read
from torsor.spatial.rotation import fixed_axis_rotation

AXES = ("world", "body")


def from_rpy(rpy: ArrayLike) -> np.ndarray:
    """R = Rz(yaw) Ry(pitch) Rx(roll) (..., 3, 3) of (roll, pitch, yaw) (..., 3) [rad], turns about fixed axes as in URDF.

    Elsewhere: ``rpyToMatrix`` (Pinocchio), ``RollPitchYaw`` (Drake), ``Rotation.from_euler("xyz", rpy)`` (SciPy).

    >>> from_rpy([0, 0, np.pi / 2]).round(12) + 0.0
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    return read.matrix(fixed_axis_rotation(*read.vec(rpy, "rpy")))


def to_rpy(R: ArrayLike) -> np.ndarray:
    """(roll, pitch, yaw) (..., 3) [rad] of a rotation, |pitch| ≤ π/2: :func:`from_rpy` gives R back to rounding, everywhere.

    At gimbal lock, a pitch of ±π/2, only roll ∓ yaw is determined, and one pair of them is returned.

    >>> to_rpy(from_rpy([0.1, 0.2, -0.3])).round(12)
    array([ 0.1,  0.2, -0.3])
    """
    return read.stack(rotation.to_rpy(read.mat(read.rotation(R, "R"))))


def rpy_jacobian(rpy: ArrayLike, expressed_in: str = "world") -> np.ndarray:
    """B (..., 3, 3), with ω = B d/dt(roll, pitch, yaw) [rad/s], ω in world or in ``"body"`` axes.

    Elsewhere: ``computeRpyJacobian`` (Pinocchio), ``CalcMatrixRelatingAngularVelocity...`` (Drake), ``rpy2jac``
    (roboticstoolbox).

    >>> rpy_jacobian([0, 0, 0]).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    angles = read.vec(rpy, "rpy")
    B = rotation_rates.rpy_jacobian(*angles)
    return read.matrix(fixed_axis_rotation(*angles).T @ B if _in_body(expressed_in) else B)


def rpy_jacobian_inverse(rpy: ArrayLike, expressed_in: str = "world") -> np.ndarray:
    """B⁻¹ (..., 3, 3), with d/dt(roll, pitch, yaw) = B⁻¹ ω; at gimbal lock, a pitch of ±90°, it raises SingularError.

    >>> rpy_jacobian_inverse([0, 0, 0]).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    R = fixed_axis_rotation(*read.vec(rpy, "rpy"))
    x = R.T.x
    locked = np.asarray(x.x * x.x + x.y * x.y < rotation_rates.LOCKED)
    if locked.any():
        where = f"rpy[{', '.join(map(str, np.argwhere(locked)[0]))}]: " if locked.ndim else ""
        raise SingularError(where + rotation_rates.LOCK_MESSAGE)
    inverse = rotation_rates.rpy_rates(x)
    return read.matrix(inverse @ R if _in_body(expressed_in) else inverse)


def rpy_jacobian_rate(rpy: ArrayLike, rates: ArrayLike, expressed_in: str = "world") -> np.ndarray:
    """Ḃ (..., 3, 3) at the rates d/dt(roll, pitch, yaw) (..., 3) [rad/s]: ω̇ = B d²/dt²(roll, pitch, yaw) + Ḃ d/dt(...).

    Elsewhere: ``computeRpyJacobianTimeDerivative`` (Pinocchio).

    >>> rpy_jacobian_rate([0, 0, 0], [0, 0, 1]).tolist()
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    angles = Vec(*map(Dual, read.vec(rpy, "rpy"), read.vec(rates, "rates")))
    B = rotation_rates.rpy_jacobian(*angles)
    B = fixed_axis_rotation(*angles).T @ B if _in_body(expressed_in) else B
    return read.matrix([[rate(x) for x in row] for row in B])


def _in_body(expressed_in: str) -> bool:
    require_known("expressed_in=", expressed_in, AXES)
    return expressed_in == "body"
