"""The numbered tree the algorithms run on.

Bodies are numbered 1 … N with parent[i] < i, and 0 is the fixed base (F&O §3.1).  Links welded together are one body, and
every link and frame of the description is a :class:`Frame` on one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from torsor.errors import UnknownName, require_known
from torsor.model.forces import ForceRow
from torsor.model.joints import JointType
from torsor.model.joints.moving import Moving
from torsor.model.magnitudes import has_symbols
from torsor.model.rotor import RotorRow
from torsor.scalar import Scalar, Scalars, is_constant
from torsor.spatial import Inertia, Transform, Vec
from torsor.spatial.vector import ZERO, flat
from torsor.support.locks import cached_property

if TYPE_CHECKING:
    from torsor.model.terms.term import Term

#: attribute of a model that was made from another with the same M(q)
_DESCRIBED = "_described"


class Coupling(NamedTuple):
    """q_i = k q_leader + b, entry by entry: a joint without coordinates of its own, a mimic joint or a section of a beam."""

    leader: int
    k: Scalar
    b: Scalar


class Frame(NamedTuple):
    """A frame on a body: X takes the body's frame to this one."""

    body: int
    X: Transform


class LinkRow(NamedTuple):
    """A link of the description: the link before it ("" at the root), its inertia in the frame of its body, its joint or weld.

    The rotors mounted on the link are included, as if they did not spin.  ``frames`` are its own frame and those on it.
    """

    parent: str
    inertia: Inertia
    joint: str = ""
    frames: tuple[str, ...] = ()


class LoopRow(NamedTuple):
    """A joint that closes a loop: X_J(q) takes the predecessor frame to the successor frame (F&O §3.4)."""

    name: str
    kind: JointType
    predecessor: Frame
    successor: Frame


