"""Vereshchagin's algorithm: against NumPy's solution of the saddle system, the book's example, and in O(N) operations."""

from __future__ import annotations

import os

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torsor as ts
from tests import trees
from tests.tolerance import assert_close
from torsor.actuators.friction import Coulomb
from torsor.algorithms.task_space import TWIST, Target
from torsor.algorithms.vereshchagin import vereshchagin
from torsor.compile import Argument, record
from torsor.constraints import point_on_plane
from torsor.errors import ModelError, SingularError
from torsor.robot import Robot


def saddle(robot, targets, q, v, tau, beta, pushed=0.0):
    """(a, F) of [[M, −Jᵀ], [J, 0]] [a; F] = [τ − h; β − J̇v] by NumPy, and the condition number of the matrix."""
    rows = [[TWIST.index(row) for row in t.rows] for t in targets]
    J = np.vstack([robot.jacobian(q, t.frame, t.expressed_in)[i] for t, i in zip(targets, rows, strict=True)])
    Jdot = np.vstack([robot.jacobian_rate(q, v, t.frame, t.expressed_in)[i] for t, i in zip(targets, rows, strict=True)])
    K = np.block([[robot.mass_matrix(q), -J.T], [J, np.zeros((len(J), len(J)))]])
    found = np.linalg.solve(K, np.concatenate([tau - robot.bias_force(q, v) + pushed, beta - Jdot @ v]))
    return found[: robot.nv], found[robot.nv :], np.linalg.cond(K)


@settings(max_examples=300 if os.environ.get("TORSOR_NIGHT") else 4)
@given(seed=st.integers(0, 300))
def test_vereshchagin_equals_the_saddle_system_for_trees_with_every_joint_type(seed):
    robot = Robot(trees.random_tree(seed, bodies=6, couplings=False))
    rng = np.random.default_rng(seed)
    q, v, tau = trees.state(robot, seed)
    rows = tuple(rng.permutation(TWIST)[: rng.integers(1, 4)].tolist())
    targets = [Target("frame5", rows, str(rng.choice(["world", "body", "space"])))]
    J = robot.jacobian(q, "frame5", targets[0].expressed_in)[[TWIST.index(row) for row in rows]]
    if np.linalg.matrix_rank(J, tol=1e-3) < len(rows):
        return
    beta = rng.normal(size=len(rows))
    a, F, condition = saddle(robot, targets, q, v, tau, beta)
    found = vereshchagin(robot.model, targets, q.tolist(), v.tolist(), tau.tolist(), beta.tolist())
    assert_close(found.a, a, 1e-15, condition, floor=1)
    assert_close(found.nu, F, 1e-15, condition, floor=1)


def test_constraints_at_two_frames_and_wrenches_agree_with_the_saddle_system():
    robot = Robot(trees.random_tree(4, bodies=8, base="floating", couplings=False))
    q, v, tau = trees.state(robot, 4)
    targets = [Target("frame7", ("vx", "vz"), "world"), Target("frame3", ("wy",), "body")]
    beta, wrench = np.array([0.3, -0.2, 1.0]), np.array([1.0, 2, 3, 4, 5, 6])
    pushed = robot.jacobian(q, "frame5", "body").T @ wrench
    a, F, condition = saddle(robot, targets, q, v, tau, beta, pushed)
    state = (x.tolist() for x in (q, v, tau, beta))
    found = vereshchagin(robot.model, targets, *state, wrenches={"frame5": wrench.tolist()})
    assert_close(found.a, a, 1e-15, condition)
    assert_close(found.nu, F, 1e-15, condition)


