"""Break-away, sticking and release located in time: integrators keep their order; impacts shorter than one step."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import asin, atan2, cos, log2, pi, sin, sqrt

import numpy as np
import pytest

import torsor as ts
from torsor.model.friction import Coulomb, StaticKinetic, Stribeck
from torsor.model.joints import Revolute
from torsor.simulate import Event, SampledController

G = 9.81
ORDERS = {"rk4": 4, "midpoint": 2, "variational": 2, "semi_implicit": 1}


def slider(law=None, mass=1.0, axis=(1, 0, 0), **limits):
    build = ts.Builder("slider").link("ground").link("body", mass=mass)
    robot = build.joint("rail", "prismatic", "ground", "body", axis=axis, **limits).build()
    return robot if law is None else robot.with_friction({"rail": law})


class Belt:
    """A mass m at rest, pulled by a spring k whose end moves at V; static friction F_s, kinetic friction F_k."""

    m, k, V, static, kinetic = 1.0, 25.0, 0.2, 3.0, 1.2
    w = sqrt(k / m)
    breaks = static / (k * V)  #: the time of break-away

    def pull(self, t, q, v):
        return self.k * (self.V * t - q)

    def sliding(self, t):
        """q during the first sliding: m q̈ = k (V t − q) − F_k."""
        s = t - self.breaks
        A, B = self.kinetic / self.k - self.V * self.breaks, -self.V / self.w
        return self.V * t - self.kinetic / self.k + A * cos(self.w * s) + B * sin(self.w * s)


@pytest.mark.parametrize("integrator", ORDERS)
def test_break_away_of_static_friction_keeps_the_order(integrator):
    """Half the step gives 2⁻ᵖ of the error, although the force drops by F_s − F_k at an instant within a step."""
    belt = Belt()
    block, end = slider(StaticKinetic(belt.static, belt.kinetic)), belt.breaks + 0.5
    errors = []
    for dt in (0.04, 0.02, 0.01):
        run = block.simulate([0.0], [0.0], end, belt.pull, integrator=integrator, dt=dt)
        errors.append(abs(run.q[-1, 0] - belt.sliding(end)))
    for larger, smaller in pairwise(errors):
        assert log2(larger / smaller) == pytest.approx(ORDERS[integrator], abs=0.15)


@pytest.mark.parametrize("integrator", ["dop853", "radau"])
def test_break_away_is_within_the_tolerance_of_adaptive_steps(integrator):
    belt = Belt()
    end = belt.breaks + 0.5
    run = slider(StaticKinetic(belt.static, belt.kinetic)).simulate([0.0], [0.0], end, belt.pull, integrator=integrator)
    assert run.q[-1, 0] == pytest.approx(belt.sliding(end), abs=3e-9)


def test_stick_slip_has_the_period_of_the_closed_form():
    """The mass slides for a time s until its velocity is zero, then sticks until the spring is stretched as before."""
    belt = Belt()
    A, w = belt.kinetic / belt.k - belt.V * belt.breaks, belt.w
    s = 2 * (pi - atan2(-A * w, belt.V)) / w
    period = belt.sliding(belt.breaks + s) / belt.V
    moving = Event(lambda t, q, v: v[0] - 1e-6, direction=1, name="slips")
    block = slider(StaticKinetic(belt.static, belt.kinetic))
    run = block.simulate([0.0], [0.0], 4.0, belt.pull, dt=5e-3, events=moving)
    assert len(run.events) >= 3
    np.testing.assert_allclose(np.diff([e.t for e in run.events]), period, atol=1e-7)


@pytest.mark.parametrize("law", [Coulomb(1.0), Stribeck(1.5, 1.0, 0.2, 0.1), StaticKinetic(1.5, 1.0)], ids=str)
def test_two_coupled_joints_that_stick_and_break_away_converge_in_fourth_order(law):
    """The joints stick and slide in turn; the reference is the same run with a tenth of the step."""
    arm = ts.robots.two_link().with_friction({"joint1": Coulomb(3.0), "joint2": law}).with_gravity((0, 0, 0))

    def push(t, q, v):
        return [6 * sin(2 * t), 2.5 * sin(3.3 * t)]

    def end(dt):
        return arm.simulate([0.0, 0.5], [0.0, 0.0], 1.6, push, dt=dt).q[-1]

    exact = end(1e-3)
    errors = [np.abs(end(dt) - exact).max() for dt in (0.04, 0.02)]
    assert errors[0] / errors[1] > 8  # at least third order: the steps are split at different times
    assert errors[1] < 1e-5


def test_joint_leaves_its_stop_when_the_stop_force_becomes_zero():
    """2 m g sin t lifts a body from t = π/6 on: fourth order, although the step begins on the stop."""
    start, end = asin(0.5), 1.1
    exact = 2 * G * (sin(start) - sin(end) + (end - start) * cos(start)) - G * (end - start) ** 2 / 2
    body, errors = slider(mass=2.0, axis=(0, 0, 1), lower=0.0, upper=10.0), []
    for dt in (0.1, 0.05):
        run = body.with_stops(0.0).simulate([0.0], [0.0], end, lambda t, q, v: [4 * G * sin(t)], dt=dt)
        assert (run.q[run.t < start] == 0).all()
        errors.append(abs(run.q[-1, 0] - exact))
    assert log2(errors[0] / errors[1]) > 3.7
    assert run.events == []  # no impact


@pytest.mark.parametrize("integrator", ["rk4", "midpoint", "dop853"])
@pytest.mark.parametrize("dt", [0.25, 0.05])
@pytest.mark.parametrize("over", [1e-2, 1e-6])
def test_impact_at_the_apex_within_one_step_is_found(integrator, dt, over):
    """Thrown up at 1 m/s, apex 1/2g: a stop slightly below the apex has an impact, one slightly above has none."""
    apex, e = 0.5 / G, 0.5
    fast = sqrt(2 * G * over)
    run = (
        slider(axis=(0, 0, 1), lower=-10.0, upper=apex - over)
        .with_stops(e)
        .simulate([0.0], [1.0], 0.25, integrator=integrator, dt=dt)
    )
    assert [x.name for x in run.events][:1] == ["rail: upper stop"]
    assert run.events[0].t == pytest.approx((1 - fast) / G, abs=1e-9)
    assert run.q.max() <= apex - over
    left = 0.25 - run.events[0].t
    assert run.q[-1, 0] == pytest.approx(apex - over - e * fast * left - G * left**2 / 2, abs=1e-8)
    above = slider(axis=(0, 0, 1), lower=-10.0, upper=apex + over)
    assert above.with_stops(e).simulate([0.0], [1.0], 0.25, integrator=integrator, dt=dt).events == []


@pytest.mark.parametrize("integrator", ["rk4", "dop853"])
def test_impact_lasting_a_hundredth_of_a_step_is_found(integrator):
    """2 µm before its stop, at 0.074 m/s and pulled back by 440 m/s²: beyond the stop at 34–303 µs of a step of 15 ms."""
    body = slider(lower=-1.0, upper=2e-6)
    run = body.with_stops(0.5).simulate([0.0], [0.074], 0.015, [-440.0], integrator=integrator, dt=0.015)
    times = np.roots([-220.0, 0.074, -2e-6])
    assert run.events[0].t == pytest.approx(times.min(), abs=1e-9)
    assert run.q.max() <= 2e-6


def test_joint_with_friction_on_its_stop_leaves_when_the_force_exceeds_friction():
    """On a lower stop without contact force and with friction F, the joint leaves when the upward force exceeds F."""
    body = slider(StaticKinetic(2.0, 1.0), lower=0.0, upper=10.0)
    run = body.with_stops(0.0).simulate([0.0], [0.0], 2.0, lambda t, q, v: [2 * t - 1], dt=0.01)
    breaks = 1.5
    assert (run.q[run.t < breaks] == 0).all()
    assert run.v[-1, 0] == pytest.approx(2.0**2 - breaks**2 - 2 * (2.0 - breaks), abs=1e-8)


def test_sampled_forces_decide_the_mode_at_each_tick():
    """Forces of 5 N and −5 N in turn, constant for 0.1 s, against friction of 2 N: exact parabolas for every dt."""
    turn = SampledController(lambda t, q, v: [5.0 if round(t * 10) % 2 == 0 else 0.0], 10)
    run = slider(Coulomb(2.0)).simulate([0.0], [0.0], 0.4, turn, dt=0.03)
    # 3 m/s² for 0.1 s, then −2 m/s² for 0.1 s, twice: v = 0.3, 0.1, 0.4, 0.2
    assert run.v[-1, 0] == pytest.approx(0.2, abs=1e-12)
    at = [float(run.v[np.argmin(np.abs(run.t - t)), 0]) for t in (0.1, 0.2, 0.3)]
    np.testing.assert_allclose(at, [0.3, 0.1, 0.4], atol=1e-12)


def test_pendulum_with_dry_friction_stops_where_friction_holds_it():
    """It reverses at v = 0 and sticks permanently once m g l sin q is below F: |q| ≤ asin(F/m g l)."""
    swing = (
        ts.Builder("p").link("g").link("b", mass=1, com=(0, 0, -1)).joint("j", "continuous", "g", "b", axis=(0, 1, 0)).build()
    ).with_friction({"j": StaticKinetic(0.5, 0.3)})
    run = swing.simulate([0.6], [0.0], 20.0, dt=1e-2, events=Event(lambda t, q, v: v[0], name="turn"))
    assert run.v[-1, 0] == 0
    assert abs(run.q[-1, 0]) <= asin(0.5 / G)
    turns = [0.6, *(float(e.q[0]) for e in run.events)]
    assert len(turns) > 5
    for start, end in pairwise(turns):  # each half swing loses 0.3 J per radian
        assert G * (cos(end) - cos(start)) == pytest.approx(0.3 * abs(end - start), abs=1e-6)


def test_linkage_rests_on_redundant_stops():
    """Crank and rocker of a four-bar reach stops at the same time: the stop forces are not unique, the motion is."""
    linkage = ts.mechanisms.four_bar()
    free = linkage.simulate(linkage.neutral(), np.zeros(3), 0.3, dt=2e-3)
    crank, _, rocker = free.q[-1]
    limits = {"crank": (crank, 0.5), "rocker": (-0.5, rocker)}
    joints = [
        replace(j, kind=Revolute(j.kind.axis), lower=limits[j.name][:1], upper=limits[j.name][1:]) if j.name in limits else j
        for j in linkage.description.joints
    ]
    stopped = ts.Robot(replace(linkage.description, joints=tuple(joints)))
    for integrator in ("rk4", "dop853"):
        run = stopped.with_stops(0.0).simulate(linkage.neutral(), np.zeros(3), 1.0, dt=2e-3, integrator=integrator)
        np.testing.assert_allclose(run.q[-1], free.q[-1], atol=1e-8)
        np.testing.assert_allclose(run.v[-1], 0, atol=1e-8)
        assert {e.name for e in run.events} <= {"crank: lower stop", "rocker: upper stop"}
        assert len(run.events) <= 4
