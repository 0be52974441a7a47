"""<actuator> of MJCF: the laws of torsor.actuators, against MuJoCo's own steps."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

import torsor as ts
from tests.tolerance import assert_close
from torsor.actuators import PID, Gain, Lag, Latency, Limit, PositionServo, RateLimit, VelocityServo
from torsor.bridges import from_mujoco
from torsor.io.mjcf import write_mjcf

DT = 0.004
MODEL = """<mujoco><option timestep="0.004" integrator="Euler"/><default><joint armature="0.01"/></default>
<worldbody><body name="upper">
  <joint name="shoulder" axis="0 1 0"{joint}/><geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.04"/>
  <body name="fore" pos="0.4 0 0">
    <joint name="extend" type="slide" axis="1 0 0" ref="0.1"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/>
  </body></body></worldbody>
<actuator>{actuator}</actuator></mujoco>"""

#: elements of the shoulder's actuator, and the laws that they are
SHOULDER = {
    "motor": ('<motor joint="shoulder"/>', ()),
    "geared motor": ('<motor joint="shoulder" gear="-30" ctrlrange="-0.5 0.8"/>', (Limit(-0.5, 0.8), Gain(-30.0))),
    "motor with a force range": ('<motor joint="shoulder" gear="-3" forcerange="-2 4"/>', (Gain(-3.0), Limit(-12.0, 6.0))),
    "filtered motor": (
        '<general joint="shoulder" dyntype="filter" dynprm="0.05" gainprm="12"/>', (Lag(0.05, exact=False), Gain(12.0))),
    "exactly filtered motor": (
        '<general joint="shoulder" dyntype="filterexact" dynprm="0.05" gainprm="12"/>', (Lag(0.05), Gain(12.0))),
    "position": ('<position joint="shoulder" kp="60" kv="4"/>', (PositionServo(60.0, 4.0),)),
    "position with a time constant": (
        '<position joint="shoulder" kp="60" kv="4" timeconst="0.03" forcerange="-20 20"/>',
        (Lag(0.03), PositionServo(60.0, 4.0), Limit(-20.0, 20.0))),
    "geared position": ('<position joint="shoulder" kp="10" kv="1" gear="-2"/>', (Gain(-0.5), PositionServo(40.0, 4.0))),
    "velocity": ('<velocity joint="shoulder" kv="7" gear="2"/>', (Gain(0.5), VelocityServo(28.0))),
    "affine general": (
        '<general joint="shoulder" gainprm="30" biastype="affine" biasprm="0 -60 -3" forcerange="-9 12"/>',
        (Gain(0.5), PositionServo(60.0, 3.0), Limit(-9.0, 12.0))),
    "pid": ('<pid joint="shoulder" kp="60" kv="4" ki="90" input="pos" gear="1"/>', (PID(60.0, 90.0, 4.0),)),
    "pid with a slew rate": (
        '<pid joint="shoulder" kp="15" kv="1" ki="20" slewmax="6" input="pos" gear="2"/>',
        (RateLimit(6.0), Gain(0.5), PID(60.0, 80.0, 4.0))),
    "pid without an integral": ('<pid joint="shoulder" kp="60" kv="4" input="pos"/>', (PositionServo(60.0, 4.0),)),
    "delayed motor": ('<motor joint="shoulder" gear="9" delay="0.02" nsample="5"/>', (Latency(0.02), Gain(9.0))),
}  # fmt: skip


def model_of(actuator, joint=""):
    return mujoco.MjModel.from_xml_string(MODEL.format(actuator=actuator, joint=joint))


def steps(m, q, v, controls):
    """MuJoCo's states after each step; its Euler is semi-implicit."""
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:], out = q, v, []
    for row in controls:
        d.ctrl[:] = row
        mujoco.mj_step(m, d)
        out.append((d.qpos.copy(), d.qvel.copy()))
    return (np.array(x) for x in zip(*out, strict=True))


