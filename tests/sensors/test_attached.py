"""Sensors that belong to a robot: attached, replaced, removed, renamed, saved and recorded."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.errors import ArgumentError, UnknownName

IMU = ts.Sensor("accelerometer", "tip", delay=0.01, noise=(0.1, 0.2, 0.3), seed=3)


def test_sensors_are_attached_replaced_and_removed():
    robot = ts.robots.two_link().with_sensors({"imu": IMU, "angle": ts.Sensor("encoder", "joint1")})
    assert robot.sensors == {"imu": IMU, "angle": ts.Sensor("encoder", "joint1")}
    assert list(robot.terms) == []  # no sensor changes the motion
    other = robot.with_sensors({"angle": None, "imu": ts.Sensor("gyroscope", "tip")})
    assert other.sensors == {"imu": ts.Sensor("gyroscope", "tip")}
    assert robot.rename({"tip": "T"}).sensors["imu"].at == "T"
    assert "imu" not in robot.with_frame("tip", None).sensors


def test_sensors_without_a_place_and_other_objects_are_refused():
    robot = ts.robots.two_link()
    with pytest.raises(UnknownName, match="'hand'"):
        robot.with_sensors({"imu": ts.Sensor("accelerometer", "hand")})
    with pytest.raises(UnknownName, match="sensor"):
        robot.with_sensors({"imu": None})
    for wrong in ("imu", {"imu": "accelerometer"}, [IMU]):
        with pytest.raises(ArgumentError, match="sensors must be a dict from names to sensors"):
            robot.with_sensors(wrong)


@pytest.mark.parametrize("format", ["urdf", "mjcf"])
def test_saved_sensors_are_read_back_with_delay_and_noise(format, tmp_path):
    robot = ts.robots.two_link().with_sensors({"imu": IMU, "angle": ts.Sensor("encoder", "joint1", step=0.1)})
    ts.save(robot, tmp_path / f"r.{format}")
    assert ts.load(tmp_path / f"r.{format}").sensors == robot.sensors


def test_simulation_records_the_sensors_of_the_robot():
    robot = ts.robots.two_link().with_sensors({"angle": ts.Sensor("encoder", "joint1")})
    run = robot.simulate([0.1, 0.2], [0, 0], 0.02, dt=0.01, sensors=robot.sensors)
    np.testing.assert_array_equal(np.ravel(run.sensors["angle"]), run.q[:, 0])
