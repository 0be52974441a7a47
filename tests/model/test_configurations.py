"""Limits as arrays, q clipped and wrapped into them, and named configurations through model editing."""

from __future__ import annotations

import math
import pickle
import sys

import numpy as np
import pytest

import torsor as ts
from tests.tolerance import assert_close
from torsor.errors import ArgumentError, ModelError, UnknownName
from torsor.model.description import Joint, Mimic
from torsor.model.joints import Revolute
from torsor.model.named_configurations import joint_coordinates
from torsor.robot.builder import Builder
from torsor.spatial import Vec

PI, INF = math.pi, math.inf


def robot_with_all_joints(base="fixed"):
    """One joint of each kind, some with limits."""
    b = Builder("mixed")
    for name in "abcdefgh":
        b = b.link(name, mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1))
    b = b.joint("turn", "revolute", "a", "b", lower=-2.0, upper=4.0, velocity_limit=3.0, effort_limit=50.0)
    b = b.joint("spin", "continuous", "b", "c", velocity_limit=2.0).joint("push", "prismatic", "c", "d", lower=0.0, upper=0.5)
    b = b.joint("ball", "spherical", "d", "e").joint("screw", "helical", "e", "f", pitch=0.1)
    b = b.joint("cross", "universal", "f", "g", axis=(1, 0, 0), second_axis=(0, 1, 0))
    return b.joint("table", "planar", "g", "h", lower=(-1, -1, -1), upper=(1, 1, 7)).build(base)


def gripper(k=2.0, offset=0.1, own=(0.0, 1.0), followed=(0.2, 0.9)):
    """A leader and its mimic joint, both with limits."""
    b = Builder("gripper").link("palm").link("one", mass=1.0, com=(1, 0, 0)).link("two", mass=1.0, com=(1, 0, 0))
    b = b.joint("lead", "revolute", "palm", "one", lower=own[0], upper=own[1])
    return b.joint("mimic", "revolute", "palm", "two", mimic=("lead", k, offset), lower=followed[0], upper=followed[1]).build()


# -- limits ------------------------------------------------------------------------------------------------------------


def test_limits_are_arrays_in_the_order_of_q_and_v():
    robot = robot_with_all_joints("floating")
    base = [-INF] * 3 + [-1] * 4
    assert robot.lower.tolist() == [*base, -2, -INF, 0, -1, -1, -1, -1, -INF, -INF, -INF, -1, -1, -1]
    assert robot.upper.tolist() == [*[-x for x in base], 4, INF, 0.5, 1, 1, 1, 1, INF, INF, INF, 1, 1, 7]
    assert robot.velocity_limit.tolist() == [*[INF] * 6, 3, 2, *[INF] * 10]
    assert robot.effort_limit.tolist() == [*[INF] * 6, 50, *[INF] * 11]
    assert (robot.lower.shape, robot.effort_limit.shape) == ((robot.nq,), (robot.nv,))


@pytest.mark.parametrize("name", ["lower", "upper", "velocity_limit", "effort_limit"])
def test_limit_arrays_cannot_be_changed(name):
    robot = ts.robots.ur5()
    with pytest.raises(ValueError, match="read-only"):
        getattr(robot, name)[0] = 0.0
    with pytest.raises(AttributeError, match="immutable"):
        setattr(robot, name, 0.0)


def test_within_limits_is_a_bool_for_one_state_and_an_array_for_a_batch():
    robot = robot_with_all_joints()
    q = robot.neutral()
    assert robot.within_limits(q) is True
    rows = np.stack([q] * 3)
    rows[1, 0], rows[2, 2] = 4.0 + 1e-9, -1e-9
    assert robot.within_limits(rows).tolist() == [True, False, False]
    assert robot.within_limits(rows, 1e-8).tolist() == [True, True, True]
    assert robot.within_limits(rows[None]).shape == (1, 3)
    assert robot.within_limits(np.zeros((0, robot.nq))).shape == (0,)


def test_quaternions_have_no_limits():
    robot = robot_with_all_joints()
    q = robot.neutral()
    q[3:7] = (0, 3, 0, -4)  # of length 5
    assert robot.within_limits(q)
    assert_close(robot.clip(q)[3:7], [0, 0.6, 0, -0.8])
    q[3:7] = np.array([0, 3, 0, -4]) * 1e-200
    assert_close(robot.clip(q)[3:7], [0, 0.6, 0, -0.8])


