"""Forward dynamics of a chain from its constraint forces, F&O 28: one equation per joint, coupled to its two neighbours.

Bodies are taken as free: A_i = I_i⁻¹(f_i − X_{i+1}ᵀf_{i+1} − p_i), where f_i is the force through joint i.  The joint allows
A_i − X_i A_{i−1} = S_i a_i, and Tᵀ of that (TᵀS = 0) is F&O 28, TᵀI⁻¹T β = Tᵀa₀ − TᵀI⁻¹(f_a − v × I v), with f = T β + S*τ
and a dual basis S*, SᵀS* = 1.  As in :mod:`torsor.algorithms.aba` accelerations are those that τ − h adds, so a₀ is in p.

An armature m makes Sᵀf = τ − m a, and a is unknown.  With a = −y/√m on the slots of S,

    f = Z y + S*τ,   Z = [−S*√m, T],   (e + ZᵀBZ) y = −Zᵀδ

where B is P I⁻¹Pᵀ of F&O 29's incidence matrix P, e is one on the slots of S and zero on those of T, and δ is A_i − X_i A_{i−1}
at y = 0.  The matrix is symmetric and positive definite, its blocks are 6×6 for every joint, and without armature those slots
solve y = 0.
"""

from __future__ import annotations

from collections.abc import Callable

from torsor.algorithms.joining import ZERO_MATRIX, to_matrix
from torsor.scalar import Scalar, Scalars, sqrt, where
from torsor.spatial import ArticulatedInertia, Force, Inertia, Motion, Subspace, Transform, factor, solve
from torsor.spatial.linear import dot
from torsor.spatial.matrix import Matrix, Vector
from torsor.spatial.motion import six_numbers


def dual(S: Subspace) -> list[Force]:
    """S* = S (SᵀS)⁻¹: the wrenches in the span of S with SᵀS* = 1."""
    columns = [Force(*s) for s in S]
    return solve(factor([[s.dot(f) for f in columns] for s in S]), columns)


def complement(S: Subspace) -> list[list[Scalar]]:
    """T: an orthonormal basis of the complement of S, by Householder reflections; 6 − d columns of six."""
    columns, reflectors = [six_numbers(s) for s in S], []
    for k in range(len(S)):
        x = [0] * k + list(columns[k][k:])
        length = sqrt(dot(x, x))
        x[k] = x[k] + where(x[k] < 0, -length, length)  # away from cancellation
        scale = 2 / dot(x, x)
        reflectors.append((x, scale))
        columns = [_reflect(c, x, scale) for c in columns]
    T: list[list[Scalar]] = [[int(i == k) for i in range(6)] for k in range(len(S), 6)]
    for x, scale in reversed(reflectors):
        T = [_reflect(t, x, scale) for t in T]
    return T


def force_basis(S: Subspace, m: Scalars) -> Matrix:
    """Z = [−S*√m, T]."""
    active = [six_numbers(f * -sqrt(mi)) for f, mi in zip(dual(S), m, strict=True)]
    return Matrix(zip(*active, *complement(S), strict=True))


def inverse(I: Inertia) -> Callable[[Force], Motion]:
    """F ↦ I⁻¹F of a rigid body that has mass and extent."""
    factors = factor(to_matrix(ArticulatedInertia.of(I)))
    return lambda F: Motion.of(solve(factors, six_numbers(F)))


def equation(
    X: Transform,
    I: Inertia,
    Z: Matrix,
    w: Force,
    above: tuple[Inertia, Matrix, Force],
    free: Scalar,
    e: Scalars,
) -> tuple[Matrix, Matrix, Vector]:
    """D y_i + C y_{i−1} + (the next one's C)ᵀ y_{i+1} = r, block row i of F&O 28.

    w = S*τ − X_{i+1}ᵀ(S*τ)_{i+1} − p is the given force on the body, ``above`` the same (I, Z, w) for its parent body;
    ``free`` is 0 if that is the base, which no force moves, else 1.
    """
    own, (Iu, Zu, wu) = inverse(I), above
    up = inverse(Iu)
    columns = [Force.of(z) for z in Z.T]
    own_moves = [own(z) for z in columns]  # I⁻¹Z
    up_moves = [X @ up(X.T @ z) * free for z in columns]  # X I⁻¹XᵀZ
    across = [X @ up(Force.of(z)) * free for z in Zu.T]
    D = Matrix(
        [z.dot(a) + z.dot(b) + (e[k] if j == k else 0) for k, (a, b) in enumerate(zip(own_moves, up_moves, strict=True))]
        for j, z in enumerate(columns)
    )
    C = Matrix([-z.dot(a) for a in across] for z in columns)
    delta = own(w) - X @ up(wu) * free
    return D, C, Vector(-z.dot(delta) for z in columns)


def eliminate(D: Matrix, r: Vector, C: Matrix, Cn: Matrix) -> tuple[tuple[Matrix, Vector], tuple[Matrix, Vector], Matrix]:
    """Eliminate joint i: the terms subtracted from D and r of i − 1 and of i + 1, and the new coupling of those two."""
    F = factor(D)
    W = Matrix(zip(*(solve(F, column) for column in C.T), strict=True))  # D⁻¹C
    Wn = Matrix(zip(*(solve(F, row) for row in Cn), strict=True))  # D⁻¹Cnᵀ
    x = Vector(solve(F, r))
    return (C.T @ W, C.T @ x), (Cn @ Wn, Cn @ x), ZERO_MATRIX - Cn @ W


def recover(D: Matrix, r: Vector) -> Vector:
    """y = D⁻¹ r"""
    return Vector(solve(factor(D), r))


def _reflect(c: Scalars, x: Scalars, scale: Scalar) -> list[Scalar]:
    k = dot(c, x) * scale
    return [ci - xi * k for ci, xi in zip(c, x, strict=True)]
