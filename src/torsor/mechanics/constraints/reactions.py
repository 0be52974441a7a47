"""Reaction wrenches of all joints, of the tree and of the loops (bearing loads)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torsor.algorithms.reactions import reaction_wrenches
from torsor.errors import ArgumentError
from torsor.mechanics.constraints.base import Constraint, ConstraintState
from torsor.mechanics.constraints.frames import BetweenFrames, relative_motion
from torsor.model.model import Model
from torsor.scalar import Scalars
from torsor.spatial import Force


def reactions(
    model: Model,
    constraints: Sequence[Constraint],
    state: ConstraintState,
    a: Scalars,
    multipliers: Scalars,
    wrenches: Mapping[str, Scalars] | None = None,
    pushed: Sequence[dict[int, Force]] = (),
) -> dict[str, Any]:
    """``tree``: the wrench each joint puts on its child; ``loops``: the wrench each constraint puts on its successor's frame.

    The constraints' wrenches T λ and those of actuated loop joints act on the bodies; Newton–Euler gives the rest (F&O 5–7).
    """
    on: list[Force] = [Force.zero() for _ in model.parent]
    loops, start = [], 0
    for c in constraints:
        part = multipliers[start : start + c.size]
        start += c.size
        carried = c.wrenches(state, part)
        if carried is None:
            raise ArgumentError(
                f"constraint {c.name!r} is given in joint coordinates, so the bodies on which it acts are unknown; "
                "reactions need constraints between frames"
            )
        for body, F in carried.items():
            on[body] = on[body] + F
        loops.append(_at_successor(c, state, part))
    for push in pushed:
        for body, F in push.items():
            on[body] = on[body] + F
    return {"tree": reaction_wrenches(model, state.q, state.v, a, wrenches, on), "loops": loops}


def _at_successor(c: Constraint, state: ConstraintState, multipliers: Scalars) -> list[Any]:
    """T λ, in the successor's frame."""
    while not isinstance(c, BetweenFrames):
        c = c.constraint  # type: ignore[attr-defined]  # a driven constraint wraps another one
    X = relative_motion(state, *c.frames(state.model)).X
    F = sum((f * k for f, k in zip(c.forces(X), multipliers, strict=True)), start=Force.zero())
    return [*F.m, *F.f]
