"""Terms of Lagrange's equations in numbers, for any robot: compiled, batched, without SymPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from torsor import algorithms
from torsor.compile import Argument, Kernel, forward, record
from torsor.compile.program import evaluate
from torsor.compile.rules import RECORD
from torsor.errors import ArgumentError
from torsor.kernels import Quantity, Table
from torsor.model import Model
from torsor.spatial.linear import dot
from torsor.symbolic.rational import check_coordinates

if TYPE_CHECKING:
    from torsor.robot import Robot


def three_index_symbols(robot: Robot, q: ArrayLike) -> np.ndarray:
    """C_ijk = ∂H_ij/∂q_k − ½ ∂H_jk/∂q_i, ``(..., n, n, n)``: Christoffel's three-index symbol as defined in ASADA 7.2.22.

    From MR's Γ_ijk = ½(∂m_ij/∂q_k + ∂m_ik/∂q_j − ∂m_jk/∂q_i) (MR 8.17) by ∂m_ij/∂q_k = Γ_ijk + Γ_jik.  Both give the same
    c_i = Σ C_ijk q̇_j q̇_k = Σ Γ_ijk q̇_j q̇_k: Γ is the part of C that is symmetric in j and k, Γ_ijk = ½(C_ijk + C_ikj), so that
    C_ijj = Γ_ijj.  Only Γ makes Ṁ − 2C skew.

    >>> import torsor as ts
    >>> three_index_symbols(ts.robots.two_link(), [0.0, 0.5]).shape
    (2, 2, 2)
    """
    return _kernel(robot, "three_index_symbols")(q)


def centrifugal_and_coriolis(robot: Robot, q: ArrayLike, v: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """(Σ_j Γ_ijj v_j², Σ_j≠k Γ_ijk v_j v_k), ``(..., nv)`` each: the two parts of c(q, v) (ASADA 7.2.23).

    Their sum is ``robot.velocity_force(q, v)``.  For any joints; both definitions of Γ give the same parts.

    >>> import torsor as ts
    >>> centrifugal, coriolis = centrifugal_and_coriolis(ts.robots.two_link(), [0.0, 1.5707963267948966], [1.0, 2.0])
    >>> centrifugal.round(6), coriolis.round(6)
    (array([-4.,  1.]), array([-4.,  0.]))
    """
    return _kernel(robot, "centrifugal_and_coriolis")(q, v)


def passivity_matrix(robot: Robot, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """N = Ṁ − 2C, ``(..., nv, nv)``: skew for every q and v, so that vᵀNv = 0 (MR Prop. 8.1).

    Ṁ = Σ_k ∂M/∂q_k v_k is the derivative of the recorded mass matrix, C is the recursion's: the two are independent.

    >>> import torsor as ts
    >>> N = passivity_matrix(ts.robots.two_link(), [0.3, 0.5], [1.0, 2.0])
    >>> float(abs(N + N.T).max())
    0.0
    """
    return _kernel(robot, "passivity_matrix")(q, v)


def point_force(robot: Robot, q: ArrayLike, frame: str, force: ArrayLike, *, point: ArrayLike = (0.0, 0.0, 0.0)) -> np.ndarray:
    """Q = J_rᵀ F, J_r = dr/dq, ``(..., nv)``: the generalized force of a force at a point (ASADA 7.2.31, 7.2.32).

    ``force`` F [N] (3) in the world's axes acts on the robot at ``point`` (3) [m], given in the ``frame`` it is fixed in; zero
    is the frame's origin, the endpoint.  M a + h = τ + Q.

    >>> import torsor as ts
    >>> point_force(ts.robots.two_link(), [0.0, 0.0], "tip", [0.0, 1.0, 0.0])
    array([2., 1.])
    """
    return _kernel(robot, "point_force", frame)(q, force, point)


# -- over any scalar -----------------------------------------------------------------------------------------


def three_index(dM: Any) -> list[list[list[Any]]]:
    """C_ijk = ∂H_ij/∂q_k − ½ ∂H_jk/∂q_i from dM_ijk = ∂m_ij/∂q_k (ASADA 7.2.22).

    >>> three_index([[[3.0]]])
    [[[1.5]]]
    """
    n = range(len(dM))
    return [[[dM[i][j][k] - dM[j][k][i] * 0.5 for k in n] for j in n] for i in n]


def split_velocity_force(G: Any, v: Any) -> tuple[list[Any], list[Any]]:
    """(Σ_j Γ_ijj v_j², Σ_j≠k Γ_ijk v_j v_k) (ASADA 7.2.23).

    >>> split_velocity_force([[[2.0]]], [3.0])
    ([18.0], [0])
    """
    n = range(len(v))
    centrifugal = [sum(G[i][j][j] * v[j] * v[j] for j in n) for i in n]
    coriolis = [sum((G[i][j][k] + G[i][k][j]) * v[j] * v[k] for j in n for k in range(j)) for i in n]
    return centrifugal, coriolis


def _three_index(model: Model, q: Any) -> Any:
    check_coordinates(model, "three_index_symbols")
    n = range(model.nv)
    G = algorithms.christoffel_symbols(model, q)
    return three_index([[[G[i][j][k] + G[j][i][k] for k in n] for j in n] for i in n])  # Ṁ = C + Cᵀ


def _split(model: Model, q: Any, v: Any) -> tuple[list[Any], list[Any]]:
    return split_velocity_force(algorithms.christoffel_symbols(model, q), v)


def _passivity(model: Model, q: Any, v: Any) -> Any:
    check_coordinates(model, "passivity_matrix")
    n = range(model.nv)
    dM = forward(record(lambda q: {"M": algorithms.crba(model, q)}, [Argument("q", (model.nq,))]), ["q"])
    values = evaluate(dM, q, RECORD)
    entry = iter([values[k] for k in dM.results])
    rate = [[sum(next(entry) * v[k] for k in n) for _ in n] for _ in n]  # Ṁ_ij = Σ_k ∂m_ij/∂q_k v_k
    C = algorithms.coriolis_matrix(model, q, v)
    return [[rate[i][j] - C[i][j] * 2 for j in n] for i in n]  # MR Prop. 8.1


def _virtual_work(model: Model, q: Any, F: Any, point: Any, frame: str) -> list[Any]:
    """J_rᵀ F, with the linear rows of the frame's Jacobian at the point."""
    J = algorithms.jacobian(model, q, frame, at=point)
    return [dot(column, F) for column in zip(*J[3:], strict=True)]


QUANTITIES = Table(
    "torsor.symbolic.forces:QUANTITIES",
    {
        "three_index_symbols": Quantity(("q",), _three_index),
        "centrifugal_and_coriolis": Quantity(("q", "v"), _split, outputs=("centrifugal", "coriolis")),
        "passivity_matrix": Quantity(("q", "v"), _passivity),
        "point_force": Quantity(("q", "force", "point"), _virtual_work, ("frame",)),
    },
    symbols="use lagrange_of",
)


def _kernel(robot: Any, name: str, *words: str) -> Kernel:
    """A kernel of a robot."""
    if not isinstance(getattr(robot, "model", None), Model):
        raise ArgumentError(f"robot must be a Robot, not {type(robot).__name__}")
    return robot.kernels.of(QUANTITIES, {"force": (3,), "point": (3,)})(name, *words)
