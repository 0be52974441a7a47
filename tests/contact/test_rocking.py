"""A block that rocks and a rod that jams: impacts of corners, and friction that no smooth motion satisfies."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts

from . import bodies

G = bodies.G


def tilted_block(half_width: float, half_height: float, theta: float):
    """A block that stands on the edge at (half_width, 0, 0), turned by theta about it, and its configuration."""
    x, y, z = size = (2 * half_width, 0.5, 2 * half_height)
    block = bodies.body("block", 1.0, [(y * y + z * z) / 12, (x * x + z * z) / 12, (x * x + y * y) / 12])
    block = block.with_contacts(ts.contacts.corners("block", size, side="-z"), ts.contacts.plane(), friction=2.0)
    q, c, s = block.neutral(), np.cos(theta), np.sin(theta)
    q[[0, 2]] = half_width * (1 - c) + half_height * s, half_width * s + half_height * c
    q[3:] = 0, np.sin(theta / 2), 0, np.cos(theta / 2)
    return block, q


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_rocking_block_has_the_period_of_housner(share):
    """T/4 = (1/p) arccosh(1/(1 − θ₀/α)), p² = 3g/4R, of a slender block that starts at θ₀ (Housner 1963).

    Its equation θ̈ = −p² sin(α − θ) is linearised: by α²/6 = 1e-4 of the time for α = 1/40.  The edge strikes the ground then,
    and the block goes on about the other one with 1 − (3/2) sin²α of its angular velocity, without restitution.
    """
    half_width, half_height, dt = 0.0125, 0.5, 1e-4
    alpha, R = np.arctan(half_width / half_height), np.hypot(half_width, half_height)
    p = np.sqrt(3 * G / (4 * R))
    theta = share * alpha
    quarter = np.arccosh(1 / (1 - share)) / p
    block, q = tilted_block(half_width, half_height, theta)
    run = block.rollout(q, np.zeros(6), dt=dt, steps=round(1.2 * quarter / dt))
    angle = 2 * np.arctan2(run.q[:, 4], run.q[:, 6])
    hit = np.flatnonzero(angle < 0)[0]
    assert abs(run.t[hit] - quarter) < dt + alpha**2 / 6 * quarter
    before, after = run.v[hit - 3, 1], run.v[hit + 3, 1]
    assert abs(after / before - (1 - 1.5 * np.sin(alpha) ** 2)) < 2e-3  # it turns on for six steps
    assert np.diff(bodies.energy(block, run)).max() < 1e-6


def rod(mu: float) -> ts.Robot:
    """A thin rod of 1 m and 1 kg along its x axis, whose lower end at −x touches the ground."""
    body = bodies.body("rod", 1.0, [1e-4, 1 / 12, 1 / 12])
    return body.with_contacts(ts.contacts.point("rod", (-0.5, 0, 0)), ts.contacts.plane(), friction=mu)


def sliding(robot: ts.Robot, steepness: float, speed: float):
    """The rod at an angle from the ground, its lower end in contact, translating along x."""
    q = robot.neutral()
    q[2], q[3:] = 0.5 * np.sin(steepness), (0, np.sin(-steepness / 2), 0, np.cos(steepness / 2))
    along = bodies.rotations(q).T @ [speed, 0, 0]
    return q, np.concatenate([np.zeros(3), along])


@pytest.mark.parametrize("dt", [1e-3, 1e-5])
def test_rod_in_the_paradox_of_painleve_stops_by_an_impact(dt):
    """Sliding in −x, top ahead in +x: ü_n = A λ_n with m A = 1 + 3 cos θ (cos θ − μ sin θ) < 0, so no force λ_n ≥ 0 holds it.

    Steps of impulses find the impact without collision (Stewart 2000): the lower end stops sliding within a step of any length,
    and the impulse is that which stops its end, −G⁻¹(v, 0), without any approach.  Energy falls.
    """
    mu, theta, speed, I = 2.0, 1.0, -3.0, 1 / 12
    assert 1 + 3 * np.cos(theta) * (np.cos(theta) - mu * np.sin(theta)) < 0
    robot = rod(mu)
    q, v = sliding(robot, theta, speed)
    run = robot.rollout(q, v, dt=dt, steps=20)
    x, z = -0.5 * np.cos(theta), -0.5 * np.sin(theta)  # from the centre to the lower end
    stops = -np.linalg.solve([[1 + z * z / I, -x * z / I], [-x * z / I, 1 + x * x / I]], [speed, 0])
    assert abs(stops[0]) < mu * stops[1]
    np.testing.assert_allclose(run.contact_forces[0, 0, [0, 2]] * dt, stops, atol=1.1 * G * dt)  # and the weight of the step
    assert run.contact_residual[0] < 1e-9
    assert np.diff(bodies.energy(robot, run)).max() < 1e-9


@pytest.mark.parametrize("speed", [-3.0, 3.0])
def test_rods_of_many_angles_and_frictions_stay_finite_and_gain_no_energy(speed):
    """μ = 0 ... 3 and θ = 0.05 ... 1.5, jamming or not: every step is finite, in the cone, and adds no energy."""
    mu, theta = (x.ravel() for x in np.meshgrid([0.0, 0.5, 1.0, 1.5, 2.0, 3.0], np.linspace(0.05, 1.5, 12)))
    robot = rod(1.0)
    q, v = map(np.stack, zip(*(sliding(robot, x, speed) for x in theta), strict=True))
    vary = {"contact friction": {"contact": ts.simulate.per_robot(mu)}}
    run = robot.rollout(q, v, dt=1e-3, steps=300, vary=vary)
    force = run.contact_forces[:, :, 0]
    assert (force[..., 2] >= 0).all()
    assert (np.hypot(force[..., 0], force[..., 1]) <= mu[:, None] * force[..., 2] * (1 + 1e-12)).all()
    rise = np.diff(bodies.energy(robot, run), axis=1)
    assert rise.max() < 1e-6
