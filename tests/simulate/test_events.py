"""Events and hard stops at the same time."""

from __future__ import annotations

from itertools import product

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
    run = rails(delay).with_stops(restitution).simulate([0, 0], [1.0, 1.0], 1.5, integrator=integrator, dt=7e-3)
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


@pytest.mark.parametrize("integrator", ["euler", "rk4", "midpoint", "dop853", "rk45", "lsoda", "radau"])
def test_event_at_the_end_of_a_step_is_listed_once(integrator):
    """The function is zero, exactly or to rounding, where one step ends and the next begins: one step owns the crossing."""
    free = rails().with_gravity((0, 0, 0))
    steps, places = (1 / 64, 0.01, 0.05, 0.007), (0.25, 0.5, 0.1, 0.3)
    for dt, x, v, direction, sign in product(steps, places, (1.0, -0.5), (-1, 0, 1), (1, -1)):
        event = Event(lambda t, q, w, x=x, s=sign: s * (x - q[0]), direction=direction, terminal=x == 0.5, name="x")
        start = [0.0 if v > 0 else 2 * x, 0.0]
        run = free.simulate(start, [v, 0.0], x / abs(v) + 0.1, events=event, dt=dt, integrator=integrator)
        passes = int(direction == 0 or direction == -np.sign(sign * v))
        np.testing.assert_allclose([e.t for e in run.events], [x / abs(v)] * passes, rtol=1e-13)


@pytest.mark.parametrize("direction", [-1, 0, 1])
def test_event_whose_function_is_zero_at_the_start_has_not_passed(direction):
    """q leaves zero at the initial time; or it stays at zero for ever."""
    for v in (1.0, -1.0, 0.0):
        event = Event(lambda t, q, w: q[0], direction=direction)
        assert rails().with_gravity((0, 0, 0)).simulate([0, 0], [v, 0], 0.1, events=event, dt=1 / 64).events == []


@pytest.mark.parametrize("direction", [-1, 0, 1])
def test_event_that_leaves_zero_and_returns_within_the_first_step_is_listed(direction):
    """A body is thrown up from zero and returns after 0.06 s, in one step of 0.1 s."""
    build = ts.Builder("rail").link("ground").link("a", mass=1.0).joint("x", "prismatic", "ground", "a", axis=(0, 0, 1))
    sign = -1.0 if direction > 0 else 1.0
    event = Event(lambda t, q, v: sign * q[0], direction=direction)
    run = build.build().simulate([0.0], [0.03 * 9.81], 0.1, events=event, dt=0.1)
    np.testing.assert_allclose([e.t for e in run.events], [0.06], rtol=1e-12)


def test_event_function_that_jumps_is_located_in_few_steps():
    """A function of two values: the time of the jump, to rounding, without many evaluations."""
    calls = []
    event = Event(lambda t, q, v: calls.append(t) or float(t < 0.0123), name="jump")
    run = rails().simulate([0, 0], [0.0, 0.0], 0.05, events=event, dt=0.01)
    assert [e.t for e in run.events] == pytest.approx([0.0123], abs=1e-15)
    assert len(calls) < 200


def test_event_on_a_linkage_is_listed_once():
    """Projection onto the loop moves the state by rounding after the crossing."""
    linkage = ts.mechanisms.four_bar()
    q, v = linkage.neutral(), np.zeros(linkage.nv)
    reach = np.abs(linkage.simulate(q, v, 0.4, dt=0.01).q[:, 0] - q[0]).max()
    for share in np.linspace(0.05, 0.95, 10):
        event = Event(lambda t, x, v, level=share * reach: abs(x[0] - q[0]) - level, direction=1)
        assert len(linkage.simulate(q, v, 0.4, events=event, dt=0.01).events) == 1
