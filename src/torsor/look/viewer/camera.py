"""Camera position: from the up direction, the size of the robot, and whether it is flat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from torsor.look.replay.replay_data import up_direction
from torsor.look.scene import Scene
from torsor.look.scene.loops import transform_points
from torsor.look.scene.shapes import pose
from torsor.spatial.rigid.motions import to_quaternion
from torsor.support.user_arrays import Array

#: of the largest extent: a robot thinner than this is seen from the front
FLAT = 0.25
#: vertical field of view [rad]
FIELD = 0.8
#: width / height of the narrowest window; a narrower one, or one that has no size yet, counts as this
NARROWEST = 0.3


class View(NamedTuple):
    """``up`` (3,); ``floor`` (7,) a pose whose z is up; the camera at ``position`` looks at ``target``; ``radius`` [m]."""

    up: Array
    floor: Array
    position: Array
    target: Array
    radius: float


def corners(scene: Scene, poses: Array) -> Array:
    """(n, 3): the corners of the boxes round every solid part, and the origins of links and frames [m]."""
    frames = scene.robot.description.frames
    out = [
        poses[: len(poses) - scene.has_ground, :3],
        *(transform_points(poses[scene.links.index(f.link)], pose(f.origin)[1])[None] for f in frames),
    ]
    for part in scene.parts:
        if part.kind in ("ellipsoid", "ground"):  # which may be larger than the robot
            continue
        box = np.array([part.surface.vertices.min(axis=0), part.surface.vertices.max(axis=0)], float)
        eight = np.array([[box[i, 0], box[j, 1], box[k, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
        out.append(transform_points(poses[scene.links.index(part.link)], eight))
    return np.concatenate(out)


def view(scene: Scene, pictures: Sequence[Array], gravity: Array) -> View:
    """A view of the whole robot for some images of it, (links, 7) each: from the front where it is flat, else from above."""
    up = up_direction(gravity)
    points = np.concatenate([corners(scene, poses) for poses in pictures])
    low, high = points.min(axis=0), points.max(axis=0)
    target, radius = (low + high) / 2, max(float(np.linalg.norm(high - low)) / 2, 0.05)
    x = np.array([1.0, 0, 0]) if abs(up[0]) < 0.9 else np.array([0, 1.0, 0])
    x = x - up * (x @ up)
    x /= np.linalg.norm(x)
    y = np.cross(up, x)
    wide, deep = (float(np.ptp(points @ axis)) for axis in (x, y))
    if min(wide, deep) < FLAT * max(wide, deep, float(np.ptp(points @ up))):
        front, side = (-y, x) if deep <= wide else (x, y)
        towards = front + 0.35 * side + 0.25 * up
    else:
        towards = 0.9 * x - 1.0 * y + 0.55 * up
    height = min(float((corners(scene, pictures[0]) @ up).min()), 0.0) if scene.floor is None else scene.floor
    floor = np.concatenate((up * height, to_quaternion(np.column_stack((x, y, up)))))
    return View(up, floor, target + 3.5 * radius * towards / np.linalg.norm(towards), target, radius)


def camera_in_window(view: View, aspect: float) -> tuple[Array, Array]:
    """(position, point looked at) for a window of this width / height.

    Where it is narrow, as on a phone, the camera is farther away, by 1/aspect, and the robot is in the upper half, because the
    panels are in the lower one.
    """
    if aspect >= 1:
        return view.position, view.target
    away = (view.position - view.target) / max(aspect, NARROWEST)
    towards = away / np.linalg.norm(away)
    vertical = view.up - towards * (view.up @ towards)
    drop = 0.5 * np.tan(FIELD / 2) * np.linalg.norm(away) * vertical / np.linalg.norm(vertical)
    return view.target + away - drop, view.target - drop
