"""Profiles in time: limits kept exactly, minimal time against closed forms and linear programmes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import torsor as ts
from tests.tolerance import assert_close
from torsor.errors import ArgumentError, UnknownName
from torsor.trajectories import time_scaling

limits = st.floats(-2, 2).map(lambda x: 10**x)


def within(scaling, *most: float) -> bool:
    """Whether the peaks keep their limits, but for rounding: of a break, by 1e-15 of the duration, a rate changes so much."""
    rates = (*most[1:], 0.0)
    return all(
        x <= limit * (1 + 1e-12) + 1e-15 * rate * scaling.duration
        for x, limit, rate in zip(peaks(scaling), most, rates, strict=False)
    )


def peaks(scaling) -> list[float]:
    """The largest |ṡ|, |s̈| and |d³s/dt³| of pieces of degree three at most: at breaks, and inside where s̈ = 0."""
    most = [0.0, 0.0, 0.0]
    for h, row in zip(np.diff(scaling.breaks), scaling.coefficients, strict=True):
        p = np.polynomial.Polynomial(row)
        inside = p.deriv(2).roots().real if len(row) > 3 and row[3] else np.array([])
        t = np.array([0.0, h, *(x for x in inside if 0 < x < h)])
        most = [max(m, np.abs(p.deriv(k)(t)).max()) for k, m in enumerate(most, 1)]
    return most


def shortest_s_curve(d: float, v: float, a: float, j: float) -> float:
    """The four cases of a seven-segment profile from rest to rest (Biagiotti and Melchiorri 2008, §3.4)."""
    if v * j < a * a:  # the limit of acceleration is not reached
        rise = math.sqrt(v / j)
        if d >= 2 * v * rise:
            return d / v + 2 * rise
        return 4 * (d / (2 * j)) ** (1 / 3)
    if d >= v * (v / a + a / j):
        return d / v + v / a + a / j
    if d >= 2 * a**3 / j**2:
        return a / j + math.sqrt((a / j) ** 2 + 4 * d / a)
    return 4 * (d / (2 * j)) ** (1 / 3)


@given(d=limits, v=limits, a=limits)
def test_trapezoid_is_the_closed_form_within_its_limits(d, v, a):
    scaling = time_scaling("trapezoid", d, velocity=v, acceleration=a)
    assert_close(scaling.duration, d / v + v / a if d >= v * v / a else 2 * math.sqrt(d / a))
    assert within(scaling, v, a)
    s, ds, _ = scaling(np.array([0.0, scaling.duration]))
    assert_close(s, [0, d], floor=0)
    assert_close(ds, [0, 0], scale=v + a * scaling.duration / 1e3)  # a break is rounded by 1e-16 of the duration


@given(d=limits, v=limits, a=limits, j=limits)
def test_s_curve_is_the_closed_form_within_its_limits(d, v, a, j):
    scaling = time_scaling("s-curve", d, velocity=v, acceleration=a, jerk=j)
    assert_close(scaling.duration, shortest_s_curve(d, v, a, j))
    assert within(scaling, v, a, j)
    s, ds, dds = scaling(np.array([0.0, scaling.duration]))
    assert_close(s, [0, d], floor=0)
    # rounding of the seven pieces
    assert_close(ds, [0, 0], scale=v + a * scaling.duration / 1e3)
    assert_close(dds, [0, 0], scale=a + j * scaling.duration / 1e3)


@given(d=limits, v=limits, a=limits, j=limits, stretch=st.floats(1, 50), name=st.sampled_from(["trapezoid", "s-curve"]))
def test_profiles_take_the_duration_asked_for(d, v, a, j, stretch, name):
    most = {"velocity": v, "acceleration": a} | ({"jerk": j} if name == "s-curve" else {})
    shortest = time_scaling(name, d, **most).duration
    scaling = time_scaling(name, d, duration=shortest * stretch, **most)
    # the speed between is found to rounding, and the duration d/v changes with it as much
    assert_close(scaling.duration, shortest * stretch, 1e-9)
    assert_close(scaling(np.array([scaling.duration]))[0], [d], 1e-11)
    assert within(scaling, *most.values())


@pytest.mark.parametrize(("name", "peak"), [("cubic", (1.5, 6.0)), ("quintic", (1.875, 10 / 3**0.5))])
def test_polynomial_scalings_reach_one_limit(name, peak):
    by_speed = time_scaling(name, 2.0, velocity=0.5, acceleration=100.0)
    assert_close(by_speed.duration, 2.0 * peak[0] / 0.5)
    by_force = time_scaling(name, 2.0, velocity=100.0, acceleration=0.5)
    assert_close(by_force.duration, math.sqrt(2.0 * peak[1] / 0.5))
    t = np.linspace(0, by_force.duration, 10001)
    assert_close(np.abs(by_force(t)[2]).max(), 0.5, 1e-7)  # the samples miss the peak by a part of their distance squared
    assert_close(np.array(by_force(np.array([0.0, by_force.duration])))[:2], [[0, 2.0], [0, 0]])
    jerk = time_scaling("quintic", 2.0, jerk=3.0)
    assert_close(6 * jerk.coefficients[0, 3], 3.0)  # d³s/dt³ at the start


def longest_way(T: float, start: float, v: float, a: float, j: float, n: int) -> float:
    """The longest way to rest in time T by constant jerk in n steps, limits kept at their ends: a linear programme."""
    from scipy.optimize import linprog

    h = T / n
    whole = np.tril(np.ones((n, n)))
    acceleration = h * whole  # a_k = h Σ j
    speed = h * (np.vstack([np.zeros(n), acceleration[:-1]]) + acceleration) / 2  # trapezoidal sums are exact for a linear a
    speed = whole @ speed
    before = np.vstack([np.zeros((1, n)), speed[:-1]])
    a_before = np.vstack([np.zeros((1, n)), acceleration[:-1]])
    way = (h * before + h * h / 2 * a_before + h**3 / 6 * np.eye(n)).sum(axis=0)
    found = linprog(
        -way,
        A_ub=np.vstack([speed, -speed, acceleration, -acceleration]),
        b_ub=np.concatenate([np.full(n, v - start), np.full(n, v + start), np.full(2 * n, a)]),
        A_eq=np.vstack([speed[-1], acceleration[-1]]),
        b_eq=[-start, 0.0],
        bounds=(-j, j),
    )
    return start * T - found.fun


@pytest.mark.parametrize("start", [0.0, 0.5])
@pytest.mark.parametrize("distance", [0.7, 3.0])
def test_s_curve_is_the_optimum_of_a_linear_programme(start, distance):
    v, a, j = 1.0, 1.5, 4.0
    T = time_scaling("s-curve", distance, velocity=v, acceleration=a, jerk=j, start=start).duration
    # in the shortest time nothing gets further; steps of T/200 lose or win a share of about their length squared
    assert_close(longest_way(T, start, v, a, j, 200), distance, 3e-4)


@given(start=st.floats(0, 1), end=st.floats(0, 1), d=st.floats(3, 9), name=st.sampled_from(["trapezoid", "s-curve"]))
def test_speeds_at_the_ends_are_met(start, end, d, name):
    most = {"acceleration": 1.0} | ({"jerk": 2.0} if name == "s-curve" else {})
    scaling = time_scaling(name, d, velocity=1.2, start=start, end=end, **most)
    s, ds, _ = scaling(np.array([0.0, scaling.duration]))
    assert_close(s, [0, d], floor=1)
    assert_close(ds, [start, end], floor=1)
    assert peaks(scaling)[0] <= 1.2 * (1 + 1e-12)


@pytest.mark.parametrize(
    ("profile", "options", "words"),
    [
        ("trapezoid", {}, "needs a limit: acceleration="),
        ("s-curve", {"acceleration": 1.0}, "needs a limit: jerk="),
        ("cubic", {}, "needs a limit of velocity or acceleration, or a duration"),
        ("cubic", {"duration": 1.0, "jerk": 1.0}, "jumps, so that jerk= cannot hold"),
        ("quintic", {"velocity": -1.0}, "velocity=-1.0 must be a positive number"),
        ("s-curve", {"jerk": 1e300}, "jerk=1e\\+300 must be a positive number from 1e-30 to 1e\\+30"),
        ("quintic", {"duration": math.nan}, "duration=nan must be a positive number"),
        ("quintic", {"velocity": 1.0, "duration": 0.5}, "too short: within these limits it takes at least 1.875 s"),
        ("quintic", {"velocity": 1.0, "start": 0.5}, "starts and ends at rest"),
        ("trapezoid", {"acceleration": 1.0, "start": 2.0}, "a change of speed from 2 to 0 takes a distance of 2"),
        (
            "trapezoid",
            {"acceleration": 1.0, "velocity": 1.0, "start": 2.0},
            "start must be a speed from 0 to the velocity limit 1",
        ),
        ("trapezoid", {"acceleration": 1.0, "start": 1.2, "end": 1.2, "duration": 9.0}, "too high for a duration of 9 s"),
    ],
)
def test_time_scaling_refuses_what_does_not_fit(profile, options, words):
    with pytest.raises(ArgumentError, match=words):
        time_scaling(profile, 1.0, **options)


def test_unknown_profiles_are_listed():
    with pytest.raises(UnknownName, match="s-curve"):
        time_scaling("sine", 1.0, duration=1.0)


@pytest.mark.parametrize("profile", ["trapezoid", "s-curve", "quintic"])
def test_joints_arrive_together_each_within_its_limits(profile):
    arm = ts.robots.panda()
    q0, q1 = arm.random_configuration(3, 2)
    acceleration, jerk = np.linspace(4, 9, arm.nv), np.linspace(40, 90, arm.nv)
    options = {"acceleration": acceleration} | ({} if profile == "trapezoid" else {"jerk": jerk})
    motion = ts.trajectories.point_to_point(arm, q0, q1, profile, **options)
    m = motion.sample(motion.duration / 5000)
    shares = [np.abs(m.v).max(axis=0) / arm.velocity_limit, np.abs(m.a).max(axis=0) / acceleration]
    assert max(x.max() for x in shares) <= 1 + 1e-12
    assert max(x.max() for x in shares) > 1 - 1e-6 or profile == "quintic"  # of a quintic the jerk is
    assert_close(m.q[[0, -1]], [q0, q1])
    assert_close(m.v[[0, -1]], np.zeros((2, arm.nv)), floor=1)
    assert_close(m.q, q0 + np.outer((m.q[:, 0] - q0[0]) / (q1[0] - q0[0]), q1 - q0))  # a straight line


def test_point_to_point_starts_with_a_velocity_along_the_line():
    arm = ts.robots.two_link()
    motion = ts.trajectories.point_to_point(arm, [0, 0], [1, 2], velocity=3, acceleration=4, start_velocity=[0.5, 1.0])
    assert_close(motion.at(0.0).v, [0.5, 1.0])
    with pytest.raises(ArgumentError, match="must be along the line"):
        ts.trajectories.point_to_point(arm, [0, 0], [1, 2], velocity=3, acceleration=4, start_velocity=[0.5, 0.5])
    with pytest.raises(ArgumentError, match=r"is 1\.333 times as fast as the velocity limits allow"):
        ts.trajectories.point_to_point(arm, [0, 0], [1, 2], velocity=3, acceleration=4, start_velocity=[2.0, 4.0])
    with pytest.raises(ArgumentError, match=r"start_velocity has shape \(2, 2\)"):
        ts.trajectories.point_to_point(arm, [0, 0], [1, 2], velocity=3, acceleration=4, start_velocity=np.eye(2))
    with pytest.raises(ArgumentError, match="same configuration"):
        ts.trajectories.point_to_point(arm, [1, 2], [1, 2], velocity=3, acceleration=4)


def test_line_of_a_floating_base_is_a_screw_at_constant_velocity():
    robot = ts.robots.quadruped()
    q0, q1 = robot.random_configuration(5, 2)
    path = ts.trajectories.line(robot, q0, q1)
    s = np.linspace(0, 1, 7)
    q, first, second = path(s)
    assert_close(robot.difference(q[:-1], q[1:]), first[1:] / 6, 1e-11)
    assert not second.any()
    assert_close(robot.difference(q[-1], q1), np.zeros(robot.nv), floor=10)
