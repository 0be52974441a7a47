"""Derivatives of long steps by columns, against forward mode through every operation."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import torsor as ts
from tests import trees
from tests.derivatives.test_step import inputs_and_spaces, rates_by_direction
from tests.tolerance import assert_close
from torsor.errors import TorsorError
from torsor.kernels import columns
from torsor.kernels.columns import ColumnKernel
from torsor.kernels.derivatives import explicit
from torsor.model.joints import Prismatic, Revolute, Spherical
from torsor.spatial import Vec

KINDS = (Revolute(Vec(0, 0, 1)), Spherical(), Prismatic(Vec(1, 0, 0)))
TREES = {
    "fixed": lambda: trees.random_tree(2, bodies=2, base="fixed", couplings=False),
    "mimic and ball joints": lambda: trees.random_tree(3, bodies=5, base="floating", kinds=KINDS),
}


@pytest.fixture
def always_by_columns(monkeypatch):
    """Derivatives of robots with few joints too are computed by columns."""
    monkeypatch.setattr(columns, "FEW", dict.fromkeys(columns.FEW, 0))


@pytest.mark.parametrize("integrator", ["rk4", "midpoint", pytest.param("variational", marks=pytest.mark.night)])
@pytest.mark.parametrize("tree", [pytest.param(x, marks=() if x == "fixed" else pytest.mark.night) for x in TREES])
def test_derivative_of_a_step_by_columns_equals_forward_mode(always_by_columns, tree, integrator):
    robot = ts.Robot(TREES[tree]()).with_damping(True)
    options = {"wrenches": (robot.frames[-1],), "expressed_in": "world"}
    spec = robot.spec(f"step:{integrator}", **options)
    x, spaces = inputs_and_spaces(robot, spec)
    x[spaces[3].start] = 0.001  # dt [s]: ten iterations find the solution of an implicit step
    by = ("tau", "q", "dt", "v")
    kernel = robot.derivative(f"step:{integrator}", by, **options)
    assert isinstance(kernel, ColumnKernel)
    given = [np.reshape(x[s.start : s.start + s.argument.size], s.argument.shape) for s in spaces]
    found = dict(zip((o.name for o in kernel.outputs), kernel(*given), strict=True))
    expected = rates_by_direction(explicit(robot.kernels, spec).at(x), x, spaces)
    condition, start = np.linalg.cond(robot.mass_matrix(given[0])), 0
    for space in spaces[:4]:
        for row, y in enumerate(("q", "v")):
            block = expected[row * robot.nv : (row + 1) * robot.nv, start : start + space.size]
            result = found[f"d{y}/d{space.argument.name}"]
            assert_close(result, block.reshape(result.shape), condition=condition)
        start += space.size


def test_derivative_by_columns_of_a_batch_has_the_bits_of_single_states_and_fills_out(always_by_columns):
    robot, rng = ts.robots.two_link(), np.random.default_rng(0)
    q, v, tau = rng.normal(size=(3, 1, 5, 2))
    kernel = robot.derivative("step:rk4", ("q", "tau"))
    batch = kernel(q, v, tau, 0.01)
    assert [x.shape for x in batch] == [(1, 5, 2, 2)] * 4
    out = tuple(np.empty((2, 2)) for _ in range(4))
    assert kernel(q[0, 3], v[0, 3], tau[0, 3], 0.01, out=out) is out
    assert all((x == y[0, 3]).all() for x, y in zip(out, batch, strict=True))
    again = pickle.loads(pickle.dumps(kernel))
    assert all((x == y).all() for x, y in zip(again(q, v, tau, 0.01), batch, strict=True))
    A, B = robot.linearize(q, v, tau, dt=0.01, integrator="rk4")
    assert_close(A[..., :2], np.concatenate([batch[0], batch[2]], axis=-2))
    assert_close(B, np.concatenate([batch[1], batch[3]], axis=-2))


def test_derivative_by_columns_names_the_state_that_is_not_finite(always_by_columns):
    robot = ts.robots.two_link()
    kernel = robot.derivative("step:rk4", "q")
    v = np.zeros((3, 2))
    v[1] = 1e200
    with pytest.raises(TorsorError, match=r"not finite at batch index \(1,\)"):
        kernel(np.zeros((3, 2)), v, np.zeros(2), 0.01)
    v[1] = np.nan
    with pytest.raises(TorsorError, match="v"):
        kernel(np.zeros((3, 2)), v, np.zeros(2), 0.01)


@pytest.mark.night
def test_derivative_of_a_runge_kutta_step_of_a_humanoid_is_short():
    """As one program it has two million operations, and took 29 s to compile."""
    robot = ts.robots.humanoid()
    kernel = robot.derivative("step:rk4", ("q", "v", "tau"))
    assert isinstance(kernel, ColumnKernel)
    assert kernel.product.operations < 110_000


def test_only_matrices_of_long_steps_are_computed_by_columns():
    robot = ts.robots.ur5()
    for name in ("step:midpoint", "step:variational"):
        assert isinstance(robot.derivative(name, "q"), ColumnKernel)
        assert not isinstance(robot.jvp(name), ColumnKernel)
        assert not isinstance(robot.kernel(name), ColumnKernel)
    for name in ("step", "step:rk4", "step:euler", "mass_matrix"):
        assert not isinstance(robot.derivative(name, "q"), ColumnKernel)


def test_derivative_by_columns_by_a_wrench_and_of_an_empty_batch(always_by_columns):
    robot = ts.robots.two_link()
    kernel = robot.derivative("step:rk4", "wrenches['tip']", wrenches=("tip",))
    state = np.zeros(2), np.ones(2), np.zeros(2), 0.01
    f = np.array([0.0, 0.0, 0.3, 0.1, -0.2, 0.0])
    found = kernel(*state, f)
    assert [x.shape for x in found] == [(2, 6)] * 2
    ahead, behind = (robot.step(*state, integrator="rk4", wrenches={"tip": f + e * np.eye(6)[3]}) for e in (1e-4, -1e-4))
    assert_close(found[1][:, 3], (ahead.v - behind.v) / 2e-4, relative=1e-8)  # the error of the differences
    assert [x.shape for x in kernel(np.zeros((0, 2)), *state[1:], f)] == [(0, 2, 6)] * 2
