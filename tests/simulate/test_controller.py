"""ts.Controller: a function with its parameters and memory, in rollouts and simulations."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.actuators import Lag
from torsor.errors import ArgumentError
from torsor.scalar import sin

ARM, DT = ts.robots.two_link(), 0.01
START = [0.0, 0.0], [0.0, 0.0]


def pi(q, v, t, memory, kp, goal):
    e = [x - y for x, y in zip(goal, q, strict=True)]
    tau = [kp * x + m - 3 * y + sin(5 * t) for x, m, y in zip(e, memory, v, strict=True)]
    return tau, [m + 0.2 * x for m, x in zip(memory, e, strict=True)]


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4"])
@pytest.mark.parametrize("robot", [ARM, ARM.with_actuators({"joint1": Lag(0.03)})], ids=["bare", "actuator"])
def test_simulate_with_a_controller_is_the_rollout_with_it(robot, integrator):
    own = ts.Controller(pi, parameters={"kp": 20.0, "goal": np.array([0.4, -0.3])}, memory=[0.1, -0.2])
    run = robot.rollout([0.1, 0.2], [0.3, -0.1], dt=DT, steps=25, integrator=integrator, controller=own)
    result = robot.simulate([0.1, 0.2], [0.3, -0.1], 25 * DT, own, dt=DT, integrator=integrator)
    np.testing.assert_allclose(result.q[1:], run.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(result.v[1:], run.v, rtol=0, atol=1e-11)


def test_simulate_with_a_controller_without_memory_in_adaptive_steps():
    own = ts.Controller(lambda q, v, k: [-k * x - y for x, y in zip(q, v, strict=True)], {"k": ts.simulate.per_robot([5.0])})
    result = ARM.simulate([0.1, 0.2], [0, 0], 0.2, own, integrator="dop853")
    plain = ARM.simulate([0.1, 0.2], [0, 0], 0.2, lambda t, q, v: -5.0 * q - v, integrator="dop853")
    np.testing.assert_array_equal(result.q, plain.q)


def test_a_second_rollout_begins_with_the_same_memory():
    own = ts.Controller(lambda memory: (memory, [x + 1 for x in memory]), memory=np.zeros(2))
    for _ in range(2):
        assert ARM.rollout([0, 0], [0, 0], dt=DT, steps=2, controller=own).memory.tolist() == [[1, 1], [2, 2]]
        first = ARM.simulate([0, 0], [0, 0], 2 * DT, own, dt=DT, integrator="semi_implicit")
        np.testing.assert_array_equal(first.tau[:2], [[0, 0], [1, 1]])


@pytest.mark.parametrize(("make", "words"), [
    (lambda: ts.Controller(3.0), "controller must be a function of q, v, t, u, memory and parameters, not float"),
    (lambda: ts.Controller(ts.Controller(pi)), "must be a function .* not Controller"),
    (lambda: ts.Controller(pi, [1.0]), "parameters must be a dict from names to values, not list"),
    (lambda: ARM.rollout(*START, dt=DT, steps=1, controller=pi, parameters={}), r"ts.Controller\(function, parameters="),
    (lambda: ARM.rollout(*START, dt=DT, steps=1, memory=[0.0]), r"ts.Controller\(function, memory="),
    (lambda: ARM.simulate([0, 0], [0, 0], 1.0, ts.Controller(pi, {"kp": 1.0})), "'goal', neither one of"),
    (lambda: ARM.simulate([0, 0], [0, 0], 1.0, ts.Controller(lambda u: u)), "no controls are given"),
    (lambda: ARM.simulate([0, 0], [0, 0], 1.0, ts.Controller(lambda memory: (memory, memory), memory=np.zeros((3, 2)))),
     "simulate has one robot"),
    (lambda: ARM.simulate([0, 0], [0, 0], 1.0, ts.Controller(lambda k: k, {"k": ts.simulate.per_step(np.zeros((5, 2)))})),
     "one robot and its own steps"),
    (lambda: ARM.simulate([0, 0], [0, 0], 1.0, ts.Controller(lambda q: [0.0])), "returns 1 numbers; the robot has 2"),
])  # fmt: skip
def test_controllers_that_are_refused(make, words):
    with pytest.raises(ArgumentError, match=words):
        make()
