"""M = L Lᵀ by innovations, against dense algebra: on random trees over floats, on bundled robots compiled and in batches."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import torsor as ts
from tests.tolerance import assert_close
from tests.trees import random_tree, state
from torsor.algorithms import crba, mass_matrix_product, mass_matrix_solve
from torsor.algorithms import innovations as alg
from torsor.errors import ArgumentError, SingularError, UnknownName
from torsor.mechanics.operators import innovations, operators
from torsor.model import Description, Joint, Link
from torsor.model.joints import Revolute
from torsor.robot import Robot
from torsor.spatial import Inertia, Vec

EPS = np.finfo(float).eps
seeds = st.integers(0, 10**6)


def mass_matrix(robot, q):
    return np.array(crba(robot.model, q.tolist()), float)


def columns(function, model, q):
    return np.array([function(model, q.tolist(), e) for e in np.eye(model.nv).tolist()], float).T


@given(seed=seeds)
def test_innovations_factor_times_its_transpose_is_the_mass_matrix(seed):
    """L Lᵀ = M, with every joint type, armatures and couplings."""
    robot = Robot(random_tree(seed, bodies=4))
    q, _, _ = state(robot, seed)
    M, m = mass_matrix(robot, q), robot.model
    L = columns(alg.half_times, m, q)
    assert_close(L @ L.T, M)
    assert_close(columns(alg.half_transpose_times, m, q), L.T)
    assert_close(columns(mass_matrix_product, m, q), M)
    _, logdet = np.linalg.slogdet(M)
    assert abs(alg.log_determinant(m, q.tolist()) - logdet) <= 1e-11 * robot.nv + EPS * np.linalg.cond(M)


@given(seed=seeds)
def test_innovations_half_solve_whitens_the_mass_matrix(seed):
    """L⁻¹ whitens M, and L⁻ᵀ L⁻¹ = M⁻¹."""
    robot = Robot(random_tree(seed, bodies=4))
    q, _, _ = state(robot, seed)
    M, m = mass_matrix(robot, q), robot.model
    L, white = columns(alg.half_times, m, q), columns(alg.half_solve, m, q)
    kappa = np.linalg.cond(M)
    assert_close(white @ L, np.eye(robot.nv), max(1e-12, 10 * EPS * kappa))
    assert_close(white @ M @ white.T, np.eye(robot.nv), max(1e-12, 10 * EPS * kappa))
    assert_close(columns(alg.half_transpose_solve, m, q), white.T, max(1e-12, 10 * EPS * kappa))
    assert_close(columns(mass_matrix_solve, m, q), np.linalg.inv(M), max(1e-12, 100 * EPS * kappa))


@given(seed=seeds)
def test_innovations_factors_equal_the_dense_operator_algebra(seed):
    """1 + HᵀφK and 1 − HᵀψK written out with dense φ, ψ, K from the sparse P and H; the Riccati recursion in NumPy."""
    robot = Robot(random_tree(seed, couplings=False))
    q, _, x = state(robot, seed)
    o = operators(robot, q)
    b, n = o.bodies, robot.nv
    P, H, N = o.P.toarray()[: 6 * len(o.bodies), : 6 * len(o.bodies)], o.H.toarray()[: 6 * len(o.bodies)], len(o.bodies)
    W = np.eye(6 * N) - P
    IA, G, D = b.I.copy(), np.zeros((6 * N, n)), np.zeros((n, n))
    for i in reversed(range(N)):
        own, six = b.coordinate[b.body == i], slice(6 * i, 6 * i + 6)
        h = H[six][:, own]
        Di = h.T @ IA[i] @ h + np.diag(b.armature[b.body == i])
        D[np.ix_(own, own)], G[np.ix_(range(6 * i, 6 * i + 6), own)] = Di, IA[i] @ h @ np.linalg.inv(Di)
        if b.parent[i] >= 0:
            g = G[six][:, own]
            IA[b.parent[i]] += b.X[i].T @ (IA[i] - g @ Di @ g.T) @ b.X[i]
    K, phi = W.T @ G, np.linalg.inv(P).T
    psi = np.linalg.inv(np.eye(6 * N) - W.T + K @ H.T)
    B, C = np.eye(n) + H.T @ phi @ K, np.eye(n) - H.T @ psi @ K
    M = mass_matrix(robot, q)
    tolerance = max(1e-11, 100 * EPS * np.linalg.cond(M))
    assert_close(B @ D @ B.T, M, tolerance)
    assert_close(C @ B, np.eye(n), tolerance)
    made = alg.innovations(robot.model, q.tolist())
    assert_close(np.array(made.times(x.tolist())), B @ x, tolerance)
    assert_close(np.array(made.solve(x.tolist())), C @ x, tolerance)
    assert_close(np.array(made.transpose_times(x.tolist())), B.T @ x, tolerance)
    assert_close(np.array(made.transpose_solve(x.tolist())), C.T @ x, tolerance)


ROBOTS = {"ur5": ts.robots.ur5, "panda": ts.robots.panda}


@pytest.mark.parametrize("name", ROBOTS)
def test_innovations_of_a_batch_equal_dense_algebra(name):
    robot = ROBOTS[name]()
    rng = np.random.default_rng(1)
    q, x = robot.random_configuration(rng, (3, 1)), rng.normal(size=(3, 4, robot.nv))
    f = innovations(robot, q)
    M = robot.mass_matrix(q)
    tolerance = max(1e-12, 10 * EPS * np.linalg.cond(M).max())
    assert_close(f.times(x), np.einsum("...ij,...j->...i", M, x))
    assert_close(f.times(f.solve(x)), x, tolerance)
    assert_close(f.half_times(f.half_transpose_times(x)), f.times(x))
    assert_close(f.half_times(f.half_solve(x)), x, tolerance)
    assert_close(f.half_transpose_times(f.half_transpose_solve(x)), x, tolerance)
    assert_close(f.logdet, np.linalg.slogdet(M)[1], 1e-11)
    assert_close(0.5 * (f.half_transpose_times(x) ** 2).sum(axis=-1), robot.kinetic_energy(q, x))
    again = pickle.loads(pickle.dumps(f))
    assert (again.half_solve(x) == f.half_solve(x)).all()


def test_samples_of_velocity_and_momentum_have_their_covariance():
    """Whitened by NumPy's Cholesky factor, thermal velocities and momenta have covariance kT 1."""
    robot = ts.robots.ur5()
    q, kT, count = robot.random_configuration(3), 0.7, 40_000
    f = innovations(robot, q)
    L = np.linalg.cholesky(robot.mass_matrix(q))
    for of, whiten in (("velocity", L.T), ("momentum", np.linalg.inv(L))):
        white = f.sample(5, count, of=of, kT=kT) @ whiten.T
        spread = kT * np.sqrt(2 / count)  # of an entry of the sample covariance
        assert np.abs(white.T @ white / count - kT * np.eye(6)).max() < 6 * spread
        assert np.abs(white.mean(axis=0)).max() < 6 * np.sqrt(kT / count)
    assert f.sample(1, (2, 3)).shape == (2, 3, 6)
    assert (f.sample(1) == f.sample(np.random.default_rng(1))).all()


def test_innovations_refuses_invalid_arguments():
    robot = ts.robots.two_link()
    f = innovations(robot, [0, 0])
    with pytest.raises(UnknownName, match="momentum, velocity"):
        f.sample(0, of="energy")
    with pytest.raises(ArgumentError, match="kT"):
        f.sample(0, kT=-1)
    with pytest.raises(ArgumentError, match=r"\(\.\.\., 2\)"):
        innovations(robot, [0, 0, 0])
    with pytest.raises(ArgumentError, match="y has shape"):
        f.times([1.0])


def test_innovations_error_names_a_joint_without_mass():
    links = (Link("base"), Link("empty", Inertia.zero()))
    robot = Robot(Description("nothing", links, (Joint("idle", Revolute(Vec(0, 0, 1)), "base", "empty"),)))
    with pytest.raises(SingularError, match="'idle'"):
        innovations(robot, [0.0]).solve([1.0])