@dataclass(frozen=True)
class Model:
    """A kinematic tree, one row per body; row 0 is the base."""

    name: str
    parent: tuple[int, ...]
    joint: tuple[JointType, ...]
    offset: tuple[Transform, ...]  # from the parent's frame to the joint frame
    inertia: tuple[Inertia, ...]
    armature: tuple[tuple[Scalar, ...], ...]
    damping: tuple[tuple[Scalar, ...], ...]
    coupling: tuple[Coupling | None, ...]
    q_start: tuple[int, ...]
    v_start: tuple[int, ...]
    nq: int
    nv: int
    joint_names: tuple[str, ...]
    frames: dict[str, Frame]
    gravity: Vec
    loops: tuple[LoopRow, ...] = ()
    rotors: tuple[RotorRow, ...] = ()
    friction: tuple[tuple[Any, ...], ...] = ()  # per joint, one law per degree of freedom; None, or no row: no friction
    links: dict[str, LinkRow] = field(default_factory=dict)  # parents before their children
    effort_limit: tuple[tuple[float, ...], ...] = ()  # per joint, one per degree of freedom; no entries: no limit
    forces: tuple[ForceRow, ...] = ()  # gravity compensation, buoyancy and drag of links
    passive: tuple[int, ...] = ()  # rows of v of joints without a drive
    terms: tuple[Term, ...] = ()  # what else changes the motion: friction, springs, loops, ... (torsor.model.terms)

    # -- the tree --------------------------------------------------------------------------------------------

    def outward(self) -> Iterator[tuple[int, int]]:
        """(body, parent) from the base to the tips."""
        return ((i, self.parent[i]) for i in range(1, len(self.parent)))

    def inward(self) -> Iterator[tuple[int, int]]:
        """(body, parent) from the tips to the base."""
        return ((i, self.parent[i]) for i in range(len(self.parent) - 1, 0, -1))

    def path(self, i: int) -> Iterator[int]:
        """The bodies from i to the base, i first, without the base."""
        while i > 0:
            yield i
            i = self.parent[i]

    def moves(self, i: int) -> bool:
        """Whether a joint moves body i."""
        return any(self.joint[k].nv for k in self.path(i))

    def common_ancestor(self, i: int, j: int) -> int:
        """The last body that the paths from the base to i and to j share; 0, the base, if there is no other."""
        while i != j:
            i, j = min(i, j), self.parent[max(i, j)]
        return i

    @property
    def local(self) -> bool:
        """Whether joints couple a body to its parent only: no shared coordinates, and each rotor on the joint's parent or base.

        Then the articulated-body recursion applies.
        """
        near = all(r.mount in (0, self.parent[r.joint]) for r in self.rotors)
        return near and not any(self.coupling)

    @cached_property
    def own_joints(self) -> tuple[int, ...]:
        """The bodies whose joints have coordinates of their own, in the order of the coordinates."""
        own = [i for i, _ in self.outward() if self.coupling[i] is None]
        return tuple(sorted(own, key=self.q_start.__getitem__))  # joints without coordinates stay where they are

    @cached_property
    def wound(self) -> frozenset[int]:
        """The bodies whose joints other joints follow, or springs act on: a whole turn may be another configuration."""
        wound = {name for term in self.terms for name in term.wound}
        sprung = (i for i, name in enumerate(self.joint_names) if name in wound)
        return frozenset((*sprung, *(c.leader for c in self.coupling if c is not None)))

    @cached_property
    def joints_with_friction(self) -> tuple[str, ...]:
        """Names of the joints that have a friction law, in the order of the bodies."""
        rows = zip(self.joint_names, self.friction, strict=False)
        return tuple(name for name, laws in rows if any(law is not None for law in laws))

    @cached_property
    def is_numeric(self) -> bool:
        """Whether every constant is a number, and none a symbol."""
        laws = (getattr(law, "numeric", True) for row in self.friction for law in row)
        spins = tuple((r.axis, r.inertia, r.ratio) for r in self.rotors)
        forces = tuple((row.m, row.h, *vars(row.element).values()) for row in self.forces)
        tied = tuple((c.k, c.b) for c in self.coupling if c is not None)
        constants = flat(self.offset, self.inertia, self.gravity, self.armature, spins, forces, tied)
        return all(laws) and all(isinstance(x, (int, float)) for x in constants) and not any(map(has_symbols, self.joint))

    def weightless(self) -> Model:
        """The bodies alone: no gravity and no force elements."""
        return self.with_same_mass_matrix(gravity=ZERO, forces=())

    def with_same_mass_matrix(self, **changes: Any) -> Model:
        """The model with other constants that give the same M(q)."""
        changed = replace(self, **changes)
        vars(changed)[_DESCRIBED] = self.described
        return changed

    @property
    def is_on_moving_base(self) -> bool:
        """Whether the base is a body of its own, which moves along a given path (:mod:`torsor.model.moving_base`)."""
        return isinstance(self.joint[1 % len(self.joint)], Moving)

    @cached_property
    def depends_on_time(self) -> bool:
        """Whether a term reads the time."""
        return any(term.depends_on_time for term in self.terms)

    @cached_property
    def has_rows(self) -> bool:
        """Whether a term constrains the motion: a loop, or another constraint."""
        return any(term.labels() for term in self.terms)

    @cached_property
    def tree(self) -> Model:
        """The bodies, joints and force elements alone, without terms."""
        return self.with_same_mass_matrix(terms=(), loops=(), friction=())

    @property
    def described(self) -> Model:
        """The model with the same M(q) whose inertias are those of the description."""
        model: Model = vars(self).get(_DESCRIBED, self)
        return model

    def frame(self, name: str) -> Frame:
        require_known("frame or link", name, self.frames)
        return self.frames[name]

    def cut(self, at: str) -> tuple[str, Frame]:
        """The link behind a cut, and the frame in which the wrench through it is given: of a link, a named frame or a joint.

        A link or frame means the joint or weld that carries the link; a joint, also a fixed one, its child link.
        """
        for name, row in self.links.items():
            if at in row.frames:
                return name, self.frames[at]
        for name, row in self.links.items():
            if at == row.joint:
                return name, self.frames[name]
        names = [name for row in self.links.values() for name in (*row.frames, row.joint) if name]
        raise UnknownName("link, frame or joint", at, names)

    def welded_part(self, link: str) -> dict[str, LinkRow]:
        """A link and the links welded to it on the side away from the base."""
        body, found = self.frames[link].body, {link: self.links[link]}
        for name, row in self.links.items():
            if row.parent in found and self.frames[name].body == body:
                found[name] = row
        return found

    @cached_property
    def weld_spread(self) -> tuple[Scalar, ...]:
        """Σ 2 m r² [kg·m²] of each body's links, r from its origin to the link's: terms that cancel in welds."""
        spread: list[Scalar] = [0] * len(self.parent)
        for name, row in self.links.items():
            body, X = self.frames[name]
            spread[body] = spread[body] + 2 * row.inertia.m * X.r.dot(X.r)
        return tuple(spread)

    @cached_property
    def has_rotated_links(self) -> tuple[bool, ...]:
        """Whether the inertia of a link was rotated to the axes of its body by other than quarter turns, which are exact."""
        rotated = [False] * len(self.parent)
        for name in self.links:
            body, X = self.frames[name]
            rotated[body] = rotated[body] or any(not is_constant(x) or x not in (0, 1, -1) for x in flat(X.E))
        return tuple(rotated)

    # -- vectors, by joint -----------------------------------------------------------------------------------

    def configuration(self, q: Scalars) -> list[list[Scalar]]:
        """q joint by joint; a mimic joint's follows from its leader's."""
        rows: list[list[Scalar]] = [[] for _ in self.parent]
        for i, _ in self.outward():
            c, own = self.coupling[i], q[self.q_start[i] : self.q_start[i] + self.joint[i].nq]
            rows[i] = list(own) if c is None else [x * c.k + c.b for x in own]
        return rows

    def rates(self, v: Scalars) -> list[list[Scalar]]:
        """Velocities or accelerations joint by joint."""
        rows: list[list[Scalar]] = [[] for _ in self.parent]
        for i, _ in self.outward():
            c, own = self.coupling[i], v[self.v_start[i] : self.v_start[i] + self.joint[i].nv]
            rows[i] = list(own) if c is None else [x * c.k for x in own]
        return rows

    def rotor_forces(self, a: Scalars) -> list[list[Scalar]]:
        """Armature × acceleration, joint by joint."""
        return [[I * x for I, x in zip(self.armature[i], row, strict=True)] for i, row in enumerate(self.rates(a))]

    def gather_forces(self, tau: Sequence[Scalars] | Mapping[int, Scalars]) -> list[Scalar]:
        """The vector (nv) of forces given joint by joint; a mimic joint's force is added to its leader's."""
        out: list[Scalar] = [0] * self.nv
        for i, _ in self.outward():
            c = self.coupling[i]
            for d, t in enumerate(tau[i]):
                out[self.v_start[i] + d] = out[self.v_start[i] + d] + (t if c is None else t * c.k)
        return out

    def gather_matrix(self, blocks: dict[tuple[int, int], list[list[Scalar]]]) -> list[list[Scalar]]:
        """The matrix (nv × nv) of blocks (i, j); mimic joints add to their leaders' rows and columns."""
        out: list[list[Scalar]] = [[0] * self.nv for _ in range(self.nv)]
        gain = [1 if c is None else c.k for c in self.coupling]
        for (i, j), block in blocks.items():
            for a, row in enumerate(block, start=self.v_start[i]):
                for b, x in enumerate(row, start=self.v_start[j]):
                    out[a][b] = out[a][b] + x * (gain[i] * gain[j])
        return out
