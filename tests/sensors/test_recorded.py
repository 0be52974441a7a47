"""Sensors as columns of simulations and rollouts: exact values, delay, noise, steps, files, refusals."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import torsor as ts
from tests.tolerance import assert_close
from torsor.simulate import per_robot, per_step
from torsor.simulate.sensors import reading

ARM = ts.robots.two_link()
SENSORS = {
    "imu": ts.Sensor("accelerometer", "tip"),
    "gyro": ts.Sensor("gyroscope", "tip"),
    "wrist": ts.Sensor("force_torque", "link2"),
    "force": ts.Sensor("force", "joint2"),
    "torque": ts.Sensor("torque", "joint2"),
    "strain": ts.Sensor("joint_torque", "joint2"),
    "drive": ts.Sensor("drive_force", "joint1"),
    "angle": ts.Sensor("encoder", "joint1"),
    "rate": ts.Sensor("tachometer", "joint2"),
}
START = np.array([0.3, -0.4]), np.array([0.5, 0.7])


def expected_readings(robot, q, v, tau, wrenches=None, **losses):
    """The readings of SENSORS by the robot's methods."""
    a = robot.forward_dynamics(q, v, tau, wrenches, **losses)
    F = robot.force_torque(q, v, a, "link2", wrenches)
    return {
        "imu": robot.accelerometer(q, v, a, "tip"), "gyro": robot.gyroscope(q, v, "tip"), "wrist": F, "torque": F[..., :3],
        "force": F[..., 3:], "strain": robot.joint_torque_sensor(q, v, a, wrenches)[..., 1:], "drive": tau[..., :1],
        "angle": q[..., :1], "rate": v[..., 1:],
    }  # fmt: skip


def assert_readings(found, expected):
    assert list(found) == list(SENSORS)
    for name, x in expected.items():
        assert_close(found[name], x, floor=1)


# -- simulations -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [
    {}, {"control": np.ones((20, 2)), "integrator": "semi_implicit"}, {"control": lambda t, q, v: -v, "record": 5},
    {"wrenches": {"tip": np.arange(6.0)}, "integrator": "dop853"}, {"damped": True},
])  # fmt: skip
def test_sensors_of_a_simulation_equal_the_methods_at_its_rows(options):
    arm = ARM.with_damping(True) if "damped" in options else ARM
    result = arm.simulate(*START, 0.2, dt=0.01, sensors=SENSORS, **{k: x for k, x in options.items() if k != "damped"})
    assert_readings(result.sensors, expected_readings(arm, result.q, result.v, result.tau, result.wrenches or None))


def test_accelerometer_of_a_joint_on_its_stop_reads_gravity_alone():
    robot = ts.Builder("door").link("base").link("bob", mass=1.0, com=(0.5, 0, 0)).joint(
        "hinge", "revolute", "base", "bob", axis=(0, 1, 0), lower=-1.0, upper=0.5
    ).frame("handle", "bob", xyz=(0.8, 0, 0)).build()  # fmt: skip
    result = robot.with_stops(0.0).simulate([0.4], [0.0], 2.0, dt=0.01, sensors={"imu": ts.Sensor("accelerometer", "handle")})
    last = result.sensors["imu"][-1]
    assert result.v[-1] == 0
    R = robot.pose(result.q[-1], "bob")[:3, :3]
    assert_close(last, R.T @ -robot.gravity)
    assert np.linalg.norm(result.sensors["imu"][0]) != pytest.approx(9.81)  # it falls at first


def test_sensors_under_stiction_see_a_joint_at_rest():
    robot = ARM.with_friction({"joint1": ts.actuators.friction.Coulomb(50.0), "joint2": ts.actuators.friction.Coulomb(20.0)})
    result = robot.simulate([0.1, 0.2], [0.0, 0.0], 0.05, dt=0.01, sensors=SENSORS)
    still = np.zeros_like(result.v)
    assert_close(result.sensors["imu"], robot.accelerometer(result.q, still, still, "tip"))
    assert_close(result.sensors["wrist"], robot.force_torque(result.q, still, still, "link2"))


def test_accelerometer_of_a_linkage_equals_the_rate_of_its_velocity():
    bars = ts.mechanisms.four_bar()
    q = bars.assemble([1.0, 0.0, 0.0], fixed=["crank"])
    v = bars.constrained().project_velocity(q, [3.0, 0, 0])
    result = bars.simulate(q, v, 0.1, dt=1e-3, sensors={"imu": ts.Sensor("accelerometer", "coupler")})
    k, dt = 50, 1e-3
    speed = [bars.twist(result.q[j], result.v[j], "coupler")[3:] for j in (k - 1, k + 1)]
    R = bars.pose(result.q[k], "coupler")[:3, :3]
    expected = R.T @ ((speed[1] - speed[0]) / (2 * dt) - bars.gravity)
    assert_close(result.sensors["imu"][k], expected, 1e-4)  # differences of second order
    with pytest.raises(ts.ArgumentError, match=r"'f' \(force_torque\): forces inside a robot with loops"):
        bars.simulate(q, v, 0.1, sensors={"f": ts.Sensor("force_torque", "coupler")})


