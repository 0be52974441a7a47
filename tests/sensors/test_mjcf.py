"""Sensors of MJCF that torsor has too: names, readings as MuJoCo's, and what is left out."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np

import torsor as ts
from tests.tolerance import assert_close
from torsor.bridges import states
from torsor.io.mjcf.writer import write_mjcf
from torsor.model.joints import Composite, Prismatic, Revolute
from torsor.spatial import Vec

XML = """<mujoco><worldbody><body name="base"><geom size="0.1"/>
<body name="arm" pos="0 0 0.2"><joint name="hinge" axis="0 1 0"/><geom size="0.1" pos="0.3 0 0"/>
<site name="imu" euler="10 20 30"/>
<body name="tool" pos="0.5 0 0"><geom size="0.05" pos="0 0.1 0"/><site name="wrist" pos="0 0 0.1"/><site name="tool"/></body>
</body></body></worldbody><actuator><motor name="m" joint="hinge"/></actuator>
<sensor><gyro name="gyro" site="imu"/><accelerometer site="imu" noise="0.1"/><force name="f" site="wrist"/>
<torque name="t" site="tool" cutoff="5"/><jointpos name="angle" joint="hinge"/><jointvel name="rate" joint="hinge"/>
<jointactuatorfrc name="drive" joint="hinge"/><framepos objtype="site" objname="imu"/><rangefinder site="imu"/>
</sensor></mujoco>"""
KINDS = {
    "gyro": ("gyroscope", "imu"), "accelerometer_imu": ("accelerometer", "imu"), "f": ("force", "wrist"),
    "t": ("torque", "tool_site"), "angle": ("encoder", "hinge"), "rate": ("tachometer", "hinge"),
    "drive": ("drive_force", "hinge"),
}  # fmt: skip


def test_sensors_of_a_file_are_read_and_the_others_counted():
    robot = ts.load(XML, format="mjcf")
    assert {name: (s.kind, s.at) for name, s in robot.sensors.items()} == KINDS
    report = "\n".join(robot.report)
    assert "2 sensors ignored: torsor has no such instrument" in report
    assert "noise of a sensor not applied: accelerometer_imu 0.1" in report
    assert "cutoff of a sensor not applied: t 5" in report


def test_readings_of_a_files_sensors_equal_mujocos():
    m = mujoco.MjModel.from_xml_string(XML.replace(' cutoff="5"', ""))
    robot, d = ts.from_mujoco(m), mujoco.MjData(m)
    q, v, tau = np.array([0.4]), np.array([1.3]), np.array([0.7])
    convention = states.mujoco(robot, m)
    d.qpos[:], d.qvel[:], d.ctrl[:] = convention.q(q), convention.v(q, v), tau
    mujoco.mj_forward(m, d)
    result = robot.simulate(q, v, 1e-3, tau, sensors=robot.sensors)
    for name, x in result.sensors.items():
        k = mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_SENSOR, name) if name != "accelerometer_imu" else 1
        assert_close(x[0], d.sensordata[m.sensor_adr[k] : m.sensor_adr[k] + m.sensor_dim[k]], floor=1)


def measuring_arm() -> ts.Robot:
    """Instruments of every kind on a robot with welds, a massless link, a composite joint and a mimic joint."""
    b = ts.Builder("arm").link("base", 1.0, inertia=(1, 1, 1)).link("a", 1.0, com=(0.1, 0, 0.2), inertia=(0.1, 0.2, 0.2))
    b.link("cross").link("b", 2.0, com=(0, 0.1, 0), inertia=(0.1, 0.2, 0.2)).link("plate", 0.3, com=(0.2, 0, 0))
    b.link("hand", 0.5, com=(0, 0, 0.1), inertia=(0.1, 0.1, 0.1)).link("finger", 0.2, com=(0, 0, 0.1), inertia=(0.1, 0.1, 0.1))
    b.joint("j1", "revolute", "base", "a", rpy=(0.1, 0.2, 0.3)).joint("j2", "prismatic", "a", "cross", xyz=(0, 0, 0.3))
    b.joint("j3", "revolute", "cross", "b", axis=(1, 0, 0)).joint("w", "fixed", "b", "plate", xyz=(0.1, 0, 0), rpy=(0, 0, 1))
    b.joint("wrist", Composite([Prismatic(Vec(1, 0, 0)), Revolute(Vec(0, 1, 0))]), "b", "hand", xyz=(0, 0, 0.2))
    b.joint("grip", "revolute", "hand", "finger", mimic=("j1", 0.5)).frame("imu", "a", xyz=(0.1, 0.2, 0.3), rpy=(1, 0, 0))
    sensors = {
        "gyro": ts.Sensor("gyroscope", "imu"), "acc": ts.Sensor("accelerometer", "plate"), "f": ts.Sensor("force", "plate"),
        "t": ts.Sensor("torque", "wrist"), "six": ts.Sensor("force_torque", "b"), "on": ts.Sensor("gyroscope", "cross"),
        "q1": ts.Sensor("encoder", "j1", step=0.1),
        "v2": ts.Sensor("tachometer", "j2"), "drive": ts.Sensor("drive_force", "j3"), "torque": ts.Sensor("joint_torque", "j1"),
        "pair": ts.Sensor("tachometer", "wrist"),
    }  # fmt: skip
    return ts.Robot(replace(b.description(), sensors=tuple(sensors.items())))


def test_sensors_written_to_mjcf_have_the_same_readings_in_mujoco():
    robot = measuring_arm()
    text = write_mjcf(robot.description)
    own = "written as torsor's own elements, which other readers ignore"
    assert f"sensors that MuJoCo does not have, {own}: on, torque, pair" in text
    assert f"delay, noise and resolution of sensors, {own}: q1" in text
    back = ts.load(text).sensors
    assert {name: back[name] for name in ("torque", "q1")} == {name: robot.sensors[name] for name in ("torque", "q1")}
    assert "sensors of links and joints, written at sites, which are read as frames: acc, f, t, six" in text
    m = mujoco.MjModel.from_xml_string(text)
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT  # the mimic joint is a spring there; here it stands still
    robot = robot.lock(["j1"])
    d, rng = mujoco.MjData(m), np.random.default_rng(3)
    q, v, tau = rng.normal(size=(3, robot.nv))
    d.qpos[:], d.qvel[:] = [0, *q, 0], [0, *v, 0]
    a = robot.forward_dynamics(q, v, tau)
    d.qacc[:] = [0, *a, 0]
    mujoco.mj_inverse(m, d)
    seen = {
        "acc": robot.accelerometer(q, v, a, "plate"), "f": robot.force_torque(q, v, a, "plate")[3:],
        "t": robot.force_torque(q, v, a, "wrist")[:3], "six_force": robot.force_torque(q, v, a, "b")[3:],
        "six_torque": robot.force_torque(q, v, a, "b")[:3], "v2": v[:1], "gyro": np.zeros(3),
    }  # fmt: skip
    mujoco.mj_sensorPos(m, d), mujoco.mj_sensorVel(m, d), mujoco.mj_sensorAcc(m, d)
    for name, expected in seen.items():
        assert_close(d.sensor(name).data, expected, 1e-11, floor=1)


def test_sensors_written_to_mjcf_are_read_back():
    back = ts.load(write_mjcf(measuring_arm().description), format="mjcf")
    assert {name: (s.kind, s.at) for name, s in back.sensors.items()} == {
        "gyro": ("gyroscope", "imu"), "acc": ("accelerometer", "plate_sensor"), "f": ("force", "plate_sensor"),
        "t": ("torque", "hand_sensor"), "six_force": ("force", "b_sensor"), "six_torque": ("torque", "b_sensor"),
        "q1": ("encoder", "j1"), "v2": ("tachometer", "j2"), "drive": ("drive_force", "j3"),
        "torque": ("joint_torque", "j1"),  # MuJoCo does not have it: by torsor's own element
    }  # fmt: skip


def test_sensors_follow_model_editing():
    robot = ts.load(XML, format="mjcf")
    assert set(robot.lock(["hinge"]).sensors) == {"gyro", "accelerometer_imu", "f", "t"}
    assert set(robot.subtree("tool").sensors) == {"f", "t"}
    both = ts.robots.ur5().attach(robot, at="tool0", prefix="r_")
    assert both.sensors["r_t"] == ts.Sensor("torque", "r_tool_site")
    assert ts.robots.ur5().sensors == {}
