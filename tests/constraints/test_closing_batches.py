"""Batches of ``project`` and ``assemble``: by a kernel on the states that are open, the rest one by one."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests.constraints.mechanisms import four_bar
from torsor import constraints
from torsor.errors import ArgumentError, ClosureError
from torsor.mechanics.constraints import closing
from torsor.scalar import sin


@pytest.fixture(scope="module")
def bars():
    return four_bar().constrained()


def thrown(held, n, size=0.3, seed=0):
    """Configurations about a closed one."""
    rng, robot = np.random.default_rng(seed), held.robot
    at = np.broadcast_to(held.assemble([1.0, 0.5, 1.5]), (n, robot.nq))
    return robot.integrate(at, rng.uniform(-size, size, (n, robot.nv)), 1.0)


def test_project_batch_closes_loops_to_rounding_near_the_guesses(bars, monkeypatch):
    guesses = thrown(bars, 500)
    monkeypatch.setattr(closing, "_assemble_one", lambda *_: pytest.fail("closed one by one"))
    q = bars.project(guesses)
    assert np.abs(bars.residual(q)).max() < 1e-14


def test_project_batch_moves_along_the_rows(bars):
    guesses = thrown(bars, 50, 1e-4)  # to first order in this distance the nearest closed configuration
    q = bars.project(guesses)
    moves, allowed = bars.robot.difference(guesses, q), np.linalg.svd(bars.jacobian(q))[2][:, -1]
    assert np.abs(np.einsum("ni,ni->n", moves, allowed)).max() < 1e-3 * np.abs(moves).max()


def test_project_batch_equals_one_state_at_a_time_near_closure(bars):
    guesses = thrown(bars, 5, 1e-6)
    one = np.array([bars.project(q) for q in guesses])
    assert np.abs(bars.project(guesses) - one).max() < 1e-14
    assert np.array_equal(bars.project(guesses.reshape(5, 1, 3)), bars.project(guesses)[:, None])


def test_project_batch_of_velocities_keeps_the_rows(bars):
    guesses = thrown(bars, 7)
    q, v = bars.project(guesses, [1.0, 0.0, 0.0])
    assert q.shape == v.shape == (7, 3)
    assert np.abs(bars.slip(q, v)).max() < 1e-13


def test_assemble_batch_keeps_fixed_joints_and_repeats_from_random_starts(bars):
    guesses = np.array([[a, b, c] for a in (0.2, 0.5) for b in (0.0, 3.0) for c in (-1.0, 2.0)])
    q = bars.assemble(guesses, fixed=["A"])
    assert np.array_equal(q[:, 0], guesses[:, 0])
    assert np.abs(bars.residual(q)).max() < 1e-9
    assert guesses.tolist() == [[a, b, c] for a in (0.2, 0.5) for b in (0.0, 3.0) for c in (-1.0, 2.0)]


def test_assemble_batch_names_the_state_that_cannot_be_closed():
    far = ts.robots.two_link().constrained(constraints.point_at("tip", (5.0, 0.0, 0.0)))
    with pytest.raises(ClosureError, match=r"state \[0\] of the batch: no closure found"):
        far.assemble(np.zeros((2, 2)), attempts=1)


def test_project_batch_at_times_follows_a_driven_row():
    plane = constraints.point_on_plane("tip", (1, 0, 0), through=(1.0, 0, 0))
    held = ts.robots.two_link().constrained(constraints.prescribed(plane, lambda t: [0.1 * sin(t)]))
    times = np.array([0.0, 0.5, 1.0])
    q = held.project([0.5, 1.0], time=times)
    assert np.abs(held.robot.pose(q, "tip")[:, 0, 3] - 1.0 - 0.1 * np.sin(times)).max() < 1e-13
    with pytest.raises(ArgumentError, match="time"):
        held.project(np.zeros((2, 2)), time=times)


def test_project_batch_leaves_states_without_closure_as_they_are():
    ball = ts.Builder("ball").link("ground").link("ball", mass=1.0, inertia=(1, 1, 1)).joint("f", "floating", "ground", "ball")
    spin = ball.build().constrained(constraints.pfaffian(lambda q: [0, 0, 1, 0, 0, 0]))
    q = np.tile(spin.robot.neutral(), (3, 1))
    assert np.array_equal(spin.project(q), q)
    assert ts.robots.two_link().constrained().project(np.zeros((0, 2))).shape == (0, 2)
