"""Inverse and forward dynamics of a large tree in O(N): the recursions of a Model, as compiled loops over the bodies.

A step is recorded once, from the equations of one body in :mod:`torsor.algorithms.rnea` and :mod:`torsor.spatial.articulated`;
the bodies are data.  Along a chain, a value that goes from one step to the next stays in registers and scratch; in a tree it is
gathered from the parent's row, or added to it.

A revolute joint of a chain takes 480 bytes while this runs, besides the 344 of the tree; in a branched tree 570 (ABA) and
490 (RNEA).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from torsor.algorithms.rnea import newton_euler
from torsor.compile import Argument, Scan
from torsor.compile.scan import NotFinite
from torsor.kernels.functions import record_function
from torsor.mechanics.large.joints import joint_states
from torsor.mechanics.large.stages import acceleration, inertia, matrix, numbers, subspace, transform
from torsor.mechanics.large.tree import LargeTree, massless_error
from torsor.spatial import ArticulatedInertia, Force, Forces, Motion, Sym
from torsor.spatial.articulated import accelerate, articulate, innovate
from torsor.spatial.linear import Factors
from torsor.support.user_arrays import Array

Scalars = list[Any]

X_ROW = (Argument("E", (3, 3)), Argument("r", (3,)))
G_ROW = (Argument("m", ()), Argument("h", (3,)), Argument("I", (6,)))


def inverse_dynamics(tree: LargeTree, q: Array, v: Array, a: Array) -> Array:
    """τ = M(q) a + h(q, v) (RNEA; MR 8.50–8.54, F&O 3–8)."""
    E, r, S, vJ, aJ = joint_states(tree, True, q, v, a)
    F = body_forces(tree, E, r, vJ, aJ)
    F = _run(_transmit, tree, tree.parent, E, r, F)
    F = F if tree.rows.simple else F[..., tree.rows.body, :]
    return np.einsum("...ij,...ij->...i", S, F) + tree.armature * a  # MR 8.54, F&O 8


def forward_dynamics(tree: LargeTree, q: Array, v: Array, tau: Array) -> Array:
    """a = M(q)⁻¹ (τ − h(q, v)) (ABA; F&O 11–14).

    As in :func:`torsor.algorithms.aba`, accelerations are counted from those at constant joint velocity.
    """
    E, r, S, vJ, aJ = joint_states(tree, True, q, v)
    p = body_forces(tree, E, r, vJ, aJ)  # F&O 5, a = 0
    rows = tree.rows
    E, r = rows.transforms(E, r)
    p = rows.on_last(p, -2)
    m, h, I = (rows.on_last(x.reshape(len(tree), -1), 0) for x in (tree.mass, tree.h, tree.I))
    try:
        U, d, u = _run(_articulate, tree, rows.parent, E, r, S, m[:, 0], h, I, tree.armature, tau, p)
    except NotFinite as error:
        raise (massless_error(tree, rows.body[error.step], error.state) if error.output == "d" else error) from None
    if not (d > 0).all():
        *state, row = (int(k) for k in np.argwhere(~(d > 0))[0])
        raise massless_error(tree, rows.body[row], tuple(state))
    return _run(_accelerate, tree, rows.parent, E, r, S, U, d, u, base=np.zeros(6))


def body_forces(tree: LargeTree, E: Array, r: Array, vJ: Array, aJ: Array) -> Array:
    """F = I A + V ×* I V of each body, ``(..., N, 6)`` in its frame: the wrench its motion takes (MR 8.51–8.53, F&O 3–5)."""
    base = np.concatenate([np.zeros(6), -tree.gravity])  # gravity as an upward acceleration of the base
    return _run(_move_body, tree, tree.parent, E, r, vJ, aJ, tree.mass, tree.h, tree.I, base=base)


# -- the steps ---------------------------------------------------------------------------------------------------


def _move_body(
    E: Scalars, r: Scalars, vJ: Scalars, aJ: Scalars, m: Scalars, h: Scalars, I: Scalars, A: Scalars
) -> dict[str, Any]:
    """Outwards: the acceleration of a body from its parent's, and the wrench it takes."""
    parent = transform(E, r) @ acceleration(A)
    here, F = newton_euler(parent, Motion.of(vJ), Motion.of(aJ), inertia(m, h, I))  # F&O 3–5
    return {"F": numbers(F), "next": numbers(here)}


