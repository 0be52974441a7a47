"""Splines on the configuration manifold: waypoints, derivatives by differences, smoothness, times by velocity limits."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import torsor as ts
from tests.machine_code import without_machine_code
from tests.tolerance import assert_close
from tests.trees import random_tree
from torsor.errors import ArgumentError, Unsupported

SPLINES = {"cubic": ts.trajectories.cubic_spline, "quintic": ts.trajectories.quintic_spline}
TIMES = [0.0, 0.4, 1.1, 1.5]


def tree_and_waypoints(seed: int) -> tuple[ts.Robot, np.ndarray]:
    """A random tree, and four configurations of which neighbours are less than a turn apart."""
    robot = ts.Robot(random_tree(seed, 4, base="floating" if seed % 2 else "fixed"))
    rng = np.random.default_rng(seed)
    q = [robot.random_configuration(rng)]
    for _ in range(3):
        q.append(robot.integrate(q[-1], rng.uniform(-1, 1, robot.nv)))
    return robot, np.array(q)


def richardson(f, t: float, h: float = 2e-3) -> np.ndarray:
    """f′(t) by central differences, the error of order h⁶ (three steps)."""
    d = [(f(t + x) - f(t - x)) / (2 * x) for x in (h, h / 2, h / 4)]
    first, second = (4 * d[1] - d[0]) / 3, (4 * d[2] - d[1]) / 3
    return (16 * second - first) / 15


@pytest.mark.parametrize("name", SPLINES)
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(k, marks=pytest.mark.night) for k in range(2, 40))])
@without_machine_code
def test_spline_meets_waypoints_and_its_v_and_a_are_derivatives(name, seed):
    robot, waypoints = tree_and_waypoints(seed)
    rng = np.random.default_rng(seed)
    ends = {"velocities": rng.normal(size=(2, robot.nv))}
    if name == "quintic":
        ends["accelerations"] = rng.normal(size=(2, robot.nv))
    motion = SPLINES[name](robot, waypoints, TIMES, **ends)
    at = motion.at(TIMES)
    assert_close(robot.difference(waypoints, at.q), np.zeros((4, robot.nv)), floor=10)
    assert_close(at.v[[0, -1]], ends["velocities"], 1e-11, floor=1)
    if name == "quintic":
        assert_close(at.a[[0, -1]], ends["accelerations"], 1e-10, floor=10)
    for t in (0.2, 0.7, 1.3):
        q, v, a = motion.at(t)[1:]
        way = richardson(lambda x, q=q: robot.difference(q, motion.at(x).q), t)
        # differences of values with an error of 1e-15 over 5e-4 s; Richardson's own error is below
        assert_close(way, v, 1e-9, floor=1)
        assert_close(richardson(lambda x: motion.at(x).v, t), a, 1e-9, floor=10)


@pytest.mark.parametrize(("name", "order"), [("cubic", 0), ("quintic", 2)])
@without_machine_code
def test_spline_has_continuous_derivatives_of_a_at_waypoints(name, order):
    robot, waypoints = tree_and_waypoints(1)
    motion, t, h = SPLINES[name](robot, waypoints, TIMES), TIMES[1], 1e-3
    sides = [np.array([motion.at(t + sign * k * h).a for k in range(7)]) for sign in (-1, 1)]
    # one-sided derivatives of a by polynomials of degree 6
    fits = [
        np.polynomial.polynomial.polyfit(np.arange(7.0), x, 6) * [[s**k] for k in range(7)]
        for x, s in zip(sides, (-1, 1), strict=True)
    ]
    jump = np.abs(fits[1] - fits[0]).max(axis=1) / h ** np.arange(7.0)
    size = np.abs(fits[1]).max(axis=1) / h ** np.arange(7.0)
    assert (jump[: order + 1] < 1e-4 * (1 + size[: order + 1])).all()
    assert jump[order + 1] > 1e-2 * size[order + 1]  # and no further one


def test_spline_turns_a_continuous_joint_the_short_way():
    robot = ts.Builder("wheel").link("arm", mass=1.0, inertia=(1, 1, 1)).link("w", mass=1.0, inertia=(1, 1, 1))
    robot = robot.joint("turn", "continuous", "arm", "w", axis=(0, 0, 1)).build()
    motion = ts.trajectories.cubic_spline(robot, [[3.0], [-3.0], [-2.0]], [0, 1, 2])
    assert_close(motion.at([0, 1, 2]).q[:, 0], [3.0, 2 * np.pi - 3.0, 2 * np.pi - 2.0])


def test_times_by_velocity_limits_reach_one_limit_and_exceed_none():
    arm = ts.robots.panda()
    q = arm.random_configuration(np.random.default_rng(2), 4)
    for spline in SPLINES.values():
        motion = spline(arm, q)
        share = np.abs(motion.at(np.linspace(0, motion.duration, 20001)).v) / arm.velocity_limit
        assert 1 - 1e-6 < share.max() <= 1 + 1e-12
        assert motion.notes[0].startswith("times chosen by the velocity limits")
        assert_close(motion.sample(0.1).v[[0, -1]], np.zeros((2, arm.nv)), floor=1)


def test_trajectory_pickles_and_copies_its_waypoints():
    arm, q = ts.robots.two_link(), np.array([[0.0, 0.0], [0.5, 1.0]])
    motion = ts.trajectories.cubic_spline(arm, q, [0, 1])
    before = motion.at(0.5).q
    q[:] = 9.0
    assert np.array_equal(motion.at(0.5).q, before)
    assert np.array_equal(pickle.loads(pickle.dumps(motion)).at(0.5).q, before)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([[0, 0]],), "waypoints has shape"),
        (([0, 0],), "waypoints has shape"),
        (([[0, 0], [np.nan, 1]],), "not finite"),
        (([[0, 0], [1, 1]], [0, 1, 2]), "times must be 2 increasing numbers"),
        (([[0, 0], [1, 1]], [1, 2]), "times must be 2 increasing numbers from 0"),
        (([[0, 0], [1, 1]], [0, np.nan]), "times must be"),
        (([[0, 0], [1, 1]], [0, 1e-300]), "at least 1e-09 s apart"),
        (([[0, 0], [1, 1]],), "no velocity limit to choose times by"),
    ],
)
def test_cubic_spline_refuses_wrong_waypoints_and_times(arguments, words):
    with pytest.raises(ArgumentError, match=words):
        ts.trajectories.cubic_spline(ts.robots.two_link(), *arguments)


def test_splines_refuse_ends_and_robots_that_do_not_fit():
    arm = ts.robots.ur5()
    q = [[0.0] * 6, [1.0] * 6]
    with pytest.raises(ArgumentError, match=r"velocities must be finite numbers \(2, 6\)"):
        ts.trajectories.cubic_spline(arm, q, [0, 1], velocities=[0.0] * 6)
    with pytest.raises(ArgumentError, match="need times="):
        ts.trajectories.cubic_spline(arm, q, velocities=np.zeros((2, 6)))
    with pytest.raises(ArgumentError, match="waypoints 1 and 2 are the same"):
        ts.trajectories.cubic_spline(arm, [*q, q[1]])
    with pytest.raises(Unsupported, match="has loops"):
        ts.trajectories.cubic_spline(ts.mechanisms.four_bar(), np.zeros((2, 3)), [0, 1])


def test_spline_names_quaternions_that_pass_near_zero():
    robot = ts.robots.quadruped()
    q = np.array([robot.neutral()] * 3)
    q[1, 3:7] = [np.sin(1.5), 0, 0, np.cos(1.5)]
    q[2, 3:7] = [0, 1.0, 0, 0]
    motion = ts.trajectories.cubic_spline(robot, q, [0.0, 1.0, 2.0])
    assert_close(np.linalg.norm(motion.sample(0.01).q[:, 3:7], axis=1), np.ones(201))
    with pytest.raises(ArgumentError, match="turns too far between two waypoints"):  # it overshoots
        ts.trajectories.cubic_spline(robot, q, [0.0, 1.0, 20.0], velocities=-60 * np.eye(2, robot.nv))


def test_trajectory_of_a_robot_without_joints_and_at_no_times_is_empty():
    motion = ts.trajectories.cubic_spline(ts.robots.two_link().lock({"joint1": 0.0, "joint2": 0.0}), [[], []], [0, 1])
    assert motion.at([]).q.shape == motion.at([]).a.shape == (0, 0)
    assert motion.at([[0.0, 0.5]]).v.shape == (1, 2, 0)
    assert motion.check().passed


def test_times_outside_the_motion_are_refused():
    motion = ts.trajectories.cubic_spline(ts.robots.two_link(), [[0, 0], [1, 1]], [0, 2])
    for t in (-0.1, 2.1, np.nan, [0.0, 3.0]):
        with pytest.raises(ArgumentError, match="t must be from 0 to 2 s"):
            motion.at(t)
    for dt in (0.0, -1.0, np.nan, np.inf, "fast", 1e-12):
        with pytest.raises(ArgumentError, match="dt"):
            motion.sample(dt)


def test_the_path_of_a_file_is_not_a_robot():
    make, T = ts.trajectories, np.eye(4)
    for call in (
        lambda x: make.cubic_spline(x, [[0], [1]]),
        lambda x: make.quintic_spline(x, [[0], [1]]),
        lambda x: make.line(x, [0], [1]),
        lambda x: make.point_to_point(x, [0], [1]),
        lambda x: make.fourier(x, [0], [[1.0]], frequency=1.0),
        lambda x: make.cartesian_line(x, [0], T, "tool0"),
        lambda x: make.cartesian_arc(x, [0], T, T[:3, 3], "tool0"),
        lambda x: make.time_optimal(x, None),
    ):
        with pytest.raises(ts.ArgumentError, match="robot must be a Robot, not str"):
            call("ur5.urdf")
