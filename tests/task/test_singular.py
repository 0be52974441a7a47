"""Singular tasks: quantities that still exist, refusals, and the damped and truncated alternatives."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.errors import ArgumentError, SingularError, UnknownName
from torsor.task import Task

STRETCHED = np.array([0.3, 0.0])
ALONG = np.array([np.cos(0.3), np.sin(0.3)])  # direction in which the stretched arm cannot move


@pytest.fixture(scope="module")
def arm():
    return Task(ts.robots.two_link(), "tip", ("vx", "vy"))


def closed_form(theta1, theta2):
    """Λ of MR's 2R arm with unit masses and lengths (MR 8.8, 8.21), by hand."""
    s1, c1, s12, c12, c2 = np.sin(theta1), np.cos(theta1), np.sin(theta1 + theta2), np.cos(theta1 + theta2), np.cos(theta2)
    J = np.array([[-s1 - s12, -s12], [c1 + c12, c12]])
    M = np.array([[3 + 2 * c2, 1 + c2], [1 + c2, 1]])
    return np.linalg.inv(J).T @ M @ np.linalg.inv(J)


@pytest.mark.parametrize("degrees", [(0, 90), (0, 150), (20, -70)])
def test_task_mass_matrix_of_the_2r_arm_equals_the_closed_form(arm, degrees):
    theta = np.radians(degrees)
    np.testing.assert_allclose(arm.mass_matrix(theta), closed_form(*theta), rtol=1e-12, atol=1e-12)


def test_task_mass_and_acceleration_equal_mr_figure_8_4(arm):
    """At (0°, 90°) Λ is both masses along y and the second along x; at (0°, 150°) force (1, 0) gives a = (0.4, 0.35)."""
    np.testing.assert_allclose(arm.mass_matrix(np.radians([0, 90])), np.diag([1, 2]), rtol=1e-14, atol=1e-12)
    still = Task(ts.robots.two_link().with_gravity((0, 0, 0)), "tip", ("vx", "vy"))
    acceleration = still.forward_dynamics(np.radians([0, 150]), [0, 0], force=[1, 0])
    np.testing.assert_allclose(acceleration, [0.4, 0.35], rtol=1e-14, atol=0.005)


def test_stretched_arm_is_singular_along_its_own_direction(arm):
    found = arm.report(STRETCHED)
    assert found.rank == 1
    assert found.condition == np.inf
    np.testing.assert_allclose(np.abs(found.directions[:, 1] @ ALONG), 1, rtol=1e-12)
    np.testing.assert_allclose(found.singular_values[0] ** -2, 1, rtol=1e-12)  # only m₂, since the elbow moves freely
    for needs_mass in (lambda: arm.mass_matrix(STRETCHED), lambda: arm.bias_force(STRETCHED, [1, 2]),
                       lambda: arm.inverse_dynamics(STRETCHED, [0, 0], [0, 1]), lambda: arm.null_space(STRETCHED)):  # fmt: skip
        with pytest.raises(SingularError, match=r"cannot accelerate along 0\.955 vx at tip \+ 0\.296 vy at tip"):
            needs_mass()
    assert arm.report([0.0, 0.0]).lost == ("vx at tip",)
    assert "cannot accelerate along vx at tip" in str(arm.report([0.0, 0.0]))


def test_results_that_exist_at_a_singularity_are_returned(arm):
    robot = arm.robot
    v, F = np.array([0.4, -1.0]), np.array([1.0, 2.0])
    J, M = robot.jacobian(STRETCHED, "tip")[3:5], robot.mass_matrix(STRETCHED)
    np.testing.assert_allclose(arm.inverse_mass_matrix(STRETCHED), J @ np.linalg.inv(M) @ J.T, rtol=1e-14, atol=1e-14)
    a = robot.forward_dynamics(STRETCHED, v, J.T @ F)
    np.testing.assert_allclose(
        arm.forward_dynamics(STRETCHED, v, force=F), robot.acceleration(STRETCHED, v, a, "tip")[3:5], rtol=1e-14, atol=1e-12
    )


def test_task_with_rows_that_never_move_is_singular_everywhere():
    """For example vz of a planar arm; found while recording."""
    whole = Task(ts.robots.two_link(), "tip")
    q = np.array([0.2, 0.7])
    assert whole.report(q).rank == 2
    assert {"wx at tip", "wy at tip", "vz at tip"} < set(whole.report(q).lost)
    with pytest.raises(SingularError, match="cannot accelerate along wx at tip; wy at tip; vz at tip"):
        whole.mass_matrix(q)
    assert whole.inverse_mass_matrix(q).shape == (6, 6)