@pytest.mark.parametrize("kind", SHOULDER)
def test_actuator_moves_the_robot_as_in_mujoco(kind):
    element, laws = SHOULDER[kind]
    m = model_of(f'{element}<position joint="extend" kp="50" kv="5"/>')
    robot = from_mujoco(m)
    assert robot.actuators == ({"shoulder": laws} if laws else {}) | {"extend": (PositionServo(50.0, 5.0),)}
    assert not any("actuator" in line for line in robot.report)
    rng = np.random.default_rng(0)
    q0, v0, u = np.array([0.2, 0.1]), np.array([0.1, -0.3]), np.cumsum(rng.normal(scale=0.2, size=(60, 2)), axis=0)
    q, v = steps(m, q0, v0, u)
    r = robot.with_actuators(robot.actuators).rollout(q0, v0, u, dt=DT)
    assert_close(r.q, q)
    assert_close(r.v, v)


def test_joint_force_range_follows_the_actuator():
    m = model_of('<motor joint="shoulder" gear="5"/><motor joint="extend"/>', joint=' actuatorfrcrange="-3 4"')
    robot = from_mujoco(m)
    assert robot.actuators == {"shoulder": (Gain(5.0), Limit(-3.0, 4.0))}
    u = np.random.default_rng(0).normal(scale=2.0, size=(40, 2))
    q, v = steps(m, np.zeros(2), np.zeros(2), u)
    r = robot.with_actuators(robot.actuators).rollout(np.zeros(2), np.zeros(2), u, dt=DT)
    assert_close(r.q, q)


def test_pid_with_imax_is_clamped_exactly_and_reported():
    robot = from_mujoco(model_of('<pid joint="shoulder" kp="15" ki="20" imax="0.1" input="pos" gear="-2"/>'))
    assert robot.actuators == {"shoulder": (Gain(-0.5), PID(60.0, 80.0, 0.0, integral_limit=4.0))}
    assert any("integral clamped at imax, which MuJoCo exceeds by up to one step: shoulder" in x for x in robot.report)


@pytest.mark.parametrize(("element", "why"), [
    ('<intvelocity joint="shoulder" kp="5" actrange="-1 1"/>', "a law that torsor.actuators does not have"),
    ('<damper joint="shoulder" kv="5" ctrlrange="0 1"/>', "a law that"),
    ('<muscle joint="shoulder" lengthrange="-1 1"/>', "a law that"),
    ('<pid joint="shoulder" kp="5" kv="1"/>', "a law that"),  # two controls: position and velocity
    ('<pid joint="shoulder" kp="5" kv="1" input="vel"/>', "a law that"),
    ('<general joint="shoulder" biastype="affine" biasprm="1 -5 0"/>', "a law that"),
    ('<general joint="shoulder" biastype="affine" biasprm="0 5 0"/>', "a law that"),
    ('<general joint="shoulder" dyntype="filter" dynprm="0"/>', "a law that"),
    ('<general joint="shoulder" dyntype="filter" dynprm="0.1" actearly="true"/>', "a law that"),
    ('<general joint="shoulder" dyntype="filter" dynprm="0.1" actrange="-1 1"/>', "a law that"),
    ('<motor joint="shoulder" gear="0"/>', "a law that"),
    ('<position joint="shoulder" kp="1" gear="1e200"/>', "a law that"),
    ('<motor joint="shoulder"/><motor joint="shoulder"/>', "on a joint with several actuators"),
    ('<motor site="tip"/>', "not on a hinge or slider"),
    ('<motor joint="shoulder" group="3"/>', "switched off in the file"),
])  # fmt: skip
def test_other_actuators_are_counted_in_the_report(element, why):
    text = MODEL.format(actuator=element, joint="").replace('<body name="fore"', '<site name="tip"/><body name="fore"')
    m = mujoco.MjModel.from_xml_string(text.replace("<option ", '<option actuatorgroupdisable="3" '))
    robot = from_mujoco(m)
    assert robot.actuators == {}
    assert any(line.startswith(f"{m.nactuator} actuator") and f"ignored: {why}" in line for line in robot.report)


