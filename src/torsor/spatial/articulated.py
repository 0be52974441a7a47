"""Articulated-body inertia: the 21 numbers of a symmetric 6×6, in blocks (F&O 11–12)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, overload

from torsor.scalar import Scalar, Scalars, is_zero
from torsor.spatial.inertia import Inertia
from torsor.spatial.linear import Factors, factor, factor_free, plus_diagonal, solve
from torsor.spatial.matrix import Vector
from torsor.spatial.motion import Force, Forces, Motion, Subspace
from torsor.spatial.vector import Mat, Sym, Vec


class ArticulatedInertia(NamedTuple):
    """I^A = [[I, H], [Hᵀ, M]]: F = I^A A + p^A for the handle of an articulated body (F&O 11)."""

    I: Sym
    H: Mat
    M: Sym

    @classmethod
    def of(cls, G: Inertia) -> ArticulatedInertia:
        return cls(G.I, G.h.skew(), Sym(G.m, 0, 0, G.m, 0, G.m))

    def __add__(self, o: ArticulatedInertia) -> ArticulatedInertia:  # type: ignore[override]  # a sum; tuples join
        return ArticulatedInertia(self.I + o.I, self.H + o.H, self.M + o.M)

    @overload
    def __matmul__(self, A: Motion) -> Force: ...
    @overload
    def __matmul__(self, A: Subspace) -> Forces: ...
    def __matmul__(self, A: Motion | Subspace) -> Force | Forces:
        """I^A A of an acceleration, or I^A S column by column."""
        if isinstance(A, Subspace):
            return Forces(self @ column for column in A)
        return Force(self.I @ A.w + self.H @ A.v, self.H.T @ A.w + self.M @ A.v)

    def past_joint(self, S: Subspace, U: Forces, D: Factors, drive: Scalars = (), rigid: bool = False) -> ArticulatedInertia:
        """I^a = I^A − U D⁻¹ Uᵀ, the inertia of the body transmitted to its parent through a joint S (F&O 12).

        Without an inertia of the ``drive``, and unless the joint may be ``rigid``, I^a S = 0.  Where a column of S is a
        coordinate axis, that row of I^a is zero in exact arithmetic, and zero here: it is not computed, and products with it
        are omitted.
        """
        free = S if all(map(is_zero, drive)) and not rigid else ()
        gone = {axis for axis in map(_coordinate, free) if axis is not None}
        u, w = [[*f.m, *f.f] for f in U], [[*f.m, *f.f] for f in solve(D, U)]
        full = [[*self.I.rows[i], *self.H[i]] for i in range(3)] + [[0, 0, 0, *self.M.rows[i]] for i in range(3)]

        def entry(i: int, j: int) -> Scalar:
            if i in gone or j in gone:
                return 0
            x = full[i][j]
            for uc, wc in zip(u, w, strict=True):
                x = x - uc[i] * wc[j]
            return x

        upper = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
        return ArticulatedInertia(
            Sym(*(entry(i, j) for i, j in upper)),
            Mat(*(Vec(*(entry(i, j) for j in (3, 4, 5))) for i in range(3))),
            Sym(*(entry(i + 3, j + 3) for i, j in upper)),
        )

    def seen_from(self, R: Mat, r: Vec) -> ArticulatedInertia:
        """Xᵀ I^A X: I' = I + [r]Hᵀ − H'[r], H' = H + [r]M, after the rotation."""
        I, H, M = self.I.rotated(R), R @ self.H @ R.T, self.M.rotated(R)
        shifted = Mat(*(Vec(*row) for row in zip(*(r.cross(column) for column in M.rows), strict=True)))
        K = H + shifted
        Kr = [row.cross(r) for row in K]  # K [r], by rows
        Hr = [row.cross(r) for row in H]

        def entry(i: int, j: int) -> Scalar:
            return I.rows[i][j] - Kr[i][j] - Hr[j][i]

        return ArticulatedInertia(Sym(*(entry(i, j) for i in range(3) for j in range(i, 3))), K, M)


# -- one joint of an articulated body --------------------------------------------------------------------------------


def articulate(
    IA: ArticulatedInertia,
    S: Subspace,
    drive: Scalars,
    moment: Force | None = None,
    name: str = "",
    least: Sequence[float] = (),
    free: Scalars | None = None,
) -> tuple[Forces, Factors, ArticulatedInertia]:
    """U = I^A S, D = SᵀU + drive, and I^a = I^A − U D⁻¹ Uᵀ past the joint; ``moment`` is its rotor's on the parent (F&O 12).

    ``least`` are the rounding errors of the pivots of D where they may vanish.  D⁻¹ leaves out the degrees of freedom for which
    ``free`` is 0; all are free by default, and then I^a S = 0.
    """
    U = IA @ S
    D, names = plus_diagonal(S.T @ U, drive), [name] * len(S)
    factors = factor(D, names, least=least) if free is None else factor_free(D, free, names, least)
    U = U if moment is None else Forces([U[0] + moment])
    return U, factors, IA.past_joint(S, U, factors, drive, free is not None)  # F&O 12


def innovate(p: Force, S: Subspace, U: Forces, D: Factors, tau: Scalars) -> tuple[Vector, list[Scalar], Force]:
    """ε = τ − Sᵀp^A, u = D⁻¹ε, and p^a = p^A + U u past the joint (F&O 13)."""
    e = Vector(tau) - S.T @ p
    u = solve(D, e)
    return e, u, p + U @ u  # F&O 13


def accelerate(A: Motion, S: Subspace, U: Forces, D: Factors, u: Scalars) -> tuple[Motion, Vector]:
    """q̈ = u − D⁻¹ Uᵀ a_λ and the body's a = a_λ + S q̈; A is a_λ, the parent's, in the body's frame (F&O 14)."""
    a = Vector(u) - solve(D, U.T @ A)  # F&O 14
    return A + S @ a, a


def _coordinate(column: Motion) -> int | None:
    """Which coordinate axis a constant column lies along, if any."""
    six = [*column.w, *column.v]
    if not all(isinstance(c, int) for c in six) or sum(map(abs, six)) != 1:
        return None
    return next(i for i, c in enumerate(six) if c)
