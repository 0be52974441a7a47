"""Functions of PyTorch and JAX of robots with loops: the values and gradients of the robot's methods, or an error."""

from __future__ import annotations

import numpy as np
import pytest

from tests.tolerance import assert_close
from torsor import adapters, mechanisms
from torsor.errors import SingularError

pytestmark = [pytest.mark.night, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
TAU = np.array([0.3, 0.2, -0.4])
#: flat: fewer rows are independent there
FLAT = mechanisms.four_bar(ground=1.0, crank=0.5, coupler=1.0, rocker=0.5, start=np.pi / 2)
AT_FLAT = (np.pi / 2 * np.array([-1.0, 1.0, -1.0]), np.zeros(3), TAU)


@pytest.fixture(scope="module")
def bars():
    robot = mechanisms.four_bar()
    q = robot.assemble([1.0, 0, 0], fixed=["crank"])
    return robot, q, robot.constrained().project_velocity(q, [1.0, 0, 0])


@pytest.fixture(scope="module")
def jax():
    import jax  # of the extra "adapters", which the fast suite does not have

    jax.config.update("jax_enable_x64", True)
    return jax


@pytest.mark.parametrize("name", ["forward_dynamics", "inverse_dynamics", "step"])
def test_torch_function_under_constraints_equals_the_method_and_its_vjp(bars, name):
    import torch

    robot, q, v = bars
    last = robot.forward_dynamics(q, v, TAU) if name == "inverse_dynamics" else TAU
    given = [q, v, last, *([1e-3] if name == "step" else [])]
    tensors = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in given]
    found = adapters.torch_function(robot, name)(*tensors)
    expected = getattr(robot, name)(*given)
    several = found if isinstance(found, tuple) else (found,)
    for y, z in zip(several, expected if isinstance(expected, tuple) else (expected,), strict=True):
        assert_close(y.detach().numpy(), z)
    sum(y.sum() for y in several).backward()
    weights = [np.ones(3)] * len(several)
    for x, g in zip(tensors, robot.vjp(name)(*given, *weights), strict=True):
        assert_close(x.grad.numpy(), g)
    if name == "forward_dynamics":
        assert torch.autograd.gradgradcheck(adapters.torch_function(robot, name), tensors, atol=1e-4)


def test_jax_function_under_constraints_equals_the_method_and_its_vjp(bars, jax):
    robot, q, v = bars
    function = adapters.jax_function(robot, "forward_dynamics")
    assert_close(np.asarray(jax.jit(function)(q, v, TAU)), robot.forward_dynamics(q, v, TAU))
    gradient = jax.grad(lambda *x: function(*x).sum(), argnums=(0, 1, 2))(q, v, TAU)
    for x, g in zip(gradient, robot.vjp("forward_dynamics")(q, v, TAU, np.ones(3)), strict=True):
        assert_close(np.asarray(x), g)
    batch = jax.vmap(lambda tau: function(q, v, tau))(np.stack([TAU, 2 * TAU]))
    assert_close(np.asarray(batch), robot.forward_dynamics(q, v, np.stack([TAU, 2 * TAU])))
    controls = np.tile(TAU, (5, 1))
    assert_close(np.asarray(adapters.jax_rollout(robot, dt=1e-3)(q, v, controls)[0]), robot.rollout(q, v, controls, dt=1e-3).q)


def test_torch_function_raises_where_the_check_of_its_result_fails(bars):
    import torch

    robot, q, v = bars
    singular = adapters.torch_function(FLAT, "forward_dynamics")
    with pytest.raises(SingularError, match=r"forward_dynamics is not valid at this state: doubt is .* not below 1"):
        singular(*map(torch.tensor, AT_FLAT))
    broken = adapters.torch_function(robot, "inverse_dynamics")
    with pytest.raises(SingularError, match="violation is"):
        broken(*map(torch.tensor, (q, v, np.ones(3))))


def test_jax_function_raises_where_the_check_of_its_result_fails(jax):
    singular = adapters.jax_function(FLAT, "forward_dynamics")
    with pytest.raises(Exception, match="not finite"):
        singular(*AT_FLAT).block_until_ready()
    with pytest.raises(Exception, match="not finite"):
        jax.grad(lambda tau: singular(*AT_FLAT[:2], tau).sum())(TAU).block_until_ready()
