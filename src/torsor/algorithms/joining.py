"""Joining articulated bodies with two handles: forward dynamics in any order of elimination.

The articulated-body algorithm eliminates one joint after another from the tips inwards.  A *segment*, a piece of a chain
between a body (its head's parent) and a body further out (its tip), can be joined with the next segment, whatever their
contents: in a chain of N bodies all pairs at once, then all pairs of pairs, ⌈log₂ N⌉ steps in all (Featherstone 1999).

Featherstone's segments map two forces to two accelerations, by inverse inertias that do not exist for a massless body.
The segments here map the acceleration A above and the load f below, each available when it is needed:

    A_tip = Y A − Φ f + b        F = K A + Yᵀ f + c

F is the force the segment needs from above.  K is the articulated inertia of F&O 12 of the segment alone, Φ the inverse inertia
of its tip while its head is held, Y the motion of the tip per motion of the head.  Joining adds positive matrices, and the only
inverse is that of 1 + Φ J, whose eigenvalues are at least one.

Accelerations are those that τ − h adds, as in :mod:`torsor.algorithms.aba`.
"""

from __future__ import annotations

from typing import NamedTuple

from torsor.scalar import Scalar, Scalars, sqrt, where
from torsor.spatial import (
    ArticulatedInertia,
    Force,
    Forces,
    Mat,
    Motion,
    Subspace,
    Sym,
    Transform,
    Vec,
    factor,
    plus_diagonal,
    solve,
    symmetrize,
)
from torsor.spatial.articulated import articulate, innovate
from torsor.spatial.linear import dot
from torsor.spatial.matrix import Matrix, Vector
from torsor.spatial.motion import six_numbers

#: relative rounding error allowed in a diagonal entry: some 6² units in the last place
ROUNDING = 4e-15

IDENTITY = Matrix([int(i == j) for j in range(6)] for i in range(6))
ZERO_MATRIX = Matrix([0] * 6 for _ in range(6))
ZERO_VECTOR = Vector([0] * 6)


class Segment(NamedTuple):
    """A_tip = Y A − Φ f + b,  F = K A + Yᵀ f + c: the dynamics of a piece of a chain between two handles."""

    Y: Matrix
    Phi: Matrix
    b: Vector
    K: Matrix
    c: Vector


#: the segment without bodies: its tip is its head
EMPTY = Segment(IDENTITY, ZERO_MATRIX, ZERO_VECTOR, ZERO_MATRIX, ZERO_VECTOR)


class OpenJoint(NamedTuple):
    """A joint that no body has been joined to yet: X, S, armature m and joint force τ."""

    X: Transform
    S: Subspace
    m: Scalars
    tau: Scalars


class Gains(NamedTuple):
    """a = u − W A − V g: a joint's acceleration, given its parent's A and the load g on its body; V = D⁻¹Sᵀ."""

    u: list[Scalar]
    W: list[Force]
    V: list[Motion]

    def acceleration(self, A: Motion, g: Force) -> list[Scalar]:
        """a of the joint (F&O 14)."""
        return [u - A.dot(W) - V.dot(g) for u, W, V in zip(self.u, self.W, self.V, strict=True)]


class InnerBody(NamedTuple):
    """A_j = Z A − G g + b: the body inside a joined segment, given A above and the load g from its other side."""

    Z: Matrix
    G: Matrix
    b: Vector


