"""Description: the robot as written: links, joints between them, named frames.

Plain immutable data in the order of the file; not merged and not numbered.  Files are read into a Description,
editing returns another one, writers write it, and :func:`torsor.model.assembly.assemble` makes the numbered Model.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeVar

from torsor.errors import ModelError, UnknownName
from torsor.model.joints import Fixed, Floating, FloatingRPY, JointType
from torsor.model.joints.deflection import Deflection
from torsor.model.magnitudes import check_constants, check_inertia, check_size
from torsor.model.named_configurations import Configuration, check_configurations
from torsor.model.polynomials import evaluate, trim
from torsor.model.rotor import Rotor, check_rotors
from torsor.model.touching import Touching
from torsor.scalar import Scalar
from torsor.spatial import Inertia, Transform, Vec
from torsor.support.locks import cached_property
from torsor.support.text import one_of

if TYPE_CHECKING:
    from torsor.model.forces import Element
    from torsor.model.sensor import Sensor
    from torsor.model.terms.term import Term

INF = math.inf
EARTH = Vec(0, 0, -9.81)
#: the joint that carries a floating base
FLOATING_BASE = "floating_base"
#: the joint between the world and the root link, by the word of ``base``
BASES: dict[str, JointType] = {"fixed": Fixed(), "floating": Floating(), "floating_rpy": FloatingRPY()}
#: terms in the order in which they change joints: a spring takes the armature of its joint's drive to the motor
COORDINATES = ("drive", "spring", "beam")
#: the fixed frame, which a loop may hold a link to
WORLD = "world"


@dataclass(frozen=True)
class Geometry:
    """A shape to draw or collide, recorded as the file gives it and never opened here."""

    role: str  # "visual" or "collision"
    shape: str  # "mesh", "box", "cylinder", "sphere", ...
    size: tuple[float, ...] = ()
    uri: str = ""
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    origin: Transform = Transform.identity()
    name: str = ""
    color: tuple[float, float, float, float] | None = None  # red, green, blue, opacity, from 0 to 1
    source: str = ""  # the file its path is relative to, if another than the robot's
    touching: Touching | None = None  # what it may touch, of MJCF files


@dataclass(frozen=True)
class Link:
    """A rigid body.  ``inertia`` is about the link frame's origin, in its axes."""

    name: str
    inertia: Inertia = Inertia.zero()
    geometry: tuple[Geometry, ...] = ()


@dataclass(frozen=True)
class Mimic:
    """q = offset + multiplier x + higher[0] x² + higher[1] x³ + …, with x = q(joint)."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0
    higher: tuple[float, ...] = ()

    @classmethod
    def of_polynomial(cls, joint: str, coefficients: Sequence[Any]) -> Mimic:
        """By its coefficients, the constant first; zeros at the end are left out."""
        offset, multiplier, *higher = trim((*coefficients, 0, 0), least=2)
        return cls(joint, multiplier, offset, tuple(higher))

    @property
    def coefficients(self) -> tuple[float, ...]:
        """offset, multiplier, and the higher ones."""
        return (self.offset, self.multiplier, *self.higher)

    def at(self, x: Any) -> Any:
        """q where q(joint) = x."""
        return evaluate(self.coefficients, x)


@dataclass(frozen=True)
class Joint:
    """A joint between two links.  ``origin`` is the transform from the parent link's frame to the joint frame.

    Limits, armature [kg·m² or kg], damping [N·m·s/rad or N·s/m] and friction [N·m or N] have one entry per coordinate or
    degree of freedom; an empty tuple means none.  So do ``laws``, the joint's friction in full (MR §8.9.4), where ``damping``
    and ``friction`` are the numbers of a file: objects of :mod:`torsor.model.friction`, or None.  ``actuator`` has the laws
    from a command to the joint force, in the order of the signal (:mod:`torsor.model.actuators`); dynamics are without it.
    ``driven``: the file has a drive at the joint, which counts once ``Description.actuated`` names it.
    """

    name: str
    kind: JointType
    parent: str
    child: str
    origin: Transform = Transform.identity()
    lower: tuple[float, ...] = ()
    upper: tuple[float, ...] = ()
    velocity_limit: tuple[float, ...] = ()
    effort_limit: tuple[float, ...] = ()
    armature: tuple[Scalar, ...] = ()
    damping: tuple[Scalar, ...] = ()
    friction: tuple[Scalar, ...] = ()
    mimic: Mimic | None = None
    laws: tuple[Any, ...] = ()
    actuator: tuple[Any, ...] = ()
    driven: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class NamedFrame:
    """A frame on a link: ``origin`` takes the link's frame to this one."""

    name: str
    link: str
    origin: Transform = Transform.identity()


