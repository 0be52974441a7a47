"""Robots with friction laws: dynamics, model editing and errors."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torsor as ts
from tests.trees import random_tree, state
from torsor.algorithms.friction import friction_force
from torsor.errors import ArgumentError, ModelError, UnknownName
from torsor.model import friction as fr
from torsor.robot import Robot

STRIBECK = fr.Stribeck(3.0, 2.0, 0.5, 0.1)
LUGRE = fr.LuGre(STRIBECK, 1e4, 10.0)


def arm() -> Robot:
    return ts.robots.two_link().with_friction({"joint1": STRIBECK, "joint2": fr.StaticViscous(0.5, 0.1)})


def with_random_laws(seed: int) -> Robot:
    robot = Robot(random_tree(seed))
    rng = np.random.default_rng(seed)
    laws = [fr.Viscous(0.3), fr.Coulomb(1.0), STRIBECK, None, fr.Directional(fr.Coulomb(2.0), fr.Viscous(0.1)), LUGRE]
    joints = [j for j in robot.description.joints if j.kind.nv]
    return robot.with_friction({j.name: [laws[k] for k in rng.integers(0, 6, size=j.kind.nv)] for j in joints})


def test_inverse_dynamics_adds_friction_and_forward_dynamics_subtracts_it():
    robot, v = arm(), np.array([0.05, -2.0])
    q, a = np.array([0.3, 0.9]), np.array([4.0, -3.0])
    lost = np.array([2 + np.exp(-0.25) + 0.025, -0.5 - 0.2])
    np.testing.assert_allclose(robot.friction_force(v), lost, rtol=1e-14)
    tau = robot.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(tau, robot.without_terms("friction").inverse_dynamics(q, v, a) + lost, rtol=1e-14)
    np.testing.assert_allclose(robot.forward_dynamics(q, v, tau), a, rtol=1e-12)
    np.testing.assert_array_equal(robot.friction_force([0.0, 0.0]), [0.0, 0.0])
    bare = ts.robots.two_link()
    np.testing.assert_array_equal(robot.without_terms("friction").inverse_dynamics(q, v, a), bare.inverse_dynamics(q, v, a))
    np.testing.assert_array_equal(bare.friction_force(v), [0.0, 0.0])


def test_inverse_dynamics_adds_friction_with_wrenches_and_in_batches():
    robot, rng = arm(), np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 17, 2))
    F = rng.normal(size=(17, 6))
    both = robot.inverse_dynamics(q, v, a, {"tip": F})
    rigid = robot.without_terms("friction").inverse_dynamics(q, v, a, {"tip": F})
    np.testing.assert_allclose(both, rigid + robot.friction_force(v), rtol=1e-13, atol=1e-13)
    one = [robot.inverse_dynamics(q[k], v[k], a[k], {"tip": F[k]}) for k in range(17)]
    np.testing.assert_array_equal(both, one)


def test_load_of_a_friction_law_is_the_joint_force_without_friction():
    """The load ℓ is τ without friction, ℓ + τ_fric(v, ℓ) = τ, in inverse and in forward dynamics."""
    law = fr.LoadDependent(fr.Coulomb(1.0), 0.1)
    robot = ts.robots.two_link().with_friction({"joint1": law})
    q, v, a, tau = np.array([0.3, 0.9]), np.array([-1.0, 0.5]), np.array([4.0, -3.0]), np.array([-7.0, 2.0])
    rigid = robot.without_terms("friction").inverse_dynamics(q, v, a)
    lost = np.array([-(1.0 + 0.1 * abs(rigid[0])), 0.0])
    np.testing.assert_allclose(robot.inverse_dynamics(q, v, a), rigid + lost, rtol=1e-13)
    np.testing.assert_allclose(robot.friction_force(v, load=rigid), lost, rtol=1e-13)
    np.testing.assert_allclose(robot.friction_force(v, load=tau), [-1.7, 0.0], rtol=1e-14)
    left = np.array([-6 / 1.1, 2.0])  # ℓ − (1 + 0.1 |ℓ|) = −7 where ℓ < 0
    a = robot.without_terms("friction").forward_dynamics(q, v, left)
    np.testing.assert_allclose(robot.forward_dynamics(q, v, tau), a, rtol=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_friction_power_is_the_sum_over_joints(seed):
    """v · τ_fric = Σ over joints of each law's power, including mimic joints and joints with several degrees of freedom."""
    robot = with_random_laws(seed)
    _, v, _ = state(robot, seed)
    rates = robot.model.rates(v.tolist())
    expected = sum(
        law.steady(rates[i][k]) * rates[i][k]
        for i, laws in enumerate(robot.model.friction)
        for k, law in enumerate(laws)
        if law is not None
    )
    tau = friction_force(robot.model, v.tolist())
    assert float(np.dot(np.array(tau, float), v)) == pytest.approx(expected, rel=1e-12, abs=1e-14)
    assert expected >= 0


