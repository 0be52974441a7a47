"""Gradients of rollouts: against differences of whole rollouts, and against jvp of each step (1e-12)."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests import trees
from tests.tolerance import assert_close
from torsor.actuators import Lag, Latency, Limit, PositionServo
from torsor.model.friction import Coulomb
from torsor.scalar import sin, sqrt, tanh
from torsor.simulate import per_robot, per_robot_and_step, per_step

N, T, DT = 3, 12, 0.01
INTEGRATORS = ("euler", "semi_implicit", "rk4", "midpoint", "variational")


def tangent_loss(robot, run, base, w):
    """Σ w·(x ⊖ x_base): linear in the state, with the gradient w at x_base."""
    q = robot.difference(base.q, run.q)
    return float((w["q"] * q).sum() + (w["v"] * run.v).sum())


def weights(robot, run, rng):
    return {"q": rng.normal(size=run.v.shape), "v": rng.normal(size=run.v.shape)}


def check_by_differences(robot, start, given, run, rng, h=1e-5):
    """The gradient in a random direction of all inputs; ``given`` are arrays by name and ``run(start, given)`` the rollout."""
    base = run(start, given, differentiable=True)
    w = weights(robot, base, rng)
    g = base.gradient(**w)
    direction = {name: rng.normal(size=np.shape(x)) for name, x in given.items()}
    dq, dv = rng.normal(size=g.q0.shape), rng.normal(size=g.v0.shape)

    def moved(k):
        q0, v0 = robot.integrate(start[0], k * h * dq), start[1] + k * h * dv
        there = {name: x + k * h * direction[name] for name, x in given.items()}
        return tangent_loss(robot, run((q0, v0), there), base, w)

    found = (g.q0 * dq).sum() + (g.v0 * dv).sum()
    for name, d in direction.items():
        assert by_name(g, name).shape == np.shape(given[name])
        found += (by_name(g, name) * d).sum()
    expected = (8 * (moved(1) - moved(-1)) - (moved(2) - moved(-2))) / (12 * h)
    assert_close(found, expected, 1e-8, floor=1)  # differences of fourth order: rounding errors of 1e-16 / h
    return g


def by_name(g, name):
    kind, *rest = name.split("/")
    found = getattr(g, kind)
    for key in rest:
        found = found[key]
    return found


@pytest.mark.parametrize("record", ["all", "last", 4])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_gradient_of_each_integrator_and_record_is_that_of_differences(integrator, record):
    rng = np.random.default_rng(1)
    robot = ts.robots.two_link()
    start = rng.normal(size=(N, 2)), rng.normal(size=2)
    given = {"controls": rng.normal(size=(N, T, 2))}

    def run(start, given, **more):
        return robot.rollout(*start, given["controls"], dt=DT, integrator=integrator, record=record, **more)

    check_by_differences(robot, start, given, run, rng)


@pytest.mark.parametrize("integrator", [*INTEGRATORS[1:3], pytest.param("midpoint", marks=pytest.mark.night)])
def test_gradient_of_a_floating_robot_is_along_v(integrator):
    rng = np.random.default_rng(2)
    robot = ts.Robot(trees.random_tree(7, 4))
    start = trees.state(robot, 1)[0], rng.normal(size=(N, robot.nv))
    given = {"controls": rng.normal(size=(T, robot.nv))}

    def run(start, given, **more):
        return robot.rollout(*start, given["controls"], dt=DT, integrator=integrator, **more)

    g = check_by_differences(robot, start, given, run, rng)
    assert g.q0.shape == (robot.nv,)
    assert g.controls.shape == (T, robot.nv)


def test_gradient_is_adjoint_to_jvp_of_the_steps():
    """w·δx of tangents carried forwards by jvp of each step equals g·δu, to rounding."""
    rng = np.random.default_rng(3)
    robot = ts.Robot(trees.random_tree(3, 5))
    q0, v0, _ = trees.state(robot, 2)
    u, du = rng.normal(size=(2, T, robot.nv))
    run = robot.rollout(q0, v0, u, dt=DT, differentiable=True)
    w = weights(robot, run, rng)
    g = run.gradient(**w)
    dq, dv = rng.normal(size=(2, robot.nv))
    expected = 0.0
    found = g.q0 @ dq + g.v0 @ dv + (g.controls * du).sum()
    push = robot.jvp("step:semi_implicit", by=("q", "v", "tau"))
    q, v = q0, v0
    for k in range(T):
        dq, dv = push(q, v, u[k], DT, dq, dv, du[k])
        q, v = run.q[k], run.v[k]
        expected += w["q"][k] @ dq + w["v"][k] @ dv
    assert_close(found, expected, 1e-10, floor=1)  # the tangents grow over the steps


def law(q, v, t, u, gain, goal):
    """A controller with every kind of argument."""
    return [gain * tanh(g - x) - 0.3 * y + w * sin(3 * t) for x, y, g, w in zip(q, v, goal, u, strict=True)]


def test_gradient_by_controller_parameters_variations_and_wrenches():
    rng = np.random.default_rng(4)
    robot = ts.robots.ur5().with_damping(True)
    name, n = list(robot.joints)[1], robot.nv
    start = rng.normal(size=(N, n)), np.zeros(n)
    given = {
        "controls": rng.normal(size=(N, T, n)),
        "parameters/gain": np.array(20.0),
        "parameters/goal": rng.normal(size=(N, T, n)),
        "vary/mass/forearm_link": 1 + rng.random(N),
        f"vary/damping/{name}": np.array(0.7),
        f"vary/armature/{name}": rng.random(N),
        "wrenches/wrist_3_link": rng.normal(size=(T, 6)),
    }

    def run(start, given, **more):
        return robot.rollout(
            *start, given["controls"], dt=DT,
            controller=ts.Controller(
                law, {"gain": given["parameters/gain"], "goal": per_robot_and_step(given["parameters/goal"])}
            ),
            vary={"mass": {"forearm_link": per_robot(given["vary/mass/forearm_link"])},
                  "damping": {name: given[f"vary/damping/{name}"]},
                  "armature": {name: per_robot(given[f"vary/armature/{name}"])}},
            wrenches=ts.WorldAxes({"wrist_3_link": per_step(given["wrenches/wrist_3_link"])}), **more,
        )  # fmt: skip

    check_by_differences(robot, start, given, run, rng)


def test_gradient_of_actuators_and_memory():
    rng = np.random.default_rng(5)
    robot = ts.robots.two_link()
    first, second = robot.joints
    robot = robot.with_actuators({first: [Latency(2 * DT), PositionServo(30.0, 2.0), Limit(-80, 80)], second: Lag(0.03)})
    start = rng.normal(size=(N, 2)), np.zeros(2)
    given = {"controls": rng.normal(size=(N, T, 2)), "memory": rng.normal(size=(N, 1)), "x": rng.normal(size=3)}

    def integral(q, v, u, memory):
        return [u[0] + memory[0], u[1] - v[1]], [memory[0] + (u[0] - q[0]) * 0.1]

    def run(start, given, **more):
        return robot.rollout(
            *start, given["controls"], dt=DT, controller=ts.Controller(integral, memory=given["memory"]), x=given["x"], **more
        )

    check_by_differences(robot, start, given, run, rng)


def test_gradient_by_weights_of_the_memory():
    robot = ts.robots.two_link()

    def count(q, v, memory):
        return [0.0, 0.0], [memory[0] * 2 + q[0]]

    run = robot.rollout([0.1, 0], [0, 0], dt=DT, steps=3, controller=ts.Controller(count, memory=[1.0]), differentiable=True)
    w = np.zeros((3, 1))
    w[-1] = 1.0
    g = run.gradient(memory=w)
    assert_close(g.memory, [8.0])
    assert g.q0[0] > 6.9  # 4 q₀ + 2 q₁ + q₂
    with pytest.raises(ts.ArgumentError, match="x is given, but this rollout has none"):
        run.gradient(x=w)


def test_gradient_counts_friction():
    rng = np.random.default_rng(6)
    robot = ts.robots.two_link()
    robot = robot.with_friction({j: Coulomb(0.5).smooth(0.1) for j in robot.joints})
    start = rng.normal(size=(N, robot.nv)), rng.normal(size=(N, robot.nv))
    given = {"controls": rng.normal(size=robot.nv)}

    def run(start, given, **more):
        return robot.rollout(*start, given["controls"], dt=DT, steps=T, **more)

    check_by_differences(robot, start, given, run, rng)


def test_gradients_of_equal_robots_are_equal_for_any_batch_and_record():
    rng = np.random.default_rng(7)
    robot = ts.robots.ur5()
    q0, v0, u = rng.normal(size=(9, 6)), rng.normal(size=(9, 6)), rng.normal(size=(9, T, 6))
    run = robot.rollout(q0, v0, u, dt=DT, differentiable=True)
    w = rng.normal(size=(9, T, 6))
    whole = run.gradient(v=w)
    one = robot.rollout(q0[4], v0[4], u[4], dt=DT, differentiable=True).gradient(v=w[4])
    assert (one.controls == whole.controls[4]).all()
    assert (one.q0 == whole.q0[4]).all()
    assert (run.q == robot.rollout(q0, v0, u, dt=DT).q).all()
    last = robot.rollout(q0, v0, u, dt=DT, record="last", differentiable=True)
    only = np.zeros((9, T, 6))
    only[:, -1] = w[:, -1]
    assert_close(last.gradient(v=w[:, -1:]).controls, run.gradient(v=only).controls)


def test_gradient_is_of_the_rollout_as_it_was():
    """Arrays changed afterwards do not count; a closure's number is that at the time of the rollout."""
    robot = ts.robots.two_link()
    q0, v0, u, gain = np.ones((2, 2)), np.zeros((2, 2)), np.ones((2, T, 2)), [3.0]

    def spring(q, v, u):
        return [a - gain[0] * x for a, x in zip(u, q, strict=True)]

    for record in ("all", "last"):
        run = robot.rollout(q0, v0, u, dt=DT, controller=spring, record=record, differentiable=True)
        w = np.ones(run.q.shape)
        before = run.gradient(q=w)
        q0 += 1
        u += 1
        gain[0] += 4.0
        after = run.gradient(q=w)
        assert (before.controls == after.controls).all()
        assert (before.q0 == after.q0).all()
    with pytest.raises(ValueError, match="read-only"):
        robot.rollout(q0, v0, u, dt=DT, differentiable=True).q[:] = 0


