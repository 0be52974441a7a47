"""Inverse kinematics of poses as a function of PyTorch or JAX, with the derivative of the solution by the pose.

The solver runs on plain numbers.  One more step of Newton's, recorded with the pose as an input, carries the derivative: where
the pose is met, J dq = dξ for a motion dξ of the pose (implicit function theorem), with the shortest dq if there are several.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.bridges.array_functions import ArrayFunction
from torsor.support.locks import cached_property

if TYPE_CHECKING:
    from torsor.robot import Robot


@dataclass(frozen=True)
class DifferentiableInverseKinematics:
    """``q, success = f(T, q0=None)``: T (..., 4, 4), q (..., nq); where ``success`` (...) is False, the derivative is zero.

    ``library`` is the module of the arrays, ``wrap`` makes its function of an ArrayFunction, and ``call`` runs a function of
    NumPy arrays with the results q and success on arrays without derivatives.
    """

    robot: Robot
    frame: str | None
    library: Any
    wrap: Callable[[ArrayFunction], Callable[..., Any]]
    call: Callable[..., Any]
    options: dict[str, Any] = field(default_factory=dict)

    def __call__(self, T: Any, q0: Any = None) -> tuple[Any, Any]:
        xp, shape = self.library, tuple(T.shape)
        q, success = self.call(self._solve, T, q0, (*shape[:-2], self.robot.nq))
        return xp.where(success[..., None], self._newton(q, T.reshape((*shape[:-2], 16))), q), success

    def _solve(self, T: Any, q0: Any = None) -> tuple[np.ndarray, np.ndarray]:
        found = self.robot.inverse_kinematics(np.asarray(T, float), self.frame, q0, **self.options)
        return found.q, np.asarray(found.success)

    @cached_property
    def _newton(self) -> Callable[..., Any]:
        problem = self.robot.inverse_kinematics(np.eye(4), self.frame, **(self.options | {"attempts": 1})).problem
        assert problem is not None
        return self.wrap(ArrayFunction.of(problem.kernels, problem.newton))