def test_clip_moves_each_coordinate_to_its_nearest_limit():
    robot = robot_with_all_joints()
    q = np.full((2, robot.nq), 9.0)
    q[1] = -9.0
    clipped = robot.clip(q)
    assert clipped[0].tolist() == [4, 9, 0.5, 0.5, 0.5, 0.5, 0.5, 9, 9, 9, 1, 1, 7]
    assert clipped[1].tolist() == [-2, -9, 0, -0.5, -0.5, -0.5, -0.5, -9, -9, -9, -1, -1, -1]
    assert robot.within_limits(clipped).all()
    assert (q[0] == 9.0).all()  # the argument is not changed


@pytest.mark.parametrize(("k", "offset"), [(2.0, 0.1), (-1.0, 0.7), (1 / 3, 0.13), (-0.7, 0.77), (1e-3, 0.3)])
def test_clip_keeps_mimic_joints_within_their_limits(k, offset):
    robot = gripper(k, offset)
    for q in robot.clip(np.linspace(-2, 2, 41)[:, None]):
        assert robot.within_limits(q), q
    assert not robot.within_limits([0.04 if k == 2.0 else 1.5])
    inside = robot.clip([0.2])
    assert (robot.within_limits([0.2]) and inside[0] == 0.2) or inside[0] != 0.2


def test_clip_with_limits_that_exclude_each_other_uses_the_leaders():
    robot = gripper(1.0, 0.0, own=(0.0, 1.0), followed=(2.0, 3.0))
    assert robot.clip([5.0]).tolist() == [1.0]
    assert not robot.within_limits([1.0])
    assert robot.lower.tolist() == [0.0]  # those of the mimic joint are not in the arrays
    assert robot.joint("mimic").lower == (2.0,)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (PI, -PI), (-PI, -PI), (np.nextafter(PI, 0), np.nextafter(PI, 0)), (7.0, 7.0 - 2 * PI), (-4.0, 2 * PI - 4.0),
        (0.0, 0.0), (1e3, 1e3 - 159 * 2 * PI), (np.nextafter(-PI, -4), PI),
    ],
)  # fmt: skip
def test_wrap_brings_angles_without_limits_into_half_a_turn(given, expected):
    robot = robot_with_all_joints()
    q = robot.neutral()
    q[1] = given
    found = robot.wrap(q)
    assert -PI <= found[1] < PI
    assert_close(found[1], expected, floor=PI)
    assert (np.delete(found, 1) == np.delete(q, 1)).all()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (3.5, 3.5 - 2 * PI + 2 * PI), (-2.5, -2.5 + 2 * PI), (9.0, 9.0 - 2 * PI), (-2.0, -2.0), (4.0, 4.0),
    ],
)  # fmt: skip
def test_wrap_takes_the_nearest_turn_that_the_limits_allow(given, expected):
    """turn goes from −2 to 4."""
    robot = robot_with_all_joints()
    q = robot.neutral()
    q[0] = given
    found = robot.wrap(q)
    assert_close(found[0], expected, floor=PI)
    assert robot.within_limits(found, 1e-12)


def test_wrap_leaves_angles_that_no_turn_brings_within_limits_and_joints_that_are_no_angles():
    robot = robot_with_all_joints()
    q = robot.neutral()
    q[2], q[7] = 9.0, 9.0  # a slider, a screw
    q[10:13] = 5.0, 5.0, 4.5  # a table: x, y and an angle that may reach 7
    found = robot.wrap(q)
    assert found[[2, 7, 10, 11]].tolist() == [9.0, 9.0, 5.0, 5.0]
    assert found[12] == 4.5  # −1.78 is below the lower limit, and 4.5 is the nearest turn within
    arm = gripper()
    assert arm.wrap([7.0]).tolist() == [7.0]  # the mimic joint would not come back to where it was
    narrow = Builder("n").link("a").link("b", mass=1.0, com=(1, 0, 0)).joint("j", "revolute", "a", "b", lower=-0.1, upper=0.1)
    assert narrow.build().wrap([2.0]).tolist() == [2.0]


def test_wrapped_configurations_have_the_same_poses():
    robot = robot_with_all_joints("floating")
    rng = np.random.default_rng(0)
    q = robot.random_configuration(rng, 20)
    q[:, [7, 8, 15, 16, 19]] += 2 * PI * rng.integers(-3, 4, size=(20, 5))
    assert_close(robot.poses(robot.wrap(q)), robot.poses(q), 1e-13, floor=10)
    robot = robot_with_all_joints().rebase("h")  # joints with their sides exchanged are angles all the same
    q = robot.neutral() + 0.5
    at = [robot.joint(n).q_slice.start for n in ("spin", "cross")]
    q[at] += 2 * PI
    assert np.abs(robot.wrap(q)[at]).max() < PI
    assert_close(robot.poses(robot.wrap(q)), robot.poses(q), 1e-13, floor=10)


