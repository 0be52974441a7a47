"""Fourier series: sums of sines, derivatives, rest at both ends."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests.tolerance import assert_close
from torsor.errors import ArgumentError, Unsupported

A, B = np.array([[0.2, 0.3], [0.1, -0.1], [0.0, 0.05]]), np.array([[0.1, 0.0], [0.0, 0.2], [-0.1, 0.1]])


def test_fourier_series_and_its_rates_are_sums_of_sines():
    motion = ts.trajectories.fourier(ts.robots.two_link(), [0.5, 1.0], A, B, frequency=0.4)
    assert motion.duration == 2.5
    t, q, v, a = motion.sample(0.1)
    w = 2 * np.pi * 0.4
    terms = [(w * k, A[k - 1], B[k - 1], np.sin(w * k * t)[:, None], np.cos(w * k * t)[:, None]) for k in (1, 2, 3)]
    assert_close(q, np.add([0.5, 1.0], sum(x * s + y * c for _, x, y, s, c in terms)))
    assert_close(v, sum(u * (x * c - y * s) for u, x, y, s, c in terms))
    assert_close(a, sum(-u * u * (x * s + y * c) for u, x, y, s, c in terms))


@pytest.mark.parametrize("duration", [None, 0.7, 4.1])
def test_fourier_series_at_rest_starts_and_ends_still_in_its_center(duration):
    free = ts.trajectories.fourier(ts.robots.two_link(), [0.5, 1.0], A, B, frequency=0.4, duration=duration)
    still = ts.trajectories.fourier(ts.robots.two_link(), [0.5, 1.0], A, B, frequency=0.4, duration=duration, at_rest=True)
    ends = still.at([0.0, still.duration])
    assert_close(ends.q, [[0.5, 1.0]] * 2)
    assert_close(np.array([ends.v, ends.a]), np.zeros((2, 2, 2)), scale=np.abs(still.sample(0.01).a).max())
    t = np.linspace(0, still.duration, 50)
    rest = still.at(t).q - free.at(t).q  # a polynomial of degree five
    fit = np.polynomial.Polynomial.fit
    for x in rest.T:
        assert_close(fit(t, x, 5)(t), x, 1e-11)


def test_fourier_refuses_wrong_coefficients_and_quaternions():
    arm = ts.robots.two_link()
    for sines in ([[0.1]], [], [0.1, 0.2], [[np.nan, 0.0]]):
        with pytest.raises(ArgumentError, match="sines"):
            ts.trajectories.fourier(arm, [0, 0], sines, frequency=1.0)
    with pytest.raises(ArgumentError, match="cosines"):
        ts.trajectories.fourier(arm, [0, 0], A, B[:2], frequency=1.0)
    for frequency in (0, -1.0, np.nan, np.inf):
        with pytest.raises(ArgumentError, match="frequency must be a positive number"):
            ts.trajectories.fourier(arm, [0, 0], A, frequency=frequency)
    with pytest.raises(Unsupported, match="quaternions"):
        ts.trajectories.fourier(ts.robots.quadruped(), ts.robots.quadruped().neutral(), np.zeros((1, 19)), frequency=1.0)
