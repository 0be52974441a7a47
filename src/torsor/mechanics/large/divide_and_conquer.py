"""Forward dynamics in O(log N) steps for any tree: bodies are joined in pairs, not one after another.

Each step is a batch of equal small problems, those of :mod:`torsor.algorithms.joining`, run by SIMD kernels over all bodies it
concerns.  The work is O(N), about five times that of the articulated-body algorithm.
"""

from __future__ import annotations

from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from torsor.algorithms.joining import ZERO_VECTOR, Gains, from_matrix, join_to_joint, join_to_segment, to_matrix
from torsor.compile import Kernel
from torsor.errors import TorsorError
from torsor.mechanics.large.contraction import SEGMENT, Batch, Contraction, contraction
from torsor.mechanics.large.freedoms import Freedoms
from torsor.mechanics.large.joints import counts
from torsor.mechanics.large.motions import loads, motions
from torsor.mechanics.large.stages import (
    BODY,
    HELD,
    body,
    body_row,
    joint,
    joint_sizes,
    numbers,
    segment,
    segment_row,
    square_matrix,
    stage,
    subspace,
    symmetric_matrix,
    transform,
    upper_triangle,
)
from torsor.mechanics.large.stages import SEGMENT as WIDTH
from torsor.mechanics.large.tree import LargeTree, each_state, massless_error
from torsor.spatial import Force, Motion, factor, plus_diagonal
from torsor.spatial.matrix import Vector
from torsor.spatial.motion import six_numbers
from torsor.support.user_arrays import Array

#: a body with a smaller share than this of the inertia at its joint (of the body and its children) is too light to open: alone
#: between heavy neighbours it would lose twice as many digits as the share has
LIGHT = 1e-4


@cache
def join_to_joints(kind: str, d: int) -> Kernel:
    """Joints of d degrees of freedom with their bodies: raked (K, c), opened (a segment), or joined with the segment beyond."""

    def step(*given):
        *of_joint, load = given[:6]
        rest = (segment(given[6]),) if kind == "join" else ()
        made, gains = join_to_joint(joint(*of_joint), *body(load), *rest)
        result = {"through": body_row(made.K, made.c)} if kind == "rake" else {"segment": segment_row(made)}
        return result | {"gains": numbers(tuple(gains.u), tuple(gains.W), tuple(gains.V))}

    sizes = joint_sizes(d) | {"body": BODY} | ({"rest": WIDTH} if kind == "join" else {})
    return stage(f"{kind} of joints of {d}", step, sizes)


@cache
def join_to_segments(kind: str) -> Kernel:
    """Segments with more at their tips: raked (K, c), or joined with the segment beyond."""

    def step(first, load, *rest):
        J, P = body(load)
        beyond = [segment(x) for x in rest]
        made, held = join_to_segment(segment(first), J, P, *beyond)
        row = {"held": [*numbers(held.Z), *upper_triangle(held.G), *held.b]}
        if kind == "rake":
            return row | {"through": body_row(made.K, made.c)}
        return row | {"segment": segment_row(made), "body": body_row(J + beyond[0].K, P + beyond[0].c)}

    return stage(f"{kind} of segments", step, {"first": WIDTH, "body": BODY} | ({"rest": WIDTH} if kind == "join" else {}))


def _load(kind: str, below: tuple[Any, ...]) -> Vector:
    """g, the load on a body from its other side: none on a leaf, f on the tip of a segment, Yᵀ f where another begins."""
    if kind == "rake":
        return ZERO_VECTOR
    return Vector(below[0]) if kind == "open" else square_matrix(below[0]).T @ Vector(below[1])


LOADS: dict[str, dict[str, int]] = {"rake": {}, "open": {"f": 6}, "join": {"Y": 36, "f": 6}}


@cache
def joint_accelerations(kind: str, d: int) -> Kernel:
    """a = u − W A − V g of the joint, and X A + S a of its body (F&O 14)."""

    def step(E, r, S, gains, A, *below):
        u, W, V = gains[:d], gains[d : 7 * d], gains[7 * d :]
        six = range(0, 6 * d, 6)
        known = Gains(u, [Force.of(W[k : k + 6]) for k in six], [Motion.of(V[k : k + 6]) for k in six])
        a = known.acceleration(Motion.of(A), Force.of(_load(kind, below)))
        return {"a": a} | ({} if kind == "open" else {"A": six_numbers(transform(E, r) @ Motion.of(A) + subspace(S) @ a)})

    sizes = {"E": 9, "r": 3, "S": 6 * d, "gains": 13 * d, "A": 6} | LOADS[kind]
    return stage(f"accelerations of joints of {d}", step, sizes)


