"""Products without matrices against the matrices: random trees, constrained robots, and the factors of Pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import torsor as ts
from tests.references.pinocchio_states import ROBOTS, Twin
from tests.relations.test_trees import EPS, Case, seeds
from tests.tolerance import assert_close


@given(seed=seeds)
def test_mass_matrix_product_and_solve_equal_the_matrix(seed):
    c = Case(seed)
    M = c.at("crba", None, False)
    assert_close(c.at("mass_matrix_product"), M @ c.v)
    kappa = np.linalg.cond(M)
    for name in ("mass_matrix_solve", "mass_matrix_solve_by_factors"):
        assert_close(c.at(name, None, M @ c.v), c.v, max(1e-12, 100 * EPS * kappa))


@given(seed=seeds)
@example(seed=126135)  # cond(M) = 7e7: Euler angles near gimbal lock
def test_mass_factors_make_the_mass_matrix(seed):
    """LᵀDL = M with L unit lower triangular, by innovations and by elimination.

    Elimination is backward stable; innovations divide by pivots, so their errors grow with cond(M).
    """
    c = Case(seed)
    M, n = c.at("crba", None, False), c.robot.nv
    for way, relative in (("", max(1e-12, EPS * np.linalg.cond(M))), ("_by_factors", 1e-12)):
        L = np.array([c.at(f"mass_factor_product{way}", None, e) for e in np.eye(n)]).T
        D = c.at(f"mass_factor_diagonal{way}", None, False)
        assert_close(L.T @ np.diag(D) @ L, M, relative)
        assert_close(np.triu(L), np.eye(n))
        assert (D > 0).all()


@given(seed=seeds, expressed_in=st.sampled_from(["world", "body", "space"]))
def test_jacobian_transpose_product_equals_the_jacobian(seed, expressed_in):
    c = Case(seed)
    F = np.random.default_rng(seed).normal(size=6)
    J = c.at("jacobian", None, False, frame=c.frame, expressed_in=expressed_in)
    assert_close(c.at("jacobian_transpose_product", None, F, frame=c.frame, expressed_in=expressed_in), J.T @ F, floor=1)


@pytest.mark.parametrize("name", ["ur_description/urdf/ur5_robot.urdf", "solo_description/robots/solo12.urdf"])
def test_mass_factors_equal_those_of_pinocchio(name):
    """Pinocchio's M = U D Uᵀ has U = Lᵀ; its floating base has its degrees of freedom in another order."""
    t = Twin(ts.load(ROBOTS / name), ROBOTS / name, False)
    q, x = t.robot.random_configuration(0), np.random.default_rng(0).normal(size=t.robot.nv)
    pin.crba(t.model, t.data, t.q(q))
    pin.cholesky.decompose(t.model, t.data)
    assert list(t.v_index) == list(range(t.robot.nv))
    assert_close(t.robot.mass_factor_product(q, x), t.data.U.T @ x)
    assert_close(t.robot.mass_factor_diagonal(q), t.data.D)
    kappa = np.linalg.cond(t.robot.mass_matrix(q))
    assert_close(t.robot.mass_matrix_solve(q, x), pin.cholesky.solve(t.model, t.data, x), max(1e-12, 100 * EPS * kappa))


def held_arm() -> ts.constraints.ConstrainedRobot:
    return ts.robots.ur5().constrained(ts.constraints.point_at("tool0", (0.4, 0.1, 0.3)))


@pytest.mark.parametrize("make", [held_arm, lambda: ts.mechanisms.four_bar().constrained()], ids=["held arm", "four-bar"])
def test_inverse_effective_mass_of_constraints_equals_the_matrices(make):
    held = make()
    q = np.random.default_rng(0).uniform(-1, 1, size=(3, held.robot.nq))
    A, M = held.jacobian(q), held.robot.mass_matrix(q)
    G = held.inverse_effective_mass(q)
    assert_close(G, A @ np.linalg.solve(M, np.swapaxes(A, -1, -2)), condition=np.linalg.cond(M).max() * 1e-2)
    assert (np.swapaxes(G, -1, -2) == G).all()
    assert (held.inverse_effective_mass(q[1]) == G[1]).all()


def test_inverse_effective_mass_without_constraints_is_empty():
    held = ts.robots.two_link().constrained()
    assert held.inverse_effective_mass(np.zeros((3, 2))).shape == (3, 0, 0)


def test_products_take_batches_out_and_refuse_what_is_wrong():
    robot, rng = ts.robots.ur5(), np.random.default_rng(0)
    q, x, F = rng.normal(size=(4, 1, 6)), rng.normal(size=(5, 6)), rng.normal(size=(5, 6))
    M, out = robot.mass_matrix(q), np.empty((4, 5, 6))
    assert robot.mass_matrix_product(q, x, out=out) is out
    assert_close(out, np.einsum("...ij,...j->...i", M, x))
    tau = robot.jacobian_transpose_product(q, F, "tool0", "body")
    assert_close(tau, np.einsum("...ij,...i->...j", robot.jacobian(q, "tool0", "body"), F))
    with pytest.raises(ts.UnknownName, match="no frame or link named 'hand'"):
        robot.jacobian_transpose_product(q, F, "hand")
    with pytest.raises(ts.UnknownName, match="expressed_in must be one of body, space, world, not 'tool'"):
        robot.jacobian_transpose_product(q, F, "tool0", "tool")
    with pytest.raises(ts.ArgumentError, match="wrench has shape"):
        robot.jacobian_transpose_product(q, F[:, :3], "tool0")
    with pytest.raises(ts.ArgumentError, match=r"y.*nan"):
        robot.mass_matrix_solve(q, x * np.nan)


def test_mass_matrix_solve_names_a_joint_that_moves_no_mass():
    bare = ts.Builder("bare").link("base").link("empty").joint("idle", "revolute", "base", "empty", axis=(0, 0, 1)).build()
    assert bare.mass_matrix_product([0.0], [1.0]) == [0.0]
    for method in (bare.mass_matrix_solve, lambda q, x: bare.mass_factor_product(q, x)):
        with pytest.raises(ts.SingularError, match="'idle'"):
            method([0.0], [1.0])


def test_task_joint_force_is_the_product_of_each_frame():
    robot, rng = ts.robots.quadruped(), np.random.default_rng(0)
    task = robot.task([("HR_FOOT", "linear"), ("HL_FOOT", ("vz", "wx"), "body")])
    q, F = robot.random_configuration(rng), rng.normal(size=5)
    assert_close(task.joint_force(q, F), task.jacobian(q).T @ F)
