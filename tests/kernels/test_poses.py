"""Poses of several frames: each equals the pose of that frame alone, and unknown names are errors."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.errors import ArgumentError, UnknownName


@pytest.fixture(scope="module")
def robot():
    return ts.robots.quadruped()


def test_poses_equal_pose_of_each_frame(robot):
    q = robot.random_configuration(np.random.default_rng(0), 9)
    every = robot.poses(q)
    assert every.shape == (9, len(robot.frames), 4, 4)
    for k, frame in enumerate(robot.frames):
        np.testing.assert_allclose(every[:, k], robot.pose(q, frame), rtol=0, atol=2e-15)  # rounding: different FMAs
    chosen = ["HR_FOOT", "world", "HR_FOOT"]
    some = robot.poses(q[0], chosen)
    np.testing.assert_allclose(some, every[0, [robot.frames.index(f) for f in chosen]], rtol=0, atol=2e-15)
    out = np.empty((9, 3, 4, 4))
    assert robot.poses(q, tuple(chosen), out=out) is out
    assert np.array_equal(out[0], some)
    assert np.array_equal(robot.poses(q[0], "HR_FOOT"), some[:1])


@pytest.mark.parametrize("frames", [["moon"], "moon", ["HR_FOOT", 3], 3, [["HR_FOOT"]], {"HR_FOOT": 1}])
def test_poses_error_names_unknown_frames(robot, frames):
    with pytest.raises(UnknownName, match="frame"):
        robot.poses(robot.neutral(), frames)


def test_poses_of_an_empty_list_of_frames_is_refused(robot):
    with pytest.raises(ArgumentError, match="at least one frame"):
        robot.poses(robot.neutral(), [])


def test_poses_in_a_fused_kernel_equal_robot_poses(robot):
    q = robot.neutral()
    every, M = robot.kernel("poses", "mass_matrix")(q)
    np.testing.assert_allclose(every, robot.poses(q), rtol=0, atol=2e-15)
    assert M.shape == (robot.nv, robot.nv)
