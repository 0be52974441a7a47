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


def bob_on_a_circle(l=0.7) -> ts.Robot:
    """A pendulum in Cartesian coordinates: a mass on two slides, at the distance l from the origin."""
    b = ts.Builder("bob on a circle")
    b.link("base")
    b.link("carriage")
    b.link("bob", mass=2.0, inertia=(0, 0, 0))
    b.joint("x", "prismatic", "base", "carriage", axis=(1, 0, 0))
    b.joint("z", "prismatic", "carriage", "bob", axis=(0, 0, 1))
    return b.build().with_constraints(ts.constraints.distance("bob", "base", l))


def test_pendulum_in_cartesian_coordinates_hangs_and_vibrates_like_a_pendulum():
    """Its stiffness is that of the rod alone, −∂(Aᵀλ)/∂q."""
    robot = bob_on_a_circle()
    np.testing.assert_allclose(robot.equilibrium([[0.4, 0.5], [-0.7, 0.01]]), [[0, -0.7], [0, -0.7]], atol=1e-12)
    w, shapes = robot.modes([[0.0, -0.7], [0.0, 0.7]])
    assert_close(w[:, 0], np.sqrt(9.81 / 0.7) * np.array([1, -1]))
    assert_close(shapes[:, :, 0], np.array([[1, 0], [1, 0]]) / np.sqrt(2.0))


def test_four_bar_rests_and_its_mode_is_that_of_its_constrained_motion():
    robot = ts.mechanisms.four_bar().with_springs({"crank": Spring(20.0, rest=1.0)})
    q = robot.equilibrium(robot.assemble())
    still = np.zeros(3)
    np.testing.assert_allclose(robot.constrained().residual(q), 0, atol=1e-12)
    np.testing.assert_allclose(robot.forward_dynamics(q, still, still), 0, atol=1e-10)
    (w,), shapes = robot.modes(q)
    x, h = shapes[:, 0], 1e-5
    ends = [robot.constrained().project(robot.integrate(q, s * x)) for s in (h, -h)]
    a = [robot.forward_dynamics(end, still, still) for end in ends]
    np.testing.assert_allclose((a[0] - a[1]) / (2 * h), -(w**2) * x, rtol=1e-6, atol=1e-6)
    assert w > 0


def test_equilibrium_of_a_linkage_with_a_held_joint_keeps_the_joint():
    robot = ts.mechanisms.five_bar()
    q0 = robot.assemble()
    held = robot.joints[0]
    q = robot.equilibrium(q0, held=[held])
    assert q[robot.joint(held).q_slice] == q0[robot.joint(held).q_slice]
    np.testing.assert_allclose(robot.constrained().residual(q), 0, atol=1e-12)
    assert robot.potential_energy(q) < robot.potential_energy(q0)
    assert robot.modes(q, held=[held]).frequencies.shape == (1,)
    assert robot.modes(q).frequencies.shape == (2,)


def test_statics_under_a_constraint_that_moves_are_refused_and_friction_is_ignored():
    robot = ts.robots.two_link()
    held = robot.with_constraints(
        ts.constraints.prescribed(ts.constraints.point_on_plane("tip", normal=(1, 0, 0)), lambda t: [0.1 * t])
    )
    with pytest.raises(ArgumentError, match="does not have an equilibrium and modes"):
        held.modes([0.0, 0.0])
    rubbing = robot.with_friction({"joint1": ts.actuators.friction.Coulomb(1.0)})
    assert_close(rubbing.modes([-np.pi / 2, 0.0]).frequencies, robot.modes([-np.pi / 2, 0.0]).frequencies)
