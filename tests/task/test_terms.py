"""Tasks of robots whose terms act: under wrenches and constraints, with friction that grows with the load."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests.tolerance import assert_close
from torsor import mechanisms
from torsor.actuators.friction import Coulomb, LoadDependent

Q, V = np.array([0.3, 1.2]), np.array([0.5, -0.4])
WRENCHES = {"tip": np.array([0, 0, 0.3, 2.0, -40.0, 0])}


@pytest.mark.parametrize("null_torque", [None, [1.0, -2.0]])
def test_task_has_its_acceleration_under_wrenches_and_friction_that_grows_with_the_load(null_torque):
    law = LoadDependent(Coulomb(0.5), 0.2).smooth(0.05)
    robot = ts.robots.two_link().with_friction({"joint1": law, "joint2": law})
    tip, wanted = robot.task("tip", ("vx", "vy")), np.array([1.0, 2.0])
    tau = tip.inverse_dynamics(Q, V, wanted, wrenches=WRENCHES, null_torque=null_torque).tau
    assert_close(tip.acceleration(Q, V, robot.forward_dynamics(Q, V, tau, WRENCHES)), wanted, 1e-11)


def test_effective_mass_of_a_constrained_task_is_that_of_the_motion_that_is_left():
    plane = ts.constraints.point_on_plane("tip", normal=(1, 0, 0), through=ts.robots.two_link().pose(Q, "tip")[:3, 3])
    robot = ts.robots.two_link().with_constraints(plane)
    J = robot.jacobian(Q, "tip")[3:5]
    along = np.linalg.svd(J[:1])[2][1]  # the joint velocity that the plane allows
    expected = (along @ robot.mass_matrix(Q) @ along) / (J[1] @ along) ** 2
    assert_close(robot.task("tip", ("vy",)).mass_matrix(Q), [[expected]], 1e-12)
    with pytest.raises(ts.SingularError, match="under its constraints"):
        robot.task("tip", ("vx", "vy")).mass_matrix(Q)


@pytest.mark.parametrize("case", ["loop", "loop with damping", "plane"])
def test_quantities_that_need_the_task_inertia_of_a_closed_robot_equal_the_saddle_system(case):
    """Λ, η, J̄ and N from the bare M, h, A, J: M x − Aᵀλ = f, A x = g."""
    robot = mechanisms.five_bar() if "loop" in case else ts.robots.two_link()
    robot = robot.with_damping({"left": 0.7}) if "damping" in case else robot
    if case == "plane":
        plane = ts.constraints.point_on_plane("tip", normal=(1, 0, 0), through=(1, 0, 0))
        robot = robot.with_constraints(plane)
    rng, held, n = np.random.default_rng(0), robot.constrained(), robot.nv
    q = robot.assemble(rng.normal(size=robot.nq) * 0.3 + (0.0 if "loop" in case else [-1.0, 2.0]))
    v, tau = held.project_velocity(q, rng.normal(size=n)), rng.normal(size=n)
    task = robot.task("tip", ("vx", "vy") if "loop" in case else ("vy",))
    rows = list(held.independent_rows)
    M, J, A, drift = robot.mass_matrix(q), task.jacobian(q), held.jacobian(q)[rows], held.drift(q, v)[rows]
    K = np.block([[M, -A.T], [A, np.zeros((len(A), len(A)))]])

    def motion(f: np.ndarray, g: np.ndarray) -> np.ndarray:
        return np.linalg.solve(K, np.concatenate([f, g]))[:n]

    none = np.zeros_like(drift)
    G = np.column_stack([motion(unit, none) for unit in np.eye(n)])
    mass = np.linalg.inv(J @ G @ J.T)
    inverse, V = G @ J.T @ mass, rng.normal(size=len(J))
    assert_close(task.mass_matrix(q), mass)
    assert_close(task.bias_force(q, v), -mass @ task.acceleration(q, v, motion(-robot.bias_force(q, v), -drift)))
    assert_close(task.velocity_force(q, v), -mass @ task.acceleration(q, v, motion(-robot.velocity_force(q, v), -drift)))
    assert_close(task.gravity_force(q), -mass @ task.acceleration(q, 0 * v, motion(-robot.gravity_force(q), none)))
    assert_close(task.consistent_inverse(q), inverse)
    assert_close(task.null_space(q), np.eye(n) - J.T @ inverse.T)
    assert_close(task.velocity(q, V), inverse @ V)
    a = task.joint_acceleration(q, v, V)
    assert_close(task.acceleration(q, v, a), V)
    assert_close(A @ a, -drift)
    a, F = task.constrained_dynamics(q, v, tau, V)
    assert_close(task.acceleration(q, v, a), V)
    assert_close(robot.forward_dynamics(q, v, tau + J.T @ F), a)
