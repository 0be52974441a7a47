"""Pantograph: exact scaling.  Peaucellier inversor: exact straight line."""

from __future__ import annotations

import numpy as np
import pytest

from tests.mechanisms.march import march
from tests.mechanisms.states import closed_state, configurations_at, constrained_system
from torsor import mechanisms


@pytest.mark.parametrize("ratio", [1.5, 3.0])
def test_pantograph_copy_moves_as_the_tracer_times_the_ratio(ratio):
    system = mechanisms.pantograph(ratio=ratio).constrained()
    robot, rng = system.robot, np.random.default_rng(0)
    for _ in range(5):
        q, v, _ = closed_state(system, rng, 0.4)
        tracer, copy = (robot.pose(q, frame)[:3, 3] for frame in ("tracer", "copy"))
        assert np.allclose(copy, ratio * tracer, rtol=0, atol=1e-12)
        slow, fast = (robot.jacobian(q, frame)[3:] @ v for frame in ("tracer", "copy"))
        assert np.allclose(fast, ratio * slow, rtol=0, atol=1e-11)


def test_pantograph_tracer_force_balances_ratio_times_the_copy_force():
    """In equilibrium the force at the tracer is −ratio times the force at the copy."""
    robot = mechanisms.pantograph(ratio=2.0, g=0.0)
    system = robot.constrained()
    q = closed_state(system, np.random.default_rng(1), 0.3)[0]
    f = np.array([1.0, -2.0, 0.0])
    push = {name: np.r_[0, 0, 0, robot.pose(q, name)[:3, :3].T @ k] for name, k in (("copy", f), ("tracer", -2 * f))}
    assert np.abs(system.forward_dynamics(q, np.zeros(4), np.zeros(4), push).a).max() < 1e-11


@pytest.fixture(scope="module")
def inversor():
    return constrained_system("peaucellier")


def test_peaucellier_pen_moves_on_a_straight_line(inversor):
    """Over 99.9 % of its range the pen is at x = (L² − s²)/2r, y = x tan(θ/2): OP is at half the crank angle."""
    line = (1.5**2 - 0.75**2) / (2 * 0.5)
    most = 0.999 * 2 * np.arccos((1.5 - 0.75) / (2 * 0.5))
    for side in (1, -1):
        angles = side * np.linspace(0, most, 60)
        q = configurations_at(inversor, "crank", angles)
        pen = inversor.robot.pose(q, "pen")[:, :3, 3]
        assert np.allclose(pen[:, 0], line, rtol=0, atol=1e-11)
        assert np.allclose(pen[:, 1], line * np.tan(angles / 2), rtol=0, atol=1e-10)


def test_peaucellier_stays_straight_in_motion(inversor):
    robot = inversor.robot
    v = inversor.project_velocity(robot.neutral(), [0.5, *[0.0] * 6])
    track = march(inversor, robot.neutral(), v, 2e-3, 200)
    assert np.ptp(track.energy) < 1e-8
    assert np.ptp(track.q[:, 0]) > 0.3
    assert np.allclose(robot.pose(track.q, "pen")[:, 0, 3], 1.6875, rtol=0, atol=1e-11)
