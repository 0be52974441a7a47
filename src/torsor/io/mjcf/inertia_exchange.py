"""Inertias that no body has, made possible without changing the motion of the robot.

MuJoCo refuses them, and textbooks and vendors write them: a planar arm with a moment about its one axis and none about the
others.  Inertia that the joints never excite may be moved from link to link (regrouping of base parameters; Khalil & Dombre
2002, §9.4.2): between links that are welded anything, across a slider any moment of inertia, since both sides turn alike, and
across a hinge λ(1 − u uᵀ), since both sides turn alike across its axis u.  Inertia taken from a fixed base has no effect.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from torsor.io.mjcf.attribute_values import massless
from torsor.model.description import Description, Joint
from torsor.model.joints import Fixed, Prismatic, Revolute
from torsor.scalar import is_constant
from torsor.spatial import Inertia, Sym, Transform, Vec
from torsor.spatial.rigid.physical import inertia_problems
from torsor.spatial.vector import IDENTITY, ZERO, flat

#: amount borrowed relative to the amount missing: the first one that suffices is used
_TRIED_AMOUNTS = (0.5, 0.6, 1.0, 2.0, 4.0, 8.0)


def exchange_inertias(d: Description) -> tuple[Description, list[str]]:
    """The description with physically consistent inertias where possible, and the links whose inertia was changed."""
    if not all(is_constant(x) for link in d.links for x in flat(link.inertia)) or not any(
        _is_inconsistent(x.inertia) for x in d.links
    ):
        return d, []
    inertias = {link.name: link.inertia for link in d.links}
    mover = {j.child: j for j in d.joints}
    for top, members in reversed(list(_welded_links(d))):
        if any(_is_inconsistent(inertias[link]) for link, _ in members):
            total = Inertia.zero()
            for link, X in members:
                total = total + X.T @ inertias[link]
                inertias[link] = Inertia.zero()
            inertias[top] = total
        j = mover.get(top)
        if j is not None and _is_inconsistent(inertias[top]):
            lent = _exchanged_inertia(inertias[top], j)
            if lent is not None:
                inertias[top] = inertias[top] + lent
                inertias[j.parent] = inertias[j.parent] - j.origin.T @ lent
        if j is None and d.base == "fixed" and _is_inconsistent(inertias[top]):
            inertias[top] = Inertia.zero()  # a fixed base does not move
    moved = [link.name for link in d.links if inertias[link.name] != link.inertia]
    return replace(d, links=tuple(replace(x, inertia=inertias[x.name]) for x in d.links)), moved


def _is_inconsistent(G: Inertia) -> bool:
    return not massless(G) and bool(inertia_problems(G))


def _welded_links(d: Description) -> Iterator[tuple[str, list[tuple[str, Transform]]]]:
    """Groups of welded links, parents first: the link that a joint moves, and all links with the transforms from it."""
    tops = [d.root]
    while tops:
        top = tops.pop()
        members, todo = [], [(top, Transform.identity())]
        while todo:
            link, X = todo.pop()
            members.append((link, X))
            for j in d.joints_from(link):
                if isinstance(j.kind, Fixed):
                    todo.append((j.child, j.origin @ X))
                else:
                    tops.append(j.child)
        yield top, members


def _exchanged_inertia(G: Inertia, j: Joint) -> Inertia | None:
    """The least moment of inertia tried that makes G possible and that the joint's two sides may exchange."""
    moments, axes = np.linalg.eigh(np.array(G.about_com.rows, float))
    a, b, c = (float(x) for x in moments)
    missing = max(c - a - b, -2 * a)
    for across in _exchangeable(j, Vec(*(float(x) for x in axes[:, 2]))):
        for share in _TRIED_AMOUNTS:
            lent = Inertia(0, ZERO, Sym(*(x * (missing * share) for x in across)))
            if not inertia_problems(G + lent):
                return lent
    return None


def _exchangeable(j: Joint, stoutest: Vec) -> list[Sym]:
    """Inertias that the two sides of a joint may exchange; for a slider first the one that keeps the largest moment."""
    if isinstance(j.kind, Prismatic):
        return [_projector_across(stoutest), Sym.of(IDENTITY)]
    return [_projector_across(j.kind.axis)] if isinstance(j.kind, Revolute) else []


def _projector_across(u: Vec) -> Sym:
    """1 − u uᵀ."""
    return Sym.of([[(row == k) - u[row] * u[k] for k in range(3)] for row in range(3)])
