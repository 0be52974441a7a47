"""Equilibrium and modes, against closed forms and MuJoCo-free oracles of statics."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

import torsor as ts
from tests.tolerance import assert_close
from torsor.errors import ArgumentError, SingularError
from torsor.terms import Spring


def pendulum(m=2.0, l=0.7) -> ts.Robot:
    """A point mass on a rod that hangs at q = 0."""
    b = ts.Builder("pendulum")
    b.link("base")
    b.link("rod", mass=m, com=(0, 0, -l), inertia=(0, 0, 0))
    b.joint("pivot", "revolute", "base", "rod", axis=(0, 1, 0))
    return b.build()


def test_equilibrium_of_a_pendulum_with_a_spring_solves_its_equation():
    k, rest = 9.0, 1.0
    q = pendulum().with_springs({"pivot": Spring(k, rest=rest)}).equilibrium([0.0])
    exact = brentq(lambda q: 2.0 * 9.81 * 0.7 * np.sin(q) - k * (rest - q), 0, 1, xtol=1e-15)
    assert_close(q, [exact], condition=10)


def test_pendulum_falls_to_the_stable_equilibrium_and_vibrates_about_it():
    robot = pendulum()
    starts = np.array([[0.4], [np.pi / 2], [-np.pi / 2], [3.0]])
    found = robot.equilibrium(starts)
    np.testing.assert_allclose(np.sin(found / 2), 0, atol=1e-12)  # q = 0, up to whole turns
    assert_close(robot.modes([0.0]).frequencies, [np.sqrt(9.81 / 0.7)])
    assert_close(robot.modes([np.pi]).frequencies, [-np.sqrt(9.81 / 0.7)])  # unstable
    assert_close(robot.modes([[0.0], [np.pi]]).frequencies[:, 0], np.sqrt(9.81 / 0.7) * np.array([1, -1]))


def test_equilibrium_under_joint_forces_balances_them():
    robot = ts.robots.ur5().with_springs(Spring(400.0))
    tau = np.array([[5.0, -3.0, 2.0, 0.5, 1.0, -1.0], np.zeros(6)])
    q = robot.equilibrium(np.zeros(6), tau)
    assert q.shape == (2, 6)
    np.testing.assert_allclose(robot.inverse_dynamics(q, np.zeros((2, 6)), np.zeros((2, 6))), tau, atol=1e-9)
    assert (robot.modes(q).frequencies > 0).all()


def test_modes_diagonalise_mass_and_stiffness():
    robot = ts.robots.ur5().with_springs(Spring(400.0))
    q = robot.equilibrium(np.zeros(6))
    w, shapes = robot.modes(q)
    M = robot.mass_matrix(q)
    assert_close(shapes.T @ M @ shapes, np.eye(6), condition=np.linalg.cond(M))
    h, x = 1e-6, shapes[:, 0]
    still = np.zeros(6)
    f = (robot.inverse_dynamics(q + h * x, still, still) - robot.inverse_dynamics(q - h * x, still, still)) / (2 * h)
    np.testing.assert_allclose(f, w[0] ** 2 * M @ x, rtol=1e-5, atol=1e-5)


def test_floating_body_hangs_below_its_spring():
    b = ts.Builder("bob")
    b.link("bob", mass=3.0, com=(0, 0, 0), inertia=(0.1, 0.1, 0.1))
    robot = b.build("floating").with_springs({("bob", "world"): Spring(60.0, rest=0.5)})
    q0 = robot.neutral()
    q0[:3] = 0.3, -0.2, -0.4
    assert_close(robot.equilibrium(q0)[:3], [0.0, 0.0, -(0.5 + 3.0 * 9.81 / 60)], relative=1e-9, floor=1)


def test_equilibrium_that_does_not_exist_and_curl_forces_are_errors():
    free = ts.robots.two_link().with_base("floating")
    with pytest.raises(SingularError, match="has no equilibrium near q0"):
        free.equilibrium(free.neutral())
    swirl = ts.robots.two_link().with_forces({"tip": ts.forces.field(lambda p: [-5.0 * p[1], 5.0 * p[0], 0])})
    with pytest.raises(ArgumentError, match="is not symmetric"):
        swirl.modes([0.3, 0.4])
    with pytest.raises(ArgumentError, match="finite"):
        free.equilibrium([np.nan] * free.nq)
    with pytest.raises(ArgumentError, match="tau must be"):
        ts.robots.two_link().equilibrium([0, 0], [np.inf, 0])


def test_statics_of_a_robot_with_rows_are_refused_with_a_reason_and_friction_is_ignored():
    robot = ts.robots.two_link()
    held = robot.with_constraints(ts.constraints.point_on_plane("tip", normal=(1, 0, 0), through=(1, 0, 0)))
    with pytest.raises(ArgumentError, match="does not have an equilibrium and modes"):
        held.modes([0.0, 0.0])
    rubbing = robot.with_friction({"joint1": ts.actuators.friction.Coulomb(1.0)})
    assert_close(rubbing.modes([-np.pi / 2, 0.0]).frequencies, robot.modes([-np.pi / 2, 0.0]).frequencies)
