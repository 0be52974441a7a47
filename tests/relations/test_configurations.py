"""The configuration manifold on random trees with every joint type: inverses, ends, lengths and limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.tolerance import assert_close
from tests.trees import random_tree, state
from torsor import algorithms as alg
from torsor.robot import Robot

seeds = st.integers(0, 10**6)


class Case:
    """A random robot, two configurations and a velocity, and its algorithms over floats."""

    def __init__(self, seed: int):
        self.robot = Robot(random_tree(seed))
        self.q0, self.v, _ = state(self.robot, seed)
        self.q1 = self.robot.random_configuration(seed + 1)

    def at(self, name: str, *arguments) -> np.ndarray:
        return np.array(getattr(alg, name)(self.robot.model, *(np.asarray(x).tolist() for x in arguments)), float)


@given(seed=seeds)
def test_velocity_from_rate_inverts_configuration_rate(seed):
    c = Case(seed)
    assert_close(c.at("velocity_from_rate", c.q0, c.at("configuration_rate", c.q0, c.v)), c.v)
    scaled = np.array(c.q0)
    for part in c.robot._limits.quaternions:  # of any length: it is normalised first, as in configuration_rate
        scaled[part] *= 3.0
    assert_close(c.at("velocity_from_rate", scaled, c.at("configuration_rate", scaled, c.v)), c.v)


@given(seed=seeds)
def test_acceleration_from_rates_is_the_second_derivative_of_the_way_along_the_path(seed):
    c = Case(seed)
    rng = np.random.default_rng(seed)
    q1, q2 = rng.normal(size=(2, c.robot.nq))
    way = lambda h: c.at("difference", c.q0, c.q0 + h * q1 + h * h / 2 * q2)  # noqa: E731
    central = [(way(h) + way(-h)) / h**2 for h in (4e-3, 2e-3, 1e-3)]
    first, second = (4 * central[1] - central[0]) / 3, (4 * central[2] - central[1]) / 3
    # Richardson's error is of the order h⁶, the differences' rounding of 1e-16/h²
    assert_close(c.at("acceleration_from_rates", c.q0, q1, q2), (16 * second - first) / 15, 1e-7, floor=10)


@given(seed=seeds)
def test_rates_that_stretch_a_quaternion_have_no_velocity(seed):
    c = Case(seed)
    rate = np.zeros(c.robot.nq)
    for part in c.robot._limits.quaternions:
        rate[part] = 2.0 * c.q0[part]
    assert_close(c.at("velocity_from_rate", c.q0, rate), np.zeros(c.robot.nv), floor=1)


@given(seed=seeds, s=st.floats(-0.5, 0.99))
def test_interpolation_runs_from_one_end_to_the_other_at_constant_velocity(seed, s):
    c = Case(seed)
    d, scale = c.at("difference", c.q0, c.q1), 10.0
    assert_close(c.at("difference", c.at("interpolate", c.q0, c.q1, 0.0), c.q0), 0 * d, floor=scale)
    assert_close(c.at("difference", c.at("interpolate", c.q0, c.q1, 1.0), c.q1), 0 * d, floor=scale)
    there = c.at("interpolate", c.q0, c.q1, s)
    # near half a turn, the logarithm loses digits
    assert_close(c.at("difference", c.q0, there), s * d, 1e-9, floor=scale)
    assert_close(c.at("distance", c.q0, there), abs(s) * np.linalg.norm(d), 1e-9, floor=scale)


@given(seed=seeds)
def test_distance_is_the_same_in_both_directions_and_zero_at_home(seed):
    c = Case(seed)
    assert_close(c.at("distance", c.q0, c.q1), c.at("distance", c.q1, c.q0))
    assert_close(c.at("distance", c.q0, c.q0), 0.0, floor=1)


@given(seed=seeds)
def test_clipped_and_wrapped_configurations_are_within_limits(seed):
    d, rng = random_tree(seed), np.random.default_rng(seed)

    def limited(j):
        low, high = np.sort(rng.normal(scale=3, size=(2, j.kind.nq)), axis=0)
        return replace(j, lower=tuple(low.tolist()), upper=tuple(high.tolist())) if j.mimic is None and j.kind.nq else j

    robot = Robot(replace(d, joints=tuple(limited(j) for j in d.joints)))
    q = robot.random_configuration(rng, 4) * 3
    assert robot.within_limits(robot.clip(q)).all()
    inside = robot.clip(q)
    assert_close(robot.clip(inside), inside, 1e-15, floor=1)
    assert robot.within_limits(robot.wrap(inside)).all()  # what is inside stays inside
    for x, y in zip(q.tolist(), robot.wrap(q).tolist(), strict=True):
        assert_close(alg.poses(robot.model, y), alg.poses(robot.model, x), 1e-12, floor=10)
