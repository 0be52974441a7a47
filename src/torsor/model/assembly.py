"""From a Description to the numbered Model: depth first, in file order, welds merged."""

from __future__ import annotations

from torsor.errors import ModelError
from torsor.model.description import BASES, FLOATING_BASE, WORLD, Description, Joint, Loop
from torsor.model.forces import ForceRow
from torsor.model.joints import Fixed, JointType
from torsor.model.joints.deflection import Deflection
from torsor.model.joints.follower import Follower
from torsor.model.magnitudes import check_inertia, check_size
from torsor.model.model import Coupling, Frame, LinkRow, LoopRow, Model
from torsor.model.polynomials import compose, trim
from torsor.model.rotor import Rotor, RotorRow
from torsor.model.terms.joint_losses import JointFriction
from torsor.model.terms.loop import JointConstraint
from torsor.model.terms.term import Term
from torsor.scalar import Scalar, tidy
from torsor.spatial import Inertia, Transform, Vec
from torsor.spatial.vector import ZERO


def assemble(d: Description) -> Model:
    """The model of a description.  The frame ``"world"`` is the fixed one, unless a link has that name.

    Links joined by fixed joints become one body: inertias are summed in its frame, links and frames become frames on it.
    A rotor is welded to its mount too, as if it did not spin; the effect of its spin is in its row.
    A joint about a skew axis gets a body frame turned so that the axis is ẑ: same motion, fewer operations.
    """
    written, d = d, d.complete
    bodies, on_link = d.bodies, _frames_by_link(d)

    moved_by: list[Joint | None] = [None]  # the joint of each body; the base has none
    kind: list[JointType] = [Fixed()]
    parent, offset, inertia = [-1], [Transform.identity()], [Inertia.zero()]
    links: dict[str, LinkRow] = {}
    frames = {WORLD: Frame(0, Transform.identity())}

    todo = [(0, Transform.identity(), Joint(FLOATING_BASE, BASES[d.base], WORLD, d.root))]
    while todo:  # a stack and not a recursion: a rope has more links than Python has frames
        body, X, j = todo.pop()
        X = j.origin @ X
        if not isinstance(j.kind, Fixed):
            R, aligned = j.kind.align_axis()
            A = Transform.of_pose(R, ZERO)
            parent.append(body)
            moved_by.append(j)
            kind.append(aligned)
            offset.append(A @ X)
            inertia.append(Inertia.zero())
            body, X = len(parent) - 1, A.inverse
        check_size(f"link {j.child!r}: its pose on the body it is welded to", X)  # fixed joints on the way add up
        frames[j.child] = Frame(body, X)
        by = (j.name, j.parent) if links else (FLOATING_BASE if d.floats else "", "")
        links[j.child] = LinkRow(by[1], X.T @ bodies[j.child], by[0], on_link[j.child])
        inertia[body] = inertia[body] + links[j.child].inertia
        todo.extend((body, X, below) for below in d.joints_from(j.child)[::-1])
    for f in d.frames:
        body, X = frames[f.link]
        frames[f.name] = Frame(body, f.origin @ X)

    names = tuple("" if j is None else j.name for j in moved_by)
    for name, G in zip(names, inertia, strict=True):
        check_inertia(f"the links that {f'joint {name!r}' if name else 'the base'} carries", G)  # welds add up
    coupling, q_start, v_start, nq, nv = _coordinates(d, written, moved_by, names, kind)
    return Model(
        name=d.name,
        parent=tuple(parent),
        joint=tuple(kind),
        offset=tuple(offset),
        inertia=tuple(inertia),
        armature=tuple(() if j is None else tuple(j.armature) or (0,) * j.kind.nv for j in moved_by),
        damping=tuple(() if j is None else tuple(j.damping) or (0,) * j.kind.nv for j in moved_by),
        coupling=coupling,
        q_start=q_start,
        v_start=v_start,
        nq=nq,
        nv=nv,
        joint_names=names,
        frames=frames,
        gravity=d.gravity,
        loops=tuple(_loop(loop, frames) for loop in d.loops),
        friction=tuple(() if j is None else j.laws for j in moved_by),
        rotors=tuple(_rotor(r, frames[r.link], names) for r in d.rotors),
        links=links,
        effort_limit=tuple(() if j is None else tuple(j.effort_limit) for j in moved_by),
        forces=_forces(d, frames),
        passive=_passive_rows(d, names, kind, v_start, coupling),
        terms=_terms(d, names),
    )


def _passive_rows(
    d: Description, names: tuple[str, ...], kind: list[JointType], v_start: Starts, coupling: tuple[Coupling | None, ...]
) -> tuple[int, ...]:
    """The rows of v of joints without a drive: those not said to have one, and those that terms take it from."""
    said = names if d.actuated is None else d.actuated
    driven = set(said) - {name for term in d.terms for name in term.passive}
    idle = [i for i in range(1, len(names)) if names[i] not in driven and coupling[i] is None]
    return tuple(v_start[i] + k for i in idle for k in range(kind[i].nv))


def _terms(d: Description, moving: tuple[str, ...]) -> tuple[Term, ...]:
    """The terms of loops and friction laws, then those that were attached."""
    loops = [JointConstraint.of(loop) for loop in d.loops]
    rubbing = [JointFriction(j.name) for j in d.joints if j.name in moving and any(law is not None for law in j.laws)]
    return (*loops, *rubbing, *(term.assembled(d) for term in d.terms))