def _transmit(E: Scalars, r: Scalars, F: Scalars, below: Scalars) -> dict[str, Any]:
    """Inwards: the wrench through a joint, and its part in the parent's."""
    through = Force.of(F) + Force.of(below)
    return {"through": numbers(through), "next": numbers(transform(E, r).T @ through)}  # MR 8.53, F&O 7


def _articulate(
    E: Scalars, r: Scalars, S: Scalars, m: Scalars, h: Scalars, I: Scalars, armature: Scalars, tau: Scalars, p: Scalars,
    below: Scalars,
) -> dict[str, Any]:  # fmt: skip
    """Inward: articulated inertia and bias force of a body, transmitted through its joint."""
    X, s = transform(E, r), subspace(S)
    children = ArticulatedInertia(Sym(*below[:6]), matrix(below[6:15]), Sym(*below[15:21]))
    IA = ArticulatedInertia.of(inertia(m, h, I)) + children
    pA = Force.of(p) + Force.of(below[21:])
    U, D, Ia = articulate(IA, s, armature)  # F&O 12
    _, u, pa = innovate(pA, s, U, D, tau)  # F&O 13
    return {"U": numbers(U[0]), "d": D[1][0], "u": u[0], "next": numbers(X.T @ Ia, X.T @ pa)}


def _accelerate(E: Scalars, r: Scalars, S: Scalars, U: Scalars, d: Scalars, u: Scalars, A: Scalars) -> dict[str, Any]:
    """Outwards: the joint's acceleration, and its contribution to the body's."""
    D: Factors = ([[0]], d)
    here, a = accelerate(transform(E, r) @ Motion.of(A), subspace(S), Forces([Force.of(U)]), D, u)  # F&O 14
    return {"a": a[0], "next": numbers(here)}


#: step → its inputs; the last one comes from the step before, or from the parent's or the children's rows
STEPS: dict[Any, tuple[Argument, ...]] = {
    _move_body: (*X_ROW, Argument("vJ", (6,)), Argument("aJ", (6,)), *G_ROW, Argument("A", (9,))),
    _transmit: (*X_ROW, Argument("F", (6,)), Argument("below", (6,))),
    _articulate: (
        *X_ROW, Argument("S", (6,)), *G_ROW, Argument("armature", ()), Argument("tau", ()), Argument("p", (6,)),
        Argument("below", (27,)),
    ),
    _accelerate: (
        *X_ROW, Argument("S", (6,)), Argument("U", (6,)), Argument("d", ()), Argument("u", ()), Argument("A", (6,)),
    ),
}  # fmt: skip


@cache
def _scan(step: Any, chain: bool, inward: bool) -> Scan:
    """The loop of a step: carried along a chain, gathered from parents outwards, summed from children inwards."""
    program = record_function(step, STEPS[step])
    link = {STEPS[step][-1].name: "next"}
    role = "carry" if chain else "scatter" if inward else "gather"
    kept = [o.name for o in program.facts.outputs if o.name != "next" or role == "gather"]
    options: dict[str, Any] = {role: link, "each": kept, "reverse": inward}
    return Scan(program, name=f"large tree: {step.__name__[1:]}", **options)


def _run(step: Any, tree: LargeTree, parent: Array, *rows: Array, base: Array | None = None) -> Any:
    """The results of a step for each row: outwards from the value at the ``base``, or inwards from zero at the tips."""
    chain, inward = tree.is_chain, base is None
    start = np.zeros(STEPS[step][-1].shape) if inward and chain else base
    result = _scan(step, chain, inward)(*rows, start, index=None if chain else parent)
    return result if chain or inward else result[0]  # along a chain, the value from the step before is not kept