def test_random_velocities_are_within_the_limits_and_one_where_there_are_none():
    robot = robot_with_all_joints()
    v = robot.random_velocity(0, 2000)
    most = np.where(np.isfinite(robot.velocity_limit), robot.velocity_limit, 1.0)
    assert v.shape == (2000, robot.nv)
    assert (np.abs(v) <= most).all()
    assert (np.abs(v).max(axis=0) > 0.95 * most).all()
    assert (v[0] != v[1]).all()
    assert robot.random_velocity(3).tolist() == robot.random_velocity(np.random.default_rng(3)).tolist()
    assert robot.random_velocity(0, (2, 3)).shape == (2, 3, robot.nv)


@pytest.mark.parametrize("method", ["clip", "wrap", "within_limits"])
def test_wrong_configurations_are_refused(method):
    robot = robot_with_all_joints()
    call, q = getattr(robot, method), robot.neutral()
    for bad, says in (
        (q[1:], r"q has shape \(12,\), expected \(\.\.\., 13\)"),
        (3.0, r"q has shape \(\), expected \(\.\.\., 13\)"),
        (np.where(np.arange(13) == 4, np.nan, q), r"q\[4\] is nan; all numbers must be finite"),
        ([q, np.where(np.arange(13) == 2, np.inf, q)], r"q\[1, 2\] is inf; all numbers must be finite"),
        (np.zeros(13), "zero quaternion" if method == "wrap" else r"q\[.*\] is not .* its quaternion is zero"),
        (["a"] * 13, "q must be an array of (real numbers of )?shape"),
        (q + 1j, "q must be an array of (real numbers of )?shape"),
        ([[1.0], [1.0, 2.0]], "q must be an array of (real numbers of )?shape"),
    ):
        with pytest.raises(ArgumentError, match=says):
            call(bad)


@pytest.mark.parametrize("tolerance", [-1e-9, math.nan, math.inf, "a", None])
def test_a_tolerance_that_is_none_is_refused(tolerance):
    with pytest.raises(ArgumentError, match="tolerance must be a finite number"):
        robot_with_all_joints().within_limits(robot_with_all_joints().neutral(), tolerance)


def test_limits_of_a_mimic_joint_with_symbols_are_refused_where_they_count():
    import sympy

    robot = gripper(sympy.Symbol("k"))
    assert robot.lower.tolist() == [0.0]
    assert 0 <= robot.random_configuration(0)[0] <= 1
    with pytest.raises(ModelError, match="joint 'mimic': its mimic has symbols where limits need numbers"):
        robot.clip([0.5])


# -- named configurations ----------------------------------------------------------------------------------------------


def test_builder_takes_numbers_by_joint_and_others_are_neutral():
    b = Builder("arm").link("a").link("b", mass=1.0).link("c", mass=1.0)
    b = b.joint("ball", "spherical", "a", "b").joint("hinge", "revolute", "b", "c")
    robot = b.configuration("home", {"hinge": 0.5}).configuration("bent", {"ball": np.array([1, 0, 0, 0])}).build()
    assert robot.configurations == ("home", "bent")
    assert robot.configuration("home").tolist() == [0, 0, 0, 1, 0.5]
    assert robot.configuration("bent").tolist() == [1, 0, 0, 0, 0]
    robot.configuration("home")[:] = 9  # a copy
    assert robot.configuration("home")[-1] == 0.5


def test_with_configuration_takes_q_or_joints_and_none_removes_it():
    robot = gripper()
    one = robot.with_configuration("a", [0.5]).with_configuration("b", {"lead": 0.7}).with_configuration("a", {})
    assert (one.configurations, one.configuration("a").tolist(), one.configuration("b").tolist()) == (("b", "a"), [0.0], [0.7])
    assert robot.configurations == ()
    assert one.with_configuration("a", None).with_configuration("b", None) == robot
    with pytest.raises(UnknownName, match="there is no configuration named 'c'; valid names: a, b"):
        one.with_configuration("c", None)
    with pytest.raises(UnknownName, match=r"there is no configuration named 'c'; valid names: a, b"):
        one.configuration("c")


