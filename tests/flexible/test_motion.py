"""Motions of robots with beams: the frequency of the cantilever, the energy balance, stiff modes, the same in all loops."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests.flexible.beam_arms import inverse
from torsor.errors import ArgumentError
from torsor.flexible import beam


@pytest.fixture(scope="module")
def arm():
    link = beam(1.0, mass_per_length=1.0, EI_z=200.0, modes=(1, 0, 0))
    return ts.robots.two_link().with_beams({"link1": link})


def test_joints_held_in_place_vibrate_at_the_locked_frequency(arm):
    """Joint torques that keep q̈ = 0, τ of hybrid dynamics; small η then vibrates as in the linear model."""
    hold = lambda t, q, v: [*inverse(arm, q, v, [0.0, 0.0])[0], 0.0]  # noqa: E731
    joints = ["joint1", "joint2"]
    rest = arm.equilibrium(arm.neutral(), held=joints)
    w = float(arm.modes(rest, held=joints).frequencies[0])
    start = rest + np.array([0, 0, 1e-4])
    run = arm.simulate(start, np.zeros(3), 2 * np.pi / w, hold, dt=2 * np.pi / w / 200)
    np.testing.assert_allclose(run.q[:, :2], 0, atol=1e-9)
    np.testing.assert_allclose(run.q[:, 2] - rest[2], 1e-4 * np.cos(w * run.t), atol=3e-8)


def test_work_of_forces_and_wrenches_is_the_change_of_energy(arm):
    push = {"tip": lambda t, q, v: [0, 0, 0, 3 * np.cos(9 * t), 1.0, 0]}
    run = arm.simulate(arm.neutral(), np.zeros(3), 0.2, [2.0, -1.0, 0.0], wrenches=push, dt=5e-4)
    change = np.ptp(np.sum(list(run.energies.values()), axis=0))
    assert run.audit().worst < 1e-4 * change
    np.testing.assert_allclose(run.wrenches["tip"][:, 3], 3 * np.cos(9 * run.t), rtol=1e-12)
    np.testing.assert_array_equal(run.tau[7], [2.0, -1.0, 0.0])


def test_simulation_rollout_and_steps_of_a_beam_agree(arm):
    """One equation: fixed steps of simulate, a rollout, single steps, and an adaptive method of high order."""
    q, v, u, dt = np.array([0.3, -0.4, 0.01]), np.array([0.2, 0.1, -0.3]), [1.0, -2.0, 0.0], 2e-4
    run = arm.simulate(q, v, 40 * dt, u, dt=dt)
    rolled = arm.rollout(q, v, u, dt=dt, steps=40, integrator="rk4")
    np.testing.assert_allclose(rolled.q[-1], run.q[-1], rtol=1e-12, atol=1e-14)
    at = q, v
    for _ in range(40):
        at = arm.step(*at, u, dt, integrator="rk4")
    np.testing.assert_allclose(at[0], run.q[-1], rtol=1e-12, atol=1e-14)
    exact = arm.simulate(q, v, 40 * dt, u, integrator=ts.Adaptive("dop853", tolerance=1e-11))
    np.testing.assert_allclose(run.q[-1], exact.q[-1], atol=1e-8)


def test_steps_too_long_for_the_vibrations_are_refused(arm):
    stiff = arm.with_beams({"link1": beam(1.0, mass_per_length=1.0, EI_z=2e6, modes=(1, 0, 0))})
    with pytest.raises(ArgumentError, match=r"dt = 0.01 s is too long .* below"):
        stiff.simulate(stiff.neutral(), np.zeros(3), 1e-2, dt=1e-2)
    with pytest.raises(ArgumentError, match=r"dt = 0.01 s is too long"):
        stiff.rollout(stiff.neutral(), np.zeros(3), dt=1e-2, steps=2)


def test_result_of_a_beam_interpolates_between_records(arm):
    q = np.array([[0.0, 0, 0], [0.2, 0.4, 0.1]])
    motion = ts.simulate.Result(np.array([0.0, 1.0]), q, 0 * q, 0 * q, robot=arm)
    assert motion.at(np.array([0.0, 1.0]))[0].shape == (2, 3)


def test_modes_and_equilibria_of_any_robot():
    """A pendulum: √(g/l) below, −√(g/l) above its pivot; batches; what has no small motions is refused."""
    bob = ts.robots.pendulum()
    w, shapes = bob.modes([[0.0], [np.pi]])
    np.testing.assert_allclose(w[:, 0], np.sqrt(9.81) * np.array([1, -1]), rtol=1e-12)
    assert shapes.shape == (2, 1, 1)
    np.testing.assert_allclose(bob.equilibrium([[0.4], [-0.2]]), 0.0, atol=1e-12)
    arm = ts.robots.two_link()
    pull = {"tip": [0, 0, 0, 3.0, 0, 0]}
    rest = arm.equilibrium([-1.4, 0.0], wrenches=pull, expressed_in="world")
    np.testing.assert_allclose(arm.inverse_dynamics(rest, [0, 0], [0, 0], pull, expressed_in="world"), 0, atol=1e-9)
    with pytest.raises(ArgumentError, match="nothing moves"):
        arm.modes([0.0, 0.0], held=["joint1", "joint2"])
    with pytest.raises(ArgumentError, match="nan"):
        arm.modes([np.nan, 0.0])