def join_to_joint(joint: OpenJoint, J: Matrix, P: Vector, rest: Segment = EMPTY) -> tuple[Segment, Gains]:
    """A joint, the body it carries (articulated inertia J, bias force P), and the rest beyond: one segment.

    The step of the articulated-body algorithm at a joint, F&O 12–13, for any load on the tip.  With ``rest`` empty the tip is
    the body itself.
    """
    X, S, m, tau = joint
    IA, p = from_matrix(J + rest.K), Force.of(P + rest.c)
    U, D, Ia = articulate(IA, S, m)  # F&O 12
    _, u, pa = innovate(p, S, U, D, tau)  # F&O 13
    UD = solve(D, U)
    reach = [[s.dot(Force.of(row)) for s in S] for row in rest.Y]  # Y S
    reachD = [solve(D, row) for row in reach]  # Y S D⁻¹
    rows = [X.T @ (Force.of(row) - Forces(UD) @ k) for row, k in zip(rest.Y, reach, strict=True)]
    Y = Matrix(map(six_numbers, rows))  # Y (1 − S D⁻¹Uᵀ) X
    Phi = rest.Phi + Matrix(reachD) @ Matrix(zip(*reach, strict=True)) if S else rest.Phi  # Φ + Y S D⁻¹SᵀYᵀ
    b = rest.b + Vector(dot(row, u) for row in reach)
    return Segment(Y, Phi, b, to_matrix(X.T @ Ia), Vector(six_numbers(X.T @ pa))), Gains(
        u, [X.T @ w for w in UD], solve(D, list(S))
    )


def join_to_segment(first: Segment, J: Matrix, P: Vector, rest: Segment = EMPTY) -> tuple[Segment, InnerBody]:
    """A segment, more inertia J and bias force P at its tip, and the rest beyond: one segment.

    With A_j = Y A − Φ (J A_j + P) + b and G = (1 + ΦJ)⁻¹Φ, the body between obeys A_j = (1 − GJ)(Y A + b) − G P.
    """
    J, P = J + rest.K, P + rest.c
    G = compliance(first.Phi, J)
    Z = first.Y - G @ (J @ first.Y)
    b = first.b - G @ (J @ first.b + P)
    Phi = rest.Phi + rest.Y @ (G @ rest.Y.T)
    K = first.K + (J @ first.Y).T @ Z  # Yᵀ (J − JGJ) Y
    return Segment(rest.Y @ Z, Phi, rest.b + rest.Y @ b, K, first.c + first.Y.T @ (J @ b + P)), InnerBody(Z, G, b)


def compliance(Phi: Matrix, J: Matrix) -> Matrix:
    """G = (Φ⁻¹ + J)⁻¹ of two positive semidefinite matrices, either of which may be singular.

    Φ = R Rᵀ and G = R (1 + RᵀJR)⁻¹ Rᵀ: the matrix inverted is symmetric, with eigenvalues from one up.
    """
    R = Matrix(root(Phi))
    N = factor(plus_diagonal(R.T @ (J @ R), [1] * 6))
    columns = [solve(N, row) for row in R]  # (1 + RᵀJR)⁻¹ Rᵀ
    return Matrix(symmetrize([[dot(row, column) for column in columns] for row in R]))


def root(A: Matrix) -> list[list[Scalar]]:
    """R lower triangular with R Rᵀ = A + ROUNDING diag(A), of a positive semidefinite matrix (Cholesky).

    The shift is of the size of rounding errors and keeps every pivot above them: leaving out a pivot because it is small would
    cost half the digits.  A row of zeros stays one.
    """
    n = len(A)
    R: list[list[Scalar]] = [[0] * n for _ in range(n)]
    for k in range(n):
        pivot = A[k][k] * (1 + ROUNDING) - dot(R[k][:k], R[k][:k])
        real = pivot > 0
        scale = where(real, 1 / sqrt(where(real, pivot, 1)), 0)
        R[k][k] = pivot * scale
        for i in range(k + 1, n):
            R[i][k] = (A[i][k] - dot(R[i][:k], R[k][:k])) * scale
    return R


def from_matrix(J: Matrix) -> ArticulatedInertia:
    """The blocks of a symmetric 6×6, from its upper triangle."""
    return ArticulatedInertia(Sym.of(J), Mat(*(Vec(*row[3:]) for row in J[:3])), Sym.of([row[3:] for row in J[3:]]))


def to_matrix(J: ArticulatedInertia) -> Matrix:
    """A symmetric 6×6 from its blocks."""
    upper = [[*i, *h] for i, h in zip(J.I.rows, J.H, strict=True)]
    return Matrix(upper + [[*h, *m] for h, m in zip(J.H.T, J.M.rows, strict=True)])
