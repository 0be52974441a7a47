"""A base that moves along a given path: closed forms, errors, and the robot as an object."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import torsor as ts
from tests.tolerance import assert_close
from torsor.scalar import cos, sin

Q, V, A = [0.3, -0.8], [0.5, 1.2], [0.2, -0.4]


def test_base_that_is_lifted_is_heavier_and_one_that_falls_is_weightless():
    arm = ts.robots.two_link()
    rising, falling = (arm.with_base_motion(lambda t, a=a: [0, a * t * t / 2, 0]) for a in (2.0, -9.81))
    g, M = arm.gravity_force(Q), arm.mass_matrix(Q)
    assert_close(rising.inverse_dynamics(Q, [0, 0], A, time=0.7), M @ A + g * (1 + 2 / 9.81))
    assert_close(falling.inverse_dynamics(Q, [0, 0], [0, 0], time=0.7), [0.0, 0.0], scale=1.0)


def test_pendulum_on_a_pivot_that_shakes_matches_the_closed_form():
    """q̈ = −(g + ÿ) sin q / l − ẍ cos q / l for a point mass on a pivot at (x, y)."""
    l, m = 0.7, 1.3
    build = ts.Builder("pendulum").link("base").link("rod", mass=m, com=(0, 0, -l), inertia=(0, 0, 0))
    rod = build.joint("pivot", "revolute", "base", "rod", axis=(0, -1, 0)).build()
    shaken = rod.with_base_motion(lambda t: [0.1 * sin(9 * t), 0, 0.05 * cos(7 * t)])
    t = np.linspace(0, 1, 5)
    q = np.linspace(-1, 2, 5)
    ddx, ddz = -8.1 * np.sin(9 * t), -2.45 * np.cos(7 * t)
    found = shaken.forward_dynamics(q[:, None], np.ones((5, 1)), np.zeros(1), time=t)
    assert_close(found[:, 0], -((9.81 + ddz) * np.sin(q) + ddx * np.cos(q)) / l)


def test_centrifuge_pushes_outwards():
    """On a table that turns with Ω, a slider at r is pushed outwards by m Ω² r."""
    build = ts.Builder("slider").link("table").link("load", mass=2.0, inertia=(0, 0, 0))
    slider = build.joint("rail", "prismatic", "table", "load", axis=(1, 0, 0)).build()
    turning = slider.with_base_motion(lambda t: [0, 0, 0, 0, 0, 3 * t])
    assert_close(turning.inverse_dynamics([0.4], [0.0], [0.0], time=5.0), [-2.0 * 9 * 0.4])
    assert_close(turning.accelerometer([0.4], [0.0], [0.0], "load", time=5.0), [-3.6, 0, 9.81])
    assert_close(turning.gyroscope([0.4], [0.0], "load", time=5.0), [0, 0, 3])


def test_wrench_in_world_axes_keeps_its_direction_while_the_base_turns():
    arm = ts.robots.two_link().with_gravity((0, 0, 0))
    turned = arm.with_base_motion(lambda t: [0, 0, 0, 0, 0, t])
    still = [0, 0]

    def by_wrench(robot, F, **options):
        pushed, free = (robot.inverse_dynamics(Q, still, still, x, expressed_in="world", **options) for x in ({"tip": F}, None))
        return pushed - free

    F, across = [0, 0, 0, 5.0, 0, 0], [0, 0, 0, 0, -5.0, 0]  # seen from a base after a quarter turn
    assert_close(by_wrench(turned, F, time=0.0), by_wrench(arm, F))
    assert_close(by_wrench(turned, F, time=np.pi / 2), by_wrench(arm, across))


def test_simulation_and_rollout_on_a_moving_base_agree():
    arm = ts.robots.two_link().with_base_motion(lambda t: ([0.1 * sin(5 * t), 0, 0], [0, 0, 0.3 * sin(2 * t)]))
    run = arm.simulate(Q, V, 0.05, dt=1e-3)
    many = arm.rollout(Q, V, dt=1e-3, steps=50, integrator="rk4")
    assert_close(run.q[-1], many.q[-1])
    assert_close(arm.simulate(Q, V, 0.05, integrator=ts.Adaptive("dop853", tolerance=1e-10)).q[-1], many.q[-1], relative=1e-9)


def test_energy_relative_to_a_moving_base_changes_by_the_work_of_inertial_forces():
    arm = ts.robots.two_link().with_base_motion(lambda t: ([0.1 * sin(5 * t), 0, 0], [0, 0, 0.3 * sin(2 * t)]))
    audits = [arm.simulate(Q, V, 0.2, dt=dt).audit() for dt in (2e-3, 1e-3)]
    assert abs(audits[1].work[-1]) > 0.01
    assert audits[1].worst < 1e-8
    assert audits[0].worst / audits[1].worst > 8  # fourth order


def test_robot_on_a_moving_base_compares_by_the_path_that_is_recorded():
    arm = ts.robots.two_link()
    one, same, other = (arm.with_base_motion(lambda t, k=k: [k * t, 0, 0]) for k in (1.0, 1.0, 2.0))
    assert one == same
    assert one != other
    assert pickle.loads(pickle.dumps(one)) == one
    assert list(one.terms) == ["base motion"]
    assert one.with_base_motion(None) == arm
    assert one.without_terms("base motion").terms == {}


def test_invalid_base_motions_are_refused():
    arm = ts.robots.two_link()
    with pytest.raises(ts.ArgumentError, match="3, 6 or 7 numbers, not 2"):
        arm.with_base_motion(lambda t: [t, 0])
    with pytest.raises(ts.ArgumentError, match="cannot be recorded"):
        arm.with_base_motion(lambda t: [np.sin(t), 0, 0])
    with pytest.raises(ts.ArgumentError, match="second time"):
        arm.with_base_motion(lambda t: [np.random.default_rng().normal(), 0, 0])
    moved = arm.with_base_motion(lambda t: [t, 0, 0])
    with pytest.raises(ts.ArgumentError, match="time= is needed: 'base motion'"):
        moved.forward_dynamics(Q, V, [0, 0])
    with pytest.raises(ts.ArgumentError, match="no wrench depends on it"):
        arm.forward_dynamics(Q, V, [0, 0], time=1.0)
    with pytest.raises(ts.ArgumentError, match="leaves no equilibrium"):
        moved.equilibrium(Q)
    world = arm.rename({arm.links[0]: "world"})
    with pytest.raises(ts.ModelError, match="is named 'world'"):
        world.with_base_motion(lambda t: [t, 0, 0])


def test_wrench_forms_of_instant_methods_and_their_errors():
    arm, still = ts.robots.two_link(), [0.0, 0.0]
    push = lambda t: [0, 0, 0, 5 * sin(t), 0, 0]  # noqa: E731
    plain = arm.forward_dynamics(Q, V, still, {"tip": [0, 0, 0, 5 * np.sin(0.4), 0, 0]})
    assert_close(arm.forward_dynamics(Q, V, still, {"tip": push}, time=0.4), plain)
    kernel = arm.kernel("forward_dynamics", wrenches={"tip": push})
    assert [x.name for x in kernel.inputs] == ["q", "v", "tau", "t"]
    assert_close(kernel(Q, V, still, 0.4), plain)
    assert arm.kernel("forward_dynamics", wrenches={"tip": lambda t: [0, 0, 0, 5 * sin(t), 0, 0]}) is kernel
    by_t = arm.derivative("forward_dynamics", by="t", wrenches={"tip": push})
    h = 1e-5
    slope = (kernel(Q, V, still, 0.4 + h) - kernel(Q, V, still, 0.4 - h)) / (2 * h)
    assert_close(by_t(Q, V, still, 0.4), slope, relative=1e-8)
    each = ts.simulate.per_robot([push(0.4), push(0.9)])
    assert_close(arm.forward_dynamics(Q, V, still, {"tip": each})[0], plain)
    for wrong, time, message in (
        (push, None, "is a function of t, so time= is needed"),
        (lambda t: [t], 0.0, "a moment and a force"),
        (lambda t, q: [0] * 6, 0.0, "must be a function of t"),
        (ts.simulate.per_step([push(0.4)]), None, "per step, for rollouts"),
    ):
        with pytest.raises(ts.ArgumentError, match=message):
            arm.forward_dynamics(Q, V, still, {"tip": wrong}, time=time)
    with pytest.raises(ts.ArgumentError, match="6 numbers, not 1"):
        arm.kernel("forward_dynamics", wrenches={"tip": lambda t: [t]})
    with pytest.raises(ts.ArgumentError, match="function of t, or None"):
        arm.kernel("forward_dynamics", wrenches={"tip": [1, 2]})
    with pytest.raises(ts.ArgumentError, match="one robot and its own steps"):
        arm.simulate(Q, V, 0.01, wrenches={"tip": each})


def test_rollout_records_a_wrench_of_time_and_equals_the_simulation():
    arm = ts.robots.two_link()
    push = lambda t: [0, 0, 0, 5 * sin(40 * t), 0, 2 * t]  # noqa: E731
    many = arm.rollout(Q, V, dt=1e-3, steps=30, integrator="rk4", wrenches={"tip": push})
    run = arm.simulate(Q, V, 0.03, dt=1e-3, wrenches={"tip": push})
    assert_close(many.q[-1], run.q[-1])
    old = arm.simulate(Q, V, 0.03, dt=1e-3, wrenches={"tip": lambda t, q, v: push(t)})
    assert (old.q == run.q).all()