def test_joint_torque_behind_springs_is_the_springs_torque():
    robot = ts.robots.two_link()
    rotor = {"mass": 0.0, "inertia": (1e-5, 1e-5, 1e-5), "ratio": 50.0}
    stiff = robot.with_rotors(dict.fromkeys(robot.joints, rotor)).rotors_as_armature()
    elastic = stiff.with_springs(ts.flexible.SeriesSpring(500.0))
    q, v, _ = elastic.state([0.1, 0.2])
    result = elastic.simulate(q, v, 0.02, sensors={"s": ts.Sensor("joint_torque", "joint2")})
    assert_close(result.sensors["s"][:, 0], 500.0 * (result.q[:, 3] - result.q[:, 1]), 1e-9, floor=1)


def test_readings_of_a_free_body_in_free_fall_are_zero():
    robot = ts.robots.quadruped()
    result = robot.simulate(
        robot.neutral(), np.zeros(robot.nv), 0.01, sensors={"imu": ts.Sensor("accelerometer", robot.links[0])}
    )
    assert_close(result.sensors["imu"], np.zeros((11, 3)), 1e-12, floor=10)


@pytest.mark.parametrize("ending", ["npz", "csv", "parquet"])
def test_readings_are_kept_in_files(tmp_path, ending):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    result = ARM.simulate(*START, 0.01, sensors=SENSORS)
    result.save(tmp_path / f"run.{ending}")
    back = ts.simulate.load_result(tmp_path / f"run.{ending}")
    assert list(back.sensors) == list(SENSORS)
    for name, x in result.sensors.items():
        assert back.sensors[name].tobytes() == np.ascontiguousarray(x).tobytes()


# -- rollouts ------------------------------------------------------------------------------------------------------------


def test_sensors_of_a_rollout_equal_the_methods_under_the_forces_of_the_next_step():
    q0, u = ARM.random_configuration(0, 3), np.random.default_rng(1).normal(size=(3, 8, 2))
    F = np.random.default_rng(2).normal(size=(8, 6))
    moved = ARM.rollout(q0, np.zeros(2), u, dt=0.01, wrenches={"tip": per_step(F)}, sensors=SENSORS)
    tau, wrench = (np.concatenate([x[..., 1:, :], x[..., -1:, :]], axis=-2) for x in (u, F))
    assert_readings(moved.sensors, expected_readings(ARM, moved.q, moved.v, tau, {"tip": np.broadcast_to(wrench, (3, 8, 6))}))
    some = ARM.rollout(q0, np.zeros(2), u, dt=0.01, wrenches={"tip": per_step(F)}, sensors=SENSORS, record=4)
    for name, x in some.sensors.items():
        assert_close(x, moved.sensors[name][:, 3::4], floor=1)


def test_sensors_of_a_rollout_see_its_controller_and_time():
    def controller(q, v, t, k):
        return [-k * v[0] + t, -k * v[1]]

    damped = ARM.with_damping(True)
    moved = damped.rollout(*START, dt=0.01, steps=10, integrator="rk4",
                           controller=ts.Controller(controller, parameters={"k": 2.0}), sensors=SENSORS)  # fmt: skip
    tau = -2.0 * moved.v + np.stack([moved.t, 0 * moved.t], axis=1)
    assert_readings(moved.sensors, expected_readings(damped, moved.q, moved.v, tau))


def test_sensors_of_a_rollout_are_those_of_robots_that_differ():
    arm = ARM.attach(ts.Builder("load").link("load", mass=1.0, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.03)).build(), at="tip")
    factors, sensors = np.array([0.5, 2.0]), {"w": ts.Sensor("force_torque", "load"), "imu": ts.Sensor("accelerometer", "load")}
    moved = arm.rollout(np.stack([START[0]] * 2), START[1], dt=0.01, steps=5, sensors=sensors,
                        vary={"mass": {"load": per_robot(factors)}})  # fmt: skip
    for k, x in enumerate(factors):
        load = ts.Builder("load").link("load", mass=x, com=(0.1, 0, 0), inertia=(0.01 * x, 0.02 * x, 0.03 * x)).build()
        alone = ARM.attach(load, at="tip").rollout(*START, dt=0.01, steps=5, sensors=sensors)
        for name in sensors:
            assert_close(moved.sensors[name][k], alone.sensors[name], 1e-11, floor=1)


