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


def incline(theta: float, half: float = 0.1):
    """A plane that falls along (−cos θ, 0, −sin θ), and the pose of a box, half its height above the origin, upright on it."""
    normal = np.array([-np.sin(theta), 0, np.cos(theta)])
    turned = np.array([0, np.sin(-theta / 2), 0, np.cos(theta / 2)])
    return ts.contacts.plane(normal), np.concatenate([half * normal, turned])


#: targets of a quadruped's joints that stands
STANCE = np.array([0, 0.8, -1.6] * 4)


def quadruped(friction: float = 0.8, kp: float = 5.0, kd: float = 0.1, height: float = 0.0):
    """Solo12 with spheres as feet, a configuration that stands ``height`` [m] above the ground, and its PD servos."""
    bare = ts.robots.quadruped()
    feet = [ts.contacts.sphere(frame, radius=0.016) for frame in bare.frames if frame.endswith("FOOT")]
    robot = bare.with_contacts(feet, ts.contacts.plane(), friction=friction)
    q = np.concatenate([[0, 0, 0.3, 0, 0, 0, 1], STANCE])
    q[2] += height - robot.contact_gap(q).min()

    def law(q, v, u):
        return [0] * 6 + [kp * (r - a) - kd * b for r, a, b in zip(u, q[7:], v[6:], strict=True)]

    return robot, q, ts.Controller(law)


def energy(robot: ts.Robot, run) -> np.ndarray:
    """Kinetic and potential energy at the records [J]."""
    return robot.kinetic_energy(run.q, run.v) + robot.potential_energy(run.q)


def rotations(q) -> np.ndarray:
    """R of the floating base at configurations, (..., 3, 3)."""
    x, y, z, w = np.moveaxis(q[..., 3:7], -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def world_velocity(run) -> np.ndarray:
    """The velocity of the floating base in the world's axes, (..., T, 3)."""
    return np.einsum("...ij,...j->...i", rotations(run.q), run.v[..., 3:6])


def gripper(pads, mass: float = 1.0, **contact) -> ts.Robot:
    """Two fingers that slide along x, their pads spheres of 1 cm at ``pads`` (y, z), and a free cube with edges of 5 cm."""
    b = ts.Builder("gripper").link("palm")
    for side, s in (("left", 1), ("right", -1)):
        b.link(side, mass=0.1, inertia=[1e-4] * 3)
        b.joint(f"{side} slide", "prismatic", parent="palm", child=side, axis=(-s, 0, 0), xyz=(s * 0.035, 0, 0))
    b.link("cube", mass=mass, inertia=[mass * 0.05**2 / 6] * 3)
    b.joint("free", "floating", parent="palm", child="cube")
    shapes = [ts.contacts.sphere(side, radius=0.01, at=(0, y, z)) for side in ("left", "right") for y, z in pads]
    return b.build().with_contacts(shapes, ts.contacts.box([0.05] * 3, frame="cube"), **contact)


def stack(masses, radius: float = 0.1, **contact) -> tuple[ts.Robot, np.ndarray]:
    """Balls on a vertical rail, each on the one before, the first on the ground; and the configuration in which they touch."""
    b = ts.Builder("stack").link("floor")
    for k, m in enumerate(masses):
        b.link(f"ball{k}", mass=m, inertia=[0.4 * m * radius**2] * 3)
        b.joint(f"rail{k}", "prismatic", parent="floor", child=f"ball{k}", axis=(0, 0, 1))
    robot = b.build().with_contacts(ts.contacts.sphere("ball0", radius=radius), ts.contacts.plane(), name="floor", **contact)
    for k in range(1, len(masses)):
        lower = ts.contacts.ball(radius, frame=f"ball{k - 1}")
        robot = robot.with_contacts(ts.contacts.sphere(f"ball{k}", radius=radius), lower, name=f"between{k}", **contact)
    return robot, radius * (1 + 2.0 * np.arange(len(masses)))


def tower(n: int, **contact) -> tuple[ts.Robot, np.ndarray]:
    """Free boxes of 1 kg, each with four points 2 cm inside of its lower edges on the one below; and where they stand."""
    size, rim = (0.2, 0.2, 0.1), (0.16, 0.16, 0.1)
    b = ts.Builder("tower").link("ground")
    for k in range(n):
        b.link(f"box{k}", mass=1.0, inertia=[0.05 / 12, 0.05 / 12, 0.08 / 12])
        b.joint(f"free{k}", "floating", parent="ground", child=f"box{k}")
    robot = b.build()
    for k in range(n):
        below = ts.contacts.box(size, frame=f"box{k - 1}") if k else ts.contacts.plane()
        robot = robot.with_contacts(ts.contacts.corners(f"box{k}", rim, side="-z"), below, name=f"under{k}", **contact)
    q = robot.neutral().reshape(-1, 7)
    q[:, 2] = size[2] * (0.5 + np.arange(n))
    return robot, q.ravel()
