"""The DC motor of MR §8.9.1: equations, curve, operating region (Fig. 8.12), temperature, every scalar type."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from torsor.actuators import RPM, Motor, Region, Thermal
from torsor.compile import Argument, Kernel, record
from torsor.errors import ArgumentError

K, R, V, I, CONT = 0.05, 0.5, 24.0, 20.0, 6.0
MOTOR = Motor(torque_constant=K, resistance=R, max_voltage=V, max_current=I, continuous_current=CONT)
WINDING = Thermal(resistance=4.0, capacitance=30.0, max_temperature=125.0)


# -- MR 8.103 and its power balance ------------------------------------------------------------------------------


def test_motor_power_balance_holds_over_symbols():
    """I V = τ w + I² R + L I dI/dt + friction, from which the book derives 8.103."""
    k, r, l, w, i, rate, b = sp.symbols("k_t R L w I Idot b", positive=True)
    motor = Motor(torque_constant=k, resistance=r, inductance=l, friction=lambda w: b * w)
    supplied = motor.electrical_power(i, w, current_rate=rate)
    assert sp.expand(supplied - (motor.mechanical_power(i, w) + motor.heat(i) + l * i * rate + b * w**2)) == 0
    assert sp.expand(motor.voltage(i, w, current_rate=rate) - (k * w + i * r + l * rate)) == 0
    assert sp.simplify(motor.voltage(i, w, current_rate=motor.current_rate(i, w, V)) - V) == 0


def test_motor_speed_torque_line_has_the_slope_and_ends_of_the_formula():
    """w = V/k_t − (R/k_t²) τ: its slope, and its ends w_0 = V_max/k_t and τ_stall = k_t V_max/R."""
    k, r, v, tau = sp.symbols("k_t R V tau", positive=True)
    motor = Motor(torque_constant=k, resistance=r, max_voltage=v)
    w = motor.speed(tau, v)
    assert sp.simplify(sp.diff(w, tau) + r / k**2) == 0
    assert sp.simplify(w.subs(tau, 0) - motor.no_load_speed) == 0
    assert sp.solve(w, tau) == [motor.stall_torque]
    assert sp.simplify(motor.quasi_static_torque(v, w) - tau) == 0
    assert sp.simplify(motor.back_emf(motor.no_load_speed) - v) == 0


def test_motor_of_10_000_rpm_at_48_volts_has_the_expected_torque_constant():
    """'Many DC motors are capable of no-load speeds of 10 000 rpm or more': 48 V need k_t = 45.8 mN·m/A."""
    motor = Motor(torque_constant=48 / (10_000 * RPM), resistance=1.0, max_voltage=48)
    assert motor.no_load_speed == pytest.approx(2 * math.pi * 10_000 / 60, rel=1e-14)
    assert motor.torque_constant == pytest.approx(0.04584, rel=1e-3)


def test_motor_rated_point_matches_the_closed_form():
    w = 24 / 0.05 - 0.5 / 0.05**2 * 0.3
    assert MOTOR.rated == pytest.approx((w, 0.3, 0.3 * w), rel=1e-14)
    assert MOTOR.continuous_torque == pytest.approx(0.3)
    assert MOTOR.peak_torque == pytest.approx(1.0)
    slow = Motor(torque_constant=K, resistance=R, max_voltage=V, max_current=I, continuous_current=CONT, max_speed=100.0)
    assert slow.rated.speed == 100.0


@pytest.mark.parametrize("limits", [{}, {"max_current": 10.0}, {"max_speed": 100.0}, {"max_current": 40.0, "max_speed": 150.0}])
def test_motor_max_power_is_the_maximum_over_the_speed_torque_curve(limits):
    motor = Motor(torque_constant=K, resistance=R, max_voltage=V, **limits)
    w = np.linspace(0, min(motor.no_load_speed, motor.max_speed), 200_001)
    power = w * motor.curve_torque(w)
    best = motor.max_power
    assert power.max() * (1 - 1e-12) <= best.power <= power.max() * (1 + 1e-5)  # the grid may miss a corner
    assert best.torque == pytest.approx(motor.curve_torque(best.speed), rel=1e-12)
    if not limits:
        assert best == pytest.approx((motor.no_load_speed / 2, motor.stall_torque / 2, V**2 / (4 * R)), rel=1e-14)


def test_motor_efficiency_is_correct_in_every_quadrant():
    assert MOTOR.efficiency(10.0, 300.0) == pytest.approx(150 / 200)  # motoring
    assert MOTOR.efficiency(-10.0, 300.0) == pytest.approx(100 / 150)  # generating
    assert MOTOR.efficiency(-10.0, 50.0) == 0  # both sides supply power, all of it becomes heat
    assert MOTOR.efficiency(0.0, 300.0) == 0
    dragging = Motor(torque_constant=K, resistance=R, friction=lambda w: 0.1)
    assert dragging.efficiency(10.0, 300.0) == pytest.approx((0.5 - 0.1) * 300 / 200)


# -- the full model as a state equation --------------------------------------------------------------------------


def test_current_of_a_blocked_rotor_rises_as_in_an_rl_circuit():
    motor = Motor(torque_constant=K, resistance=R, inductance=1e-3)
    t = np.linspace(0, 8e-3, 9)
    run = solve_ivp(lambda _, i: motor.current_rate(i, 0.0, V), (0, 8e-3), [0.0], t_eval=t, rtol=1e-11, atol=1e-12)
    assert run.y[0] == pytest.approx(V / R * (1 - np.exp(-R / 1e-3 * t)), rel=1e-8, abs=1e-8)


def test_free_rotor_matches_the_matrix_exponential():
    """I_rotor ẇ = k_t I and 8.103: a linear system, solved by its matrix exponential."""
    L, J = 1e-3, 2e-5
    motor = Motor(torque_constant=K, resistance=R, inductance=L, rotor_inertia=J)

    def rates(_, x):
        return [motor.current_rate(x[0], x[1], V), motor.torque(x[0]) / motor.rotor_inertia]

    A = np.array([[-R / L, -K / L, V / L], [K / J, 0, 0], [0, 0, 0]])
    run = solve_ivp(rates, (0, 0.01), [0.0, 0.0], rtol=1e-11, atol=1e-11)
    assert run.y[:, -1] == pytest.approx((expm(A * 0.01) @ [0, 0, 1])[:2], rel=1e-8)


def test_current_rate_vanishes_at_the_quasi_static_current():
    motor = Motor(torque_constant=K, resistance=R, inductance=1e-9)
    i = motor.quasi_static_current(V, 100.0)
    assert motor.current_rate(i, 100.0, V) == pytest.approx(0, abs=1e-4)  # (V − V)/1e-9, rounded
    with pytest.raises(ArgumentError, match="quasi_static_current"):
        MOTOR.current_rate(1.0, 0.0, V)


# -- temperature -------------------------------------------------------------------------------------------------


def test_winding_warms_exponentially():
    cool = Thermal(resistance=4.0, capacitance=30.0, max_temperature=125.0, coefficient=0)
    motor = Motor(torque_constant=K, resistance=R, thermal=cool)
    run = solve_ivp(lambda _, T: motor.temperature_rate(T, 5.0), (0, 240), [25.0], rtol=1e-10, atol=1e-10)
    assert run.y[0, -1] == pytest.approx(25 + 4 * 12.5 * (1 - math.exp(-240 / 120)), rel=1e-8)
    assert cool.time_constant == 120


def test_continuous_current_keeps_the_winding_at_its_temperature_limit():
    motor = Motor(torque_constant=K, resistance=R, max_current=I, max_voltage=V, thermal=WINDING)
    i = motor.current(motor.continuous_torque)
    assert motor.temperature_rate(125.0, i) == pytest.approx(0, abs=1e-12)
    assert motor.temperature_rate(125.0, 1.01 * i) > 0 > motor.temperature_rate(125.0, 0.99 * i)
    assert WINDING.steady_temperature_of(i, R) == pytest.approx(125, rel=1e-12)
    assert WINDING.steady_temperature_of(100.0, R) == math.inf  # the winding heats faster than it cools
    assert WINDING.continuous_current(R) < math.sqrt(100 / (4 * R))  # the warm winding has more resistance


def test_motor_at_temperature_has_the_resistance_of_the_warm_winding():
    motor = Motor(torque_constant=K, resistance=R, max_voltage=V, thermal=WINDING)
    warm = motor.at_temperature(125.0)
    assert warm.resistance == pytest.approx(R * 1.385)
    assert warm.continuous_torque == pytest.approx(motor.continuous_torque)
    assert motor.temperature_rate(125.0, 3.0) == pytest.approx(WINDING.rate(125.0, warm.heat(3.0)))


# -- commands ----------------------------------------------------------------------------------------------------


def test_motor_saturated_torque_is_the_nearest_possible_torque():
    rng = np.random.default_rng(5)
    w, command = rng.uniform(-700, 700, 500), rng.uniform(-3, 3, 500)
    given = MOTOR.saturated_torque(command, w)
    drivable = np.abs(w) <= (V + R * I) / K  # at higher speeds even the current limits cannot be kept
    low = np.maximum(-K * I, K * (-V - K * w) / R)
    high = np.minimum(K * I, K * (V - K * w) / R)
    assert given[drivable] == pytest.approx(np.clip(command, low, high)[drivable], rel=1e-13)
    assert MOTOR.region.contains(w[drivable], given[drivable]).all()
    beyond = ~drivable
    assert beyond.any()
    assert np.abs(MOTOR.voltage(MOTOR.current(given), w))[beyond] == pytest.approx(V)
    assert MOTOR.saturated_torque(5.0) == pytest.approx(K * I)
    assert MOTOR.saturated_current(0.2) == pytest.approx(4.0)
    assert Motor(torque_constant=K, resistance=R).saturated_torque(99.0, 1e6) == pytest.approx(99.0)


# -- regions -----------------------------------------------------------------------------------------------------


def test_motor_region_has_the_corners_of_mr_figure_8_12():
    """Two lines of constant voltage and two of constant current intersect in four corners."""
    w0, drop, tau = V / K, R * I / K, K * I
    expected = {(-w0 - drop, tau), (w0 - drop, tau), (w0 + drop, -tau), (-w0 + drop, -tau)}
    assert sorted(MOTOR.region.vertices) == pytest.approx(np.array(sorted(expected)))
    inner = MOTOR.continuous_region.vertices
    assert max(torque for _, torque in inner) == pytest.approx(K * CONT)
    assert min(abs(w - MOTOR.rated.speed) + abs(torque - MOTOR.rated.torque) for w, torque in inner) < 1e-9


@pytest.mark.parametrize(
    "limits", [{}, {"max_speed": 200.0}, {"max_speed": 300.0}, {"max_current": 100.0}, {"max_speed": 600.0}]
)
def test_motor_region_outline_and_contains_agree(limits):
    from matplotlib.path import Path

    motor = Motor(**{"torque_constant": K, "resistance": R, "max_voltage": V, "max_current": I, **limits})
    points = np.random.default_rng(3).uniform([-900, -4], [900, 4], (4000, 2))
    assert (Path(motor.region.vertices).contains_points(points) == motor.region.contains(*points.T)).all()
    assert all(motor.region.contains(*corner) for corner in motor.region.vertices)
    area = 0.5 * abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in _edges(motor.region.vertices)))
    assert area == pytest.approx(_area(motor), rel=1e-9)


def _edges(vertices):
    return zip(vertices, (*vertices[1:], vertices[0]), strict=True)


def _area(motor: Motor) -> float:
    """∫ of the speed range over the torques; slices are exact, since the range is piecewise linear."""
    tau = np.linspace(-motor.max_current, motor.max_current, 2_000_001) * K
    high = np.minimum(V / K - R / K**2 * tau, motor.max_speed)
    low = np.maximum(-V / K - R / K**2 * tau, -motor.max_speed)
    return float(np.trapezoid(np.maximum(high - low, 0), tau))


def test_motor_region_allows_braking_above_no_load_speed():
    """τ w < 0: mechanical power is consumed, and within V_max the speed may exceed w_0."""
    assert MOTOR.region.contains(500.0, -0.5)
    assert not MOTOR.region.contains(500.0, 0.5)
    assert MOTOR.mechanical_power(-10.0, 500.0) < 0


def test_motor_regions_can_be_plotted():
    pytest.importorskip("matplotlib").use("Agg")
    ax = MOTOR.region.plot()
    MOTOR.continuous_region.plot(ax=ax, color="0.5")
    assert len(ax.patches) == 2
    assert "N·m" in ax.get_xlabel()


def test_region_vertices_need_bounded_numeric_limits():
    with pytest.raises(ArgumentError, match="only voltage is limited"):
        _ = Motor(torque_constant=K, resistance=R, max_voltage=V).region.vertices
    with pytest.raises(ArgumentError, match="symbols"):
        _ = Motor(torque_constant=sp.Symbol("k"), resistance=R, max_voltage=V, max_current=I).region.vertices
    assert Motor(torque_constant=K, resistance=R).region == Region(())
    assert Region(()).contains(1e9, 1e9)


# -- every scalar type -------------------------------------------------------------------------------------------


def test_motor_kernel_equals_floats():
    """Motor parameters are inputs of the kernel too, so one kernel computes different motors."""

    def outputs(x):
        k, r, l, tau, w, T = x
        m = Motor(torque_constant=k, resistance=r, inductance=l, max_voltage=V, max_current=I, thermal=WINDING)
        return [
            m.saturated_torque(tau, w),
            m.current_rate(m.current(tau), w, V),
            m.efficiency(m.current(tau), w),
            m.temperature_rate(T, m.current(tau)),
            m.region.usage(w, tau),
            m.max_power.power,
            m.at_temperature(T).rated.power,
        ]

    kernel = Kernel(record(lambda x: {"y": outputs(x)}, [Argument("x", (6,))]))
    x = np.random.default_rng(0).uniform([0.02, 0.2, 1e-4, -2, -600, 20], [0.1, 2, 1e-2, 2, 600, 130], (50, 6))
    expected = np.array([[float(y) for y in outputs(row)] for row in x.tolist()])
    assert kernel(x) == pytest.approx(expected, rel=1e-12, abs=1e-12)


# -- invalid parameters ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"resistance": -0.5}, "resistance is -0.5 Ω; it must be greater than 0"),
        ({"torque_constant": 0}, "torque_constant is 0"),
        ({"torque_constant": math.nan}, "must be finite"),
        ({"inductance": -1e-3}, "inductance is -0.001 H; it must be at least 0"),
        ({"rotor_inertia": math.inf}, "rotor_inertia is inf"),
        ({"max_voltage": -24}, "max_voltage is -24 V"),
        ({"max_current": 0}, "max_current is 0 A"),
        ({"continuous_current": 30, "max_current": 20}, "continuous_current 30 A is more than max_current 20 A"),
        ({"max_speed": "fast"}, "max_speed must be a number in rad/s, not 'fast'"),
        ({"friction": 0.1}, "friction must be a friction law or a function"),
    ],
)
def test_motor_rejects_invalid_parameters(wrong, message):
    with pytest.raises(ArgumentError, match=message):
        Motor(**{"torque_constant": K, "resistance": R, **wrong})


@pytest.mark.parametrize("wrong", [{"resistance": 0}, {"capacitance": -1}, {"max_temperature": 20}, {"ambient": -300}])
def test_thermal_model_rejects_invalid_parameters(wrong):
    with pytest.raises(ArgumentError, match=next(iter(wrong))):
        Thermal(**{"resistance": 4.0, "capacitance": 30.0, "max_temperature": 125.0, **wrong})


def test_missing_motor_data_is_an_error_that_names_it():
    bare = Motor(torque_constant=K, resistance=R)
    with pytest.raises(ArgumentError, match="no thermal model"):
        bare.temperature_rate(25.0, 1.0)
    with pytest.raises(ArgumentError, match="no max_voltage"):
        _ = bare.rated
