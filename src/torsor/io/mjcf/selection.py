"""Selection of the bodies of a compiled model that form the robot, their names, and whether the base floats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torsor.errors import UnknownName
from torsor.io.mjcf.poses import pose
from torsor.io.shared.notes import Notes
from torsor.model.description import WORLD
from torsor.spatial import Transform
from torsor.support.text import unused_name

#: MuJoCo's mjtJoint
FREE, BALL, SLIDE, HINGE = range(4)
#: MuJoCo's mjtObj, for objects looked up by name here
BODY, JOINT, GEOM, SITE, MESH, EQUALITY, TENDON, SENSOR, TEXT = 1, 3, 5, 6, 10, 17, 18, 20, 22


@dataclass
class Selection:
    """The part of a compiled model ``m`` that is read, and the names given out so far."""

    m: Any
    kept: tuple[int, ...]
    links: dict[int, str]
    joints: dict[int, str]
    floating: int | None  # the body whose free joint is the floating base
    notes: Notes
    taken_links: set[str] = field(default_factory=set)
    taken_joints: set[str] = field(default_factory=set)
    sliders: dict[int, list[str]] = field(default_factory=dict)  # of a free joint that is read as sliders and a ball
    sites: dict[int, str] = field(default_factory=dict)  # frames of the sites that are read
    excluded: frozenset[int] = frozenset()  # bodies that <exclude> keeps from touching the world
    not_held: dict[str, list[str]] = field(default_factory=dict)  # constraints that are not read, by kind

    def leave_out(self, what: str, name: str) -> None:
        """A constraint on the motion that is not read."""
        self.not_held.setdefault(what, []).append(name)

    def end(self, body: int, X: Transform) -> tuple[str, Transform]:
        """A frame on a body as a frame on a link: a fixed body that is not read counts as the world."""
        while body not in self.links and body != 0:
            X = X @ pose(self.m.body_pos[body], self.m.body_quat[body])
            body = int(self.m.body_parentid[body])
        return self.links.get(body, WORLD), X


def select(m: Any, body: str | None, notes: Notes) -> Selection:
    """All bodies, or a named one with its descendants and ancestors."""
    names = _names(m, BODY, {i: f"body{i}" for i in range(m.nbody)}, "body", notes)
    kept = tuple(range(m.nbody)) if body is None else _subtree(m, body, names)
    if len(kept) < m.nbody:
        notes.note("bodies omitted (body=)", f"{m.nbody - len(kept)}")
    floating = _floating(m, kept)
    standing = [i for i in kept if not _moves(m, i)]
    if floating is not None:
        kept = tuple(i for i in kept if _moves(m, i))
        for i in standing[1:]:
            notes.note("the base is floating, so a fixed body is omitted", names[i])
    elif _world_is_empty(m, kept):
        kept = kept[1:]
    links, nameless = {i: names[i] for i in kept}, dict[int, str]()
    for i, link in links.items():  # body_joint, or body_joint1, body_joint2, ...
        ids = joints_of(m, i)
        nameless |= {k: f"{link}_joint{n if len(ids) > 1 else ''}" for n, k in enumerate(ids, start=1)}
    called = _names(m, JOINT, nameless, "joint", notes)
    pairs = [divmod(int(s), 1 << 16) for s in m.exclude_signature]
    excluded = frozenset(a + b for a, b in pairs if 0 in (a, b))
    return Selection(m, kept, links, called, floating, notes, set(links.values()), set(called.values()), excluded=excluded)


def joints_of(m: Any, body: int) -> range:
    first, count = int(m.body_jntadr[body]), int(m.body_jntnum[body])
    return range(first, first + count) if count else range(0)


def _subtree(m: Any, body: str, names: dict[int, str]) -> tuple[int, ...]:
    top = next((i for i, name in names.items() if name == body), None)
    if top is None:
        raise UnknownName("body", body, names.values())
    above, at = {0}, top
    while at:
        above.add(at)
        at = int(m.body_parentid[at])
    below = {top}
    for i in range(top + 1, m.nbody):  # parents come before their children
        if int(m.body_parentid[i]) in below:
            below.add(i)
    return tuple(sorted(above | below))


def _moves(m: Any, body: int) -> bool:
    return int(m.body_weldid[body]) != 0 and int(m.body_mocapid[m.body_weldid[body]]) < 0


def _floating(m: Any, kept: Iterable[int]) -> int | None:
    """The one free body that is the root of all moving bodies, if it has only its free joint."""
    moving = [i for i in kept if _moves(m, i)]
    if not moving or any(m.body_rootid[i] != m.body_rootid[moving[0]] for i in moving):
        return None
    root = moving[0]
    joints = joints_of(m, root)
    if not joints or m.jnt_type[joints[0]] != FREE or has_world_losses(m, joints[0]) or m.dof_damping[m.jnt_dofadr[joints[0]]]:
        return None
    return root


def has_world_losses(m: Any, k: int) -> bool:
    """Whether a free joint has an armature or dry friction, which act along the world's axes."""
    at = m.jnt_dofadr[k]
    return bool(m.dof_armature[at] or m.dof_frictionloss[at])


def _world_is_empty(m: Any, kept: tuple[int, ...]) -> bool:
    """Whether the world only holds one welded body: then that body is the root."""
    below = [i for i in kept if i and m.body_parentid[i] == 0]
    if len(below) != 1 or any(m.geom_bodyid == 0) or any(m.site_bodyid == 0):
        return False
    (i,) = below
    still = not joints_of(m, i) and m.body_mocapid[i] < 0
    return bool(still and not any(m.body_pos[i]) and all(m.body_quat[i] == (1, 0, 0, 0)))


# -- names ---------------------------------------------------------------------------------------------------------------


def name_of(m: Any, kind: int, k: int) -> str:
    """The name given in the file, or ""."""
    from mujoco import mj_id2name

    return mj_id2name(m, kind, int(k)) or ""


def _names(m: Any, kind: int, nameless: Mapping[int, str], word: str, notes: Notes) -> dict[int, str]:
    """Names in the file; ``nameless`` has those of objects without one, to which underscores are added if they are taken."""
    given = {k: name_of(m, kind, k) for k in nameless}
    taken = set(given.values())
    for k, name in given.items():
        if not name:
            given[k] = unused_name(nameless[k], taken)
            notes.note(f"{word} without a name, named", given[k])
    return given
