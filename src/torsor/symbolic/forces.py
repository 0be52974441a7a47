"""What Lagrange's equations say, in numbers, for any robot: compiled, batched, without SymPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from torsor import algorithms
from torsor.compile import Argument, Kernel, Program, forward, trace
from torsor.errors import ArgumentError
from torsor.locks import new_lock
from torsor.model import Model
from torsor.model.loops import refuse_loops
from torsor.scalar import is_constant
from torsor.spatial import Vec
from torsor.symbolic.rational import check_coordinates
from torsor.version import __version__

if TYPE_CHECKING:
    from torsor.robot import Robot


def three_index_symbols(robot: Robot, q: ArrayLike) -> np.ndarray:
    """C_ijk = ∂H_ij/∂q_k − ½ ∂H_jk/∂q_i, ``(..., n, n, n)``: Christoffel's three-index symbol as ASADA 7.2.22 has it.

    From MR's Γ_ijk = ½(∂m_ij/∂q_k + ∂m_ik/∂q_j − ∂m_jk/∂q_i) (MR 8.17) by ∂m_ij/∂q_k = Γ_ijk + Γ_jik.  Both give the same
    c_i = Σ C_ijk q̇_j q̇_k = Σ Γ_ijk q̇_j q̇_k: Γ is the part of C that is symmetric in j and k, Γ_ijk = ½(C_ijk + C_ikj), so that
    C_ijj = Γ_ijj.  Only Γ makes Ṁ − 2C skew.

    >>> import torsor as ts
    >>> three_index_symbols(ts.robots.two_link(), [0.0, 0.5]).shape
    (2, 2, 2)
    """
    return _kernel(robot, "three_index_symbols", _three_index)(q)


def centrifugal_and_coriolis(robot: Robot, q: ArrayLike, v: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """(Σ_j Γ_ijj v_j², Σ_j≠k Γ_ijk v_j v_k), ``(..., nv)`` each: the two parts of c(q, v) (ASADA 7.2.23).

    Their sum is ``robot.velocity_force(q, v)``.  At any joints: the split depends on v alone, not on which Γ is meant.

    >>> import torsor as ts
    >>> centrifugal, coriolis = centrifugal_and_coriolis(ts.robots.two_link(), [0.0, 1.5707963267948966], [1.0, 2.0])
    >>> centrifugal.round(6), coriolis.round(6)
    (array([-4.,  1.]), array([-4.,  0.]))
    """
    refuse_loops(_model(robot), "centrifugal_and_coriolis")
    return _kernel(robot, "centrifugal_and_coriolis", _split)(q, v)


def passivity_matrix(robot: Robot, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """N = Ṁ − 2C, ``(..., nv, nv)``: skew for every q and v, so that vᵀNv = 0 (MR Prop. 8.1).

    Ṁ = Σ_k ∂M/∂q_k v_k is the derivative of the recorded mass matrix, C the recursion's: neither is made from the other.

    >>> import torsor as ts
    >>> N = passivity_matrix(ts.robots.two_link(), [0.3, 0.5], [1.0, 2.0])
    >>> float(abs(N + N.T).max())
    0.0
    """
    return _kernel(robot, "passivity_matrix", _passivity)(q, v)


def point_force(robot: Robot, q: ArrayLike, frame: str, force: ArrayLike, *, point: ArrayLike = (0.0, 0.0, 0.0)) -> np.ndarray:
    """Q = J_rᵀ F, J_r = dr/dq, ``(..., nv)``: the generalized force of a force at a point (ASADA 7.2.31, 7.2.32).

    ``force`` F [N] (3) in the world's axes acts on the robot at ``point`` (3) [m], given in the ``frame`` it is fixed in; zero
    is the frame's origin, the endpoint.  M a + h = τ + Q.

    >>> import torsor as ts
    >>> point_force(ts.robots.two_link(), [0.0, 0.0], "tip", [0.0, 1.0, 0.0])
    array([2., 1.])
    """
    _model(robot).frame(frame)

    def program(model: Model) -> Program:
        inputs = [Argument("q", (model.nq,)), Argument("force", (3,)), Argument("point", (3,))]
        return trace(lambda q, F, r: {"Q": _virtual_work(model, q, frame, Vec(*F), Vec(*r))}, inputs)

    return _kernel(robot, f"point_force:{frame}", program)(q, force, point)


# -- over any scalar -----------------------------------------------------------------------------------------


def _three_index(model: Model) -> Program:
    check_coordinates(model, "three_index_symbols")
    n = range(model.nv)

    def symbols(q: Any) -> dict[str, Any]:
        G = algorithms.christoffel_symbols(model, q)
        dM = [[[G[i][j][k] + G[j][i][k] for k in n] for j in n] for i in n]  # Ṁ = C + Cᵀ
        return {"C": [[[dM[i][j][k] - dM[j][k][i] * 0.5 for k in n] for j in n] for i in n]}  # ASADA 7.2.22

    return trace(symbols, [Argument("q", (model.nq,))])


def _split(model: Model) -> Program:
    n = range(model.nv)

    def parts(q: Any, v: Any) -> dict[str, Any]:
        G = algorithms.christoffel_symbols(model, q)
        centrifugal = [sum(G[i][j][j] * v[j] * v[j] for j in n) for i in n]  # ASADA 7.2.23
        coriolis = [sum((G[i][j][k] + G[i][k][j]) * v[j] * v[k] for j in n for k in range(j)) for i in n]
        return {"centrifugal": centrifugal, "coriolis": coriolis}

    return trace(parts, [Argument("q", (model.nq,)), Argument("v", (model.nv,))])


def _passivity(model: Model) -> Program:
    check_coordinates(model, "passivity_matrix")
    n = range(model.nv)
    inputs = [Argument("q", (model.nq,))]
    dM = forward(trace(lambda q: {"M": algorithms.crba(model, q)}, inputs), ["q"])

    def matrix(q: Any, v: Any) -> dict[str, Any]:
        from torsor.compile.program import evaluate
        from torsor.compile.rules import RECORD

        values = evaluate(dM, q, RECORD)
        entry = iter([values[k] for k in dM.results])
        rate = [[sum(next(entry) * v[k] for k in n) for _ in n] for _ in n]  # Ṁ_ij = Σ_k ∂m_ij/∂q_k v_k
        C = algorithms.coriolis_matrix(model, q, v)
        return {"N": [[rate[i][j] - C[i][j] * 2 for j in n] for i in n]}  # MR Prop. 8.1

    return trace(matrix, [*inputs, Argument("v", (model.nv,))])


def _virtual_work(model: Model, q: Any, frame: str, F: Vec, point: Vec) -> list[Any]:
    """Jᵀ (r × F, F), r from the frame's origin to the point, in the world's axes."""
    T = algorithms.pose(model, q, frame)
    r = Vec(*(Vec(*row[:3]).dot(point) for row in T[:3]))
    J = algorithms.jacobian(model, q, frame)
    wrench = (*r.cross(F), *F)
    return [sum(J[i][k] * wrench[i] for i in range(6)) for k in range(model.nv)]


# -- kernels, one a robot and a name -------------------------------------------------------------------------

_kernels: WeakKeyDictionary[Any, dict[str, Kernel]] = WeakKeyDictionary()
_lock = new_lock()


def _model(robot: Any) -> Model:
    model = getattr(robot, "model", None)
    if not isinstance(model, Model):
        raise ArgumentError(f"robot must be a Robot, not {type(robot).__name__}")
    if not all(is_constant(x) for I in model.inertia for x in (I.m, *I.h, *I.I)):
        raise ArgumentError(f"robot {model.name!r} has symbols where a kernel needs numbers; lagrange_of takes them")
    return model


def _kernel(robot: Any, name: str, program: Callable[[Model], Program]) -> Kernel:
    """The kernel of a robot; robots that are equal share it."""
    model = _model(robot)
    with _lock:
        table = _kernels.setdefault(robot, {})
        if name not in table:
            table[name] = Kernel(program(model), name=f"{model.name}.{name}", version=__version__)
        return table[name]
