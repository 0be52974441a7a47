"""O(log N) forward dynamics: divide and conquer for trees, constraint forces for chains."""

from __future__ import annotations

import dataclasses

import mpmath
import numpy as np
import pytest

import torsor as ts
from tests.trees import random_tree as described
from torsor import large
from torsor.algorithms import aba, crba
from torsor.algorithms.constraint_force import complement, dual
from torsor.algorithms.joining import EMPTY, OpenJoint, compliance, join_to_joint, join_to_segment
from torsor.errors import ArgumentError, SingularError, UnknownName
from torsor.mechanics.large import chains
from torsor.mechanics.large.constraint_force import odd_even, solve_sequentially
from torsor.mechanics.large.contraction import contraction, preorder
from torsor.mechanics.large.divide_and_conquer import plan
from torsor.mechanics.large.steps import depth, height
from torsor.model.joints import Floating, Prismatic, Revolute, Universal
from torsor.spatial import Motion, Subspace, Vec
from torsor.spatial.matrix import Matrix, Vector

METHODS = ("divide_and_conquer", "constraint_force", "constraint_force_sequential")
X, Y, Z = Vec(1, 0, 0), Vec(0, 1, 0), Vec(0, 0, 1)


def state(tree, seed=0):
    rng = np.random.default_rng(seed)
    return tree.random_configuration(rng), rng.normal(size=tree.nv), rng.normal(size=tree.nv)


def backward_error(tree, q, v, tau, a):
    """‖M a + h − τ‖ / (‖h‖ + ‖τ‖) by RNEA: the relative change of τ for which a would be exact."""
    h = tree.inverse_dynamics(q, v, np.zeros(tree.nv))
    return abs(tree.inverse_dynamics(q, v, a) - tau).max() / (abs(h).max() + abs(tau).max())


# -- agreement ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.night) for k in range(1, 6))])
def test_divide_and_conquer_agrees_with_aba_on_trees_with_every_joint_type(seed):
    robot = ts.Robot(described(seed, bodies=4 + 2 * seed, couplings=False))
    tree = large.LargeTree.of(robot)
    q, v, tau = state(robot, seed)
    expected = np.array(aba(robot.model, q.tolist(), v.tolist(), tau.tolist()))
    M = np.array(crba(robot.model, q.tolist()))
    error = abs(tree.forward_dynamics(q, v, tau, method="divide_and_conquer") - expected).max() / abs(expected).max()
    assert error < 1e-14 * np.linalg.cond(M)  # effect of rounding M alone


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [1, 2, 3, 10, 33])
def test_o_log_n_methods_agree_with_aba_on_chains_with_every_joint_type(method, n):
    tree = large.random_tree(n, np.random.default_rng(n), branching=0.0)
    q, v, tau = state(tree, n)
    expected = tree.forward_dynamics(q, v, tau, method="aba")
    assert backward_error(tree, q, v, tau, tree.forward_dynamics(q, v, tau, method=method)) < 1e-12
    np.testing.assert_allclose(
        tree.forward_dynamics(q, v, tau, method=method), expected, atol=1e-10 * abs(expected).max(), rtol=0
    )  # 1e-10: the condition of M reaches 1e5 in 33 random bodies


@pytest.mark.parametrize("method", METHODS)
def test_o_log_n_methods_agree_with_aba_on_chains_with_armatures(method):
    tree = large.random_tree(6, np.random.default_rng(4), branching=0.0)
    tree = dataclasses.replace(tree, armature=np.linspace(0.1, 2.0, tree.nv))
    q, v, tau = state(tree, 4)
    expected = tree.forward_dynamics(q, v, tau, method="aba")
    np.testing.assert_allclose(tree.forward_dynamics(q, v, tau, method=method), expected, atol=1e-11 * abs(expected).max())


