"""URDF → Mlist, Glist, Slist (MR Exercise 8.12) and back; the falling UR5 of Exercise 8.15."""

from __future__ import annotations

import warnings

import modern_robotics as book
import numpy as np
import pytest

import torsor as ts
import torsor.bridges.modern_robotics as mr
from tests.tolerance import assert_close
from torsor.errors import ModelError, ModelWarning, UnknownName
from torsor.io.mr_lists import to_mr

GRAVITY = np.array([0.5, -1.0, -9.81])


def panda_arm():
    return ts.robots.panda().lock({"panda_finger_joint1": 0.02})


def helical():
    return (
        ts.Builder("drill")
        .link("base", mass=1.0)
        .link("boom", mass=2.0, com=(0.3, 0, 0.1), inertia=(0.1, 0.2, 0.3))
        .link("bit", mass=0.5, com=(0, 0.1, 0))
        .joint("swing", "revolute", "base", "boom", xyz=(0.1, 0.2, 0.3), rpy=(0.1, 0.2, 0.3), axis=(0.6, 0, 0.8))
        .joint("feed", "helical", "boom", "bit", xyz=(0.5, 0, 0), axis=(0, 0.6, 0.8), pitch=0.05)
        .build()
    )


ROBOTS = {
    "ur5": (ts.robots.ur5, "tool0"),
    "puma560": (ts.robots.puma560, "end_effector"),
    "panda arm": (panda_arm, "panda_hand"),
    "stanford arm": (ts.robots.stanford_arm, "end_effector"),
    "scara": (ts.robots.scara, "tip"),
    "drill": (helical, "bit"),
}


#: like the others, with more kernels; the UR5 is tested below
MORE = {"ur5": pytest.mark.night, "stanford arm": pytest.mark.night}


@pytest.fixture(scope="module", params=[pytest.param(name, marks=MORE.get(name, ())) for name in ROBOTS])
def case(request):
    """A robot, its lists and their tip; the lists omit rotors, so comparisons subtract them."""
    make, tip = ROBOTS[request.param]
    robot = make().with_gravity(GRAVITY)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return robot, to_mr(robot, tip=tip), tip


def rotors(robot):
    return np.array([robot.joint(j).armature[0] for j in robot.joints])


def test_from_mr_of_to_mr_gives_the_same_dynamics(case):
    robot, (M, G, S), tip = case
    again = ts.from_mr(M, G, S, gravity=GRAVITY)
    q = robot.random_configuration(1, size=20)
    v, a = np.random.default_rng(2).normal(size=(2, 20, robot.nv))
    assert_close(again.mass_matrix(q) + np.diag(rotors(robot)), robot.mass_matrix(q), floor=1)
    assert_close(again.inverse_dynamics(q, v, a) + rotors(robot) * a, robot.inverse_dynamics(q, v, a), floor=1)
    assert_close(again.pose(q, "end_effector"), robot.pose(q, tip), floor=1)
    assert_close(again.jacobian(q, "end_effector", "body"), robot.jacobian(q, tip, "body"), floor=1)


def test_modern_robotics_computes_the_same_dynamics_from_the_lists(case):
    robot, (M, G, S), tip = case
    q = robot.random_configuration(3)
    v, a = np.random.default_rng(4).normal(size=(2, robot.nv))
    F = np.arange(1.0, 7.0)
    ours = robot.inverse_dynamics(q, v, a, {tip: -F}) - rotors(robot) * a
    assert_close(ours, book.InverseDynamics(q, v, a, GRAVITY, F, M, G, S), floor=1)
    assert_close(robot.pose(q, tip), book.FKinSpace(np.linalg.multi_dot(list(M)) if len(M) > 1 else M[0], S, q), floor=1)


def test_to_mr_puts_frames_at_the_centres_of_mass(case):
    _, (_, G, _), _ = case
    assert not G[:, :3, 3:].any()
    assert not G[:, 3:, :3].any()


def test_to_mr_of_from_mr_gives_the_same_lists():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        M, G, S = to_mr(ts.robots.ur5(), tip="tool0")
        again = to_mr(ts.from_mr(M, G, S))
    for x, y in zip(again, (M, G, S), strict=True):
        assert_close(x, y, 1e-14, floor=1)


