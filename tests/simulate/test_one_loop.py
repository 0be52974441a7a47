"""Fixed steps of a simulation whose forces are known or recorded are those of a rollout: one kernel, the same bits."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest

import torsor as ts
from torsor.simulate.control import pd as pd_law
from torsor.simulate.quantities import QUANTITIES

DT, STEPS = 1e-3, 40
PD = {"target": np.array([0.3, -0.2]), "kp": 20.0, "kd": 2.0}
TABLE = np.random.default_rng(1).normal(size=(STEPS, 2))


def never(t, q, v):
    """An event that does not happen: its run is in Python."""
    return 1.0


def arm():
    return ts.robots.two_link()


def linkage():
    return ts.mechanisms.four_bar()


def swaying():
    return arm().with_base_motion(lambda t: (ts.scalar.sin(3 * t) * 0.1, 0, 0))


CASES = {
    "no control": (arm, {}, {}),
    "constant": (arm, {"controls": TABLE[0]}, {"control": TABLE[0]}),
    "table": (arm, {"controls": TABLE}, {"control": TABLE}),
    "wrench": (arm, {"wrenches": {"tip": [0, 0, 1.0, 2.0, 0, 0]}}, {"wrenches": {"tip": [0, 0, 1.0, 2.0, 0, 0]}}),
    "linkage": (linkage, {}, {}),
    "moving base": (swaying, {}, {}),
}


def start(robot):
    q = robot.assemble(robot.neutral()) if robot.loops else np.array([0.4, -0.7])
    return q, np.zeros(robot.nv)


@pytest.mark.parametrize("name", CASES)
def test_simulate_and_rollout_are_one_kernel(name):
    make, of_rollout, of_simulation = CASES[name]
    robot = make()
    q, v = start(robot)
    run = robot.rollout(q, v, **of_rollout, dt=DT, steps=STEPS, integrator="rk4")
    kernels = robot.kernels.of(QUANTITIES)
    made = len(kernels._scans), len(kernels._kernels)
    result = robot.simulate(q, v, DT * STEPS, **of_simulation, dt=DT)
    assert (len(kernels._scans), len(kernels._kernels)) == made == (1, 0)
    np.testing.assert_array_equal(result.q[1:], run.q)
    np.testing.assert_array_equal(result.v[1:], run.v)
    slow = robot.simulate(q, v, DT * STEPS, **of_simulation, dt=DT, events=never)
    np.testing.assert_allclose(result.q, slow.q, rtol=0, atol=1e-11)
    for recorded in ("t", "tau"):
        np.testing.assert_array_equal(getattr(result, recorded), getattr(slow, recorded))
    assert result.wrenches.keys() == slow.wrenches.keys()


@pytest.mark.parametrize("given", ["parameters", "bound"])
def test_a_recorded_controller_is_one_kernel(given):
    robot = arm()
    q, v = start(robot)
    pd = pd_law(robot)
    control = ts.Controller(pd, PD) if given == "parameters" else partial(pd, **PD)
    run = robot.rollout(q, v, dt=DT, steps=STEPS, integrator="rk4", controller=control)
    scans = len(robot.kernels.of(QUANTITIES)._scans)
    result = robot.simulate(q, v, DT * STEPS, control, dt=DT)
    assert len(robot.kernels.of(QUANTITIES)._scans) == scans == 1
    np.testing.assert_array_equal(result.q[1:], run.q)
    law = robot.simulate(q, v, DT * STEPS, lambda t, q, v: PD["kp"] * (PD["target"] - q) - PD["kd"] * v, dt=DT)
    np.testing.assert_allclose(result.q, law.q, rtol=0, atol=1e-13)
    np.testing.assert_allclose(result.tau, law.tau, rtol=0, atol=1e-11)


def test_a_controller_that_cannot_be_recorded_runs_over_floats():
    robot = arm()
    control = ts.Controller(lambda t, q: [math.sin(t) if q[0] > 0 else 1.0, 0.0])
    result = robot.simulate([0.4, -0.7], [0, 0], DT * STEPS, control, dt=DT)
    plain = robot.simulate([0.4, -0.7], [0, 0], DT * STEPS, lambda t, q, v: [math.sin(t) if q[0] > 0 else 1.0, 0.0], dt=DT)
    np.testing.assert_array_equal(result.q, plain.q)
    np.testing.assert_array_equal(result.t, plain.t)


def test_the_time_goes_on_where_steps_do_not_divide_the_duration():
    robot = swaying()
    for duration in (0.0405, 9.0005):
        result = robot.simulate([0.4, -0.7], [0, 0], duration, dt=DT, record="last")
        slow = robot.simulate([0.4, -0.7], [0, 0], duration, dt=DT, record="last", events=never)
        np.testing.assert_allclose(result.q, slow.q, rtol=0, atol=1e-9)


def test_a_linkage_passes_singular_positions_as_in_python():
    """Equal cranks: the bars align in a turn, where the rows of the loop lose rank."""
    robot, q, v = ts.mechanisms.n_four_bar(), np.zeros(3), np.array([-1.0, 1.0, -1.0])
    result = robot.simulate(q, v, 2.0, dt=DT)
    slow = robot.simulate(q, v, 2.0, dt=DT, events=never)
    level = np.abs(np.sin(result.q[:, 0])) > 0.9999
    assert level.any()
    np.testing.assert_array_equal(result.t, slow.t)
    np.testing.assert_allclose(result.q, slow.q, rtol=0, atol=1e-8)
    np.testing.assert_allclose(result.energy, result.energy[0], atol=1e-5)


def test_overflow_in_the_first_step_has_the_result_so_far():
    with pytest.raises(ts.simulate.SimulationStopped, match="step 0") as stopped:
        arm().simulate([0.1, 0.2], [1e160, -1e160], 1.0)
    assert stopped.value.result.t.tolist() == [0.0]
