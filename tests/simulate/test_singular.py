"""Singular positions of linkages under adaptive integrators: passed on the same branch, and no false detections."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import torsor as ts
from torsor.simulate import Event, SampledController, SimulationStopped
from torsor.simulate.adaptive import METHODS
from torsor.simulate.passage import step_through
from torsor.simulate.singular import SingularPositions

night = pytest.mark.night
WAYS = ["projection", (50.0, 50.0), None]


def squares(n):
    """The N four-bar of the multibody benchmarks, with its standard initial state: flat, and so singular, after about 0.7 s."""
    robot = ts.mechanisms.n_four_bar(n)
    q = robot.neutral()
    return robot, q, robot.constrained().project_velocity(q, np.resize([-1.0, 1.0], robot.nv))


def pendulum(n, time):
    """(θ, θ̇) of the rods, which all have the same angle: J θ̈ = w sin θ, J = (n + 1)/3 + n, w = ((n + 1)/2 + n) g."""
    J, w = (n + 1) / 3 + n, ((n + 1) / 2 + n) * 9.81
    found = solve_ivp(lambda t, y: [y[1], w / J * np.sin(y[0])], (0, time), [0, 1.0], method="DOP853", rtol=1e-13, atol=1e-13)
    return found.y[:, -1]


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("integrator", METHODS)
@pytest.mark.parametrize("n", [pytest.param(1, marks=night), 2])
def test_adaptive_integrators_pass_singular_positions_on_the_branch_of_arrival(n, integrator, way):
    """Three seconds of the N four-bar, flat three times: it stays a row of parallelograms and moves as the pendulum."""
    robot, q, v = squares(n)
    run = robot.with_constraints(stabilization=way).simulate(q, v, 3.0, integrator=integrator)
    assert np.count_nonzero(np.diff(np.floor(run.q[:, 0] / np.pi - 0.5))) >= 3  # passages through level rods
    assert np.abs(run.q - run.q[:, :1] * np.resize([1.0, -1.0], robot.nv)).max() < 5e-6
    angle, speed = pendulum(n, 3.0)
    assert -run.q[-1, 0] == pytest.approx(angle, abs=3e-5)
    assert -run.v[-1, 0] == pytest.approx(speed, abs=3e-5)
    assert run.audit().worst < 3e-5  # kinetic energy up to 36 J


@night
def test_passage_does_not_depend_on_the_last_digits_of_the_state():
    """Steps that ended a millisecond before a singular position had accelerations too noisy to pass it: one run in forty."""
    robot, q, v = squares(1)
    robot = robot.with_constraints(stabilization=(50.0, 50.0))
    for k in range(80):
        robot.simulate(q, v * (1 + k * 1e-13), 3.0, integrator="dop853", record="last")


def change_point(crank, coupler, rocker, ground, angle, speed):
    """A four-bar whose shortest and longest bars together are as long as the others: it folds flat, with curved branches."""

    def bar(length):
        return {"mass": length, "com": (length / 2, 0, 0), "inertia": (0, 0, length**3 / 12)}

    build = ts.Builder("change point").link("ground").link("crank", **bar(crank)).link("coupler", **bar(coupler))
    build.link("rocker", **bar(rocker)).joint("A", "revolute", "ground", "crank", axis=(0, 0, 1))
    build.joint("B", "revolute", "crank", "coupler", xyz=(crank, 0, 0), axis=(0, 0, 1))
    build.joint("D", "revolute", "ground", "rocker", xyz=(ground, 0, 0), axis=(0, 0, 1))
    build.loop("C", "revolute", "coupler", "rocker", xyz=(coupler, 0, 0), child_xyz=(rocker, 0, 0), axis=(0, 0, 1))
    robot = build.build(gravity=(0, -9.81, 0))
    B = crank * np.array([np.cos(angle), np.sin(angle)])
    to_d = np.array([ground, 0.0]) - B
    far = np.hypot(*to_d)
    along = (coupler**2 - rocker**2 + far**2) / (2 * far)
    C = B + (along * to_d + np.sqrt(coupler**2 - along**2) * np.array([-to_d[1], to_d[0]])) / far
    q = robot.assemble([angle, np.arctan2(*(C - B)[::-1]) - angle, np.arctan2(C[1], C[0] - ground)])
    v = robot.constrained().project_velocity(q, np.array([1.0, 0, 0]))
    return robot, q, v * speed / v[0]


#: bars, angle and speed of the crank, duration, and final state by rk4 with steps of 20 µs
FOLDING = {
    "once": ((1.0, 2.5, 1.5, 2.0, 0.8, 6.0), 1.2, [9.02630311, -9.69210552, -2.26148335]),
    "kite, often": ((1.0, 1.0, 2.0, 2.0, 2.4, 5.0), 2.0, [13.42049062, -24.72245798, 2.11852325]),
}


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("integrator", ["dop853", "rk45", pytest.param("radau", marks=night)])
@pytest.mark.parametrize("name", FOLDING)
def test_folding_linkage_keeps_its_curved_branch(name, integrator, way):
    words, duration, end = FOLDING[name]
    robot, q, v = change_point(*words)
    run = robot.with_constraints(stabilization=way).simulate(q, v, duration, integrator=integrator)
    np.testing.assert_allclose(run.q[-1], end, atol=2e-5)
    assert run.audit().worst < 1e-4


def test_end_of_the_folding_linkage_is_that_of_short_fixed_steps():
    words, duration, end = FOLDING["once"]
    robot, q, v = change_point(*words)
    np.testing.assert_allclose(robot.simulate(q, v, duration, dt=2e-4, record="last").q[-1], end, atol=2e-6)


def test_events_samples_and_records_are_exact_within_the_passage():
    """A controller at 200 Hz with zero forces, an event within 1e-3 rad of the level rod, and records every 2 ms."""
    robot, q, v = squares(2)
    idle = SampledController(lambda t, q, v: np.zeros(robot.nv), 200)
    level = Event(lambda t, q, v: q[0] + np.pi / 2 + 1e-3, direction=-1, name="level")
    run = robot.simulate(q, v, 1.0, idle, integrator="dop853", events=level, record=2)
    assert [e.name for e in run.events] == ["level"]
    assert run.events[0].q[0] == pytest.approx(-np.pi / 2 - 1e-3, abs=1e-8)
    np.testing.assert_allclose(run.t, np.arange(501) * 2e-3, atol=1e-12)
    assert -run.q[-1, 0] == pytest.approx(pendulum(2, 1.0)[0], abs=1e-6)
    assert np.abs(run.residual).max() < 1e-9


@pytest.mark.parametrize("off", [1e-3, 1e-5])
def test_start_beside_a_singular_position_keeps_the_branch(off):
    robot, _, _ = squares(1)
    pattern = np.resize([1.0, -1.0], robot.nv)
    q = (-np.pi / 2 + off) * pattern
    run = robot.simulate(q, -5 * pattern, 0.3, integrator="dop853")
    assert run.q[-1, 0] < -np.pi / 2 - 1
    assert np.abs(run.q - run.q[:, :1] * pattern).max() < 1e-6


def test_start_at_a_singular_position_is_refused():
    robot, _, _ = squares(1)
    pattern = np.resize([1.0, -1.0], robot.nv)
    with pytest.raises(ts.SingularError, match="singular configuration"):
        robot.simulate(-np.pi / 2 * pattern, -5 * pattern, 0.3, integrator="dop853")


@pytest.mark.parametrize("h", [0.2, 0.8])
def test_passage_meets_its_tolerance_at_its_end_and_within(h):
    """ÿ = −y, from y = 0 at t = 0.3; a step that is too long for the tolerance is refused."""

    def f(t, y):
        return np.array([y[1], -y[0]])

    step = step_through(f, 0.3, np.array([0.0, 1.0]), h, 1e-8)
    assert step.at(0.3 + h) == pytest.approx([np.sin(h), np.cos(h)], abs=2e-9)
    assert step.at(0.3 + h / 3) == pytest.approx([np.sin(h / 3), np.cos(h / 3)], abs=1e-7)
    for long in (2.5, 30.0):  # too inaccurate; not solved by iteration
        assert step_through(f, 0.3, np.array([0.0, 1.0]), long, 1e-8) is None


def test_terminal_event_before_the_singular_position_comes_first():
    robot, q, v = squares(1)
    near = Event(lambda t, q, v: q[0] + np.pi / 2 - 0.05, terminal=True)
    run = robot.simulate(q, v, 3.0, integrator="rk45", events=near)
    assert len(run.events) == 1
    assert run.q[-1, 0] == pytest.approx(0.05 - np.pi / 2, abs=1e-8)


def test_unsolved_step_near_a_singular_position_recommends_no_adaptive_integrator():
    """Without projection the loops drift, so the iteration of an implicit step cannot stay on them."""
    robot, q, v = squares(2)
    with pytest.raises(SimulationStopped, match="singular position") as caught:
        robot.with_constraints(stabilization=None).simulate(q, v, 1.0, integrator="midpoint")
    assert "adaptive" not in str(caught.value)


@pytest.mark.parametrize("integrator", ["midpoint", "variational"])
def test_implicit_steps_pass_singular_positions_on_the_branch_of_arrival(integrator):
    robot, q, v = squares(2)
    run = robot.simulate(q, v, 1.0, integrator=integrator, dt=2e-3)
    assert run.q[-1, 0] < -np.pi / 2 - 1
    assert np.abs(run.q - run.q[:, :1] * np.resize([1.0, -1.0], robot.nv)).max() < 1e-6
    kinetic = robot.kinetic_energy(run.q, run.v).max()
    assert np.abs(run.energy - run.energy[0]).max() < 1e-4 * kinetic


ORDINARY = ["four_bar", "slider_crank", "five_bar", pytest.param("stewart_platform", marks=night)]


@pytest.mark.parametrize("name", ORDINARY)
@pytest.mark.parametrize("integrator", [pytest.param(m, marks=() if m == "rk45" else night) for m in METHODS])
def test_linkages_without_singular_positions_are_simulated_to_the_end(name, integrator, request):
    """Their constraint rows have constant rank along the motion."""
    robot = getattr(ts.mechanisms, name)()
    q, nightly = robot.assemble(), integrator != "rk45"
    v = 2 * robot.constrained().project_velocity(q, np.ones(robot.nv))
    duration = 0.5 if not nightly or name == "stewart_platform" else 3.0
    for tolerance in (1e-3, 1e-7) if nightly else (1e-5,):
        run = robot.simulate(q, v, duration, integrator=ts.Adaptive(integrator, tolerance=tolerance))
        assert run.t[-1] == duration


def test_near_miss_is_found_only_if_the_step_does_not_resolve_it():
    """A prescribed σ(t) with a minimum of 0.01 times its end values, within one step or resolved by 400 steps."""
    held = ts.mechanisms.four_bar().constrained()

    class Watch(SingularPositions):
        def _spectrum(self, t, at):
            return np.stack([np.ones_like(t), np.hypot(t - 0.5, 5e-3)], axis=1)

    def at(t):
        return np.zeros(3)

    assert Watch(held).find(0.0, 1.0, at) == pytest.approx(0.5, abs=1e-6)
    watch, ends = Watch(held), np.linspace(0, 1, 401)
    for start, end in pairwise(ends):
        assert watch.find(start, end, at) is None


def test_singular_position_at_an_end_of_a_step_is_not_found():
    held = ts.mechanisms.four_bar().constrained()

    class Watch(SingularPositions):
        def _spectrum(self, t, at):
            return np.stack([np.ones_like(t), np.abs(t - 0.5)], axis=1)

    for start, end, found in ((0.0, 0.5, None), (0.5, 1.0, None), (0.2, 0.7, 0.5)):
        assert Watch(held).find(start, end, lambda t: np.zeros(3)) == (found and pytest.approx(found, abs=1e-6))
