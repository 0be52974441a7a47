"""robot.step, one step of an integrator: equal to a rollout of one step bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests.trees import random_tree
from torsor.algorithms.steps import STEPS
from torsor.robot import Robot


def state(robot, n=None, seed=0):
    rng = np.random.default_rng(seed)
    q = robot.random_configuration(rng) if n is None else robot.random_configuration(rng, n)
    v, tau = rng.normal(size=(2, robot.nv) if n is None else (2, n, robot.nv))
    return q, v, tau


@pytest.mark.parametrize("integrator", STEPS)
@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.night) for k in (1, 2, 3))])
def test_step_equals_a_rollout_of_one_step(integrator, seed):
    robot = Robot(random_tree(seed, bodies=2 + seed))
    q, v, tau = state(robot, seed=seed)
    roll = robot.rollout(q, v, tau[None], dt=1e-3, integrator=integrator)
    after = robot.step(q, v, tau, 1e-3, integrator)
    assert (after.q == roll.q[0]).all()
    assert (after.v == roll.v[0]).all()


def test_step_of_semi_implicit_euler_equals_its_definition():
    robot = ts.robots.ur5()
    q, v, tau = state(robot)
    after = robot.step(q, v, tau, 0.01)
    expected = v + robot.forward_dynamics(q, v, tau) * 0.01
    assert np.allclose(after.v, expected, rtol=1e-13, atol=1e-13 * np.abs(expected).max())
    assert np.allclose(after.q, q + expected * 0.01, rtol=1e-13, atol=1e-13)


def test_step_of_a_batch_with_out_equals_single_steps():
    robot = ts.robots.panda()
    q, v, tau = state(robot, 7)
    out = np.empty_like(q), np.empty_like(v)
    after = robot.step(q, v, tau, 1e-3, out=out)
    for given in (out, list(out)):  # the first call is by Python, the next ones by machine code
        after = robot.step(q, v, tau, 1e-3, out=given)
        assert after.q is out[0]
        assert after.v is out[1]
    for k in range(7):
        one = robot.step(q[k], v[k], tau[k], 1e-3)
        assert (one.q == out[0][k]).all()
        assert (one.v == out[1][k]).all()


def test_step_with_damping_uses_it_at_every_stage():
    robot = ts.robots.panda()
    q, v, tau = state(robot)
    damped = robot.with_damping(True).step(q, v, tau, 1e-2, "rk4")
    roll = robot.with_damping(True).rollout(q, v, tau[None], dt=1e-2, integrator="rk4")
    assert (damped.v == roll.v[0]).all()
    assert not np.allclose(damped.v, robot.step(q, v, tau, 1e-2, "rk4").v)


def test_step_rejects_unsupported_robots():
    robot = ts.robots.two_link()
    z = np.zeros(2)
    with pytest.raises(ts.UnknownName, match="fixed-step integrator"):
        robot.step(z, z, z, 1e-3, "rk45")
    dry = robot.with_friction({"joint1": ts.actuators.friction.Coulomb(1.0)})
    with pytest.raises(
        ts.ArgumentError, match=r"joint1 friction acts by impulses, in steps of first order: semi_implicit, implicit"
    ):
        dry.step(z, z, z, 1e-3, "rk4")
    with pytest.raises(ts.ArgumentError, match=r"joint1 friction acts by impulses"):
        dry.kernel("step:rk4")  # exports and jax_rollout use it
    assert (dry.without_terms("friction").step(z, z, z, 1e-3).v == robot.step(z, z, z, 1e-3).v).all()
    with pytest.raises(ts.ArgumentError, match=r"dt.* is nan"):
        robot.step(z, z, z, np.nan)
