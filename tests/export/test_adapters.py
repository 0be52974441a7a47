"""CasADi, JAX and PyTorch: derivatives by each library equal the derivative of the program, operation by operation."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import torsor as ts
from torsor import adapters
from torsor.algorithms import rnea
from torsor.compile import Kernel, forward

# deprecation warnings of the libraries themselves
pytestmark = [pytest.mark.night, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
LIBRARIES = ("casadi", "jax", "torch")
CASES = [
    ("two_link", "inverse_dynamics"),
    ("ur5", "inverse_dynamics"),
    ("ur5", "forward_dynamics"),
    ("ur5", "mass_matrix"),
    ("ur5", "jacobian:tool0:body"),
    ("ur5", "kinetic_energy"),
    ("cartesian", "mass_matrix"),  # constants alone
    ("quadruped", "inverse_dynamics"),
    ("quadruped", "integrate"),  # where, sqrt, quaternions
    ("quadruped", "difference"),
]


def library(name):
    module = importlib.import_module(name)  # installed by the extra "adapters", so the test is not skipped
    if name == "jax":
        module.config.update("jax_enable_x64", True)
    return module


def value_and_derivative(name, robot, spec, x):
    """The result and its derivative by the first argument, both by the library."""
    lib = library(name)
    function = getattr(adapters, f"{name}_function")(robot, spec)
    if name == "casadi":
        symbols = [lib.SX.sym(function.name_in(k), function.size1_in(k)) for k in range(function.n_in())]
        row_major = lib.vec(function(*symbols).T)
        derivative = lib.Function("J", symbols, [lib.densify(lib.jacobian(row_major, symbols[0]))])
        return np.array(function(*x)), np.array(derivative(*x))
    if name == "jax":
        return np.asarray(function(*x)), np.asarray(lib.jacfwd(function)(*x))
    tensors = [lib.tensor(a, dtype=lib.float64) for a in x]
    return function(*tensors).numpy(), lib.autograd.functional.jacobian(function, tuple(tensors))[0].numpy()


@pytest.mark.parametrize(("robot", "spec"), CASES)
@pytest.mark.parametrize("name", LIBRARIES)
def test_adapter_derivative_agrees_with_the_derivative_of_the_program(name, robot, spec):
    robot = getattr(ts.robots, robot)()
    program = robot.program(spec)
    rng = np.random.default_rng(0)
    x = [robot.random_configuration(rng) if a.name in ("q", "q0", "q1") else rng.normal(size=a.shape) for a in program.inputs]
    expected = np.asarray(robot.kernel(spec)(*x))
    derivative = np.asarray(Kernel(forward(program, [program.inputs[0].name]))(*x))
    got, slope = value_and_derivative(name, robot, spec, x)
    np.testing.assert_allclose(got.reshape(expected.shape), expected, rtol=0, atol=1e-12 * (1 + np.abs(expected).max()))
    np.testing.assert_allclose(slope.reshape(derivative.shape), derivative, rtol=0, atol=1e-10 * (1 + np.abs(derivative).max()))


@pytest.mark.parametrize("name", ["jax", "torch"])
def test_adapter_functions_broadcast_leading_axes(name):
    lib, robot = library(name), ts.robots.ur5()
    function = getattr(adapters, f"{name}_function")(robot, "inverse_dynamics")
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 1, 6)), rng.normal(size=(4, 6)), np.zeros(6)
    as_array = lib.numpy.asarray if name == "jax" else lib.as_tensor
    got = np.asarray(function(as_array(q), as_array(v), as_array(a)))
    np.testing.assert_allclose(got, robot.inverse_dynamics(q, v, a), rtol=0, atol=1e-12)
    with pytest.raises(ts.ArgumentError, match=r"q has shape \(5,\), expected \(\.\.\., 6\)"):
        function(np.zeros(5), v, a)
    with pytest.raises(ts.ArgumentError, match="takes 3 arrays"):
        function(q)


@pytest.mark.parametrize("name", LIBRARIES)
def test_the_algorithms_take_each_librarys_scalars_directly(name):
    lib, robot = library(name), ts.robots.two_link()
    x = np.random.default_rng(0).normal(size=(3, 2))
    if name == "casadi":
        symbols = lib.SX.sym("x", 6)
        tau = rnea(robot.model, [symbols[0], symbols[1]], [symbols[2], symbols[3]], [symbols[4], symbols[5]])
        got = np.array(lib.Function("tau", [symbols], [lib.vertcat(*tau)])(x.ravel())).ravel()
    else:
        convert = lib.numpy.asarray if name == "jax" else lib.as_tensor
        got = np.array([float(t) for t in rnea(robot.model, *([convert(e) for e in row] for row in x))])
    np.testing.assert_allclose(got, robot.inverse_dynamics(*x), rtol=1e-13)
