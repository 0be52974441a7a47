"""Lagrange's equations by differentiation, compared with closed forms, and with Newton–Euler where v is not q̇."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torsor as ts
from tests.trees import random_tree, state
from torsor import algorithms as alg
from torsor.checks.certify.lagrange import lagrange
from torsor.model import Description, Link
from torsor.spatial import Inertia, Sym, Vec


def single_state(robot, q, v, a):
    return lagrange(robot.model, *(np.array(x, float)[None] for x in (q, v, a)))[0]


def test_lagrange_of_the_two_link_arm_matches_mr_8_9():
    """MR 8.9, term by term."""
    m1, m2, L1, L2, g = 1.3, 0.7, 0.8, 0.5, 9.81
    (t1, t2), (w1, w2), (a1, a2) = (0.3, -1.1), (0.7, 1.9), (-0.4, 0.9)
    c2, s2 = np.cos(t2), np.sin(t2)
    M = np.array([[m1 * L1**2 + m2 * (L1**2 + 2 * L1 * L2 * c2 + L2**2), m2 * (L1 * L2 * c2 + L2**2)], [0, m2 * L2**2]])
    M[1, 0] = M[0, 1]
    c = m2 * L1 * L2 * s2 * np.array([-(2 * w1 * w2 + w2**2), w1**2])
    lower = m2 * g * L2 * np.cos(t1 + t2)
    tau = M @ [a1, a2] + c + [(m1 + m2) * g * L1 * np.cos(t1) + lower, lower]
    np.testing.assert_allclose(
        single_state(ts.robots.two_link(m1=m1, m2=m2, L1=L1, L2=L2, g=g), (t1, t2), (w1, w2), (a1, a2)), tau, rtol=1e-14
    )


def test_lagrange_of_a_floating_body_matches_newton_and_euler():
    """F = m (v̇ + ω × v), N = I ω̇ + ω × I ω, with the origin at the centre of mass and no gravity (MR 8.22–8.24)."""
    I = Sym(0.3, 0.02, -0.01, 0.5, 0.03, 0.6)
    robot = ts.Robot(
        Description("stone", (Link("stone", Inertia(2.0, Vec(0, 0, 0), I)),), (), base="floating", gravity=Vec(0, 0, 0))
    )
    rng = np.random.default_rng(1)
    q, (w, v, alpha, dv) = robot.random_configuration(rng), rng.normal(size=(4, 3))
    J = np.array(I.rows, float)
    expected = [*(J @ alpha + np.cross(w, J @ w)), *(2.0 * (dv + np.cross(w, v)))]
    np.testing.assert_allclose(single_state(robot, q, [*w, *v], [*alpha, *dv]), expected, rtol=1e-13)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=12)
def test_lagrange_of_random_trees_agrees_with_rnea(seed):
    """Every joint type, mimic joints, armatures: 1e-13 of the largest force for each of seven bodies."""
    robot = ts.Robot(random_tree(seed))
    if not robot.nv:
        return
    q, v, a = state(robot, seed)
    tau = np.array(alg.rnea(robot.model, q.tolist(), v.tolist(), a.tolist()), float)
    size = np.abs(tau).max() + np.abs(alg.gravity_force(robot.model, q.tolist())).max()
    assert np.abs(single_state(robot, q, v, a) - tau).max() <= 7e-13 * size


def test_lagrange_with_rotors_equals_rnea():
    """MR §8.9.3: the spins enter K; a rotor couples to its mount if that turns about the rotor's axis."""
    rotor = {"mass": 0.3, "inertia": (1e-4, 1e-4, 2e-4), "ratio": 50}
    robot = ts.robots.furuta().with_rotors({"joint1": rotor, "joint2": rotor})
    state = [0.4, -0.8], [1.1, -2.3], [0.3, 0.9]
    np.testing.assert_allclose(single_state(robot, *state), alg.rnea(robot.model, *state), rtol=1e-13)
    bare = alg.rnea(robot.rotors_as_armature().model, *state)
    assert np.abs(single_state(robot, *state) - bare).max() > 1e-3, "the coupling is there to be seen"


@pytest.mark.parametrize("samples", [1, 3])
def test_lagrange_of_a_batch_equals_single_states(samples):
    robot = ts.robots.scara()
    rng = np.random.default_rng(0)
    q, (v, a) = robot.random_configuration(rng, samples), rng.normal(size=(2, samples, robot.nv))
    tau = lagrange(robot.model, q, v, a)
    assert tau.shape == (samples, robot.nv)
    np.testing.assert_allclose(tau[-1], single_state(robot, q[-1], v[-1], a[-1]), rtol=1e-15, atol=1e-15)