def _forces(d: Description, frames: dict[str, Frame]) -> tuple[ForceRow, ...]:
    """The force elements, each with the mass whose weight it carries."""
    bodies, carrier = d.bodies if d.forces else {}, {f.name: f.link for f in d.frames}
    rows = ((name, carrier.get(name, name), element) for name, element in d.forces)
    return tuple(ForceRow(name, link, *frames[name], x, *x.carried_mass(bodies[link])) for name, link, x in rows)


def _frames_by_link(d: Description) -> dict[str, tuple[str, ...]]:
    """The frames of each link, its own first."""
    found = {link.name: [link.name] for link in d.links}
    for f in d.frames:
        found[f.link].append(f.name)
    return {name: tuple(frames) for name, frames in found.items()}


def _loop(loop: Loop, frames: dict[str, Frame]) -> LoopRow:
    """Its two ends as frames on bodies, both turned so that a skew axis is ẑ."""
    R, aligned = loop.kind.align_axis()
    A = Transform.of_pose(R, ZERO)
    p, s = frames[loop.parent], frames[loop.child]
    return LoopRow(loop.name, aligned, Frame(p.body, A @ loop.origin @ p.X), Frame(s.body, A @ loop.child_origin @ s.X))


def _rotor(r: Rotor, mount: Frame, names: tuple[str, ...]) -> RotorRow:
    """Its spin axis in the frame of the body that carries it."""
    u = Vec(*(tidy(x) for x in mount.X.E.T @ (r.origin.E.T @ r.axis)))
    return RotorRow(r.name, names.index(r.joint), mount.body, u, r.spin_inertia, r.ratio, r.link)


Starts = tuple[int, ...]
Polynomial = tuple[Scalar, ...]


def _coordinates(
    d: Description, written: Description, moved_by: list[Joint | None], names: tuple[str, ...], kind: list[JointType]
) -> tuple[tuple[Coupling | None, ...], Starts, Starts, int, int]:
    """Start index of each joint's coordinates; a mimic joint uses its leader's.  A curved one gets its kind changed.

    First come those of the ``written`` tree, in its order, then those that terms add, term by term.
    """
    joints = {j.name: j for j in d.joints}
    number = {name: i for i, name in enumerate(names)}
    known: dict[str, tuple[str, Polynomial]] = {}
    coupling: list[Coupling | None] = []
    for i, j in enumerate(moved_by):
        if j is None or j.mimic is None:
            coupling.append(None)
            continue
        leader, p = _coupling(j, joints, known)
        b, k, *higher = p
        if higher:  # the polynomial is a matter of the joint's kind
            check_curved(j, leader)
            kind[i] = Follower(kind[i], p)
        same = higher or isinstance(j.kind, Deflection)
        coupling.append(Coupling(number[leader], 1, 0) if same else Coupling(number[leader], k, b))
    rank = dict.fromkeys(names, 0) if d is written else _ranks(written, d)
    q_start, v_start = [0] * len(names), [0] * len(names)
    nq = nv = 0
    for i in sorted(range(1, len(names)), key=lambda i: rank[names[i]]):
        q_start[i], v_start[i] = nq, nv
        if coupling[i] is None:
            nq, nv = nq + kind[i].nq, nv + kind[i].nv
    for i, c in enumerate(coupling):
        if c is not None:
            q_start[i], v_start[i] = q_start[c.leader], v_start[c.leader]
    return tuple(coupling), tuple(q_start), tuple(v_start), nq, nv


def _ranks(written: Description, d: Description) -> dict[str, int]:
    """Place of each joint in the order of coordinates: depth first in the written tree, then as terms added them."""
    order = dict.fromkeys([FLOATING_BASE, *(j.name for j in (*written.outward(written.root), *d.joints))])
    return {name: k for k, name in enumerate(order)}


def _coupling(j: Joint, joints: dict[str, Joint], known: dict[str, tuple[str, Polynomial]]) -> tuple[str, Polynomial]:
    """(leader, polynomial) relative to the joint at the end of a chain of mimic joints; resolved parts are reused."""
    chain = []
    at = j
    while at.mimic is not None and at.name not in known:
        chain.append(at)
        at = joints[at.mimic.joint]
    leader, p = known.get(at.name, (at.name, (0.0, 1.0)))
    for follower in reversed(chain):
        m = follower.mimic
        assert m is not None
        p = trim(compose(m.coefficients, p), least=2)
        b, k, *higher = p
        check_size(f"joint {follower.name!r}: q / q({leader}), the product of the mimic multipliers on the way,", k)
        check_size(f"joint {follower.name!r}: q where q({leader}) = 0, by its chain of mimic joints,", b)
        check_size(f"joint {follower.name!r}: its polynomial in q({leader}), by its chain of mimic joints,", higher)
        known[follower.name] = leader, p
    return leader, p


def check_curved(j: Joint, leader: str) -> None:
    """Raise for a joint that follows by a curve and has losses or an armature: on its leader they would depend on q."""
    found = [word for word in ("armature", "damping", "laws") if any(x is not None and x != 0 for x in getattr(j, word))]
    if found:
        raise ModelError(
            f"joint {j.name!r} follows {leader!r} by a polynomial of degree 2 or more, and has {' and '.join(found)}, which a "
            "joint without its own coordinate cannot have; remove it, or use the constraint torsor.constraints.coupling(..., "
            "polynomial=...) between independent joints (robot.without_couplings())"
        )
