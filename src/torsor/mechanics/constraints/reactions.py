"""Reaction wrenches of all joints, of the tree and of the loops (bearing loads)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torsor.algorithms.reactions import reaction_wrenches
from torsor.errors import ArgumentError
from torsor.mechanics.constraints.base import Constraint, ConstraintState
from torsor.mechanics.constraints.frames import between_frames
from torsor.model.model import Model
from torsor.scalar import Scalars
from torsor.spatial import Force
from torsor.spatial.motion import six_numbers


def reactions(
    model: Model,
    constraints: Sequence[Constraint],
    state: ConstraintState,
    a: Scalars,
    multipliers: Scalars,
    wrenches: Mapping[str, Scalars],
    driven: Mapping[str, Force],
) -> tuple[list[list[Any]], list[list[Any]]]:
    """The wrench of each joint on its child link, and of each constraint on its successor's frame, drive and bearing together.

    That of a constraint is T λ and, where its joint is ``driven``, the wrench of the drive.  They act on the bodies;
    Newton–Euler gives the rest (F&O 5–7).
    """
    on: list[Force] = [Force.zero() for _ in model.parent]
    loops, start = [], 0
    for c in constraints:
        between = between_frames(c)
        if between is None:
            raise ArgumentError(
                f"constraint {c.name!r} is given in joint coordinates, so the bodies on which it acts are unknown; "
                "reactions need constraints between frames"
            )
        F = between.wrench(state, multipliers[start : start + c.size]) + driven.get(c.name, Force.zero())
        start += c.size
        for body, push in between.on_bodies(state, F).items():
            on[body] = on[body] + push
        loops.append(six_numbers(F))
    return reaction_wrenches(model, state.q, state.v, a, wrenches, on), loops
