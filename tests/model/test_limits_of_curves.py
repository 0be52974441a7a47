"""Limits of mimic joints that follow by a polynomial, and coordinates of composite joints: quaternions and angles inside."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torsor as ts
from torsor.errors import ArgumentError
from torsor.model.joints import Composite, Prismatic, Revolute, Spherical
from torsor.spatial import Vec

X, Z = Vec(1, 0, 0), Vec(0, 0, 1)


def robot_with_polynomial_mimic(polynomial, lower, upper, own=(-np.inf, np.inf)) -> ts.Robot:
    """joint2 follows joint1 by a polynomial, within limits of its own."""
    d = ts.robots.two_link().with_mimic("joint2", "joint1", polynomial=polynomial).description
    limits = {"joint1": own, "joint2": (lower, upper)}
    return ts.Robot(replace(d, joints=tuple(
        replace(j, lower=(limits[j.name][0],), upper=(limits[j.name][1],)) if j.name in limits else j for j in d.joints
    )))  # fmt: skip


def test_limits_of_a_joint_that_follows_by_a_curve_are_those_of_its_own_coordinate():
    robot = robot_with_polynomial_mimic((0.5, 0, 1), 0.0, 1.0)  # y = ½ + x²
    assert robot.within_limits([[0.9], [0.5], [-0.5], [-0.8]]).tolist() == [False, True, True, False]
    ends = robot.clip([[0.9], [-2.0], [0.3]])
    np.testing.assert_allclose(ends, [[np.sqrt(0.5)], [-np.sqrt(0.5)], [0.3]], atol=1e-12)
    assert robot.within_limits(ends).all()


COEFFICIENT = st.integers(-200, 200).map(lambda k: k / 100)


@settings(max_examples=200 if os.environ.get("TORSOR_NIGHT") else 6)
@given(st.lists(COEFFICIENT, min_size=3, max_size=5), COEFFICIENT, st.floats(0.01, 3), st.floats(-5, 5))
def test_clip_of_a_curve_is_the_nearest_leader_inside_all_limits(polynomial, lower, width, x):
    robot = robot_with_polynomial_mimic(polynomial, lower, lower + width, own=(-4.0, 4.0))
    (clipped,) = robot.clip([x])
    grid = np.linspace(-4, 4, 4001)
    good = grid[robot.within_limits(grid[:, None])]
    if not len(good):
        return
    assert robot.within_limits([clipped], 1e-9)
    assert abs(clipped - x) <= np.abs(good - x).min() + 1e-9


def robot_with_composite(*kinds, **more) -> ts.Robot:
    b = ts.Builder("composed").link("base").link("body", 1.0, inertia=(1, 1, 1))
    return b.joint("both", Composite(list(kinds)), "base", "body", **more).build("fixed")


def test_quaternion_inside_a_composite_joint_is_normalised_checked_and_has_no_limits():
    robot = robot_with_composite(Prismatic(X), Spherical(), lower=[-1] * 5, upper=[0.5, 1, 1, 1, 1])
    np.testing.assert_allclose(robot.clip([2.0, 0, 0, 2, 2]), [0.5, 0, 0, np.sqrt(0.5), np.sqrt(0.5)])
    assert robot.within_limits([0.0, 0, 0, 2, 2])
    assert robot_with_composite(Prismatic(X), Spherical()).lower.tolist() == [-np.inf, -1, -1, -1, -1]
    with pytest.raises(ArgumentError, match="its quaternion is zero"):
        robot.clip([0.0, 0, 0, 0, 0])


def test_angles_inside_a_composite_joint_and_euler_angles_are_wrapped():
    robot = robot_with_composite(Prismatic(X), Revolute(Z))
    np.testing.assert_allclose(robot.wrap([7.0, 7.0]), [7.0, 7.0 - 2 * np.pi])
    free = ts.Builder("free").link("body", 1.0, inertia=(1, 1, 1)).build("floating_rpy")
    q = np.array([7.0, 7, 7, 7, 7, 7])
    assert np.abs(free.wrap(q)[3:]).max() <= np.pi
    np.testing.assert_allclose(free.pose(free.wrap(q), "body"), free.pose(q, "body"), atol=1e-14)


def test_encoder_reads_every_joint_without_a_quaternion():
    robot = robot_with_composite(Prismatic(X), Revolute(Z))
    assert ts.Sensor("encoder", "both").rows(robot.model) == slice(0, 2)
    b = ts.Builder("turned").link("a", 1.0, inertia=(1, 1, 1)).link("b", 1.0, inertia=(1, 1, 1))
    turned = b.joint("cross", "universal", "a", "b", axis=(1, 0, 0), second_axis=(0, 1, 0)).build("floating").rebase("b")
    assert ts.Sensor("encoder", "cross").rows(turned.model) == slice(7, 9)
    with pytest.raises(ArgumentError, match="plain coordinates"):
        ts.Sensor("encoder", "both").rows(robot_with_composite(Prismatic(X), Spherical()).model)
