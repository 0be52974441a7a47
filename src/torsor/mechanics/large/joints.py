"""The joints of a large tree: one compiled kernel per joint type, run over all its bodies at once."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from torsor.compile import Argument, Kernel
from torsor.kernels.functions import function_kernel
from torsor.mechanics.large.contraction import Rows
from torsor.mechanics.large.contraction import rows as as_rows
from torsor.mechanics.large.stages import transform
from torsor.model.joints import JointType
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.mechanics.large.tree import LargeTree


def counts(tree: LargeTree) -> Array:
    """The degrees of freedom of each joint."""
    return np.array([j.nv for j in tree.types] or [0], dtype=np.int64)[tree.kind]


class Group(NamedTuple):
    """The bodies of one joint type: where their coordinates are, ``q`` (n, nq) and ``v`` (n, nv), and their offsets.

    ``q_place``, ``v_place`` and ``place`` are the same indices as ``q``, ``v`` and ``bodies``, as a slice where possible.
    """

    joint: JointType
    bodies: Array
    q: Array
    v: Array
    E: Array
    r: Array
    place: Rows
    q_place: Rows
    v_place: Rows

    @classmethod
    def of(cls, joint: JointType, bodies: Array, q_start: Array, v_start: Array, E: Array, r: Array) -> Group:
        q, v = q_start[bodies][:, None] + np.arange(joint.nq), v_start[bodies][:, None] + np.arange(joint.nv)
        return cls(joint, bodies, q, v, E[bodies], r[bodies], as_rows(bodies), as_rows(q), as_rows(v))


@cache
def joint_kernel(joint: JointType, placed: bool, rates: int) -> Kernel:
    """The kernel that computes all joints of one type.

    ``placed``: (q, offset) → X = X_J(q) X_offset, from the parent's body frame to the body's (MR 8.50), and S by columns.
    ``rates`` ≥ 1: (q, v) → the joint's twist vJ = S v and its apparent acceleration aJ = Ṡ v; with 2, (q, v, a) → S a + Ṡ v
    (F&O 4).
    """

    def step(q: list[Any], *given: list[Any]) -> dict[str, Any]:
        S, out = joint.subspace(q), {}
        if placed:
            (E, r), given = given[:2], given[2:]
            X = joint.transform(q) @ transform(E, r)
            out = {"E": X.E, "r": X.r, "S": [[*column.w, *column.v] for column in S]}
        if rates:
            v, a = given[0], given[1] if rates > 1 else [0] * joint.nv
            vJ, aJ = S @ v, S @ a + joint.bias(q, v)
            out |= {"vJ": [*vJ.w, *vJ.v], "aJ": [*aJ.w, *aJ.v]}
        return out

    inputs = [Argument("q", (joint.nq,)), *((Argument("E", (3, 3)), Argument("r", (3,))) if placed else ())]
    inputs += [Argument(x, (joint.nv,)) for x in ("v", "a")[:rates]]
    return function_kernel(f"the {joint.name} joints", step, inputs)


def joint_states(tree: LargeTree, placed: bool, q: Array, *rates: Array) -> Any:
    """The outputs of :func:`joint_kernel` for every joint: E, r, S and vJ, aJ, as far as they are requested."""
    batch, n = np.broadcast_shapes(*(x.shape[:-1] for x in (q, *rates))), len(tree)
    shapes = [(n, 3, 3), (n, 3), (tree.nv, 6)] * placed + [(n, 6), (n, 6)] * bool(rates)
    out = tuple(np.empty((*batch, *shape)) for shape in shapes)
    for g in tree.groups:
        given = [*((g.E, g.r) if placed else ()), *(_columns(x, g.v, g.v_place) for x in rates)]
        kernel = joint_kernel(g.joint, placed, len(rates))
        q_here = _columns(q, g.q, g.q_place)
        if len(g.bodies) == n:
            own = (*out[:2], out[2].reshape(*batch, n, g.joint.nv, 6), *out[3:]) if placed else out
            kernel(q_here, *given, out=own)
            continue
        made = kernel(q_here, *given)
        for k, (x, y) in enumerate(zip(out, made, strict=True)):
            if placed and k == 2:  # S has one row per degree of freedom
                x[..., g.v_place, :] = y if isinstance(g.v_place, np.ndarray) else y.reshape(*batch, g.v.size, 6)
            else:
                x[(*(slice(None),) * len(batch), g.place)] = y
    return out


def _columns(x: Array, index: Array, place: Rows) -> Array:
    """x[..., index], by a slice where possible."""
    return x[..., place].reshape(*x.shape[:-1], *index.shape)
