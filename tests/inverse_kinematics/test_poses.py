"""Poses found by inverse kinematics, evaluated again by Pinocchio."""

import pickle

import numpy as np
import pytest

import torsor as ts
from benchmarks import arms
from torsor.compat import to_pinocchio

ARMS = {"ur5": "tool0", "panda": "panda_hand_tcp"}


def arm_of(name):
    return getattr(ts.robots, name)()


def poses(robot, frame, count, seed=3):
    return robot.pose(robot.random_configuration(np.random.default_rng(seed), count), frame)


def errors(T, wanted):
    """Distances [m], and angles [rad] by the trace and the skew part, of poses."""
    R = np.swapaxes(T[..., :3, :3], -1, -2) @ wanted[..., :3, :3]
    skew = R - np.swapaxes(R, -1, -2)
    sine = np.linalg.norm(skew[..., [2, 0, 1], [1, 2, 0]], axis=-1) / 2
    return np.linalg.norm(T[..., :3, 3] - wanted[..., :3, 3], axis=-1), np.arctan2(
        sine, (np.trace(R, axis1=-2, axis2=-1) - 1) / 2
    )


@pytest.mark.parametrize("name", ARMS)
def test_reachable_poses_are_found_within_limits_and_pinocchio_agrees(name):
    import pinocchio as pin

    robot, frame = arm_of(name), ARMS[name]
    T = poses(robot, frame, 300)
    found = robot.inverse_kinematics(T, frame)
    assert found.success.all()
    assert robot.within_limits(found.q, 1e-12).all()
    model = to_pinocchio(robot)
    data, index = model.createData(), model.getFrameId(frame)
    for q, wanted in zip(found.q, T, strict=True):
        pin.framesForwardKinematics(model, data, q)
        length, angle = errors(data.oMf[index].homogeneous, wanted)
        assert length <= 1.001e-6
        assert angle <= 1.001e-6


@pytest.mark.parametrize("name", [pytest.param(x, marks=[pytest.mark.night] * (x != "kinova")) for x in arms.ARMS])
def test_999_of_1000_poses_of_an_arm_are_found(name):
    robot, frame, joints = arms.arm_of(name)
    T = robot.pose(arms.configurations_of(robot, joints, 500 if name == "kinova" else 10_000, seed=11), frame)
    found = robot.inverse_kinematics(T, frame, joints=joints)
    length, angle = errors(robot.pose(found.q, frame), T)
    good = (length <= 1.001e-6) & (angle <= 1.001e-6) & robot.within_limits(found.q, 1e-12)
    assert (good == found.success).all()
    assert good.mean() >= 0.999


def test_a_target_has_the_same_bits_alone_in_a_batch_and_in_threads():
    robot = arm_of("panda")
    T = poses(robot, "panda_hand_tcp", 40)
    with ts.threads(1):
        one = robot.inverse_kinematics(T, "panda_hand_tcp", attempts=6)
    with ts.threads(2):
        two = robot.inverse_kinematics(T[::-1], "panda_hand_tcp", attempts=6)
    assert np.array_equal(one.q, two.q[::-1])
    for k in (0, 7, 23):
        alone = robot.inverse_kinematics(T[k], "panda_hand_tcp", attempts=6)
        assert np.array_equal(alone.q, one.q[k])
        assert alone.attempts == one.attempts[k]


def test_other_targets_of_the_same_kind_compile_nothing():
    robot = arm_of("ur5")
    T = poses(robot, "tool0", 2)
    robot.inverse_kinematics(T[0], "tool0")
    (problem,) = vars(robot)["_problems"].values()
    robot.inverse_kinematics(T[1], "tool0", [0.1] * 6)
    assert list(vars(robot)["_problems"].values()) == [problem]


def test_a_close_guess_is_followed():
    robot = arm_of("panda")
    rng = np.random.default_rng(0)
    q0 = robot.random_configuration(rng, 200)
    q = robot.clip(q0 + 0.02 * rng.normal(size=q0.shape))
    found = robot.inverse_kinematics(robot.pose(q, "panda_hand_tcp"), "panda_hand_tcp", q0)
    assert found.success.all()
    assert (found.attempts == 1).mean() > 0.95
    assert np.median(np.abs(found.q - q0).max(axis=1)) < 0.1


def test_angles_with_several_turns_are_those_nearest_to_the_guess():
    robot = arm_of("ur5")  # ± 2π
    q = np.array([0.3, -1.2, 1.4, 0.2, 0.6, 0.1])
    for turns in (-2 * np.pi, 0.0, 2 * np.pi):
        guess = robot.clip(q + np.array([turns, 0, 0, 0, 0, turns]))
        found = robot.inverse_kinematics(robot.pose(q, "tool0"), "tool0", guess)
        assert found.success
        for k in range(6):  # of the values that differ by whole turns, the nearest within the limits
            allowed = [x for x in found.q[k] + 2 * np.pi * np.arange(-3, 4) if robot.lower[k] <= x <= robot.upper[k]]
            assert abs(found.q[k] - guess[k]) == min(abs(x - guess[k]) for x in allowed)


