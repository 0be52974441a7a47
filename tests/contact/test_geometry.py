"""Distances and normals of shapes from surfaces, against sampled surfaces; and motion on ground given as a function."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.algorithms.equation import EquationOfMotion
from torsor.scalar import sin

from . import bodies

C, G = ts.contacts, bodies.G
RNG = np.random.default_rng(11)


def two_bodies(shape, surface) -> ts.Robot:
    """Two free bodies, "a" with the shape, "b" with the surface."""
    b = ts.Builder("pair").link("space")
    for name in "ab":
        b.link(name, mass=1.0, inertia=[0.1] * 3).joint(f"{name} free", "floating", parent="space", child=name)
    return b.build().with_contacts(shape, surface, friction=0.0)


def segment(p, q, n=400):
    return p + np.linspace(0, 1, n)[:, None] * (np.asarray(q, float) - p)


def box_points(size, n=41):
    """Points on the surface of a box about the origin."""
    x, y, z = (np.linspace(-s / 2, s / 2, n) for s in size)
    grid = np.stack(np.meshgrid(x, y, z, indexing="ij"), axis=-1).reshape(-1, 3)
    return grid[(abs(grid) > np.array(size) / 2 - 1e-9).any(axis=1)]


SIZE = (0.6, 0.4, 0.2)
#: shape, surface, points of both without their radii, and the sum of these
PAIRS = {
    "sphere on sphere": (C.sphere("a", 0.1, (0.2, 0, 0)), C.ball(0.3, (0, 0.1, 0), frame="b"),
                         np.array([[0.2, 0, 0]]), np.array([[0, 0.1, 0]]), 0.4),
    "capsule on capsule": (C.capsule("a", (-0.3, 0, 0), (0.5, 0.1, 0), 0.1), C.capsule("b", (0, 0, -0.4), (0, 0.2, 0.3), 0.2),
                           segment(np.array([-0.3, 0, 0]), (0.5, 0.1, 0)), segment(np.array([0, 0, -0.4]), (0, 0.2, 0.3)), 0.3),
    "sphere on capsule": (C.sphere("a", 0.1), C.capsule("b", (0, 0, -0.4), (0, 0.2, 0.3), 0.2),
                          np.zeros((1, 3)), segment(np.array([0, 0, -0.4]), (0, 0.2, 0.3)), 0.3),
    "sphere on box": (C.sphere("a", 0.1), C.box(SIZE, frame="b"), np.zeros((1, 3)), box_points(SIZE), 0.1),
}  # fmt: skip


@pytest.mark.parametrize("pair", PAIRS)
def test_gap_is_the_least_distance_of_sampled_points(pair):
    """φ = min |p − s| − r_a − r_b over points of both, to the sampling; its gradient along the shape's place is n."""
    shape, surface, on_a, on_b, radii = PAIRS[pair]
    robot = two_bodies(shape, surface)
    q = robot.random_configuration(3, 20)
    q[:, :3], q[:, 7:10] = RNG.uniform(-0.8, 0.8, (2, 20, 3))
    gap = robot.contact_gap(q)[:, 0]
    equation = EquationOfMotion(robot.model)
    for x, found in zip(q, gap, strict=True):
        a, b = (points @ bodies.rotations(x[k:]).T + x[k : k + 3] for points, k in ((on_a, 0), (on_b, 7)))
        least = np.sqrt(((a[:, None] - b[None]) ** 2).sum(axis=-1).min()) - radii
        inside = pair == "sphere on box" and found < -radii
        assert abs(found - (-least - 2 * radii if inside else least)) < 5e-3  # of 2 cm between the samples
        (touch,) = robot.model.terms[0].touches(equation.at(x.tolist()))
        n, h = np.array([*touch.normal]), 1e-6
        ends = np.tile(x, (6, 1))
        ends[:3, :3] += h * np.eye(3)
        ends[3:, :3] -= h * np.eye(3)
        slope = robot.contact_gap(ends)[:, 0]
        np.testing.assert_allclose((slope[:3] - slope[3:]) / (2 * h), n, atol=1e-6)
        np.testing.assert_allclose(np.linalg.norm(n), 1, rtol=1e-14)


def test_gap_from_a_height_is_right_to_first_order():
    """(z − h)/√(1 + |∇h|²): at a height δ above the ground the error is of order δ²."""
    h = C.height(lambda x, y: 0.1 * sin(3 * x) + 0.05 * y)
    body = bodies.body("a", 1.0, [1.0] * 3).with_contacts(C.point("a"), h, friction=0.0)
    x, y = RNG.uniform(-1, 1, (2, 20))
    ground = np.stack([x, y, 0.1 * np.sin(3 * x) + 0.05 * y], axis=1)
    n = np.stack([-0.3 * np.cos(3 * x), np.full(20, -0.05), np.ones(20)], axis=1)
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    errors = []
    for d in (1e-2, 1e-3):
        q = np.tile(body.neutral(), (20, 1))
        q[:, :3] = ground + d * n
        errors.append(abs(body.contact_gap(q)[:, 0] - d).max())
    assert errors[0] < 1e-4
    assert errors[1] < errors[0] / 80


def test_point_slides_in_a_bowl_with_the_period_of_a_pendulum():
    """z = (x² + y²)/2R without friction: 2π√(R/g) for small amplitudes, here 1 % of R, and no energy is lost but dt's."""
    R, dt = 0.5, 1e-4
    bowl = C.height(lambda x, y: (x * x + y * y) / (2 * R))
    body = bodies.body("a", 1.0, [1e-3] * 3).with_contacts(C.point("a"), bowl, friction=0.0)
    q = body.neutral()
    q[0] = 0.01 * R
    q[2] = q[0] ** 2 / (2 * R)
    period = 2 * np.pi * np.sqrt(R / G)
    run = body.rollout(q, np.zeros(6), dt=dt, steps=round(2.2 * period / dt))
    x = run.q[:, 0]
    up = np.flatnonzero((x[:-1] < 0) & (x[1:] >= 0))  # every period, from 3/4 on
    crossings = run.t[up] + dt * -x[up] / (x[up + 1] - x[up])
    assert abs(crossings[0] - 0.75 * period) < 2e-3 * period
    assert abs(crossings[1] - crossings[0] - period) < 2e-3 * period
    assert abs(run.contact_gap).max() < 1e-8
