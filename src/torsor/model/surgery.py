"""One description from another: lock a joint, take a branch, mount a gripper, change the base.

Every function is pure: it returns a new Description, whose report lists the changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from torsor.errors import ModelError, UnknownName, require_known
from torsor.model.description import FLOATING_BASE, WORLD, Description, Joint, Link, Mimic
from torsor.model.joints import Fixed
from torsor.model.named_configurations import keep_joints, merge, note_of_losses, with_freed_joints
from torsor.model.renaming import names_of, rename
from torsor.model.reversal import reverse
from torsor.model.seat import move_axis_to_frame, snap_rounding
from torsor.model.spanning import ground, ground_loops, joint_fields, without_crossed_sensors
from torsor.model.terms.attaching import rename_places, with_prefix
from torsor.model.terms.joint_losses import Damping
from torsor.scalar import Scalar
from torsor.spatial import Transform
from torsor.spatial import arguments as read
from torsor.support.text import unused_name

if TYPE_CHECKING:
    from torsor.model.terms.term import Term


def lock(d: Description, configuration: Mapping[str, Any]) -> Description:
    """Fix the named joints at q [rad, m; one number, or one per coordinate], together with their mimic joints.

    Their rows and columns are removed from the equations of motion; an armature is removed with its joint, as its rotor
    stands still; a rotor with mass becomes part of the link it is mounted on.

    >>> from torsor import robots
    >>> locked = lock(robots.description("two_link"), {"joint2": 0.5})
    >>> [j.kind.name for j in locked.joints if j.name.startswith("joint")]
    ['revolute', 'fixed']
    """
    joints = {j.name: j for j in d.joints}
    held: dict[str, list[Scalar]] = {}
    for name, q in configuration.items():
        if any(loop.name == name for loop in d.loops):
            raise ModelError(f"joint {name!r} closes a loop and has no coordinate; use with_spanning_tree(...) to give it one")
        if name == FLOATING_BASE and d.floats:
            raise ModelError(f"lock: joint {name!r} carries the floating base; use with_base('fixed')")
        require_known("joint", name, joints)
        j = joints[name]
        if j.mimic is not None:
            raise ModelError(f"joint {name!r} is a mimic joint of {j.mimic.joint!r} and has no coordinate; lock the leader")
        if j.kind.nq == 0:
            raise ModelError(f"joint {name!r} is fixed already")
        values = read.per_coordinate(q, j.kind.nq, f"lock: joint {name!r}: q", number=False)
        held[name] = [read.scalar(x, f"lock: joint {name!r}: q") for x in values]
    for j in d.joints:  # a mimic joint may precede its leader in the file, and follow it through other mimic joints
        chain, at = list[Mimic](), j
        while at.mimic is not None and at.name not in held:
            chain.append(at.mimic)
            at = joints[at.mimic.joint]
        if chain and at.name in held:
            (x,) = held[at.name]
            for mimic in reversed(chain):
                x = mimic.at(x)
            held[j.name] = [x]
    if not held:
        return d
    still = {r.name for r in d.rotors if r.joint in held}
    bodies = replace(d, rotors=tuple(r for r in d.rotors if r.name in still)).bodies
    named = keep_joints(d.configurations, {FLOATING_BASE, *joints} - set(held))
    note = "locked " + ", ".join(f"{name} at {q[0] if len(q) == 1 else tuple(q)}" for name, q in held.items())
    return d.with_note(
        note + note_of_losses(d.configurations, named),
        configurations=named,
        joints=tuple(_fix_joint(j, held[j.name]) if j.name in held else j for j in d.joints),
        links=tuple(replace(x, inertia=bodies[x.name]) for x in d.links),
        rotors=tuple(r for r in d.rotors if r.name not in still),
    )


def _fix_joint(j: Joint, q: list[Scalar]) -> Joint:
    try:
        X = j.kind.transform(q)
    except ZeroDivisionError:
        raise ModelError(f"lock: joint {j.name!r}: the quaternion in {tuple(q)} is zero") from None
    return Joint(j.name, Fixed(), j.parent, j.child, snap_rounding(X @ j.origin))


def subtree(d: Description, link: str) -> Description:
    """The subtree of a link, with that link as its root; base and gravity (in the new root's axes) as before.

    A mimic joint whose leader is outside the subtree becomes independent, with a line in the report.
    Loops within the subtree stay; a loop to the outside is an error.  So is a
    rotor that drives a joint of the branch from outside.
    """
    require_known("link", link, [x.name for x in d.links])
    kept = d.descendants(link)
    inside = kept | {WORLD} if link == d.root else kept
    for loop in d.loops:
        ends = sorted((loop.parent, loop.child), key=lambda end: end not in inside)
        if (ends[0] in inside) != (ends[1] in inside):
            raise ModelError(
                f"subtree of link {link!r}: loop {loop.name!r} ties {ends[0]!r} to {ends[1]!r}, which is outside; "
                "take a larger branch, or choose another tree first: with_spanning_tree(...)"
            )
    names = {j.name for j in d.joints if j.parent in kept}
    for r in d.rotors:
        if r.joint in names and r.link not in kept:
            raise ModelError(
                f"subtree of link {link!r}: rotor {r.name!r} drives joint {r.joint!r} from link {r.link!r}, which is outside; "
                f"take a larger branch, or drop it first: with_rotors({{{r.joint!r}: None}})"
            )
    return _with_links(d, kept, f"took the subtree of link {link!r}: {len(kept)} of {len(d.links)} links", "outside")


def without(d: Description, link: str) -> Description:
    """The robot without a link and everything that it carries; the report lists what goes with them.

    Frames on these links and loops to them are removed.  A joint that followed a removed one becomes independent; a rotor that
    drove one and is mounted elsewhere becomes part of its link.

    >>> from torsor import robots
    >>> [x.name for x in without(robots.description("panda"), "panda_hand").links][-2:]
    ['panda_link7', 'panda_link8']
    """
    require_known("link", link, [x.name for x in d.links])
    if link == d.root:
        raise ModelError(f"link {link!r} is the root: without it, nothing would be left")
    gone = d.descendants(link)
    note = f"removed link {link!r} and what it carries: {len(gone)} of {len(d.links)} links"
    if lost := [loop.name for loop in d.loops if {loop.parent, loop.child} & gone]:
        note += f"; loops removed: {', '.join(lost)}"
    return _with_links(d, {x.name for x in d.links} - gone, note, "removed")


def _with_links(d: Description, kept: set[str], note: str, where: str) -> Description:
    """The robot with some of its links, and what is on them; ``where`` are the others, "outside" or "removed"."""
    joints = [j for j in d.joints if {j.parent, j.child} <= kept]
    names = {j.name for j in joints}
    freed = [j.name for j in joints if j.mimic is not None and j.mimic.joint not in names]
    idle = [r for r in d.rotors if r.joint not in names and r.link in kept]
    for what, found in (
        (f"no longer coupled, as the joint followed is {where}", freed),
        (f"part of its link, as the joint driven is {where}: rotor", [r.name for r in idle]),
    ):
        note += f"; {what}: {', '.join(found)}" if found else ""
    bodies = replace(d, rotors=tuple(idle)).bodies
    named = keep_joints(with_freed_joints(d, freed), names | {FLOATING_BASE} if d.root in kept else names)
    return d.with_note(
        note + note_of_losses(d.configurations, named),
        links=tuple(replace(x, inertia=bodies[x.name]) for x in d.links if x.name in kept),
        joints=tuple(replace(j, mimic=None) if j.name in freed else j for j in joints),
        frames=tuple(f for f in d.frames if f.link in kept),
        loops=tuple(loop for loop in d.loops if {loop.parent, loop.child} <= kept | {WORLD}),
        rotors=tuple(r for r in d.rotors if r.joint in names),
        configurations=named,
        forces=tuple((at, element) for at, element in d.forces if link_and_pose(d, at)[0] in kept),
    )


def attach(
    d: Description, other: Description, at: str, xyz: Any = (0, 0, 0), rpy: Any = (0, 0, 0), prefix: str = ""
) -> Description:
    """Another robot's root welded to a link or frame, at (xyz [m], rpy [rad]) there: a gripper on an arm.

    ``prefix`` goes before every name of the other robot.  Base and gravity are those of the first.  Named configurations of
    the same name become one.  Meshes with relative paths stay beside the file that the other robot was read from.
    """
    link, X = link_and_pose(d, at)
    theirs = rename(other, {name: prefix + name for name in names_of(other)}) if prefix else other
    mine, added = own_terms(d), with_prefix(ground_terms(replace(theirs, terms=own_terms(theirs))), prefix)
    for kind, old, new in (
        ("link or frame", _places(d), _places(theirs)),
        ("joint", [j.name for j in d.edges], [j.name for j in theirs.edges]),
        ("rotor", [r.name for r in d.rotors], [r.name for r in theirs.rotors]),
        ("term", [t.name for t in mine], [t.name for t in added]),
        ("sensor", [name for name, _ in d.sensors], [prefix + name for name, _ in theirs.sensors]),
    ):
        clash = [name for name in new if name in set(old)]
        if clash:
            shown = ", ".join(map(repr, clash[:5])) + (", ..." if len(clash) > 5 else "")
            raise ModelError(f"both robots have a {kind} named {shown}; distinguish them with attach(..., prefix='...')")
    weld = f"attach_{theirs.root}"
    mount = Joint(weld, Fixed(), link, theirs.root, snap_rounding(read.pose(xyz, rpy, "attach") @ X))
    named = keep_joints(theirs.configurations, [j.name for j in theirs.joints])
    note = f"attached {other.name!r} to {at!r}" + (f" with prefix {prefix!r}" if prefix else "")
    if other.floats:
        note += "; its floating base is welded"
    return replace(d, report=(*d.report, *(f"{other.name}: {line}" for line in other.report))).with_note(
        note,
        links=(*d.links, *(_with_source(link, other.source) if other.source != d.source else link for link in theirs.links)),
        joints=(*d.joints, mount, *theirs.joints),
        frames=(*d.frames, *theirs.frames),
        loops=(*d.loops, *ground_loops(theirs)),
        rotors=(*d.rotors, *theirs.rotors),
        configurations=merge(d.configurations, [replace(c, name=prefix + c.name) for c in named]),
        forces=(*d.forces, *theirs.forces),
        sensors=(*d.sensors, *((prefix + name, sensor) for name, sensor in theirs.sensors)),
        terms=(*mine, *added),
        actuated=None if d.actuated is theirs.actuated is None else (*_drives(d), *_drives(theirs)),
    )


def _drives(d: Description) -> tuple[str, ...]:
    """The joints with a drive; all, unless said otherwise."""
    return tuple(j.name for j in d.complete.joints) if d.actuated is None else d.actuated


def _with_source(link: Link, source: str) -> Link:
    """The link with the file that the paths of its meshes are relative to."""
    return replace(link, geometry=tuple(replace(g, source=g.source or source) for g in link.geometry))


def refuse_inertia_of_beam(d: Description, link: str) -> None:
    """A beam takes the place of its link's inertia, so a change of that would be without effect."""
    if link in [getattr(term, place) for term in d.terms if term.kind == "beam" for place in term.places]:
        raise ModelError(
            f"link {link!r} is a beam, whose mass is along it; give the mass to a link that the beam carries, or another beam "
            "to the robot (robot.with_beams)"
        )


def payload(d: Description, at: str, mass: Any, com: Any = (0, 0, 0), inertia: Any = None) -> Description:
    """A body held at a link or frame: mass [kg], centre [m] in that frame, inertia [kg·m²] about the centre in its axes.

    >>> from torsor import robots
    >>> d = payload(robots.description("two_link"), "tip", mass=0.5)
    >>> d.link("link2").inertia.m
    1.5
    """
    link, X = link_and_pose(d, at)
    refuse_inertia_of_beam(d, link)
    body = X.T @ read.mass_properties(mass, com, inertia, (0, 0, 0), "payload")
    return d.with_note(
        f"added a payload of {mass} kg at {at!r}",
        links=tuple(replace(x, inertia=x.inertia + body) if x.name == link else x for x in d.links),
    )


def rebase(d: Description, link: str) -> Description:
    """The same mechanism with another link as its root: joints on the way there change sides, q and v keep their meaning.

    Link frames stay where they are on their links, so poses between links are as before.  With a floating base,
    q and v now start with this link's pose and twist; with a fixed base this link stands still, with axes along the
    world's.  Joints are numbered from the new root on: find them by name.
    """
    require_known("link", link, [x.name for x in d.links])
    mover = {j.child: j for j in d.joints}
    path, at = {}, link
    while at in mover:
        path[mover[at].name] = mover[at]
        at = mover[at].parent
    if not path:
        return d
    between = {link, *(j.parent for j in path.values())}
    for r in d.rotors:
        at = next(j.parent for j in d.joints if j.name == r.joint)
        while at != r.link and at not in between:
            at = mover[at].parent
        if r.joint in path or at != r.link:
            raise ModelError(
                f"rebase to link {link!r}: seen from there, rotor {r.name!r} on link {r.link!r} is no longer before joint "
                f"{r.joint!r}, which it drives; drop it first: with_rotors({{{r.joint!r}: None}})"
            )
    links, joints, taken = list(d.links), list[Joint](), set(_places(d))
    for j in d.joints:
        if j.name not in path:
            joints.append(j)
            continue
        # X = X_J O from parent to child, so O⁻¹ X_J⁻¹ from child to parent: reversed joint first, then the parent's place
        name, home = unused_name(f"{j.name}_axis", taken), Transform.identity()
        extra, turned = move_axis_to_frame(
            j.name, reverse(j.kind), j.child, j.parent, home, j.origin.inverse, between=name, **joint_fields(j)
        )
        links += extra
        joints += turned
    note = f"moved the base from {d.root!r} to {link!r}, reversing {', '.join(path)}"
    named = keep_joints(d.configurations, {j.name for j in joints})
    if all(j.name != FLOATING_BASE for j in joints) and any(FLOATING_BASE in dict(c.values) for c in d.configurations):
        note += "; named configurations lose the pose of the base" + note_of_losses(d.configurations, named)
    sensors, crossed = without_crossed_sensors(d, joints)
    return d.with_note(
        "; ".join([note, *crossed]),
        links=tuple(links),
        joints=tuple(joints),
        loops=ground_loops(d),
        terms=ground_terms(d),
        configurations=named,
        sensors=sensors,
    )


def with_base(d: Description, base: str) -> Description:
    """The robot with its root fixed to the world, or floating in it: ``BASES`` has the words."""
    if base == d.base:
        return d
    if base != "fixed" and any(j.name == FLOATING_BASE for j in d.edges):
        raise ModelError(f"a joint is named {FLOATING_BASE!r} already, the name of a floating base's own joint")
    return d.with_note(f"base: {d.base} → {base}", base=base)


def with_gravity(d: Description, gravity: Any) -> Description:
    """The robot under another gravity [m/s²], in world axes."""
    g = read.vector(gravity, "gravity")
    return d.with_note(f"gravity: {tuple(d.gravity)} → {tuple(g)}", gravity=g)


def without_couplings(d: Description) -> Description:
    """The robot with independent joints in place of mimic joints, each with its own coordinate."""
    freed = [j.name for j in d.joints if j.mimic is not None]
    if not freed:
        return d
    return d.with_note(
        f"no longer coupled: {', '.join(freed)}",
        joints=tuple(replace(j, mimic=None) for j in d.joints),
        configurations=with_freed_joints(d, freed),
    )


def own_terms(d: Description) -> tuple[Term, ...]:
    """The terms of a robot that becomes a part of another: damping of all joints is that of its own."""
    moving = tuple(j.name for j in d.complete.joints if j.kind.nv)
    return tuple(replace(t, joints=moving) if isinstance(t, Damping) and t.joints is None else t for t in d.terms)


def ground_terms(d: Description) -> tuple[Term, ...]:
    """The terms with the root in place of the world, where the base is fixed and the two are one."""
    return rename_places(d.terms, lambda name: ground(d).get(name, name))


def link_and_pose(d: Description, name: str) -> tuple[str, Transform]:
    """The link that carries a link or frame, and the transform from that link's frame to it."""
    if any(link.name == name for link in d.links):
        return name, Transform.identity()
    for f in d.frames:
        if f.name == name:
            return f.link, f.origin
    raise UnknownName("link or frame", name, _places(d))


def _places(d: Description) -> list[str]:
    """The names of links and frames, which share one namespace."""
    return [*(link.name for link in d.links), *(f.name for f in d.frames)]
