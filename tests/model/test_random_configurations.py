"""Random configurations within all limits, sizes of batches, and turns: of large angles, and of joints that others follow."""

from __future__ import annotations

import math

import numpy as np
import pytest

import torsor as ts
from tests.tolerance import assert_close
from torsor.errors import ArgumentError
from torsor.robot.builder import Builder

INF = math.inf


def one(type, **fields):
    b = Builder("one").link("base").link("body", mass=1.0, com=(0.1, 0.2, 0.3), inertia=(0.1, 0.1, 0.1))
    return b.joint("joint", type, "base", "body", **fields).build()


def pair(ratio=0.5, kind="continuous", polynomial=None, own=(-INF, INF), followed=(-INF, INF)):
    """A leader and a joint that follows it."""
    b = Builder("pair").link("base").link("one", mass=1.0, com=(1, 0, 0)).link("two", mass=1.0, com=(1, 0, 0))
    b = b.joint("lead", kind, "base", "one", lower=own[0], upper=own[1])
    b = b.joint("follow", "revolute", "base", "two", lower=followed[0], upper=followed[1])
    return b.build().with_mimic("follow", "lead", *(() if polynomial else (ratio,)), polynomial=polynomial)


# -- random --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("type", "lower", "upper"),
    [
        ("continuous", -1.0, 1.0),
        ("floating", (2, 3, 4, -1, -1, -1, -1), (3, 4, 5, 1, 1, 1, 1)),
        ("floating_rpy", (2, -0.1, 4, -0.2, -0.3, 0.1), (3, 0.1, 5, 0.2, 0.3, 0.4)),
        ("revolute", 4.0, INF),
        ("prismatic", -INF, -7.0),
        ("euler", (4, 4, 4), (INF, INF, INF)),
    ],
)
def test_random_configurations_are_finite_and_within_the_limits(type, lower, upper):
    robot = one(type, lower=lower, upper=upper)
    q = robot.random_configuration(0, 200)
    assert np.isfinite(q).all()
    assert robot.within_limits(q).all()
    assert len(np.unique(q[:, 0])) == 200


def test_random_configurations_without_limits_are_within_a_turn():
    q = one("continuous").random_configuration(0, 500)
    assert 3.0 < np.abs(q).max() <= math.pi
    q = one("floating").random_configuration(0, 500)
    assert 0.9 < np.abs(q[:, :3]).max() <= 1


@pytest.mark.parametrize(
    ("robot", "ranges"),
    [
        (pair(2.0, own=(-3, 3), followed=(0.2, 1.0)), [(0.1, 0.5)]),
        (pair(polynomial=(0, 0, 1), own=(-3, 3), followed=(1.0, 4.0)), [(-2, -1), (1, 2)]),  # 1 ≤ x² ≤ 4
        (pair(polynomial=(0, 0, 1), followed=(25.0, 36.0)), [(-6, -5), (5, 6)]),
    ],
    ids=["linear", "square", "beyond a turn"],
)
def test_random_leaders_keep_their_mimic_joints_within_limits(robot, ranges):
    q = robot.random_configuration(0, 1000)
    assert robot.within_limits(q).all()
    shares = [((q >= low) & (q <= high)).mean() for low, high in ranges]
    assert sum(shares) == 1
    assert min(shares) > 0.45 or len(shares) == 1


@pytest.mark.parametrize("draw", ["random_configuration", "random_velocity"])
def test_random_size_and_seed_are_checked(draw):
    robot = ts.robots.panda()
    call = getattr(robot, draw)
    assert call(0, np.int64(3)).shape[:-1] == (3,)
    assert call(0, [2, 3]).shape[:-1] == (2, 3)
    assert call(0, 0).shape[:-1] == (0,)
    for size in (-1, 2.5, None, "a", (2, -1)):
        with pytest.raises(ArgumentError, match="size must be a whole number from 0, or a tuple of them"):
            call(0, size)
    for seed in (-1, "a", 0.5):
        with pytest.raises(ArgumentError, match="rng must be a NumPy Generator, a seed from 0, or None"):
            call(seed)


# -- turns ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("angle", [1e6, -1e10, 1e17, 1e300])
def test_wrap_of_a_large_angle_keeps_the_pose(angle):
    robot = one("continuous")
    q = robot.wrap([angle])
    assert -math.pi <= q[0] < math.pi
    assert_close(robot.pose(q, "body"), robot.pose([angle], "body"))


@pytest.mark.parametrize("polynomial", [None, (0.1, 0.5, 0.2)], ids=["linear", "curve"])
def test_difference_counts_the_turns_of_a_leader(polynomial):
    """Half a turn of the leader's follower is elsewhere, so the short way round does not lead to q1."""
    robot = pair(0.5, polynomial=polynomial)
    q0, q1 = [-3.0], [3.0]
    assert robot.difference(q0, q1).tolist() == [6.0]
    assert robot.distance(q0, q1) == 6.0
    assert_close(robot.poses(robot.interpolate(q0, q1, 1.0)), robot.poses(q1))
    alone = robot.without("two")
    assert_close(alone.difference(q0, q1), [6.0 - 2 * math.pi])


def test_mimic_joint_that_cannot_move_holds_its_leader_at_zero():
    build = ts.Builder("fingers").link("palm").link("left", mass=1.0).link("right", mass=1.0)
    build.joint("lead", "revolute", "palm", "left", lower=0.0, upper=1.0)
    build.joint("follow", "revolute", "palm", "right", mimic=("lead", -1.0), lower=0.0, upper=1.0)
    assert build.build().random_configuration(0) == [0.0]  # its interval is 0.0 to -0.0, as in the file of the PR2