def test_joints_that_are_not_named_stay_at_the_guess():
    robot = arm_of("panda")
    q0 = robot.configuration("ready")
    q = q0 + 0.1 * np.array([0, 1, 1, 1, 1, 1, 1, *[0] * (robot.nq - 7)])
    found = robot.inverse_kinematics(
        robot.pose(q, "panda_hand_tcp"), "panda_hand_tcp", q0, joints=[f"panda_joint{k}" for k in range(2, 8)]
    )
    assert found.success
    assert found.q[0] == q0[0]


def test_some_joints_have_the_same_bits_alone_and_in_a_batch():
    robot, frame, joints = arms.arm_of("panda")[0], "panda_hand_tcp", [f"panda_joint{k}" for k in range(2, 8)]
    start = robot.configuration("ready")
    q = robot.random_configuration(np.random.default_rng(5), 20)
    q[:, [0, 7]] = start[[0, 7]]
    T, near = robot.pose(q, frame), robot.clip(q + 0.01 * (np.arange(8) < 7))
    for q0 in (near, np.tile(start, (20, 1))):
        many = robot.inverse_kinematics(T, frame, q0, joints=joints)
        alone = [robot.inverse_kinematics(X, frame, x, joints=joints) for X, x in zip(T, q0, strict=True)]
        assert np.array_equal([found.q for found in alone], many.q)
        assert (many.q[:, [0, 7]] == q0[:, [0, 7]]).all()
    free = [robot.inverse_kinematics(T[0], frame, near[0], joints=x).q for x in (None, joints, tuple(joints), None)]
    assert np.array_equal(free[0], free[3])
    assert np.array_equal(free[1], free[2])
    assert not np.array_equal(free[0], free[1])


def test_a_pose_out_of_reach_gives_the_closest_and_says_so():
    robot = arm_of("ur5")
    T = poses(robot, "tool0", 1)[0]
    T[:3, 3] = [2.0, 0.0, 0.3]
    found = robot.inverse_kinematics(T, "tool0", attempts=10)
    assert not found.success
    assert found.attempts == 10
    assert "not found in 10 attempts; closest" in repr(found)
    assert found.position_error == pytest.approx(errors(robot.pose(found.q, "tool0"), T)[0], rel=1e-9)


def test_limits_hold_a_joint_and_are_reported():
    robot = arm_of("ur5").with_limits("elbow_joint", lower=0.5, upper=0.6)
    T = poses(robot, "tool0", 50)
    found = robot.inverse_kinematics(T, "tool0")
    assert found.success.all()
    assert robot.within_limits(found.q, 1e-12).all()
    free = robot.inverse_kinematics(poses(arm_of("ur5"), "tool0", 50), "tool0", limits=False)
    assert free.success.all()


def test_a_guess_outside_the_limits_is_moved_and_said():
    robot = arm_of("panda")
    found = robot.inverse_kinematics(poses(robot, "panda_hand_tcp", 1)[0], "panda_hand_tcp", np.full(robot.nq, 5.0))
    assert found.success
    assert "outside its limits" in found.notes[0]


def test_arms_with_fewer_joints_meet_what_they_can():
    robot = ts.robots.two_link()
    q = np.array([0.4, 0.9])
    p = robot.pose(q, "tip")[:3, 3]
    found = robot.inverse_kinematics(ts.targets.position(p), "tip")
    assert found.success
    assert np.abs(robot.pose(found.q, "tip")[:3, 3] - p).max() < 1e-6
    tilted = robot.pose(q, "tip")
    tilted[:3, 1:3] = tilted[:3, 1:3] @ [[0.8, -0.6], [0.6, 0.8]]  # about the link, which a planar arm cannot do
    assert not robot.inverse_kinematics(tilted, "tip", attempts=3).success


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (({},), "at least one"),
        ((np.eye(3), "tool0"), r"shape \(..., 4, 4\)"),
        ((np.full((4, 4), np.nan), "tool0"), "finite"),
        ((np.diag([1.0, 1, 1, 2]), "tool0"), "last row"),
        ((2 * np.eye(4), "tool0"), "not a rotation"),
        ((np.diag([1.0, 1, -1, 1]), "tool0"), "a reflection, not a rotation"),
        ((np.eye(4), "tool7"), "tool7"),
        ((ts.targets.position([1e12, 0, 0]), "tool0"), "farther away"),
        ((np.eye(4), "base_link"), "no joint"),
        ((np.eye(4), "tool0", np.zeros(5)), r"expected \(..., 6\)"),
        ((np.eye(4), "tool0", np.full(6, np.nan)), "finite"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ts.TorsorError, match=message):
        arm_of("ur5").inverse_kinematics(*arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"attempts": 0}, "attempts"),
        ({"seed": -1}, "seed"),
        ({"position_tolerance": 0.0}, "position_tolerance"),
        ({"angle_tolerance": np.nan}, "angle_tolerance"),
        ({"joints": "elbow_joint"}, "a list of at least one name"),
        ({"joints": []}, "a list of at least one name"),
        ({"joints": ["elbow"]}, "elbow"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ts.TorsorError, match=message):
        arm_of("ur5").inverse_kinematics(np.eye(4), "tool0", **options)


