"""Tips of a large tree that have no inertia in some direction of their joint: :mod:`torsor.algorithms.massless` over arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from torsor.algorithms.massless import generic_subspace
from torsor.spatial import Inertia, Sym, Vec
from torsor.spatial.definite import lacks_inertia

if TYPE_CHECKING:
    from torsor.mechanics.large.tree import LargeTree


def tip_without_inertia(tree: LargeTree) -> int | None:
    """A tip on a joint of several degrees of freedom whose D = SᵀIS + armature is singular at every configuration.

    A joint of one degree of freedom without inertia is found by its pivot, which is then zero.  Equal tips are checked once.
    """
    for group in tree.groups:
        tips = np.flatnonzero(~np.isin(group.bodies, tree.parent))
        if group.joint.nv < 2 or not len(tips):
            continue
        bodies, S = group.bodies[tips], generic_subspace(group.joint)
        rows = np.column_stack([tree.mass[bodies], tree.h[bodies], tree.I[bodies], tree.armature[group.v[tips]]])
        different, first = np.unique(rows, axis=0, return_index=True)
        for (m, *more), i in zip(different.tolist(), bodies[first].tolist(), strict=True):
            if lacks_inertia(Inertia(m, Vec(*more[:3]), Sym(*more[3:9])), S, more[9:]):
                return i
    return None
