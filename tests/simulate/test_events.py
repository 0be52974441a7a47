"""Events and stops at the same time; the audit's estimate of its own error."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest

import torsor as ts
from torsor.simulate import Event, SampledController


def rails(delay=0.0):
    """Two bodies of 1 kg on rails of their own, each between stops; the second one's upper stop is further away."""
    build = ts.Builder("rails").link("ground").link("a", mass=1.0).link("b", mass=1.0)
    build.joint("x", "prismatic", "ground", "a", axis=(1, 0, 0), lower=-1.0, upper=1.0)
    return build.joint("y", "prismatic", "ground", "b", axis=(0, 1, 0), lower=-1.0, upper=1.0 + delay).build()


@pytest.mark.parametrize("integrator", ["rk4", "midpoint", "dop853"])
@pytest.mark.parametrize("delay", [0.0, 3e-11, 5e-10, 1e-7])
@pytest.mark.parametrize("restitution", [1.0, 0.5])
def test_two_stops_struck_at_once_are_both_listed_and_both_bounce(integrator, delay, restitution):
    """At 1 m/s from the middle: struck at 1 s and 1 s + delay, back at e m/s."""
    run = rails(delay).simulate([0, 0], [1.0, 1.0], 1.5, limits=restitution, integrator=integrator, dt=7e-3)
    assert [e.name for e in run.events] == ["x: upper stop", "y: upper stop"]
    np.testing.assert_allclose([e.t for e in run.events], [1.0, 1.0 + delay], atol=3e-10)
    np.testing.assert_allclose(run.v[-1], [-restitution] * 2, rtol=1e-9)
    np.testing.assert_allclose(run.q[-1], 1 - restitution * 0.5, atol=1e-6)
    assert run.audit().impacts == pytest.approx(1 - restitution**2, abs=1e-9)


@pytest.mark.parametrize("integrator", ["rk4", "dop853"])
def test_events_at_the_same_time_are_all_listed(integrator):
    events = [
        Event(lambda t, q, v: q[0] - 0.5, name="first", terminal=True),
        Event(lambda t, q, v: q[1] - 0.5, name="second"),
        Event(lambda t, q, v: 0.5 - t, name="third", direction=-1),
    ]
    run = rails().simulate([0, 0], [1.0, 1.0], 1.5, events=events, integrator=integrator)
    assert [e.name for e in run.events] == ["first", "second", "third"]
    np.testing.assert_allclose([e.t for e in run.events], 0.5, atol=3e-10)
    assert run.t[-1] == run.events[0].t  # the terminal one among them ends the run


@pytest.mark.parametrize("integrator", ["rk4", "midpoint", "dop853"])
@pytest.mark.parametrize("delay", [1e-16, 3e-11, 9e-11])
def test_an_event_just_behind_the_step_that_a_terminal_one_ends_is_listed(integrator, delay):
    """The terminal one passes zero at the end of a step, 0.01 s; the other one after it, but within 1e-10 s."""
    events = [Event(lambda t, q, v: t - 0.01, name="first", terminal=True)]
    events += [Event(lambda t, q, v: t - 0.01 - delay, name="second"), Event(lambda t, q, v: t - 0.01 - 3e-10, name="late")]
    run = rails().simulate([0, 0], [1.0, 1.0], 1.5, events=events, integrator=integrator, dt=0.01)
    assert [e.name for e in run.events] == ["first", "second"]
    assert 0.01 <= run.t[-1] <= 0.01 + 2e-10


# -- the audit and the records -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def arm():
    return ts.robots.two_link()


def push(t, q, v):
    return [0, 0, 0, np.cos(5 * t), 0, 0]


CASES = {
    "wrench": {"wrenches": {"tip": push}},
    "controller": {"control": lambda t, q, v: 20 * (0.5 - q) - 5 * v},
    "stops": {"control": lambda t, q, v: np.array([8 * np.sin(2 * t), 0.0]), "limits": 0.6},
}


def audit_of(robot, every, control=None, **words):
    return robot.simulate([0.1, 0.1], [0, 0], 2.0, control, record=every, **words).audit()


@pytest.mark.parametrize("case", CASES)
def test_audit_estimates_the_share_of_the_records(arm, case):
    """Its discrepancy with few records, less that with all of them, is the error that the records make."""
    robot = ts.robots.cart_pole() if case == "stops" else arm
    every_step = audit_of(robot, 1, **CASES[case])
    for every in (10, 20):
        audit = audit_of(robot, every, **CASES[case])
        there = np.searchsorted(every_step.t, audit.t)
        error = np.abs(audit.discrepancy - every_step.discrepancy[there]).max()
        assert error > 10 * every_step.worst  # the records' own, then
        assert error / 4 < audit.quadrature < 4 * error
    assert every_step.quadrature < 2 * every_step.worst + 1e-9


def test_audit_of_held_forces_has_no_share_of_the_records_between_ticks(arm):
    law = SampledController(lambda t, q, v: -20 * q - 5 * v, 50)
    few, many = (audit_of(arm, every, law) for every in (20, 40))
    assert few.quadrature == 0
    assert few.worst < 1e-7  # the work of a force that is constant between records is exact
    assert many.quadrature > 0.2 * many.worst > 1e-3  # every second tick is between two records


def test_audit_with_too_few_records_knows_no_share(arm):
    run = arm.simulate([0.1, 0.1], [0, 0], 0.1, lambda t, q, v: -q, record="last")
    assert isnan(run.audit().quadrature)
    assert "an unknown part of it from the distance of the records" in str(run.audit())
    assert arm.simulate([0.1, 0.1], [0, 0], 0.1, record="last").audit().quadrature == 0
