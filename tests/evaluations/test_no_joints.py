"""Shapes of all quantities of a robot without joints: those of any robot, with 0 for the joints."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests.machine_code import without_machine_code
from torsor import large
from torsor.compile import Argument, Kernel, record
from torsor.kernels.quantities import QUANTITIES
from torsor.mechanics.large.methods import METHODS

POST = ts.Builder("post").link("base", mass=1.0, com=(0, 0, 1)).build()
WORDS = {"frame": "base", "at": "base"}
NAMES = [n if not row.words or row.words[0] not in WORDS else f"{n}:base" for n, row in QUANTITIES.items()]
SHAPES = {
    "mass_matrix": (0, 0),
    "mass_matrix_inverse": (0, 0),
    "coriolis_matrix": (0, 0),
    "christoffel_symbols": (0, 0, 0),
    "jacobian_derivative:base": (6, 0, 0),
    "analytic_jacobian:base": (6, 0),
    "inverse_dynamics_regressor": (0, 0),
    "reaction_wrenches": (0, 6),
}


def test_every_result_has_as_many_axes_as_for_other_robots():
    other = ts.robots.pendulum()
    for name in NAMES:
        if name == "payload_capacity:base":  # refused: no joint carries a load
            continue
        mine, theirs = POST.program(name).outputs, other.program(name).outputs
        assert [len(o.shape) for o in mine] == [len(o.shape) for o in theirs], name
        assert SHAPES.get(name, mine[0].shape) == mine[0].shape, name


def test_results_are_arrays_of_these_shapes_one_state_or_a_batch():
    none = np.zeros(0)
    assert POST.mass_matrix(none).shape == POST.mass_matrix_inverse(none).shape == (0, 0)
    assert POST.mass_matrix(np.zeros((4, 0))).shape == (4, 0, 0)
    assert [x.shape for x in POST.forward_dynamics_derivatives(none, none, none)] == [(0, 0)] * 3
    assert POST.analytic_jacobian(none, "base", rotation="quaternion").shape == (7, 0)


@pytest.mark.parametrize("run", [lambda test: test, without_machine_code], ids=["compiled", "interpreted"])
def test_empty_arguments_of_one_state_and_of_batches_are_broadcast(run):
    def function(x, y):
        return {"z": [y[0] + 1], "none": []}

    @run
    def evaluate(*shapes):
        kernel = Kernel(record(function, [Argument("x", (0,)), Argument("y", (1,))]))
        return kernel(np.zeros((*shapes[0], 0)), np.zeros((*shapes[1], 1)))

    for shapes, batch in {((), ()): (), ((5,), (5,)): (5,), ((3,), (4, 3)): (4, 3), ((4, 1), (3,)): (4, 3)}.items():
        z, none = evaluate(*shapes)
        assert np.array_equal(z, np.ones((*batch, 1)))
        assert none.shape == (*batch, 0)


@pytest.mark.parametrize("method", METHODS)
def test_large_tree_without_joints_has_no_accelerations(method):
    none = np.zeros(0)
    assert large.LargeTree.of(POST).forward_dynamics(none, none, none, method=method).shape == (0,)