@cache
def segment_accelerations(kind: str) -> Kernel:
    """A_j = Z A − G g + b of a body between segments, and f = J A_j + P + g, the load on the segment above it."""

    def step(held, load, A, *below):
        Z, G, b = square_matrix(held), symmetric_matrix(held[36:57]), Vector(held[57:])
        J, P = body(load)
        g = _load(kind, below)
        Aj = Z @ Vector(A) - G @ g + b
        return {"A": list(Aj), "f": list(J @ Aj + P + g)}

    return stage("accelerations between segments", step, {"held": HELD, "body": BODY, "A": 6} | LOADS[kind])


@cache
def lightness(d: int) -> Kernel:
    """The pivots of SᵀIS + m of a body alone, as shares of the inertia at the joint of the body and its children."""

    def step(S, m, load, near):
        J, N = body(load)[0], symmetric_matrix(near)
        size = [s.dot(Force.of(N @ Vector(six_numbers(s)))) + x + 1e-300 for s, x in zip(subspace(S), m, strict=True)]
        D = [[s.dot(Force.of(J @ Vector(six_numbers(t)))) for t in subspace(S)] for s in subspace(S)]
        _, inverse = factor(plus_diagonal(D, [x + n * (LIGHT / 100) for x, n in zip(m, size, strict=True)]))  # never quite zero
        return {"share": [1 / (n * x) for n, x in zip(size, inverse, strict=True)]}

    return stage(f"the own inertia of joints of {d}", step, {"S": 6 * d, "m": d, "body": BODY, "near": 21})


@cache
def inertia_at_parent() -> Kernel:
    """XᵀJX: a body's inertia in the frame of its parent body."""
    step = lambda E, r, load: {"J": upper_triangle(to_matrix(transform(E, r).T @ from_matrix(body(load)[0])))}  # noqa: E731
    return stage("inertias above", step, {"E": 9, "r": 3, "body": BODY})


_PLANS: WeakKeyDictionary[LargeTree, dict[bytes, Contraction]] = WeakKeyDictionary()


def plan(tree: LargeTree, light: Array | None = None) -> Contraction:
    """The tree's contraction, made once and kept with it; ``light`` marks bodies too light to open."""
    kept = _PLANS.setdefault(tree, {})
    key = b"" if light is None or not light.any() else light.tobytes()
    if key not in kept:
        kept[key] = contraction(tree.parent, counts(tree), light)
    return kept[key]


def divide_and_conquer(tree: LargeTree, q: Array, v: Array, tau: Array) -> Array:
    """a = M⁻¹(τ − h), ``(..., nv)``, in O(log N) steps of batched kernels, for any tree (Featherstone 1999).

    >>> from torsor import large
    >>> rope = large.chain(100)
    >>> a = rope.forward_dynamics(rope.neutral(), np.zeros(100), np.zeros(100), method="divide_and_conquer")
    >>> bool(abs(a).max() < 1e-9)  # it hangs straight down, and stays there
    True
    """
    if max(q.ndim, v.ndim, tau.ndim) > 1:
        return each_state(divide_and_conquer, tree, q, v, tau)
    return _Solver(tree, q, v, tau).solve_body()


