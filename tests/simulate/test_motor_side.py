"""Drives, actuators and encoders of elastic joints are on the motor's side; a drive's rotor has its inertia in the motion."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import torsor as ts
from torsor.actuators import Drive, Gearbox, Motor, PositionServo, Thermal, VelocityServo
from torsor.errors import ArgumentError
from torsor.flexible import SeriesSpring
from torsor.simulate import simulate

LINK, ROTOR, K, D = 2.0, 0.05, 30.0, 0.4
SPRING = SeriesSpring(K, D, rotor_inertia=ROTOR)
REST = ([0.0, 0.0], [0.0, 0.0])
EXACT = {"rtol": 1e-12, "atol": 1e-12, "method": "DOP853"}


def wheel(inertia=LINK, **joint) -> ts.Robot:
    build = ts.Builder("wheel").link("g").link("w", mass=1, inertia=(inertia, inertia, inertia))
    return build.joint("j", "continuous", "g", "w", **joint).build()


def soft() -> ts.Robot:
    return wheel().with_springs(SPRING)


def two_masses(torque, duration, start=(0.0, 0.0, 0.0, 0.0), rotor=ROTOR):
    """(q, v, θ, ω) at the end: LINK v̇ = τ_e, rotor ω̇ = τ(t, θ, ω) − τ_e, by SciPy."""

    def rate(t, y):
        q, v, theta, omega = y
        across = K * (theta - q) + D * (omega - v)
        return [v, across / LINK, omega, (torque(t, theta, omega) - across) / rotor]

    return solve_ivp(rate, (0, duration), start, **EXACT).y[:, -1]


def final_state(run):
    return [run.q[-1, 0], run.v[-1, 0], run.q[-1, 1], run.v[-1, 1]]


# -- the motor's side --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", ["rk4", ts.Adaptive("dop853", tolerance=1e-11)], ids=["rk4", "dop853"])
def test_voltage_limit_of_a_drive_counts_at_the_speed_of_the_motor(integrator):
    """τ = k (V − k ω)/R at full voltage: a motor with a no-load speed of 10 rad/s does not exceed it."""
    motor = Motor(torque_constant=1.0, resistance=2.0, max_voltage=10.0)
    run = simulate(
        soft().with_drives({"j": Drive(motor)}), *REST, 0.5, [0.0, 1e6], integrator=integrator, dt=2e-4,
    )  # fmt: skip
    expected = two_masses(lambda t, theta, omega: (10 - omega) / 2, 0.5)
    np.testing.assert_allclose(final_state(run), expected, rtol=1e-9)
    assert run.v[:, 1].max() <= motor.no_load_speed
    assert run.v[:, 1].max() > 1.5 * run.v[:, 0].max()  # the link is slower, so its speed would be the wrong one


def test_voltage_command_drives_the_motor_of_an_elastic_joint():
    motor = Motor(torque_constant=1.0, resistance=2.0)
    run = simulate(soft().with_drives({"j": Drive(motor)}, "voltage"), *REST, 0.5, [0.0, 8.0], dt=2e-4)
    np.testing.assert_allclose(final_state(run), two_masses(lambda t, theta, omega: (8 - omega) / 2, 0.5), rtol=1e-9)
    np.testing.assert_allclose(run.states["current"][:, 0], (8 - run.v[:, 1]) / 2, rtol=1e-12)


@pytest.mark.parametrize("servo", [PositionServo(40.0, 1.5), VelocityServo(3.0)], ids=["position", "velocity"])
def test_servo_reads_the_motor_of_an_elastic_joint(servo):
    laws = {PositionServo: lambda t, x, w: 40 * (0.7 - x) - 1.5 * w, VelocityServo: lambda t, x, w: 3 * (0.7 - w)}
    run = simulate(soft().with_actuators({"j/motor": servo}), *REST, 0.5, [0.0, 0.7], dt=2e-4)
    np.testing.assert_allclose(final_state(run), two_masses(laws[type(servo)], 0.5), rtol=1e-9)


def test_encoders_read_motor_and_link_and_the_controller_reads_both():
    sensors = {name: ts.Sensor("encoder", name) for name in ("j", "j/motor")} | {"speed": ts.Sensor("tachometer", "j/motor")}
    run = simulate(soft(), *REST, 0.3, lambda t, q, v: [0.0, 5 - q[0]], sensors=sensors)
    np.testing.assert_array_equal(run.sensors["j"][:, 0], run.q[:, 0])
    np.testing.assert_array_equal(run.sensors["j/motor"][:, 0], run.q[:, 1])
    np.testing.assert_array_equal(run.sensors["speed"][:, 0], run.v[:, 1])
    np.testing.assert_array_equal(run.tau[:, 1], 5 - run.q[:, 0])
    assert np.abs(run.q[:, 1] - run.q[:, 0]).max() > 1e-2


# -- the rotor's inertia -----------------------------------------------------------------------------------------

GEARED = Drive(Motor(torque_constant=1.0, resistance=2.0, rotor_inertia=3e-4), Gearbox(50, inertia=1e-4))  # 1 kg·m² reflected


def test_rotor_inertia_of_a_drive_counts_as_armature():
    """(2 + 50²·4e-4) a = 6: a = 2 rad/s²; the kinetic energy has the rotor's."""
    run = simulate(wheel().with_drives({"j": GEARED}), [0.0], [0.0], 1.0, [6.0])
    assert run.v[-1, 0] == pytest.approx(2.0, rel=1e-12)
    assert run.energies["kinetic"][-1] == pytest.approx(0.5 * (LINK + 1.0) * 2.0**2, rel=1e-12)
    assert run.audit().worst < 1e-12
    assert run.notes == ()
    assert not any(wheel().joint("j").armature)


