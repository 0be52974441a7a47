"""Contraction of a tree in O(log N) rounds: leaves are raked into their parents, chains compressed (Miller & Reif 1985).

A round rakes every leaf, unless there are few, then removes every other body of each run of bodies with one child.  At least a
fixed share of the bodies is removed in each round, for any tree: a chain halves, a star takes one round, a balanced tree
loses its last level.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from torsor.support.locks import cached_property
from torsor.support.user_arrays import Array

#: type of an index into rows: equally spaced rows are a slice, which makes no copy
Rows = slice | Array
#: the form of a body's connection to its parent: a joint of d degrees of freedom (0 … 6), or a segment made of several
SEGMENT = 7
#: leaves are left for later while there are this many times as many bodies: a chain is compressed to one body, then raked
FEW = 8
#: problems in one batch: enough to fill the lanes and threads, few enough that results are still in the cache when stored
PIECE = 4096


class Batch(NamedTuple):
    """One batch of equal small problems: ``rake``, ``open`` (a joint becomes a segment) or ``join``, all of one form.

    ``bodies`` are taken out (rake, join) or opened; ``below`` are the bodies whose segments a join makes longer; ``parents``
    are the bodies above, the base being the last row.  A rake is sorted by parent: ``onto`` are its parents, each once, and
    ``firsts`` is the index where each begins, if any occurs twice.
    """

    kind: str
    form: int
    bodies: Rows
    parents: Rows
    below: Rows = slice(0, 0)
    onto: Rows = slice(0, 0)
    firsts: Array | None = None


@dataclass(frozen=True, eq=False)
class Contraction:
    """The steps in order.  ``rounds`` of them can run at the same time; ``sums`` counts the levels of adding up siblings."""

    steps: tuple[Batch, ...]
    rounds: int
    sums: int

    @cached_property
    def outward(self) -> tuple[Batch, ...]:
        """The steps of the way back."""
        return tuple(reversed(self.steps))

    @property
    def depth(self) -> int:
        """Sequential steps of one way, each a batch of problems of constant size: a round rakes, opens and joins."""
        return 3 * self.rounds + self.sums


def contraction(parent: Array, freedoms: Array, light: Array | None = None) -> Contraction:
    """The plan for a tree: ``parent`` (−1 is the base), the degrees of freedom of each joint, and the massless bodies.

    A light body has no defined acceleration until a body with mass is attached to it, so it is only removed together with the
    bodies it carries.  Costs O(N); made once per tree.
    """
    n = len(parent)
    light = np.zeros(n, dtype=bool) if light is None else light
    up, form = parent.copy(), freedoms.astype(np.int64)
    children = np.bincount(parent + 1, minlength=n + 1)[1:]
    alive = preorder(parent)
    steps: list[Batch] = []
    rounds = sums = 0
    while len(alive):
        rounds += 1
        bare = children[alive] == 0
        if FEW * np.count_nonzero(bare) < len(alive) and _alternate(alive, children, (form != SEGMENT) & light).any():
            bare[:] = False  # the chains shrink fast enough without them
        leaves = alive[bare]
        steps += _rakes(leaves, up, form)
        given = np.bincount(up[leaves] + 1, minlength=n + 1)[1:] if len(leaves) else 0
        sums += int(np.ceil(np.log2(np.max(given, initial=1)))) if len(leaves) > 1 else 0
        children = children - given
        alive = alive[~bare]
        joined = _alternate(alive, children, (form != SEGMENT) & light)
        j, i = alive[joined], alive[np.flatnonzero(joined) + 1]
        for d, b in _by_form(i, form):
            if d != SEGMENT:
                steps += [Batch("open", d, rows(x), rows(y)) for x, y in _pieces(b, j[form[i] == d])]
        for d, b in _by_form(j, form):
            steps += [Batch("join", d, rows(x), rows(y), rows(z)) for x, y, z in _pieces(b, up[b], i[form[j] == d])]
        up[i], form[i] = up[j], SEGMENT
        alive = alive[~joined]
    return Contraction(tuple(steps), rounds, sums)


def _rakes(leaves: Array, up: Array, form: Array) -> list[Batch]:
    steps = []
    for d, every in _by_form(leaves, form):
        for (bodies,) in _pieces(every[np.argsort(up[every], kind="stable")]):
            parents, firsts = np.unique(up[bodies], return_index=True)
            shared = firsts if len(parents) < len(bodies) else None
            steps.append(Batch("rake", d, rows(bodies), rows(up[bodies]), onto=rows(parents), firsts=shared))
    return steps


def _pieces(*parts: Array) -> Iterator[list[Array]]:
    """The same pieces of several lists."""
    for k in range(0, len(parts[0]), PIECE):
        yield [part[k : k + PIECE] for part in parts]


def _by_form(bodies: Array, form: Array) -> list[tuple[int, Array]]:
    return [(int(d), bodies[form[bodies] == d]) for d in np.unique(form[bodies])]


def _alternate(alive: Array, children: Array, closed: Array) -> Array:
    """Every other body of each run of bodies with one child that can be opened.  In preorder that child is the next alive."""
    one = children[alive] == 1
    one[:-1] &= ~closed[alive[1:]]
    place = np.arange(len(alive))
    start = np.maximum.accumulate(np.where(one, 0, place + 1))
    return one & ((place - start) % 2 == 0)


def preorder(parent: Array) -> Array:
    """The bodies in depth-first order: a body's first child follows it."""
    n = len(parent)
    if (parent == np.arange(-1, n - 1)).all():
        return np.arange(n)
    up = parent.tolist()
    size = [1] * (n + 1)
    for i in range(n - 1, -1, -1):
        size[up[i]] += size[i]
    place, after = [0] * n, [0] * (n + 1)  # after[p]: where the next child of p goes
    for i in range(n):
        p = up[i]
        place[i] = after[p]
        after[p] += size[i]
        after[i] = place[i] + 1
    order = np.empty(n, dtype=np.int64)
    order[place] = np.arange(n)
    return order


def rows(index: Array) -> Rows:
    """A slice where the rows, in the order of the index, are at equal distances; the index itself where they are not."""
    flat = index.ravel()
    step = int(flat[1] - flat[0]) if len(flat) > 1 else 1
    if step <= 0 or (flat[:1] < 0).any() or (np.diff(flat) != step).any():
        return index
    return slice(int(flat[0]), int(flat[-1]) + 1, step) if len(flat) else slice(0, 0)
