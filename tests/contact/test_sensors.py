"""Sensors of robots in contact: accelerometers and force sensors read the forces of the ground, and pushes beside them."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.simulate import per_robot, per_step

from . import bodies

G = bodies.G
IMU = {"imu": ts.Sensor("accelerometer", "box"), "gyro": ts.Sensor("gyroscope", "box")}


def leg() -> ts.Robot:
    """2 kg on a vertical rail, with a foot of 0.5 kg welded to it."""
    b = ts.Builder("leg").link("rail").link("body", mass=2.0, inertia=[0.01] * 3).link("foot", mass=0.5, inertia=[0.001] * 3)
    b.joint("slide", "prismatic", parent="rail", child="body", axis=(0, 0, 1))
    b.joint("ankle", "fixed", parent="body", child="foot", xyz=(0, 0, -0.3), rpy=(np.pi, 0, 0))
    return b.build().with_contacts(ts.contacts.sphere("foot", radius=0.05), ts.contacts.plane(), friction=0.5)


@pytest.mark.parametrize("slope", [0.0, 0.3])
def test_accelerometer_at_rest_reads_minus_gravity(slope):
    """−Rᵀg: (g sin θ, 0, g cos θ) in the axes of a box on an incline that rises along x with the angle θ."""
    surface, q = bodies.incline(slope)
    run = bodies.box(friction=0.5, surface=surface).rollout(q, np.zeros(6), dt=1e-3, steps=20, sensors=IMU)
    expected = np.array([np.sin(slope), 0, np.cos(slope)]) * G
    assert abs(run.sensors["imu"] - expected).max() < 1e-6  # the solver's residual of 1e-9 m/s in a step of 1 ms
    assert abs(run.sensors["gyro"]).max() < 1e-9


def test_accelerometer_of_a_sliding_box_reads_friction():
    """(−μ g, 0, g) while the box slides along x, (0, 0, g) after it has stopped."""
    mu = 0.5
    box = bodies.box(friction=mu)
    run = box.rollout(bodies.at_height(box, 0.1), np.array([0, 0, 0, 1.0, 0, 0]), dt=1e-3, steps=300, sensors=IMU)
    read = run.sensors["imu"]
    assert abs(read[:200] - [-mu * G, 0, G]).max() < 1e-6
    assert abs(read[-50:] - [0, 0, G]).max() < 1e-6


def test_readings_of_a_tumbling_box_are_the_changes_of_its_velocity():
    """R y + g = Δ(ṗ)/Δt in every step, in flight, at impacts and in contact: no impulse is missing in y."""
    dt = 1e-3
    box = bodies.box((0.2, 0.15, 0.1), friction=0.7)
    run = box.rollout(bodies.at_height(box, 0.2), np.array([3.0, 7.0, 1.0, 1.0, 0, 0]), dt=dt, steps=600, sensors=IMU)
    p_rate, y = bodies.world_velocity(run), run.sensors["imu"][:-1]
    change = np.diff(p_rate, axis=0) / dt
    read = np.einsum("kij,kj->ki", bodies.rotations(run.q[:-1]), y) - [0, 0, G]
    assert run.contact_forces.any(axis=(1, 2)).sum() > 50  # it has hit the ground, more than once
    assert abs(change).max() > 100
    np.testing.assert_allclose(read, change, atol=1e-8)


def test_force_sensors_of_a_leg_at_rest_read_what_they_carry():
    """2 kg·g press down on the foot: along +z of its axes, which are turned; the drive of the rail carries nothing."""
    sensors = {"foot": ts.Sensor("force_torque", "foot"), "rail": ts.Sensor("joint_torque", "slide")}
    run = leg().rollout([0.35], [0.0], dt=1e-3, steps=5, sensors=sensors)
    np.testing.assert_allclose(run.contact_forces[-1, 0], [0, 0, 2.5 * G], atol=1e-8)
    np.testing.assert_allclose(run.sensors["foot"][-1], [0, 0, 0, 0, 0, 2 * G], atol=1e-7)
    np.testing.assert_allclose(run.sensors["rail"][-1], [0], atol=1e-7)


def test_force_sensors_count_pushes_beside_contact():
    """5 N down on the foot: the ground carries 5 N more, and the sensor above the foot reads what it read before."""
    push = np.array([0, 0, 0, 0, 0, 5.0])  # along the turned z of the foot: down
    run = leg().rollout([0.35], [0.0], dt=1e-3, steps=5, wrenches={"foot": push}, sensors={"f": ts.Sensor("force", "foot")})
    np.testing.assert_allclose(run.contact_forces[-1, 0, 2], 2.5 * G + 5, atol=1e-8)
    np.testing.assert_allclose(run.sensors["f"][-1], [0, 0, 2 * G], atol=1e-7)


def test_sensors_of_robots_with_their_own_friction_differ():
    mu = np.array([0.0, 0.2, 0.6])
    box = bodies.box(friction=0.5)
    run = box.rollout(np.stack([bodies.at_height(box, 0.1)] * 3), np.array([0, 0, 0, 1.0, 0, 0]), dt=1e-3, steps=20,
                      vary={"contact friction": {"contact": per_robot(mu)}}, sensors=IMU)  # fmt: skip
    np.testing.assert_allclose(run.sensors["imu"][:, -1, 0], -mu * G, atol=1e-6)


def test_imu_of_a_standing_quadruped_reads_gravity():
    """R y → (0, 0, g), and the feet carry the weight, once the servos (time constant 0.15 s) have settled for 2 s."""
    robot, q, servo = bodies.quadruped(kp=20.0, kd=0.5)
    imu = {"imu": ts.Sensor("accelerometer", "base_link")}
    run = robot.rollout(q, np.zeros(robot.nv), bodies.STANCE, dt=1e-3, steps=2000, controller=servo, sensors=imu, record="last")
    np.testing.assert_allclose(bodies.rotations(run.q[-1]) @ run.sensors["imu"][-1], [0, 0, G], atol=2e-3)
    weight = sum(robot.link(name).mass for name in robot.links) * G
    np.testing.assert_allclose(run.contact_forces[-1].sum(axis=0), [0, 0, weight], atol=2e-4 * weight)


def test_imu_of_a_joint_on_its_stop_and_of_one_that_sticks_reads_gravity():
    """A pendulum that comes to rest on its stop, and one that dry friction holds: −Rᵀg, and no less when it falls."""
    b = ts.Builder("door").link("base").link("bob", mass=1.0, com=(0.5, 0, 0))
    b.joint("hinge", "revolute", "base", "bob", axis=(0, 1, 0), lower=-1.0, upper=0.5).frame("handle", "bob", xyz=(0.8, 0, 0))
    imu = {"imu": ts.Sensor("accelerometer", "handle")}
    stopped = b.build().with_stops(0.0)
    stuck = b.build().with_friction({"hinge": ts.actuators.friction.Coulomb(20.0)})
    for robot, q in ((stopped, 0.4), (stuck, 0.3)):
        run = robot.rollout([q], [0.0], dt=1e-3, steps=500, sensors=imu)
        R = robot.pose(run.q[-1], "handle")[:3, :3]
        np.testing.assert_allclose(run.sensors["imu"][-1], R.T @ [0, 0, G], atol=1e-6)
        if robot is stopped:
            assert abs(np.linalg.norm(run.sensors["imu"][0]) - G) > 1  # it falls at first


def test_accelerometer_of_a_simulation_at_rest_reads_minus_gravity():
    box = bodies.box(friction=0.5)
    run = box.simulate(bodies.at_height(box, 0.1), np.zeros(6), 0.02, dt=1e-3, sensors=IMU)
    assert abs(run.sensors["imu"] - [0, 0, G]).max() < 1e-6


# -- pushes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["constant", "by step", "of time", "in world axes"])
def test_pushed_box_rests_or_slides(how):
    """F < μ m g leaves the box where it is; F > μ m g accelerates it by F/m − μ g, however the push is given.

    It acts at the height of the ground, so that all corners carry the same: as a wrench at the centre it has the moment −F h/2.
    """
    mu, steps, dt = 0.5, 200, 1e-3
    box = bodies.box(friction=mu)
    for force in (0.95 * mu * G, 1.05 * mu * G):
        F = np.array([0, -0.1 * force, 0, force, 0, 0])
        if how == "by step":
            given = {"box": per_step(np.tile(F, (steps, 1)))}
        elif how == "of time":
            given = {"box": lambda t, F=F: [x + 0 * t for x in F.tolist()]}
        else:
            given = {"box": F} if how == "constant" else ts.WorldAxes({"box": F})
        run = box.rollout(bodies.at_height(box, 0.1), np.zeros(6), dt=dt, steps=steps, wrenches=given)
        speed = max(force - mu * G, 0) * steps * dt
        assert abs(run.v[-1, 3] - speed) < 1e-5  # of the first step, whose impulses have no guess
        assert abs(run.q[:, 2] - 0.1).max() < 1e-8
