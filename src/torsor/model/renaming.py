"""New names for links, frames, joints, loops and rotors, and for everything that refers to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from torsor.errors import ArgumentError, ModelError, require_known
from torsor.model.description import WORLD, Description, Joint, Loop
from torsor.model.terms.attaching import rename_places


def names_of(d: Description) -> list[str]:
    """All names in a robot: links and frames, joints and loops, rotors; one of each may share a name."""
    parts = (d.links, d.frames, d.edges, d.rotors)
    return list(dict.fromkeys(part.name for row in parts for part in row))


def rename(d: Description, names: Mapping[str, str]) -> Description:
    """The robot with new names, ``{"old": "new"}``, all at once: two may be exchanged.

    >>> from torsor import robots
    >>> d = rename(robots.description("two_link"), {"joint2": "elbow", "link2": "forearm"})
    >>> d.joints[1].name, d.joints[1].child
    ('elbow', 'forearm')
    """
    if not isinstance(names, Mapping):
        raise ArgumentError(f"rename takes a dict of old and new names, not {type(names).__name__}")
    known = dict.fromkeys(names_of(d))
    for old, text in names.items():
        require_known("link, frame, joint, loop or rotor", old, known)
        if not isinstance(text, str) or not text:
            raise ModelError(f"rename: the new name of {old!r} must be a text that is not empty, not {text!r}")
    links = {link.name for link in d.links}
    grounded = WORLD not in links and any(WORLD in (loop.parent, loop.child) for loop in d.loops)
    if grounded and WORLD in (names.get(link, link) for link in links):
        raise ModelError(f"rename: a link named {WORLD!r} would take the place of the fixed frame that a loop is held to")

    springs = zip(d.terms, rename_places(d.terms, lambda name: names.get(name, name)), strict=True)
    motors = {old: text for a, b in springs for old, text in zip(a.added, b.added, strict=True)}

    def new(name: str) -> str:
        return names.get(name, motors.get(name, name))

    moving = {j.name for j in d.joints}  # a floating base keeps its name, also where a link has the same

    def joint(j: Joint) -> Joint:
        mimic = None if j.mimic is None else replace(j.mimic, joint=new(j.mimic.joint))
        return replace(j, name=new(j.name), parent=new(j.parent), child=new(j.child), mimic=mimic)

    def loop(x: Loop) -> Loop:  # the world keeps its name, unless a link has it
        parent, child = (new(end) if end in links else end for end in (x.parent, x.child))
        return replace(x, name=new(x.name), parent=parent, child=child)

    return replace(
        d,
        links=tuple(replace(x, name=new(x.name)) for x in d.links),
        joints=tuple(joint(j) for j in d.joints),
        frames=tuple(replace(f, name=new(f.name), link=new(f.link)) for f in d.frames),
        loops=tuple(loop(x) for x in d.loops),
        rotors=tuple(replace(r, name=new(r.name), joint=new(r.joint), link=new(r.link)) for r in d.rotors),
        configurations=tuple(
            replace(c, values=tuple((new(j) if j in moving else j, x) for j, x in c.values)) for c in d.configurations
        ),
        forces=tuple((new(at), element) for at, element in d.forces),
        sensors=tuple((name, replace(s, at=new(s.at))) for name, s in d.sensors),
        terms=rename_places(d.terms, new),
        actuated=None if d.actuated is None else tuple(map(new, d.actuated)),
        report=(*d.report, "renamed " + ", ".join(f"{old} → {text}" for old, text in names.items())) if names else d.report,
    )
