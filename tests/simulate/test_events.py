"""Events and hard stops at the same time."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.simulate import Event


def rails(delay=0.0):
    """Two bodies of 1 kg on separate rails, each between stops; the upper stop of the second is further away."""
    build = ts.Builder("rails").link("ground").link("a", mass=1.0).link("b", mass=1.0)
    build.joint("x", "prismatic", "ground", "a", axis=(1, 0, 0), lower=-1.0, upper=1.0)
    return build.joint("y", "prismatic", "ground", "b", axis=(0, 1, 0), lower=-1.0, upper=1.0 + delay).build()


@pytest.mark.parametrize("integrator", ["rk4", "midpoint", "dop853"])
@pytest.mark.parametrize("delay", [0.0, 3e-11, 5e-10, 1e-7])
@pytest.mark.parametrize("restitution", [1.0, 0.5])
def test_simultaneous_impacts_at_two_stops_are_both_listed_and_both_bounce(integrator, delay, restitution):
    """At 1 m/s from the middle: impacts at 1 s and 1 s + delay, then −e m/s."""
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
    assert run.t[-1] == run.events[0].t  # one of them is terminal and ends the run


@pytest.mark.parametrize("integrator", ["rk4", "midpoint", "dop853"])
@pytest.mark.parametrize("delay", [1e-16, 3e-11, 9e-11])
def test_an_event_just_after_a_terminal_event_is_listed(integrator, delay):
    """The terminal event crosses zero at the end of a step, 0.01 s; the other one less than 1e-10 s later."""
    events = [Event(lambda t, q, v: t - 0.01, name="first", terminal=True)]
    events += [Event(lambda t, q, v: t - 0.01 - delay, name="second"), Event(lambda t, q, v: t - 0.01 - 3e-10, name="late")]
    run = rails().simulate([0, 0], [1.0, 1.0], 1.5, events=events, integrator=integrator, dt=0.01)
    assert [e.name for e in run.events] == ["first", "second"]
    assert 0.01 <= run.t[-1] <= 0.01 + 2e-10
