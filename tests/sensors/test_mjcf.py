"""Sensors of MJCF that torsor has too: names, readings as MuJoCo's, and what is left out."""

from __future__ import annotations

import mujoco
import numpy as np

import torsor as ts
from tests.tolerance import assert_close
from torsor.bridges import states

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


def test_sensors_follow_model_editing():
    robot = ts.load(XML, format="mjcf")
    assert set(robot.lock(["hinge"]).sensors) == {"gyro", "accelerometer_imu", "f", "t"}
    assert set(robot.subtree("tool").sensors) == {"f", "t"}
    both = ts.robots.ur5().attach(robot, at="tool0", prefix="r_")
    assert both.sensors["r_t"] == ts.Sensor("torque", "r_tool_site")
    assert ts.robots.ur5().sensors == {}
