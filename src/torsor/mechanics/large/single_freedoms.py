"""One degree of freedom per row: a joint with d of them becomes d joints with massless bodies between.

The columns of S are eliminated one by one, the last first: that is the factorization of D in the articulated-body algorithm
(F&O 12), and it makes one step of mixed joints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from torsor.mechanics.large.joints import counts
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.mechanics.large.tree import LargeTree


class SingleFreedoms(NamedTuple):
    """``body`` (nv): the body of each row.  ``first`` and ``last``: each body's row next to its parent, and its own row."""

    body: Array
    first: Array
    last: Array
    parent: Array
    simple: bool  # one degree of freedom per body: rows are bodies

    @classmethod
    def of(cls, tree: LargeTree) -> SingleFreedoms:
        n, nv = len(tree), tree.nv
        if nv == n:
            every = np.arange(n)
            return cls(every, every, every, tree.parent, True)
        freedoms = counts(tree)
        first = tree.v_start
        last = first + freedoms - 1
        parent = np.arange(-1, nv - 1)
        parent[first] = np.where(tree.parent < 0, -1, last[tree.parent])
        return cls(np.repeat(np.arange(n), freedoms), first, last, parent, False)

    def transforms(self, E: Array, r: Array) -> tuple[Array, Array]:
        """X on the first row of a joint, the identity on the others: their frames are the body's."""
        if self.simple:
            return E, r
        batch, n = r.shape[:-2], len(self.body)
        rows = np.broadcast_to(np.eye(3), (*batch, n, 3, 3)).copy()
        rows[..., self.first, :, :] = E
        return rows, self.spread(r, self.first)

    def on_last(self, x: Array, axis: int) -> Array:
        """A body's values on its last row; zero on the others.  ``axis`` is that of the bodies."""
        return x if self.simple else np.moveaxis(self.spread(np.moveaxis(x, axis, -2), self.last), -2, axis)

    def spread(self, x: Array, rows: Array) -> Array:
        out = np.zeros((*x.shape[:-2], len(self.body), x.shape[-1]))
        out[..., rows, :] = x
        return out
