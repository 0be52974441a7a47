"""Simulations that stop early: too many steps, Ctrl-C."""

from __future__ import annotations

import importlib
import pickle
import signal

import numpy as np
import pytest

import torsor as ts
from torsor.errors import ArgumentError
from torsor.simulate import Interrupted, SampledController, SimulationStopped, TooManySteps, adaptive
from torsor.simulate.adaptive import Budget


@pytest.fixture(scope="module")
def arm():
    return ts.robots.two_link()


class Switch:
    """A controller that is discontinuous in the state; counts its calls."""

    def __init__(self):
        self.calls = 0

    def __call__(self, t, q, v):
        self.calls += 1
        return -1e3 * np.sign(q)


# -- a budget of steps -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", ["rk45", "lsoda", pytest.param("dop853", marks=pytest.mark.night)])
def test_adaptive_integrator_that_hardly_advances_is_stopped(arm, integrator):
    law = Switch()
    with pytest.raises(
        SimulationStopped, match=r"1000 adaptive steps advanced by .* s only.*Sampled.*rk4.*max_steps"
    ) as caught:
        arm.simulate([1, 0], [0, 0], 0.3, law, integrator=integrator)
    assert law.calls < 80_000  # 16 of them per step sum the work
    assert isinstance(caught.value.__cause__, TooManySteps)
    assert caught.value.result.t[-1] <= caught.value.time < 1e-6
    assert len(caught.value.result.t) > 100


def test_controller_with_a_rate_is_simulated_to_the_end(arm):
    run = arm.simulate([1, 0], [0, 0], 0.05, SampledController(Switch(), 1000), integrator="rk45")
    assert run.t[-1] == 0.05


def test_evaluations_of_an_adaptive_integrator_are_limited(arm, monkeypatch):
    """Also within one step, which may be rejected many times."""
    monkeypatch.setattr(adaptive, "EVALUATIONS", 1)
    with pytest.raises(SimulationStopped, match="1000 evaluations, allowed by max_steps = 500, are used up"):
        arm.simulate([1, 0], [0, 0], 5.0, integrator=ts.Adaptive("dop853", tolerance=1e-12, max_steps=500))


def test_max_steps_is_the_number_of_steps_allowed(arm):
    whole = arm.simulate([0, 0], [0, 0], 1.0, integrator="rk45")
    steps = whole.info["steps"]
    again = arm.simulate([0, 0], [0, 0], 1.0, integrator=ts.Adaptive("rk45", max_steps=steps))
    np.testing.assert_array_equal(again.q, whole.q)
    with pytest.raises(SimulationStopped, match=f"max_steps = {steps - 1} adaptive steps are used up") as caught:
        arm.simulate([0, 0], [0, 0], 1.0, integrator=ts.Adaptive("rk45", max_steps=steps - 1))
    assert caught.value.step == steps - 1
    np.testing.assert_array_equal(caught.value.result.q[-1], whole.q[-5])  # four records per step
    for wrong in (0, -1, 1.5, True, "many"):
        with pytest.raises(ArgumentError, match="max_steps must be a whole number from 1"):
            arm.simulate([0, 0], [0, 0], 1.0, integrator=ts.Adaptive("rk45", max_steps=wrong))
    with pytest.raises(ArgumentError, match=r"no argument 'max_steps' any more: integrator=ts\.Adaptive"):
        arm.simulate([0, 0], [0, 0], 1.0, max_steps=999)


def test_budget_allows_short_steps_for_a_while_and_in_short_runs():
    """1000 steps of 1e-12 s in 1 s are too short on average; 900 are not, nor are all of them in a run of 1 ns."""
    stiff, t = Budget(10**6, 1.0), 0.0
    for k in range(5000):
        stiff.spend(t)
        t += 1e-12 if k < 900 else 1e-6
    for _ in range(1999):
        stiff.spend(t)
    with pytest.raises(TooManySteps, match="1000 adaptive steps"):
        stiff.spend(t + 1e-9)
    brief = Budget(10**6, 1e-9)
    for k in range(2000):
        brief.spend(k * 1e-12)


# -- Ctrl-C ------------------------------------------------------------------------------------------------------

SECONDS = 20.0  # interrupted before the end
WAYS = {
    "all in machine code": {},
    "a kernel per step": {"control": SampledController(lambda t, q, v: -q, 100)},
    "a kernel per stage": {"control": lambda t, q, v: -q},
    "events": {"events": lambda t, q, v: 1.0 + t},
    "adaptive": {"integrator": "dop853"},
    "first and last": {"record": "last", "control": lambda t, q, v: -q},
    "every tenth": {"record": 10},
}


