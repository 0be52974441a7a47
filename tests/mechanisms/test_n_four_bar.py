"""The N four-bar: against a pendulum by hand, 20 s through singular positions, and mobility for every N."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from tests.mechanisms.march import march
from tests.mechanisms.states import constrained_system
from torsor import SingularError

G = 9.81


def pattern(n):
    """Velocities of the parallelograms: all upright rods turn by the same angle, the level rods by its negative."""
    return np.array([1.0, -1.0] * n + [1.0])


def inertia_and_weight(n):
    """J = (n + 1)/3 + n of the upright and level rods [kg·m²], and V = w cos θ with w = ((n + 1)/2 + n) g [J]."""
    return (n + 1) / 3 + n, ((n + 1) / 2 + n) * G


def pendulum_time(n, angle):
    """Time at which the rods reach an angle from upright, started at 1 rad/s: t = ∫ dθ / θ̇, with θ̇ from the energy."""
    J, w = inertia_and_weight(n)

    def slowness(t):
        return 1 / mp.sqrt(1 + 2 * w / J * (1 - mp.cos(t)))

    turns, rest = divmod(float(angle), 2 * np.pi)
    return turns * mp.quad(slowness, mp.linspace(0, 2 * mp.pi, 5)) + mp.quad(slowness, mp.linspace(0, rest, 5))


def swing(n, step, seconds=20.0):
    """The benchmark, started with the upper ends at 1 m/s."""
    system = constrained_system("n_four_bar", n)
    start = system.project_velocity(system.robot.neutral(), -pattern(n))
    assert start == pytest.approx(-pattern(n), abs=1e-12)
    track = march(system, system.robot.neutral(), start, step, round(seconds / step))
    J, w = inertia_and_weight(n)
    assert track.energy[0] == pytest.approx(J / 2 + w, rel=1e-14)
    assert np.abs(system.residual(track.q)).max() < 1e-9
    assert np.abs(track.q - track.q[:, :1] * pattern(n)).max() < 1e-8  # it stays a row of parallelograms
    return track


@pytest.mark.parametrize(("n", "step"), [(1, 0.01), (2, 0.01), pytest.param(5, 0.01, marks=pytest.mark.night)])
def test_n_four_bar_keeps_energy_and_pendulum_time_for_20_s(n, step):
    """About forty passages through singular positions; the benchmark allows 0.1 J, the error of RK4 is below 1e-5 J."""
    track = swing(n, step)
    assert np.abs(track.energy - track.energy[0]).max() < 1e-5
    lean = -track.q[-1, 0]
    assert lean > 20 * np.pi
    assert float(pendulum_time(n, lean)) == pytest.approx(20.0, abs=1e-4)


@pytest.mark.night
@pytest.mark.parametrize(("n", "step"), [(1, 1e-3), (5, 2e-3), (40, 5e-3)])
def test_n_four_bar_with_short_steps_keeps_energy_and_pendulum_time_for_20_s(n, step):
    track = swing(n, step)
    assert np.abs(track.energy - track.energy[0]).max() < 1e-5
    assert float(pendulum_time(n, -track.q[-1, 0])) == pytest.approx(20.0, abs=1e-5)


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("off", [0.0, 1e-12, 1e-8, 1e-7, 1e-5, 1e-3])
def test_march_from_the_singular_position_is_refused_and_beside_it_keeps_the_branch(n, off):
    """There the constraint rows do not determine the branch, hence no acceleration; 1e-8 rad away they do."""
    system = constrained_system("n_four_bar", n)
    q = (-np.pi / 2 + off) * pattern(n)
    v = system.project_velocity(q, -5 * pattern(n))
    assert v == pytest.approx(-5 * pattern(n), abs=1e-12)
    if off < 1e-10:
        with pytest.raises(SingularError, match=r"singular configuration: .*'pin1: vy'.*'rod0'"):
            system.forward_dynamics(q, v, np.zeros(2 * n + 1))
        return
    track = march(system, q, v, 5e-3, 60)
    assert np.abs(track.energy - track.energy[0]).max() < 1e-4
    assert np.abs(track.q - track.q[:, :1] * pattern(n)).max() < 1e-9


@pytest.mark.parametrize("n", [1, 2, 5])
def test_rank_drops_where_the_rods_are_horizontal(n):
    system = constrained_system("n_four_bar", n)
    there = system.mobility(-np.pi / 2 * pattern(n))
    assert (there.rank, there.freedom, there.redundancy) == (n, n + 1, 4 * n)
    assert there.singular
    assert there.generic_rank == 2 * n
    up = system.mobility(system.robot.neutral())
    assert (up.rank, up.freedom, up.redundancy, up.singular) == (2 * n, 1, 3 * n, False)


def check_mobility_and_acceleration(n):
    """One degree of freedom, and the acceleration of the pendulum: J θ̈ = w sin θ + τ."""
    system = constrained_system("n_four_bar", n)
    q, v = -0.4 * pattern(n), -1.3 * pattern(n)
    assert system.mobility(q).freedom == 1
    J, w = inertia_and_weight(n)
    tau = np.zeros(2 * n + 1)
    tau[0] = -2.5
    expected = -(w * np.sin(0.4) + 2.5) / J * pattern(n)
    assert np.allclose(system.forward_dynamics(q, v, tau).a, expected, rtol=0, atol=1e-10 * n)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_n_four_bar_has_mobility_one_and_the_pendulum_acceleration(n):
    check_mobility_and_acceleration(n)


@pytest.mark.night
@pytest.mark.parametrize("n", range(1, 41))
def test_n_four_bar_up_to_40_has_mobility_one_and_the_pendulum_acceleration(n):
    check_mobility_and_acceleration(n)
