"""The joints of a large tree: one compiled kernel a joint type, run over all its bodies at once."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from torsor.compile import Argument, Kernel, trace
from torsor.model.joints import JointType
from torsor.spatial import Mat, Transform, Vec
from torsor.version import __version__

if TYPE_CHECKING:
    from torsor.large.tree import LargeTree

Array = np.ndarray
Place = slice | np.ndarray


class Group(NamedTuple):
    """The bodies of one joint type: where their coordinates are, ``q`` (n, nq) and ``v`` (n, nv), and their offsets.

    ``q_place``, ``v_place`` and ``place`` say the same as ``q``, ``v`` and ``bodies``, by a slice where one will do.
    """

    joint: JointType
    bodies: Array
    q: Array
    v: Array
    E: Array
    r: Array
    place: Place
    q_place: Place
    v_place: Place

    @classmethod
    def of(cls, joint: JointType, bodies: Array, q_start: Array, v_start: Array, E: Array, r: Array) -> Group:
        q, v = q_start[bodies][:, None] + np.arange(joint.nq), v_start[bodies][:, None] + np.arange(joint.nv)
        return cls(joint, bodies, q, v, E[bodies], r[bodies], _sliced(bodies), _sliced(q), _sliced(v))


@cache
def transform_kernel(joint: JointType) -> Kernel:
    """(q, offset) → X = X_J(q) X_offset, from the parent's body frame to the body's (MR 8.50), and S by columns."""

    def step(q: list[Any], E: list[Any], r: list[Any]) -> dict[str, Any]:
        offset = Transform(Mat(Vec(*E[:3]), Vec(*E[3:6]), Vec(*E[6:])), Vec(*r))
        X = joint.transform(q) @ offset
        return {"E": X.E, "r": X.r, "S": [[*column.w, *column.v] for column in joint.subspace(q)]}

    program = trace(step, [Argument("q", (joint.nq,)), Argument("E", (3, 3)), Argument("r", (3,))])
    return Kernel(program, name=f"the transform of a {joint.name} joint", version=__version__)


@cache
def motion_kernel(joint: JointType, accelerated: bool) -> Kernel:
    """(q, v, a) → the joint's twist vJ = S v and its apparent acceleration aJ = S a + Ṡ v (F&O 4); a = 0 if not accelerated."""

    def step(q: list[Any], v: list[Any], a: list[Any] | None = None) -> dict[str, Any]:
        S = joint.subspace(q)
        vJ, aJ = S @ v, S @ (a or [0] * joint.nv) + joint.bias(q, v)
        return {"vJ": [*vJ.w, *vJ.v], "aJ": [*aJ.w, *aJ.v]}

    inputs = [Argument("q", (joint.nq,)), *(Argument(x, (joint.nv,)) for x in ("v", "a")[: 1 + accelerated])]
    return Kernel(trace(step, inputs), name=f"the motion of a {joint.name} joint", version=__version__)


def joint_transforms(tree: LargeTree, q: Array) -> tuple[Array, Array, Array]:
    """(E, r, S) of every joint; see :meth:`LargeTree.joints`."""
    batch, n = q.shape[:-1], len(tree)
    E, r, S = np.empty((*batch, n, 3, 3)), np.empty((*batch, n, 3)), np.empty((*batch, tree.nv, 6))
    for g in tree.groups:
        whole = len(g.bodies) == n
        out = (E, r, S.reshape(*batch, n, g.joint.nv, 6)) if whole else None
        X = transform_kernel(g.joint)(_columns(q, g.q, g.q_place), g.E, g.r, out=out)
        if not whole:
            E[..., g.place, :, :], r[..., g.place, :] = X[:2]
            columns = X[2] if isinstance(g.v_place, np.ndarray) else X[2].reshape(*batch, g.v.size, 6)
            S[..., g.v_place, :] = columns
    return E, r, S


def joint_motions(tree: LargeTree, q: Array, v: Array, a: Array | None = None) -> tuple[Array, Array]:
    """(vJ, aJ) of every joint, ``(..., N, 6)``; see :meth:`LargeTree.motions`."""
    given = (q, v) if a is None else (q, v, a)
    batch, n = np.broadcast_shapes(*(x.shape[:-1] for x in given)), len(tree)
    vJ, aJ = np.empty((*batch, n, 6)), np.empty((*batch, n, 6))
    for g in tree.groups:
        out = (vJ, aJ) if len(g.bodies) == n else None
        rates = [_columns(x, g.v, g.v_place) for x in given[1:]]
        motion = motion_kernel(g.joint, a is not None)(_columns(q, g.q, g.q_place), *rates, out=out)
        if out is None:
            vJ[..., g.place, :], aJ[..., g.place, :] = motion
    return vJ, aJ


def _columns(x: Array, index: Array, place: Place) -> Array:
    """x[..., index], by a slice where one will do."""
    return x[..., place].reshape(*x.shape[:-1], *index.shape)


def _sliced(index: Array) -> Place:
    """A slice over the same places in the same order; the index itself where they are not evenly spaced."""
    flat = index.ravel()
    step = int(flat[1] - flat[0]) if len(flat) > 1 else 1
    even = step > 0 and bool((np.diff(flat) == step).all())
    return slice(int(flat[0]), int(flat[-1]) + 1, step) if even else index
