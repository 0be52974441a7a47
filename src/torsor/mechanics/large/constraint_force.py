"""The constraint-force algorithm (Fijany, Sharf & D'Eleuterio 1995; F&O 28) for unbranched chains.

The constraint forces of a chain satisfy a block-tridiagonal equation, one row per joint.  It is solved one joint after
another, or by odd-even reduction: every other joint is eliminated, all at the same time, ⌈log₂ N⌉ times.  The matrix is
inverse inertias, so every body must have mass and extent, and its condition grows with the square of the chain's length.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from torsor.algorithms.constraint_force import dual, eliminate, equation, force_basis, inverse, recover
from torsor.compile import Argument, Kernel, Scan
from torsor.errors import ArgumentError, SingularError
from torsor.kernels.functions import record_function
from torsor.mechanics.large.divide_and_conquer import plan
from torsor.mechanics.large.freedoms import Freedoms
from torsor.mechanics.large.motions import loads, motions
from torsor.mechanics.large.stages import BODY, body, body_row, inertia, numbers, square_matrix, stage, subspace, transform
from torsor.mechanics.large.tree import LargeTree, each_state
from torsor.spatial import Force, Motion
from torsor.spatial.matrix import Vector
from torsor.spatial.motion import six_numbers
from torsor.support.user_arrays import Array

#: a body whose smallest moment is below this share of its largest is a rod: the rest of the moment is rounding
THIN = 1e-9
INERTIA = {"mass": 1, "h": 3, "I": 6}
X_ROW = {"E": 9, "r": 3}


@cache
def bases(d: int) -> Kernel:
    """Z of a joint with d degrees of freedom, its dual basis S*, and the active force S*τ."""

    def step(S, m, tau):
        D = dual(subspace(S))
        active = sum((f * t for f, t in zip(D, tau, strict=True)), start=Force.zero())
        return {"Z": numbers(force_basis(subspace(S), m)), "dual": numbers(tuple(D)), "active": six_numbers(active)}

    return stage(f"the force basis of joints of {d}", step, {"S": 6 * d, "m": d, "tau": d})


@cache
def force_on_parent() -> Kernel:
    """Xᵀf: a joint force in the frame of the parent body."""
    return stage("forces above", lambda E, r, f: {"F": six_numbers(transform(E, r).T @ Force.of(f))}, X_ROW | {"f": 6})


@cache
def equations() -> Kernel:
    """The block row of a joint: D and r as (21, 6), and C."""

    def step(E, r, mass, h, I, Z, w, mass_up, h_up, I_up, Z_up, w_up, free, e):
        above = inertia(mass_up, h_up, I_up), square_matrix(Z_up), Force.of(w_up)
        D, C, rhs = equation(transform(E, r), inertia(mass, h, I), square_matrix(Z), Force.of(w), above, free[0], e)
        return {"row": body_row(D, rhs), "C": numbers(C)}

    one = INERTIA | {"Z": 36, "w": 6}
    return stage("F&O 28", step, X_ROW | one | {k + "_up": n for k, n in one.items()} | {"free": 1, "e": 6})


@cache
def eliminations() -> Kernel:
    def step(row, C, Cn):
        left, right, coupling = eliminate(*body(row), square_matrix(C), square_matrix(Cn))
        return {"left": body_row(*left), "right": body_row(*right), "C": numbers(coupling)}

    return stage("odd-even reduction", step, {"row": BODY, "C": 36, "Cn": 36})


@cache
def recoveries() -> Kernel:
    """y = D⁻¹(r − C y_{i−1} − Cnᵀ y_{i+1})"""

    def step(row, C, Cn, before, after):
        D, r = body(row)
        return {"y": list(recover(D, r - square_matrix(C) @ Vector(before) - square_matrix(Cn).T @ Vector(after)))}

    return stage("substitution", step, {"row": BODY, "C": 36, "Cn": 36, "before": 6, "after": 6})


@cache
def accelerations() -> Kernel:
    """A = I⁻¹ F"""

    def step(mass, h, I, F):
        return {"A": six_numbers(inverse(inertia(mass, h, I))(Force.of(F)))}

    return stage("accelerations of free bodies", step, INERTIA | {"F": 6})


@cache
def accelerations_of_joints(d: int) -> Kernel:
    """a = S*ᵀ(A − X A_up)"""

    def step(E, r, D, A, above):
        moved = Motion.of(A) - transform(E, r) @ Motion.of(above)
        return {"a": [moved.dot(Force.of(D[k : k + 6])) for k in range(0, 6 * d, 6)]}

    return stage(f"accelerations of joints of {d}", step, X_ROW | {"dual": 6 * d, "A": 6, "above": 6})


def odd_even(row: Array, C: Array) -> Array:
    """y (n, 6) of a block-tridiagonal equation, in ⌈log₂ n⌉ steps.  ``row`` is (D, r), ``C`` couples each to the one before."""
    n = len(row)
    if n == 1:
        return recoveries()(row, np.zeros(36), np.zeros(36), np.zeros(6), np.zeros(6))
    after = np.concatenate([C[2::2], np.zeros((1, 36))])[: n // 2]  # of the odd ones; the last may have no successor
    left, right, coupling = eliminations()(row[1::2], C[1::2], after)
    kept = row[::2].copy()
    kept[: len(left)] -= left
    kept[1:] -= right[: len(kept) - 1]
    tied = np.concatenate([np.zeros((1, 36)), coupling[: len(kept) - 1]])
    y = np.empty((n, 6))
    y[::2] = odd_even(kept, tied)
    beyond = np.concatenate([y[2::2], np.zeros((1, 6))])[: n // 2]
    y[1::2] = recoveries()(row[1::2], C[1::2], after, y[:-1:2], beyond)
    return y


@cache
def _thomas() -> tuple[Scan, Scan]:
    """The two passes of block elimination, joint after joint."""

    def inward(row, C, before):
        D, r = body(row)
        _, (dD, dr), _ = eliminate(*body(before), square_matrix([0] * 36), square_matrix(C))
        return {"next": body_row(D - dD, r - dr), "row": body_row(D - dD, r - dr)}

    def outward(row, Cn, after):
        D, r = body(row)
        y = recover(D, r - square_matrix(Cn).T @ Vector(after))
        return {"next": list(y), "y": list(y)}

    there = record_function(inward, [Argument("row", (BODY,)), Argument("C", (36,)), Argument("before", (BODY,))])
    back = record_function(outward, [Argument("row", (BODY,)), Argument("Cn", (36,)), Argument("after", (6,))])
    return (
        Scan(there, name="block elimination", carry={"before": "next"}, each=["row"]),
        Scan(back, name="block substitution", carry={"after": "next"}, each=["y"], reverse=True),
    )


def solve_sequentially(row: Array, C: Array) -> Array:
    """y (n, 6) of a block-tridiagonal equation, in 2n steps (Thomas)."""
    there, back = _thomas()
    one = np.zeros(BODY)
    one[[0, 6, 11, 15, 18, 20]] = 1
    return back(there(row, C, one), np.concatenate([C[1:], np.zeros((1, 36))]), np.zeros(6))


def constraint_force(tree: LargeTree, q: Array, v: Array, tau: Array, solver: Any = odd_even) -> Array:
    """a = M⁻¹(τ − h), ``(..., nv)``, of an unbranched chain by F&O 28, in O(log N) steps of batched kernels.

    >>> from torsor import large
    >>> rope = large.chain(100)
    >>> a = rope.forward_dynamics(rope.neutral(), np.zeros(100), np.zeros(100), method="constraint_force")
    >>> bool(abs(a).max() < 1e-9)  # it hangs straight down, and stays there
    True
    """
    if max(q.ndim, v.ndim, tau.ndim) > 1:
        return each_state(partial(constraint_force, solver=solver), tree, q, v, tau)
    _check(tree)
    n, J = len(tree), Freedoms.of(tree, q)
    X, G = (J.E, J.r), (tree.mass[:, None], tree.h, tree.I)
    p = loads(tree, motions(tree, plan(tree), X, *tree.motions(q, v)))[:-1, 21:]
    Z, e, active, duals = np.empty((n, 36)), np.zeros((n, 6)), np.empty((n, 6)), {}
    for d, b in J.bodies.items():
        Z[b], duals[d], active[b] = bases(d)(J.S[d], tree.armature[J.v[d]], tau[J.v[d]])
        e[b, :d] = 1
    w = _net(X, active) - p
    above = [_from_parent(x) for x in (*G, Z, w)]
    free = np.ones((n, 1))
    free[0] = 0  # the first joint is attached to the base
    row, C = equations()(*X, *G, Z, w, *above, free, e)  # F&O 28
    y = solver(row, C)
    f = np.einsum("nij,nj->ni", Z.reshape(n, 6, 6), y) + active
    A = accelerations()(*G, _net(X, f) - p)  # F&O 25
    up = _from_parent(A) * free
    a = np.empty(tree.nv)
    for d, b in J.bodies.items():
        a[J.v[d]] = accelerations_of_joints(d)(J.E[b], J.r[b], duals[d], A[b], up[b])  # F&O 29
    return a


def constraint_force_sequential(tree: LargeTree, q: Array, v: Array, tau: Array) -> Array:
    """As :func:`constraint_force`, the tridiagonal equation solved one joint after another."""
    return constraint_force(tree, q, v, tau, solver=solve_sequentially)


def _net(X: tuple[Array, Array], f: Array) -> Array:
    """f_i − X_{i+1}ᵀ f_{i+1}: the resultant of the forces of a body's two joints."""
    net = f.copy()
    net[:-1] -= force_on_parent()(X[0][1:], X[1][1:], f[1:])
    return net


