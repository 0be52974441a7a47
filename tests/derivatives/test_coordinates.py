"""Derivatives in coordinates, as torch and JAX take them: related to those along v by q̇ = N(q) v, and to differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import torsor as ts
from tests import trees
from tests.derivatives.test_products import inputs
from tests.machine_code import without_machine_code
from tests.tolerance import assert_close
from torsor.bridges.array_functions import ArrayFunction
from torsor.kernels.derivatives import FLAGS
from torsor.kernels.quantities import QUANTITIES

NAMES = ("inverse_dynamics", "forward_dynamics", "pose:frame2", "integrate", "step", "difference")
FAST = ("forward_dynamics", "integrate")
CONFIGURATIONS = ("q", "q0", "q1", "integrate")


@pytest.fixture(scope="module")
def robot():
    return ts.Robot(trees.random_tree(5, bodies=2, base="floating"))


def along_v(robot, q, gradient):
    """N(q)ᵀ g."""
    return np.array([robot.configuration_rate(q, unit) for unit in np.eye(robot.nv)]) @ gradient


@pytest.mark.parametrize("name", [n if n in FAST else pytest.param(n, marks=pytest.mark.night) for n in NAMES])
def test_gradient_in_coordinates_gives_the_gradient_along_v(robot, name):
    kernel, x = inputs(robot, name)
    function = ArrayFunction(robot.kernels, robot.spec(name))
    rng = np.random.default_rng(0)
    names = [a.name for a in function.inputs]
    weights = [rng.normal(size=y.shape) for y in function.outputs]
    results = function.evaluate("float64", *x)
    moving = [y.name in CONFIGURATIONS for y in function.outputs]
    reduced = [along_v(robot, y, w) if m else w for y, w, m in zip(results, weights, moving, strict=True)]
    expected = robot.vjp(name)(*x, *reduced)
    expected = expected if len(names) > 1 else [expected]
    found = function.pull(names).evaluate("float64", *x, *weights)
    for a, at, g, reference in zip(kernel.inputs, x, found, expected, strict=True):
        assert np.shape(g) == a.shape
        assert_close(along_v(robot, at, g) if a.name in CONFIGURATIONS else g, reference, 1e-11, floor=1.0)


@pytest.mark.parametrize("name", FAST)
def test_gradient_by_a_quaternion_is_orthogonal_to_it(robot, name):
    """So it is N⁺(q)ᵀ times the gradient along v: no other solution of N(q)ᵀ g = γ is orthogonal."""
    _, x = inputs(robot, name)
    function = ArrayFunction(robot.kernels, robot.spec(name))
    first = function.inputs[0].name
    weights = [np.ones(y.shape) for y in function.outputs]
    (g,) = function.pull([first]).evaluate("float64", *x, *weights)
    base = slice(3, 7)
    assert abs(g[base] @ x[0][base]) < 1e-12 * (1 + np.abs(g).max())


@pytest.mark.parametrize("name", ["integrate", pytest.param("forward_dynamics", marks=pytest.mark.night)])
def test_push_of_pull_equals_differences_and_the_transpose_of_pull_of_pull(robot, name):
    _, x = inputs(robot, name)
    function = ArrayFunction(robot.kernels, robot.spec(name))
    rng = np.random.default_rng(0)
    gradient = function.pull([a.name for a in function.inputs])
    x = [*x, *(rng.normal(size=y.shape) for y in function.outputs)]
    names = [a.name for a in gradient.inputs]
    dx, w = ([rng.normal(size=np.shape(a)) for a in row] for row in (x, gradient.evaluate("float64", *x)))
    pushed = gradient.push(names).evaluate("float64", *x, *dx)
    pulled = gradient.pull(names).evaluate("float64", *x, *w)
    total = sum(np.sum(a * b) for a, b in zip(pushed, w, strict=True))
    assert total == pytest.approx(sum(np.sum(a * b) for a, b in zip(pulled, dx, strict=True)), rel=1e-10)
    h = 1e-5
    ends = [gradient.evaluate("float64", *(a + s * h * d for a, d in zip(x, dx, strict=True))) for s in (1, -1)]
    for found, above, below in zip(pushed, *ends, strict=True):
        assert_close(found, (above - below) / (2 * h), 1e-7, floor=1.0)  # the differences have about eight digits


def test_third_derivatives_are_refused_in_words(robot):
    function = ArrayFunction(robot.kernels, robot.spec("mass_matrix"))
    with pytest.raises(ts.ArgumentError, match="mass_matrix has derivatives up to order 2; this call needs order 3"):
        function.pull(["q"]).pull(["q"]).pull(["q"])


def test_derivative_of_an_unknown_kind_is_refused(robot):
    spec = robot.spec("mass_matrix")
    with pytest.raises(ts.UnknownName, match="derivative mode"):
        robot.kernels.kernel(replace(spec, derivative=("sideways", "q")))


def test_derivatives_that_robots_refuse_are_refused_for_array_libraries():
    robot = ts.robots.ur5()
    for mode in ("push", "pull"):
        for name, by, words in (
            ("payload_capacity:tool0", "q", "payload_capacity has no derivative: it is the smallest"),
            ("hybrid_force", "prescribed", "prescribed has flags, 0 or 1, and no derivative by them exists; by may name q, v"),
        ):
            with pytest.raises(ts.ArgumentError, match=words):
                getattr(ArrayFunction(robot.kernels, robot.spec(name)), mode)([by])


@pytest.mark.night
@pytest.mark.parametrize("name", [name for name, row in QUANTITIES.items() if not row.no_derivative])
@without_machine_code
def test_gradient_in_coordinates_of_every_quantity_equals_differences(robot, name):
    name = ":".join([name, *("frame2" for word in QUANTITIES[name].words if word in ("frame", "at"))])
    _, x = inputs(robot, name)
    x[0][2] += 3.0  # above the ground, for the capture point
    function = ArrayFunction(robot.kernels, robot.spec(name))
    rng = np.random.default_rng(0)
    moving = [a.name not in FLAGS for a in function.inputs]
    names = [a.name for a, moves in zip(function.inputs, moving, strict=True) if moves]
    weights = [rng.normal(size=y.shape) for y in function.outputs]
    found = function.pull(names).evaluate("float64", *x, *weights)
    dx, h = [rng.normal(size=np.shape(a)) * moves for a, moves in zip(x, moving, strict=True)], 1e-6
    ends = [function.evaluate("float64", *(a + s * h * d for a, d in zip(x, dx, strict=True))) for s in (1, -1)]
    slope = sum(np.sum(w * (a - b)) for w, a, b in zip(weights, *ends, strict=True)) / (2 * h)
    products = [g * d for g, d in zip(found, (d for d, moves in zip(dx, moving, strict=True) if moves), strict=True)]
    total = sum(np.sum(np.abs(x)) for x in products)
    assert sum(np.sum(x) for x in products) == pytest.approx(slope, abs=1e-6 * (1 + total))
