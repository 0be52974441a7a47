"""Springs and tendons of MJCF files: forces and energies are MuJoCo's, in both directions."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import torsor as ts
from tests.tolerance import assert_close
from torsor.errors import FileError, ModelWarning, UnknownName
from torsor.terms import FixedTendon, JointSpring, Spring, SpringBetween

XML = """<mujoco model="sprung"><compiler angle="radian"/>
<worldbody><site name="ceiling" pos="0.1 0.2 1"/>
  <body name="a">
    <joint name="j1" axis="0 1 0" stiffness="5" springref="0.3" ref="0.2" damping="0.1"/><geom size="0.1" pos="0.3 0 0"/>
    <site name="middle" pos="0.2 0 0.1"/>
    <body name="b" pos="0.5 0 0">
      <joint name="j2" type="slide" axis="1 0 0" stiffness="20"/><geom size="0.1" pos="0 0 .1"/><site name="end" pos="0.2 0 0"/>
      <body name="c" pos="0.2 0 0"><joint name="j3" axis="0 1 1" frictionloss="0.2"/><geom size=".1" pos=".1 .1 0"/></body>
    </body>
  </body>
</worldbody>
<tendon>
  <fixed name="cord" stiffness="3" damping="0.2" springlength="-0.1 0.1">
    <joint joint="j1" coef="1"/><joint joint="j2" coef="2"/></fixed>
  <fixed name="damper" damping="0.4"><joint joint="j3" coef="-1.5"/></fixed>
  <spatial name="rope" stiffness="40" damping="0.5" springlength="0.2">
    <site site="ceiling"/><site site="middle"/><site site="end"/></spatial>
</tendon></mujoco>"""


def passive_forces(robot: ts.Robot, q, v) -> np.ndarray:
    """The joint forces of springs and damping."""
    still = np.zeros(robot.nv)
    return robot.without_terms("spring", "damping").inverse_dynamics(q, v, still) - robot.inverse_dynamics(q, v, still)


@pytest.fixture(scope="module")
def states() -> list:
    rng = np.random.default_rng(4)
    return [(rng.normal(size=3), rng.normal(size=3)) for _ in range(6)]


def compare_with_mujoco(robot: ts.Robot, m: mujoco.MjModel, states: list, offset: float = 0.0) -> None:
    d = mujoco.MjData(m)
    for q, v in states:
        d.qpos[:], d.qvel[:] = q, v
        mujoco.mj_forward(m, d)
        mujoco.mj_energyPos(m, d)
        assert_close(passive_forces(robot, q, v), d.qfrc_passive, condition=10)
        energies = robot.energies(q, v)
        assert_close(sum(energies.values()) - energies["kinetic"] + offset, d.energy[0], condition=10)


def test_forces_and_energies_of_springs_and_tendons_are_those_of_mujoco(states):
    robot = ts.load(XML, terms=["spring", "damping"])
    assert [type(t) for t in robot.model.terms[:5]] == [JointSpring, JointSpring, FixedTendon, FixedTendon, SpringBetween]
    compare_with_mujoco(robot, mujoco.MjModel.from_xml_string(XML), states)


def test_written_springs_act_in_mujoco_and_are_read_back(tmp_path, states):
    robot = ts.load(XML, terms=["spring", "damping"])
    more = {"j3": Spring(2.0, 0.3, rest=0.1, preload=0.5), ("c", "a", "world"): Spring(7.0, rest=(0.1, 0.3))}
    robot = robot.with_springs(more).with_terms(FixedTendon({"j1": 1.0}, Spring(3.0, rest=-1.0), name="minus one"))
    ts.save(robot, tmp_path / "sprung.mjcf")
    preload = 0.5**2 / (2 * 2.0) + 0.5 * 0.1  # a preload is written as another rest length, whose energy has another zero
    compare_with_mujoco(robot, mujoco.MjModel.from_xml_path(str(tmp_path / "sprung.mjcf")), states, preload)
    back = ts.load(tmp_path / "sprung.mjcf", terms=["spring", "damping"])
    for q, v in states:
        assert_close(passive_forces(back, q, v), passive_forces(robot, q, v), condition=10)


def test_springs_without_a_place_in_a_format_are_saved_as_recorded_operations(tmp_path):
    robot = ts.robots.two_link().with_springs({"joint1": lambda L, rate: -L * L * L, "joint2": Spring(3.0)})
    for name in ("arm.mjcf", "arm.urdf"):
        ts.save(robot, tmp_path / name)
        assert ts.load(tmp_path / name).description.terms == robot.description.terms


def test_forces_of_a_file_that_do_not_act_are_in_the_report():
    with pytest.warns(ModelWarning, match=r"has springs that are left off: j1 spring, j2 spring, cord.*terms=\[\"spring\"\]"):
        robot = ts.load(XML)
    assert not robot.terms
    assert any("NOT in the dynamics: springs: j1 spring" in line for line in robot.report)
    assert any("the damping of j1 is left out" in line for line in robot.report)
    assert any("the dry friction of j3 is left out" in line for line in robot.report)
    with pytest.raises(FileError, match=r"terms=\[\"spring\"\]"):
        ts.load(XML, strict=True)


def test_terms_of_a_file_are_switched_on_by_kind():
    everything = ts.load(XML, terms="all")
    assert not any("left out" in line for line in everything.report)
    assert {t.kind for t in everything.model.terms} == {"spring", "damping", "friction"}
    still, v = np.zeros(3), np.array([0.0, 0.0, 2.0])
    rubs = everything.inverse_dynamics(still, v, still) - everything.without_terms("friction").inverse_dynamics(still, v, still)
    assert_close(rubs, [0.0, 0.0, 0.2])
    with pytest.raises(UnknownName, match="all, damping, friction, spring"):
        ts.load(XML, terms="tendons")


def test_model_of_mujoco_is_read_with_its_springs(states):
    m = mujoco.MjModel.from_xml_string(XML)
    robot = ts.from_mujoco(m, terms=["spring"]).with_damping(True)
    compare_with_mujoco(robot, m, states)


def test_springs_of_balls_and_wrapped_tendons_are_named():
    ball = XML.replace('axis="0 1 1" frictionloss="0.2"', 'type="ball" stiffness="3"')
    ball = ball.replace('<fixed name="damper" damping="0.4"><joint joint="j3" coef="-1.5"/></fixed>', "")
    with pytest.warns(ModelWarning, match=r"does not support: joint springs \(stiffness\): j3"):
        ts.load(ball, terms="all")


def test_disabled_springs_of_a_file_are_not_read():
    off = XML.replace("<worldbody>", '<option><flag spring="disable" damper="disable"/></option><worldbody>')
    try:
        robot = ts.load(off, terms=["spring"])
    except FileError:  # MuJoCo before 3.4 has one flag for both
        robot = ts.load(off.replace('spring="disable" damper="disable"', 'passive="disable"'), terms=["spring"])
    assert not robot.terms
