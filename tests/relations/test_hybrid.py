"""Hybrid dynamics: forward and inverse dynamics as limit cases, and against a robot with locked joints."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import torsor as ts
from tests.tolerance import assert_close
from tests.trees import random_tree, state
from torsor import algorithms as alg
from torsor.checks.certify.lagrange import lagrange
from torsor.errors import ArgumentError, UnknownName
from torsor.robot import Robot
from torsor.simulate.limits import Stop
from torsor.simulate.modes import decide
from torsor.simulate.system import System

EPS = np.finfo(float).eps
seeds = st.integers(0, 10**6)
PANDA = ts.robots.panda()  # one for all examples: its kernels are loaded once


def hybrid_over_floats(robot, q, v, a, tau, prescribed):
    """Hybrid dynamics by the Python source over floats."""
    args = [np.asarray(x, float).tolist() for x in (q, v, a, tau, prescribed)]
    return tuple(np.array(f(robot.model, *args), float) for f in (alg.hybrid_acceleration, alg.hybrid_force))


@given(seed=seeds)
def test_hybrid_dynamics_keeps_given_values_and_satisfies_inverse_dynamics(seed):
    """Inverse dynamics of the resulting accelerations gives the resulting forces; given values are unchanged."""
    robot = Robot(random_tree(seed))
    q, v, a0 = state(robot, seed)
    rng = np.random.default_rng(seed)
    tau0, prescribed = rng.normal(size=robot.nv), rng.integers(0, 2, robot.nv)
    a, tau = hybrid_over_floats(robot, q, v, a0, tau0, prescribed)
    assert (a[prescribed == 1] == a0[prescribed == 1]).all()
    assert (tau[prescribed == 0] == tau0[prescribed == 0]).all()
    back = np.array(alg.rnea(robot.model, q.tolist(), v.tolist(), a.tolist()))
    M = np.array(alg.crba(robot.model, q.tolist()))
    scale = np.abs(back).max(initial=1.0) + np.abs(M).max() * np.abs(a).max()
    assert np.abs(back - tau).max() <= 100 * EPS * scale


@given(seed=seeds)
def test_hybrid_dynamics_with_no_or_all_joints_prescribed_is_forward_or_inverse_dynamics(seed):
    """M, h and τ from Lagrange's equations by differentiation and dense algebra, without recursions of torsor."""
    robot = Robot(random_tree(seed))
    (q, v, a0), n = state(robot, seed), robot.nv
    tau0 = np.random.default_rng(seed).normal(size=n)
    accelerations = np.vstack([np.zeros(n), a0, np.eye(n)])
    h, inverse, *columns = lagrange(robot.model, np.tile(q, (n + 2, 1)), np.tile(v, (n + 2, 1)), accelerations)
    M = np.array([column - h for column in columns]).T
    size = np.abs(h).max() + np.abs(inverse).max()
    a, tau = hybrid_over_floats(robot, q, v, a0, tau0, np.zeros(n))
    assert_close(a, np.linalg.solve(M, tau0 - h), 1e-13, np.linalg.cond(M), floor=size / np.abs(M).max())
    assert (tau == tau0).all()
    a, tau = hybrid_over_floats(robot, q, v, a0, tau0, np.ones(n))
    assert_close(tau, inverse, scale=size)
    assert (a == a0).all()


@pytest.mark.parametrize("make", [ts.robots.ur5, ts.robots.panda])
def test_hybrid_dynamics_with_a_held_joint_equals_the_locked_robot(make):
    """An independent derivation: the model without the joint."""
    robot, rng = make(), np.random.default_rng(3)
    q, v, tau = robot.random_configuration(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    held = robot.joints[1]
    row = robot.joint(held).v_slice
    v[row] = 0.0
    locked = robot.lock({held: float(q[robot.joint(held).q_slice][0])})
    rest = np.delete(np.arange(robot.nv), row)
    a, _ = robot.hybrid_dynamics(q, v, np.zeros(robot.nv), tau, prescribed=[held])
    want = locked.forward_dynamics(np.delete(q, robot.joint(held).q_slice), v[rest], tau[rest])
    kappa = np.linalg.cond(locked.mass_matrix(np.delete(q, robot.joint(held).q_slice)))
    np.testing.assert_allclose(a[rest], want, rtol=1e-14, atol=10 * EPS * kappa * np.abs(want).max())
    assert (a[row] == 0).all()


def test_hybrid_dynamics_of_a_batch_with_wrenches_and_damping():
    """Each state has its own prescribed joints; damping acts at free and at prescribed joints."""
    robot, rng = PANDA, np.random.default_rng(1)
    q, v, a0, tau0 = robot.random_configuration(rng), *rng.normal(size=(3, robot.nv))
    prescribed = rng.integers(0, 2, (5, robot.nv)).astype(float)
    tip = {robot.links[-1]: rng.normal(size=6)}
    a, tau = robot.with_damping(True).hybrid_dynamics(np.tile(q, (5, 1)), v, a0, tau0, prescribed, wrenches=tip)
    back = robot.with_damping(True).inverse_dynamics(q, v, a, wrenches=tip)
    np.testing.assert_allclose(back, tau, rtol=1e-9, atol=1e-9 * np.abs(tau).max())  # cond(M) is 1e4 here
    one = robot.with_damping(True).hybrid_dynamics(q, v, a0, tau0, prescribed[3], wrenches=tip)
    assert (one.a == a[3]).all()
    assert (one.tau == tau[3]).all()


BAD = {
    "prescribed must be joint names": ([0.5, 0.0], ArgumentError),
    "no joint.*elbow|elbow": (["elbow"], UnknownName),
    "prescribed.*shape": ([1.0, 0.0, 0.0], ArgumentError),
}


@pytest.mark.parametrize("text", BAD)
def test_hybrid_dynamics_refuses_invalid_prescribed_joints(text):
    prescribed, error = BAD[text]
    with pytest.raises(error, match=text):
        ts.robots.two_link().hybrid_dynamics([0, 0], [0, 0], [0, 0], [0, 0], prescribed)


def test_hybrid_dynamics_refuses_robots_with_loops():
    bar = ts.mechanisms.four_bar()
    with pytest.raises(ArgumentError, match="hybrid dynamics"):
        bar.hybrid_dynamics(*[bar.neutral()] * 4, prescribed=[bar.joints[0]])


@given(seed=seeds)
def test_forces_of_hard_stops_satisfy_the_signorini_conditions(seed):
    """λ ≥ 0, a ≥ 0 and λ a = 0 at joints resting on their stops, λ = 0 at the others; by inverse dynamics."""
    rng = np.random.default_rng(seed)
    robot, system = PANDA, System(PANDA, ())
    q, v, tau = robot.random_configuration(rng), np.zeros(robot.nv), 20 * rng.normal(size=robot.nv)
    rows = rng.choice(7, 4, replace=False).tolist()
    stops = [Stop(robot.joints[r], r, r, int(rng.choice([-1, 1])), float(q[r]), 0.0) for r in rows]
    mode = decide(system, stops, 0.0, q, v, tau, ())
    a, _ = system.motion(mode, 0.0, q, v, tau)
    force = robot.inverse_dynamics(q, np.zeros(robot.nv), a) - tau
    size = np.abs(force).max() + np.abs(tau).max()
    free = np.setdiff1d(np.arange(robot.nv), rows)
    assert np.abs(force[free]).max() <= 1e-9 * size
    for row, side in mode.resting:
        assert a[row] == 0 or (side * a[row] > 0 and abs(force[row]) <= 1e-9 * size)
        assert side * force[row] >= -1e-9 * size
