"""Rollouts through contact against closed forms: bouncing, rolling, sliding, resting, an incline, a rod, a stack."""

from __future__ import annotations

import os

import numpy as np
import pytest

import torsor as ts

from . import bodies

G = bodies.G


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_ball_bounces_to_the_square_of_its_restitution(e):
    ball = bodies.ball(friction=0.3, restitution=e)
    run = ball.rollout(bodies.at_height(ball, 1.1), np.zeros(6), dt=1e-3, steps=1500)
    z = run.q[:, 2] - 0.1
    rise = (z[1:-1] > z[:-2]) & (z[1:-1] >= z[2:])
    peaks = z[1:-1][rise]
    assert z.min() > -1e-10
    if e == 0:
        assert not peaks.size or peaks.max() < 1e-10
        assert abs(z[-1]) < 1e-12  # the gap is closed
        assert abs(np.flatnonzero(z < 1e-9)[0] * 1e-3 - np.sqrt(2 / G)) < 2e-3
    else:
        expected = e ** (2 * np.arange(1, len(peaks) + 1))
        np.testing.assert_allclose(peaks, expected, atol=0.01)


def test_bounce_between_steps_has_the_slope_of_its_restitution():
    """∂z_T/∂z₀ = −e: the time of an impact within its step counts (google/brax#317)."""
    ball = bodies.ball(friction=0.0, restitution=0.5).with_gravity((0, 0, 0))
    heights = 0.3 + np.linspace(0, 0.04, 41)
    q = np.stack([bodies.at_height(ball, z) for z in heights])
    run = ball.rollout(q, np.array([0, 0, 0, 0, 0, -4.0]), dt=0.01, steps=20)
    np.testing.assert_allclose(run.q[:, -1, 2], 0.1 + 0.5 * (4 * 0.2 - (heights - 0.1)), atol=1e-12)


@pytest.mark.parametrize(("k", "share"), [(2 / 5, 5 / 7), (2 / 3, 3 / 5), (1 / 2, 2 / 3)])
def test_sliding_ball_begins_to_roll(k, share):
    """v = v₀/(1 + k) for the inertia k m r²: solid and hollow spheres, cylinders; the slip ends at v₀(1 − share)/μg."""
    ball = bodies.ball(k=k, friction=0.3)
    v = np.array([0, 0, 0, 1.0, 0, 0])
    run = ball.rollout(bodies.at_height(ball, 0.1), v, dt=1e-3, steps=400)
    speed = bodies.world_velocity(run)[:, 0]
    assert abs(speed[-1] - share) < 1e-12
    assert abs(run.q[:, 2] - 0.1).max() < 1e-12
    rolls = np.flatnonzero(abs(speed - share) < 1e-9)[0] * 1e-3
    assert abs(rolls - (1 - share) / (0.3 * G)) < 2e-3


def test_box_slides_and_stops():
    mu, dt = 0.5, 1e-3
    box = bodies.box(friction=mu)
    run = box.rollout(bodies.at_height(box, 0.1), np.array([0, 0, 0, 1.0, 0, 0]), dt=dt, steps=10_000)
    assert abs(run.q[-1, 0] - 1 / (2 * mu * G) + dt / 2) < mu * G * dt**2
    assert abs(run.q[:, 2] - 0.1).max() < 1e-12
    assert abs(run.v[1000:]).max() < 1e-12


@pytest.mark.parametrize(("steepness", "dt"), [(0.99, 2e-3), (1.01, 1e-3), (1.5, 1e-3)])
def test_box_on_an_incline_rests_or_slides(steepness, dt):
    mu = 0.5
    theta = np.arctan(steepness * mu)
    down = np.array([-np.cos(theta), 0, -np.sin(theta)])
    box = bodies.box(friction=mu, surface=ts.contacts.plane((-np.sin(theta), 0, np.cos(theta))))
    q = box.neutral()
    q[:3] = 0.1 * np.array([-np.sin(theta), 0, np.cos(theta)])
    q[3:] = 0, np.sin(-theta / 2), 0, np.cos(theta / 2)
    run = box.rollout(q, np.zeros(6), dt=dt, steps=round((10 if steepness < 1 else 1) / dt))
    way, speed = (run.q[-1, :3] - q[:3]) @ down, bodies.world_velocity(run)[-1] @ down
    if steepness < 1:
        assert abs(way) < 1e-5  # creeps no further in ten seconds
    else:
        assert abs(speed - G * (np.sin(theta) - mu * np.cos(theta)) * run.t[-1]) < (1e-3 if steepness < 1.1 else 1e-6)