def test_singular_state_of_a_batch_is_named(arm):
    q = np.random.default_rng(1).uniform(0.5, 1.5, size=(4, 3, 2))
    q[2, 1] = STRETCHED
    with pytest.raises(SingularError, match=r"at batch index \(2, 1\)"):
        arm.bias_force(q, [0.1, 0.2])


def test_mass_matrix_near_a_singularity_is_accurate_to_its_condition(arm):
    bent = np.array([0.3, 1e-3])
    found = arm.report(bent)
    assert found.rank == 2
    assert len(found.near) == 1
    assert "hardly accelerates" in str(found)
    np.testing.assert_allclose(arm.mass_matrix(bent), closed_form(*bent), rtol=1e-8)  # σ² are 10⁶ apart: 16 − 6 digits


def test_damped_lambda_is_bounded(arm):
    damped = Task(arm.robot, "tip", ("vx", "vy"), singular="damped", damping=0.2)
    for q in (STRETCHED, np.array([0.4, 1.1])):
        A = arm.inverse_mass_matrix(q)
        Lambda = np.linalg.inv(A + 0.2**2 * np.eye(2))
        np.testing.assert_allclose(damped.mass_matrix(q), Lambda, rtol=1e-12, atol=1e-12)
        F, tau = damped.inverse_dynamics(q, [0.3, 0.2], [1, -1])
        free = arm.forward_dynamics(q, [0.3, 0.2], force=[0, 0])
        np.testing.assert_allclose(F, Lambda @ ([1, -1] - free), rtol=1e-12)
        np.testing.assert_allclose(tau, arm.jacobian(q).T @ F, rtol=1e-12)
    assert np.linalg.eigvalsh(damped.mass_matrix(STRETCHED)).max() <= 1 / 0.2**2 + 1e-9


def test_truncated_lambda_omits_singular_directions(arm):
    truncated = Task(arm.robot, "tip", ("vx", "vy"), singular="truncated", tolerance=1e-2)
    across = np.array([-ALONG[1], ALONG[0]])
    np.testing.assert_allclose(truncated.mass_matrix(STRETCHED), np.outer(across, across), rtol=1e-14, atol=1e-12)
    np.testing.assert_allclose(
        truncated.mass_matrix(STRETCHED), np.linalg.pinv(arm.inverse_mass_matrix(STRETCHED), 1e-4), rtol=1e-14, atol=1e-12
    )
    assert abs(truncated.inverse_dynamics(STRETCHED, [0.1, 0.2], [1, 1]).force @ ALONG) < 1e-12  # none in this direction
    regular = np.array([0.4, 1.1])
    np.testing.assert_allclose(truncated.mass_matrix(regular), arm.mass_matrix(regular), rtol=1e-12)


def test_task_error_names_a_massless_joint():
    from torsor.model import Description, Joint, Link
    from torsor.model.joints import Revolute
    from torsor.robot import Robot
    from torsor.spatial import Inertia, Transform, Vec

    joint = Joint("hinge", Revolute(Vec(0, 0, 1)), "base", "arm", Transform.identity())
    robot = Robot(Description("ghost", (Link("base", Inertia.zero()), Link("arm", Inertia.zero())), (joint,)))
    with pytest.raises(SingularError, match="'hinge' moves no mass"):
        Task(robot, "arm", "wz").mass_matrix([0.1])


def test_task_refuses_invalid_arguments(arm):
    robot = arm.robot
    with pytest.raises(UnknownName, match="frame or link"):
        Task(robot, "hand")
    with pytest.raises(UnknownName, match="row of a twist"):
        Task(robot, "tip", "up")
    with pytest.raises(UnknownName, match="express"):
        Task(robot, "tip", "linear", "tool")
    with pytest.raises(ArgumentError, match="each only once"):
        Task(robot, ["tip", ("tip", "linear")])
    with pytest.raises(UnknownName, match="singular must be one of"):
        Task(robot, "tip", singular="ignore")
    with pytest.raises(ArgumentError, match="damping"):
        Task(robot, "tip", singular="damped", damping=0)
    with pytest.raises(ArgumentError, match="needs either force"):
        arm.forward_dynamics([0, 1], [0, 0])
    with pytest.raises(UnknownName, match="method"):
        arm.inverse_mass_matrix([0, 1], method="magic")
    with pytest.raises(ArgumentError, match="mimic joints"):
        Task(ts.robots.panda(), "panda_hand").inverse_mass_matrix(ts.robots.panda().neutral(), "articulated")
    with pytest.raises(ArgumentError, match="one state"):
        arm.report(np.zeros((2, 2)))
