"""Number of sequential steps of a method on a machine with one processor per body."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from torsor.errors import require_known
from torsor.mechanics.large import constraint_force, divide_and_conquer
from torsor.mechanics.large.tree import LargeTree
from torsor.support.user_arrays import Array


def height(parent: Array) -> int:
    """Bodies on the longest way from the base to a tip."""
    if (parent == np.arange(-1, len(parent) - 1)).all():
        return len(parent)
    level = [0] * (len(parent) + 1)  # the last is the base's
    for i, p in enumerate(parent.tolist()):
        level[i] = level[p] + 1
    return max(level)


#: method → sequential steps, each a problem of constant size for each of any number of bodies
DEPTHS: dict[str, Callable[[LargeTree], int]] = {
    "aba": lambda tree: 3 * height(tree.rows.parent),  # motions outwards, inertias inwards, accelerations outwards
    "sparse": lambda tree: 3 * height(tree.parent),  # motions, elimination, substitution: the elimination tree is the tree
    "constraint_force": constraint_force.depth,
    "constraint_force_sequential": lambda tree: constraint_force.depth(tree, constraint_force.solve_sequentially),
    "divide_and_conquer": divide_and_conquer.depth,
}


def depth(tree: LargeTree, method: str) -> int:
    """The number of steps of a method of forward dynamics that must follow one another.

    >>> from torsor import large
    >>> rope = large.chain(1000)
    >>> depth(rope, "aba"), depth(rope, "divide_and_conquer")
    (3000, 132)
    """
    require_known("method=", method, DEPTHS)
    return DEPTHS[method](tree)
