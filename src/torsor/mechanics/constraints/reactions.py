"""Reaction wrenches of all joints, of the tree and of the loops (bearing loads)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torsor.algorithms.equation import At, EquationOfMotion
from torsor.algorithms.reactions import reaction_wrenches
from torsor.model.terms.frames import between_frames
from torsor.scalar import Scalars
from torsor.spatial import Force
from torsor.spatial.motion import six_numbers


def reactions(
    e: EquationOfMotion,
    at: At,
    a: Scalars,
    multipliers: Scalars,
    wrenches: Mapping[str, Scalars],
    driven: Mapping[str, Force],
) -> tuple[list[list[Any]], list[list[Any]]]:
    """The wrench of each joint on its child link, and of each constraint on its successor's frame, drive and bearing together.

    That of a constraint is T λ and, where its joint is ``driven``, the wrench of the drive.  They act on the bodies;
    Newton–Euler gives the rest (F&O 5–7).  A constraint in joint coordinates is a force within joints, as that of a drive: it
    is in their wrenches, and has none of its own (0).
    """
    on: list[Force] = [Force.zero() for _ in at.model.parent]
    loops, start = [], 0
    for c in e.constraints:
        between = between_frames(c)
        F = driven.get(c.name, Force.zero())
        if between is not None:
            F = between.wrench(at, multipliers[start : start + c.size]) + F
            for body, push in between.on_bodies(at, F).items():
                on[body] = on[body] + push
        start += c.size
        loops.append(six_numbers(F))
    pushes: dict[Any, Any] = {**wrenches, **e.forces(at).wrenches}
    tree = reaction_wrenches(at.model, at.q, at.v, a, pushes, on)
    return tree[len(at.model.parent) - len(e.model.parent) :], loops  # without that of a moving base
