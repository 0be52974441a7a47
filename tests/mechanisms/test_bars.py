"""Four-bar, slider-crank and five-bar against their closed forms and reduced equations of motion."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from tests.mechanisms.march import march
from tests.mechanisms.reduced import Body, crank_acceleration
from tests.mechanisms.states import configurations_at, constrained_system
from torsor import mechanisms

G = 9.81
LENGTHS = a, b, c, d = 0.4, 0.9, 0.8, 1.0  # crank, coupler, rocker, ground
MASSES = 0.4, 0.9, 0.8


@pytest.fixture(scope="module")
def linkage():
    return constrained_system("four_bar")


def freudenstein(theta):
    """The angles of coupler and rocker [rad], open branch.

    Freudenstein's k₁ cos θ₄ − k₂ cos θ₂ + k₃ = cos(θ₂ − θ₄), quadratic in tan(θ₄/2).
    """
    k1, k2, k3 = d / a, d / c, (a * a - b * b + c * c + d * d) / (2 * a * c)
    A = mp.cos(theta) - k1 - k2 * mp.cos(theta) + k3
    B = -2 * mp.sin(theta)
    C = k1 - (k2 + 1) * mp.cos(theta) + k3
    rocker = 2 * mp.atan((-B - mp.sqrt(B * B - 4 * A * C)) / (2 * A))
    x, y = d + c * mp.cos(rocker) - a * mp.cos(theta), c * mp.sin(rocker) - a * mp.sin(theta)
    return mp.atan2(y, x), rocker


def bars(theta):
    """Crank, coupler and rocker as uniform rods."""
    coupler, rocker = freudenstein(theta)
    rods = ((0, 0, a, theta), (a * mp.cos(theta), a * mp.sin(theta), b, coupler), (d, 0, c, rocker))
    return [
        Body(m, m * length**2 / 12, x + length / 2 * mp.cos(angle), y + length / 2 * mp.sin(angle), angle)
        for m, (x, y, length, angle) in zip(MASSES, rods, strict=True)
    ]


def test_four_bar_angles_over_a_full_turn_equal_freudensteins_equation(linkage):
    robot = linkage.robot
    angles = np.linspace(0, 2 * np.pi, 73)
    zero = freudenstein(0.0)
    for theta, q in zip(angles, configurations_at(linkage, "crank", angles), strict=True):
        coupler, rocker = freudenstein(theta)
        assert np.allclose(np.exp(1j * (q[0] + q[1])), np.exp(1j * float(coupler - zero[0])), rtol=0, atol=1e-11)
        assert np.allclose(np.exp(1j * q[2]), np.exp(1j * float(rocker - zero[1])), rtol=0, atol=1e-11)
        across = np.array([[mp.cos(coupler), -mp.sin(coupler)], [mp.sin(coupler), mp.cos(coupler)]], float) @ [0.45, 0.3]
        place = robot.pose(q, "coupler_point")[:2, 3]
        assert np.allclose(place, np.array([a * np.cos(theta), a * np.sin(theta)]) + across, rtol=0, atol=1e-11)


def test_four_bar_velocities_equal_the_closed_form(linkage):
    """ω₃ = a ω₂ sin(θ₄ − θ₂) / (b sin(θ₃ − θ₄)), ω₄ = a ω₂ sin(θ₂ − θ₃) / (c sin(θ₄ − θ₃))."""
    for theta, q in zip((0.3, 2.0, 4.5), configurations_at(linkage, "crank", (0.3, 2.0, 4.5)), strict=True):
        v = linkage.project_velocity(q, [1.0, 0.3, -0.4])
        coupler, rocker = map(float, freudenstein(theta))
        assert v[0] + v[1] == pytest.approx(a * v[0] * np.sin(rocker - theta) / (b * np.sin(coupler - rocker)), rel=1e-11)
        assert v[2] == pytest.approx(a * v[0] * np.sin(theta - coupler) / (c * np.sin(rocker - coupler)), rel=1e-11)


@pytest.mark.parametrize("theta", [0.2, 1.7, 3.3, 5.5])
def test_four_bar_crank_acceleration_equals_the_reduced_equation(linkage, theta):
    (q,) = configurations_at(linkage, "crank", [theta])
    v = linkage.project_velocity(q, [2.0, 0, 0])
    expected = crank_acceleration(bars, theta, v[0], 1.5, G)
    assert linkage.forward_dynamics(q, v, [1.5, 0, 0]).a[0] == pytest.approx(expected, rel=1e-10)


def test_four_bar_conserves_energy_and_the_drive_changes_it_by_its_work(linkage):
    """Two seconds without joint forces: the error of RK4 at 2 ms is 4e-8 J, and decreases as h⁴ or faster."""
    robot = linkage.robot
    (q,) = configurations_at(linkage, "crank", [0.5])
    drift = [np.abs(np.ptp(march(linkage, q, np.zeros(3), h, round(2 / h)).energy)) for h in (4e-3, 2e-3)]
    assert drift[1] < 1e-7
    assert drift[1] < drift[0] / 8
    track = march(linkage, q, np.zeros(3), 2e-3, 500, tau=[0.7, 0, 0])
    assert np.ptp(track.q[:, 0]) > 0.5
    assert np.allclose(track.energy - track.energy[0], 0.7 * (track.q[:, 0] - q[0]), rtol=0, atol=1e-7)  # work of the drive
    assert np.abs(linkage.residual(track.q)).max() < 1e-9
    assert robot.kinetic_energy(track.q[-1], track.v[-1]) > 0


def test_parallelogram_started_upright_turns_the_rocker_as_the_crank():
    """Assembled with an upright crank: crank and rocker have the same velocity, and the coupler translates."""
    system = mechanisms.four_bar(ground=1.0, crank=0.5, coupler=1.0, rocker=0.5, start=np.pi / 2).constrained()
    v = system.project_velocity(system.robot.neutral(), [1.0, 0, 0])
    assert v == pytest.approx([v[0], -v[0], v[0]], abs=1e-14)


R, L, E = 0.3, 1.0, 0.1  # crank, rod, offset


@pytest.fixture(scope="module")
def engine():
    return mechanisms.slider_crank(crank=R, rod=L, offset=E).constrained()


def slider_x(theta):
    return R * mp.cos(theta) + mp.sqrt(L**2 - (R * mp.sin(theta) - E) ** 2)


def engine_parts(theta):
    x = slider_x(theta)
    pin = R * mp.cos(theta), R * mp.sin(theta)
    rod = mp.atan2(E - pin[1], x - pin[0])
    return [
        Body(0.5, 0.5 * R**2 / 12, pin[0] / 2, pin[1] / 2, theta),
        Body(1.0, 1.0 * L**2 / 12, (pin[0] + x) / 2, (pin[1] + E) / 2, rod),
        Body(2.0, 0.0, x, mp.mpf(E), mp.mpf(0)),
    ]


def test_slider_position_over_a_full_turn_equals_the_closed_form(engine):
    angles = np.linspace(0, 2 * np.pi, 49)
    for theta, q in zip(angles, configurations_at(engine, "crank", angles), strict=True):
        assert engine.robot.pose(q, "slider")[0, 3] == pytest.approx(float(slider_x(theta)), rel=1e-12)
        assert q[2] == pytest.approx(float(slider_x(theta) - slider_x(0)), abs=1e-12)


@pytest.mark.parametrize("theta", [0.4, 2.2, 5.0])
def test_slider_crank_torque_and_acceleration_equal_the_closed_form(engine, theta):
    """Gas force by virtual work, τ = −F dx/dθ; and the reduced equation of motion with all masses."""
    (q,) = configurations_at(engine, "crank", [theta])
    still = engine.robot.with_gravity((0, 0, 0)).constrained()
    tau = still.inverse_dynamics(q, np.zeros(3), np.zeros(3), wrenches={"slider": [0, 0, 0, -700.0, 0, 0]}, actuated=["crank"])
    assert tau == pytest.approx([700.0 * float(mp.diff(slider_x, theta)), 0, 0], abs=1e-9)
    v = engine.project_velocity(q, [6.0, 0, 0])
    expected = crank_acceleration(engine_parts, theta, v[0], 5.0, G)
    assert engine.forward_dynamics(q, v, [5.0, 0, 0]).a[0] == pytest.approx(expected, rel=1e-10)


def five_bar_tip(left, right, ground=0.4, proximal=0.5, distal=0.8):
    """The upper of the two intersections of the circles of the distal bars; crank angles from x̂."""
    C = np.array([-ground / 2 + proximal * np.cos(left), proximal * np.sin(left)])
    D = np.array([ground / 2 + proximal * np.cos(right), proximal * np.sin(right)])
    half = (D - C) / 2
    reach = np.sqrt(distal**2 - half @ half) / np.linalg.norm(half)
    return C + half + reach * np.array([-half[1], half[0]])


def test_five_bar_tip_is_the_intersection_of_two_circles():
    system = mechanisms.five_bar().constrained()
    robot, rng = system.robot, np.random.default_rng(0)
    for left, right in rng.uniform(-0.6, 0.6, (10, 2)):
        q = system.assemble([left, 0, right, 0], fixed=["left", "right"], attempts=0)
        at = np.pi / 2 + left, np.pi / 2 + right
        assert np.allclose(robot.pose(q, "tip")[:2, 3], five_bar_tip(*at), rtol=0, atol=1e-12)


def test_five_bar_drive_torques_under_a_load_equal_virtual_work():
    """τ = −Jᵀf at the two drives, with J of the closed form by central differences (h² + rounding: 1e-8)."""
    robot = mechanisms.five_bar(g=0.0)
    system = robot.constrained()
    q = system.assemble([0.3, 0, -0.2, 0], fixed=["left", "right"], attempts=0)
    at, h, f = np.array([np.pi / 2 + 0.3, np.pi / 2 - 0.2]), 1e-6, np.array([3.0, -8.0])
    J = np.column_stack([(five_bar_tip(*(at + h * e)) - five_bar_tip(*(at - h * e))) / (2 * h) for e in np.eye(2)])
    in_tip_axes = robot.pose(q, "tip")[:2, :2].T @ f
    wrenches = {"tip": [0, 0, 0, *in_tip_axes, 0]}
    tau = system.inverse_dynamics(q, np.zeros(4), np.zeros(4), wrenches=wrenches, actuated=["left", "right"])
    assert tau[[0, 2]] == pytest.approx(-J.T @ f, rel=1e-7)
    assert np.all(tau[[1, 3]] == 0)
