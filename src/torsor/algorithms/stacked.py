"""The closed form of the recursion (MR §8.4): every body's equation stacked into one, with matrices of 6N rows.

𝒱 = 𝒲𝒱 + 𝒜θ̇ + 𝒱_base is MR 8.51 for all bodies at once, and ℒ = (1 − 𝒲)⁻¹ solves it.  The form explains the recursions; it is
not meant for computing dynamics, because its 6N × 6N matrices replace O(N) recursions.

Python reads 𝒜 𝒢 𝒲 ℒ 𝒱 ℱ in a program as A G W L V F, so ``s.ℒ @ s.𝒜`` may be written as the book prints it.  F&O's global
form (:mod:`torsor.mechanics.operators`) has the same matrices by other letters: P = 1 − 𝒲, P⁻¹ = ℒ, H = 𝒜, I = 𝒢, S = ℒ𝒜.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torsor.algorithms.jacobian import columns
from torsor.algorithms.kinematics import joints, subspace_rates, velocities
from torsor.algorithms.wrenches import wrenches_on_bodies
from torsor.model.model import Model
from torsor.model.terms.capabilities import refuse
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Force, Motion, Subspace, Transform, plus_diagonal
from torsor.spatial.matrix import Matrix, Vector
from torsor.spatial.motion import six_by_six
from torsor.spatial.vector import ZERO


@dataclass(frozen=True)
class StackedEquations:
    """The matrices of MR 8.58–8.72 at one state, and the equations 8.73–8.80 made of them.

    N bodies, n = nv coordinates; rows 6i−5 … 6i belong to body i, in its own frame, (ω, v) or (m, f).  Where the book has a
    chain of revolute joints, torsor has trees, joints of d degrees of freedom and mimic joints:

    * 𝒲 has [Ad_T_{i,λ(i)}] at (i, λ(i)), λ(i) the parent; 𝒱_base and 𝒱̇_base act on every body whose parent is the base;
    * 𝒜 has d_i columns S_i for joint i; a mimic joint's column, times its ratio, is added to its leader's;
    * a motion subspace S that moves in its body (universal, planar) has a rate: 𝒜̇ θ̇ joins 𝒜 θ̈ wherever 𝒜 θ̇ is differentiated;
    * 𝒢_i is about the body frame's origin (MR 8.42), not the centre of mass; ``rotor`` is the rotors' own inertia (MR §8.9.3).

    The fields are :class:`Matrix` and :class:`Vector` over any scalar; those of ``robot.stacked_equations`` are arrays.
    """

    A: Any  #: 𝒜 [6N × n], MR 8.60
    A_rate: Any  #: 𝒜̇ [6N × n], zero where every motion subspace is fixed in its body
    G: Any  #: 𝒢 [6N × 6N], MR 8.61
    ad_V: Any  #: [ad_𝒱] [6N × 6N], MR 8.62
    ad_Av: Any  #: [ad_𝒜θ̇] [6N × 6N], MR 8.63
    W: Any  #: 𝒲(θ) [6N × 6N], MR 8.64, nilpotent
    L: Any  #: ℒ(θ) = (1 − 𝒲)⁻¹ [6N × 6N], MR 8.72
    V_base: Any  #: 𝒱_base [6N], MR 8.65
    dV_base: Any  #: 𝒱̇_base [6N], MR 8.66; gravity is in it, 𝒱̇₀ = (0, −g)
    F_tip: Any  #: ℱ_tip [6N], MR 8.67: wrenches of the robot on the world, the opposite of ``wrenches``
    rotor: Any  #: armatures [n × n], diagonal
    v: Any  #: θ̇ [n]
    a: Any  #: θ̈ [n]

    def __repr__(self) -> str:
        return f"<StackedEquations of {len(self.V_base) // 6} bodies and {len(self.v)} coordinates>"

    @property
    def V(self) -> Any:
        """𝒱 = ℒ(𝒜θ̇ + 𝒱_base) [6N], every body's twist (MR 8.58, 8.73)."""
        return self.L @ (self.A @ self.v + self.V_base)

    @property
    def dV(self) -> Any:
        """𝒱̇ = ℒ(𝒜θ̈ + 𝒜̇θ̇ − [ad_𝒜θ̇](𝒲𝒱 + 𝒱_base) + 𝒱̇_base) [6N] (MR 8.74)."""
        carried = self.ad_Av @ (self.W @ self.V + self.V_base)
        return self.L @ (self.A @ self.a + self.A_rate @ self.v - carried + self.dV_base)

    @property
    def F(self) -> Any:
        """ℱ = ℒᵀ(𝒢𝒱̇ − [ad_𝒱]ᵀ𝒢𝒱 + ℱ_tip) [6N], the wrench through every joint (MR 8.59, 8.75)."""
        return self.L.T @ (self.G @ self.dV - self.ad_V.T @ (self.G @ self.V) + self.F_tip)

    @property
    def tau(self) -> Any:
        """τ = 𝒜ᵀℱ [n], plus the rotors' (MR 8.76)."""
        return self.A.T @ self.F + self.rotor @ self.a

    @property
    def J(self) -> Any:
        """ℒ𝒜 [6N × n]: the body Jacobians J_ib of all bodies, one under the other (MR 8.56)."""
        return self.L @ self.A

    @property
    def J_rate(self) -> Any:
        """d/dt ℒ𝒜 = ℒ(𝒜̇ − [ad_𝒜θ̇]𝒲ℒ𝒜) [6N × n], from 𝒲̇ = −[ad_𝒜θ̇]𝒲 (MR Exercise 8.7)."""
        return self.L @ (self.A_rate - self.ad_Av @ (self.W @ self.J))

    @property
    def mass_matrix(self) -> Any:
        """M = 𝒜ᵀℒᵀ𝒢ℒ𝒜 [n × n] (MR 8.78), which is Σ J_ibᵀ 𝒢_i J_ib (MR 8.57), plus the rotors'."""
        J = self.J
        return J.T @ (self.G @ J) + self.rotor

    @property
    def mass_matrix_rate(self) -> Any:
        """Ṁ = (ℒ𝒜)ᵀ𝒢 d/dt(ℒ𝒜) and its transpose [n × n] (MR Exercise 8.7)."""
        half = self.J.T @ (self.G @ self.J_rate)
        return half + half.T

    @property
    def velocity_force(self) -> Any:
        """c = −𝒜ᵀℒᵀ(𝒢ℒ[ad_𝒜θ̇]𝒲 + [ad_𝒱]ᵀ𝒢)ℒ𝒜θ̇ + 𝒜ᵀℒᵀ𝒢ℒ𝒜̇θ̇ [n] (MR 8.79), of a base at rest."""
        V = self.J @ self.v
        dV = self.L @ (self.A_rate @ self.v - self.ad_Av @ (self.W @ V))
        return self.J.T @ (self.G @ dV - self.ad_V.T @ (self.G @ V))

    @property
    def gravity_force(self) -> Any:
        """g = 𝒜ᵀℒᵀ𝒢ℒ𝒱̇_base [n] (MR 8.80)."""
        return self.J.T @ (self.G @ (self.L @ self.dV_base))

    @property
    def tip_force(self) -> Any:
        """Jᵀℱ_tip = 𝒜ᵀℒᵀℱ_tip [n], the last term of MR 8.77."""
        return self.J.T @ self.F_tip


