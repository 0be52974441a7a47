"""Singular positions of linkages under adaptive integrators: found where there is one, and nowhere else."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import torsor as ts
from torsor.simulate import Event, SimulationStopped
from torsor.simulate.adaptive import METHODS
from torsor.simulate.singular import SingularPositions

night = pytest.mark.night
WAYS = ["projection", (50.0, 50.0), None]


def squares(n):
    """The N four-bar of the multibody benchmarks, started as they start it: flat, and singular, after some 0.7 s."""
    robot = ts.mechanisms.n_four_bar(n)
    q = robot.neutral()
    return robot, q, robot.constrained().project_velocity(q, np.resize([-1.0, 1.0], robot.nv))


@pytest.fixture(scope="module")
def flat():
    """The time of the flat position, rod0 level, between two steps of a fixed-step run: there is no acceleration at it."""
    robot, q, v = squares(2)
    run = robot.simulate(q, v, 1.0, dt=2e-3)
    k = int(np.argmax(run.q[:, 0] < -np.pi / 2))
    return float(np.interp(-np.pi / 2, run.q[[k, k - 1], 0], run.t[[k, k - 1]]))


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("integrator", ["dop853", *(pytest.param(m, marks=night) for m in ("rk45", "lsoda", "radau"))])
def test_adaptive_integrator_stops_before_a_singular_position(integrator, way, flat):
    robot, q, v = squares(2)
    with pytest.raises(SimulationStopped, match=r"passes a singular position at t = 0\.71") as caught:
        robot.simulate(q, v, 3.0, integrator=integrator, stabilization=way)
    assert flat - 0.06 < caught.value.time < flat
    assert float(str(caught.value).partition("position at t = ")[2].split()[0]) == pytest.approx(flat, abs=2e-3)
    assert caught.value.result.audit().worst < 1e-4  # of 36 J in motion


def test_terminal_event_before_the_singular_position_comes_first():
    robot, q, v = squares(1)
    near = Event(lambda t, q, v: q[0] + np.pi / 2 - 0.05, terminal=True)
    run = robot.simulate(q, v, 3.0, integrator="rk45", events=near)
    assert len(run.events) == 1
    assert run.q[-1, 0] == pytest.approx(0.05 - np.pi / 2, abs=1e-8)


def test_unsolved_step_near_a_singular_position_recommends_no_adaptive_integrator():
    robot, q, v = squares(2)
    with pytest.raises(SimulationStopped, match="singular position") as caught:
        robot.simulate(q, v, 1.0, integrator="midpoint")
    assert "adaptive" not in str(caught.value)


ORDINARY = ["four_bar", "slider_crank", "five_bar", pytest.param("stewart_platform", marks=night)]


@pytest.mark.parametrize("name", ORDINARY)
@pytest.mark.parametrize("integrator", [pytest.param(m, marks=() if m == "rk45" else night) for m in METHODS])
def test_ordinary_linkages_are_simulated_without_an_alarm(name, integrator, request):
    """Their constraint rows keep their rank, whichever way the links turn."""
    robot = getattr(ts.mechanisms, name)()
    q, nightly = robot.assemble(), integrator != "rk45"
    v = 2 * robot.constrained().project_velocity(q, np.ones(robot.nv))
    duration = 0.5 if not nightly or name == "stewart_platform" else 3.0
    for tolerance in (1e-3, 1e-7) if nightly else (1e-5,):
        run = robot.simulate(q, v, duration, integrator=integrator, tolerance=tolerance)
        assert run.t[-1] == duration


def test_near_miss_is_an_alarm_only_if_the_step_does_not_resolve_it():
    """σ(t) of a made-up path: min 0.01 of its ends, once within one step, once over a hundred."""
    held = ts.mechanisms.four_bar().constrained()

    class Watch(SingularPositions):
        def _spectrum(self, t, q):
            return np.stack([np.ones_like(t), np.hypot(t - 0.5, 5e-3)], axis=1)

    def at(t):
        return np.zeros(3), np.zeros(3)

    with pytest.raises(ts.SingularError, match=r"at t = 0\.5"):
        Watch(held).check(0.0, 1.0, at, np.zeros(3))
    watch, ends = Watch(held), np.linspace(0, 1, 401)
    for start, end in pairwise(ends):
        watch.check(start, end, at, np.zeros(3))
