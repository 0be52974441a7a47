"""Articulated-body inertia: the 21 numbers of a symmetric 6×6, in blocks (F&O 11–12)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from torsor.spatial.inertia import Inertia
from torsor.spatial.motion import Force, Motion, Subspace
from torsor.spatial.vector import Mat, Scalar, Sym, Vec


class ArticulatedInertia(NamedTuple):
    """I^A = [[I, H], [Hᵀ, M]]: F = I^A A + p^A for the handle of an articulated body (F&O 11)."""

    I: Sym
    H: Mat
    M: Sym

    @classmethod
    def of(cls, G: Inertia) -> ArticulatedInertia:
        return cls(G.I, G.h.skew(), Sym(G.m, 0, 0, G.m, 0, G.m))

    def __add__(self, o: ArticulatedInertia) -> ArticulatedInertia:  # type: ignore[override]
        return ArticulatedInertia(self.I + o.I, self.H + o.H, self.M + o.M)

    def __matmul__(self, A: Any) -> Any:
        """I^A A of an acceleration, or I^A S column by column."""
        if isinstance(A, Subspace):
            return [self @ column for column in A]
        return Force(self.I @ A.w + self.H @ A.v, self.H.T @ A.w + self.M @ A.v)

    def without(self, S: Subspace, U: Sequence[Force], UD: Sequence[Force]) -> ArticulatedInertia:
        """I^A − U D⁻¹ Uᵀ, the inertia transmitted through a joint that is free along S (F&O 12); UD = U D⁻¹.

        The result annihilates S.  Where a column of S is a coordinate axis, that row is zero in exact arithmetic,
        and zero here: it is not computed, and nothing downstream of it is.
        """
        gone = {axis for axis in map(_coordinate, S) if axis is not None}
        u, w = [[*f.m, *f.f] for f in U], [[*f.m, *f.f] for f in UD]
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


def _coordinate(column: Motion) -> int | None:
    """Which coordinate axis a constant column lies along, if any."""
    six = [*column.w, *column.v]
    if not all(isinstance(c, int) for c in six) or sum(map(abs, six)) != 1:
        return None
    return next(i for i, c in enumerate(six) if c)