def stacked_equations(
    model: Model,
    q: Scalars,
    v: Scalars | None = None,
    a: Scalars | None = None,
    wrenches: Mapping[str, Scalars] | None = None,
    base_velocity: Scalars | None = None,
    base_acceleration: Scalars | None = None,
) -> StackedEquations:
    """𝒜, 𝒢, 𝒲(θ), ℒ(θ), [ad_𝒱], [ad_𝒜θ̇], 𝒱_base, 𝒱̇_base, ℱ_tip by name (MR 8.58–8.72).

    ``v`` and ``a`` are zero unless given.  ``wrenches``, ``base_velocity``, ``base_acceleration`` as in :func:`rnea`.

    >>> import torsor as ts
    >>> s = stacked_equations(ts.robots.two_link().model, [0.0, 0.0])
    >>> s.mass_matrix
    Matrix([[5.0, 2.0], [2.0, 1.0]])
    """
    refuse(model, "stacked")
    v, a = [0] * model.nv if v is None else v, [0] * model.nv if a is None else a
    X, S = joints(model, q)
    V0 = Motion.zero() if base_velocity is None else Motion.of(base_velocity)
    A0 = Motion.zero() if base_acceleration is None else Motion.of(base_acceleration)
    V = velocities(model, X, S, v, V0)
    rows = model.rates(v)
    bodies = range(1, len(model.parent))
    first = [(i, X[i]) for i in bodies if model.parent[i] == 0]
    L = _stack(len(bodies), {(i, j): six_by_six(Y.__matmul__) for i in bodies for j, Y in _from_ancestors(model, X, i)})
    f = wrenches_on_bodies(model, wrenches)
    return StackedEquations(
        A=_columns(model, S),
        A_rate=_columns(model, subspace_rates(model, q, v)),
        G=_stack(len(bodies), {(i, i): six_by_six(model.inertia[i].__matmul__) for i in bodies}),
        ad_V=_stack(len(bodies), {(i, i): six_by_six(V[i].cross) for i in bodies}),
        ad_Av=_stack(len(bodies), {(i, i): six_by_six((S[i] @ rows[i]).cross) for i in bodies}),
        W=_stack(len(bodies), {(i, p): six_by_six(X[i].__matmul__) for i, p in model.outward() if p > 0}),
        L=L,
        V_base=_stack_vectors(len(bodies), {i: Y @ V0 for i, Y in first}),
        dV_base=_stack_vectors(len(bodies), {i: Y @ (A0 - Motion(ZERO, model.gravity)) for i, Y in first}),
        F_tip=_stack_vectors(len(bodies), {i: -f[i] for i in bodies}),
        rotor=Matrix(rotor_inertia(model)),
        v=Vector(v),
        a=Vector(a),
    )


