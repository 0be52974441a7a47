"""Every public object that holds kernels, locks or caches: pickle and deepcopy keep its results, bit for bit."""

from __future__ import annotations

import copy
import multiprocessing
import pickle

import numpy as np
import pytest

import torsor as ts
from torsor import constraints as C
from torsor import flexible, large, mechanisms, simulate, symbolic

Q, Z, TAU = [0.4, -0.9], [0.1, -0.3], [1.0, 2.0]
BARS, STILL = [0.9, -0.6, 1.2], np.zeros(3)


def sway(t):
    return [0.1 * t * t]


def total(t, q, v):
    return q[0] + v[0]


def arm():
    return ts.robots.two_link()


def plane():
    return arm().constrained(C.point_on_plane("tip", (1, 0, 0), through=(1, 0, 0)))


def bars():
    return mechanisms.four_bar()


def closed(robot):
    return robot.assemble(BARS)


def motion(held):
    return held.forward_dynamics(Q, Z, TAU)


def recorded(result):
    return result.q, result.v, result.energy


SPRING = flexible.SeriesSpring(100.0, rotor_inertia=0.1)
START = np.zeros((3, 2))


def soft():
    return arm().with_springs(SPRING)


#: maker, and numbers that the object computes
OBJECTS = {
    "robot": (arm, lambda x: x.forward_dynamics(Q, Z, TAU)),
    "robot with loops": (bars, lambda x: x.forward_dynamics(closed(x), STILL, STILL)),
    "constrained robot": (plane, motion),
    "constrained loops": (lambda: bars().constrained(), lambda x: x.forward_dynamics(closed(x.robot), STILL, STILL)),
    "some constraints": (
        lambda: bars().constrained(C.point_on_plane("coupler", (1, 0, 0), name="wall")).with_active({"wall": False}),
        lambda x: (x.rows == bars().constrained().rows, x.residual(closed(bars()))),
    ),
    "constraint that depends on time": (
        lambda: arm().constrained(C.prescribed(C.point_on_plane("tip", (1, 0, 0)), sway)),
        lambda x: x.forward_dynamics(Q, Z, TAU, time=0.5),
    ),
    "mobility": (lambda: bars().constrained().mobility(), lambda x: (x.motions, x.freedom)),
    "kernel under constraints": (lambda: plane().kernel(), lambda x: x(Q, Z, TAU)),
    "derivative under constraints": (lambda: plane().derivative("forward_dynamics", "tau"), lambda x: x(Q, Z, TAU)),
    "result with loops": (lambda: bars().simulate(closed(bars()), STILL, 0.01), lambda x: (*recorded(x), x.residual)),
    "result with constraints": (
        lambda: arm().with_constraints(C.point_at("tip", (np.cos(1) * 2, 0, 0))).simulate([-1.0, 2.0], [0, 0], 0.01),
        lambda x: (*recorded(x), x.audit().work),
    ),
    "result": (lambda: arm().simulate(Q, Z, 0.01), recorded),
    "result with springs": (lambda: soft().simulate(*soft().state(Q)[:2], 0.01), recorded),
    "rollout": (lambda: arm().rollout(START, START, dt=1e-3, steps=3), lambda x: (x.q, x.v)),
    "task": (lambda: ts.robots.ur5().task("tool0"), lambda x: x.mass_matrix(np.full(6, 0.3))),
    "kernels": (lambda: arm().kernels, lambda x: x("mass_matrix")(Q)),
    "kernel": (lambda: arm().kernel("mass_matrix"), lambda x: x(Q)),
    "derivative": (lambda: arm().derivative("forward_dynamics", "tau"), lambda x: x(Q, Z, TAU)),
    "program": (lambda: arm().program("mass_matrix"), lambda x: x.operations),
    "elastic joints": (
        lambda: soft(),
        lambda x: x.forward_dynamics(*x.state(Q)[:2], x.state(TAU).q),
    ),
    "large tree": (lambda: large.chain(4), lambda x: x.inverse_dynamics(*np.zeros((3, 4)))),
    "operators": (lambda: arm().operators(Q), lambda x: x.M.toarray()),
    "graph": (lambda: bars().graph, str),
    "explanation": (lambda: arm().explain(Q, Z, Z), str),
    "check": (lambda: ts.check(arm()), str),
    "symbolic equations": (lambda: symbolic.lagrange_of(arm()), str),
    "sensor": (lambda: ts.Sensor("accelerometer", "tip"), str),
    "event": (lambda: simulate.Event(total), lambda x: x.function(0.0, Q, Z)),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_pickled_and_copied_objects_have_the_same_results(name):
    make, numbers = OBJECTS[name]
    original = make()
    expected = numbers(original)  # after a call, objects hold kernels
    for again in (pickle.loads(pickle.dumps(original)), copy.deepcopy(original)):
        assert type(again) is type(original)
        np.testing.assert_equal(numbers(again), expected)


def test_constrained_robot_is_sent_to_a_spawned_process():
    held = plane()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        there = pool.apply(motion, (held,))
    np.testing.assert_equal(there, motion(held))
