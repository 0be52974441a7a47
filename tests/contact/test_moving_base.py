"""Contact of a robot whose base moves: the ground is at rest in the world."""

from __future__ import annotations

import numpy as np

import torsor as ts
from torsor.scalar import sin

from . import bodies

G = bodies.G


def lift(mu: float) -> ts.Robot:
    """A leg on a vertical rail of a frame that moves at 0.3 m/s along x and by 5 cm up and down."""
    b = ts.Builder("lift").link("frame").link("leg", mass=1.0, inertia=[0.01] * 3)
    b.joint("rail", "prismatic", parent="frame", child="leg", axis=(0, 0, 1))
    robot = b.build().with_base_motion(lambda t: [0.3 * t, 0, 0.05 * sin(20 * t)])
    return robot.with_contacts(ts.contacts.point("leg"), ts.contacts.plane(through=(0, 0, -0.2)), friction=mu)


def test_leg_of_a_lift_stays_on_the_ground_and_is_dragged_along():
    """It slips along x, so that friction is (−μ m g, 0) and the normal force m g; φ is measured from where the base is."""
    mu, dt = 0.5, 1e-4
    imu = {"imu": ts.Sensor("accelerometer", "leg")}
    run = lift(mu).rollout([-0.2], [-1.0], dt=dt, steps=3000, sensors=imu)
    in_world = run.q[:, 0] + 0.05 * np.sin(20 * run.t)
    assert abs(in_world + 0.2).max() < 20 * dt**2  # the base accelerates by 20 m/s² within a step
    np.testing.assert_allclose(run.contact_gap[:, 0], in_world + 0.2, atol=1e-15)
    np.testing.assert_allclose(run.contact_forces[:, 0], np.tile([-mu * G, 0, G], (3000, 1)), atol=20 * 20 * dt)
    np.testing.assert_allclose(run.sensors["imu"], np.tile([0, 0, G], (3000, 1)), atol=20 * 20 * dt)


def test_gaps_of_a_simulation_are_those_of_the_base_at_their_time():
    run = lift(0.5).simulate([-0.2], [-1.0], 0.05, dt=1e-3)
    np.testing.assert_allclose(run.contact_gap[:, 0], run.q[:, 0] + 0.05 * np.sin(20 * run.t) + 0.2, atol=1e-12)