def test_rollout_wrenches_in_world_axes_count_in_the_readings():
    F = np.array([0, 0, 1.0, 2.0, 0, 0])
    moved = ARM.rollout(*START, dt=0.01, steps=3, wrenches=ts.WorldAxes({"tip": F}), sensors=SENSORS)
    a = ARM.forward_dynamics(moved.q, moved.v, np.zeros(2), {"tip": F}, expressed_in="world")
    expected = ARM.force_torque(moved.q, moved.v, a, "link2", {"tip": F}, expressed_in="world")
    assert_close(moved.sensors["wrist"], expected)


def test_readings_of_a_rollout_are_those_of_the_simulation_with_the_same_steps():
    """Columns row by row: delay, noise and steps, wrenches, damping, joint forces that change, actuators with memory."""
    late = {f"late {name}": replace(s, delay=0.023, noise=0.1, step=0.01) for name, s in SENSORS.items()}
    sensors = SENSORS | late
    u = np.random.default_rng(1).normal(size=(12, 2))
    more = {"wrenches": {"tip": [0.1, 0.2, 0.3, 1.0, 2.0, 3.0]}, "integrator": "semi_implicit", "dt": 0.01}
    servo = {"joint2": [ts.actuators.Lag(0.02), ts.actuators.PositionServo(20.0, 1.0)]}
    robot = ARM.with_damping(True).with_actuators(servo)
    for record in (1, 3):
        moved = robot.rollout(np.stack([START[0]] * 2), START[1], u, sensors=sensors, record=record, **more)
        result = robot.simulate(*START, 0.12, u, sensors=sensors, record=record, **more)
        for name, x in moved.sensors.items():
            assert_close(x[0][:-1], result.sensors[name][1:-1], 1e-9, floor=1)  # after the end no step defines the forces
            if any(word in name for word in ("angle", "rate", "gyro")):
                assert_close(x[0], result.sensors[name][1:], 1e-9, floor=1)


# -- delay, noise, steps -------------------------------------------------------------------------------------------------


def test_delay_reads_earlier_values_and_the_first_before_them():
    t = np.arange(11) * 0.1
    y = np.stack([3 * t, 1 - t], axis=1)
    late = reading("s", ts.Sensor("encoder", "joint1", delay=0.25), t, y)
    assert_close(late, np.stack([3 * np.maximum(t - 0.25, 0), 1 - np.maximum(t - 0.25, 0)], axis=1))
    assert_close(reading("s", ts.Sensor("encoder", "joint1", delay=9.0), t, y), np.broadcast_to(y[0], y.shape))
    whole = reading("s", ts.Sensor("encoder", "joint1", delay=0.2), t, np.random.default_rng(0).normal(size=(11, 1)))
    assert_close(whole[2:], np.random.default_rng(0).normal(size=(11, 1))[:-2])


def test_delay_at_an_impact_reads_the_later_of_two_rows():
    t, y = np.array([0.0, 1.0, 1.0, 2.0]), np.array([[0.0], [1.0], [5.0], [5.0]])
    assert reading("s", ts.Sensor("encoder", "joint1", delay=1.0), t, y)[-1] == 5.0
    assert reading("s", ts.Sensor("encoder", "joint1", delay=1.5), t, y)[-1] == 0.5


def test_encoder_rounds_to_the_nearest_step():
    step = 2 * math.pi / 4096
    result = ARM.simulate(*START, 0.1, sensors={"enc": ts.Sensor("encoder", "joint1", step=step)})
    count = result.sensors["enc"] / step
    assert_close(count, np.round(count), 1e-12)
    assert np.abs(result.sensors["enc"] - result.q[:, :1]).max() <= step / 2 * (1 + 1e-9)


def test_noise_repeats_with_its_seed_and_differs_between_sensors():
    def run(seed):
        both = {name: ts.Sensor("gyroscope", "tip", noise=(0.1, 0.2, 0.0), seed=seed) for name in ("left", "right")}
        return ARM.simulate(*START, 1.0, sensors={**both, "clean": ts.Sensor("gyroscope", "tip")}).sensors

    first, again, other = run(3), run(3), run(4)
    assert (first["left"] == again["left"]).all()
    assert (first["left"] != other["left"])[:, :2].all()
    error = {name: first[name] - first["clean"] for name in ("left", "right")}
    assert abs(np.corrcoef(error["left"][:, 0], error["right"][:, 0])[0, 1]) < 0.1
    np.testing.assert_allclose(error["left"].std(axis=0), [0.1, 0.2, 0.0], rtol=0.1)


def test_noise_may_be_given_row_by_row():
    noise = np.random.default_rng(0).normal(size=(11, 3))
    sensors = {"g": ts.Sensor("gyroscope", "tip", noise=noise), "clean": ts.Sensor("gyroscope", "tip")}
    result = ARM.simulate(*START, 0.01, sensors=sensors)
    assert_close(result.sensors["g"], result.sensors["clean"] + noise)
    with pytest.raises(ts.ArgumentError, match=r"noise of sensor 'g' has shape \(11, 3\); its readings have \(6, 3\)"):
        ARM.simulate(*START, 0.005, sensors=sensors)


