"""Results for Dask arrays equal those for NumPy arrays bit for bit."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import torsor as ts

da = pytest.importorskip("dask.array", reason="the extra cluster is not installed")

RNG = np.random.default_rng(5)
Q, V, A = RNG.normal(size=(3, 40, 5, 2))


@pytest.fixture(scope="module")
def robot():
    return ts.robots.two_link()


def as_dask(x, *chunks):
    return da.from_array(x, chunks=chunks or (7, 2, 2))


METHODS = {
    "inverse_dynamics": (Q, V, A),
    "forward_dynamics": (Q, V, A),
    "mass_matrix": (Q,),
    "kinetic_energy": (Q, V),
    "christoffel_symbols": (Q,),
    "integrate": (Q, V),
    "difference": (Q, V),
    "distance": (Q, V),
    "velocity_from_rate": (Q, V),
}


@pytest.mark.parametrize("name", METHODS)
def test_robot_methods_accept_dask_arrays(name, robot):
    arguments = METHODS[name]
    result = getattr(robot, name)(*map(as_dask, arguments))
    expected = getattr(robot, name)(*arguments)
    assert isinstance(result, da.Array)
    assert result.shape == expected.shape
    assert result.dtype == expected.dtype
    assert result.chunks[:2] == as_dask(Q).chunks[:2]  # chunks are those of the batch
    assert all(len(blocks) == 1 for blocks in result.chunks[2:])
    assert (result.compute() == expected).all()
    with ts.threads(1):
        assert (result.compute(scheduler="synchronous") == expected).all()


def test_dask_arrays_with_frames_wrenches_and_damping_equal_numpy(robot):
    F = RNG.normal(size=(40, 5, 6))
    assert (robot.jacobian(as_dask(Q), "tip").compute() == robot.jacobian(Q, "tip")).all()
    result = robot.with_damping(True).inverse_dynamics(Q, V, A, wrenches={"tip": da.from_array(F, chunks=(9, 5, 3))})
    assert isinstance(result, da.Array)
    assert (result.compute() == robot.with_damping(True).inverse_dynamics(Q, V, A, wrenches={"tip": F})).all()


def test_fused_kernel_of_a_dask_array_returns_all_results(robot):
    M, E = robot.kernel("mass_matrix", "kinetic_energy")(as_dask(Q), V)
    assert (M.compute() == robot.mass_matrix(Q)).all()
    assert (E.compute() == robot.kinetic_energy(Q, V)).all()


def test_dask_arrays_broadcast_single_and_empty_states(robot):
    assert (robot.bias_force(as_dask(Q), V[:1]).compute() == robot.bias_force(Q, V[:1])).all()
    assert (robot.bias_force(as_dask(Q[0], 2, 2), V).compute() == robot.bias_force(Q[0], V)).all()
    assert robot.kinetic_energy(da.from_array(Q[0, 0]), V[0, 0]).compute() == robot.kinetic_energy(Q[0, 0], V[0, 0])
    assert robot.bias_force(as_dask(Q[:0], 1, 2, 2), [0.0, 0.0]).compute().shape == (0, 5, 2)


def test_dask_chunks_that_split_a_state_are_joined(robot):
    result = robot.gravity_force(as_dask(Q, 7, 5, 1))
    assert result.chunks == as_dask(Q, 7, 5, 2).chunks
    assert (result.compute() == robot.gravity_force(Q)).all()


def test_dask_arrays_of_float32_and_of_unknown_length_are_accepted(robot):
    assert robot.kernel("mass_matrix", dtype=np.float32)(as_dask(Q)).dtype == np.float32
    flat = da.from_array(Q.reshape(-1, 2), chunks=(30, 2))
    some = flat[flat[:, 0] > 0]
    assert (robot.gravity_force(some).compute() == robot.gravity_force(Q[Q[..., 0] > 0])).all()


def test_dask_results_can_be_arguments_of_the_next_call(robot):
    """One lazy graph of several calls; nothing is computed before compute()."""
    q = as_dask(Q)
    worst = abs(robot.forward_dynamics(q, as_dask(V), robot.inverse_dynamics(q, as_dask(V), as_dask(A))) - as_dask(A)).max()
    assert worst.compute() < 1e-12 * 100  # cond(M) of this arm is below 100 at these states


def test_dask_arrays_of_a_robot_with_loops_equal_numpy():
    robot = ts.mechanisms.four_bar()
    q = np.array([robot.assemble() for _ in range(6)])
    tau = RNG.normal(size=(6, robot.nv))
    v = np.zeros((6, robot.nv))
    result = robot.forward_dynamics(da.from_array(q, chunks=(4, -1)), v, tau)
    assert isinstance(result, da.Array)
    assert (result.compute() == robot.forward_dynamics(q, v, tau)).all()


def test_invalid_dask_arguments_are_refused_before_compute(robot):
    with pytest.raises(ts.ArgumentError, match=r"q has shape \(4, 3\), expected \(..., 2\)"):
        robot.mass_matrix(da.ones((4, 3)))
    with pytest.raises(ts.ArgumentError, match="batch axes do not match"):
        robot.bias_force(as_dask(Q), np.ones((7, 5, 2)))
    with pytest.raises(ts.ArgumentError, match="real numbers"):
        robot.mass_matrix(da.ones((4, 2), dtype=complex))
    with pytest.raises(ts.ArgumentError, match="out= does not work with Dask arrays"):
        robot.mass_matrix(as_dask(Q), out=np.empty((40, 5, 2, 2)))


def test_dask_values_that_are_not_finite_are_refused_in_compute(robot):
    result = robot.mass_matrix(da.full((4, 2), np.nan))
    with pytest.raises(ts.ArgumentError, match=r"q\[0, 0\] is nan"):
        result.compute()


def test_pickled_kernel_gives_the_same_results(robot):
    kernel = robot.kernel("mass_matrix", "bias_force")
    copy = pickle.loads(pickle.dumps(kernel))
    for x, y in zip(copy(Q, V), kernel(Q, V), strict=True):
        assert (x == y).all()
    assert copy.name == kernel.name
