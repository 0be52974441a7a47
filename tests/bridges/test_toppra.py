"""Joint forces as a constraint of toppra: equal to its own over Pinocchio, and motions of the same duration."""

import numpy as np
import pinocchio
import pytest
import toppra

import torsor as ts
from tests.tolerance import assert_close
from tests.trajectories.paths import random_spline
from torsor.bridges import toppra_constraint
from torsor.trajectories import time_optimal


def toppra_path(path):
    points, _, _ = path(path.breaks)
    return toppra.SplineInterpolator(path.breaks, points, bc_type="not-a-knot")


def own_constraint(robot, effort, interpolate):
    """toppra's constraint, which calls Pinocchio for each point."""
    model = ts.to_pinocchio(robot)
    data = model.createData()

    def inverse_dynamics(q, v, a):
        return pinocchio.rnea(model, data, q, v, a)

    limits = np.column_stack([-effort, effort])
    return toppra.constraint.JointTorqueConstraint(
        inverse_dynamics, limits, np.zeros(robot.nv), discretization_scheme=int(interpolate)
    )


@pytest.mark.parametrize("interpolate", [False, True])
@pytest.mark.parametrize("name", ["ur5", "panda"])
def test_coefficients_equal_those_of_toppra_over_pinocchio(name, interpolate):
    robot = getattr(ts.robots, name)()
    path, effort = random_spline(robot, 0)
    points = np.linspace(0, 1, 51)
    ours = toppra_constraint(robot, effort, interpolate=interpolate)
    theirs = own_constraint(robot, effort, interpolate)
    given = toppra_path(path), points
    for x, y in zip(ours.compute_constraint_params(*given), theirs.compute_constraint_params(*given), strict=True):
        assert (x is None) == (y is None)
        if y is not None:
            assert_close(x, y)


def test_toppra_finds_the_duration_of_the_time_optimal_trajectory():
    robot = ts.robots.ur5()
    path, effort = random_spline(robot, 1)
    speed = np.full(6, 3.0)
    limits = [toppra.constraint.JointVelocityConstraint(np.column_stack([-speed, speed])), toppra_constraint(robot, effort)]
    points = np.linspace(0, 1, 2001)
    found = toppra.algorithm.TOPPRA(limits, toppra_path(path), gridpoints=points, solver_wrapper="seidel")
    _, speeds, _ = found.compute_parameterization(0, 0)
    fast = time_optimal(robot, path, effort_limit=effort, velocity_limit=speed)
    # the error of an even grid falls with the number of its points: 0.3 % at 1000, 0.15 % at 2000
    assert_close(fast.duration, (2 * np.diff(points) / (speeds[1:] + speeds[:-1])).sum(), 2e-3)


def test_limits_of_one_side_are_rows_of_that_side():
    robot = ts.robots.two_link()
    constraint = toppra_constraint(robot, [[-np.inf, -30.0], [50.0, np.inf]], interpolate=False)
    path = toppra.SplineInterpolator([0, 1], [[0.0] * 2, [1.0] * 2])
    *_, F, g, _, _ = constraint.compute_constraint_params(path, np.linspace(0, 1, 3))
    assert_close(F, [[1.0, 0.0], [0.0, -1.0]])
    assert_close(g, [50.0, 30.0])


def test_robots_that_toppra_has_no_place_for_are_refused():
    arm = ts.robots.two_link()
    with pytest.raises(ts.ArgumentError, match=r"may depend on v \(damping\)"):
        toppra_constraint(arm.with_damping(dict.fromkeys(arm.joints, 1.0)), 50.0)
    with pytest.raises(ts.ArgumentError, match="quaternions"):
        toppra_constraint(ts.robots.quadruped(), 50.0)
    with pytest.raises(ts.ArgumentError, match="nothing limits"):
        toppra_constraint(arm, np.inf)


def test_path_with_other_coordinates_is_refused():
    path = toppra.SplineInterpolator([0, 1], [[0.0] * 3, [1.0] * 3])
    with pytest.raises(ts.ArgumentError, match="the path has 3 coordinates, and robot 'two_link' has 2"):
        toppra_constraint(ts.robots.two_link(), 50.0).compute_constraint_params(path, np.linspace(0, 1, 3))


def test_constraint_without_toppra_names_the_extra(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "toppra", None)
    monkeypatch.setitem(sys.modules, "toppra.constraint", None)
    with pytest.raises(ts.MissingExtra, match=r"\[toppra\]"):
        toppra_constraint(ts.robots.ur5())
