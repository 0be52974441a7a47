"""Accelerations of logs: closed forms with and without noise, uneven times, ends, a simulated UR5, bad input."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor import logs
from torsor.errors import ArgumentError, FileError
from torsor.io.logs.differentiation import derivatives, interpolate

W, PHASE = 2 * np.pi * np.array([0.5, 1.0, 3.0]), np.array([0.3, 0.7, 1.1])


def sines(t):
    """y, ẏ and ÿ of three sinusoids of 0.5, 1 and 3 Hz."""
    angle = t[:, None] * W + PHASE
    return np.sin(angle), W * np.cos(angle), -(W**2) * np.sin(angle)


def rms(x):
    return np.sqrt((x**2).mean(axis=0))


def test_derivatives_of_polynomials_up_to_cubics_are_exact():
    t = np.linspace(2.0, 5.0, 200)
    y = np.stack([np.ones_like(t), t, t**2, t**3], axis=1)
    (first, second), _ = derivatives(t, y, 2)
    zero, one = np.zeros_like(t), np.ones_like(t)
    np.testing.assert_allclose(first, np.stack([zero, one, 2 * t, 3 * t**2], axis=1), atol=1e-6)
    np.testing.assert_allclose(second, np.stack([zero, zero, 2 * one, 6 * t], axis=1), atol=1e-6)


def test_samples_without_noise_are_hardly_filtered():
    """At 1 kHz the error is that of the ends, relative to the largest value; in the middle there is hardly any."""
    t = np.arange(4001) * 1e-3
    y, first, second = sines(t)
    (a,), cutoff = derivatives(t, y, 1)
    assert (cutoff > 100).all()
    assert (np.abs(a - first).max(axis=0) < 1e-4 * W).all()
    assert (np.abs(a - first)[500:-500].max(axis=0) < 1e-8 * W).all()
    (v, a), _ = derivatives(t, y, 2)
    assert (np.abs(v - first).max(axis=0) < 1e-4 * W).all()
    assert (np.abs(a - second).max(axis=0) < 1e-2 * W**2).all()


@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("noise", [1e-3, 1e-2])
def test_chosen_cutoff_is_near_the_best_one(noise, uneven):
    """The error of the chosen filter is at most 3 times that of the best of many, which needs the true derivative.

    Over 8 × 5 draws the ratio has a median of 1.05, nine of ten are below 2.3, and the largest is 4.8.
    """
    rng = np.random.default_rng(3)
    t = np.arange(2001) * 5e-3
    t = np.sort(t + uneven * rng.uniform(-1e-3, 1e-3, len(t)))
    y, first, _ = sines(t)
    y = y + noise * rng.normal(size=y.shape)
    (a,), cutoff = derivatives(t, y, 1)
    tried = [rms(derivatives(t, y, 1, float(f))[0][0] - first) for f in np.geomspace(1.0, 90.0, 15)]
    assert (rms(a - first) <= 3 * np.min(tried, axis=0)).all()
    assert (cutoff > W / (2 * np.pi)).all()
    crude = rms(np.gradient(y, t, axis=0) - first)
    assert (rms(a - first) < 0.1 * crude).all()


def test_filter_has_no_phase_and_the_gain_of_butterworth_twice():
    """H = 1/2 at the cutoff, and no shift in time: the derivative of a sine is a cosine of half the size."""
    t = np.arange(2000) * 1e-3
    w = 2 * np.pi * 10
    (a,), cutoff = derivatives(t, np.sin(w * t)[:, None], 1, cutoff=10.0)
    assert cutoff.tolist() == [10.0]
    inside = slice(500, 1500)
    np.testing.assert_allclose(a[inside, 0], 0.5 * w * np.cos(w * t[inside]), atol=1e-3 * w)


def test_repeated_times_count_once_by_their_mean():
    t = np.arange(200) * 1e-2
    y, _, _ = sines(t)
    twice = np.sort(np.concatenate([t, t[50:60]]))
    rows = np.searchsorted(t, twice)
    noisy = y[rows].copy()
    noisy[51] += 0.1
    noisy[50] -= 0.1
    assert twice[50] == twice[51]
    np.testing.assert_allclose(derivatives(twice, noisy, 1)[0][0], derivatives(t, y, 1)[0][0][rows], atol=1e-9)


def test_interpolation_is_exact_for_cubics_and_linear_between_distant_samples():
    t = np.sort(np.random.default_rng(4).uniform(-0.2, 0.2, 30)) + np.arange(30)
    at = np.linspace(t[0], t[-1], 77)
    np.testing.assert_allclose(interpolate(t, t[:, None] ** 3, at)[:, 0], at**3, rtol=1e-9, atol=1e-9)
    far = np.array([0.0, 1.0, 1.01, 5.0, 6.0])
    np.testing.assert_allclose(
        interpolate(far, far[:, None] ** 2, np.array([3.0]))[0, 0], 1.01**2 + (25 - 1.01**2) * 1.99 / 3.99
    )


@pytest.fixture(scope="module")
def motion():
    robot = ts.robots.ur5()
    run = robot.simulate(np.zeros(6), np.zeros(6), 2.0, ts.simulate.pd_with_mass_matrix(robot, [0.5, -1, 1, 0.3, 0.2, 0.1]))
    return robot, run, robot.forward_dynamics(run.q, run.v, run.tau)


def test_accelerations_of_a_simulated_ur5(motion, tmp_path):
    robot, run, a = motion
    run.save(tmp_path / "rec.csv")
    found = logs.with_accelerations(logs.read(tmp_path / "rec.csv"), robot)
    assert found.of == "v"
    assert np.abs(found.log.a - a).max() < 1e-4 * np.abs(a).max()
    tau = robot.inverse_dynamics(found.log.q, found.log.v, found.log.a)
    assert (rms(tau - run.tau) < 1e-6 * rms(run.tau)).all()
    again = logs.with_accelerations(found.log, robot)
    assert (again.of, again.log.a.tolist()) == ("a", found.log.a.tolist())


def test_positions_alone_give_velocities_and_accelerations(motion):
    robot, run, a = motion
    wrapped = (run.q + 3.0 + np.pi) % (2 * np.pi) - np.pi  # a log of angles between −π and π
    found = logs.with_accelerations(logs.Log(t=run.t, q=wrapped), robot)
    assert found.of == "q"
    assert np.abs(found.log.v - run.v).max() < 1e-3 * np.abs(run.v).max()
    assert np.abs(found.log.a - a)[20:-20].max() < 1e-2 * np.abs(a).max()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"t": None}, FileError, "has no a, and t with v or q"),
        ({"v": None, "q": None, "tau": np.zeros((40, 2))}, FileError, "has no a, and t with v or q"),
        ({"t": np.zeros(40)}, FileError, "1 different times; 8 are needed"),
        ({"t": np.arange(40.0)[::-1]}, FileError, "must not decrease"),
        ({"t": np.full(40, np.nan)}, FileError, "must be finite"),
        ({"v": np.full((40, 2), np.nan)}, FileError, "v of 'joint1' is nan in row 1"),
        ({"cutoff": 0.0}, ArgumentError, "cutoff must be above 0 and at most 50 Hz"),
        ({"cutoff": 51.0}, ArgumentError, "half the sampling rate, not 51.0"),
        ({"cutoff": np.nan}, ArgumentError, "cutoff must be above 0"),
        ({"cutoff": "5"}, ArgumentError, "not '5'"),
    ],
)
def test_logs_that_cannot_be_differentiated(change, error, message):
    columns = {"t": np.arange(40) * 0.01, "q": np.zeros((40, 2)), "v": np.zeros((40, 2)), "cutoff": None} | change
    cutoff = columns.pop("cutoff")
    with pytest.raises(error, match=message):
        logs.with_accelerations(logs.Log(**columns), ts.robots.two_link(), cutoff)


def test_quaternions_without_velocities_are_refused():
    body = ts.robots.quadruped()
    log = logs.Log(t=np.arange(40) * 0.01, q=np.tile(body.neutral(), (40, 1)))
    with pytest.raises(FileError, match="has no v; it cannot follow from q of joint"):
        logs.with_accelerations(log, body)
    still = logs.with_accelerations(logs.Log(t=log.t, q=log.q, v=np.zeros((40, body.nv))), body)
    assert not still.log.a.any()  # a column without motion
