"""Strikes of coupled joints on their stops, together or one after the other, against an event-driven reference."""

from __future__ import annotations

import os
from itertools import product

import numpy as np
import pytest

import torsor as ts
from tests.simulate.sliders import exact, kinetic_energy, mobility, reference, series
from torsor.actuators.friction import Coulomb
from torsor.simulate import Event

FIXED, ADAPTIVE = ("euler", "semi_implicit", "rk4", "midpoint", "variational"), ("dop853", "rk45", "lsoda", "radau")
FAR = -10


def listed(run):
    """The number of strikes of a run."""
    return sum("stop" in e.name for e in run.events)


def assert_follows(run, expected, atol=1e-9):
    """The end and the number of strikes of a run agree with the reference."""
    np.testing.assert_allclose(run.v[-1], [float(x) for x in expected.v], atol=atol)
    np.testing.assert_allclose(run.q[-1], [float(x) for x in expected.q], atol=atol)
    assert listed(run) == sum(len(rows) for _, rows in expected.strikes)


def sliders(masses, stops, v, duration, restitution=1.0, **options):
    """A run of sliders in series from q = 0 without gravity, and the reference."""
    n = len(masses)
    run = series(masses, [FAR] * n, stops).with_stops(restitution).simulate([0.0] * n, v, duration, **options)
    return run, reference(masses, [FAR] * n, stops, [0] * n, v, duration, restitution)


@pytest.mark.parametrize("integrator", FIXED + ADAPTIVE)
def test_two_sliders_that_strike_together_return_with_their_velocities(integrator):
    """Masses 1 and 2 kg, stops at 1.0 and 0.6 m, v = (1, 0.6): both strike at 1 s, and v⁺ = −v⁻."""
    run, expected = sliders((1, 2), (1.0, 0.6), (1, 0.6), 1.5, dt=1e-2, integrator=integrator)
    np.testing.assert_allclose(run.v[-1], [-1.0, -0.6], rtol=1e-12)
    assert_follows(run, expected)


def test_sliders_of_round_numbers_keep_energy_wherever_strikes_fall_in_a_step():
    """Strikes at the start, in the middle and at the end of steps, to rounding: 96 cases, of which the fast suite has 32."""
    cases = list(product([(1, 1), (1, 2), (3, 0.5)], [(1.0, 0.6), (0.5, 0.3), (0.8, 0.4), (1.0, 1.0)]))
    for masses, stops in cases if os.environ.get("TORSOR_NIGHT") else (cases[0], cases[5], cases[10], cases[11]):
        robot = series(masses, (FAR, FAR), stops)
        for rate, dt in product((1, 2), (1e-2, 2e-2, 1 / 64, 0.03)):
            v = [rate * x for x in stops]
            run = robot.with_stops(1.0).simulate([0, 0], v, 1.3 / rate, dt=dt)
            np.testing.assert_allclose(run.v[-1], [-x for x in v], rtol=1e-12, err_msg=f"{masses} {stops} {rate} {dt}")
            assert kinetic_energy(masses, run.v[-1]) == pytest.approx(kinetic_energy(masses, v), rel=1e-13)


@pytest.mark.parametrize("integrator", ["rk4", "dop853"])
@pytest.mark.parametrize("restitution", [1, 0.8])
def test_strikes_in_short_succession_follow_each_other(integrator, restitution):
    """One stop is 1e-12 to 1e-3 m further away: the strikes are in sequence, and each has its restitution."""
    for masses, which, gap in product([(1, 2), (3, 0.5)], (0, 1), (0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-3)):
        stops = [exact(x) + (exact(gap) if k == which else 0) for k, x in enumerate((1.0, 0.6))]
        options = {"dt": 1e-2 if which else 7e-3, "integrator": integrator}
        run, expected = sliders(masses, stops, (1, 0.6), 1.5, restitution, **options)
        assert_follows(run, expected)
        if restitution == 1:
            assert kinetic_energy(masses, run.v[-1]) == pytest.approx(kinetic_energy(masses, (1, 0.6)), rel=1e-13)


