"""Steps through contact are of first order in dt: motions with impacts and slip converge to their closed form."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from . import bodies

G = bodies.G
STEPS = [4e-3, 2e-3, 1e-3, 0.5e-3]


def landing(h, v, mu: float, end: float):
    """x of a ball at the time ``end`` that falls from h with the velocity v along x, without restitution and spin.

    It lands at t₁ = √(2h/g) with the impulse m g t₁, whose friction takes μ g t₁ from v; then it slips, braked by μ g, until
    it rolls at 5/7 v, which is after (2/7) v/μ = g (t₁ + t) of braking.
    """
    t1 = np.sqrt(2 * h / G)
    rolls = np.maximum(2 * v / (7 * mu * G) - t1, 0)  # after the landing
    slipping = np.minimum(rolls, end - t1)
    after = v - mu * G * t1
    x = v * t1 + after * slipping - mu * G * slipping**2 / 2
    return x + 5 / 7 * v * (end - t1 - slipping)


def test_ball_that_lands_and_slips_converges_with_first_order():
    """The mean error over balls that land at different times within a step halves with dt."""
    mu, end = 0.2, 0.48
    ball = bodies.ball(friction=mu)
    h = np.linspace(0.02, 0.06, 101)
    v = np.linspace(1.0, 2.0, 101)
    q, start = np.tile(ball.neutral(), (101, 1)), np.zeros((101, 6))
    q[:, 2], start[:, 3] = 0.1 + h, v
    errors = []
    for dt in STEPS:
        run = ball.rollout(q, start, dt=dt, steps=round(end / dt), record="last")
        errors.append(abs(run.q[:, -1, 0] - landing(h, v, mu, end)).mean())
    orders = -np.diff(np.log2(errors))
    assert errors[-1] < 2e-4
    assert ((orders > 0.95) & (orders < 1.05)).all()


def test_peaks_of_a_bouncing_ball_converge_with_first_order():
    """e² h and e⁴ h (e = 1/2): the mean error of the peaks, over balls that land at different times within a step."""
    e, end = 0.5, 1.3
    ball = bodies.ball(friction=0.3, restitution=e)
    h = np.linspace(0.5, 0.6, 101)
    q = np.tile(ball.neutral(), (101, 1))
    q[:, 2] = 0.1 + h
    errors = []
    for dt in STEPS:
        run = ball.rollout(q, np.zeros(6), dt=dt, steps=round(end / dt))
        t, z = run.t, run.q[..., 2] - 0.1
        falls = np.sqrt(2 * h / G)[:, None]
        first, second = ((t > falls * a) & (t < falls * b) for a, b in ((1.0, 2.0), (2.0, 2.5)))
        peaks = [np.where(part, z, 0).max(axis=1) for part in (first, second)]
        errors.append(abs(peaks[0] - e**2 * h).mean() + abs(peaks[1] - e**4 * h).mean())
    orders = -np.diff(np.log2(errors))
    assert ((orders > 0.8) & (orders < 1.2)).all()


def test_quadruped_that_lands_converges_with_first_order():
    """Its base after 0.3 s, dropped 5 cm with PD servos: Richardson's differences between dt and dt/2 halve with dt."""
    robot, q, servo = bodies.quadruped(height=0.05, friction=0.3)
    heights = np.linspace(0, 0.01, 33)
    qs = np.tile(q, (33, 1))
    qs[:, 2] += heights
    v = np.zeros(robot.nv)
    v[3] = 0.5  # forwards: the feet slip
    ends = [
        robot.rollout(qs, v, bodies.STANCE, dt=dt, steps=round(0.3 / dt), controller=servo, record="last").q[:, -1, :3]
        for dt in (1e-3, 5e-4, 2.5e-4, 1.25e-4, 6.25e-5)
    ]
    apart = np.array([np.linalg.norm(a - b, axis=1).mean() for a, b in pairwise(ends)])
    orders = -np.diff(np.log2(apart))
    assert ((orders > 0.9) & (orders < 1.1)).all()