def test_friction_force_kernel_equals_the_algorithm():
    robot = with_random_laws(30)
    _, v, load = state(robot, 3)
    expected = friction_force(robot.model, v.tolist(), load=load.tolist())
    np.testing.assert_allclose(robot.friction_force(v, load=load), np.array(expected, float), rtol=1e-13, atol=1e-15)


def test_with_friction_urdf_makes_laws_of_friction_and_damping_in_the_file():
    """Friction and damping of the description become the simplest law with both terms; PUMA's values are motor data."""
    robot = ts.robots.puma560()
    lossy = robot.with_friction("urdf")
    v = np.linspace(-1, 1.5, 6)
    j = [robot.joint(name) for name in robot.joints]
    expected = [x.friction[0] * np.sign(s) + x.damping[0] * s for x, s in zip(j, v, strict=True)]
    np.testing.assert_allclose(lossy.friction_force(v), expected, rtol=1e-14)
    assert all(isinstance(laws[0], fr.StaticViscous) for laws in lossy.model.friction[1:])
    from torsor.model.friction.laws import of_numbers

    made = [of_numbers(*x) for x in ((0.0, 0), (1.0, 0.0), (0, 2.0), (1.0, 2.0))]
    assert made == [None, fr.Coulomb(1.0), fr.Viscous(2.0), fr.StaticViscous(1.0, 2.0)]


def test_pickling_and_model_editing_keep_friction_laws():
    robot = arm()
    laws = {j.name: j.laws for j in robot.description.joints if j.laws}
    assert laws == {"joint1": (STRIBECK,), "joint2": (fr.StaticViscous(0.5, 0.1),)}
    again = pickle.loads(pickle.dumps(robot))
    assert again == robot
    assert again.model.friction == robot.model.friction
    assert robot != ts.robots.two_link()
    assert "friction: joint1 Stribeck" in robot.report[-1]
    assert not robot.with_friction({"joint1": None, "joint2": None}).model.friction[1]
    assert robot.with_friction({"joint2": LUGRE}).model.friction[1:] == ((STRIBECK,), (LUGRE,))
    assert robot.lock({"joint1": 0.2}).model.friction == ((), (fr.StaticViscous(0.5, 0.1),))
    pair = ts.robots.two_link().attach(robot, "tip", prefix="b_")
    assert [laws for laws in pair.model.friction if laws] == [(STRIBECK,), (fr.StaticViscous(0.5, 0.1),)]
    turned = robot.rebase("link2")
    assert {n: laws for n, laws in zip(turned.model.joint_names, turned.model.friction, strict=True) if laws} == laws


def test_forward_dynamics_with_loops_subtracts_friction():
    closed = (
        ts.Builder("four-bar")
        .link("ground")
        .link("crank", mass=1.0, com=(0.5, 0, 0), inertia=(0, 0, 0.1))
        .link("coupler", mass=1.0, com=(0.75, 0, 0), inertia=(0, 0, 0.1))
        .link("rocker", mass=1.0, com=(0.5, 0, 0), inertia=(0, 0, 0.1))
        .joint("A", "revolute", "ground", "crank", axis=(0, 0, 1))
        .joint("B", "revolute", "crank", "coupler", xyz=(1, 0, 0), axis=(0, 0, 1))
        .joint("D", "revolute", "ground", "rocker", xyz=(2, 0, 0), axis=(0, 0, 1))
        .loop("C", "revolute", "coupler", "rocker", xyz=(1.5, 0, 0), child_xyz=(1, 0, 0), axis=(0, 0, 1))
        .build()
        .with_friction({"A": STRIBECK, "D": fr.LoadDependent(fr.Coulomb(0.2), 0.1)})
    )
    q = closed.assemble([0.9, -0.5, 1.2])
    v, tau = np.array([0.2, -0.1, 0.3]), np.array([1.0, 0.0, -0.4])
    load = (tau[2] - 0.2) / (1 - 0.1)  # ℓ + 0.2 + 0.1 |ℓ| = τ, ℓ < 0
    lost = closed.friction_force(v, load=[*tau[:2], load])
    assert lost[2] == pytest.approx(0.2 + 0.1 * abs(load))
    expected = closed.without_terms("friction").forward_dynamics(q, v, tau - lost)
    np.testing.assert_allclose(closed.forward_dynamics(q, v, tau), expected, rtol=1e-12)
    np.testing.assert_array_equal(closed.constrained().forward_dynamics(q, v, tau).a, closed.forward_dynamics(q, v, tau))


def test_with_friction_rejects_invalid_laws():
    robot, bare = arm(), ts.robots.two_link()
    zero = np.zeros(2)
    with pytest.raises(UnknownName, match="joint1, joint2"):
        bare.with_friction({"elbow": STRIBECK})
    with pytest.raises(ModelError, match="is not a friction law"):
        bare.with_friction({"joint1": 0.3})
    with pytest.raises(ModelError, match="needs 1 laws, one per degree of freedom; 2 given"):
        bare.with_friction({"joint1": [STRIBECK, STRIBECK]})
    with pytest.raises(ArgumentError, match="'mjcf'"):
        bare.with_friction("mjcf")
    with pytest.raises(ArgumentError, match="load"):
        robot.friction_force(zero, load=[1.0])
