"""Electric motors in simulate: V = k_t w + R I + L dI/dt, heat and gears, each against its closed form."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import torsor as ts
from torsor.actuators import Drive, Gearbox, Motor
from torsor.errors import ArgumentError, UnknownName
from torsor.model.actuators.thermal import Thermal
from torsor.simulate import simulate
from torsor.simulate.controllers import SampledController

MOTOR = {"torque_constant": 0.05, "resistance": 0.5}
J = 0.01


def wheel(inertia=J) -> ts.Robot:
    return ts.Builder("wheel").link("g").link("w", mass=1, inertia=(1, 1, inertia)).joint("j", "continuous", "g", "w").build()


def volts(motor, V, duration, gearbox=None, robot=None, **options):
    drives = {"j": Drive(motor, gearbox or Gearbox(1))}
    return simulate((robot or wheel()).with_drives(drives, "voltage"), [0.0], [0.0], duration, V, **options)


@pytest.mark.parametrize("dt", [1e-4, 5e-3])
def test_current_rises_in_a_locked_rotor(dt):
    """I = (V/R)(1 − exp(−R t/L)), to rounding for any step; a wheel of 1e12 kg m² stays at rest."""
    run = volts(Motor(**MOTOR, inductance=2e-3), [12.0], 0.03, robot=wheel(1e12), dt=dt)
    np.testing.assert_allclose(run.states["current"][:, 0], 24 * (1 - np.exp(-run.t * 250)), rtol=1e-9, atol=1e-9)
    assert run.info["states"]["current"] == ["j"]


@pytest.mark.parametrize("inductance", [0, 0.1])
def test_speed_and_current_of_a_motor_equal_the_linear_system(inductance):
    """Wheel and winding are one linear system, integrated by SciPy; without L, w = (V/k)(1 − exp(−k² t/(R J)))."""
    motor = Motor(**MOTOR, inductance=inductance)
    run = volts(motor, [12.0], 3.0, dt=2e-3)
    k, R = 0.05, 0.5
    if inductance:
        exact = solve_ivp(
            lambda t, y: [k * y[1] / J, (12 - k * y[0] - R * y[1]) / inductance],
            (0, 3), [0, 0], rtol=1e-11, atol=1e-11, t_eval=run.t,
        ).y  # fmt: skip
        np.testing.assert_allclose(run.v[:, 0], exact[0], atol=2e-4)
        np.testing.assert_allclose(run.states["current"][:, 0], exact[1], atol=2e-4)
    else:
        np.testing.assert_allclose(run.v[:, 0], 240 * (1 - np.exp(-(k**2) * run.t / (R * J))), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4", "midpoint", "variational"])
def test_motor_at_maximum_voltage_reaches_its_no_load_speed(integrator):
    """A command of 100 V is limited to 24 V; the joint ends at w₀/G with zero current."""
    motor, gearbox = Motor(**MOTOR, inductance=1e-3, max_voltage=24.0), Gearbox(10)
    run = volts(motor, [100.0], 1.0, gearbox, integrator=integrator, dt=2e-3)
    assert run.v[-1, 0] == pytest.approx(Drive(motor, gearbox).no_load_speed, rel=1e-9)
    assert abs(run.states["current"][-1, 0]) < 1e-6
    assert run.states["voltage"][-1, 0] == 24.0


@pytest.mark.parametrize("coefficient", [0, 0.00385])
@pytest.mark.parametrize("command", ["torque", "voltage"])
def test_winding_warms_to_its_steady_temperature(command, coefficient):
    """A locked rotor for ten time constants: T_ambient + R_th P, with R increasing with temperature."""
    thermal = Thermal(resistance=2, capacitance=1, max_temperature=150, coefficient=coefficient)
    motor = Motor(**MOTOR, thermal=thermal)
    control = [0.25] if command == "torque" else [2.5]
    drives = {"j": Drive(motor)}
    run = simulate(wheel(1e12).with_drives(drives, command), [0.0], [0.0], 50.0, control, dt=0.02, record=10)
    I, T = run.states["current"][-1, 0], run.states["temperature"][-1, 0]
    R = motor.resistance * thermal.growth(T)
    np.testing.assert_allclose(I, 5.0 if command == "torque" else 2.5 / R, rtol=1e-6)
    np.testing.assert_allclose(T, thermal.steady_temperature(I**2 * R), rtol=1e-6)
    assert run.states["voltage"][-1, 0] == pytest.approx(R * I, rel=1e-6)
    if not coefficient:
        np.testing.assert_allclose(run.states["temperature"][:, 0], 25 + 25 * (1 - np.exp(-run.t / 2)), rtol=1e-9)


def test_electrical_power_is_motion_and_heat():
    """∫VI = ½Jw² + ∫I²R + ½LI² + gear losses, while driving and then while braking."""
    motor, gearbox = Motor(**MOTOR, inductance=5e-3), Gearbox(5, 0.8)
    run = volts(motor, lambda t, q, v: np.array([12 * np.cos(3 * t)]), 2.0, gearbox, dt=1e-3)
    t, w = run.t, run.v[:, 0]
    I, V = run.states["current"][:, 0], run.states["voltage"][:, 0]
    assert (run.tau[:, 0] * w).min() < -1 < 1 < (run.tau[:, 0] * w).max()
    taken = np.array([gearbox.loss(tau, x) for tau, x in zip(run.tau[:, 0], w, strict=True)])
    assert (taken >= -1e-12).all()
    spent = np.trapezoid(V * I - I**2 * motor.resistance - taken, t)
    left = (J * w[-1] ** 2 + motor.inductance * I[-1] ** 2) / 2
    assert spent == pytest.approx(left, abs=2e-3 * np.trapezoid(abs(V * I), t))  # trapezoidal rule, with a jump of gear loss
    assert run.audit().relative < 2e-3  # the torque jumps where the power changes sign


def test_current_limit_holds_under_sampled_voltages():
    """An amplifier limited to 4 A, with a controller at 50 Hz."""
    motor = Motor(**MOTOR, inductance=1e-3, max_current=4.0)
    run = volts(motor, SampledController(lambda t, q, v: np.array([12.0]), 50), 0.5)
    np.testing.assert_allclose(run.v[-1, 0], 0.5 * 4 * 0.05 / J, rtol=2e-3)  # 4 A except in the first 0.1 ms
    assert run.states["current"].max() == 4.0
    assert run.states["voltage"][-1, 0] == pytest.approx(0.05 * run.v[-1, 0] + 2.0)


def test_motor_without_inductance_works_with_adaptive_integrators():
    run = volts(Motor(**MOTOR), [12.0], 3.0, integrator=ts.Adaptive("dop853", tolerance=1e-10))
    np.testing.assert_allclose(run.v[:, 0], 240 * (1 - np.exp(-run.t / 2)), atol=1e-6)
    np.testing.assert_allclose(run.states["current"][:, 0], 24 * np.exp(-run.t / 2), atol=1e-6)


def test_current_is_integrated_by_adaptive_integrators():
    """Wheel and winding are one linear system."""
    run = volts(Motor(**MOTOR, inductance=0.1), [12.0], 3.0, integrator=ts.Adaptive("radau", tolerance=1e-8))
    exact = solve_ivp(
        lambda t, y: [0.05 * y[1] / J, (12 - 0.05 * y[0] - 0.5 * y[1]) / 0.1], (0, 3), [0, 0], rtol=1e-11, atol=1e-11
    )
    np.testing.assert_allclose([run.v[-1, 0], run.states["current"][-1, 0]], exact.y[:, -1], rtol=1e-5)


def test_drives_reject_invalid_arguments():
    with pytest.raises(ArgumentError, match="with_drives"):
        simulate(wheel(), [0.0], [0.0], 1.0, command="voltage")
    with pytest.raises(UnknownName, match="current"):
        wheel().with_drives({"j": Drive(Motor(**MOTOR))}, command="current")
    with pytest.raises(ArgumentError, match="must be a dict from joints to drives"):
        wheel().with_drives({"j": Motor(**MOTOR)})
    with pytest.raises(ArgumentError, match="two terms are named 'j drive'"):
        wheel().with_drives({"j": Drive(Motor(**MOTOR))}).with_drives({"j": Drive(Motor(**MOTOR))})