@dataclass(frozen=True)
class Loop:
    """A joint that closes a kinematic loop: one that F&O §3.4 cuts to get a spanning tree.

    ``origin`` takes the parent link's frame to the joint frame, ``child_origin`` the child link's frame to the frame that
    coincides with it at the joint's neutral configuration.  Either link may be ``"world"``, the fixed frame: a foot held to
    the ground.
    """

    name: str
    kind: JointType
    parent: str
    child: str
    origin: Transform = Transform.identity()
    child_origin: Transform = Transform.identity()


@dataclass(frozen=True)
class Description:
    """A robot as described: see :class:`Link`, :class:`Joint`, :class:`Loop`, :class:`Rotor`, :class:`Configuration`."""

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    frames: tuple[NamedFrame, ...] = ()
    loops: tuple[Loop, ...] = field(default=(), kw_only=True)
    rotors: tuple[Rotor, ...] = field(default=(), kw_only=True)
    configurations: tuple[Configuration, ...] = field(default=(), kw_only=True)
    forces: tuple[tuple[str, Element], ...] = field(default=(), kw_only=True)  # force elements by link or frame
    actuated: tuple[str, ...] | None = field(default=None, kw_only=True)  # joints with a drive; None: all
    terms: tuple[Term, ...] = field(default=(), kw_only=True)  # attached to the robot, beside those of its joints and links
    sensors: tuple[tuple[str, Sensor], ...] = field(default=(), compare=False, kw_only=True)  # by name; no part of the dynamics
    ground: tuple[Geometry, ...] = field(default=(), compare=False, kw_only=True)  # shapes of the file's world, to stand on
    base: str = "fixed"
    gravity: Vec = EARTH
    report: tuple[str, ...] = field(default=(), compare=False)
    source: str = field(default="", compare=False, kw_only=True)  # the file it was read from; mesh paths are relative to it

    def __post_init__(self) -> None:
        validate(self)

    @property
    def root(self) -> str:
        """The root link: the child of no joint."""
        children = {j.child for j in self.joints}
        return next(link.name for link in self.links if link.name not in children)

    @property
    def floats(self) -> bool:
        """Whether the base moves: ``base`` is not "fixed"."""
        return self.base != "fixed"

    @property
    def edges(self) -> tuple[Joint | Loop, ...]:
        """Every joint, those of the tree first, then those that close loops; they share one namespace."""
        return (*self.joints, *self.loops)

    @property
    def bodies(self) -> dict[str, Inertia]:
        """Every link's inertia in its own frame, with that of the rotors mounted on it, as if they did not spin."""
        out = {link.name: link.inertia for link in self.links}
        for r in self.rotors:
            out[r.link] = out[r.link] + r.inertia_without_spin
        return out

    @cached_property
    def complete(self) -> Description:
        """The same robot with the joints that its terms add: motors behind springs, then sections of beams."""
        ordered = sorted(self.terms, key=lambda term: COORDINATES.index(term.kind) if term.kind in COORDINATES else -1)
        return reduce(lambda d, term: term.coordinates(d), ordered, self)

    def joints_from(self, link: str) -> list[Joint]:
        """The joints that a link carries, in file order."""
        return self._joints_by_parent.get(link, [])

    def descendants(self, link: str) -> set[str]:
        """The link and the links that it carries."""
        return {link, *(j.child for j in self.outward(link))}

    def outward(self, link: str) -> Iterator[Joint]:
        """The joints beyond a link, depth first, in file order."""
        todo = self.joints_from(link)[::-1]
        while todo:  # a stack and not a recursion: a rope has more links than Python has frames
            j = todo.pop()
            yield j
            todo += self.joints_from(j.child)[::-1]

    @cached_property
    def _joints_by_parent(self) -> dict[str, list[Joint]]:
        out: dict[str, list[Joint]] = {}
        for j in self.joints:
            out.setdefault(j.parent, []).append(j)
        return out

    def link(self, name: str) -> Link:
        """The link of that name."""
        return find("link", name, self.links)

    def with_joint_fields(self, changes: Mapping[str, Mapping[str, Any]], note: str = "") -> Description:
        """A copy in which joints, and motors behind springs, have other fields, by name."""
        joints = tuple(replace(j, **changes.get(j.name, {})) for j in self.joints)
        terms = tuple(term.with_joint_fields(changes) for term in self.terms)
        return replace(self, joints=joints, terms=terms, report=(*self.report, note) if note else self.report)

    def with_note(self, *notes: str, **changes: Any) -> Description:
        """A copy with changes and lines in the report."""
        return replace(self, report=(*self.report, *notes), **changes)


