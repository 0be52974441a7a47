"""derivative, jvp and vjp of any quantity: adjoint to each other, equal to differences, refused in words."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests import trees
from tests.tolerance import assert_close

#: quantities of all kinds and ranks
NAMES = (
    "inverse_dynamics", "forward_dynamics", "mass_matrix", "mass_matrix_inverse", "kinetic_energy", "momentum",
    "coriolis_matrix", "pose:frame2", "jacobian:frame2:body", "twist:frame2", "acceleration:frame2:world", "integrate",
    "step", "difference", "configuration_rate", "reaction_wrenches",
)  # fmt: skip


@pytest.fixture(scope="module", params=[2, 5], ids=["fixed", "floating"])
def robot(request):
    return ts.Robot(trees.random_tree(request.param, bodies=3, base="fixed" if request.param == 2 else "floating"))


def inputs(robot, name):
    rng = np.random.default_rng(1)
    kernel = robot.kernel(name)
    state = []
    for a in kernel.program.inputs:
        q = a.name in ("q", "q0", "q1")
        state.append(robot.random_configuration(rng) if q else np.array(0.1) if a.name == "dt" else rng.normal(size=a.shape))
    return kernel, state


def directions(robot, kernel, rng):
    shapes = [(robot.nv,) if a.name in ("q", "q0", "q1") else a.shape for a in kernel.program.inputs]
    return [rng.normal(size=shape) for shape in shapes]


def as_tuple(x):
    return x if isinstance(x, tuple) else (x,)


def shift(robot, kernel, state, steps, h):
    rows = zip(kernel.program.inputs, state, steps, strict=True)
    return [robot.integrate(x, h * d) if a.name in ("q", "q0", "q1") else x + h * d for a, x, d in rows]


def change(robot, name, kernel, up, down, h):
    """(y(up) − y(down))/2h, of a configuration as a velocity."""
    moves = {"integrate": (True,), "step": (True, False)}.get(name, (False,))
    rows = zip(moves, as_tuple(up), as_tuple(down), strict=True)
    return [(robot.difference(y, x) if q else np.subtract(x, y)) / (2 * h) for q, x, y in rows]


@pytest.mark.parametrize("name", NAMES)
def test_jvp_equals_central_differences(robot, name):
    kernel, state = inputs(robot, name)
    steps, h = directions(robot, kernel, np.random.default_rng(2)), 1e-6
    up, down = (kernel(*shift(robot, kernel, state, steps, s * h)) for s in (1, -1))
    found = as_tuple(robot.jvp(name)(*state, *steps))
    for x, y in zip(found, change(robot, name, kernel, up, down, h), strict=True):
        assert_close(x, y, 1e-6, floor=1)  # central differences lose half the digits


@pytest.mark.parametrize("name", NAMES)
def test_vjp_is_the_transpose_of_jvp_and_of_the_matrix(robot, name):
    kernel, state = inputs(robot, name)
    rng = np.random.default_rng(3)
    steps = directions(robot, kernel, rng)
    rates = as_tuple(robot.jvp(name)(*state, *steps))
    weights = [rng.normal(size=np.shape(x)) for x in rates]
    gradients = as_tuple(robot.vjp(name)(*state, *weights))
    terms = [np.sum(w * x) for w, x in zip(weights, rates, strict=True)]
    back = [np.sum(g * d) for g, d in zip(gradients, steps, strict=True)]
    scale = max(1, *np.abs(terms), *np.abs(back))
    solves = name in ("forward_dynamics", "step", "mass_matrix_inverse")
    condition = np.linalg.cond(robot.mass_matrix(state[0])) if solves else 1
    assert_close(sum(terms), sum(back), condition=condition, scale=scale)
    matrices = as_tuple(robot.derivative(name, by=[a.name for a in kernel.program.inputs])(*state))
    for k, w in enumerate(weights):
        for j, d in enumerate(steps):
            assert matrices[k * len(steps) + j].shape == (*w.shape, *d.shape)
    flat = [m.reshape(*w.shape, -1) for w in weights[:1] for m in matrices[: len(steps)]]
    total = sum(m @ np.ravel(d) for m, d in zip(flat, steps, strict=True))
    assert_close(total, rates[0], condition=condition, floor=1)


def test_derivative_by_a_wrench_is_the_transposed_jacobian():
    robot = ts.robots.ur5()
    q, F = np.linspace(-1, 1, 6), np.arange(6.0)
    slope = robot.derivative("inverse_dynamics", by="wrenches['tool0']", wrenches=("tool0",))(q, q, q, F)
    assert_close(slope, -robot.jacobian(q, "tool0", "body").T)


def test_gradient_of_forward_dynamics_costs_at_most_2_4_forward_dynamics():
    for robot in (ts.robots.ur5(), ts.robots.panda()):
        assert robot.vjp("forward_dynamics").program.operations <= 2.4 * robot.program("forward_dynamics").operations


def test_gradient_does_not_depend_on_the_length_of_a_quaternion():
    robot = ts.Robot(trees.random_tree(5, bodies=2, base="floating"))
    q, v, a = trees.state(robot, 0)
    w = np.ones(robot.nv)
    longer = q.copy()
    longer[3:7] *= 8.0
    for x, y in zip(robot.vjp("inverse_dynamics")(q, v, a, w), robot.vjp("inverse_dynamics")(longer, v, a, w), strict=True):
        assert_close(x, y)


@pytest.mark.parametrize("mode", ["derivative", "jvp", "vjp"])
def test_wrong_names_of_quantities_and_inputs_are_refused(mode):
    call = getattr(ts.robots.two_link(), mode)
    with pytest.raises(ts.UnknownName, match="quantity"):
        call("gravity", "q")
    with pytest.raises(ts.UnknownName, match="input of gravity_force"):
        call("gravity_force", "v")
    with pytest.raises(ts.ArgumentError, match="by must name one or more inputs"):
        call("gravity_force", [])
    with pytest.raises(ts.ArgumentError, match="twice"):
        call("gravity_force", ["q", "q"])


def test_wrong_shapes_and_nan_are_refused():
    gradient = ts.robots.two_link().vjp("forward_dynamics")
    with pytest.raises(ts.ArgumentError, match="cotangent"):
        gradient([0, 0], [0, 0], [0, 0], [0, 0, 0])
    with pytest.raises(ts.ArgumentError, match="q"):
        gradient([0, np.nan], [0, 0], [0, 0], [0, 0])