@pytest.fixture
def interrupt(monkeypatch):
    """Send SIGINT to this process when a simulation has reached a time."""

    def at(time):
        def progress(self, t):
            if t >= time:
                signal.raise_signal(signal.SIGINT)

        monkeypatch.setattr("torsor.support.progress.Progress.__call__", progress)

    return at


@pytest.mark.parametrize("way", WAYS)
def test_ctrl_c_raises_interrupted_with_the_result_so_far(arm, way, interrupt):
    """The rows equal those of a run that was not interrupted."""
    words = {"control": None, "dt": 5e-3, **WAYS[way]}
    control = words.pop("control")
    interrupt(0.5)
    with pytest.raises(KeyboardInterrupt) as caught:
        arm.simulate([0, 0], [0, 0], SECONDS, control, **words)
    stop = caught.value
    assert isinstance(stop, Interrupted)
    assert not isinstance(stop, Exception)
    assert 0.5 <= stop.time <= SECONDS
    assert stop.result.t[-1] == stop.time
    assert (np.diff(stop.result.t) > 0).all()
    interrupt(np.inf)
    whole = arm.simulate([0, 0], [0, 0], stop.time + 0.1, control, **{**words, "record": "all"})
    kept = np.isin(whole.t, stop.result.t[:-1])  # adaptive steps may end at other times
    assert kept.sum() >= (1 if way == "first and last" else 5)
    np.testing.assert_array_equal(whole.q[kept], stop.result.q[np.isin(stop.result.t, whole.t[kept])])


def test_second_ctrl_c_in_a_hanging_controller_keeps_the_rows_before_it(arm):
    """The last state calls the controller once more, which is interrupted again; the rows before it are kept."""

    def hanging(t, q, v):
        if t > 0.05:
            signal.raise_signal(signal.SIGINT)
        return -q

    with pytest.raises(Interrupted) as caught:
        arm.simulate([0, 0], [0, 0], 1.0, hanging)
    assert 0.04 < caught.value.result.t[-1] <= 0.05


def test_ctrl_c_before_the_first_record_is_a_plain_keyboard_interrupt(arm):
    with pytest.raises(KeyboardInterrupt) as caught:
        arm.simulate([0, 0], [0, 0], 1.0, lambda t, q, v: signal.raise_signal(signal.SIGINT))
    assert not isinstance(caught.value, Interrupted)


def test_stopped_and_interrupted_can_be_pickled(arm):
    run = arm.simulate([0, 0], [0, 0], 0.01)
    for error in (SimulationStopped("why", run, 1.0, 2, "joint1"), Interrupted("Ctrl-C", run, 1.0, 2)):
        copy = pickle.loads(pickle.dumps(error))
        assert (str(copy), copy.time, copy.step) == (str(error), 1.0, 2)
        np.testing.assert_array_equal(copy.result.q, run.q)


def test_ctrl_c_in_the_middle_of_a_step_records_no_state_within_it(arm):
    law = lambda t, q, v: -q if t < 0.0203 else signal.raise_signal(signal.SIGINT)  # noqa: E731
    with pytest.raises(Interrupted) as caught:
        arm.simulate([0.3, 0.2], [0, 0], 1.0, law, dt=1e-3)
    clean = arm.simulate([0.3, 0.2], [0, 0], 0.02, lambda t, q, v: -q, dt=1e-3)
    np.testing.assert_array_equal(caught.value.result.q, clean.q)
    assert caught.value.result.t[-1] == pytest.approx(0.02)


@pytest.mark.parametrize(("record", "where"), [("all", "record.Record.extend"), (10, "energy_flows.interval_flows")])
def test_ctrl_c_while_a_chunk_of_steps_is_recorded_leaves_no_gap(arm, record, where, monkeypatch):
    """The chunk was counted before its rows were stored: the record jumped over 8192 steps to the last state."""
    module, *names = where.split(".")
    place = importlib.import_module(f"torsor.simulate.{module}")
    for name in names[:-1]:
        place = getattr(place, name)
    function, calls = getattr(place, names[-1]), []

    def interrupted(*arguments, **words):
        calls.append(1)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)
        return function(*arguments, **words)

    monkeypatch.setattr(place, names[-1], interrupted)
    with pytest.raises(Interrupted) as caught:
        arm.simulate([1, 0], [0, 0], 4.0, dt=1e-4, record=record)
    run = caught.value.result
    assert len(calls) >= 3
    assert 1.0 < run.t[-1] < 4.0
    steps = np.diff(run.t)
    assert steps.max() < 1.5 * steps[0]
    assert run.audit().worst < 1e-8
