"""Ground of heights given as data: against interpolation by hand, its slope, its border, and a ball that rests on it."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.spatial import Vec

from . import bodies

SHAPES = [(2, 2), (3, 2), (4, 5), (8, 9), (17, 6)]


def random_grid(shape, smooth):
    heights = np.random.default_rng(0).normal(size=shape)
    return heights, ts.contacts.grid(heights, (0.5, 0.25), at=(-1, 2, 0.3), smooth=smooth).surface


def points(shape, n=100):
    """Points within the grid and around it."""
    low, high = (-1.6, 1.7), (0.5 * shape[0] - 0.9, 0.25 * shape[1] + 2.05)
    return np.random.default_rng(1).uniform(low, high, size=(n, 2))


def catmull_rom(h, u):
    """The cubic between h[1] and h[2] at u from 0 to 1, with central differences as slopes."""
    a, b = (h[2] - h[0]) / 2, (h[3] - h[1]) / 2
    return (2 * u**3 - 3 * u**2 + 1) * h[1] + (u**3 - 2 * u**2 + u) * a + (3 * u**2 - 2 * u**3) * h[2] + (u**3 - u**2) * b


def interpolated(heights, x, y, smooth):
    """The height by two interpolations along the axes."""
    u, v = (np.clip(a, 0, n - 1) for a, n in zip(((x + 1) / 0.5, (y - 2) / 0.25), heights.shape, strict=True))
    i, j = (min(int(a), n - 2) for a, n in zip((u, v), heights.shape, strict=True))
    s, t = u - i, v - j
    if not smooth:
        H = heights[i : i + 2, j : j + 2]
        return 0.3 + np.array([1 - s, s]) @ H @ np.array([1 - t, t])
    wide = np.pad(heights, 1, mode="reflect")
    return 0.3 + catmull_rom([catmull_rom(row, t) for row in wide[i : i + 4, j : j + 4]], s)


@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_grid_has_the_heights_between_its_points_and_keeps_those_of_its_border(shape, smooth):
    heights, grid = random_grid(shape, smooth)
    for i, j in np.ndindex(*shape):
        assert abs(grid.height(-1 + 0.5 * i, 2 + 0.25 * j)[0] - 0.3 - heights[i, j]) < 1e-14
    for x, y in points(shape):
        assert abs(grid.height(x, y)[0] - interpolated(heights, x, y, smooth)) < 1e-13


@pytest.mark.parametrize("smooth", [False, True])
def test_slope_of_a_grid_is_the_difference_of_its_heights(smooth):
    _, grid = random_grid((8, 9), smooth)
    e = 1e-6
    for x, y in points((8, 9)):
        _, hx, hy = grid.height(x, y)
        assert abs(hx - (grid.height(x + e, y)[0] - grid.height(x - e, y)[0]) / (2 * e)) < 1e-7
        assert abs(hy - (grid.height(x, y + e)[0] - grid.height(x, y - e)[0]) / (2 * e)) < 1e-7
        distance, n = grid.distance(Vec(x, y, 5.0))
        assert abs(n.dot(n) - 1) < 1e-14
        assert abs(n.x / n.z + hx) + abs(n.y / n.z + hy) < 1e-13
        assert abs(distance / n.z - 5 + grid.height(x, y)[0]) < 1e-13


def test_slope_of_a_smooth_grid_is_continuous():
    _, grid = random_grid((8, 9), True)
    for i in range(-1, 10):
        x, y = -1 + 0.5 * i, 2.9
        before, after = (np.array(grid.height(x + e, y)) for e in (-1e-9, 1e-9))
        np.testing.assert_allclose(before, after, atol=1e-6)


def test_grid_of_a_plane_carries_as_the_plane_does():
    """Heights that are linear are their own interpolation: a ball rolls down as on the plane."""
    x = np.linspace(-2, 2, 5)
    heights = np.tile(-0.2 * x[:, None], (1, 4))
    normal = np.array([0.2, 0, 1]) / np.hypot(0.2, 1)
    grounds = [ts.contacts.plane(normal), *(ts.contacts.grid(heights, 1.0, at=(-2, -2, 0), smooth=s) for s in (False, True))]
    ends = []
    for ground in grounds:
        ball = bodies.ball(friction=0.8, surface=ground)
        q = ball.neutral()
        q[:3] = 0.1 * normal
        ends.append(ball.rollout(q, np.zeros(6), dt=1e-3, steps=500).q[-1])
    for end in ends[1:]:
        np.testing.assert_allclose(end, ends[0], atol=1e-10)
    assert ends[0][0] > 0.1


def test_quadruped_stands_on_rough_ground():
    rng = np.random.default_rng(0)
    ground = ts.contacts.grid(rng.uniform(-0.02, 0.02, size=(24, 20)), 0.1, at=(-1.2, -1, 0))
    robot = ts.robots.quadruped().with_ground(0.8, ground)
    joints = [name for name in robot.joints if name != "floating_base"]
    robot = robot.with_actuators({name: ts.actuators.PositionServo(5.0, 0.1) for name in joints})
    q = np.tile(robot.configuration("standing"), (4, 1))
    q[:, :3] += rng.uniform((-0.5, -0.5, 0.03), (0.5, 0.5, 0.04), (4, 3))
    run = robot.rollout(q, np.zeros(robot.nv), np.tile(np.concatenate([np.zeros(6), q[0, 7:]]), (800, 1)), dt=1e-3)
    assert run.contact_gap.min() > -1e-4
    assert np.quantile(run.contact_residual, 0.99) < 1e-6
    weight = run.contact_forces[:, -1, :, 2].sum(axis=-1)
    np.testing.assert_allclose(weight, float(robot.mass) * 9.81, rtol=0.02)


@pytest.mark.parametrize(("heights", "spacing", "message"), [
    ([[0, 0], [0, float("nan")]], 1.0, "finite"),
    ([[0, 0]], 1.0, "at least 2 × 2"),
    ([[0], [0]], 1.0, "at least 2 × 2"),
    ([[0, 0], [0]], 1.0, "at least 2 × 2"),
    ([0, 1], 1.0, "table of numbers"),
    ([["a", 0], [0, 0]], 1.0, "table of numbers"),
    (np.zeros((2, 2)), 0.0, "must be positive"),
    (np.zeros((2, 2)), (1.0, -1.0), "must be positive"),
    (np.zeros((65, 64)), 1.0, "4160 heights are more than 4096"),
])  # fmt: skip
def test_invalid_grids_are_refused(heights, spacing, message):
    with pytest.raises(ts.errors.ArgumentError, match=message):
        ts.contacts.grid(heights, spacing)
