"""Composite joints as several joints with massless links between, for formats that have no word for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from torsor.model.description import Description, Joint, Link
from torsor.model.joints import Composite, JointType
from torsor.model.spanning import joint_fields
from torsor.spatial import Transform
from torsor.support.text import unused_name


def split_composites(d: Description) -> Description:
    """The same motion and coordinates without composite joints: ``name_1``, ``name_2``, ... in place of ``name``.

    A composite joint with one part that moves keeps its name.
    """
    if not any(isinstance(j.kind, Composite) for j in d.joints):
        return d
    taken = {x.name for x in (*d.links, *d.frames, *d.edges)}
    links, joints = list(d.links), list[Joint]()
    names: dict[str, list[tuple[str, int]]] = {}  # of each joint's parts, and their numbers of coordinates
    for j in d.joints:
        parts = list(composite_parts(j))
        parent, origin = j.parent, j.origin
        for n, part in enumerate(parts, start=1):
            last = n == len(parts)
            name = j.name if len(parts) == 1 else unused_name(f"{j.name}_{n}", taken)
            child = j.child if last else unused_name(f"{name}_link", taken)
            links += [] if last else [Link(child)]
            names.setdefault(j.name, []).append((name, part.kind.nq))
            joints.append(replace(part, name=name, parent=parent, child=child, origin=origin))
            parent, origin = child, Transform.identity()
    named = tuple(
        replace(c, values=tuple(row for joint, x in c.values for row in _split(names.get(joint, [(joint, len(x))]), x)))
        for c in d.configurations
    )
    after = {j.name: j.child for j in d.joints if len(names.get(j.name, ())) > 1}  # a cut at a joint is at the link behind it
    sensors = tuple((name, replace(s, at=after.get(s.at, s.at)) if s.reads == "cut" else s) for name, s in d.sensors)
    lost = [name for name, s in sensors if s.reads == "joint" and s.at in after]
    kept = tuple((name, s) for name, s in sensors if name not in lost)
    return replace(d, links=tuple(links), joints=tuple(joints), configurations=named, sensors=kept)


def _split(parts: Sequence[tuple[str, int]], x: Sequence[float]) -> Iterator[tuple[str, tuple[float, ...]]]:
    """The coordinates of a joint by the names of its parts."""
    start = 0
    for name, size in parts:
        yield name, tuple(x[start : start + size])
        start += size


def is_composite(j: Joint) -> bool:
    """Whether a joint is written as several."""
    return len(list(composite_parts(j))) > 1


def composite_parts(j: Joint) -> Iterator[Joint]:
    """The moving parts of a composite joint, each with its limits and losses; another joint is its own only part."""
    if not isinstance(j.kind, Composite):
        yield j
        return
    q = v = 0
    for kind in j.kind.joints:
        if kind.nv:
            yield from composite_parts(part_of(j, kind, range(q, q + kind.nq), range(v, v + kind.nv)))
        q, v = q + kind.nq, v + kind.nv


def part_of(j: Joint, kind: JointType, q: Sequence[int], v: Sequence[int]) -> Joint:
    """A joint with some of another's coordinates: those entries of its limits and losses."""
    fields: dict[str, Any] = joint_fields(j)
    for word, values in fields.items():
        if word not in ("mimic", "actuator"):
            fields[word] = tuple(values[k] for k in (q if word in ("lower", "upper") else v)) if values else ()
    return replace(j, kind=kind, **fields)
