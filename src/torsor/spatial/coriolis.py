"""The Coriolis matrix of one body: B V = V ×* G V, with Ġ − 2B skew."""

from __future__ import annotations

from typing import NamedTuple

from torsor.spatial.inertia import Inertia
from torsor.spatial.motion import Force, Motion
from torsor.spatial.vector import ZERO, Mat, Vec


class BodyCoriolis(NamedTuple):
    """B = [[B, 0], [−[p], 0]], p the linear momentum.

    It is ½((V×*)G + (GV)×̄* − G(V×)) (Echeandia & Wensing 2021, eq. 13) multiplied out: the blocks that act on linear
    velocity cancel, and with them the velocity itself, B = ½([ω]I − I[ω] − [n] − [v][h] − [h][v]).
    """

    B: Mat
    p: Vec

    @classmethod
    def zero(cls) -> BodyCoriolis:
        return cls(Mat(ZERO, ZERO, ZERO), ZERO)

    @classmethod
    def of(cls, G: Inertia, V: Motion) -> BodyCoriolis:
        n, p = G @ V
        Iw = Mat(*(V.w.cross(row) for row in G.I.rows)).T  # [ω]I, column by column; I[ω] = −([ω]I)ᵀ
        vh = V.v.skew() @ G.h.skew()
        double = Iw + Iw.T - n.skew() - vh - vh.T
        return cls(Mat(*(row * 0.5 for row in double)), p)

    def __add__(self, o: BodyCoriolis) -> BodyCoriolis:  # type: ignore[override]  # a sum; tuples join
        return BodyCoriolis(self.B + o.B, self.p + o.p)

    def __matmul__(self, V: Motion) -> Force:
        return Force(self.B @ V.w, V.w.cross(self.p))

    def transpose_times(self, V: Motion) -> Force:
        """Bᵀ V."""
        return Force(self.B.T @ V.w + self.p.cross(V.v), ZERO)

    def seen_from(self, R: Mat, r: Vec) -> BodyCoriolis:
        """Xᵀ B X: the form is kept, B' = R B Rᵀ − [r][p']."""
        p = R @ self.p
        return BodyCoriolis(R @ self.B @ R.T - r.skew() @ p.skew(), p)
