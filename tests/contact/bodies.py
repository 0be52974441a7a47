"""Single bodies that touch the ground, as robots with a floating base."""

from __future__ import annotations

import numpy as np

import torsor as ts

G = 9.81


def body(name: str, mass: float, inertia) -> ts.Robot:
    builder = ts.Builder(name)
    builder.link(name, mass=mass, inertia=inertia)
    return builder.build().with_base("floating")


def ball(radius: float = 0.1, mass: float = 1.0, k: float = 0.4, surface=None, **contact) -> ts.Robot:
    """A sphere with the inertia k m r²."""
    robot = body("ball", mass, [k * mass * radius**2] * 3)
    return robot.with_contacts(ts.contacts.sphere("ball", radius=radius), surface or ts.contacts.plane(), **contact)


def box(size=(0.2, 0.2, 0.2), mass: float = 1.0, surface=None, **contact) -> ts.Robot:
    """A solid box, which touches with its corners."""
    x, y, z = size
    robot = body("box", mass, [mass / 12 * (y * y + z * z), mass / 12 * (x * x + z * z), mass / 12 * (x * x + y * y)])
    return robot.with_contacts(ts.contacts.corners("box", size), surface or ts.contacts.plane(), **contact)


def at_height(robot: ts.Robot, z: float, **places: float) -> np.ndarray:
    q = robot.neutral()
    q[2] = z
    return q


def world_velocity(run) -> np.ndarray:
    """The velocity of the floating base in the world's axes, (..., T, 3)."""
    x, y, z, w = np.moveaxis(run.q[..., 3:7], -1, 0)
    R = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    return np.einsum("ij...,...j->...i", R, run.v[..., 3:6])