def test_divide_and_conquer_agrees_with_the_dense_solution():
    """Compared with NumPy's solution of M a = τ − h."""
    robot = ts.Robot(described(3, bodies=6, base="floating", couplings=False))
    tree = large.LargeTree.of(robot)
    q, v, tau = state(robot, 5)
    a = np.linalg.solve(robot.mass_matrix(q), tau - robot.bias_force(q, v))
    np.testing.assert_allclose(tree.forward_dynamics(q, v, tau, method="divide_and_conquer"), a, rtol=1e-9, atol=1e-9)


def test_o_log_n_methods_accept_batches():
    tree = large.random_tree(5, np.random.default_rng(2), branching=0.0)
    q, v, tau = (np.stack(x) for x in zip(*(state(tree, k) for k in range(3)), strict=True))
    for method in METHODS:
        got = tree.forward_dynamics(q[:, None], v[:, None], tau, method=method)
        assert got.shape == (3, 3, tree.nv)
        assert (got[1, 2] == tree.forward_dynamics(q[1], v[1], tau[2], method=method)).all()


@pytest.mark.parametrize("method", METHODS)
def test_o_log_n_methods_balance_forces_on_ten_thousand_links(method):
    """cond(M) of ten thousand links is about 1e12, so the test requires only M a + h = τ."""
    rope = large.chain(10_000)
    rng = np.random.default_rng(4)
    q, v, tau = (0.1 * rng.normal(size=rope.nv) for _ in range(3))
    assert backward_error(rope, q, v, tau, rope.forward_dynamics(q, v, tau, method=method)) < 1e-9


def test_divide_and_conquer_balances_forces_on_a_tree_of_3000_bodies():
    tree = large.random_tree(3000, np.random.default_rng(5), branching=0.3)
    q, v, tau = state(tree)
    assert backward_error(tree, q, v, tau, tree.forward_dynamics(q, v, tau, method="divide_and_conquer")) < 1e-10


# -- refused and accepted trees ----------------------------------------------------------------------------------


def with_bodies(mass, parent=None):
    """A chain of revolute joints whose bodies have these masses; massless bodies have no inertia."""
    mass = np.array(mass, dtype=float)
    n = len(mass)
    tree = large.chain(n)
    parent = tree.parent if parent is None else np.array(parent)
    fields = {"mass": mass, "h": mass[:, None] * [0.1, 0.2, -0.3], "I": np.outer(mass, [1.0, 0, 0, 1, 0, 1])}
    return large.LargeTree(parent, tree.kind, tree.types, tree.E, np.full((n, 3), 0.2), armature=np.zeros(n), **fields)


def test_massless_body_between_two_revolute_joints_is_accepted():
    """Two revolute joints with a massless body between them act as a universal joint: not singular."""
    tree = with_bodies([1, 0, 2, 0, 1, 0, 0, 1])
    q, v, tau = state(tree)
    expected = tree.forward_dynamics(q, v, tau, method="aba")
    np.testing.assert_allclose(tree.forward_dynamics(q, v, tau, method="divide_and_conquer"), expected, rtol=1e-10)


def test_massless_body_with_children_agrees_with_aba():
    tree = with_bodies([1, 0, 1, 1, 2, 1], parent=[-1, 0, 1, 1, 3, 3])
    q, v, tau = state(tree)
    expected = tree.forward_dynamics(q, v, tau, method="aba")
    np.testing.assert_allclose(tree.forward_dynamics(q, v, tau, method="divide_and_conquer"), expected, rtol=1e-10)


def test_divide_and_conquer_names_a_massless_tip():
    tree = with_bodies([1, 2, 0])
    with pytest.raises(SingularError, match="body 2 moves no mass"):
        tree.forward_dynamics(*state(tree), method="divide_and_conquer")


def test_constraint_force_needs_inertias_and_names_the_body():
    tree = with_bodies([1, 0, 2])
    with pytest.raises(SingularError, match="body 1 has no mass"):
        tree.forward_dynamics(*state(tree), method="constraint_force")


def test_constraint_force_refuses_trees_and_names_alternatives():
    tree = with_bodies([1, 1, 1], parent=[-1, 0, 0])
    with pytest.raises(ArgumentError, match=r"body 2 is attached to body 0.*divide_and_conquer"):
        tree.forward_dynamics(*state(tree), method="constraint_force")


