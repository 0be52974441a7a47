"""Robot: text and properties, damping, mimic joints, long chains."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import torsor as ts
from tests.trees import random_tree
from torsor.robot import Robot


def test_robot_text_and_views_have_the_data_of_the_description():
    robot = ts.robots.panda()
    assert repr(robot).startswith("<Robot 'panda'")
    text = str(robot)
    assert "panda_joint1: revolute, q[0]" in text
    assert "mimics panda_finger_joint1" in text
    joint = robot.joint("panda_joint4")
    assert (joint.type, joint.q_slice, joint.v_slice) == ("revolute", slice(3, 4), slice(3, 4))
    assert joint.lower < (0,)
    assert joint.effort_limit[0] > 0
    link = robot.link("panda_link4")
    assert link.mass > 0
    assert link.inertia.shape == (3, 3)
    assert robot.frame("panda_hand").joint == "panda_joint7"
    assert robot.mass == pytest.approx(sum(robot.link(n).mass for n in robot.links))
    assert "world" in robot.frames


def test_builtin_methods_keep_signature_and_documentation():
    robot = ts.robots.two_link()
    assert "MR 8.50" in robot.inverse_dynamics.__doc__
    assert list(inspect.signature(robot.inverse_dynamics).parameters)[:4] == ["q", "v", "a", "wrenches"]
    assert "MR 8.50" in Robot.inverse_dynamics.__doc__


def test_damping_is_included_only_with_damping_true():
    robot = Robot(random_tree(30, base="fixed"))
    rng = np.random.default_rng(0)
    q, v, a = robot.random_configuration(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    free, damped = robot.inverse_dynamics(q, v, a), robot.with_damping(True).inverse_dynamics(q, v, a)
    D = np.zeros(robot.nv)
    for name in robot.joints:
        j = robot.joint(name)
        leader = robot.model.coupling[j.index]
        D[j.v_slice] += np.array(j.damping) * (leader.k**2 if leader else 1.0)
    np.testing.assert_allclose(damped - free, D * v, rtol=1e-14, atol=1e-12 * np.abs(free).max())
    kappa = np.linalg.cond(robot.mass_matrix(q))
    np.testing.assert_allclose(robot.with_damping(True).forward_dynamics(q, v, damped), a, rtol=1e-14, atol=1e-13 * kappa)


def test_mimic_joints_are_the_projected_dynamics_of_independent_joints():
    """M, h and τ with mimic joints are Gᵀ(…)G of the robot without couplings, with q = G q' + b."""
    robot = Robot(random_tree(26, bodies=5, base="fixed"))
    free = robot.without_couplings()
    assert free.nv > robot.nv
    rng = np.random.default_rng(1)
    q, v, a = robot.random_configuration(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    G, b = np.zeros((free.nv, robot.nv)), np.zeros(free.nv)
    qf = np.zeros(free.nq)
    for i, name in enumerate(robot.joints, start=1):
        ours, theirs, c = robot.joint(name), free.joint(name), robot.model.coupling[i]
        if c is None:
            G[theirs.v_slice, ours.v_slice] = np.eye(ours.v_slice.stop - ours.v_slice.start)
            qf[theirs.q_slice] = q[ours.q_slice]
        else:
            G[theirs.v_slice, ours.v_slice], b[theirs.v_slice] = c.k, c.b
            qf[theirs.q_slice] = c.k * q[ours.q_slice] + c.b
    M = G.T @ free.mass_matrix(qf) @ G
    np.testing.assert_allclose(robot.mass_matrix(q), M, rtol=1e-14, atol=1e-13 * np.abs(M).max())
    tau = G.T @ free.inverse_dynamics(qf, G @ v, G @ a)
    np.testing.assert_allclose(robot.inverse_dynamics(q, v, a), tau, rtol=1e-14, atol=1e-13 * np.abs(tau).max())
    J = free.jacobian(qf, "frame4") @ G
    np.testing.assert_allclose(robot.jacobian(q, "frame4"), J, rtol=1e-14, atol=1e-13)
    C = robot.coriolis_matrix(q, v)
    np.testing.assert_allclose(C, G.T @ free.coriolis_matrix(qf, G @ v) @ G, rtol=1e-14, atol=1e-13 * np.abs(C).max())


def chain(n: int) -> ts.Robot:
    rng = np.random.default_rng(0)
    b = ts.Builder("chain").link("l0")
    for i in range(1, n + 1):
        b.link(f"l{i}", mass=1, com=rng.normal(size=3) * 0.1, inertia=rng.uniform(0.1, 0.15, 3))
        b.joint(f"j{i}", "revolute", f"l{i - 1}", f"l{i}", xyz=rng.normal(size=3) * 0.3, axis=np.eye(3)[i % 3])
    return b.build()


def check_chain(n: int) -> None:
    robot = chain(n)
    rng = np.random.default_rng(1)
    q, v, a = (rng.normal(size=n) for _ in range(3))
    tau = robot.inverse_dynamics(q, v, a)
    from torsor.algorithms import rnea

    reference = np.array(rnea(robot.model, q.tolist(), v.tolist(), a.tolist()))
    np.testing.assert_allclose(tau, reference, rtol=1e-14, atol=1e-12 * np.abs(reference).max())
    back = robot.forward_dynamics(q, v, tau)
    # cond(M) of a chain grows like n⁴, and tau with the lever of link n: the residual is compared with the largest tau
    np.testing.assert_allclose(robot.inverse_dynamics(q, v, back), tau, rtol=1e-14, atol=1e-9 * np.abs(tau).max())


def test_chain_of_60_links_inverse_and_forward_dynamics_agree():
    check_chain(60)


@pytest.mark.night
def test_chain_of_300_links_inverse_and_forward_dynamics_agree():
    check_chain(300)


def test_programs_too_long_for_straight_line_code_give_the_same_bits(monkeypatch):
    from torsor.compile import forms

    q, v, a = (np.random.default_rng(k).normal(size=(7, 5)) for k in range(3))
    straight = chain(5).inverse_dynamics(q, v, a)
    monkeypatch.setattr(forms, "LONG", 10)
    robot = chain(5)
    assert robot.inverse_dynamics(q, v, a).tobytes() == straight.tobytes()
    assert robot.inverse_dynamics(q[2], v[2], a[2]).tobytes() == straight[2].tobytes()
