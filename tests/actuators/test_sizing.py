"""Sizing: motions whose peaks, RMS values and energies are known, and the inertia-matching ratio (MR Exercise 8.9)."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp
from scipy.optimize import minimize_scalar

import torsor as ts
from torsor.actuators import Drive, Gearbox, Motor, Thermal, inertia_matching_ratio, load_acceleration
from torsor.errors import ArgumentError, UnknownName
from torsor.model.actuators import sizing
from torsor.model.friction import Viscous

MOTOR = Motor(torque_constant=0.05, resistance=0.5, max_voltage=24, max_current=20, continuous_current=6, rotor_inertia=2e-5)
T = np.arange(4001) * 5e-4  # two seconds, one period of the motions below


# -- MR Exercise 8.9 ---------------------------------------------------------------------------------------------


def test_inertia_matching_ratio_matches_mr_exercise_8_9():
    """dθ̈/dG = 0 at G = √(I_link/I_rotor), a maximum; the apparent inertia of the rotor then equals that of the link."""
    G, tau, link, rotor = sp.symbols("G tau_m I_link I_rotor", positive=True)
    a = load_acceleration(G, motor_torque=tau, load_inertia=link, rotor_inertia=rotor)
    assert sp.simplify(a - G * tau / (link + G**2 * rotor)) == 0
    (best,) = sp.solve(sp.diff(a, G), G)
    assert sp.simplify(best - inertia_matching_ratio(link, rotor)) == 0
    assert sp.simplify(sp.diff(a, G, 2).subs(G, best)).is_negative
    drive = Drive(Motor(torque_constant=1, resistance=1, rotor_inertia=rotor), Gearbox(best))
    assert sp.simplify(drive.apparent_inertia - link) == 0


@pytest.mark.parametrize(("opposing", "efficiency"), [(0.0, 0.7), (3.0, 1.0), (3.0, 0.7), (-2.0, 0.9)])
def test_inertia_matching_ratio_with_load_torque_agrees_with_numeric_maximum(opposing, efficiency):
    given = {"motor_torque": 0.4, "load_inertia": 0.8, "rotor_inertia": 2e-4}
    best = inertia_matching_ratio(0.8, 2e-4, opposing_torque=opposing, motor_torque=0.4, efficiency=efficiency)
    found = minimize_scalar(
        lambda G: -load_acceleration(G, opposing_torque=opposing, efficiency=efficiency, **given),
        bounds=(1, 300),
        method="bounded",
        options={"xatol": 1e-9},
    )
    assert best == pytest.approx(found.x, rel=1e-6)  # the maximum is flat, so only half the digits are known


def test_drive_acceleration_matches_exercise_8_9():
    drive = Drive(Motor(torque_constant=1, resistance=1, rotor_inertia=2e-4), Gearbox(40, 0.7))
    a = load_acceleration(40, motor_torque=0.4, load_inertia=0.8, rotor_inertia=2e-4, opposing_torque=3.0, efficiency=0.7)
    assert drive.motor_torque(0.8 * a + 3.0, speed=1.0, acceleration=a) == pytest.approx(0.4, rel=1e-13)


def test_inertia_matching_ratio_rejects_missing_motor_torque_and_zero_rotor_inertia():
    with pytest.raises(ArgumentError, match="depends on motor_torque"):
        inertia_matching_ratio(0.8, 2e-4, opposing_torque=1.0)
    with pytest.raises(ArgumentError, match="rotor_inertia is 0"):
        inertia_matching_ratio(0.8, 0)


# -- one axis ----------------------------------------------------------------------------------------------------


def swing(drive: Drive, load: float = 0.5, top: float = 6.0) -> sizing.SizingReport:
    """A bare inertia swung as w = top sin(πt): τ = load · top π cos(πt)."""
    w, a = top * np.sin(np.pi * T), top * np.pi * np.cos(np.pi * T)
    return sizing.size_motor(drive, speeds=w, torques=load * a, dt=T[1], accelerations=a, name="swing")


def test_sizing_of_a_sinusoidal_motion_matches_the_closed_form():
    drive = Drive(MOTOR, Gearbox(50))
    study = swing(drive)
    top = (0.5 / 50 + 2e-5 * 50) * 6 * math.pi  # load and rotor, at the motor
    assert study.peak_torque == pytest.approx(top, rel=1e-12)
    assert study.rms_torque == pytest.approx(top / math.sqrt(2), rel=1e-9)
    assert study.peak_speed == pytest.approx(300, rel=1e-6)
    assert study.rms_speed == pytest.approx(300 / math.sqrt(2), rel=1e-9)
    assert study.usages["continuous torque"] == pytest.approx(top / math.sqrt(2) / 0.3, rel=1e-9)
    assert study.usages["current"] == pytest.approx(top / 1.0, rel=1e-12)
    voltage = math.hypot(0.05 * 300, 0.5 * top / 0.05)  # back-emf and I R are a quarter period apart
    assert study.usages["voltage"] == pytest.approx(voltage / 24, rel=1e-6)
    assert study.margins["voltage"] == pytest.approx(1 - voltage / 24, rel=1e-5)
    assert study.fits
    assert study.verdict.startswith("fits: voltage at 63% of its limit; highest load at t = ")
    assert MOTOR.region.usage(study.speed, study.torque).max() == pytest.approx(
        MOTOR.region.usage(study.speed[study.worst], study.torque[study.worst])
    )


def test_sizing_energy_used_equals_heat_work_and_losses():
    """used − regenerated = heat + work + gear loss + friction; the rotor stores nothing over a full period."""
    motor = Motor(torque_constant=0.05, resistance=0.5, rotor_inertia=2e-5, friction=Viscous(1e-4))
    study = swing(Drive(motor, Gearbox(50, 0.8, back_efficiency=0.7)))
    friction = 1e-4 * study.rms_speed**2 * T[-1]
    assert study.gear_loss > 0
    assert study.energy_regenerated > 0
    assert study.work == pytest.approx(0, abs=1e-9)  # the net work on an inertia is zero over a period
    assert study.energy_used - study.energy_regenerated == pytest.approx(
        study.heat + study.work + study.gear_loss + friction, rel=1e-6
    )


def test_size_motor_differentiates_speeds_without_accelerations():
    drive = Drive(MOTOR, Gearbox(50, 0.8))
    w = 6 * np.sin(np.pi * T)
    by_differences = sizing.size_motor(drive, speeds=w, torques=3 * np.cos(np.pi * T), dt=T[1])
    exact = sizing.size_motor(
        drive, speeds=w, torques=3 * np.cos(np.pi * T), dt=T[1], accelerations=6 * np.pi * np.cos(np.pi * T)
    )
    assert by_differences.torque == pytest.approx(exact.torque, abs=1e-5)
    rigid = Drive(Motor(torque_constant=0.05, resistance=0.5), Gearbox(50, 0.8))
    assert not np.allclose(
        exact.torque, sizing.size_motor(rigid, speeds=w, torques=3 * np.cos(np.pi * T), dt=T[1]).torque, rtol=1e-3
    )


def test_sizing_verdict_names_the_exceeded_limit():
    study = swing(Drive(MOTOR, Gearbox(20)))
    assert not study.fits
    over = [name for name, used in study.usages.items() if used > 1]
    assert over == ["continuous torque"]
    assert "too small: continuous torque at" in study.verdict
    fast = swing(Drive(MOTOR, Gearbox(100)))
    assert fast.usages["voltage"] > 1
    assert "too small: voltage at" in fast.verdict
    k = fast.worst
    assert np.abs(fast.voltage).max() == pytest.approx(abs(fast.voltage[k]))
    assert f"t = {T[k]:.3g} s" in fast.verdict


def test_sizing_temperature_is_that_of_the_repeated_cycle():
    """The periodic solution of C Ṫ = I² R(T) − (T − T_a)/R_th, integrated over many time constants."""
    winding = Thermal(resistance=4.0, capacitance=30.0, max_temperature=125.0)
    motor = Motor(torque_constant=0.05, resistance=0.5, rotor_inertia=2e-5, max_current=20, thermal=winding)
    study = swing(Drive(motor, Gearbox(50)))
    temperature, dt = 25.0, 2.0
    heat = study.heat / 2.0
    for _ in range(2000):
        temperature += dt * winding.rate(temperature, heat * winding.growth(temperature))
    assert study.temperature == pytest.approx(temperature, rel=1e-6)
    assert (study.temperature < 125) == (study.usages["continuous torque"] < 1)
    assert swing(Drive(MOTOR)).temperature is None


def test_sizing_of_a_motor_without_limits_has_no_usages():
    study = swing(Drive(Motor(torque_constant=0.05, resistance=0.5)))
    assert study.usages == {}
    assert study.verdict.startswith("no limits")
    assert study.worst == 0


def test_sizing_report_can_be_printed_and_plotted():
    pytest.importorskip("matplotlib").use("Agg")
    study = swing(Drive(MOTOR, Gearbox(50)))
    assert "swing" in str(study)
    assert study.verdict in str(study)
    assert len(study.plot().lines) >= 3


@pytest.mark.parametrize(
    ("speeds", "torques", "dt", "message"),
    [
        ([0.0, 1.0], [0.0, 1.0, 2.0], 0.1, r"torques has shape \(3,\), expected that of speeds"),
        ([0.0, 1.0], [0.0, math.nan], 0.1, "torques is not finite at sample 1"),
        ([[0.0, 1.0]], [0.0, 1.0], 0.1, r"speeds has shape \(1, 2\)"),
        ([0.0], [0.0], 0.1, "at least 2 samples"),
        ([0.0, 1.0], [0.0, 1.0], 0.0, "dt is 0 s"),
    ],
)
def test_sizing_rejects_invalid_arguments(speeds, torques, dt, message):
    with pytest.raises(ArgumentError, match=message):
        sizing.size_motor(Drive(MOTOR), speeds=speeds, torques=torques, dt=dt)


# -- a robot -----------------------------------------------------------------------------------------------------


def trajectory(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    t, k = np.linspace(0, 2, 101)[:, None], 1 + np.arange(n)
    return np.sin(k * t), k * np.cos(k * t), -(k**2) * np.sin(k * t)


def test_size_motors_torque_equals_inverse_dynamics_with_armatures():
    """With lossless gears, G τ_m equals inverse dynamics of the same arm with armatures G² I_rotor."""
    arm = ts.robots.two_link()
    q, v, a = trajectory(2)
    drives = {"joint1": Drive(MOTOR, Gearbox(100)), "joint2": Drive(MOTOR, Gearbox(80, inertia=1e-5))}
    studies = sizing.size_motors(arm, drives, q, v, a, dt=0.02)
    armature = [drives[j].apparent_inertia for j in ("joint1", "joint2")]
    tau = arm.inverse_dynamics(q, v, a) + armature * a
    for k, joint in enumerate(("joint1", "joint2")):
        assert drives[joint].gearbox.ratio * studies[joint].torque == pytest.approx(tau[:, k], rel=1e-12, abs=1e-10)
        assert studies[joint].speed == pytest.approx(drives[joint].gearbox.ratio * v[:, k])
        assert studies[joint].name == joint
    assert sizing.summary(studies).count("\n") == 2


def test_size_motors_includes_wrenches():
    arm = ts.robots.two_link()
    q, v, a = trajectory(2)
    F = np.array([0, 0, 0, 0, -5.0, 0])
    pushed = sizing.size_motors(arm, {"joint2": Drive(MOTOR, Gearbox(10))}, q, v, a, dt=0.02, wrenches={"tip": F})["joint2"]
    tau = arm.inverse_dynamics(q, v, a, {"tip": F})[:, 1]
    assert pushed.torque == pytest.approx(tau / 10 + 2e-5 * 10 * a[:, 1], rel=1e-12, abs=1e-12)


def test_size_motors_rejects_invalid_robots_and_trajectories():
    arm = ts.robots.two_link()
    q, v, a = trajectory(2)
    with pytest.raises(UnknownName, match="joint1, joint2"):
        sizing.size_motors(arm, {"elbow": Drive(MOTOR)}, q, v, a, dt=0.02)
    with pytest.raises(ArgumentError, match=r"one trajectory, \(T, n\)"):
        sizing.size_motors(arm, {"joint1": Drive(MOTOR)}, q[0], v[0], a[0], dt=0.02)
    walker = ts.robots.quadruped()
    with pytest.raises(ArgumentError, match="a drive needs a joint with one degree of freedom"):
        sizing.size_motors(walker, {walker.joints[0]: Drive(MOTOR)}, [], [], [], dt=0.02)
    puma = ts.robots.puma560()  # its model has armatures
    with pytest.raises(ArgumentError, match="armature in the robot and rotor inertia in its drive"):
        sizing.size_motors(puma, {puma.joints[0]: Drive(MOTOR)}, [], [], [], dt=0.02)
    geared = arm.with_rotors({"joint1": {"mass": 0.1, "inertia": (1e-5, 1e-5, 2e-5), "ratio": 50}})
    with pytest.raises(ArgumentError, match="a rotor in the robot and rotor inertia in its drive"):
        sizing.size_motors(geared, {"joint1": Drive(MOTOR)}, q, v, a, dt=0.02)
