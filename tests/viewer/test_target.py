"""The target that is dragged: configurations evaluated by robot.pose; test_page.py drags it in a browser."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.errors import ArgumentError, UnknownName
from torsor.look.viewer.session import Session
from torsor.look.viewer.state import Stage
from torsor.look.viewer.target import Target

#: of positions [m]: the tolerance of inverse kinematics
MET = 2e-6
UPRIGHT = (1.0, 0.0, 0.0, 0.0)


def session(robot, frame, kind="position", q=None):
    made = Session(Stage(robot), q)
    made.target.choose(frame, kind)
    return made


def place(made, frame):
    return made.stage.robot.pose(made.q, frame)


def drag(made, shift):
    """Drag the target away from its frame, in the world [m]; its orientation stays."""
    T = made.target.pose(made.q)
    made.target.drag(T[:3, 3] + shift, np.roll(ts.rigid.to_quaternion(T[:3, :3]), 1))
    made.follow()
    return T


def test_dragged_pose_is_met_and_sliders_follow():
    robot = ts.robots.panda()
    made = session(robot, "panda_hand_tcp", "pose", robot.configuration("ready"))
    T = drag(made, (0.02, 0.05, -0.03))
    T[:3, 3] += (0.02, 0.05, -0.03)
    np.testing.assert_allclose(place(made, "panda_hand_tcp"), T, atol=MET)
    assert made.target.met
    assert made.values == made.sliders.values(made.q)
    assert robot.within_limits(made.q)
    np.testing.assert_array_equal(made.target.pose(made.q), made.target.dragged)


@pytest.mark.parametrize("kind", ["position", "orientation"])
def test_only_the_chosen_part_of_the_pose_counts(kind):
    made = session(ts.robots.ur5(), "tool0", kind, [0.1, -1.2, 1.4, 0.3, 0.5, 0.0])
    R = ts.rigid.from_rpy([0.4, 0.2, -0.3])
    p = place(made, "tool0")[:3, 3] + 0.05
    made.target.drag(p, np.roll(ts.rigid.to_quaternion(R), 1))
    made.follow()
    T = place(made, "tool0")
    assert made.target.met
    assert np.allclose(T[:3, 3], p, atol=MET) is (kind == "position")
    assert np.allclose(T[:3, :3], R, atol=MET) is (kind == "orientation")


def test_target_out_of_reach_brings_the_robot_closer_and_says_how_far_it_is():
    made = session(ts.robots.two_link(), "tip", q=[0.3, 0.8])
    drag(made, (2.0, 0.0, 0.0))
    goal = made.target.dragged[:3, 3]
    before = np.linalg.norm(goal - ts.robots.two_link().pose([0.3, 0.8], "tip")[:3, 3])
    assert made.target.message.startswith("not found in ")
    assert np.linalg.norm(goal - place(made, "tip")[:3, 3]) < before
    made.slide(0, 0.1)  # moved by other means: the target is at the frame again
    assert made.target.met
    np.testing.assert_array_equal(made.target.pose(made.q), place(made, "tip"))


@pytest.mark.night
def test_floating_base_keeps_still_and_other_legs_too():
    robot = ts.robots.quadruped()
    foot = next(name for name in Target(Stage(robot)).frames if name.endswith("FOOT"))
    made = session(robot, foot)
    q, moving = made.q.copy(), {robot.joint(name).q_slice.start for name in robot.joints if name.startswith(foot[:2])}
    drag(made, (0.01, 0.0, 0.03))
    assert made.target.met
    changed = set(np.flatnonzero(np.abs(made.q - q) > 1e-12).tolist())
    assert changed
    assert changed <= moving


def test_loops_stay_closed_while_the_target_is_dragged():
    made = session(ts.mechanisms.four_bar(), "coupler_point")
    made.slide(0, 0.5)
    T = made.stage.robot.pose(
        made.stage.close_loops(made.sliders.configuration([0.6, *made.values[1:]]), "crank")[0], "coupler_point"
    )
    made.target.drag(T[:3, 3], UPRIGHT)
    made.follow()
    assert made.target.met
    np.testing.assert_allclose(place(made, "coupler_point")[:3, 3], T[:3, 3], atol=MET)
    assert made.look().closure_error < 1e-9


@pytest.mark.night
def test_mimic_joints_move_with_their_leader():
    robot = ts.robots.panda().with_base("floating")
    finger = robot.joint("panda_finger_joint1").q_slice.start
    q = robot.neutral()
    q[7:14] = ts.robots.panda().configuration("ready")[:7]
    made = session(robot, "panda_rightfinger", "position", q)
    drag(made, (0.0, 0.005, 0.02))
    assert made.target.met
    np.testing.assert_array_equal(made.q[:7], q[:7])
    assert made.q[finger] != q[finger]


def test_motion_on_the_page_puts_the_target_back_to_its_frame():
    robot = ts.robots.two_link()
    made = session(robot, "tip", q=[0.3, 0.8])
    drag(made, (-0.1, 0.1, 0.0))
    made.load(robot.simulate([0.1, 0.2], [0.0, 0.0], 0.1, progress=False))
    assert made.target.dragged is None
    drag(made, (-0.1, 0.1, 0.0))  # dragging pauses it
    assert not made.playing


@pytest.mark.parametrize(
    ("position", "wxyz"),
    [((np.nan, 0, 0), UPRIGHT), ((0, np.inf, 0), UPRIGHT), ((0, 0), UPRIGHT), ((0, 0, 0), (0, 0, 0, 0)),
     ((0, 0, 0), (np.nan, 0, 0, 1)), ((0, 0, 0), (1, 0, 0)), (("x", 0, 0), UPRIGHT)],
)  # fmt: skip
def test_poses_from_the_page_that_are_none_are_refused(position, wxyz):
    made = session(ts.robots.two_link(), "tip", q=[0.3, 0.8])
    with pytest.raises(ArgumentError):
        made.target.drag(position, wxyz)
    made.follow()
    np.testing.assert_array_equal(made.q, [0.3, 0.8])


def test_target_too_far_for_lengths_is_reported_and_released():
    made = session(ts.robots.two_link(), "tip", q=[0.3, 0.8])
    made.target.drag((1e200, 0, 0), UPRIGHT)
    made.follow()
    np.testing.assert_array_equal(made.q, [0.3, 0.8])
    assert made.target.dragged is None


def test_frames_that_no_joint_moves_are_not_offered():
    target = Target(Stage(ts.robots.two_link().with_base("floating")))
    assert target.frames == ("link1", "link2", "tip")
    with pytest.raises(UnknownName, match="tip"):
        target.prepare("base", "pose", np.zeros(9))
    beam = ts.flexible.beam(1.0, mass_per_length=1.0, EI_z=50.0, modes=(2, 0, 0))
    assert Target(Stage(ts.robots.two_link().with_beams({"link1": beam}))).frames == ()
    with pytest.raises(UnknownName, match="orientation"):
        target.prepare("tip", "twist", np.zeros(9))