@pytest.mark.parametrize("tau", [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (2.0, -3.0)])
def test_arm_in_a_channel_has_the_numbers_of_example_8_5(tau):
    """MR prints λ = 0.289 τ₁ − 1.155 τ₂ − 0.167 and θ̈ = (0.5 τ₁ + 0.289, −1.155); its λ is minus F."""
    arm = ts.robots.two_link().with_gravity((0, 0, 0))
    q, v = np.radians([-60.0, 120.0]), [1.0, 0.0]
    found = arm.task("tip", ("vx",)).constrained_dynamics(q, v, tau, [0.0])
    printed = 6e-4 * (1 + np.abs(tau).sum())  # three decimals
    assert_close(found.a, [0.5 * tau[0] + 0.289, -1.155], printed, scale=1)
    assert_close(-found.force, [0.289 * tau[0] - 1.155 * tau[1] - 0.167], printed, scale=1)


def test_task_space_motion_is_the_motion_of_a_constrained_robot():
    robot = ts.robots.ur5()
    q, v, tau = np.array([0.3, -1.0, 1.2, 0.4, 0.9, 0.1]), np.array([0.2, -0.4, 0.1, 0.3, -0.2, 0.5]), np.arange(6.0)
    constrained = robot.constrained(point_on_plane("tool0", (0, 0, 1)))
    v = v - np.linalg.pinv(constrained.jacobian(q)) @ constrained.jacobian(q) @ v
    wanted = constrained.forward_dynamics(q, v, tau)
    found = robot.task("tool0", ("vz",)).constrained_dynamics(q, v, tau, [0.0])
    assert_close(found.a, wanted.a, 1e-11)
    assert_close(found.force, wanted.multipliers, 1e-11)


def chain(n: int):
    builder = ts.Builder("chain").link("base")
    for i in range(n):
        builder.link(f"link{i}", 1.0, com=(0.1, 0.02, 0.03), inertia=(0.01, 0.001, 0.002, 0.02, 0.003, 0.025))
        parent = f"link{i - 1}" if i else "base"
        builder.joint(f"joint{i}", "revolute", parent, f"link{i}", axis=np.roll((0, 0, 1), i).tolist(), xyz=(0.3, 0.1, 0.05))
    return builder.build()


def operations(n: int) -> int:
    model, targets = chain(n).model, [Target(f"link{n - 1}", ("vx", "vy", "vz"))]
    arguments = [*(Argument(x, (n,)) for x in ("q", "v", "tau")), Argument("beta", (3,))]
    return record(lambda *state: {"a": vereshchagin(model, targets, *state).a}, arguments).operations


def test_operations_grow_linearly_with_the_number_of_bodies():
    """Three more joints, whose axes repeat the pattern of the chain, add the same number of operations each time."""
    counts = [operations(n) for n in (6, 9, 12, 24)]
    assert counts[1] - counts[0] == counts[2] - counts[1]
    assert counts[3] - counts[2] == 4 * (counts[1] - counts[0])


def test_without_constraints_the_recursion_is_forward_dynamics():
    robot = ts.robots.ur5()
    q, v, tau = (x.tolist() for x in trees.state(robot, 1))
    found = vereshchagin(robot.model, [], q, v, tau, [])
    assert_close(found.a, robot.forward_dynamics(q, v, tau), 1e-10)
    assert (found.nu, found.magnified) == ([], 1)


def test_the_recursion_runs_over_fifty_digits():
    robot = chain(3)
    targets, state = [Target("link2", ("vx", "wz"))], [[0.3, 0.5, -0.2], [1.0, -2.0, 0.5], [3.0, 1.0, 2.0], [0.4, -0.1]]
    rough = vereshchagin(robot.model, targets, *state)
    with mpmath.workdps(50):
        exact = vereshchagin(robot.model, targets, *([mpmath.mpf(x) for x in y] for y in state))
    assert_close(rough.a, [float(x) for x in exact.a], 1e-13)


