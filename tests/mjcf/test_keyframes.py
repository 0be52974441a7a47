"""Keyframes are named configurations: read as MuJoCo compiles them, written so that MuJoCo has the same qpos."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import torsor as ts
from tests.machine_code import without_machine_code
from tests.mjcf.test_random_trees import expressible_in_mjcf
from tests.mjcf.twin import Twin
from tests.tolerance import assert_close
from tests.trees import random_tree
from torsor.io.mjcf import read_mjcf, write_mjcf
from torsor.io.mjcf.compiling import compile_model
from torsor.model.splitting import split_composites
from torsor.robot import Robot

ARM = """<mujoco model="arm"><compiler angle="radian"/>
<worldbody>
<body name="base" pos="0 0 1">{root}<geom size="0.1"/>
<body name="upper"><joint name="shoulder" type="ball"/><geom size="0.1" pos="0 0 0.2"/>
<body name="lower"><joint name="elbow" axis="0 1 0" ref="0.3"/><joint name="slide" type="slide" axis="1 0 0"/>
<geom size="0.1" pos="0 0 0.2"/></body></body></body>
</worldbody>
<actuator><motor joint="elbow"/></actuator>
<keyframe>{keys}</keyframe></mujoco>"""
ROOT = '<freejoint name="root"/>'


def test_keyframes_of_a_floating_robot_are_mujocos_qpos():
    keys = (
        '<key name="home" qpos="1 2 3 0.5 0.5 0.5 0.5 0.6 0.8 0 0 1.5 -0.25"/>'
        '<key name="scaled" qpos="0 0 1 2 0 0 0 0 0 3 4 0 0"/><key name="start"/>'
    )
    robot = Robot(read_mjcf(ARM.format(root=ROOT, keys=keys)))
    m = compile_model(ARM.format(root=ROOT, keys=keys)).model
    assert robot.configurations == ("home", "scaled", "start")
    assert robot.configuration("home").tolist() == [1, 2, 3, 0.5, 0.5, 0.5, 0.5, 0.8, 0, 0, 0.6, 1.5, -0.25]
    for k, name in enumerate(robot.configurations):  # the tip is where MuJoCo has it
        d = mujoco.MjData(m)
        mujoco.mj_resetDataKeyframe(m, d, k)
        mujoco.mj_kinematics(m, d)
        assert_close(robot.pose(robot.configuration(name), "lower")[:3, 3], d.body("lower").xpos, floor=1)
        assert_close(robot.pose(robot.configuration(name), "lower")[:3, :3].ravel(), d.body("lower").xmat, floor=1)


def test_velocities_controls_and_missing_names_are_noted():
    keys = '<key qpos="1 0 0 0 2 3"/><key name="key0" qvel="1 0 0 0 0" ctrl="3"/>'
    robot = Robot(read_mjcf(ARM.format(root="", keys=keys)))
    assert robot.configurations == ("key0", "key0_")
    report = "\n".join(robot.report)
    assert "keyframe's qvel ignored, only its qpos is a configuration: key0_" in report
    assert "keyframe's ctrl ignored, only its qpos is a configuration: key0_" in report
    assert "keyframe without a name of its own, named: key0" in report


@pytest.mark.parametrize(("polycoef", "good"), [("0.5 2 0 0 0", 2.5), ("0.5 2 1 0 0", 3.5)], ids=["line", "curve"])
def test_a_mimic_joint_elsewhere_than_its_leader_puts_it_is_noted(polycoef, good):
    text = f"""<mujoco><compiler angle="radian"/><worldbody>
<body><joint name="a"/><geom size="1" pos="1 0 0"/><body><joint name="b"/><geom size="1" pos="1 0 0"/></body></body></worldbody>
<equality><joint joint1="b" joint2="a" polycoef="{polycoef}"/></equality>
<keyframe><key name="good" qpos="1 {good}"/><key name="bad" qpos="1 2"/></keyframe></mujoco>"""
    robot = Robot(read_mjcf(text))
    assert robot.configuration("bad").tolist() == robot.configuration("good").tolist() == [1.0]
    assert [line for line in robot.report if "keyframe" in line] == [
        "keyframe 'bad' has mimic joints elsewhere than their leaders put them: b"
    ]
    assert Robot(read_mjcf(text, mimic=False)).configuration("bad").tolist() == [1.0, 2.0]


def test_free_joints_with_friction_are_sliders_and_a_ball_in_keyframes():
    text = """<mujoco><worldbody><body name="drone"><joint name="free" type="free" frictionloss="0.3"/><geom size="0.1"/></body>
</worldbody><keyframe><key name="up" qpos="1 2 3 0.6 0.8 0 0"/></keyframe></mujoco>"""
    assert Robot(read_mjcf(text)).configuration("up").tolist() == [1, 2, 3, 0.8, 0, 0, 0.6]


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ('<key name="x" qpos="1 0 0 0 5 6 7"/>', "qpos"),
        ('<key name="x" qpos="nan 0 0 0 0 0"/>', "is not a number"),
        ('<key name="x" qpos="1e200 0 0 0 0 0"/>', "is too large"),
        ('<key name="x"/><key name="x"/>', "repeated name"),
    ],
)
def test_bad_keyframes_are_refused_with_their_line(key, says):
    with pytest.raises(ts.errors.FileError, match=says) as error:
        read_mjcf(ARM.format(root="", keys=key))
    assert error.value.line in (None, 9)  # MuJoCo gives no line for a wrong size


@given(st.integers(0, 10**6))
@example(52272)  # a tree without coordinates
@without_machine_code
def test_written_keyframes_are_the_same_configuration_in_mujoco(seed):
    d = expressible_in_mjcf(random_tree(seed, bodies=1 + seed % 6))
    robot = Robot(d)
    q = robot.random_configuration(seed)
    robot = robot.with_configuration("here", q)
    text = write_mjcf(robot.description)
    compiled = compile_model(text).model
    if not robot.nq:
        assert compiled.nkey == 0
        return
    expected, found = Twin(Robot(split_composites(d)).model, compiled).qpos(q), compiled.key_qpos[0]
    for k in range(compiled.njnt):  # a quaternion and its negative are the same rotation
        at = int(compiled.jnt_qposadr[k]) + (3 if compiled.jnt_type[k] == 0 else 0)
        if compiled.jnt_type[k] < 2:
            part = slice(at, at + 4)
            expected[part] *= np.sign(expected[part] @ found[part])
    assert_close(found, expected, floor=1)
    back = Robot(read_mjcf(text))
    assert back.configurations == ("here",)
    link = d.links[-1].name
    assert_close(back.pose(back.configuration("here"), link), robot.pose(q, link), 1e-11, floor=1)  # frames pass as quaternions


def test_written_keyframes_without_the_pose_of_the_base_have_it_neutral():
    bare = ts.robots.quadruped().with_configuration("standing", None)
    robot = bare.with_configuration("bent", {"FL_KFE": -1.0})
    m = compile_model(write_mjcf(robot.description, meshes=False)).model
    assert m.key_qpos[0][:7].tolist() == [0, 0, 0, 1, 0, 0, 0]
    assert replace(robot.description, configurations=()) == bare.description


def test_keyframes_of_very_many_joints_are_refused_before_mujoco_makes_room_for_them():
    bodies = '<replicate count="50000"><body><joint/><geom size="1"/></body></replicate>'
    text = f"<mujoco><worldbody>{bodies}</worldbody><keyframe>{'<key/>' * 100}</keyframe></mujoco>"
    with pytest.raises(ts.errors.FileError, match="has 41 keyframes and 50000 joints, whose product is above 2000000"):
        read_mjcf(text)
