"""Contact with stiffness, and joints with stiff servos in contact: implicit, so that no step is too long for them."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts

from . import bodies

G = bodies.G


@pytest.mark.parametrize("dt", [1e-3, 5e-3])
@pytest.mark.parametrize("k", [1e3, 1e6, 1e9])
def test_ball_sinks_by_its_weight_over_the_stiffness(k, dt):
    """m g/k, for any k at any dt, reached from 1 cm above; the damper d = 2√(k m) is critical."""
    m = 2.0
    ball = bodies.ball(mass=m, friction=0.5, stiffness=k, damping=2 * np.sqrt(k * m))
    run = ball.rollout(bodies.at_height(ball, 0.11), np.zeros(6), dt=dt, steps=round(2 / dt))
    np.testing.assert_allclose(0.1 - run.q[-1, 2], m * G / k, rtol=1e-6, atol=1e-12)  # ε of G is a compliance too
    np.testing.assert_allclose(run.contact_forces[-1, 0], [0, 0, m * G], rtol=1e-6, atol=1e-9)
    assert run.q[:, 2].max() <= 0.11  # it does not bounce higher than it fell


def test_soft_ball_bounces_with_the_time_of_its_spring():
    """Half a period of the spring, π√(m/k), and what gravity adds to first order in ω t: contact lasts that long (dt → 0)."""
    m, k, v = 1.0, 1e4, 2.0
    ball = bodies.ball(mass=m, friction=0.0, stiffness=k)
    run = ball.rollout(bodies.at_height(ball, 0.1), np.array([0, 0, 0, 0, 0, -v]), dt=1e-6, steps=40_000, record=10)
    w = np.sqrt(k / m)
    lasts = (np.pi + 2 * np.arctan(G / (w * v))) / w
    pressed = run.t[run.contact_forces[:, 0, 2] > 0]
    assert abs(pressed[-1] - lasts) < 3e-5
    assert abs(run.v[-1, 5] + G * (run.t[-1] - lasts) - v) < 2e-3 * v  # implicit steps damp by k dt/2 per second


@pytest.mark.parametrize("dt", [1e-3, 4e-3])
def test_stiff_servos_in_contact_stay_stable_with_implicit_steps(dt):
    """kp = 2000 N·m/rad: the explicit step is unstable from dt = 2/√(kp/I) ≈ 1 ms on; the implicit one stands."""
    robot, q, servo = bodies.quadruped(kp=2000.0, kd=5.0)
    run = robot.rollout(
        q, np.zeros(robot.nv), bodies.STANCE, dt=dt, steps=round(1 / dt), controller=servo, integrator="implicit"
    )
    weight = sum(robot.link(name).mass for name in robot.links) * G
    assert abs(run.q[-1, 2] - q[2]) < 1e-4
    assert abs(run.v[-1]).max() < 1e-3
    np.testing.assert_allclose(run.contact_forces[-1].sum(axis=0), [0, 0, weight], atol=1e-3 * weight)


@pytest.mark.parametrize("slope", [0.0, 0.2])
def test_capsule_lies_on_its_two_ends(slope):
    """Across the slope it would roll; along the slope, its axis down, it rests on two points that share the weight."""
    surface, q = bodies.incline(slope, half=0.05)
    capsule = bodies.body("c", 1.0, [0.00125, 0.02, 0.02])
    shape = ts.contacts.capsule("c", (-0.2, 0, 0), (0.2, 0, 0), radius=0.05)
    run = capsule.with_contacts(shape, surface, friction=0.5).rollout(q, np.zeros(6), dt=1e-3, steps=500)
    assert abs(run.q[-1] - q).max() < 1e-6
    normal = run.contact_forces[-1] @ [-np.sin(slope), 0, np.cos(slope)]
    np.testing.assert_allclose(normal.sum(), G * np.cos(slope), rtol=1e-6)
    lower, upper = (G * np.cos(slope) / 2 + s * 0.05 * G * np.sin(slope) / 0.4 for s in (1, -1))  # about the centre
    np.testing.assert_allclose(normal, [lower, upper], rtol=1e-5)