def _from_parent(x: Array) -> Array:
    """Row i of the body before; the first is its own."""
    return np.concatenate([x[:1], x[:-1]])


def _check(tree: LargeTree) -> None:
    if not tree.is_chain:
        i = int(np.argmax(tree.parent != np.arange(-1, len(tree) - 1)))
        above = "the base" if tree.parent[i] < 0 else tree.body_name(int(tree.parent[i]))
        raise ArgumentError(
            f"constraint_force is for unbranched chains, but {tree.body_name(i)} is attached to {above}, "
            'not to the body before it; method="divide_and_conquer" supports any tree'
        )
    c2 = np.einsum("ni,nj->nij", tree.h, tree.h) / np.maximum(tree.mass, 1e-300)[:, None, None]
    about_com = tree.I[:, [[0, 1, 2], [1, 3, 4], [2, 4, 5]]] - np.eye(3) * np.trace(c2, axis1=1, axis2=2)[:, None, None] + c2
    moments = np.linalg.eigvalsh(about_com)
    empty = np.flatnonzero((tree.mass == 0) | ~(moments[:, 0] > THIN * moments[:, 2]))
    if len(empty):
        raise SingularError(
            f"{tree.body_name(int(empty[0]))} has no mass, or no extent about some axis, so its inertia has no inverse, "
            'which constraint_force needs; method="aba" or "divide_and_conquer" does without'
        )


def depth(tree: LargeTree, solver: Any = odd_even) -> int:
    """Sequential steps: the motions, five batches for the equation and the accelerations, and its solution."""
    solution = 2 * len(tree) if solver is solve_sequentially else 2 * int(np.ceil(np.log2(len(tree)))) + 1
    return 2 * plan(tree).depth + 5 + solution
