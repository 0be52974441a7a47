"""Other numbers in a description: masses, limits, armature, damping, frames.  Every function returns a new Description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from torsor.errors import ArgumentError, ModelError, require_known
from torsor.model.description import FLOATING_BASE, Description, Joint, NamedFrame, find
from torsor.model.joints import Continuous
from torsor.model.model import Model
from torsor.model.physical import warn_or_refuse
from torsor.model.seat import snap_rounding
from torsor.model.surgery import link_and_pose, refuse_inertia_of_beam
from torsor.spatial import Inertia
from torsor.spatial import arguments as read
from torsor.spatial.rigid.physical import inertia_problems


def with_link(d: Description, name: str, mass: Any, com: Any, inertia: Any) -> Description:
    """Another mass [kg], centre of mass [m] or inertia about it [kg·m²] of a link, in its frame; None keeps the old one.

    >>> from torsor import robots
    >>> with_link(robots.description("two_link"), "link2", 3.0, None, None).link("link2").inertia.m
    3.0
    """
    given = {"mass": mass, "com": com, "inertia": inertia}
    words = [word for word, x in given.items() if x is not None]
    if not words:
        raise ArgumentError(f"with_link: link {name!r}: give mass=, com= or inertia=")
    G = d.link(name).inertia
    old = {"mass": G.m, "com": G.com, "inertia": G.about_com}
    m, c, I = (old[word] if x is None else x for word, x in given.items())
    made = read.mass_properties(m, c, I, (0, 0, 0), f"with_link: link {name!r}")
    return _with_inertias(d, {name: made}, f"link {name!r}: other {' and '.join(words)}")


def with_body_inertias(d: Description, model: Model, inertias: Sequence[Inertia]) -> Description:
    """Other inertias of the moving bodies, each in the frame of its joint's child link, in the order of the joints.

    The child link gets the change; links welded to it and rotors on it keep theirs.  Where the rest would not be an inertia
    that a body can have, the child link gets the whole, and the links welded to it none.
    """
    child = {j.name: j.child for j in d.complete.joints} | {FLOATING_BASE: d.root}
    links, changed = {link.name: link.inertia for link in d.complete.links}, dict[str, Inertia]()
    for (i, _), G in zip(model.outward(), inertias, strict=True):
        name = child[model.joint_names[i]]
        to_link = model.frames[name].X.inverse.T
        now, welded = to_link @ model.inertia[i], [x for x in links if model.frames[x].body == i and x != name]
        if now == G:
            continue
        if now == links[name]:
            changed[name] = G
            continue
        changed[name] = links[name] + (G - now)
        if _is_impossible(changed[name]):
            for other in welded:
                changed[name] = changed[name] + to_link @ (model.frames[other].X.T @ links[other])
                changed[other] = Inertia.zero()
    return _with_inertias(d, changed, f"other inertial parameters: {', '.join(changed)}") if changed else d


def _is_impossible(G: Inertia) -> bool:
    return (read.is_number(G.m) and G.m < 0) or bool(inertia_problems(G))


def _with_inertias(d: Description, inertias: Mapping[str, Inertia], note: str) -> Description:
    """Other inertias of links, as given, also if no body has them: then with a warning."""
    written = {x.name for x in d.links}
    for name in inertias:
        refuse_inertia_of_beam(d, name)
        if name not in written:
            raise ModelError(f"{name!r} belongs to a term of robot {d.name!r}, which gives its inertia; change the term")
    links = tuple(replace(x, inertia=inertias.get(x.name, x.inertia)) for x in d.links)
    made = d.with_note(note, links=links)
    warn_or_refuse(made, only=inertias)
    return made


def with_limits(d: Description, name: str, given: Mapping[str, Any]) -> Description:
    """Other limits of a joint: lower, upper [rad, m], velocity_limit [rad/s, m/s], effort_limit [N·m, N]; None keeps one.

    >>> from torsor import robots
    >>> with_limits(robots.description("two_link"), "joint2", {"lower": -1, "upper": 2}).joints[1].lower
    (-1.0,)
    """
    j, changes = moving_joint(d, name), dict[str, tuple[float, ...]]()
    for word, x in given.items():
        size = j.kind.nq if word in ("lower", "upper") else j.kind.nv
        values = tuple(float(y) for y in read.per_coordinate(x, size, f"with_limits: joint {name!r}: {word}"))
        if not values:
            continue
        if word in ("lower", "upper") and isinstance(j.kind, Continuous):
            raise ModelError(f"joint {name!r} is continuous and has no {word}; use with_joint_type({name!r}, 'revolute') first")
        if word not in ("lower", "upper") and min(values) < 0:
            raise ModelError(f"with_limits: joint {name!r}: {word} {min(values)} is negative")
        changes[word] = values
    if not changes:
        raise ArgumentError(f"with_limits: joint {name!r}: give {', '.join(f'{word}=' for word in given)}")
    note = f"joint {name!r}: other {' and '.join(changes)}"
    return d.with_joint_fields({name: changes}, note)


def with_joint_constants(d: Description, word: str, given: Mapping[str, Any]) -> Description:
    """Another ``armature`` [kg·m², kg] or ``damping`` [N·m·s/rad, N·s/m] of the named joints; None for none.

    >>> from torsor import robots
    >>> with_joint_constants(robots.description("two_link"), "armature", {"joint2": 0.5}).joints[1].armature
    (0.5,)
    """
    if not isinstance(given, Mapping):
        raise ArgumentError(f'with_{word} takes a dict, {{"elbow": 0.1}}, not {given!r}')
    rows = dict[str, Any]()
    for name, x in given.items():
        nv = moving_joint(d, name).kind.nv
        rows[name] = {word: read.per_coordinate(x, nv, f"with_{word}: joint {name!r}: {word}", number=False)}
    return d.with_joint_fields(rows, f"other {word}: {', '.join(rows)}") if rows else d


def with_frame(d: Description, name: str, at: str | None, xyz: Any, rpy: Any) -> Description:
    """A named frame at (xyz [m], rpy [rad]) in a link or frame, in place of one of that name; ``at=None`` removes it."""
    kept = tuple(f for f in d.frames if f.name != name)
    if at is None:
        require_known("frame", name, [f.name for f in d.frames])
        return d.with_note(f"removed frame {name!r}", frames=kept)
    if not isinstance(name, str):
        raise ArgumentError(f"with_frame: the name must be text, not {name!r}")
    link, X = link_and_pose(d, at)
    origin = snap_rounding(read.pose(xyz, rpy, f"with_frame: frame {name!r}") @ X)
    return d.with_note(f"frame {name!r} at {at!r}", frames=(*kept, NamedFrame(name, link, origin)))


def moving_joint(d: Description, name: str) -> Joint:
    """The joint of that name that has a degree of freedom."""
    return find("moving joint", name, [j for j in d.complete.joints if j.kind.nv])