def rotor_inertia(model: Model) -> list[list[Scalar]]:
    """The armatures [kg·m² or kg] as a diagonal matrix (nv × nv): the rotors' part of M (MR §8.9.3)."""
    blocks = {(i, i): plus_diagonal([[0] * len(row)] * len(row), row) for i, row in enumerate(model.armature)}
    return model.gather_matrix(blocks)


def _from_ancestors(model: Model, X: Sequence[Transform], i: int) -> list[tuple[int, Transform]]:
    """(j, T_ij) for every body j on the way from body i to the base: row i of MR 8.72."""
    out, Y = [], Transform.identity()
    for j in model.path(i):
        out.append((j, Y))
        Y = Y @ X[j]
    return out


def _columns(model: Model, S: Sequence[Subspace]) -> Matrix:
    """6N × nv: each joint's columns in its own rows, a mimic joint's, times its ratio, in its leader's column."""
    return Matrix(row for i, _ in model.outward() for row in columns(model, {i: S[i]}))


def _stack(n: int, blocks: dict[tuple[int, int], Matrix]) -> Matrix:
    """6n × 6n from the blocks (i, j), bodies counted from 1."""
    out: list[list[Scalar]] = [[0] * (6 * n) for _ in range(6 * n)]
    for (i, j), block in blocks.items():
        for r, row in enumerate(block):
            out[6 * i - 6 + r][6 * j - 6 : 6 * j] = row
    return Matrix(out)


def _stack_vectors(n: int, parts: dict[int, Motion | Force]) -> Vector:
    out: list[Scalar] = [0] * (6 * n)
    for i, (upper, lower) in parts.items():
        out[6 * i - 6 : 6 * i] = [*upper, *lower]
    return Vector(out)
