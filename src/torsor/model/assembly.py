"""From a Description to the numbered Model: depth first, in file order, welds merged."""

from __future__ import annotations

from typing import Any

from torsor.model.description import FLOATING_BASE, Description, Joint
from torsor.model.joints import Fixed, Floating
from torsor.model.model import Coupling, Frame, Model
from torsor.spatial import Inertia, Transform
from torsor.spatial.vector import ZERO


def assemble(d: Description) -> Model:
    """The model of a description.

    Links joined by fixed joints become one body: inertias are summed in its frame, links and frames stay places on it.
    A joint about a skew axis gets a body frame turned so that the axis is ẑ: same motion, fewer operations.
    """
    children: dict[str, list[Joint]] = {}
    for j in d.joints:
        children.setdefault(j.parent, []).append(j)
    links = {link.name: link for link in d.links}
    root = d.root
    floating = Joint(FLOATING_BASE, Floating(), "", root)

    parent, kind, offset, names, source = [-1], [Fixed()], [Transform.identity()], [""], [floating]
    inertia = [Inertia.zero()]
    frames: dict[str, Frame] = {"world": Frame(0, Transform.identity())}

    def enter(body: int, X: Transform, j: Joint) -> tuple[int, Transform]:
        """Body and place in it of the child link of joint j, which hangs at X on the body given."""
        X = j.origin @ X
        if isinstance(j.kind, Fixed):
            return body, X
        R, aligned = j.kind.aligned()
        A = Transform.of_pose(R, ZERO)
        parent.append(body)
        kind.append(aligned)  # type: ignore[arg-type]
        offset.append(A @ X)
        names.append(j.name)
        source.append(j)
        inertia.append(Inertia.zero())
        return len(parent) - 1, A.inverse

    start = enter(0, Transform.identity(), floating) if d.base == "floating" else (0, Transform.identity())
    todo = [(root, *start)]
    while todo:
        name, body, X = todo.pop()
        frames[name] = Frame(body, X)
        inertia[body] = inertia[body] + X.T @ links[name].inertia
        entered = [(j.child, *enter(body, X, j)) for j in children.get(name, ())]
        todo.extend(reversed(entered))

    order = _depth_first(parent)
    for f in d.frames:
        body, X = frames[f.link]
        frames[f.name] = Frame(body, f.origin @ X)
    return _numbered(d, order, parent, kind, offset, names, source, inertia, frames)


def _depth_first(parent: list[int]) -> list[int]:
    """Bodies in depth-first order; siblings keep theirs."""
    children: list[list[int]] = [[] for _ in parent]
    for i, p in enumerate(parent[1:], start=1):
        children[p].append(i)
    order, todo = [], [0]
    while todo:
        i = todo.pop()
        order.append(i)
        todo.extend(reversed(children[i]))
    return order


def _numbered(d, order, parent, kind, offset, names, source, inertia, frames) -> Model:
    new = {old: i for i, old in enumerate(order)}
    leaders = {names[old]: new[old] for old in order}
    joints = {j.name: j for j in d.joints}
    coupling: list[Coupling | None] = [None] * len(order)
    q_start, v_start = [0] * len(order), [0] * len(order)
    nq = nv = 0
    for old in order[1:]:
        i, j = new[old], source[old]
        if j.mimic is None:
            q_start[i], v_start[i] = nq, nv
            nq, nv = nq + j.kind.nq, nv + j.kind.nv
        else:
            coupling[i] = _coupling(j, joints, leaders)
    for i, c in enumerate(coupling):
        if c is not None:
            q_start[i], v_start[i] = q_start[c.leader], v_start[c.leader]

    def column(label: str) -> tuple[tuple[Any, ...], ...]:
        return tuple(tuple(getattr(source[old], label)) or (0,) * kind[old].nv for old in order)

    return Model(
        name=d.name,
        parent=tuple(-1 if old == 0 else new[parent[old]] for old in order),
        joint=tuple(kind[old] for old in order),
        offset=tuple(offset[old] for old in order),
        inertia=tuple(inertia[old] for old in order),
        armature=column("armature"),
        damping=column("damping"),
        coupling=tuple(coupling),
        q_start=tuple(q_start),
        v_start=tuple(v_start),
        nq=nq,
        nv=nv,
        joint_names=tuple(names[old] for old in order),
        frames={name: Frame(new[f.body], f.X) for name, f in frames.items()},
        gravity=d.gravity,
    )


def _coupling(j: Joint, joints: dict[str, Joint], leaders: dict[str, int]) -> Coupling:
    """k and b against the leader at the end of a chain of mimics."""
    k, b, at = 1.0, 0.0, j
    while at.mimic is not None:
        k, b, at = k * at.mimic.multiplier, k * at.mimic.offset + b, joints[at.mimic.joint]
    return Coupling(leaders[at.name], k, b)
