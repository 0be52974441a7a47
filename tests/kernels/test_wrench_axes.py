"""Wrenches in world axes: equal to the joint forces Jᵀ F."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests.tolerance import assert_close
from tests.trees import random_tree
from torsor.flexible import beam
from torsor.mechanics.operators import operators
from torsor.model.terms.springs import SeriesSpring
from torsor.robot import Robot


def state(robot, seed=0):
    rng = np.random.default_rng(seed)
    q = robot.random_configuration(rng)
    return q, *rng.normal(size=(2, robot.nv)), rng.normal(size=6)


@pytest.mark.parametrize("seed", range(6))
def test_joint_forces_of_a_wrench_in_world_axes_are_the_transposed_jacobian(seed):
    robot = Robot(random_tree(seed, bodies=5))
    frame = robot.frames[-1]
    q, v, a, F = state(robot, seed)
    felt = robot.inverse_dynamics(q, v, a) - robot.inverse_dynamics(q, v, a, {frame: F}, expressed_in="world")
    assert_close(felt, robot.jacobian(q, frame).T @ F, floor=np.abs(robot.inverse_dynamics(q, v, a)).max())


@pytest.mark.parametrize("seed", [1, *(pytest.param(k, marks=pytest.mark.night) for k in (0, 2, 3))])
def test_every_method_accepts_wrenches_in_world_axes(seed):
    robot = Robot(random_tree(seed, bodies=4))
    frame = robot.frames[-1]
    q, v, tau, F = state(robot, seed)
    R = robot.pose(q, frame)[:3, :3]
    own = np.concatenate([R.T @ F[:3], R.T @ F[3:]])
    prescribed = np.arange(robot.nv) % 2
    calls = [
        lambda **w: robot.inverse_dynamics(q, v, tau, **w),
        lambda **w: robot.forward_dynamics(q, v, tau, **w),
        lambda **w: robot.hybrid_dynamics(q, v, tau, tau, prescribed, **w).a,
        lambda **w: robot.reaction_wrenches(q, v, tau, **w),
        lambda **w: robot.step(q, v, tau, 1e-2, **w).v,
        lambda **w: robot.explain(q, v, tau, **w).tau,
        lambda **w: robot.constrained().forward_dynamics(q, v, tau, **w).a,
        lambda **w: robot.newton_euler_table(q, v, tau, **w).tau,
        lambda **w: robot.stacked_equations(q, v, tau, **w).F_tip,
        lambda **w: operators(robot, q, v, tau=tau, **w).by_projection(),
    ]
    motions = [
        lambda **w: robot.rollout(q, v, tau[None], dt=1e-2, **w).v,
        lambda **w: robot.simulate(q, v, 1e-2, tau, dt=1e-2, integrator="semi_implicit", **w).v[-1],
    ]
    for call in calls + motions:
        mine, theirs = call(wrenches={frame: own}), call(wrenches=ts.WorldAxes({frame: F}))
        assert_close(theirs, mine, condition=np.linalg.cond(robot.mass_matrix(q)), floor=1)
        assert not np.allclose(mine, call(wrenches={frame: F}))
        if call in calls:
            np.testing.assert_array_equal(theirs, call(wrenches={frame: F}, expressed_in="world"))
    for call in motions:
        with pytest.raises(ts.ArgumentError, match=r"expressed_in.*ts.WorldAxes\({frame: F}\)"):
            call(wrenches={frame: F}, expressed_in="world")
        with pytest.raises(ts.ArgumentError, match="must be a dict"):
            call(wrenches=ts.WorldAxes(F))


def test_robot_with_a_loop_accepts_wrenches_in_world_axes():
    robot = ts.mechanisms.four_bar()
    q = robot.assemble()
    frame, F = robot.frames[-1], np.arange(1.0, 7.0)
    R = robot.pose(q, frame)[:3, :3]
    own = np.concatenate([R.T @ F[:3], R.T @ F[3:]])
    z = np.zeros(robot.nv)
    a = robot.forward_dynamics(q, z, z, {frame: F}, expressed_in="world")
    assert_close(a, robot.forward_dynamics(q, z, z, {frame: own}), condition=1e3, floor=1)


def test_wrenches_in_unknown_axes_are_an_error():
    robot = ts.robots.two_link()
    with pytest.raises(ts.UnknownName, match="expressed_in must be one of"):
        robot.inverse_dynamics([0, 0], [0, 0], [0, 0], {"tip": np.zeros(6)}, expressed_in="space")


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4", "midpoint"])
def test_a_wrench_in_world_axes_keeps_its_direction_within_a_step(integrator):
    """No gravity, a force at the centre of mass of a rotating floating body: its acceleration is constant in world axes."""
    body = ts.Builder("body").link("b", mass=2.0, inertia=(0.1, 0.2, 0.3)).build(base="floating").with_gravity((0, 0, 0))
    q, v = body.neutral(), np.array([3.0, -2.0, 5.0, 0.0, 0.0, 0.0])
    F = np.array([0.0, 0.0, 0.0, 1.0, 2.0, 4.0])
    roll = body.rollout(q, v, np.zeros((50, 6)), dt=0.01, integrator=integrator, wrenches=ts.WorldAxes({"b": F}))
    after, speed = q, v
    for _ in range(50):
        after, speed = body.step(after, speed, np.zeros(6), 0.01, integrator, {"b": F}, expressed_in="world")
    assert (after == roll.q[-1]).all()
    assert (speed == roll.v[-1]).all()
    linear = body.twist(after, speed, "b")[3:]
    off = np.abs(linear - F[3:] / 2.0 * 0.5).max()
    assert off < {"semi_implicit": 0.2, "rk4": 1e-6, "midpoint": 1e-2}[integrator]


def test_elastic_and_flexible_robots_accept_wrenches_in_world_axes():
    robot = ts.robots.two_link()
    q, v, tau = np.array([0.4, 0.9]), np.array([0.2, -0.3]), np.array([1.0, 2.0])
    F = np.arange(1.0, 7.0)

    def own(pose):
        return np.concatenate([pose[:3, :3].T @ F[:3], pose[:3, :3].T @ F[3:]])

    elastic = robot.with_springs(SeriesSpring(5000.0, rotor_inertia=0.2))
    state = np.r_[q, q + 0.01], np.r_[v, v], np.r_[0.0, 0.0, tau]
    a = elastic.forward_dynamics(*state, {"tip": F}, expressed_in="world")
    assert_close(a, elastic.forward_dynamics(*state, {"tip": own(robot.pose(q, "tip"))}), condition=1e2)
    assert not np.allclose(a, elastic.forward_dynamics(*state, {"tip": F}))

    arm = robot.with_beams({"link1": beam(1.0, mass_per_length=1.0, EI_z=50.0, modes=(2, 0, 0))})
    x, w, tau = np.r_[q, 0.01, -0.002], np.zeros(arm.nv), np.r_[tau, 0.0, 0.0]
    a = arm.forward_dynamics(x, w, tau, {"tip": F}, expressed_in="world")
    assert_close(a, arm.forward_dynamics(x, w, tau, {"tip": own(arm.pose(x, "tip"))}), condition=1e4)
    assert not np.allclose(a, arm.forward_dynamics(x, w, tau, {"tip": F}))


def test_exported_code_accepts_wrenches_in_world_axes(tmp_path):
    robot = ts.robots.two_link()
    (q, v, a, F), names = state(robot), {}
    file = robot.export_python(tmp_path / "arm.py", "inverse_dynamics", wrenches=["tip"], expressed_in="world")
    exec(file.read_text(), names)
    expected = robot.inverse_dynamics(q, v, a, {"tip": F}, expressed_in="world")
    assert_close(names["two_link_inverse_dynamics"](q, v, a, F), expected)
