"""Tasks of robots whose terms act: under wrenches and constraints, with friction that grows with the load."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests.tolerance import assert_close
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
