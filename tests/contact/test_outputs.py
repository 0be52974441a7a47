"""Outputs of rollouts with contact: forces, gaps and residuals at the records."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import torsor as ts

from . import bodies


def test_ball_at_rest_is_carried_by_its_contact_force():
    ball = bodies.ball(mass=2.0, friction=0.5)
    q = np.stack([bodies.at_height(ball, z) for z in (0.1, 0.5)])
    run = ball.rollout(q, np.zeros(6), dt=1e-3, steps=50)
    assert run.contact_forces.shape == (2, 50, 1, 3)
    np.testing.assert_allclose(run.contact_forces[0, :, 0], np.tile([0, 0, 2 * bodies.G], (50, 1)), atol=1e-7)
    assert not run.contact_forces[1].any()  # still in the air
    np.testing.assert_allclose(run.contact_gap[..., 0], run.q[..., 2] - 0.1, atol=1e-15)
    assert run.contact_residual.shape == (2, 50)
    assert run.contact_residual.max() < 1e-7
    again = pickle.loads(pickle.dumps(run))
    for name in ("contact_forces", "contact_gap", "contact_residual"):
        np.testing.assert_array_equal(getattr(again, name), getattr(run, name))


@pytest.mark.parametrize("record", ["all", "last", 25])
def test_outputs_are_those_of_the_records(record):
    box = bodies.box(friction=0.5)
    v = np.array([0.1, 0, 0, 1.0, 0, 0.5])
    every = {"all": 1, "last": 50}.get(record, record)
    full, part = (box.rollout(bodies.at_height(box, 0.1), v, dt=1e-3, steps=50, record=r) for r in ("all", record))
    for name in ("contact_forces", "contact_gap", "contact_residual"):
        np.testing.assert_array_equal(getattr(part, name), getattr(full, name)[every - 1 :: every])


def test_single_precision_has_outputs_of_single_precision():
    ball = bodies.ball(friction=0.5)
    run = ball.rollout(bodies.at_height(ball, 0.1), np.zeros(6), dt=1e-3, steps=20, dtype="float32")
    assert {x.dtype.name for x in (run.q, run.contact_forces, run.contact_gap, run.contact_residual)} == {"float32"}
    assert abs(run.contact_forces[-1, 0, 2] - bodies.G) < 1e-3
    assert run.contact_residual.max() < 1e-5


def test_robot_without_contacts_has_no_outputs_of_contact():
    run = ts.robots.two_link().rollout(np.zeros(2), np.zeros(2), np.zeros((3, 2)), dt=1e-3)
    assert run.contact_forces is run.contact_gap is run.contact_residual is None


def test_failed_robots_have_nan_outputs():
    ball = bodies.ball(friction=0.5)
    q = np.stack([bodies.at_height(ball, 0.1)] * 2)
    u = np.zeros((2, 20, 6))
    u[1, 10:] = 1.7e308
    run = ball.rollout(q, np.zeros(6), u, dt=1e-3, on_failure="mask")
    assert [f.robot for f in run.failed] == [1] or [f.robot for f in run.failed] == [(1,)]
    assert np.isfinite(run.contact_gap[0]).all()
    assert np.isnan(run.contact_gap[1, -1]).all()


def test_one_robot_has_the_bits_of_the_batch():
    box = bodies.box(friction=0.7)
    rng = np.random.default_rng(0)
    q = np.stack([bodies.at_height(box, 0.11)] * 11)
    v = rng.normal(size=(11, 6))
    run = box.rollout(q, v, dt=1e-3, steps=60)
    for k in (0, 7, 10):
        alone = box.rollout(q[k], v[k], dt=1e-3, steps=60)
        np.testing.assert_array_equal(alone.q, run.q[k])
        np.testing.assert_array_equal(alone.contact_forces, run.contact_forces[k])
