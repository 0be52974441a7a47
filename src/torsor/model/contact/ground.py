"""The contacts of a robot with the ground, from the collision shapes of its file."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from torsor.errors import ArgumentError, ModelWarning, require_known
from torsor.model.contact.feet import feet_of
from torsor.model.contact.shapes import Placed, Shape, corners, moved, plane, rim, sphere, surfaces_of
from torsor.model.contact.surfaces import Box, Plane, Rounded
from torsor.model.description import Description, Geometry
from torsor.model.model import Model
from torsor.model.physical import callers_level
from torsor.model.touching import Touching
from torsor.spatial import Transform, Vec
from torsor.support.text import count

#: every link, in place of a list of some
ALL = "all"
#: points of a robot from which on its steps are slow
MANY = 64
#: μ where neither the call nor the file gives one
FRICTION = 0.8
#: a floor that the file does not have: the friction of each shape counts
_FLOOR = Touching(0.0, priority=-(2**63))


class Ground(NamedTuple):
    """The pairs of shapes and surfaces by their friction, and what is said about them in the report."""

    pairs: dict[float, list[tuple[Shape, Placed]]]
    notes: tuple[str, ...]


def ground_of(d: Description, model: Model, friction: float | None, surface: Any, frames: Iterable[str] | None) -> Ground:
    """The contacts of the collision shapes of the feet, or of other links, with a surface or those of the file."""
    links = _links(d, model, frames)
    floors = [(s, _FLOOR) for s in surfaces_of(surface)] if surface is not None else _floors(d) or [(plane(), _FLOOR)]
    pairs: dict[float, list[tuple[Shape, Placed]]] = {}
    taken: dict[str, int] = {}
    left_out: dict[str, dict[str, None]] = {}
    for name in links:
        for g in d.link(name).geometry:
            if g.role != "collision":
                continue
            if g.shape not in _SHAPES:
                left_out.setdefault(g.shape, {})[name] = None
                continue
            own = g.touching or Touching(FRICTION)
            shapes = [moved(s, _to_link(g.origin)) for s in _SHAPES[g.shape](name, g.size)]
            met = [(floor, numbers) for floor, numbers in floors if own.meets(numbers)]
            for floor, numbers in met:
                mu = own.friction_with(numbers) if friction is None else friction
                pairs.setdefault(mu, []).extend((shape, floor) for shape in shapes)
            if met:
                taken[name] = taken.get(name, 0) + len(shapes)
            else:
                left_out.setdefault(f"{g.shape} that the file keeps off the ground", {})[name] = None
    lost = tuple(f"ground: NOT in contact, {kind} of {', '.join(at)}" for kind, at in left_out.items())
    if not pairs:
        raise ArgumentError(
            f"with_ground: {d.name} has no collision shape that can touch the ground{_reason(left_out)}; spheres, "
            "capsules, boxes and cylinders can: robot.with_contacts(ts.contacts.sphere(...), ts.contacts.plane(), ...) adds one"
        )
    if frames is not None and frames != ALL and (bare := [name for name in links if name not in taken]):
        raise ArgumentError(
            f"with_ground: {bare[0]!r} has no collision shape that can touch the ground{_reason(left_out)}; omit it, or add a "
            "shape with robot.with_contacts"
        )
    if (n := sum(taken.values())) > MANY:
        warnings.warn(
            f"with_ground: {d.name} has {n} contact shapes, of {len(taken)} links, which is slow; frames=[...] selects links",
            ModelWarning, stacklevel=callers_level(),
        )  # fmt: skip
    listed = ", ".join(f"{name} ({count(n, 'shape')})" for name, n in taken.items())
    return Ground(pairs, (f"ground: contacts of {listed}", *lost))


def _links(d: Description, model: Model, frames: Iterable[str] | None) -> list[str]:
    """The links to take: some, the feet, or all that a joint moves."""
    if isinstance(frames, str) and frames != ALL:
        raise ArgumentError(f"with_ground: frames is a list of links or 'all', not {frames!r}; for one link give [{frames!r}]")
    if frames is None or isinstance(frames, str):
        feet = feet_of(d) if frames is None else []
        return feet or [link.name for link in d.links if model.moves(model.frame(link.name)[0])]
    names = list(dict.fromkeys(frames))
    if not names:
        raise ArgumentError("with_ground: frames is empty; omit it for all links")
    for name in names:
        require_known("link", name, [link.name for link in d.links])
        if not model.moves(model.frame(name)[0]):
            raise ArgumentError(f"with_ground: nothing moves {name!r}, so it needs no contact with the ground")
    return names


def _floors(d: Description) -> list[tuple[Placed, Touching]]:
    """The surfaces of the file's world, and a warning about its other shapes."""
    if lost := [f"{g.name or 'a shape'} ({g.shape})" for g in d.ground if g.shape not in _SURFACES]:
        warnings.warn(
            f"with_ground: not taken as ground: {', '.join(lost[:8])}; give what the robot stands on as surface=, heights by "
            "ts.contacts.grid",
            ModelWarning, stacklevel=callers_level(),
        )  # fmt: skip
    return [(Placed(_SURFACES[g.shape](g)), g.touching or _FLOOR) for g in d.ground if g.shape in _SURFACES]


def _reason(left_out: dict[str, dict[str, None]]) -> str:
    """The shapes that are not taken."""
    listed = {kind: ", ".join([*at][:8]) + (", ..." if len(at) > 8 else "") for kind, at in left_out.items()}
    return "".join(f"; not taken: {kind} of {links}" for kind, links in listed.items())


def _to_link(X: Transform) -> Callable[[Vec], Vec]:
    """From the axes of a shape to those of its link."""
    R, p = X.pose
    return lambda x: R @ x + p


def _ends(length: float) -> tuple[Vec, Vec]:
    """The ends of a shape along z."""
    return Vec(0, 0, -length / 2), Vec(0, 0, length / 2)


def _capsule(name: str, size: Sequence[float]) -> list[Shape]:
    radius, length = size
    return [Shape(name, *_ends(length), radius)]


def _cylinder(name: str, size: Sequence[float]) -> list[Shape]:
    radius, length = size
    return [s for end in _ends(length) for s in rim(name, radius, at=end)]


#: shapes that can touch the ground: the contacts of one in its own axes
_SHAPES: dict[str, Callable[[str, Sequence[float]], list[Shape]]] = {
    "sphere": lambda name, size: [sphere(name, size[0])],
    "capsule": _capsule,
    "box": lambda name, size: list(corners(name, size)),
    "cylinder": _cylinder,
}


def _level(g: Geometry) -> Plane:
    R, p = g.origin.pose
    return Plane(Vec(R.x.z, R.y.z, R.z.z), p)


def _rounded(g: Geometry) -> Rounded:
    radius, length = (*g.size, 0.0)[:2]
    start, end = map(_to_link(g.origin), _ends(length))
    return Rounded(start, end, radius)


#: shapes of the world that are ground
_SURFACES: dict[str, Callable[[Geometry], Any]] = {
    "plane": _level,
    "box": lambda g: Box(Vec(*g.size) * 0.5, g.origin),
    "sphere": _rounded,
    "capsule": _rounded,
}