@pytest.mark.parametrize("integrator", ["rk4", "dop853"])
def test_three_sliders_strike_together_and_in_succession(integrator):
    """Also later strikes that meet exactly are one problem: the reference is exact."""
    for gaps in [(0, 0, 0), (0, 0, 1e-10), (1e-10, 0, 0), (1e-6, 0, 0), (0, 1e-3, 1e-6), (1e-10, 1e-10, 0), (0, 1e-6, 0)]:
        stops = [exact(0.5) + exact(gap) for gap in gaps]
        run, expected = sliders((1, 2, 3), stops, (1, 1, 1), 1.5, dt=1e-2, integrator=integrator)
        assert_follows(run, expected)
        assert kinetic_energy((1, 2, 3), run.v[-1]) == pytest.approx(kinetic_energy((1, 2, 3), (1, 1, 1)), rel=1e-13)


@pytest.mark.parametrize("integrator", ["rk4", "midpoint", "dop853"])
@pytest.mark.parametrize("gap", [0, 1e-10, 1e-6, 1e-3])
@pytest.mark.parametrize(("masses", "tau"), [((1, 2), (-9.81, 0.0)), ((2, 1), (20.0, 4.0)), ((1, 8), (2.0, 1.0))])
def test_strikes_under_gravity_and_constant_forces_keep_energy(integrator, gap, masses, tau):
    """Stops at the positions after 0.5 s of free motion, one of them further away; E − Σ τ_i q_i is constant."""
    W = np.array(mobility(masses), float)
    f = np.array(tau) - 9.81 * np.array([sum(masses), masses[1]])
    q, v = 0.5 * np.array([1.0, 0.7]) + W @ f / 8, np.array([1.0, 0.7]) + W @ f / 2
    q += np.sign(v) * (0, gap)
    lower, upper = np.where(v > 0, -20, q), np.where(v > 0, q, 20)
    robot = series(masses, lower, upper, gravity=(0, 0, -9.81), axis=(0, 0, 1))
    run = robot.with_stops(1.0).simulate([0, 0], [1.0, 0.7], 0.9, tau, integrator=integrator, dt=1e-2)
    expected = reference(masses, lower, upper, (0, 0), (1.0, 0.7), 0.9, 1, tuple(f))
    assert_follows(run, expected, atol=1e-6)  # rounding of 1e-16 m, relative to the gap
    energy = run.energy - run.q @ tau
    assert np.abs(energy - energy[0]).max() < 1e-13 * np.abs(run.energies["kinetic"]).max()


@pytest.mark.parametrize("integrator", ["rk4", "dop853"])
@pytest.mark.parametrize("gap", [0, 1e-10, 1e-6, 1e-3])
def test_strikes_of_revolute_joints_under_gravity_keep_energy(integrator, gap):
    """Stops where a double pendulum is after 0.1 s, one of them further away; M depends on q."""
    arm, start, v = ts.robots.two_link(), [0.4, -0.3], [4.0, 5.0]
    fall = arm.simulate(start, v, 0.1, integrator=ts.Adaptive("dop853", tolerance=1e-12))
    for k, joint in enumerate(arm.joints):
        side = np.sign(fall.v[-1, k])
        arm = arm.with_limits(joint, **{"upper" if side > 0 else "lower": fall.q[-1, k] + side * gap * k})
    how = ts.Adaptive("dop853", tolerance=1e-11) if integrator == "dop853" else integrator
    run = arm.with_stops(1.0).simulate(start, v, 0.15, integrator=how)
    assert {e.name.split(":")[0] for e in run.events} == set(arm.joints)
    assert np.ptp(run.energy) < 1e-9 * run.energies["kinetic"].max()  # the error of rk4 at 1 ms


def test_strikes_at_the_initial_time_are_one_problem():
    """Both joints start at their stops, one of them by rounding only: 0.1 + 0.2 is more than 0.3."""
    robot = series((1, 2), (FAR, FAR), (0.1 + 0.2, 0.6))
    run = robot.with_stops(1.0).simulate([0.3, 0.6], [1.0, 0.6], 0.1)
    np.testing.assert_allclose(run.v[-1], [-1.0, -0.6], rtol=1e-12)
    assert [(e.name, e.t) for e in run.events] == [("x0: upper stop", 0.0), ("x1: upper stop", 0.0)]


@pytest.mark.parametrize("integrator", ["rk4", "dop853"])
@pytest.mark.parametrize("terminal", [False, True])
def test_event_at_the_time_of_strikes_is_listed_once_with_them(integrator, terminal):
    """Functions that reach zero where joints turn back; the state of the events is that after the impact."""
    events = [Event(lambda t, q, v: q[0] - 1, name="position", terminal=terminal), Event(lambda t, q, v: 1 - t, name="time")]
    robot = series((1, 2), (FAR, FAR), (1.0, 0.6))
    run = robot.with_stops(1.0).simulate([0, 0], [1, 0.6], 1.5, events=events, dt=1e-2, integrator=integrator)
    assert [e.name for e in run.events] == ["x0: upper stop", "x1: upper stop", "position", "time"]
    for e in run.events:
        np.testing.assert_allclose(e.v, [-1.0, -0.6], rtol=1e-12)
        assert e.t == pytest.approx(1.0, abs=1e-14)
    assert (run.t[-1] == run.events[0].t) == terminal


