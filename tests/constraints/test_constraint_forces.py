"""robot.constraint_forces: λ of a robot that has its constraints."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests.tolerance import assert_close
from torsor.scalar import sin


def test_constraint_forces_balance_the_equation_of_motion():
    robot = ts.mechanisms.four_bar().with_damping({"coupler": 0.3})
    q, tau = robot.assemble(), np.array([1.0, 0.0, 0.0])
    v = robot.constrained().project_velocity(q, np.ones(3))
    a, A = robot.forward_dynamics(q, v, tau), robot.constrained().jacobian(q)
    needed = robot.mass_matrix(q) @ a + robot.bias_force(q, v) + [0.0, 0.3, 0.0] * v - tau
    assert_close(A.T @ robot.constraint_forces(q, v, tau), needed, 1e-11)


def test_time_is_needed_where_a_constraint_reads_it():
    plane = ts.constraints.point_on_plane("tip", normal=(1, 0, 0), through=(1, 0, 0))
    robot = ts.robots.two_link().with_constraints(ts.constraints.prescribed(plane, lambda t: [0.1 * sin(3 * t)]))
    state = [-1.0, 2.0], [0.0, 0.0], [0.0, 0.0]
    assert robot.constraint_forces(*state, time=0.2).shape == (1,)
    with pytest.raises(ts.ArgumentError, match="depend on time, so time= is needed"):
        robot.constraint_forces(*state)
