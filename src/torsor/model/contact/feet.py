"""The feet of a robot with a floating base."""

from __future__ import annotations

from torsor.model.description import EARTH, Description
from torsor.spatial import Transform

#: branches of the tree that end within this share of the robot's height from its lowest link end in feet
FOOT_HEIGHT = 0.1


def feet_of(d: Description) -> list[str]:
    """The last links with collision shapes on the branches that end lowest, where all joints are at zero.

    None for a fixed base, and for shapes that do not move against the base.

    >>> from torsor import robots
    >>> feet_of(robots.description("quadruped"))
    ['FL_FOOT', 'FR_FOOT', 'HL_FOOT', 'HR_FOOT']
    """
    if not d.floats:
        return []
    depth, down, welded = {d.root: 0.0}, d.gravity if any(d.gravity) else EARTH, {d.root}
    X = {d.root: Transform.identity()}
    shaped = {link.name for link in d.links if any(g.role == "collision" for g in link.geometry)}
    for j in d.outward(d.root):
        X[j.child] = j.origin @ X[j.parent]
        depth[j.child] = float(X[j.child].r.dot(down))
        if j.kind.nv == 0 and j.parent in welded:
            welded.add(j.child)
    lowest, highest = max(depth.values()), min(depth.values())
    least = lowest - FOOT_HEIGHT * (lowest - highest)
    below = {name: d.descendants(name) for name in shaped - welded}
    last = {name for name, links in below.items() if shaped & links == {name} and max(depth[link] for link in links) >= least}
    return [link.name for link in d.links if link.name in last]
