"""Stiction: the set-valued law compared with closed forms and a convex solver; robots at rest stay at rest."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torsor as ts
from torsor.errors import ArgumentError, SingularError
from torsor.model import friction as fr
from torsor.simulate.stiction import DryFriction, accelerations, dry_friction, solve, velocities


def levels(hold, slide=None, drag=None) -> DryFriction:
    hold = np.atleast_1d(np.asarray(hold, float))
    slide = hold if slide is None else np.atleast_1d(np.asarray(slide, float))
    return DryFriction((-hold, hold), (-slide, slide), np.zeros(len(hold)) if drag is None else np.asarray(drag, float))


def random_problem(seed: int, n: int):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    M = A @ A.T + 0.05 * np.eye(n)
    return M, rng.normal(scale=3, size=n), -rng.uniform(0, 3, size=n), rng.uniform(0, 3, size=n)


def cost(M, f, lower, upper, x) -> float:
    return 0.5 * x @ M @ x - f @ x + np.maximum(upper * x, lower * x).sum()


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12))
def test_stiction_solution_satisfies_its_conditions_and_minimizes_the_cost(seed, n):
    M, f, lower, upper = random_problem(seed, n)
    x, phi, stuck = solve(M, f, lower, upper)
    scale = np.abs(f).max() + 3
    np.testing.assert_allclose(M @ x + phi, f, atol=1e-11 * scale * np.linalg.cond(M))
    assert (x[stuck] == 0).all()
    assert (phi >= lower - 1e-11 * scale).all()
    assert (phi <= upper + 1e-11 * scale).all()
    slides = ~stuck
    np.testing.assert_array_equal(phi[slides], np.where(x > 0, upper, lower)[slides])
    least = cost(M, f, lower, upper, x)
    rng = np.random.default_rng(seed)
    for size in (1e-3, 0.1, 1.0):  # strictly convex: a local minimum is the global one
        assert cost(M, f, lower, upper, x + size * rng.normal(size=n)) > least - 1e-12 * scale**2


def test_stiction_of_two_joints_agrees_with_all_nine_cases():
    """Compared with all nine cases: each joint slides forwards, slides backwards or sticks."""
    M = np.array([[2.0, 1.2], [1.2, 1.0]])
    lower, upper = np.array([-1.0, -0.5]), np.array([0.8, 0.6])
    seen = set()
    for f in np.random.default_rng(0).uniform(-3, 3, size=(400, 2)):
        x, _, stuck = solve(M, f, lower, upper)
        good = []
        for side in np.ndindex(3, 3):
            s = np.array(side) - 1
            on = np.flatnonzero(s)
            phi, y = np.where(s > 0, upper, lower), np.zeros(2)
            if len(on):
                y[on] = np.linalg.solve(M[np.ix_(on, on)], (f - phi)[on])
            phi = np.where(s == 0, f - M @ y, phi)
            if (s * y >= 0).all() and (lower <= phi).all() and (phi <= upper).all():
                good.append((tuple(s), y))
        assert len(good) == 1
        np.testing.assert_allclose(x, good[0][1], atol=1e-13)
        seen.add(good[0][0])
    assert len(seen) == 9


def test_block_breaks_away_at_the_static_level_and_slides_at_the_kinetic_level():
    """A force of 3.1 N starts a block against 2 N of kinetic friction; 2.5 N keeps it sliding, but does not start it."""
    dry = levels(3.0, 2.0)
    M = np.array([[2.0]])
    assert accelerations(M, [2.5], [0.0], dry).x == 0
    assert accelerations(M, [-3.1], [0.0], dry).x == pytest.approx(-(3.1 - 2) / 2)
    assert accelerations(M, [2.5], [1e-9], dry).x == pytest.approx(0.25)
    assert accelerations(M, [0.0], [-1e-9], dry).x == pytest.approx(1.0)  # friction opposes v, not the acceleration
    assert accelerations(M, [2.5], [0.0], dry).friction == 2.5  # equal to the applied force


def test_joint_that_breaks_away_can_make_a_coupled_joint_slide():
    """M couples two joints: joint 2 alone would stick, but it slides when joint 1 drops to its kinetic level."""
    M = np.array([[1.0, 0.9], [0.9, 1.0]])
    dry = levels([1.0, 0.95], [0.1, 0.1])
    f = np.array([1.05, 0.0])
    first = solve(M, f, *dry.hold)
    assert list(first.stuck) == [False, True]
    both = accelerations(M, f, np.zeros(2), dry)
    assert not both.stuck[0]
    hold = f[1] - M[1, 0] * (f[0] - 0.1)  # friction force that joint 2 needs to stick, −0.855
    assert list(both.stuck) == [False, abs(hold) <= 0.95]
    loose = accelerations(M, f, np.zeros(2), levels([1.0, 0.8], [0.1, 0.1]))
    assert not loose.stuck.any()
    np.testing.assert_allclose(M @ loose.x, f - [0.1, -0.1], atol=1e-14)


def test_stiction_of_a_robot_agrees_with_forward_dynamics_of_sliding_and_locked_joints():
    """Two links in gravity: sliding joints accelerate as in forward dynamics, sticking joints do not accelerate."""
    robot = ts.robots.two_link().with_friction({"joint1": fr.StaticKineticViscous(40.0, 30.0, 0.5), "joint2": fr.Coulomb(2.0)})
    q, v = np.array([0.2, 0.3]), np.array([0.4, -0.3])
    M, h = robot.mass_matrix(q), robot.bias_force(q, v)
    a = accelerations(M, -h, v, dry_friction(robot.model, v)).x
    np.testing.assert_allclose(a, robot.forward_dynamics(q, v, np.zeros(2)), rtol=1e-12)
    v = np.zeros(2)
    f = -robot.gravity_force(q)
    held = accelerations(M, f, v, dry_friction(robot.model, v))
    assert list(held.stuck) == [True, False]  # the shoulder sticks (40 N·m); the elbow slides against 2 N·m
    assert held.x[0] == 0
    assert held.x[1] == pytest.approx((f[1] + 2.0) / M[1, 1], rel=1e-13)
    locked = robot.lock({"joint1": 0.2})
    np.testing.assert_allclose(held.x[1:], locked.forward_dynamics(q[1:], [0.0], [2.0]), rtol=1e-12)


def test_dry_friction_of_a_mimic_joint_acts_on_its_leader_and_lugre_has_none():
    """A mimic joint at −2 v: its friction counts twice at the leader, with directions exchanged; LuGre has no dry level."""
    built = (
        ts.Builder("pair")
        .link("base")
        .link("a", mass=1.0)
        .link("b", mass=1.0)
        .joint("one", "prismatic", "base", "a", axis=(1, 0, 0))
        .joint("two", "prismatic", "a", "b", axis=(0, 1, 0), mimic=("one", -2.0))
        .build()
    )
    robot = built.with_friction({"one": fr.Coulomb(1.0), "two": fr.Directional(fr.StaticViscous(3.0, 0.5), fr.Coulomb(5.0))})
    dry = dry_friction(robot.model, np.array([0.25]))
    assert (dry.hold[0][0], dry.hold[1][0]) == (-1.0 - 2 * 3.0, 1.0 + 2 * 5.0)
    assert dry.drag[0] == 0.0  # at v > 0 the mimic joint moves backwards, without drag
    for v in (0.25, -0.25):
        dry = dry_friction(robot.model, np.array([v]))
        whole = dry.slide[1 if v > 0 else 0][0] + dry.drag[0]
        assert whole == pytest.approx(robot.friction_force([v])[0], rel=1e-14)
    bristles = built.with_friction({"one": fr.LuGre(fr.Coulomb(1.0), 1e4)})
    assert not np.any(dry_friction(bristles.model, np.zeros(1)).hold)


# -- in time -------------------------------------------------------------------------------------------------


def test_sliding_block_stops_as_in_the_closed_form_and_stays_at_rest():
    """v₀ − F t/m until t = m v₀/F, then exactly zero: implicit friction has no time discretization error here."""
    m, F, v0, dt = 2.0, 3.0, 1.0, 1e-3
    v, t = np.array([v0]), 0
    while v[0] != 0:
        v, t = velocities(np.array([[m]]), np.zeros(1), v, dt, levels(F)).x, t + 1
        assert v[0] == pytest.approx(max(v0 - F / m * t * dt, 0.0), abs=1e-12)
    assert t == math.ceil(m * v0 / F / dt)


@pytest.mark.parametrize("steps", [2_000, pytest.param(100_000, marks=pytest.mark.night)])
def test_stiction_keeps_a_robot_at_rest_under_gravity_bit_for_bit(steps):
    """q does not change in any bit; a state that one step leaves unchanged never changes."""
    robot = ts.robots.two_link().with_friction(
        {"joint1": fr.Stribeck(40.0, 20.0, 1.0, 0.1), "joint2": fr.StaticKinetic(20.0, 9.0)}
    )
    q0 = q = np.array([0.2, 0.3])
    v, dt = np.zeros(2), 1e-3
    assert np.abs(robot.gravity_force(q)).min() > 5
    dry = dry_friction(robot.model, v)
    for _ in range(steps):
        v = velocities(robot.mass_matrix(q), -robot.bias_force(q, v), v, dt, dry).x
        q = q + v * dt
    np.testing.assert_array_equal(q, q0)
    np.testing.assert_array_equal(v, 0.0)
    # a smooth law does not stick
    smooth = ts.robots.two_link().with_friction(
        {"joint1": fr.Coulomb(40.0).smooth(0.01), "joint2": fr.Coulomb(20.0).smooth(0.01)}
    )
    v = np.zeros(2)
    a = accelerations(smooth.mass_matrix(q), -smooth.bias_force(q, v), v, dry_friction(smooth.model, v))
    assert not a.stuck.any()


@pytest.mark.parametrize("dt", [1e-3, 1e-2, 0.3])
def test_joints_with_dry_friction_come_to_rest_without_chatter(dt):
    """Two coupled joints with forces below breakaway come to rest and stay; at most one reversal happens before."""
    M = np.array([[2.0, 0.8], [0.8, 1.0]])
    dry, f = levels([3.0, 2.0]), np.array([0.5, -1.0])
    v, reversals, stood = np.array([1.0, -2.0]), 0, 0
    for _ in range(int(6 / dt) + 3):
        new = velocities(M, f, v, dt, dry).x
        reversals += int((new * v < 0).sum())
        stood += int(((v == 0) & (new != 0)).sum())
        v = new
    assert reversals <= 1
    assert stood == 0
    assert (v == 0).all()


def test_stick_slip_on_a_belt_has_the_period_of_the_closed_form():
    """A mass m on a spring k, on a belt at speed V: stick-slip motion with the period of the closed form.

    Relative to the belt the coordinate y has friction at rest; the spring pulls −k (y + V t).  Slip starts at stretch F_s/k and
    ends at (2F_k − F_s)/k, after θ/ω with tan(θ/2) = −(F_s − F_k) ω/(k V); the belt then takes 2(F_s − F_k)/(k V).
    """
    m, k, V, Fs, Fk, dt = 1.0, 25.0, 0.2, 3.0, 1.2, 4e-4
    omega = math.sqrt(k / m)
    slip = 2 * (math.pi - math.atan((Fs - Fk) * omega / (k * V))) / omega
    stick = 2 * (Fs - Fk) / (k * V)
    M, dry = np.array([[m]]), levels(Fs, Fk)
    stretch, v, breaks, stops = 0.0, np.zeros(1), [], []
    lowest = 0.0
    for n in range(int(3.5 * (slip + stick) / dt)):
        was = v[0]
        v = velocities(M, np.array([-k * (stretch + V * dt)]), v, dt, dry).x
        stretch += (v[0] + V) * dt
        if was == 0 and v[0] != 0:
            breaks.append(n * dt)
        if was != 0 and v[0] == 0:
            stops.append(n * dt)
            lowest = stretch
    assert len(breaks) >= 3
    assert len(breaks) - len(stops) in (0, 1)
    # semi-implicit steps: O(dt) in time, O(ω dt) of the amplitude
    assert np.diff(breaks)[-1] == pytest.approx(slip + stick, rel=4e-3)
    assert stops[1] - breaks[1] == pytest.approx(slip, rel=4e-3)
    assert lowest == pytest.approx((2 * Fk - Fs) / k, abs=4e-3 * Fs / k)


def test_stiction_rejects_invalid_arguments():
    with pytest.raises(ArgumentError, match="one state, not a batch"):
        accelerations(np.eye(2), np.zeros(3), np.zeros(2), levels([1, 1]))
    with pytest.raises(ArgumentError, match="finite"):
        accelerations(np.eye(1), [np.nan], [0.0], levels(1))
    with pytest.raises(ArgumentError, match="dt must be a positive"):
        velocities(np.eye(1), [0.0], [0.0], 0.0, levels(1))
    with pytest.raises(SingularError, match="moves no mass"):
        accelerations(np.zeros((1, 1)), [5.0], [0.0], levels(1))
