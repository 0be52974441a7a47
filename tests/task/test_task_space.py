"""Task space against joint space: every identity of MR 8.85–8.91, on arms, trees and floating bases."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torsor as ts
from tests.tolerance import assert_close
from tests.trees import random_tree, state
from torsor import algorithms as joint_space
from torsor.algorithms import task_space as algorithms
from torsor.robot import Robot
from torsor.task import Task

EPS = np.finfo(float).eps
#: robot and frames of a task that is regular at most configurations
TASKS = {
    "square": ("ur5", "tool0"),
    "square in the body": ("ur5", [("tool0", "all", "body")]),
    "redundant": ("panda", "panda_hand"),
    "chosen rows": ("panda", [("panda_hand", ("vx", "wz"), "space")]),
    "floating": ("tree", [("frame2", "linear"), ("frame3", ("vz",)), ("link0", "angular", "body")]),
    "quadruped": ("quadruped", [("FL_FOOT", "linear"), ("HR_FOOT", ("vz",)), ("base_link", "angular", "body")]),
    "humanoid": ("humanoid", [("left_rubber_hand", "all"), ("right_rubber_hand", "linear", "body")]),
}

LONG = ("humanoid", "quadruped", "square in the body")


def robot_by_name(name: str) -> Robot:
    return Robot(random_tree(11, bodies=3, base="floating", couplings=False)) if name == "tree" else getattr(ts.robots, name)()


class Case:
    """A task and the quantities of its formulas, in joint space by NumPy."""

    def __init__(self, robot, frames, q, v):
        self.task, self.robot, self.q, self.v = Task(robot, frames), robot, q, v
        pick = [(t, [algorithms.TWIST.index(r) for r in t.rows]) for t in self.task.targets]
        self.J = np.concatenate([robot.jacobian(q, t.frame, t.expressed_in)[rows] for t, rows in pick])
        self.dJ = np.concatenate([robot.jacobian_rate(q, v, t.frame, t.expressed_in)[rows] for t, rows in pick])
        self.M = robot.mass_matrix(q)
        self.A = self.J @ np.linalg.solve(self.M, self.J.T)
        self.Lambda = np.linalg.inv(self.A)
        self.barred = np.linalg.solve(self.M, self.J.T) @ self.Lambda
        #: factor of rounding errors in Λ: condition numbers of M and of J M⁻¹ Jᵀ
        self.tolerance = 2 * EPS * (np.linalg.cond(self.M) + np.linalg.cond(self.A)) + 1e-12

    def close(self, ours, theirs, scale=0.0):
        assert_close(ours, theirs, self.tolerance, floor=scale)


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=pytest.mark.night) if name in LONG else name for name in TASKS],
)
def case(request):
    name, frames = TASKS[request.param]
    robot = robot_by_name(name)
    rng = np.random.default_rng(3)
    c = Case(robot, frames, robot.random_configuration(rng), rng.normal(size=robot.nv))
    assert c.tolerance < 1e-10, "the promise is 1e-10; choose a configuration farther from a singularity"
    return c


def test_task_jacobian_twist_and_acceleration_equal_joint_space(case):
    c, t = case, case.task
    a = np.linspace(-1, 1, c.robot.nv)
    c.close(t.jacobian(c.q), c.J)
    c.close(t.jacobian_rate(c.q, c.v), c.dJ)
    c.close(t.twist(c.q, c.v), c.J @ c.v)
    c.close(t.acceleration(c.q, c.v, a), c.J @ a + c.dJ @ c.v)
    c.close(t.velocity(c.q, c.J @ c.v), c.barred @ c.J @ c.v)


def test_task_mass_matrix_and_its_inverse_equal_joint_space(case):
    c, t = case, case.task
    for method in (None, "composite", "factors", *(() if any(c.robot.model.coupling) else ("articulated",))):
        inverse = t.inverse_mass_matrix(c.q, method)
        c.close(inverse, c.A)
        assert (inverse == inverse.T).all(), "symmetric to the bit"
    c.close(t.mass_matrix(c.q), c.Lambda)
    assert (t.mass_matrix(c.q) == t.mass_matrix(c.q).T).all()
    if len(t.rows) == c.robot.nv:
        c.close(t.mass_matrix(c.q), np.linalg.inv(c.J).T @ c.M @ np.linalg.inv(c.J))  # MR 8.90


def test_task_bias_velocity_and_gravity_forces_equal_joint_space(case):
    c, t = case, case.task
    carried = c.Lambda @ c.dJ @ c.v
    size = np.abs(carried).max()
    c.close(t.bias_force(c.q, c.v), c.barred.T @ c.robot.bias_force(c.q, c.v) - carried, size)  # MR 8.91
    c.close(t.velocity_force(c.q, c.v), c.barred.T @ c.robot.velocity_force(c.q, c.v) - carried, size)
    c.close(t.gravity_force(c.q), c.barred.T @ c.robot.gravity_force(c.q), size)


def test_task_bias_force_of_a_twist_equals_mr_8_91(case):
    """MR 8.91 as printed: η(θ, V) with θ̇ = J⁻¹V; for a square task V determines θ̇."""
    c, t = case, case.task
    if len(t.rows) == c.robot.nv:
        c.close(t.bias_force(c.q, t.velocity(c.q, c.J @ c.v)), t.bias_force(c.q, c.v))


def test_task_consistent_inverse_and_null_space_have_their_properties(case):
    c, t = case, case.task
    k, n = c.J.shape
    barred, N = t.consistent_inverse(c.q), t.null_space(c.q)
    c.close(barred, c.barred)
    c.close(c.J @ barred, np.eye(k))
    c.close(N, np.eye(n) - c.J.T @ c.barred.T, 1.0)  # zero up to rounding for a square task
    size = np.abs(np.linalg.solve(c.M, np.eye(n))).max() * np.abs(c.J).max()
    c.close(c.J @ np.linalg.solve(c.M, N), np.zeros((k, n)), size)  # N τ does not accelerate the task
    c.close(c.J @ N.T, np.zeros((k, n)), np.abs(c.J).max())  # Nᵀ v does not move the task
    c.close(N @ N, N, 1.0)


def test_inverse_and_forward_dynamics_agree_with_joint_space(case):
    c, t = case, case.task
    wanted = np.linspace(-2, 3, len(t.rows))
    F, tau = t.inverse_dynamics(c.q, c.v, wanted)
    c.close(F, c.Lambda @ wanted + t.bias_force(c.q, c.v))  # MR 8.89
    c.close(tau, c.J.T @ F)
    c.close(t.joint_force(c.q, F), c.J.T @ F)
    a = c.robot.forward_dynamics(c.q, c.v, tau)
    size = np.abs(c.J).max() * np.abs(a).max()
    c.close(c.J @ a + c.dJ @ c.v, wanted, size)
    c.close(t.forward_dynamics(c.q, c.v, force=F), wanted, size)
    c.close(t.forward_dynamics(c.q, c.v, tau=tau), wanted, size)


def test_null_torque_does_not_accelerate_the_task(case):
    c, t = case, case.task
    wanted, tau0 = np.linspace(-2, 3, len(t.rows)), np.linspace(1, -1, c.robot.nv)
    F, tau = t.inverse_dynamics(c.q, c.v, wanted, null_torque=tau0)
    c.close(F, t.inverse_dynamics(c.q, c.v, wanted).force)
    c.close(tau, c.J.T @ F + t.null_space(c.q) @ tau0)
    a = c.robot.forward_dynamics(c.q, c.v, tau)
    c.close(t.forward_dynamics(c.q, c.v, tau=tau), wanted, np.abs(c.J).max() * np.abs(a).max())


@given(seed=st.integers(0, 10**6))
@settings(max_examples=15)
def test_all_methods_of_the_task_mass_agree_on_random_trees(seed):
    """Every joint type, armatures and couplings; the source over floats, by each method."""
    robot = Robot(random_tree(seed))
    q, v, _ = (x.tolist() for x in state(robot, seed))
    targets = [algorithms.Target("frame2"), algorithms.Target("frame6", ("vx", "wy"), "body")]
    J = np.array(algorithms.jacobian(robot.model, targets, q), float).reshape(8, robot.nv)
    M = np.array(joint_space.crba(robot.model, q), float).reshape(robot.nv, robot.nv)
    if not robot.nv:
        return
    expected = J @ np.linalg.solve(M, J.T)
    for route in algorithms.ROUTES:
        if route == "articulated" and any(robot.model.coupling):
            continue
        A = np.array(algorithms.inverse_mass_matrix(robot.model, targets, q, route), float)
        assert np.abs(A - expected).max() <= 1e-14 * np.linalg.cond(M) * max(np.abs(expected).max(), 1e-12)
    V = algorithms.forward_dynamics(robot.model, targets, q, v, [0] * robot.nv, "factors")
    a = joint_space.forward_dynamics(robot.model, q, v, [0] * robot.nv)
    second = joint_space.acceleration(robot.model, q, v, a, "frame6", "body")
    expected = [*joint_space.acceleration(robot.model, q, v, a, "frame2"), second[3], second[1]]
    assert np.abs(V - np.array(expected)).max() <= 1e-13 * np.linalg.cond(M) * max(np.abs(a).max(), np.abs(expected).max())


def test_magnification_is_the_largest_inverse_of_the_independent_part_of_a_row():
    """max (Λ⁻¹)_ii / pivot_i; the pivots are the squares of the diagonal of Cholesky's factor of Λ⁻¹."""
    robot = ts.robots.ur5()
    q = robot.random_configuration(4)
    J = robot.jacobian(q, "tool0", expressed_in="world")
    S = J @ np.linalg.solve(robot.mass_matrix(q), J.T)
    for route in algorithms.ROUTES:
        _, found = algorithms.exact_mass(robot.model, [algorithms.Target("tool0")], q.tolist(), route)
        assert_close(found, np.max(np.diag(S) / np.diag(np.linalg.cholesky(S)) ** 2), condition=np.linalg.cond(S))


