"""The same bits alone, in a batch and in any number of threads; single precision stays finite and near double."""

from __future__ import annotations

import numpy as np

import torsor as ts

from . import bodies


def drops(n: int):
    """Quadrupeds that fall, turned and moving, from 5 cm; their PD servos hold."""
    robot, q, servo = bodies.quadruped(height=0.05, friction=0.6)
    rng = np.random.default_rng(7)
    qs, vs = np.tile(q, (n, 1)), rng.normal(scale=0.3, size=(n, robot.nv))
    qs[:, 7:] += rng.uniform(-0.05, 0.05, (n, 12))
    return robot, qs, vs, {"controls": bodies.STANCE, "dt": 1e-3, "steps": 300, "controller": servo, "record": 50}


OUTPUTS = ("q", "v", "x", "contact_forces", "contact_gap", "contact_residual")


def test_quadrupeds_have_the_same_bits_alone_in_a_batch_and_in_threads():
    robot, q, v, how = drops(13)
    with ts.threads(1):
        one = robot.rollout(q, v, **how)
    with ts.threads(2):
        two = robot.rollout(q, v, **how)
    assert (one.contact_forces[..., 2] > 0).any(axis=(1, 2)).all()  # all land
    for name in OUTPUTS:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    for k in (0, 5, 12):
        alone = robot.rollout(q[k], v[k], **how)
        for name in OUTPUTS:
            np.testing.assert_array_equal(getattr(alone, name), getattr(one, name)[k])


def test_one_step_is_that_of_a_rollout():
    """robot.step carries x, the forces of the step before: calls are the steps of a rollout, bit for bit."""
    robot, q, v, _ = drops(2)
    q[:, 2] -= 0.05
    run = robot.rollout(q, v, np.zeros((2, 18)), dt=1e-3)
    x = np.zeros(len(robot.state_names))
    for k in range(2):
        q, v, x = robot.step(q, v, np.zeros(18), 1e-3, x=x)
        np.testing.assert_array_equal(q, run.q[:, k])
        np.testing.assert_array_equal(x, run.x[:, k])


def test_single_precision_is_finite_and_near_double():
    """An impact and 0.3 s: bases some 1e-7 m apart, residuals at the rounding of a velocity, 1e-7 m/s."""
    robot, q, v, how = drops(32)
    single, double = (robot.rollout(q, v, **how, dtype=kind) for kind in ("float32", "float64"))
    assert single.q.dtype == np.float32
    assert np.isfinite(single.q).all()
    assert single.contact_residual.max() < 1e-6
    apart = np.linalg.norm(single.q[:, -1, :3] - double.q[:, -1, :3], axis=-1)
    assert apart.max() < 5e-6