Part = TypeVar("Part", bound=Link | Joint | Loop | Configuration)


def find(kind: str, name: str, parts: Sequence[Part]) -> Part:
    """The part of that name; an error that lists the names if there is none."""
    for part in parts:
        if part.name == name:
            return part
    raise UnknownName(kind, name, [part.name for part in parts])


def validate(d: Description) -> None:
    """Raise for descriptions that are not a kinematic tree, with reason and names."""
    if d.base not in BASES:
        raise ModelError(f"base must be {one_of(BASES)}, not {d.base!r}")
    if not d.links:
        raise ModelError(f"robot {d.name!r} has no links")
    _check_unique("link", [link.name for link in d.links])
    _check_unique("joint", [j.name for j in d.edges])
    if d.floats and any(j.name == FLOATING_BASE and j.kind.nv for j in d.edges):
        raise ModelError(f"joint {FLOATING_BASE!r} has the reserved name of the floating base's joint; rename it")
    _check_unique("rotor", [r.name for r in d.rotors])
    _check_unique("frame", [f.name for f in d.frames] + [link.name for link in d.links])
    links = {link.name for link in d.links}
    mover: dict[str, str] = {}
    for j in d.joints:
        _check_ends("joint", j, links)
        if j.child in mover:
            raise ModelError(
                f"link {j.child!r} is the child of two joints, {mover[j.child]!r} and {j.name!r}; "
                "a tree has one (where they close a loop, take one of them out and declare it as a loop: Builder.loop(...), or "
                "a file robot.loops.yaml and load(..., loops=True))"
            )
        mover[j.child] = j.name
        _check_numbers(j)
    for f in d.frames:
        if f.link not in links:
            raise ModelError(f"frame {f.name!r} is on link {f.link!r}, which is not defined")
        check_size(f"frame {f.name!r}: origin", f.origin)
    for name, element in d.forces:
        if name not in links and not any(f.name == name for f in d.frames):
            raise ModelError(f"{type(element).__name__} acts on link or frame {name!r}, which is not defined")
    for link in d.links:
        check_inertia(f"link {link.name!r}", link.inertia)
    check_size("gravity", d.gravity)
    _check_tree(d, mover)
    _check_mimic(d)
    check_rotors(d.rotors, {j.name: j for j in d.joints}, mover)
    fixed_root = d.root if d.base == "fixed" else ""
    for loop in d.loops:
        _check_loop(loop, links, fixed_root)
    if d.configurations:
        _check_unique("configuration", [c.name for c in d.configurations])
        check_configurations(d, FLOATING_BASE)