def test_sensor_does_not_change_with_the_array_that_its_noise_came_from():
    rows, axes = np.ones((11, 3)), np.array([0.1, 0.2, 0.3])
    given, spread = ts.Sensor("gyroscope", "tip", noise=rows), ts.Sensor("gyroscope", "tip", noise=axes)
    rows[:], axes[:] = 7.0, 7.0
    assert (given.noise == 1).all()
    assert spread.noise == (0.1, 0.2, 0.3)
    assert spread == ts.Sensor("gyroscope", "tip", noise=[0.1, 0.2, 0.3])
    assert hash(spread) == hash(replace(spread))


# -- errors --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [
    {"kind": "thermometer"}, {"delay": -1}, {"delay": math.nan}, {"delay": "1"}, {"step": math.inf}, {"noise": "loud"},
    {"noise": -1.0}, {"noise": math.nan}, {"noise": [[math.inf]]}, {"seed": -1}, {"seed": 0.5},
])  # fmt: skip
def test_sensor_rejects_invalid_numbers(bad):
    with pytest.raises(ts.TorsorError):
        ts.Sensor(**{"kind": "gyroscope", "at": "tip", **bad})


@pytest.mark.parametrize(("sensor", "match"), [
    (ts.Sensor("gyroscope", "nowhere"), "nowhere"), (ts.Sensor("force_torque", "nowhere"), "link, frame or joint"),
    (ts.Sensor("encoder", "tip"), "moving joint"), ("gyroscope", "sensors must be a dict such as"),
])  # fmt: skip
def test_unknown_places_are_refused_before_a_run(sensor, match):
    for run in (
        lambda s: ARM.simulate(*START, 1e6, dt=1.0, sensors=s),
        lambda s: ARM.rollout(*START, dt=1, steps=1, sensors=s),
    ):
        with pytest.raises(ts.TorsorError, match=match):
            run({"s": sensor})


def test_encoder_of_a_quaternion_or_a_mimic_joint_is_refused():
    ball = (
        ts.Builder("b")
        .link("base")
        .link("ball", mass=1.0, inertia=(1, 1, 1))
        .joint("socket", "spherical", "base", "ball")
        .build()
    )
    with pytest.raises(ts.ArgumentError, match="joint 'socket' is spherical"):
        ball.simulate([0, 0, 0, 1.0], [0, 0, 0], 0.01, sensors={"e": ts.Sensor("encoder", "socket")})
    assert (
        ball.simulate([0, 0, 0, 1.0], [1, 0, 0], 0.01, sensors={"e": ts.Sensor("tachometer", "socket")}).sensors["e"].shape[1]
        == 3
    )
    hand = ts.robots.panda()
    with pytest.raises(ts.ArgumentError, match=r"panda_finger_joint2' is a mimic joint .* its leader 'panda_finger_joint1'"):
        hand.simulate(hand.neutral(), np.zeros(hand.nv), 0.01, sensors={"e": ts.Sensor("encoder", "panda_finger_joint2")})


def test_accelerometer_under_lugre_friction_feels_the_bristles():
    robot = ARM.with_friction(
        {"joint1": ts.actuators.friction.LuGre(ts.actuators.friction.Stribeck(1.5, 1.0, 0.4, v_stribeck=0.1), 1e4, 10.0)}
    )
    run = robot.simulate(*START, 0.01, sensors={"a": ts.Sensor("accelerometer", "tip")})
    a = robot.forward_dynamics(run.q, run.v, run.tau, x=run.states["z"])
    assert_close(run.sensors["a"], robot.accelerometer(run.q, run.v, a, "tip"), 1e-11)


def test_sensors_with_rows_of_noise_are_compared_and_hashed():
    one, same, other = (ts.Sensor("gyroscope", "tip", noise=np.full((5, 3), x)) for x in (0.1, 0.1, 0.2))
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert one != ts.Sensor("gyroscope", "tip", noise=0.1)
    assert one != "gyroscope"


def test_steps_finer_than_the_last_digit_leave_the_reading():
    fine = {"angle": ts.Sensor("encoder", "joint1", step=1e-320)}
    rolled = ARM.rollout(*START, np.zeros(2), dt=1e-2, steps=3, sensors=fine)
    assert (rolled.sensors["angle"] == rolled.q[:, :1]).all()


@pytest.mark.parametrize(("kind", "at", "says"), [(["a"], "tip", "kind of sensor"), ("gyroscope", 3, "name of a frame, link")])
def test_kind_and_place_of_a_sensor_must_be_text(kind, at, says):
    with pytest.raises(ts.TorsorError, match=says):
        ts.Sensor(kind, at)
