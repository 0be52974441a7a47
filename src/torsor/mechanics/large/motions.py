"""Every body's motion at constant joint rates, by products of relative motions: O(log N) steps instead of N."""

from __future__ import annotations

from functools import cache

import numpy as np

from torsor.algorithms.joining import to_matrix
from torsor.algorithms.relative import RelativeMotion
from torsor.compile import Kernel
from torsor.mechanics.large.contraction import Contraction
from torsor.mechanics.large.stages import (
    ACCELERATION,
    BODY,
    RELATIVE,
    acceleration,
    body_row,
    inertia,
    numbers,
    relative_motion,
    stage,
    transform,
)
from torsor.mechanics.large.tree import LargeTree
from torsor.spatial import ArticulatedInertia, Motion
from torsor.spatial.motion import six_numbers
from torsor.support.user_arrays import Array


@cache
def joint_motion() -> Kernel:
    """The relative motion of a joint with twist vJ = S v and apparent acceleration aJ = Ṡ v."""

    def step(E, r, vJ, aJ):
        return {"relative": numbers(RelativeMotion.of(transform(E, r), Motion.of(vJ), Motion.of(aJ)))}

    return stage("the relative motion of a joint", step, {"E": 9, "r": 3, "vJ": 6, "aJ": 6})


@cache
def compose() -> Kernel:
    def step(second, first):
        return {"relative": numbers(relative_motion(second) @ relative_motion(first))}

    return stage("the product of relative motions", step, {"second": RELATIVE, "first": RELATIVE})


@cache
def carry() -> Kernel:
    def step(motion, A):
        return {"A": numbers(relative_motion(motion).acceleration_past(acceleration(A)))}

    return stage("the motion of the next body", step, {"relative": RELATIVE, "A": ACCELERATION})


@cache
def load() -> Kernel:
    """The inertia of a body and the force its motion takes, p = I A + V ×* I V (F&O 5)."""

    def step(mass, h, I, A):
        G = inertia(mass, h, I)
        return {"body": body_row(to_matrix(ArticulatedInertia.of(G)), six_numbers(G.inverse_dynamics(acceleration(A))))}

    return stage("the bias force of a body", step, {"mass": 1, "h": 3, "I": 6, "A": ACCELERATION})


def motions(tree: LargeTree, plan: Contraction, X: tuple[Array, Array], vJ: Array, aJ: Array) -> Array:
    """(ω, α, a), one row per body, the base last with a = −g (F&O 3–4)."""
    n = len(tree)
    step = joint_motion()(*X, vJ, aJ)
    for s in plan.steps:
        if s.kind == "join":
            step[s.below] = compose()(step[s.below], step[s.bodies])
    A = np.zeros((n + 1, ACCELERATION))
    A[n, 6:] = -tree.gravity
    for s in plan.outward:
        if s.kind != "open":
            A[s.bodies] = carry()(step[s.bodies], A[s.parents])
    return A


def loads(tree: LargeTree, A: Array) -> Array:
    """(J, P) of every body by itself, and an empty last row for the base."""
    body = np.empty((len(tree) + 1, BODY))
    body[-1] = 0
    load()(tree.mass[:, None], tree.h, tree.I, A[:-1], out=body[:-1])
    return body
