"""ts.from_mujoco: the robot of a mujoco.MjModel in memory, with its kernels."""

from __future__ import annotations

import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest

from tests.mjcf.twin import Twin, random_state
from torsor.bridges import states
from torsor.bridges.mujoco import from_mujoco
from torsor.errors import ArgumentError, ModelWarning

HERE = Path(__file__).parent


def test_from_mujoco_kernels_agree_with_mj_forward_and_mj_inverse():
    m = mujoco.MjModel.from_xml_path(str(HERE / "free_bodies.xml"))
    robot = from_mujoco(m)
    twin = Twin(robot.model, m)
    q, v, a = random_state(robot.model, np.random.default_rng(0))
    M, tau = twin.theirs(q, v, a)
    np.testing.assert_allclose(robot.mass_matrix(q), M, rtol=0, atol=1e-13 * np.abs(M).max())
    np.testing.assert_allclose(robot.inverse_dynamics(q, v, a), tau, rtol=0, atol=1e-13 * np.abs(tau).max())
    mujoco.mj_forward(m, twin.d)
    G = twin.rates(q)
    ours = G @ robot.forward_dynamics(q, v, np.zeros(robot.nv)) + twin.drift(q, v)
    kappa = np.linalg.cond(M)
    np.testing.assert_allclose(ours, twin.d.qacc, rtol=0, atol=1e-15 * kappa * np.abs(twin.d.qacc).max())


def test_changes_of_a_model_in_memory_are_read():
    m = mujoco.MjModel.from_xml_path(str(HERE / "walker.xml"))
    before = from_mujoco(m)
    m.body_mass[:] *= 2
    m.body_inertia[:] *= 2
    m.opt.gravity[:] = 0, 0, -1.62
    after = from_mujoco(m, body="trunk")
    q, v, _ = random_state(before.model, np.random.default_rng(0))
    np.testing.assert_allclose(after.mass_matrix(q), 2 * before.mass_matrix(q), rtol=1e-13, atol=1e-13)
    weights = [robot.without_loops().gravity_force(q) for robot in (after, before)]
    np.testing.assert_allclose(weights[0] * 9.81, 2 * 1.62 * weights[1], rtol=1e-12, atol=1e-12)
    assert after.name == "robot"


def test_from_mujoco_of_a_path_is_refused():
    with pytest.raises(ArgumentError, match=r"model must be a mujoco.MjModel, not str; ts.load reads files"):
        from_mujoco("robot.xml")


@pytest.mark.parametrize("name", ["free_bodies.xml", "walker.xml", "joints.xml", "loops.xml"])
def test_state_conversion_to_mujoco_agrees_with_an_independent_one(name):
    """torsor.bridges.states against the conversion of tests/mjcf/twin.py, which was written independently."""
    m = mujoco.MjModel.from_xml_path(str(HERE / name))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # a tendon equality is not read
        robot = from_mujoco(m)
    there, twin = states.mujoco(robot, m), Twin(robot.model, m)
    q, v, a = random_state(robot.model, np.random.default_rng(3))
    np.testing.assert_allclose(there.v(q, v), twin.rates(q) @ v, rtol=0, atol=1e-14)
    np.testing.assert_allclose(there.a(q, v, a), twin.rates(q) @ a + twin.drift(q, v), rtol=0, atol=1e-14)
    mine, theirs = there.q(q), twin.qpos(q)
    apart = np.zeros(m.nv)
    mujoco.mj_differentiatePos(m, apart, 1.0, mine, theirs)  # q and −q are the same rotation
    np.testing.assert_allclose(apart, 0, atol=1e-14)