@pytest.mark.parametrize("integrator", ["rk4", "dop853"])
def test_terminal_event_at_the_time_of_strikes_ends_after_the_impact(integrator):
    """The time 1 s is a grid time; q is at the stops there to rounding, above or below."""
    for dt, stops in product((1e-2, 2e-2, 5e-3, 0.1), [(1.0, 0.6), (0.7, 0.3), (0.9, 0.1)]):
        end = Event(lambda t, q, v: t - 1, terminal=True, name="end")
        robot = series((1, 2), (FAR, FAR), stops)
        run = robot.with_stops(1.0).simulate([0, 0], stops, 1.5, events=end, dt=dt, integrator=integrator)
        assert [e.name for e in run.events] == ["x0: upper stop", "x1: upper stop", "end"]
        np.testing.assert_allclose(run.v[-1], [-x for x in stops], rtol=1e-12)


def test_strikes_beside_a_joint_held_by_friction_keep_their_restitution():
    """A third body rests by dry friction on the ground, under a force: it stays at rest, the others return."""
    build = ts.Builder("rails").link("ground").link("a", mass=1.0).link("b", mass=2.0).link("c", mass=1.0)
    build.joint("x", "prismatic", "ground", "a", axis=(1, 0, 0), lower=-10.0, upper=1.0)
    build.joint("y", "prismatic", "a", "b", axis=(1, 0, 0), lower=-10.0, upper=0.6)
    build.joint("z", "prismatic", "ground", "c", axis=(1, 0, 0), lower=-1.0, upper=1.0)
    robot = build.build().with_friction({"z": Coulomb(2.0)})
    run = robot.with_stops(1.0).simulate([0, 0, 0], [1, 0.6, 0], 1.5, [0, 0, 1.5], dt=1e-2)
    np.testing.assert_allclose(run.v[-1], [-1.0, -0.6, 0.0], rtol=1e-12)
    assert (run.q[:, 2] == 0).all()


@pytest.mark.parametrize("integrator", ["rk4", "dop853", "lsoda"])
@pytest.mark.parametrize("restitution", [0.0, 0.1, 0.5])
def test_series_of_strikes_without_end_brings_both_joints_to_rest(integrator, restitution):
    """A heavy second body drives the first onto its stop again and again, ever faster: at rest, exactly."""
    robot = series((1, 50), (FAR, FAR), (1.0, 0.6))
    run = robot.with_stops(restitution).simulate([0, 0], [1, 0.60001], 1.2, dt=1e-2, integrator=integrator)
    assert (run.v[-1] == 0).all()
    np.testing.assert_array_equal(run.q[-1], [1.0, 0.6])


def test_many_strikes_in_short_succession_lose_no_energy():
    """Masses 1 and 1000 kg: about π √1000 strikes, as many as digits of π √10 (Galperin 2003), within 1e-6 m."""
    run, expected = sliders((1, 1000), (exact(1), exact("1.000001")), (1, 1), 1.5, dt=1e-2)
    assert listed(run) == sum(len(rows) for _, rows in expected.strikes) > 50
    assert kinetic_energy((1, 1000), run.v[-1]) == pytest.approx(kinetic_energy((1, 1000), (1, 1)), rel=1e-12)


@pytest.mark.parametrize("tau", [[-2.0], [0.0]])
def test_body_with_friction_and_an_elastic_stop_comes_to_rest(tau):
    """e = 1, but dry friction takes a share of the energy at each bounce: infinitely many in a finite time under a force."""
    build = ts.Builder("rail").link("ground").link("a", mass=1.0)
    robot = build.joint("x", "prismatic", "ground", "a", axis=(1, 0, 0), lower=0.0, upper=5.0).build()
    robot = robot.with_friction({"x": Coulomb(1.0)})
    run = robot.with_stops(1.0).simulate([0.5], [0.0 if tau[0] else -1.5], 20.0, tau, dt=1e-2)
    assert run.v[-1, 0] == 0
    assert abs(run.audit().impacts) < 1e-14