def test_to_mr_default_tip_is_the_last_link():
    robot = ts.robots.ur5()
    assert_close(to_mr(robot)[0], to_mr(robot.description, tip="wrist_3_link")[0], 0, floor=1)


def test_to_mr_omits_rotors_with_a_warning():
    with pytest.warns(ModelWarning, match="leave out the rotors .* of joint1, joint2"):
        to_mr(ts.robots.puma560())


def spherical():
    return ts.Builder("b").link("a").link("b", mass=1.0).joint("ball", "spherical", "a", "b").build()


def symbolic():
    import sympy

    return ts.robots.two_link(m1=sympy.Symbol("m"))


@pytest.mark.parametrize(
    ("make", "tip", "kind", "message"),
    [
        (lambda: ts.robots.ur5().with_base("floating"), None, ModelError, "its base is floating"),
        (ts.robots.panda, None, ModelError, "'panda_finger_joint2' is a mimic joint"),
        (lambda: ts.robots.panda().without_couplings(), None, ModelError, "not a chain: joint 'panda_finger_joint2'"),
        (lambda: ts.robots.quadruped().with_base("fixed"), None, ModelError, "not a chain"),
        (spherical, None, ModelError, "joint 'ball' is spherical"),
        (lambda: ts.Builder("stone").link("stone", mass=1.0).build(), None, ModelError, "it has no moving joint"),
        (symbolic, None, ModelError, "symbols"),
        (ts.robots.ur5, "forearm_link", ModelError, "tip 'forearm_link' is not on the last link"),
        (ts.robots.ur5, "nose", UnknownName, "nose"),
    ],
)
def test_robots_without_lists_are_refused_with_reason(make, tip, kind, message):
    with pytest.raises(kind, match=message):
        to_mr(make(), tip=tip)


# -- Exercise 8.15 -----------------------------------------------------------------------------------------------


def test_to_mr_of_the_ur5_has_the_masses_and_moments_of_the_urdf():
    """(a) masses and principal moments as in the URDF of MR 4.2."""
    _, G, _ = to_mr(ts.robots.ur5(), tip="tool0")
    assert [g[5, 5] for g in G] == [3.7, 8.393, 2.275, 1.219, 1.219, 0.1879]
    moments = np.array([np.diag(g)[:3] for g in G])
    printed = [
        (0.010267495893, 0.010267495893, 0.00666),
        (0.22689067591, 0.22689067591, 0.0151074),
        (0.049443313556, 0.049443313556, 0.004095),
        (0.111172755531, 0.111172755531, 0.21942),
        (0.111172755531, 0.111172755531, 0.21942),
        (0.0171364731454, 0.0171364731454, 0.033822),
    ]
    assert np.abs(moments - printed).max() < 1e-15


def test_falling_ur5_energy_error_halves_with_the_euler_step():
    """(b) three seconds from the zero configuration: Euler's error in the energy halves with the step."""
    robot = ts.robots.ur5()
    M, G, S = to_mr(robot, tip="tool0")
    still, excess, last = np.zeros(6), [], []
    for steps in (50, 100, 200):
        theta, dtheta = mr.ForwardDynamicsTrajectory(still, still, np.zeros((301, 6)), robot.gravity, 0, M, G, S, 0.01, steps)
        energy = robot.kinetic_energy(theta, dtheta) + robot.potential_energy(theta)
        excess.append(energy - energy[0])
        last.append(theta[-1])
        assert robot.kinetic_energy(theta, dtheta).max() > 50  # [J]: the arm falls
    for time in (100, 200, 300):
        coarse, middle, fine = (e[time] for e in excess)
        assert 1.98 < coarse / middle < 2.02
        assert 1.98 < middle / fine < 2.02
    assert np.abs(last[2] - last[1]).max() < 0.6 * np.abs(last[1] - last[0]).max()


def test_falling_ur5_agrees_with_modern_robotics():
    robot = ts.robots.ur5()
    lists, still = to_mr(robot, tip="tool0"), np.zeros(6)
    arguments = (still, still, np.zeros((8, 6)), robot.gravity, np.zeros((8, 6)), *lists, 0.05, 2)
    for ours, theirs in zip(mr.ForwardDynamicsTrajectory(*arguments), book.ForwardDynamicsTrajectory(*arguments), strict=True):
        assert_close(ours, theirs, 1e-11, floor=1)