class _Solver:
    """The rows of one solution: loads on bodies, segments above them, gains of joints; the last row is the base."""

    def __init__(self, tree: LargeTree, q: Array, v: Array, tau: Array):
        n = len(tree)
        self.tree, self.joints = tree, Freedoms.of(tree, q)
        at = self.joints.v
        self.m = {d: tree.armature[index] for d, index in at.items()}
        self.tau = {d: tau[index] for d, index in at.items()}
        self.gains = {d: np.empty((len(index), 13 * d)) for d, index in at.items()}
        simple = plan(tree)
        self.body = loads(tree, motions(tree, simple, (self.joints.E, self.joints.r), *tree.motions(q, v)))
        light = self._light_bodies()
        self.plan = plan(tree, light) if light.any() else simple
        self.segment = np.empty((n, HELD + 36))  # (Y, Φ, b, K, c) while it is there; (Z, G, b) and the next one's Y after
        self.A, self.f = np.zeros((n + 1, 6)), np.empty((n, 6))
        self.a = np.empty(tree.nv)

    def _light_bodies(self) -> Array:
        light, near = np.zeros(len(self.tree), dtype=bool), self.body[:, :21].copy()
        from_children = inertia_at_parent()(self.joints.E, self.joints.r, self.body[:-1])
        np.add.at(near, self.tree.parent, from_children)  # −1, the base, is the last
        for d, bodies in self.joints.bodies.items():
            share = lightness(d)(self.joints.S[d], self.m[d], self.body[:-1][bodies], near[:-1][bodies])
            light[bodies] = (share < LIGHT).any(axis=1)
        return light

    def solve_body(self) -> Array:
        for s in self.plan.steps:
            self._inward(s)
        for s in self.plan.outward:
            self._outward(s)
        return self.a

    def _inward(self, s: Batch) -> None:
        rest = () if s.kind != "join" else (self.segment[s.below, :WIDTH],)
        if s.form == SEGMENT:
            held, made, *more = join_to_segments(s.kind)(self.segment[s.bodies, :WIDTH], self.body[s.bodies], *rest)
            self.segment[s.bodies, :HELD] = held
            if more:
                self.body[s.bodies] = more[0]
        else:
            made = self._join_to_joint(s, rest)
        if s.kind == "rake":
            self.body[s.onto] += made if s.firsts is None else np.add.reduceat(made, s.firsts)
            return
        if s.kind == "open":
            self.segment[s.bodies, :WIDTH] = made
            self.body[s.bodies] = 0  # it is in the segment now
            return
        self.segment[s.bodies, HELD:] = self.segment[s.below, :36]
        self.segment[s.below, :WIDTH] = made

    def _join_to_joint(self, s: Batch, rest: tuple[Array, ...]) -> Array:
        d, at = s.form, self.joints.rows_of_bodies(s.bodies)
        X = self.joints.E[s.bodies], self.joints.r[s.bodies]
        load = self.body[s.bodies]
        try:
            made, gains = join_to_joints(s.kind, d)(*X, self.joints.S[d][at], self.m[d][at], self.tau[d][at], load, *rest)
        except TorsorError as error:
            raise self._singular_error(s, error) from None
        self.gains[d][at] = gains
        return made

    def _singular_error(self, s: Batch, error: TorsorError) -> TorsorError:
        """The error that names the joint that moves no mass, if that is why the numbers are not finite."""
        at, d = self.joints.rows_of_bodies(s.bodies), s.form
        load = self.body[s.bodies]
        share = lightness(d)(self.joints.S[d][at], self.m[d][at], load, load[:, :21]).min(axis=1)
        if s.kind == "join" or share.min() >= LIGHT:
            return error
        return massless_error(self.tree, np.arange(len(self.tree))[s.bodies][np.argmin(share)])

    def _outward(self, s: Batch) -> None:
        below = {"rake": (), "open": (self.f[s.bodies],), "join": (self.segment[s.bodies, HELD:], self.f[s.below])}[s.kind]
        above = self.A[s.parents]
        if s.form == SEGMENT:
            held, load = self.segment[s.bodies, :HELD], self.body[s.bodies]
            self.A[s.bodies], self.f[s.bodies] = segment_accelerations(s.kind)(held, load, above, *below)
            return
        d, at = s.form, self.joints.rows_of_bodies(s.bodies)
        X = self.joints.E[s.bodies], self.joints.r[s.bodies]
        settled = joint_accelerations(s.kind, d)(*X, self.joints.S[d][at], self.gains[d][at], above, *below)
        if s.kind == "open":  # its body has been settled as the tip of a segment
            self.a[self.joints.v[d][at]] = settled
        else:
            self.a[self.joints.v[d][at]], self.A[s.bodies] = settled


def depth(tree: LargeTree) -> int:
    """Sequential steps of batched kernels: there and back, once for the motions and once for the forces."""
    return 4 * plan(tree).depth
