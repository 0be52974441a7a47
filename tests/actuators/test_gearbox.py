"""Gears and drives: MR Fig. 8.13, both directions of power, stages, apparent inertia (MR §8.9.2)."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from torsor.actuators import Drive, Gearbox, Motor
from torsor.compile import Argument, Kernel, record
from torsor.errors import ArgumentError
from torsor.model.friction import Viscous

MOTOR = Motor(torque_constant=0.05, resistance=0.5, max_voltage=24, max_current=20, continuous_current=6, rotor_inertia=2e-5)
LOSSY = Gearbox(50, 0.8, inertia=1e-6, back_efficiency=0.7)


def test_gearbox_of_ratio_two_scales_the_region_as_in_mr_figure_8_13():
    """G = 2, η = 1: 'the maximum torque doubles, while the maximum speed shrinks by a factor of two'."""
    geared = np.array(Drive(MOTOR, Gearbox(2)).region.vertices)
    assert geared == pytest.approx(np.array(MOTOR.region.vertices) * [0.5, 2], rel=1e-14)
    drive = Drive(MOTOR, Gearbox(2))
    assert drive.peak_torque == pytest.approx(2 * MOTOR.peak_torque)
    assert drive.no_load_speed == pytest.approx(MOTOR.no_load_speed / 2)
    assert drive.continuous_torque == pytest.approx(2 * MOTOR.continuous_torque)


def test_gearbox_efficiency_applies_to_both_directions_of_power():
    """P_out = η P_in while the motor drives; P_in = η_b P_out while the load does: τ_gear = η G τ_motor (MR §8.9.1)."""
    for torque, w, ratio in ((0.5, 3.0, 0.8), (-0.5, -3.0, 0.8), (-0.5, 3.0, 1 / 0.7), (0.5, -3.0, 1 / 0.7)):
        out = LOSSY.output_torque(torque, w)
        assert out * w == pytest.approx(ratio * torque * LOSSY.input_speed(w), rel=1e-14)
        assert LOSSY.input_torque(out, w) == pytest.approx(torque, rel=1e-14)
    assert LOSSY.input_torque(40.0, 0.0) == pytest.approx(1.0)  # at rest: torque that starts the load
    assert Gearbox(50, 0.8).back_efficiency == 0.8


def test_gearbox_loss_is_never_negative():
    rng = np.random.default_rng(1)
    torque, w = rng.uniform(-50, 50, 1000), rng.uniform(-5, 5, 1000)
    for smoothing in (0, 0.1, 10):
        gear = Gearbox(50, 0.8, back_efficiency=0.7, smoothing=smoothing)
        assert (gear.loss(torque, w) >= -1e-12).all()
        lost = gear.input_torque(torque, w) * gear.input_speed(w) - torque * w
        assert gear.loss(torque, w) == pytest.approx(lost, abs=1e-10)


def test_smoothed_gearbox_loss_stays_within_its_stated_error():
    """max x (1 − tanh² x) = 0.4476...: the loss is underestimated by at most that times p₀ and the loss factor."""
    p0, exact = 2.0, Gearbox(50, 0.8, back_efficiency=0.7)
    smooth = Gearbox(50, 0.8, back_efficiency=0.7, smoothing=p0)
    torque = np.linspace(-20, 20, 40_001)
    error = exact.loss(torque, 1.0) - smooth.loss(torque, 1.0)
    assert error[torque > 0].max() == pytest.approx(0.4477 * p0 * (1 / 0.8 - 1), rel=1e-3)
    assert error[torque < 0].max() == pytest.approx(0.4477 * p0 * (1 - 0.7), rel=1e-3)
    assert error.min() >= -1e-12
    slope = np.gradient(smooth.input_torque(torque, 1.0), torque)
    assert np.abs(np.diff(slope)).max() < 1e-4  # no kink: the slope of the exact loss jumps by 0.011
    assert np.abs(np.diff(np.gradient(exact.input_torque(torque, 1.0), torque))).max() > 5e-3


def test_gearbox_then_combines_ratio_efficiency_and_inertia_of_two_stages():
    first, second = Gearbox(4, 0.9, inertia=3e-6), Gearbox(-12.5, 0.85, inertia=8e-6, back_efficiency=0.6)
    both = first.then(second)
    for torque, w in ((0.3, 2.0), (-0.3, 2.0), (0.3, -2.0)):
        step = first.output_torque(torque, second.input_speed(w))
        assert both.output_torque(torque, w) == pytest.approx(second.output_torque(step, w), rel=1e-14)
        assert both.input_speed(w) == pytest.approx(first.input_speed(second.input_speed(w)))
    a = 7.0  # kinetic energies add: ½ I w² of each stage's input
    assert both.inertia * (both.ratio * a) ** 2 == pytest.approx(3e-6 * (both.ratio * a) ** 2 + 8e-6 * (second.ratio * a) ** 2)


@pytest.mark.parametrize("gear", [LOSSY, Gearbox(-50, 0.8), Gearbox(3, 1.0)])
def test_drive_region_outline_and_contains_agree(gear):
    from matplotlib.path import Path

    region = Drive(MOTOR, gear).region
    corners = np.array(region.vertices)
    reach = 1.2 * np.abs(corners).max(axis=0)
    points = np.random.default_rng(2).uniform(-reach, reach, (4000, 2))
    assert (Path(corners).contains_points(points) == region.contains(*points.T)).all()
    assert region.through(Gearbox(2)).contains(reach[0] / 5, 0.0)


def test_drive_region_of_a_lossy_gear_differs_between_driving_and_braking():
    """Driving torque shrinks by η, braking torque grows by 1/η_b."""
    corners = np.array(Drive(MOTOR, LOSSY).region.vertices)
    driving, braking = corners[corners.prod(axis=1) > 0], corners[corners.prod(axis=1) < 0]
    assert driving[:, 1].max() == pytest.approx(50 * 0.8 * 1.0)
    assert braking[:, 1].max() == pytest.approx(50 / 0.7 * 1.0)


def test_drive_apparent_inertia_matches_mr_section_8_9_2():
    """MR §8.9.2: I_rotor = 0.00125 behind G = 10 and 100 gives M₂₂ = 1.13 and 13.5, of which m L² = 1 is the link."""
    rotor = Motor(torque_constant=1, resistance=1, rotor_inertia=0.00125)
    for G, printed in ((10, 1.13), (100, 13.5)):
        drive = Drive(rotor, Gearbox(G))
        assert drive.apparent_inertia == pytest.approx(0.00125 * G**2)
        assert float(f"{drive.inertia(1.0) + 1e-12:.3g}") == printed


def test_drive_apparent_inertia_has_the_kinetic_energy_of_the_rotor():
    G, J, w = sp.symbols("G J w", positive=True)
    drive = Drive(Motor(torque_constant=1, resistance=1, rotor_inertia=J), Gearbox(G))
    assert sp.simplify(J * drive.motor_speed(w) ** 2 / 2 - drive.apparent_inertia * w**2 / 2) == 0


def test_drive_torque_inverts_motor_torque():
    motor = Motor(torque_constant=0.05, resistance=0.5, rotor_inertia=2e-5, friction=Viscous(1e-4))
    drive = Drive(motor, LOSSY)
    for torque, w, a in ((30.0, 2.0, 5.0), (-30.0, 2.0, -5.0), (30.0, -2.0, 40.0)):
        needed = drive.motor_torque(torque, w, acceleration=a)
        load = torque / 50 + (2e-5 + 1e-6) * 50 * a  # τ_motor of MR §8.9.2, in which the rotor counts
        by_hand = load * (1 / 0.8 if load * w > 0 else 0.7) + 1e-4 * 50 * w
        assert needed == pytest.approx(by_hand, rel=1e-14)
        assert drive.torque(needed, w, acceleration=a) == pytest.approx(torque, rel=1e-13)
        assert drive.current(torque, w, acceleration=a) == pytest.approx(by_hand / 0.05)


def test_drive_current_is_that_of_the_book():
    """I_com = τ_motor/(η k_t), τ_motor = τ_gear/G + I_rotor G θ̈ (MR §8.9.2): (0.4 + 0.3)/(0.8 · 0.05) = 17.5 A."""
    drive = Drive(Motor(torque_constant=0.05, resistance=0.5, rotor_inertia=1e-5), Gearbox(100, 0.8))
    assert drive.current(40.0, speed=1.0, acceleration=300.0) == pytest.approx(17.5, rel=1e-14)
    by_parts = [drive.current(40.0, 1.0), drive.current(0.0, 1.0, acceleration=300.0)]
    np.testing.assert_allclose(by_parts, [10.0, 7.5], rtol=1e-14)
    link = 40.0 / 300.0  # the torque accelerates this inertia: (I_link + G² I_rotor) θ̈ = ηG k_t I (MR Exercise 8.9)
    assert (link + drive.apparent_inertia) * 300.0 == pytest.approx(0.8 * 100 * 0.05 * 17.5, rel=1e-14)


def test_drive_saturated_torque_is_limited_by_current_and_voltage():
    drive = Drive(MOTOR, LOSSY)
    assert drive.saturated_torque(10.0, 1.0) == pytest.approx(10.0)
    assert drive.saturated_torque(500.0, 1.0) == pytest.approx(drive.peak_torque)
    assert drive.saturated_torque(-500.0, 1.0) == pytest.approx(-50 / 0.7)
    fast = 1.02 * drive.no_load_speed  # no voltage reserve: the motor can only brake
    assert drive.saturated_torque(500.0, fast) < 0


def test_drive_kernel_equals_floats():
    def outputs(x):
        torque, w, a, eta = x
        exact = Drive(MOTOR, Gearbox(50, eta))
        smooth = Drive(MOTOR, Gearbox(50, eta, smoothing=3.0))
        return [f(torque, w, acceleration=a) for d in (exact, smooth) for f in (d.motor_torque, d.torque, d.saturated_torque)]

    kernel = Kernel(record(lambda x: {"y": outputs(x)}, [Argument("x", (4,))]))
    x = np.random.default_rng(4).uniform([-90, -12, -30, 0.3], [90, 12, 30, 1], (60, 4))
    expected = np.array([[float(y) for y in outputs(row)] for row in x.tolist()])
    assert kernel(x) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"ratio": 0}, "ratio must not be 0"),
        ({"efficiency": 1.2}, "efficiency is 1.2; it must be at most 1"),
        ({"efficiency": 0}, "efficiency is 0"),
        ({"back_efficiency": -0.1}, "back_efficiency is -0.1"),
        ({"inertia": -1e-6}, "inertia is -1e-06 kg·m²; it must be at least 0"),
        ({"smoothing": -1}, "smoothing is -1 W"),
    ],
)
def test_gearbox_rejects_invalid_parameters(wrong, message):
    with pytest.raises(ArgumentError, match=message):
        Gearbox(**{"ratio": 10, **wrong})