def test_a_result_survives_pickling():
    robot = arm_of("ur5")
    found = robot.inverse_kinematics(poses(robot, "tool0", 1)[0], "tool0")
    again = pickle.loads(pickle.dumps(found))
    assert repr(again) == repr(found)
    assert np.array_equal(again.q, found.q)


def test_an_argument_stays_as_it_was_and_a_later_call_is_as_careful_as_the_first():
    robot = arm_of("ur5")
    T, q0 = poses(robot, "tool0", 1)[0], np.full(6, 0.5)
    before = T.copy(), q0.copy()
    first, second = (robot.inverse_kinematics(T, "tool0", q0) for _ in range(2))
    assert np.array_equal(T, before[0])
    assert np.array_equal(q0, before[1])
    assert np.array_equal(first.q, second.q)
    for wrong, message in ((T * 2, "not a rotation|last row"), (T * np.nan, "finite"), (-T, "reflection"), (T[:3], "shape")):
        with pytest.raises(ts.ArgumentError, match=message):
            robot.inverse_kinematics(wrong, "tool0", q0)
    scaled = T.copy()
    scaled[:3, :3] *= 1.001
    with pytest.raises(ts.ArgumentError, match="not a rotation"):
        robot.inverse_kinematics(scaled, "tool0", first.q)
    outside = robot.inverse_kinematics(T, "tool0", np.full(6, 7.0))
    assert outside.success
    assert robot.within_limits(outside.q)


def test_a_robot_with_several_tips_asks_for_a_frame():
    with pytest.raises(ts.ArgumentError, match="several tips"):
        arm_of("panda").inverse_kinematics(np.eye(4))


def test_a_followed_pose_has_the_same_bits_alone_and_in_a_batch():
    robot = arm_of("panda")
    q = robot.random_configuration(np.random.default_rng(5), 50)
    T, near = robot.pose(q, "panda_hand_tcp"), robot.clip(q + 0.01)
    many = robot.inverse_kinematics(T, "panda_hand_tcp", near)
    alone = [robot.inverse_kinematics(X, "panda_hand_tcp", x) for X, x in zip(T, near, strict=True)]
    assert np.array_equal([found.q for found in alone], many.q)
    assert np.array_equal([found.success for found in alone], many.success)


def test_angles_are_within_half_a_turn_of_the_guess_and_within_limits_also_when_followed():
    robot = arm_of("ur5")
    q = robot.random_configuration(np.random.default_rng(5), 50)
    T = robot.pose(q, "tool0")
    for turn in (0, 2 * np.pi, -2 * np.pi):
        for X, x in zip(T, q, strict=True):
            found = robot.inverse_kinematics(X, "tool0", x + 0.01 + turn)
            assert found.success
            assert robot.within_limits(found.q)


@pytest.mark.parametrize("direction", [0.0, 1.0, 3.0])
def test_the_closest_configuration_of_a_stretched_arm_points_to_the_target(direction):
    robot = ts.robots.two_link()  # two links of 1 m
    there = 3 * np.array([np.cos(direction), np.sin(direction), 0])
    found = robot.inverse_kinematics(ts.targets.position(there), "tip")
    assert not found.success
    # 60 steps; where the arm is stretched, the error is quadratic in the angles and falls slowly
    assert found.position_error == pytest.approx(1.0, abs=2e-3)


def test_joints_that_do_not_move_the_target_are_kept_within_their_limits_too():
    robot = ts.robots.panda()
    q = robot.configuration("ready")
    T = robot.pose(q + 0.01 * (np.arange(8) < 7), "panda_hand_tcp")
    q[7] = 9.0
    for target, q0 in ((ts.targets.position([0.4, 0.1, 0.3]), np.full(8, 9.0)), *[(T, q)] * 3):
        found = robot.inverse_kinematics(target, "panda_hand_tcp", q0)
        assert found.success
        assert robot.within_limits(found.q)
        assert "outside its limits" in found.notes[0]
