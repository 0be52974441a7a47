"""The derivative of the solution by the pose, in PyTorch and JAX, against differences of the solver and against J⁺."""

import numpy as np
import pytest

import torsor as ts
from torsor import adapters

pytestmark = [pytest.mark.night, pytest.mark.filterwarnings("ignore::DeprecationWarning")]


def start():
    robot = ts.robots.ur5()
    q = np.array([0.4, -1.1, 1.3, 0.2, 0.8, -0.3])
    return robot, q, robot.pose(q, "tool0")


def by_differences(robot, q, T, h=1e-4):
    """∂q/∂T by central differences of entries; the solver is told the tolerance that they need."""

    def solve(X):
        return robot.inverse_kinematics(X, "tool0", q, position_tolerance=1e-12, angle_tolerance=1e-12).q

    rows = np.zeros((6, 3))
    for k in range(3):
        step = np.zeros((4, 4))
        step[k, 3] = h
        rows[:, k] = (solve(T + step) - solve(T - step)) / (2 * h)
    return rows


def test_torch_gradient_is_that_of_the_solution():
    import torch

    robot, q, T = start()
    function = adapters.torch_inverse_kinematics(robot, "tool0")
    target = torch.tensor(T, requires_grad=True)
    found, success = function(target, q)
    assert bool(success)
    assert np.abs(found.detach().numpy() - q).max() < 1e-9
    expected = by_differences(robot, q, T)
    for k in range(6):
        (gradient,) = torch.autograd.grad(found[k], target, retain_graph=True)
        assert np.abs(gradient.numpy()[:3, 3] - expected[k]).max() < 1e-5  # differences: h² = 1e-8, times third derivatives
    J = torch.autograd.functional.jacobian(lambda x: function(x, q)[0], target.detach()).numpy()
    inverse = np.linalg.inv(robot.jacobian(q, "tool0", "body"))
    for k, twist in enumerate(np.eye(6)):
        w, v = twist[:3], twist[3:]
        rate = np.zeros((4, 4))
        rate[:3, 3] = T[:3, :3] @ v
        rate[:3, :3] = T[:3, :3] @ np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        assert np.abs(np.tensordot(J, rate, 2) - inverse[:, k]).max() < 1e-7


def test_torch_batches_have_zero_gradients_where_a_pose_is_out_of_reach():
    import torch

    robot, q, T = start()
    away = T.copy()
    away[:3, 3] = [3.0, 0.0, 0.0]
    target = torch.tensor(np.stack([T, away]), requires_grad=True)
    found, success = adapters.torch_inverse_kinematics(robot, "tool0", attempts=2)(target, q)
    assert success.tolist() == [True, False]
    found.sum().backward()
    assert target.grad[0].abs().max() > 0
    assert target.grad[1].abs().max() == 0


def test_jax_gradient_is_that_of_torch():
    import jax
    import torch

    robot, q, T = start()
    function, other = adapters.jax_inverse_kinematics(robot, "tool0"), adapters.torch_inverse_kinematics(robot, "tool0")
    with jax.enable_x64(True):
        x = jax.numpy.asarray(T)
        J = jax.jacobian(lambda x: function(x, q)[0])(x)
        fast = jax.jit(lambda x: function(x, q)[0])(x)
        assert np.abs(np.asarray(fast) - q).max() < 1e-9
    K = torch.autograd.functional.jacobian(lambda x: other(x, q)[0], torch.tensor(T)).numpy()
    assert np.abs(np.asarray(J) - K).max() < 1e-9
