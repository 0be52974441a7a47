"""Motions of elastic links: the frequency of the cantilever, the energy balance, and errors."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.errors import ArgumentError
from torsor.flexible import FlexibleRobot
from torsor.mechanics.flexible import beam
from torsor.simulate.flexible_links import FlexibleResult, simulate_flexible


@pytest.fixture(scope="module")
def arm():
    link = beam(1.0, mass_per_length=1.0, EI_z=200.0, modes=(1, 0, 0))
    return FlexibleRobot.of(ts.robots.two_link(), {"link1": link})


def test_joints_held_in_place_vibrate_at_the_locked_frequency(arm):
    """Joint torques that keep q̈ = 0, τ of inverse dynamics; small η then vibrates as in the linear model."""
    hold = lambda t, q, v: arm.inverse_dynamics(q, v, [0.0, 0.0]).tau  # noqa: E731
    rest = arm.equilibrium(arm.neutral())
    w = float(arm.frequencies(rest, joints="locked")[0])
    start = rest + np.array([0, 0, 1e-4])
    run = simulate_flexible(arm, start, np.zeros(3), 2 * np.pi / w, hold, dt=2 * np.pi / w / 200)
    np.testing.assert_allclose(run.q[:, :2], 0, atol=1e-9)
    np.testing.assert_allclose(run.q[:, 2] - rest[2], 1e-4 * np.cos(w * run.t), atol=3e-8)


def test_work_of_forces_and_wrenches_is_the_change_of_energy(arm):
    push = {"tip": lambda t, q, v: [0, 0, 0, 3 * np.cos(9 * t), 1.0, 0]}
    run = simulate_flexible(arm, arm.neutral(), np.zeros(3), 0.2, [2.0, -1.0], wrenches=push, dt=5e-4)
    change = np.ptp(np.sum(list(run.energies.values()), axis=0))
    assert run.energy_error < 1e-4 * change
    np.testing.assert_allclose(run.wrenches["tip"][:, 3], 3 * np.cos(9 * run.t), rtol=1e-12)
    np.testing.assert_array_equal(run.tau[7], [2.0, -1.0])


def test_step_follows_the_fastest_vibration_and_one_that_is_too_long_is_refused(arm):
    stiff = FlexibleRobot.of(ts.robots.two_link(), {"link1": beam(1.0, mass_per_length=1.0, EI_z=2e6, modes=(1, 0, 0))})
    fastest = stiff.frequencies(stiff.neutral()).max()
    drag = lambda t, q, v: [0.0, -3000.0 * v[1]]  # noqa: E731
    slow, quick = (np.diff(simulate_flexible(arm, arm.neutral(), np.zeros(3), 2e-3, c).t).max() for c in (None, drag))
    assert quick < slow / 2  # feedback on a light link is fast too
    assert np.diff(simulate_flexible(stiff, stiff.neutral(), np.zeros(3), 1e-3).t).max() * fastest < 1
    with pytest.raises(ArgumentError, match="too long for vibrations"):
        simulate_flexible(stiff, stiff.neutral(), np.zeros(3), 1e-2, dt=1e-2)


def test_invalid_motions_are_refused(arm):
    t, q = np.linspace(0, 1, 3), np.zeros((3, 3))
    with pytest.raises(ArgumentError, match=r"q has shape \(3, 2\), expected \(3, 3\)"):
        FlexibleResult(arm, t, q[:, :2])
    with pytest.raises(ArgumentError, match="not finite"):
        FlexibleResult(arm, t, q * np.nan)
    with pytest.raises(ArgumentError, match="each after the one before"):
        FlexibleResult(arm, t[::-1], q)
    with pytest.raises(ArgumentError, match="energies need velocities"):
        FlexibleResult(arm, t, q).energies  # noqa: B018
    with pytest.raises(ArgumentError, match=r"control is \[1.0, 2.0, 3.0\] \(list\); it must be .* shape \(2,\)"):
        simulate_flexible(arm, arm.neutral(), np.zeros(3), 0.1, [1.0, 2.0, 3.0])
    with pytest.raises(ArgumentError, match="duration"):
        simulate_flexible(arm, arm.neutral(), np.zeros(3), -1.0)


def test_flexible_result_interpolates_between_records(arm):
    q = np.array([[0.0, 0, 0], [0.2, 0.4, 0.1]])
    np.testing.assert_allclose(FlexibleResult(arm, [0.0, 1.0], q).at([0.25]), [[0.05, 0.1, 0.025]], atol=1e-15)