@pytest.mark.parametrize("expressed_in", ["world", "body"])
def test_mimic_joints_are_refused_by_the_recursion_and_solved_by_the_task(expressed_in):
    robot = Robot(trees.random_tree(16, bodies=5, base="fixed"))
    assert any(robot.model.coupling)
    q, v, tau = trees.state(robot, 3)
    targets = [Target("frame4", ("vx",), expressed_in)]
    with pytest.raises(ModelError, match="without_couplings"):
        vereshchagin(robot.model, targets, q.tolist(), v.tolist(), tau.tolist(), [0.0])
    a, F, condition = saddle(robot, targets, q, v, tau, np.array([0.7]))
    found = robot.task("frame4", ("vx",), expressed_in).constrained_dynamics(q, v, tau, [0.7])
    assert_close(found.a, a, 1e-14, condition, floor=1)
    assert_close(found.force, F, 1e-14, condition, floor=1)


def test_kernel_batch_and_source_agree():
    robot = ts.robots.ur5()
    task, rng = robot.task("tool0", ("vx", "vz", "wy")), np.random.default_rng(2)
    q, v, tau, A = rng.uniform(-2, 2, (5, 6)), rng.normal(size=(5, 6)), rng.normal(size=(5, 6)), rng.normal(size=(5, 3))
    batch = task.constrained_dynamics(q, v, tau, A)
    for k in range(5):
        one = vereshchagin(robot.model, task.targets, *(x[k].tolist() for x in (q, v, tau, A)))
        assert_close(batch.a[k], one.a, 1e-10)
        assert_close(batch.force[k], one.nu, 1e-10)


def test_dependent_rows_are_an_error_with_the_lost_direction_or_follow_the_treatment():
    arm = ts.robots.two_link()
    q, v, tau, A = [0.3, 0.0], [0.0, 0.0], [1.0, 2.0], [0.5, 0.5]  # stretched out
    with pytest.raises(SingularError, match="cannot accelerate along"):
        arm.task("tip", ("vx", "vy")).constrained_dynamics(q, v, tau, A)
    with pytest.raises(SingularError, match="vz at tip"):  # a planar arm never moves along z
        vereshchagin(arm.model, [Target("tip", ("vx", "vz"))], q, v, tau, A)
    for treatment in ("damped", "truncated"):
        found = arm.task("tip", ("vx", "vy"), singular=treatment).constrained_dynamics(q, v, tau, A)
        assert_close(
            arm.mass_matrix(q) @ found.a + arm.bias_force(q, v),
            tau + arm.jacobian(q, "tip")[3:5].T @ found.force,
            1e-11,
            floor=1,
        )


def test_friction_laws_act_unless_they_are_left_out():
    bare = ts.robots.two_link()
    arm = bare.with_friction({"joint1": Coulomb(3.0)})
    q, v, tau, A = [0.3, 1.0], [1.0, 0.5], np.array([1.0, 2.0]), [0.0]
    rubbed = arm.task("tip", ("vx",)).constrained_dynamics(q, v, tau, A)
    assert_close(rubbed.a, bare.task("tip", ("vx",)).constrained_dynamics(q, v, tau - [3.0, 0.0], A).a)
    free = arm.without_terms("friction").task("tip", ("vx",)).constrained_dynamics(q, v, tau, A)
    assert_close(free.a, bare.task("tip", ("vx",)).constrained_dynamics(q, v, tau, A).a)


def test_geared_rotors_count_in_the_recursion():
    rotor = {"mass": 1.0, "inertia": (1e-3, 1e-3, 1.25e-3)}
    rotors = {"joint1": {**rotor, "ratio": 10}, "joint2": {**rotor, "ratio": 50}}
    arm = ts.robots.two_link().with_rotors(rotors)
    q, v, tau = np.array([0.3, 1.0]), np.array([1.0, 0.5]), np.array([1.0, 2.0])
    targets = [Target("tip", ("vy",))]
    a, F, condition = saddle(arm, targets, q, v, tau, np.array([0.2]))
    found = vereshchagin(arm.model, targets, q.tolist(), v.tolist(), tau.tolist(), [0.2])
    assert_close(found.a, a, 1e-14, condition)
    assert_close(found.nu, F, 1e-14, condition)