def _check_unique(kind: str, names: list[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if not name:
            raise ModelError(f"a {kind} has no name")
        if name in seen:
            raise ModelError(f"two {kind}s are named {name!r}; names must differ")
        seen.add(name)


def _check_numbers(j: Joint) -> None:
    check_size(f"joint {j.name!r}: origin", j.origin)
    check_constants(f"joint {j.name!r}", j.kind)
    for label in ("lower", "upper", "velocity_limit", "effort_limit", "armature", "damping", "friction"):
        values, size = getattr(j, label), j.kind.nq if label in ("lower", "upper") else j.kind.nv
        if values and len(values) != size:
            raise ModelError(f"joint {j.name!r}: {label} needs {size} numbers, {len(values)} given")
        if any(isinstance(x, (int, float)) and math.isnan(x) for x in values):
            raise ModelError(f"joint {j.name!r}: {label} is not a number")
        if label in ("armature", "damping", "friction"):
            if any(isinstance(x, (int, float)) and not 0 <= x < INF for x in values):
                raise ModelError(f"joint {j.name!r}: {label} must be finite and not negative, not {values}")
            check_size(f"joint {j.name!r}: {label}", values)
    if j.laws and len(j.laws) != j.kind.nv:
        raise ModelError(f"joint {j.name!r}: friction needs {j.kind.nv} laws, one per degree of freedom; {len(j.laws)} given")
    for law in j.laws:
        check_constants(f"joint {j.name!r}: friction {type(law).__name__}", law)
    for low, high in zip(j.lower, j.upper, strict=False):
        if low > high:
            raise ModelError(f"joint {j.name!r}: lower limit {low} is above upper limit {high}")


def _check_ends(kind: str, e: Joint | Loop, known: set[str], hint: str = "") -> None:
    for end in (e.parent, e.child):
        if end not in known:
            raise ModelError(f"{kind} {e.name!r} refers to link {end!r}, which is not defined{hint}")
    if e.parent == e.child:
        raise ModelError(f"{kind} {e.name!r} connects link {e.parent!r} to itself")


def _check_loop(loop: Loop, links: set[str], fixed_root: str) -> None:
    _check_ends("loop", loop, {*links, WORLD}, f" ({WORLD!r} is the fixed frame)")
    if WORLD not in links and {loop.parent, loop.child} == {WORLD, fixed_root}:
        raise ModelError(f"loop {loop.name!r} connects the world and {fixed_root!r}, the root of a fixed base: they are one")
    if isinstance(loop.kind, Floating):
        raise ModelError(f"loop {loop.name!r} is a floating joint, which constrains nothing; omit it")
    if not loop.kind.closes_loops:
        raise ModelError(
            f"loop {loop.name!r}: a joint of type {loop.kind.name!r} cannot close a loop until {type(loop.kind).__name__} "
            "defines complement(q) and coordinates(X)"
        )
    check_size(f"loop {loop.name!r}: origin", loop.origin)
    check_size(f"loop {loop.name!r}: child_origin", loop.child_origin)
    check_constants(f"loop {loop.name!r}", loop.kind)


def _check_tree(d: Description, mover: dict[str, str]) -> None:
    roots = [link.name for link in d.links if link.name not in mover]
    if not roots:
        raise ModelError(f"robot {d.name!r}: every link is some joint's child, so the joints form a cycle and there is no root")
    if len(roots) > 1:
        raise ModelError(
            f"robot {d.name!r} has {len(roots)} root links ({', '.join(map(repr, roots[:5]))}"
            f"{', ...' if len(roots) > 5 else ''}); a robot is one tree"
        )
    reached = d.descendants(roots[0])
    if len(reached) < len(d.links):
        lost = next(link.name for link in d.links if link.name not in reached)
        raise ModelError(
            f"robot {d.name!r}: link {lost!r} is attached to a cycle of joints that is not connected to the root {roots[0]!r}"
        )


def _check_mimic(d: Description) -> None:
    joints = {j.name: j for j in d.joints}
    sound: set[str] = set()  # joints whose chain of leaders has been found to end
    for j in d.joints:
        chain: dict[str, None] = {}
        at = j
        while at.mimic is not None and at.name not in sound:
            chain[at.name] = None
            at = _leader(at, joints)
            if at.name in chain:
                raise ModelError(f"joint {j.name!r}: its mimic forms a cycle through {at.name!r}")
        sound.update(chain)


def _leader(j: Joint, joints: dict[str, Joint]) -> Joint:
    """The joint that j mimics."""
    assert j.mimic is not None
    check_size(f"joint {j.name!r}: mimic multiplier", j.mimic.multiplier)
    check_size(f"joint {j.name!r}: mimic offset", j.mimic.offset)
    check_size(f"joint {j.name!r}: mimic polynomial", j.mimic.higher)
    leader = joints.get(j.mimic.joint)
    if leader is None:
        raise ModelError(f"joint {j.name!r} mimics joint {j.mimic.joint!r}, which is not defined")
    sections = isinstance(j.kind, Deflection) and isinstance(leader.kind, Deflection) and j.kind.nv == leader.kind.nv
    if (leader.kind.nv != 1 or j.kind.nv != 1) and not sections:
        raise ModelError(
            f"joint {j.name!r} ({j.kind.name}) mimics {leader.name!r} ({leader.kind.name}); "
            "both must have one degree of freedom"
        )
    return leader
