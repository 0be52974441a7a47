"""DOP853 under a law in Python: SciPy's own steps, with one call of the law per stage; work by the weights of the method."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import torsor as ts
from tests.tolerance import assert_close
from torsor.simulate import energy_flows

ARM = ts.robots.two_link()
TOLERANCE = 1e-8
DOP853 = ts.Adaptive("dop853", tolerance=TOLERANCE)


def law(t, q, v):
    return np.array([20 * np.sin(3 * t), 5.0]) - 8 * q - 2 * v


def peer(duration, tolerance=TOLERANCE, more=()):
    """SciPy's DOP853 over forward dynamics; the last entry is the work of the law."""

    def rate(t, y):
        q, v = y[:2], y[2:4]
        tau = law(t, q, v)
        return np.concatenate([v, ARM.forward_dynamics(q, v, tau), [tau @ v][: len(y) - 4]])

    options = {"rtol": tolerance, "atol": tolerance}
    return solve_ivp(rate, (0, duration), [*np.zeros(4), *more], method="DOP853", dense_output=bool(more), **options)


def test_steps_are_those_of_scipy():
    result, expected = ARM.simulate(np.zeros(2), np.zeros(2), 2.0, law, integrator=DOP853), peer(2.0)
    assert result.info["steps"] == len(expected.t) - 1
    np.testing.assert_allclose(result.t[::4], expected.t, rtol=0, atol=1e-6)  # rounding in small errors changes the lengths
    np.testing.assert_allclose([*result.q[-1], *result.v[-1]], expected.y[:, -1], rtol=0, atol=1e-9)


def test_law_is_called_once_per_stage():
    calls = []
    counted = lambda t, q, v: calls.append(t) or law(t, q, v)  # noqa: E731
    ARM.simulate(np.zeros(2), np.zeros(2), 2.0, counted, integrator=DOP853, record="last")
    assert len(calls) <= peer(2.0).nfev + 8


@pytest.mark.parametrize("record", ["all", 7, "last"])
def test_work_up_to_each_record_is_the_integral_of_power(record):
    result = ARM.simulate(np.zeros(2), np.zeros(2), 2.0, law, integrator=DOP853, record=record)
    work = peer(2.0, 1e-12, [0.0]).sol(result.t)[4]
    np.testing.assert_allclose(result.audit().work, work, rtol=0, atol=50 * TOLERANCE * np.abs(work).max())


def test_work_up_to_an_event_that_ends_a_step_early():
    bent = ts.simulate.Event(lambda t, q, v: q[1] - 0.1, terminal=True)
    result = ARM.simulate(np.zeros(2), np.zeros(2), 2.0, law, integrator=DOP853, events=bent)
    assert 0 < result.t[-1] < 2
    work = peer(2.0, 1e-12, [0.0]).sol(result.t)[4]
    np.testing.assert_allclose(result.audit().work, work, rtol=0, atol=50 * TOLERANCE * np.abs(work).max())


def test_rotations_of_a_free_body_are_those_of_another_method():
    body = ts.robots.quadruped()
    q, v = body.neutral(), np.random.default_rng(0).normal(size=body.nv)
    ends = [
        body.simulate(q, v, 0.3, lambda t, q, v: -0.05 * v, integrator=ts.Adaptive(method, 1e-9), record="last")
        for method in ("dop853", "rk45")
    ]
    np.testing.assert_allclose(ends[0].q[-1], ends[1].q[-1], rtol=0, atol=1e-7)
    np.testing.assert_allclose(ends[0].v[-1], ends[1].v[-1], rtol=0, atol=1e-6)


def test_a_force_that_is_not_finite_is_an_error():
    with pytest.raises(ts.simulate.SimulationStopped, match=r"tau\[0\] is nan"):
        ARM.simulate(np.zeros(2), np.zeros(2), 1.0, lambda t, q, v: [np.nan if t > 0.3 else 0.0, 0.0], integrator=DOP853)


@pytest.mark.parametrize("record", ["last", "all"])
def test_law_is_called_once_a_stage_and_once_a_record_within_a_step(record):
    """4 calls before the first step; 12 stages of each attempt; 3 more stages and 3 records within each accepted step."""
    calls = []

    def law(t, q, v):
        calls.append(t)
        return -3.0 * v

    run = ARM.simulate([0.3, 0.1], [0.0, 0.0], 1.0, law, integrator="dop853", dt=1.0, record=record)
    within = 6 * run.info["steps"] if record == "all" else 0
    attempts, rest = divmod(len(calls) - 4 - within, 12)
    assert rest == 0
    assert run.info["steps"] <= attempts < 2 * run.info["steps"]
    assert len(run.t) == (1 + 4 * run.info["steps"] if record == "all" else 2)
    assert_close(run.tau, -3.0 * run.v)


def test_law_that_writes_into_its_arguments_and_keeps_them_changes_nothing():
    kept = []

    def law(t, q, v):
        tau = -3.0 * v - q
        q[:], v[:] = np.nan, np.nan
        kept.append((q, v, tau))
        return tau

    run, expected = (
        ARM.simulate([0.3, 0.1], [0.0, 0.0], 0.5, f, integrator="dop853") for f in (law, lambda t, q, v: -3.0 * v - q)
    )
    kept[-1][2][:] = np.nan
    for name in ("t", "q", "v", "tau"):
        np.testing.assert_array_equal(getattr(run, name), getattr(expected, name))
    np.testing.assert_array_equal(run.audit().work, expected.audit().work)


def test_work_is_summed_when_it_is_read_and_survives_pickling(monkeypatch):
    summed = []
    monkeypatch.setattr(energy_flows, "powers", lambda run, powers=energy_flows.powers: summed.append(run) or powers(run))
    run = ARM.simulate(np.zeros(2), np.zeros(2), 2.0, law, integrator=DOP853)
    assert not summed
    again = pickle.loads(pickle.dumps(run))
    assert len(summed) == 1
    for name in ("work", "lost"):
        np.testing.assert_array_equal(run.summed_flows[name], again.summed_flows[name])
    assert np.abs(run.audit().discrepancy).max() < 1e-6
    assert len(summed) == 1


def test_an_interrupted_sum_of_work_is_computed_at_the_next_call(monkeypatch):
    run, powers, wanted = ARM.simulate(np.zeros(2), np.zeros(2), 2.0, law, integrator=DOP853), energy_flows.powers, []

    def interrupted(run):
        if not wanted:
            wanted.append(1)
            raise KeyboardInterrupt
        return powers(run)

    monkeypatch.setattr(energy_flows, "powers", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run.audit()
    assert np.abs(run.audit().discrepancy).max() < 1e-6