@pytest.mark.parametrize(
    ("values", "error", "says"),
    [
        ({"nose": 1.0}, UnknownName, "there is no joint named 'nose'"),
        ({"turn": [1, 2]}, ModelError, r"joint 'turn' \(revolute\) has 1 coordinate, 2 given"),
        ({"ball": 1.0}, ModelError, r"joint 'ball' \(spherical\) has 4 coordinates, 1 given"),
        ({"ball": [0, 0, 0, 0]}, ModelError, "its quaternion is zero"),
        ({"turn": math.nan}, ModelError, "must be finite, not nan"),
        ({"turn": "1"}, ModelError, "give a number, or one per coordinate, not '1'"),
        ({"turn": None}, ModelError, "give a number, or one per coordinate, not None"),
        ({"turn": [[1.0]]}, ModelError, "give a number, or one per coordinate"),
        ([1.0], ArgumentError, "q has shape"),
        (np.zeros((2, 13)) + 1, ArgumentError, r"q has shape \(2, 13\), expected \(13,\): one configuration"),
    ],
)
def test_invalid_configurations_are_refused(values, error, says):
    with pytest.raises(error, match=says):
        robot_with_all_joints().with_configuration("home", values)


def test_names_of_configurations_are_checked():
    arm = Builder("arm").link("a").link("b", mass=1.0).joint("hinge", "revolute", "a", "b")
    with pytest.raises(ModelError, match="must be non-empty text, not ''"):
        arm.build().with_configuration("", {})
    with pytest.raises(ModelError, match="two configurations are named 'home'"):
        arm.configuration("home", {}).configuration("home", {}).build()
    with pytest.raises(ModelError, match=r"configuration 'x': joint 'nose' is fixed or not defined"):
        Builder("arm").link("a").configuration("x", {"nose": 1}).build()
    with pytest.raises(ModelError, match="must be a dict of joints"):
        Builder("arm").link("a").configuration("x", [1])


def test_a_mimic_joint_is_given_by_its_leader():
    with pytest.raises(ModelError, match="joint 'mimic' is a mimic joint and has no coordinate; give its leader 'lead'"):
        gripper().with_configuration("home", {"mimic": 1.0})


def test_configurations_are_part_of_equality_and_pickles():
    robot = ts.robots.panda()
    assert pickle.loads(pickle.dumps(robot)) == robot
    assert pickle.loads(pickle.dumps(robot)).configuration("ready").tolist() == robot.configuration("ready").tolist()
    assert robot != robot.with_configuration("ready", None)
    first = gripper().with_configuration("x", {"lead": 1.0})
    assert first == gripper().with_configuration("x", [1.0])


# -- named configurations through model editing ------------------------------------------------------------------------


def test_lock_removes_a_joints_part_and_configurations_without_any():
    robot = ts.robots.panda().with_configuration("open", {"panda_finger_joint1": 0.03})
    q = robot.configuration("ready")
    locked = robot.lock({"panda_joint2": 0.1, "panda_finger_joint1": 0.02})
    assert locked.configurations == ("ready",)
    assert locked.report[-1].endswith("; named configurations dropped, as none of their joints is left: open")
    assert locked.configuration("ready").tolist() == [q[0], *q[2:7]]


def test_subtree_keeps_its_joints_and_gives_freed_mimic_joints_their_value():
    robot = ts.robots.panda().with_configuration("open", {"panda_finger_joint1": 0.03})
    hand = robot.subtree("panda_hand")
    assert (hand.configurations, hand.configuration("open").tolist()) == (("open",), [0.03])
    finger = gripper().with_configuration("x", {"lead": 0.3}).subtree("two")
    assert finger.configurations == ()  # its joint stays behind
    b = Builder("arm").link("a").link("b", mass=1.0).link("c", mass=1.0).link("d", mass=1.0)
    b = b.joint("lead", "revolute", "a", "b").joint("swing", "revolute", "b", "c")
    b = b.joint("mimic", "revolute", "c", "d", mimic=("lead", 2.0, 0.1))
    freed = b.configuration("x", {"lead": 0.3, "swing": 0.5}).build().subtree("b")
    assert_close(freed.configuration("x"), [0.5, 0.7])


def test_without_couplings_mimic_joints_stay_where_they_were():
    robot = gripper().with_configuration("x", {"lead": 0.3}).with_configuration("zero", {})
    free = robot.without_couplings()
    assert_close(free.configuration("x"), [0.3, 0.7])
    assert_close(free.configuration("zero"), [0.0, 0.1])
    assert_close(free.poses(free.configuration("x")), robot.poses(robot.configuration("x")))


