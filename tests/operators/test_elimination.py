"""F&O 27 in its perfect elimination order: factors without fill-in, and O(N) nonzeros."""

from __future__ import annotations

import numpy as np
import pytest

from torsor.large import LargeTree, chain, random_tree
from torsor.mechanics.large.sparse import forward_dynamics
from torsor.mechanics.operators.bodies import BodyArrays
from torsor.mechanics.operators.operators import of_bodies
from torsor.model.joints import Revolute
from torsor.spatial import Vec


def star(n: int) -> LargeTree:
    """n rods attached to one moving body."""
    rope = chain(n, Revolute(Vec(1, 0, 0)))
    parent = np.where(np.arange(n) == 0, -1, 0)
    return LargeTree(parent, rope.kind, rope.types, rope.E, rope.r, rope.mass, rope.h, rope.I)


TREES = {
    "chain": chain,
    "star": star,
    "random tree": lambda n: random_tree(n, np.random.default_rng(5)),
    "random chain": lambda n: random_tree(n, np.random.default_rng(6), branching=0.0),
}


def system(tree):
    rng = np.random.default_rng(0)
    q, v, tau = tree.random_configuration(rng), 0.1 * rng.normal(size=tree.nv), rng.normal(size=tree.nv)
    return of_bodies(BodyArrays.of_tree(tree, q, v), v, tau)


@pytest.mark.parametrize("shape", TREES)
def test_elimination_has_no_fill_in_outside_the_tree(shape):
    """Block (i, j) of L is empty unless j is i or a child of i; the rows of a_i contain only a_i and β_i."""
    o = system(TREES[shape](60))
    e, b = o.elimination, o.bodies
    assert (e.lu.perm_r == e.lu.perm_c).all(), "no pivoting"
    whose = np.concatenate([np.repeat(np.arange(len(b)), 6), b.body[b.armature != 0], o.constrained])[e.order]
    at = np.empty_like(e.lu.perm_r)
    at[e.lu.perm_c] = np.arange(len(at))  # SuperLU may postorder the elimination tree: same pattern, children still first
    whose = whose[at]
    for factor in (e.lu.L, e.lu.U.T):
        rows, columns = factor.tocoo().coords
        outer, inner = whose[rows], whose[columns]
        assert ((outer == inner) | (outer == b.parent[inner])).all()


@pytest.mark.parametrize("shape", TREES)
def test_nonzeros_of_the_factors_grow_linearly_with_the_bodies(shape):
    """The number of nonzeros per body is the same for 50 and for 800 bodies; the next test has an order for which it grows."""
    few, many = (system(TREES[shape](n)) for n in (50, 800))
    per_body = [o.elimination.lu.nnz / len(o.bodies) for o in (few, many)]
    assert per_body[1] <= 1.1 * per_body[0]
    assert many.elimination.K.nnz <= 260 * len(many.bodies)
    assert per_body[1] <= 260


def test_elimination_from_base_to_tips_has_fill_in():
    """The elimination order matters: from the base to the tips, the factors of a star have fill-in."""
    from scipy.sparse.linalg import splu

    o = system(star(60))
    e = o.elimination
    force = np.arange(e.K.shape[0]) >= o.P.shape[0]
    whose = np.concatenate([np.repeat(np.arange(60), 6), o.constrained])
    other = np.lexsort((force, whose))
    lu = splu(e.K[other][:, other].tocsc(), "NATURAL", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    assert lu.nnz > 3 * e.lu.nnz


@pytest.mark.parametrize("shape", TREES)
def test_sparse_method_on_large_trees_equals_the_dense_solution(shape):
    """The method "sparse" against a dense solution of M a = τ − h, from the recursions over floats (eq. 26)."""
    tree = TREES[shape](40)
    rng = np.random.default_rng(3)
    q, v, tau = tree.random_configuration(rng, (2,)), rng.normal(size=(2, tree.nv)), rng.normal(size=tree.nv)
    a = forward_dynamics(tree, q, v, tau)
    for k in range(2):
        o = of_bodies(BodyArrays.of_tree(tree, q[k], v[k]), v[k], tau)
        S = np.linalg.solve(o.P.toarray(), o.H.toarray())
        M = S.T @ o.I.toarray() @ S
        expected = np.linalg.solve(M, S.T @ (o.f_a - o.v_Iv - o.I @ np.linalg.solve(o.P.toarray(), o.c)))
        tolerance = max(1e-12, 100 * np.finfo(float).eps * np.linalg.cond(M))
        assert np.abs(a[k] - expected).max() <= tolerance * np.abs(expected).max()


def test_hanging_rope_has_zero_acceleration():
    rope = chain(2000)
    assert np.abs(forward_dynamics(rope, rope.neutral(), np.zeros(2000), np.zeros(2000))).max() <= 1e-9