# -- steps -------------------------------------------------------------------------------------------------------

N = 4096
TREES = {
    "chain": np.arange(-1, N - 1),
    "star": np.r_[-1, np.zeros(N - 1, dtype=int)],
    "binary": (np.arange(N) - 1) // 2,
    "caterpillar": np.where(np.arange(N) % 2 == 0, np.arange(N) - 2, np.arange(N) - 1),
    "broom": np.where(np.arange(N) < N // 2, np.arange(N) - 1, N // 2 - 1),
    "random": np.array([-1, *(int(np.random.default_rng(k).integers(0, k)) for k in range(1, N))]),
    "deep random": np.array([-1, *(int(np.random.default_rng(k).integers(max(0, k - 3), k)) for k in range(1, N))]),
}
TREES["caterpillar"][0] = -1


@pytest.mark.parametrize("name", TREES)
def test_number_of_contraction_rounds_grows_with_log_n(name):
    """⌈log₂ N⌉ = 12 rounds for the chain; no tree takes more than three times as many."""
    made = contraction(TREES[name], np.ones(N, dtype=int))
    assert made.rounds <= 3 * np.log2(N)
    assert made.depth <= 12 * np.log2(N)
    if name in ("chain", "star"):
        assert made.rounds <= np.log2(N) + 2


@pytest.mark.parametrize("name", TREES)
def test_contraction_removes_every_body_once_after_its_descendants(name):
    steps = contraction(TREES[name], np.ones(N, dtype=int)).steps
    every = np.arange(N)
    taken = np.concatenate([every[s.bodies] for s in steps if s.kind != "open"])
    assert sorted(taken) == list(range(N))
    place = np.empty(N + 1, dtype=int)
    place[taken] = np.arange(N)
    place[N] = N  # the base
    rakes = [s for s in steps if s.kind == "rake"]
    for s in rakes:
        above = np.arange(N + 1)[s.parents]
        assert (place[every[s.bodies]] < place[above]).all()


def test_preorder_lists_each_subtree_contiguously():
    order = preorder(np.array([-1, 0, 1, 0, 1, -1, 3]))
    assert list(order) == [0, 1, 2, 4, 3, 6, 5]


def test_depth_of_o_log_n_methods_is_far_below_that_of_aba():
    rope = large.chain(1024)
    assert depth(rope, "aba") == 3 * 1024
    assert depth(rope, "constraint_force_sequential") > 2048
    assert depth(rope, "constraint_force") < 120
    assert depth(rope, "divide_and_conquer") < 160
    assert depth(large.chain(2**20), "divide_and_conquer") < 2 * depth(rope, "divide_and_conquer")
    assert height(TREES["binary"]) == 13
    with pytest.raises(UnknownName, match="aba"):
        depth(rope, "magic")


def test_plan_of_a_tree_is_made_once():
    rope = large.chain(50)
    assert plan(rope) is plan(rope)


# -- the small problems ------------------------------------------------------------------------------------------


def spd(rng, rank=6):
    A = rng.normal(size=(6, rank))
    return A @ A.T


def test_compliance_is_correct_for_singular_matrices():
    """G = (1 + ΦJ)⁻¹Φ, also where Φ or J has no inverse."""
    rng = np.random.default_rng(6)
    for ranks in ((6, 6), (1, 6), (6, 5), (3, 5), (0, 6)):
        Phi, J = (spd(rng, r) for r in ranks)
        expected = np.linalg.solve(np.eye(6) + Phi @ J, Phi)
        np.testing.assert_allclose(compliance(Matrix(Phi.tolist()), Matrix(J.tolist())), expected, rtol=1e-14, atol=1e-11)


def test_joining_is_associative_in_fifty_digits():
    """The same chain joined from either end, over mpmath numbers: onto_joint inwards, onto_segment outwards."""
    kinds = [Revolute(X), Prismatic(Y), Universal(Z, X)]
    model = ts.Robot(described(11, bodies=3, base="fixed", couplings=False, kinds=kinds)).model
    with mpmath.workdps(50):
        rng = np.random.default_rng(8)
        number = lambda x: mpmath.mpf(float(x))  # noqa: E731
        joints, bodies = [], []
        for i in range(1, 4):
            d = model.joint[i].nv
            q = [number(x) for x in rng.normal(size=model.joint[i].nq)]
            X_i = model.joint[i].transform(q) @ model.offset[i]
            joints.append(
                OpenJoint(X_i, model.joint[i].subspace(q), [number(0.1)] * d, [number(x) for x in rng.normal(size=d)])
            )
            bodies.append(
                (Matrix([[number(x) for x in row] for row in spd(rng)]), Vector(number(x) for x in rng.normal(size=6)))
            )
        inward = EMPTY
        for joint, body in reversed(list(zip(joints, bodies, strict=True))):
            inward, _ = join_to_joint(joint, *body, inward)
        outward, _ = join_to_joint(joints[0], *bodies[0])
        for joint, body in zip(joints[1:], bodies[1:], strict=True):
            outward, _ = join_to_segment(outward, Matrix([[0] * 6] * 6), Vector([0] * 6), join_to_joint(joint, *body)[0])
        for one, other in zip(inward, outward, strict=True):
            difference = max(abs(x - y) for x, y in zip(flat(one), flat(other), strict=True))
            assert difference < 1e-12  # from the shift in ``root``; everything else is exact to 50 digits


def flat(x):
    return [y for row in x for y in (row if isinstance(row, tuple) else (row,))]


def test_force_bases_are_orthogonal_or_dual_to_the_subspaces():
    """TᵀS = 0, TᵀT = 1, SᵀS* = 1 for every joint type."""
    rng = np.random.default_rng(9)
    for joint in (*chains.EVERY_TYPE, Universal(X, Z), Floating()):
        S = joint.subspace([float(x) for x in joint.random(rng, [-np.inf] * joint.nq, [np.inf] * joint.nq)])
        T = np.array(complement(S)).reshape(-1, 6)
        columns = np.array([[*s.w, *s.v] for s in S])
        assert T.shape == (6 - joint.nv, 6)
        np.testing.assert_allclose(T @ columns.T, 0, atol=1e-15)
        np.testing.assert_allclose(T @ T.T, np.eye(len(T)), rtol=1e-14, atol=1e-15)
        np.testing.assert_allclose(
            columns @ np.array([[*f.m, *f.f] for f in dual(S)]).T, np.eye(joint.nv), rtol=1e-14, atol=1e-14
        )


def test_complement_of_an_axis_aligned_column_has_rank_five():
    assert np.linalg.matrix_rank(complement(Subspace((Motion.of([0, 0, 0, 0, 0, 1.0]),)))) == 5


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 31])
def test_block_tridiagonal_solvers_agree_with_the_dense_solution(n):
    """Compared with a dense solution."""
    rng = np.random.default_rng(n)
    C = rng.normal(size=(n, 6, 6))
    C[0] = 0
    D = np.array([20 * np.eye(6) + spd(rng) for _ in range(n)])
    r = rng.normal(size=(n, 6))
    A = np.zeros((6 * n, 6 * n))
    for i in range(n):
        A[6 * i : 6 * i + 6, 6 * i : 6 * i + 6] = D[i]
        if i:
            A[6 * i : 6 * i + 6, 6 * i - 6 : 6 * i] = C[i]
            A[6 * i - 6 : 6 * i, 6 * i : 6 * i + 6] = C[i].T
    row = np.concatenate([D[:, *np.triu_indices(6)], r], axis=1)
    expected = np.linalg.solve(A, r.ravel()).reshape(n, 6)
    for solver in (odd_even, solve_sequentially):
        np.testing.assert_allclose(solver(row, C.reshape(n, 36)), expected, rtol=1e-14, atol=1e-13)