def test_task_quantities_of_a_batch_equal_single_states():
    robot = ts.robots.ur5()
    rng = np.random.default_rng(0)
    q, v, wanted, tau = rng.normal(size=(3, 5, 6)), rng.normal(size=(5, 6)), rng.normal(size=6), rng.normal(size=(3, 1, 6))
    for options in ({}, {"singular": "damped", "damping": 0.2}, {"singular": "truncated", "tolerance": 0.05}):
        task = Task(robot, "tool0", **options)
        F, t = task.inverse_dynamics(q, v, wanted, null_torque=tau)
        Lambda, N = task.mass_matrix(q), task.null_space(q)
        assert F.shape == t.shape == (3, 5, 6)
        assert Lambda.shape == N.shape == (3, 5, 6, 6)
        for i, j in np.ndindex(3, 5):
            one = task.inverse_dynamics(q[i, j], v[j], wanted, null_torque=tau[i, 0])
            same = np.array_equal if not options else np.allclose  # eigh may round differently in a batch
            assert same(one.force, F[i, j])
            assert same(one.tau, t[i, j])
            assert same(task.mass_matrix(q[i, j]), Lambda[i, j])
            assert same(task.null_space(q[i, j]), N[i, j])


def test_task_can_be_pickled_and_shares_the_kernels_of_the_robot():
    robot = ts.robots.ur5()
    task = Task(robot, [("tool0", "linear", "body"), "wrist_1_link"], "angular", singular="damped", damping=0.5)
    assert task.rows == tuple(f"{r} at {f}" for f, rows in (("tool0", ("vx", "vy", "vz")), ("wrist_1_link", ("wx", "wy", "wz")))
                              for r in rows)  # fmt: skip
    assert [t.expressed_in for t in task.targets] == ["body", "world"]
    q = np.linspace(-1, 1, 6)
    again = pickle.loads(pickle.dumps(task))
    assert np.array_equal(again.mass_matrix(q), task.mass_matrix(q))
    assert "vx at tool0" in repr(task)
    assert task.kernel("jacobian") is Task(robot, task.targets).kernel("jacobian"), "kernels are the robot's"
