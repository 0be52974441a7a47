"""The joints of a large tree at one state, sorted by their number of degrees of freedom: arguments of kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torsor.mechanics.large.contraction import Rows
from torsor.mechanics.large.joints import counts
from torsor.mechanics.large.tree import LargeTree
from torsor.support.user_arrays import Array


@dataclass(frozen=True, eq=False)
class Freedoms:
    """X = (E, r), one row per body; for each d the bodies with d degrees of freedom, their indices in v, and S (n_d, 6d)."""

    E: Array
    r: Array
    bodies: dict[int, Rows]
    v: dict[int, Array]
    S: dict[int, Array]
    place: Array | None  #: index of each body among those with as many degrees of freedom; None where all have the same

    @classmethod
    def of(cls, tree: LargeTree, q: Array) -> Freedoms:
        E, r, S = tree.joints(q)
        d = counts(tree)
        n = len(tree)
        kinds = [int(k) for k in np.unique(d)]
        bodies: dict[int, Rows] = {k: np.flatnonzero(d == k) for k in kinds}
        v = {k: tree.v_start[b][:, None] + np.arange(k) for k, b in bodies.items()}
        place = None
        if len(kinds) == 1:
            bodies = {kinds[0]: slice(0, n)}
            rows = {kinds[0]: S.reshape(n, 6 * kinds[0])}
        else:
            rows = {k: S[v[k]].reshape(-1, 6 * k) for k in kinds}
            place = np.empty(n, dtype=np.int64)
            for b in bodies.values():
                place[b] = np.arange(len(place[b]))
        return cls(E.reshape(n, 9), r, bodies, v, rows, place)

    def rows_of_bodies(self, bodies: Rows) -> Rows:
        """Rows of these bodies in the arrays of their number of degrees of freedom."""
        return bodies if self.place is None else self.place[bodies]
