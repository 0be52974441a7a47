"""A robot without meshes: bones between its joints, a symbol for each joint and frame, an ellipsoid for each inertia."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from torsor.look.scene.shapes import pose
from torsor.look.scene.triangles import Color, Triangles, along, bone, box, cylinder, sphere
from torsor.model.description import Description, Joint
from torsor.model.joints import Fixed, Prismatic
from torsor.spatial import Inertia
from torsor.support.user_arrays import Array

BONE: Color = (0.36, 0.42, 0.50, 1.0)
JOINT: Color = (0.90, 0.49, 0.13, 1.0)
TIP: Color = (0.00, 0.62, 0.45, 1.0)
MASS: Color = (0.20, 0.47, 0.75, 0.35)
#: of the robot's size: thickness of a bone, half length of a joint's symbol, radius of a frame's ball and of a point mass
THICKNESS, SYMBOL, FRAME, POINT = 0.018, 0.03, 0.017, 0.02


def bones(d: Description, size: float) -> Iterator[tuple[str, Triangles]]:
    """(link, surface): from the link's own joint to its child joints, loops and frames; else to its centre of mass."""
    ends: dict[str, list[Array]] = {link.name: [] for link in d.links}
    for j in d.joints:
        ends[j.parent].append(pose(j.origin)[1])
    for loop in d.loops:
        for name, X in ((loop.parent, loop.origin), (loop.child, loop.child_origin)):
            ends.get(name, []).append(pose(X)[1])  # an end in the world has no bone
    for frame in d.frames:
        ends[frame.link].append(pose(frame.origin)[1])
    for link in d.links:
        points = ends[link.name] or ([np.array(link.inertia.com, float)] if link.inertia.m else [])
        for point in points:
            if np.linalg.norm(point) > 0.01 * size:
                yield link.name, bone(np.zeros(3), point, THICKNESS * size).with_color(BONE)


def symbols(d: Description, size: float) -> Iterator[tuple[str, Triangles]]:
    """(child link, surface): a cylinder along the axis of a revolute joint, a bar for a prismatic joint, a ball for others."""
    for j in d.joints:
        if not isinstance(j.kind, Fixed):
            yield j.child, _symbol(j, SYMBOL * size).with_color(JOINT)


def tips(d: Description, size: float) -> Iterator[tuple[str, Triangles]]:
    """(link, surface): a ball at every frame that is away from its link's origin, such as a tool's tip."""
    for frame in d.frames:
        point = pose(frame.origin)[1]
        if np.linalg.norm(point) > 0.01 * size:
            yield frame.link, sphere(FRAME * size).transform(np.eye(3), point).with_color(TIP)


def _symbol(j: Joint, half: float) -> Triangles:
    axis = getattr(j.kind, "axis", None)
    if axis is None or j.kind.nv != 1:
        return sphere(0.8 * half)
    shape = box(half, half, 2.4 * half) if isinstance(j.kind, Prismatic) else cylinder(0.7 * half, 2 * half)
    return along(shape, np.array(axis, float))


def ellipsoids(d: Description, size: float) -> Iterator[tuple[str, Triangles]]:
    """(link, surface): the uniform solid ellipsoid of the same mass and inertia; a small ball where that has no volume."""
    for link in d.links:
        if link.inertia.m:
            yield link.name, ellipsoid(link.inertia, POINT * size).with_color(MASS)


def ellipsoid(G: Inertia, least: float) -> Triangles:
    """Semi-axes a² = 5 (I_y + I_z − I_x)/(2m) of the principal moments about the centre of mass, none below ``least`` [m].

    A solid ellipsoid has I_x = m (b² + c²)/5 (MR Fig. 8.5).  If the triangle inequality fails, that semi-axis is ``least``.
    """
    I, R = np.linalg.eigh(np.array(G.about_com.rows, float))
    squares = 5 * (I.sum() / 2 - I) / float(G.m)
    radii = np.sqrt(np.maximum(squares, least**2))
    return sphere(1.0).transform(R @ np.diag(radii), np.array(G.com, float))