@pytest.mark.parametrize(("mu", "slope", "end"), [
    (1.0, 0.49, "rests"), (1.0, 0.51, "tips"), (0.3, 0.294, "rests"), (0.3, 0.306, "slides"), (0.4, 0.55, "slides"),
])  # fmt: skip
def test_tall_box_rests_tips_or_slides(mu, slope, end):
    """A box of width w and height h = 2 w tips from tan θ = w/h on, and slides from tan θ = μ on."""
    theta = np.arctan(slope)
    normal = np.array([-np.sin(theta), 0, np.cos(theta)])
    box = bodies.box((0.1, 0.3, 0.2), friction=mu, surface=ts.contacts.plane(normal))
    q = box.neutral()
    q[:3], q[3:] = 0.1 * normal, (0, np.sin(-theta / 2), 0, np.cos(theta / 2))
    run = box.rollout(q, np.zeros(6), dt=1e-3, steps=1000)
    turned = abs(run.v[:, 1]).max() * 0.1 > 1e-3
    slid = np.linalg.norm(run.q[-1, :3] - q[:3]) > 1e-3
    assert (turned, slid or turned) == {"rests": (False, False), "tips": (True, True), "slides": (False, True)}[end]


def test_rod_on_two_points_spins_down():
    """ω L/(6 μ g): two points at L/2 carry the weight, and brake with μ m g L/2."""
    mu, L, omega = 0.3, 0.4, 5.0
    rod = bodies.body("rod", 1.0, [1e-3, L * L / 12, L * L / 12])
    ends = [ts.contacts.point("rod", (x, 0, 0)) for x in (-L / 2, L / 2)]
    rod = rod.with_contacts(ends, ts.contacts.plane(), friction=mu)
    run = rod.rollout(rod.neutral(), np.array([0, 0, omega, 0, 0, 0]), dt=1e-4, steps=4000)
    stops = run.t[np.flatnonzero(abs(run.v[:, 2]) < 1e-6)[0]]
    assert abs(stops - omega * L / (6 * mu * G)) < 1e-3
    assert np.linalg.norm(run.q[:, :2], axis=1).max() < 1e-9  # its centre stays


def test_box_at_rest_stays_and_a_sunken_box_leaves_without_a_hop():
    box = bodies.box(friction=0.5)
    run = box.rollout(bodies.at_height(box, 0.1), np.zeros(6), dt=2e-3, steps=5000)
    assert abs(run.q[:, :3] - [0, 0, 0.1]).max() < 1e-12
    sunken = box.rollout(bodies.at_height(box, 0.09), np.zeros(6), dt=1e-3, steps=1000)
    assert sunken.q[:, 2].max() < 0.101
    assert abs(sunken.q[-1, 2] - 0.1) < 1e-5


def test_contact_adds_no_energy_and_keeps_momentum():
    """Work of contact ≤ 1e-12 J in every step without restitution, but for what pushes out of the ground; Σλ − m g dt = Δp."""
    shape, rng, dt = (0.2, 0.15, 0.1), np.random.default_rng(1), 1e-3
    box, alone = (bodies.box(shape, friction=0.7, surface=ts.contacts.plane(through=(0, 0, z))) for z in (0, -100))
    q = np.tile(bodies.at_height(box, 0.12), (32, 1))
    q[:, 3:] = rng.normal(size=(32, 4))
    q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1, keepdims=True)
    v = rng.normal(size=(32, 6)) * [20, 20, 20, 2, 2, 2]
    steps = 500 if os.environ.get("TORSOR_NIGHT") else 250
    run = box.rollout(q, v, dt=dt, steps=steps)
    force = run.x[..., :-1].reshape(32, steps, -1, 3)[:, 1:]
    p = bodies.world_velocity(run)
    np.testing.assert_allclose(np.diff(p, axis=1), dt * force.sum(axis=2) + [0, 0, -G * dt], atol=1e-11)
    free = alone.rollout(run.q[:, :-1].reshape(-1, 7), run.v[:, :-1].reshape(-1, 6), dt=dt, steps=1, record="last")
    work = box.kinetic_energy(run.q[:, 1:], run.v[:, 1:]) - box.kinetic_energy(free.q[:, 0], free.v[:, 0]).reshape(32, -1)
    pushed = dt * (force[..., 2] * 0.1).sum(axis=2)
    assert (work <= pushed + 1e-12).all()
    assert abs(work[~force.any(axis=(2, 3))]).max() < 1e-14
    assert (np.linalg.norm(force[..., :2], axis=-1) <= 0.7 * force[..., 2] * (1 + 1e-14) + 1e-300).all()


def test_stack_of_very_unequal_masses_stands():
    """1 kg carries 1000 kg: the force on the floor is their weight to 1e-6."""
    b = ts.Builder("stack")
    b.link("floor")
    for name, mass in (("light", 1.0), ("heavy", 1000.0)):
        b.link(name, mass=mass, inertia=[mass * 0.004] * 3)
        b.joint(f"{name} rail", "prismatic", parent="floor", child=name, axis=(0, 0, 1))
    stack = b.build().with_contacts(ts.contacts.sphere("light", radius=0.1), ts.contacts.plane(), friction=0.5)
    stack = stack.with_contacts(ts.contacts.sphere("heavy", radius=0.1), ts.contacts.ball(0.1, frame="light"), friction=0.5)
    run = stack.rollout(np.array([0.1, 0.3]), np.zeros(2), dt=1e-3, steps=1000)
    floor = run.x[-1, 2]
    assert abs(floor / (1001 * G) - 1) < 1e-6
    assert abs(run.q[-1] - [0.1, 0.3]).max() < 1e-9
