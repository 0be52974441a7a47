"""Numbers of contacts that differ between the robots of a rollout, without compiling again."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.simulate import per_robot

from . import bodies


@pytest.mark.parametrize(("what", "word", "values"), [
    ("contact friction", "friction", [0.0, 0.2, 0.9]),
    ("contact restitution", "restitution", [0.0, 0.5, 1.0]),
    ("contact stiffness", "stiffness", [1e3, 1e4, 1e5]),
    ("contact damping", "damping", [0.0, 5.0, 50.0]),
])  # fmt: skip
def test_each_robot_has_its_own_number(what, word, values):
    soft = {"stiffness": 5e3, "damping": 10.0} if word in ("stiffness", "damping") else {}
    nominal = {"friction": 0.4, **soft}
    ball = bodies.ball(**nominal)
    q, v = bodies.at_height(ball, 0.11), np.array([0, 0, 0, 0.5, 0, -0.5])
    runs = ball.rollout(np.stack([q] * 3), v, dt=1e-3, steps=100, vary={what: {"contact": per_robot(values)}})
    for k, x in enumerate(values):
        alone = bodies.ball(**{**nominal, word: x}).rollout(q, v, dt=1e-3, steps=100)
        np.testing.assert_allclose(runs.q[k], alone.q, atol=1e-12)


def test_ground_of_another_height_carries_higher():
    ball = bodies.ball(friction=0.4)
    heights = np.array([-0.1, 0.0, 0.2])
    q = np.stack([bodies.at_height(ball, z) for z in 0.3 + heights])
    run = ball.rollout(q, np.zeros(6), dt=1e-3, steps=500, vary={"contact height": {"contact": per_robot(heights)}})
    np.testing.assert_allclose(run.q[:, -1, 2], 0.1 + heights, atol=1e-12)


@pytest.mark.parametrize(("vary", "message"), [
    ({"contact friction": {"contact": -0.1}}, "must not be negative"),
    ({"contact restitution": {"contact": 1.1}}, "must be at most 1"),
    ({"contact friction": {"ground": 0.5}}, "ground"),
    ({"contact stiffness": {"contact": 100.0}}, "has no stiffness"),
    ({"contact friction": {"contact": float("nan")}}, "finite"),
])  # fmt: skip
def test_invalid_numbers_are_refused(vary, message):
    ball = bodies.ball(friction=0.4)
    with pytest.raises(ts.errors.TorsorError, match=message):
        ball.rollout(bodies.at_height(ball, 0.2), np.zeros(6), dt=1e-3, steps=2, vary=vary)


def test_gaps_are_those_of_the_varied_heights():
    ball = bodies.ball(friction=0.4)
    heights = np.array([-0.1, 0.0, 0.2])
    q = np.stack([bodies.at_height(ball, z) for z in 0.15 + heights])
    run = ball.rollout(q, np.zeros(6), dt=1e-3, steps=20, vary={"contact height": {"contact": per_robot(heights)}})
    np.testing.assert_allclose(run.contact_gap[..., 0], run.q[..., 2] - 0.1 - heights[:, None], atol=1e-15)
