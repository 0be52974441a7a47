"""Drawing of closed loops: the joint that was cut, once on each of the two links it joins (F&O §3.4).

Where the loop is closed the two markers meet; where it is open, the line between them shows the closure error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from torsor.look.scene.shapes import pose
from torsor.look.scene.triangles import Color, Triangles, sphere
from torsor.model.description import Description
from torsor.support.user_arrays import Array

LOOP: Color = (0.70, 0.22, 0.45, 1.0)
#: radius of a marker, of the robot's size
MARKER = 0.018


def markers(d: Description, size: float) -> Iterator[tuple[str, Triangles]]:
    """(link, surface): a ball at each end of every cut joint; no ball for an end in the world."""
    links = {link.name for link in d.links}
    for loop in d.loops:
        for link, X in ((loop.parent, loop.origin), (loop.child, loop.child_origin)):
            if link in links:
                yield link, sphere(MARKER * size).transform(np.eye(3), pose(X)[1]).with_color(LOOP)


def ends(d: Description, links: Sequence[str], poses: Array) -> Array:
    """``(..., loops, 2, 3)``: positions of the two ends of every cut joint in the world [m]; ``poses`` from ``Scene.poses``."""
    out = np.zeros((*poses.shape[:-2], len(d.loops), 2, 3))
    for k, loop in enumerate(d.loops):
        for end, (link, X) in enumerate(((loop.parent, loop.origin), (loop.child, loop.child_origin))):
            p = pose(X)[1]
            out[..., k, end, :] = transform_points(poses[..., links.index(link), :], p) if link in links else p
    return out


def transform_points(place: Array, p: Array) -> Array:
    """R p + x for ``(..., 7)`` position x and quaternion: p + 2w (u × p) + 2u × (u × p) for the quaternion (u, w)."""
    x, u, w = place[..., :3], place[..., 3:6], place[..., 6:]
    return x + p + 2 * np.cross(u, w * p + np.cross(u, p))
