"""SRDF group states: read into named configurations, written, and refused with a line where they make no sense."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import torsor as ts
from torsor.errors import ArgumentError, FileError
from torsor.io.srdf import with_srdf, write_srdf
from torsor.model.joints import Composite, Prismatic, Spherical
from torsor.robot import Robot
from torsor.robot.builder import Builder
from torsor.spatial import Vec


def arm(base: str = "fixed"):
    """Every kind of joint that a group state may name."""
    b = Builder("arm").link("base", mass=1.0).link("hull", mass=1.0).link("upper", mass=1.0).link("lower", mass=1.0)
    b = b.link("finger", mass=1.0).link("thumb", mass=1.0)
    b = b.joint("mount", "fixed", "base", "hull").joint("ball", "spherical", "hull", "upper")
    b = b.joint("elbow", "revolute", "upper", "lower").joint("grip", "prismatic", "lower", "finger")
    return b.joint("thumb", "prismatic", "lower", "thumb", mimic=("grip", -1.0)).description(base)


def srdf(*states: str, head: str = "") -> str:
    return f'<robot name="arm">\n{head}\n' + "\n".join(states) + "\n</robot>"


def read(*states: str, base: str = "fixed", head: str = "") -> Robot:
    return Robot(with_srdf(arm(base), srdf(*states, head=head)))


def state(name: str, *joints: tuple[str, str], group: str = "all") -> str:
    rows = "".join(f'<joint name="{n}" value="{x}"/>' for n, x in joints)
    return f'<group_state name="{name}" group="{group}">{rows}</group_state>'


def test_states_are_configurations_and_other_joints_neutral():
    robot = read(state("home", ("elbow", "0.5"), ("ball", "0.6 0 0 0.8")), state("open", ("grip", "0.04")))
    assert robot.configurations == ("home", "open")
    assert robot.configuration("home").tolist() == [0.6, 0, 0, 0.8, 0.5, 0]
    assert robot.configuration("open").tolist() == [0, 0, 0, 1, 0, 0.04]
    assert not [line for line in robot.report if "SRDF" in line]


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("root_joint", ""),
        ("floating_base", ""),
        ("mine", '<virtual_joint name="mine" type="floating" parent_frame="world" child_link="base"/>'),
    ],
)
def test_a_floating_base_goes_by_several_names(name, head):
    one = state("home", (name, "1 2 3 0 0 0 1"), ("elbow", "1"))
    assert read(one, base="floating", head=head).configuration("home").tolist() == [1, 2, 3, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0]
    fixed = read(one, head=head)
    assert fixed.configuration("home").tolist() == [0, 0, 0, 1, 1, 0]
    assert fixed.with_base("floating").configuration("home")[:3].tolist() == [1, 2, 3]  # kept for when it floats


def test_states_of_one_name_in_several_groups_are_one_configuration():
    robot = read(state("home", ("elbow", "1"), group="arm"), state("home", ("grip", "2"), ("elbow", "1"), group="hand"))
    assert robot.configurations == ("home",)
    assert robot.configuration("home").tolist() == [0, 0, 0, 1, 1, 2]


def test_states_of_one_name_with_other_values_go_by_their_group():
    robot = read(state("home", ("elbow", "1"), group="arm"), state("home", ("elbow", "2"), group="other"))
    assert robot.configurations == ("home", "home:other")
    assert robot.configuration("home:other")[4] == 2
    assert any("the later one is called: home:other" in line for line in robot.report)
    with pytest.raises(FileError, match="is another 'home', with other values for the same joints; rename one of them"):
        read(state("home", ("elbow", "1")), '<group_state name="home"><joint name="elbow" value="2"/></group_state>')


def test_unknown_fixed_and_mimic_joints_are_noted():
    robot = read(state("home", ("elbow", "1"), ("nose", "1"), ("mount", "1"), ("thumb", "3")), state("none", ("nose", "2")))
    assert robot.configurations == ("home",)
    report = "\n".join(robot.report)
    assert "SRDF: group states name joints that are not in the robot; ignored: nose (2 times)" in report
    assert "SRDF: group states name joints that are fixed; ignored: mount" in report
    assert "SRDF: group states name mimic joints, which follow their leaders; ignored: thumb" in report
    assert "SRDF: group state without a joint that the robot moves, ignored: none" in report


def test_other_elements_are_counted_and_another_name_is_noted():
    text = srdf(state("home", ("elbow", "1")), head="<group name='a'/><disable_collisions link1='a' link2='b'/>")
    report = "\n".join(with_srdf(arm(), text.replace('"arm"', '"leg"', 1)).report)
    assert "SRDF of a robot of another name: leg" in report
    assert "1 <disable_collisions> element ignored: contact is not part of a rigid-body description" in report


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (srdf(state("home", ("elbow", "a"))), 3, "value: 'a' is not a number"),
        (srdf(state("home", ("elbow", "nan"))), 3, "not a number"),
        (srdf(state("home", ("elbow", "1e999"))), 3, "too large"),
        (srdf(state("home", ("elbow", "1 2"))), 3, "group_state 'home': value needs one number, 2 given"),
        (srdf(state("home", ("ball", "1"))), 3, "value needs 4 numbers, 1 given"),
        (srdf(state("home", ("ball", "0 0 0 0"))), 3, "joint 'ball': its quaternion is zero"),
        (srdf(state("home", ("elbow", "1"), ("elbow", "1"))), 3, "gives joint 'elbow' a second time"),
        (srdf(state("", ("elbow", "1"))), 3, 'name="" is empty'),
        (srdf('<group_state name="home"><joint value="1"/></group_state>'), 3, 'has no name="..."'),
        (srdf('<group_state name="home"><joint name="elbow"/></group_state>'), 3, 'has no value="..."'),
        (srdf(state("home", ("nose", "1"))), 3, "robot 'arm' has no joint 'nose', nor any other joint of the group states"),
        ("<mujoco/>", 1, "is not an SRDF: its root element is <mujoco>"),
        ("<robot>", 1, "is not well-formed XML"),
        ('<!DOCTYPE robot [<!ENTITY a "b">]>\n<robot/>', 1, "DTDs and entities are refused"),
        ("", None, "is empty"),
    ],
)
def test_malformed_files_are_refused_with_their_line(text, line, says):
    with pytest.raises(FileError, match=says.replace("(", r"\(")) as error:
        with_srdf(arm(), text.encode())
    assert error.value.line == line
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)


def test_srdf_beside_the_urdf_is_read_and_errors_name_the_file(tmp_path):
    robot = ts.robots.panda()
    ts.save(robot, tmp_path / "panda.urdf")
    assert ts.load(tmp_path / "panda.urdf").configurations == robot.configurations  # torsor's own element has them
    with pytest.raises(FileError, match=r"panda\.srdf"):
        ts.load(tmp_path / "panda.urdf", srdf=True)
    ts.save_srdf(robot, tmp_path / "panda.srdf")
    back = ts.load(tmp_path / "panda.urdf", srdf=True)
    assert back.configurations == robot.configurations
    assert (back.configuration("ready") == robot.configuration("ready")).all()
    assert "named configurations, written as torsor's own elements" in (tmp_path / "panda.urdf").read_text()
    with pytest.raises(ArgumentError, match="was not read from a file: give srdf=path"):
        ts.load((tmp_path / "panda.urdf").read_text(), srdf=True)


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_written_srdf_is_read_back_to_the_bit(base):
    robot = Robot(arm(base))
    rng = np.random.default_rng(0)
    for name in ("one", "two & <three>"):
        robot = robot.with_configuration(name, robot.random_configuration(rng))
    back = Robot(with_srdf(arm(base), write_srdf(robot.description)))
    assert back == robot
    for name in robot.configurations:
        assert back.configuration(name).tobytes() == robot.configuration(name).tobytes()


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_written_srdf_keeps_a_configuration_that_names_no_joint(base):
    robot = Robot(arm(base)).with_configuration("zero", {})
    back = Robot(with_srdf(arm(base), write_srdf(robot.description)))
    assert back.configuration("zero").tolist() == robot.neutral().tolist()


def test_states_of_a_file_replace_those_of_the_same_name():
    robot = read(state("home", ("elbow", "1")), state("open", ("grip", "1")))
    again = Robot(with_srdf(robot.description, srdf(state("home", ("grip", "2")))))
    assert again.configurations == ("open", "home")
    assert again.configuration("home").tolist() == [0, 0, 0, 1, 0, 2]


def test_a_state_without_a_joint_of_the_robot_replaces_none():
    robot = read(state("home", ("elbow", "1")))
    again = Robot(with_srdf(robot.description, srdf(state("home", ("nowhere", "2")), state("open", ("grip", "1")))))
    assert again.configurations == ("home", "open")
    assert again.configuration("home").tolist() == robot.configuration("home").tolist()


def test_a_name_with_a_control_character_cannot_be_written():
    with pytest.raises(ts.ModelError, match="cannot be written as XML"):
        write_srdf(Robot(arm()).with_configuration("a\x01", {"elbow": 1}).description)


def test_configuration_of_a_composite_joint_is_read_back_beside_its_urdf(tmp_path):
    kind = Composite([Prismatic(Vec(1, 0, 0)), Spherical()])
    b = (
        Builder("rail")
        .link("a", mass=1.0, inertia=(1, 1, 1))
        .link("b", mass=1.0, inertia=(1, 1, 1))
        .joint("both", kind, "a", "b")
    )
    robot = b.configuration("away", {"both": (0.3, 0, 0, 0.6, 0.8)}).build()
    ts.save(robot, tmp_path / "rail.urdf")
    ts.save_srdf(robot, tmp_path / "rail.srdf")
    assert ts.load(tmp_path / "rail.urdf", srdf=True).configuration("away").tolist() == [0.3, 0, 0, 0.6, 0.8]
