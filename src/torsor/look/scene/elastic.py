"""Elastic joints with one pointer for the motor and one for the link (MR §8.9.5)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from torsor.look.scene.scene import Scene, Surface
from torsor.look.scene.skeleton import JOINT, SYMBOL
from torsor.look.scene.triangles import Color, along, bone, cylinder
from torsor.model.terms.springs import motors_of
from torsor.support.user_arrays import Array

MOTOR: Color = (0.35, 0.20, 0.55, 1.0)


def with_motors(scene: Scene) -> Scene:
    """The scene with a disc and a pointer that turn with each motor, "joint/motor", and a pointer on the driven link."""
    half, robot, parts = SYMBOL * scene.size, scene.robot, []
    pairs = [(robot.model.joint_names[i], robot.model.joint_names[k]) for i, k in motors_of(robot.model)]
    for name, motor in pairs:
        axis = np.array([float(x) for x in robot.model.joint[robot.model.joint_names.index(name)].axis])  # type: ignore[attr-defined]
        across = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
        hand = bone(np.zeros(3), 4 * half * across / np.linalg.norm(across), 0.25 * half)
        disc = along(cylinder(1.5 * half, 0.6 * half), axis)
        parts += [Surface(motor, "skeleton", surface.with_color(MOTOR)) for surface in (disc, hand)]
        parts.append(Surface(robot.joint(name).child, "skeleton", hand.with_color(JOINT)))
    return replace(scene, parts=(*scene.parts, *parts), links=(*scene.links, *(motor for _, motor in pairs)))


def motor_poses(scene: Scene, q: Array) -> Array:
    """``(..., motors, 7)``: where each joint's child would be, went it with its motor."""
    model, places = scene.robot.model, []
    for i, k in motors_of(model):
        turned = np.array(q)
        turned[..., model.q_start[i]] = q[..., model.q_start[k]]
        places.append(scene.poses(turned)[..., scene.links.index(scene.robot.joint(model.joint_names[i]).child), :])
    return np.stack(places, axis=-2)