def test_rotor_inertia_of_a_drive_is_the_motor_of_an_elastic_joint():
    elastic = wheel().with_drives({"j": GEARED}).with_springs(SeriesSpring(K, D))
    run = simulate(elastic, *REST, 0.5, [0.0, 6.0], dt=5e-4)
    np.testing.assert_allclose(final_state(run), two_masses(lambda t, theta, omega: 6.0, 0.5, rotor=1.0), rtol=1e-9)


@pytest.mark.parametrize(
    ("robot", "words"),
    [
        (wheel(armature=1.0), "the robot has an armature or a rotor there"),
        (
            wheel().with_rotors({"j": {"ratio": 10, "inertia": (0.01, 0.01, 0.01), "mass": 1e-3}}),
            "the robot has an armature or a rotor there",
        ),
        (wheel().with_springs(SeriesSpring(1e7, rotor_inertia=1.0)), ""),
    ],
    ids=["armature", "rotor", "spring"],
)
def test_rotor_inertia_is_never_counted_twice(robot, words):
    """The inertia that is there already counts alone, and a note gives the reason."""
    zero, robot = np.zeros(robot.nv), robot.with_drives({"j": GEARED})
    run = simulate(robot, zero, zero, 0.2, [*zero[1:], 6.0], dt=2e-4)
    assert run.v[-1, 0] == pytest.approx(0.2 * 6.0 / (LINK + 1.0), rel=2e-3)
    noted = [note for note in robot.report if "rotor inertia of the drive of j is left out" in note and words in note]
    assert noted or not words


def test_drive_of_a_mimic_joint_is_refused():
    arm = ts.robots.two_link().with_mimic("joint2", "joint1", 2.0)
    with pytest.raises(ArgumentError, match="'joint2' is a mimic joint; give a drive to the joint it follows"):
        arm.with_drives({"joint2": GEARED})


# -- the order of windings ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("inductance", [0, 0.02])
def test_windings_with_temperature_are_of_second_order(inductance):
    """Against SciPy on (w, T, I): halving dt divides the error of speed and temperature by four, and a note gives the order."""
    J, k, R0 = 0.01, 0.05, 0.5
    thermal = Thermal(resistance=2, capacitance=0.05, max_temperature=150)
    motor = Motor(torque_constant=k, resistance=R0, inductance=inductance, thermal=thermal)

    def volts(t):
        return 12 * np.cos(3 * t) + 3

    def rate(t, y):
        w, T, I = y
        R = R0 * (1 + 0.00385 * (T - 25))
        I = I if inductance else (volts(t) - k * w) / R
        return [k * I / J, (I * I * R - (T - 25) / 2) / 0.05, (volts(t) - k * w - R * I) / inductance if inductance else 0]

    exact, errors = solve_ivp(rate, (0, 1), [0, 25.0, 0], **EXACT).y[:2, -1], []
    for dt in (1e-2, 5e-3, 2.5e-3):
        run = simulate(
            wheel(J).with_drives({"j": Drive(motor)}, "voltage"), [0.0], [0.0], 1.0, lambda t, q, v: np.array([volts(t)]), dt=dt
        )
        errors.append(np.abs([run.v[-1, 0], run.states["temperature"][-1, 0]] - exact))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert ((orders > 1.9) & (orders < 2.5)).all(), orders
    assert any("order 2 in dt" in note for note in run.notes)