def test_actuator_of_a_mimic_joint_is_counted_in_the_report():
    text = MODEL.format(actuator='<motor joint="extend" gear="2"/>', joint="")
    text = text.replace("</worldbody>", '</worldbody><equality><joint joint1="extend" joint2="shoulder"/></equality>')
    m = mujoco.MjModel.from_xml_string(text)
    assert from_mujoco(m).actuators == {}
    assert any("1 actuator ignored: not on a hinge or slider" in line for line in from_mujoco(m).report)
    robot = from_mujoco(m, mimic=False)
    assert robot.actuators == {"extend": (Gain(2.0),)}


def test_control_ranges_do_not_count_if_the_file_switches_them_off():
    text = MODEL.format(actuator='<motor joint="shoulder" ctrlrange="-1 1"/>', joint="")
    m = mujoco.MjModel.from_xml_string(
        text.replace('integrator="Euler"/>', 'integrator="Euler"><flag clampctrl="disable"/></option>')
    )
    assert from_mujoco(m).actuators == {}


def test_actuators_stay_with_their_joints_when_a_robot_is_edited():
    robot = from_mujoco(model_of('<motor joint="shoulder" gear="2"/><position joint="extend" kp="5"/>'))
    assert list(robot.lock(["shoulder"]).actuators) == ["extend"]
    assert list(robot.subtree("fore").actuators) == []
    assert robot.with_gravity((0, 0, 0)).actuators == robot.actuators
    two = robot.attach(robot, at="fore", prefix="b_")
    assert list(two.actuators) == ["shoulder", "extend", "b_shoulder", "b_extend"]
    assert ts.robots.two_link().actuators == {}


@pytest.mark.parametrize("kind", [kind for kind in SHOULDER if kind != "delayed motor"])
def test_written_actuator_is_read_back(kind):
    robot = from_mujoco(model_of(SHOULDER[kind][0]))
    text = write_mjcf(robot.description)
    back = ts.load(text)
    assert "written as motors" not in text
    assert back.actuators == robot.actuators
    assert back.joint("shoulder").effort_limit == robot.joint("shoulder").effort_limit


@pytest.mark.parametrize(("laws", "words"), [
    ((Limit(-1, 1), Lag(0.1), PositionServo(20.0, 1.0), Limit(-9.0, 5.0), Limit(-3.0, 8.0)), ("general", (-3.0, 5.0))),
    ((PID(5.0, 2.0, 1.0, integral_limit=3.0),), ("pid", None)),
    ((RateLimit(2.0), Gain(-0.5), PositionServo(20.0, 1.0)), ("pid", None)),
    ((VelocityServo(3.0),), ("general", None)),
    ((Latency(0.01), Gain(2.0)), None),
    ((Limit(-1.0, float("inf")),), None),
    ((Gain(2.0), Gain(3.0)), None),
    ((RateLimit(2.0),), None),
    ((Lag(0.1), PID(1.0, 1.0)), None),
    ((PositionServo(20.0, 1.0), Lag(0.1)), None),
])  # fmt: skip
def test_laws_are_written_as_an_element_or_as_a_motor(laws, words):
    d = from_mujoco(model_of("")).description
    d = replace(d, joints=tuple(replace(j, actuator=laws) if j.name == "shoulder" else j for j in d.joints))
    text = write_mjcf(d)
    assert ("written as motors" in text) == (words is None)
    back = ts.load(text)
    if words is None:
        assert back.actuators == {"shoulder": laws}  # by torsor's own element
        return
    assert f"<{words[0]} " in text
    last = (*laws[:-2], Limit(*words[1])) if words[1] else laws
    assert back.actuators == {"shoulder": last}
