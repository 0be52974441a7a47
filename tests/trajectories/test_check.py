"""Limits along a trajectory, found between samples; files, plots, simulation of a trajectory."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests.tolerance import assert_close
from torsor.errors import ArgumentError, Unsupported
from torsor.io import logs
from torsor.mechanics.trajectories.extremes import extremes_of


def pendulum(**limits) -> ts.Robot:
    made = ts.Builder("pendulum").link("base").link("rod", mass=2.0, inertia=(1.0, 1.0, 1.0))
    return made.joint("turn", "revolute", "base", "rod", axis=(0, 0, 1), **limits).build().with_gravity((0, 0, 0))


def from_0_to_2(robot: ts.Robot):
    """q = 2 (10τ³ − 15τ⁴ + 6τ⁵) in one second: v = 60 τ² (1 − τ)², a = 120 τ (1 − τ) (1 − 2τ)."""
    return ts.trajectories.quintic_spline(robot, [[0.0], [2.0]], [0.0, 1.0])


def test_check_finds_closed_form_times_of_the_first_excess_of_each_limit():
    robot = pendulum(lower=-1.0, upper=1.5, velocity_limit=3.0, effort_limit=10.0)
    found = from_0_to_2(robot).check(acceleration=11.0)
    by_kind = {f.kind: f for f in found.findings}
    roots = lambda *c: [x.real for x in np.roots(c) if abs(x.imag) < 1e-9 and 0 < x.real < 1]  # noqa: E731
    at_speed = 0.5 - np.sqrt(0.25 - np.sqrt(3.0 / 60))
    expected = {
        "position": min(roots(12, -30, 20, 0, 0, -1.5)),
        "velocity": at_speed,
        "acceleration": min(roots(240, -360, 120, -11)),
        "joint force": min(roots(240, -360, 120, -10)),  # I = 1
    }
    assert set(by_kind) == set(expected)
    for kind, time in expected.items():
        assert_close(by_kind[kind].time, time, 1e-9)  # a limit counts as kept within 1e-9 of it
    assert [f.time for f in found.findings] == sorted(expected.values()) or found.first.kind == "joint force"
    assert_close(by_kind["velocity"].peak, 60 / 16)
    assert_close(by_kind["acceleration"].peak, 20 / np.sqrt(3))
    assert found.message.splitlines()[0] == str(found.first)
    assert not found.passed


def test_check_finds_an_excess_between_samples():
    # the peak of v is above the limit for 1e-4 of the duration, far less than the distance of samples
    peak = 60 / 16
    found = from_0_to_2(pendulum(velocity_limit=peak * (1 - 1e-8))).check()
    assert_close(found.first.peak_time, 0.5, 1e-6)
    assert found.first.kind == "velocity"
    assert from_0_to_2(pendulum(velocity_limit=peak)).check().passed


def test_check_names_lower_limits_and_mimic_joints():
    arm = ts.robots.panda()
    q = np.array([arm.configuration("ready")] * 2)
    q[1, 3], q[1, 7] = -3.2, 0.05
    found = ts.trajectories.cubic_spline(arm, q, [0, 5]).check()
    names = [f.joint for f in found.findings]
    assert {"panda_joint4", "panda_finger_joint1", "panda_finger_joint2"} == set(names)
    assert "panda_joint4: position is below its limit -3.072 rad from t = " in found.message


def test_check_counts_velocities_of_mimic_joints():
    made = ts.Builder("gripper").link("base")
    for name in ("a", "b"):
        made.link(name, mass=1.0, inertia=(1.0, 1.0, 1.0))
        mimic = {"mimic": ("left", -3.0, 0.2), "velocity_limit": 6.0, "lower": -9.0, "upper": 9.0} if name == "b" else {}
        made.joint("right" if name == "b" else "left", "revolute", "base", name, axis=(0, 0, 1), **mimic)
    found = from_0_to_2(made.build()).check()
    assert [(f.kind, f.joint, f.limit) for f in found.findings] == [("velocity", "right", 6.0)]
    assert_close(found.first.peak, 3 * 60 / 16)
    assert {p.joint for p in found.peaks} == {"left"}


def test_check_counts_a_payload_of_another_robot():
    arm = ts.robots.ur5()
    motion = ts.trajectories.point_to_point(arm, [0, -1, 1, 0, 0, 0], [1, -0.5, 0, 0, 0, 0], velocity=1, acceleration=2)
    loaded = (
        arm.with_link("tool0", mass=40.0, inertia=np.eye(3)) if "tool0" in arm.links else arm.with_link(arm.links[-1], mass=40)
    )
    assert motion.check().passed
    assert motion.check(loaded).first.kind == "joint force"
    with pytest.raises(ArgumentError, match="does not match"):
        motion.check(ts.robots.panda())
    with pytest.raises(ArgumentError, match="acceleration must be positive"):
        motion.check(acceleration=-1)


def test_extremes_of_narrow_peaks_and_jumps():
    step = lambda t: np.stack([np.where(t < 0.5, 0.0, 1.0), np.cos(40 * t)], axis=1)  # noqa: E731
    found = extremes_of(step, np.array([0.0, 0.5, 1.0]), np.array([0.5, 0.0]))
    assert_close(found.first, [0.5, 0.0], 1e-8)
    assert_close(found.value, [1.0, 1.0])


def test_saved_trajectory_is_a_log_and_gives_the_same_torques(tmp_path):
    arm = ts.robots.ur5()
    motion = ts.trajectories.point_to_point(arm, [0, -1, 1, 0, 0, 0], [1, -0.5, 0, 0, 0, 0], velocity=1, acceleration=2)
    expected = motion.sample(0.02)
    for name in ("motion.csv", "motion.npz"):
        motion.save(tmp_path / name, dt=0.02)
        read = logs.read(tmp_path / name).states(arm, ("q", "v", "a"))
        for column in ("t", "q", "v", "a"):
            assert np.array_equal(getattr(read, column), getattr(expected, column))


def test_plot_has_three_panels_with_limits_of_what_moves():
    motion = from_0_to_2(pendulum(lower=-1.0, upper=1.5, velocity_limit=3.0))
    axes = motion.plot()
    assert [len(ax.lines) for ax in axes] == [3, 3, 1]
    assert axes[0].get_ylabel() == "q [rad]"
    assert axes[2].get_ylabel() == "a [rad/s²]"
    import matplotlib.pyplot as plt

    plt.close(axes[0].figure)


def test_simulated_robot_follows_a_trajectory_and_holds_its_end():
    arm = ts.robots.two_link()
    motion = ts.trajectories.quintic_spline(arm, [[0, 0], [0.7, -0.5], [1, 2]], [0, 0.4, 1])
    result = arm.simulate([0, 0], [0, 0], 1.3, ts.simulate.follow(motion), dt=4e-3)
    # computed torque makes a_d the acceleration: what is left is the error of rk4 at 4 ms
    within = result.t <= 1.0
    assert_close(result.q[within], motion.at(result.t[within]).q, 1e-6)
    assert_close(result.q[-1], [1, 2], 1e-6)
    off = arm.simulate([0.1, 0], [0, 0], 1.0, ts.simulate.follow(motion, frequency=2.0), dt=1e-2)
    w = 4 * np.pi
    assert_close(off.q[-1] - [1, 2], [0.1 * (1 + w) * np.exp(-w), 0], 1e-3, floor=1e-3)  # ë + 2ω ė + ω² e = 0


def test_motion_of_a_trajectory_keeps_the_energy_balance():
    arm = ts.robots.two_link()
    motion = ts.trajectories.quintic_spline(arm, [[0, 0], [1, 2]], [0, 1])
    result = ts.simulate.motion_of(motion, dt=0.005)
    assert_close(result.tau, arm.inverse_dynamics(*motion.sample(0.005)[1:]))
    assert result.audit().worst < 1e-6  # Simpson's rule at 5 ms


def test_follow_refuses_robots_that_it_cannot_drive():
    robot = ts.robots.quadruped()
    motion = ts.trajectories.cubic_spline(robot, [robot.neutral()] * 2, [0, 1])
    with pytest.raises(Unsupported, match="floating base"):
        ts.simulate.follow(motion)
    arm = ts.robots.two_link()
    motion = ts.trajectories.cubic_spline(arm, np.eye(2), [0, 1])
    with pytest.raises(ArgumentError, match="does not match"):
        ts.simulate.follow(motion, ts.robots.ur5())
    with pytest.raises(ArgumentError, match="frequency"):
        ts.simulate.follow(motion, frequency=0)


@pytest.mark.parametrize("function", [ts.simulate.follow, ts.simulate.motion_of])
@pytest.mark.parametrize("thing", ["motion", None, ts.trajectories.line(ts.robots.two_link(), [0, 0], [1, 1])])
def test_what_is_no_trajectory_cannot_be_followed(function, thing):
    with pytest.raises(ts.ArgumentError, match="trajectory must be a Trajectory"):
        function(thing)