def test_gradient_of_bad_weights_is_refused():
    robot = ts.robots.two_link()
    plain = robot.rollout(np.zeros(2), np.zeros(2), dt=DT, steps=T)
    with pytest.raises(ts.ArgumentError, match="differentiable=True"):
        plain.gradient(q=np.zeros((T, 2)))
    run = robot.rollout(np.zeros((N, 2)), np.zeros(2), dt=DT, steps=T, differentiable=True)
    with pytest.raises(ts.ArgumentError, match="q has shape"):
        run.gradient(q=np.zeros((N, T, 3)))
    with pytest.raises(ts.ArgumentError, match="v has shape"):
        run.gradient(v=np.zeros((N + 1, T, 2)))
    with pytest.raises(ts.ArgumentError, match="weights of q"):
        run.gradient(q=np.full((N, T, 2), np.nan))
    assert run.gradient().controls is None
    assert_close(run.gradient(v=np.ones((T, 2))).q0, np.broadcast_to(run.gradient(v=np.ones((T, 2))).q0[0], (N, 2)))


@pytest.mark.parametrize("record", ["all", "last"])
def test_gradient_that_is_not_finite_names_robot_and_step(record):
    """At step 3 the root of u = 0 has no derivative; with checkpoints, that is the second segment."""

    def root(q, v, u):
        return [sqrt(u[0]), 0 * u[1]]

    u = np.ones((2, 4, 2))
    u[1, 3] = 0.0
    run = ts.robots.two_link().rollout(np.zeros(2), np.zeros(2), u, dt=DT, controller=root, record=record, differentiable=True)
    with pytest.raises(ts.TorsorError, match="the gradient of robot 1 is not finite at step 3, although the motion is"):
        run.gradient(q=np.ones(run.q.shape))


@pytest.mark.parametrize("record", ["all", "last"])
def test_differentiable_rollout_that_diverges_names_robot_and_step(record):
    robot = ts.robots.two_link()
    u = np.zeros((2, 60, 2))
    u[1, 30:] = 1e300
    plain, kept = (pytest.raises(ts.TorsorError, match=r"robot 1 .* is not finite after step 3\d") for _ in range(2))
    with plain as expected:
        robot.rollout(np.zeros((2, 2)), np.zeros(2), u, dt=0.1, record=record)
    with kept as found:
        robot.rollout(np.zeros((2, 2)), np.zeros(2), u, dt=0.1, record=record, differentiable=True)
    assert str(found.value) == str(expected.value)