def test_a_chain_of_mimic_joints_may_be_longer_than_pythons_stack():
    hinge, n = Revolute(Vec(0, 0, 1)), sys.getrecursionlimit() + 100
    joints = {"j0": Joint("j0", hinge, "l0", "l1")}
    joints |= {f"j{k}": Joint(f"j{k}", hinge, f"l{k}", f"l{k + 1}", mimic=Mimic(f"j{k - 1}")) for k in range(1, n)}
    assert joint_coordinates(joints[f"j{n - 1}"], joints, {"j0": (0.25,)}) == (0.25,)


def test_attach_puts_the_prefix_before_names_and_joins_configurations_of_one_name():
    hand = gripper().with_configuration("home", {"lead": 0.3})
    arm = ts.robots.ur5()
    both = arm.attach(hand, at="tool0", prefix="hand_")
    assert both.configurations == ("home", "hand_home")
    assert both.configuration("home").tolist() == [*arm.configuration("home"), 0.0]
    assert both.configuration("hand_home").tolist() == [0.0] * 6 + [0.3]
    one = arm.attach(hand, at="tool0")
    assert one.configurations == ("home",)
    assert one.configuration("home").tolist() == [*arm.configuration("home"), 0.3]


def test_the_pose_of_the_base_is_kept_while_it_is_fixed_and_dropped_where_the_base_changes():
    dog = ts.robots.quadruped()
    q = dog.configuration("standing")
    assert dog.with_base("fixed").configuration("standing").tolist() == q[7:].tolist()
    assert dog.with_base("fixed").with_base("floating").configuration("standing").tolist() == q.tolist()
    other = dog.rebase("FL_FOOT")
    assert other.configuration("standing")[:7].tolist() == [0, 0, 0, 0, 0, 0, 1]
    assert sorted(other.configuration("standing")[7:]) == sorted(q[7:])
    assert any("configurations lose the pose of the base" in line for line in other.report)
    carried = ts.robots.ur5().attach(dog, at="tool0", prefix="dog_")
    assert carried.configuration("dog_standing")[6:].tolist() == q[7:].tolist()


def test_rebase_keeps_the_poses_of_links_relative_to_each_other():
    robot = ts.robots.ur5()
    other = robot.rebase("forearm_link")

    def relative(r):
        q = r.configuration("home")
        return np.linalg.inv(r.pose(q, "tool0")) @ r.pose(q, "base_link")

    assert_close(relative(other), relative(robot), floor=1)


def test_other_editing_keeps_configurations():
    robot = ts.robots.panda()
    for edited in (
        robot.with_payload("panda_hand", 1.0),
        robot.with_gravity((0, 0, 1)),
        robot.with_friction("urdf"),
        robot.with_rotors({"panda_joint1": {"mass": 0.1, "inertia": (1e-4, 1e-4, 1e-4)}}).rotors_as_armature(),
        robot.without_loops(),
    ):
        assert edited.configuration("ready").tolist() == robot.configuration("ready").tolist()


def test_another_spanning_tree_drops_configurations_with_a_note():
    bars = ts.mechanisms.four_bar()
    named = bars.with_configuration("zero", {})
    assert named.with_spanning_tree(list(named.loops)).configurations == ("zero",)  # the same tree
    joint = named.joints[1]
    other = named.with_spanning_tree([joint])
    assert other.configurations == ()
    assert any("named configurations dropped" in line and "zero" in line for line in other.report)


@pytest.mark.parametrize("name", ts.robots.names())
def test_bundled_robots_have_configurations_within_their_limits(name):
    robot = getattr(ts.robots, name)()
    assert robot.configurations
    for word in robot.configurations:
        assert robot.within_limits(robot.configuration(word)), word


def test_standing_robots_stand_on_the_ground():
    """Feet of a G1 end 35 mm below the ankle's axis; those of a Solo are balls of about 2 cm."""
    man, dog = ts.robots.humanoid(), ts.robots.quadruped()
    for side in ("left", "right"):
        pose = man.pose(man.configuration("standing"), f"{side}_ankle_roll_link")
        assert_close(pose[:3, 2], [0, 0, 1], floor=1)
        assert abs(pose[2, 3] - 0.035) < 1e-4
    heights = [dog.pose(dog.configuration("standing"), f"{leg}_FOOT")[2, 3] for leg in ("FL", "FR", "HL", "HR")]
    assert np.ptp(heights) < 1e-12
    assert 0.01 < heights[0] < 0.03
