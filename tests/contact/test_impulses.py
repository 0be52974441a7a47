"""The solver of impulses over floats: cone, energy and residual, of random problems and of one contact in closed form."""

from __future__ import annotations

import numpy as np
import pytest

from torsor.algorithms import impulses
from torsor.algorithms.impulses import Block, Body, Budget, Problem, Shared


def random_problem(rng, contacts: int, mu: float, freedoms: int) -> tuple[Problem, np.ndarray, np.ndarray]:
    J = rng.normal(size=(3 * contacts, freedoms))
    G = J @ np.diag(10.0 ** rng.uniform(-1, 1, freedoms)) @ J.T + 1e-9 * np.eye(3 * contacts)
    w = rng.normal(size=3 * contacts) - np.tile([0, 0, 0.5], contacts)
    blocks = [Block(3 * k + 2, (3 * k, 3 * k + 1), mu) for k in range(contacts)]
    return Problem.of(G.tolist(), w.tolist(), blocks), G, w


@pytest.mark.parametrize("mu", [0.0, 0.3, 0.8, 2.0])
@pytest.mark.parametrize("budget", [Budget(1, 0), Budget(3, 0), Budget(2, 2)])
def test_every_budget_keeps_the_cone_and_adds_no_energy(mu, budget):
    rng = np.random.default_rng(1)
    for contacts in (1, 2, 4):
        for _ in range(20):
            p, G, w = random_problem(rng, contacts, mu, 4 * contacts + 2)
            lam = impulses.solve_impulses(p, [0.0] * len(w), budget)
            t1, t2, n = np.reshape(lam, (-1, 3)).T
            assert (n >= 0).all()
            assert (np.hypot(t1, t2) <= mu * n * (1 + 1e-14)).all()
            passive = impulses.passive_share(lam, p.response(lam), w.tolist()) * np.array(lam)
            assert passive @ w + passive @ G @ passive / 2 <= 1e-12


@pytest.mark.parametrize(("mu", "share"), [(0.3, 1.0), (0.8, 0.99), (1.0, 0.98)])
def test_one_contact_is_solved_by_few_sweeps(mu, share):
    """Random blocks, far from those of robots: μ = 1 has problems without a solution that slips (Painlevé)."""
    rng = np.random.default_rng(2)
    left = []
    for _ in range(300):
        p, _, w = random_problem(rng, 1, mu, 6)
        lam = impulses.solve_impulses(p, [0.0] * len(w), Budget(6, 0))
        left.append(max(map(abs, impulses.residual(p, lam))))
    assert np.mean(np.array(left) < 1e-9) >= share


def test_sliding_block_has_the_impulse_of_the_closed_form():
    """A point mass: λ_n = −m w_n, λ_t = −μ λ_n w_t/|w_t| while it slips, else it sticks."""
    m = 2.0
    for w_t, mu in (((3.0, -4.0), 0.2), ((0.1, 0.2), 0.9)):
        p = Problem.of((np.eye(3) / m).tolist(), [*w_t, -0.5], [Block(2, (0, 1), mu)])
        lam = impulses.solve_impulses(p, [0.0] * 3, Budget(1, 0))
        against, n = -np.array(w_t), 0.5 * m
        expected = min(m * np.hypot(*w_t), mu * n) * against / np.hypot(*against)
        np.testing.assert_allclose(lam, [*expected, n], rtol=1e-14)


def test_newton_steps_solve_a_stack_of_unequal_masses():
    """1 kg carries 1000 kg: Gauss–Seidel needs some thousand sweeps, two Newton steps none beside the first few."""
    G = np.array([[1.0, -1.0], [-1.0, 1.0 + 1e-3]])
    p = Problem.of(G.tolist(), [-9.81e-3, 0.0], [Block(0), Block(1)])
    lam = impulses.solve_impulses(p, [0.0, 0.0], Budget(3, 2))
    np.testing.assert_allclose(lam, [9.81e-3 * 1001, 9.81e-3 * 1000], rtol=1e-9)


def test_bounds_without_a_normal_are_dry_friction():
    p = Problem.of([[2.0]], [3.0], [Block(None, (0,), hold=0.4)])
    assert impulses.solve_impulses(p, [0.0], Budget()) == [-0.4]
    p = Problem.of([[2.0]], [0.5], [Block(None, (0,), hold=0.4)])
    assert impulses.solve_impulses(p, [0.0], Budget()) == [-0.25]


def test_sweeps_within_bodies_agree_with_sweeps_over_contacts():
    """Four points on each of two bodies: rows are sums of twelve motions; the same velocities, not the same impulses."""
    rng = np.random.default_rng(3)
    W = rng.normal(size=(12, 12))
    W = W @ W.T / 12 + np.eye(12)
    E = np.zeros((24, 12))
    for k in range(8):
        r = rng.uniform(-0.1, 0.1, 3)
        cross = np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
        E[3 * k : 3 * k + 3, 6 * (k // 4) : 6 * (k // 4) + 6] = np.hstack([-cross, np.eye(3)])
    d = np.full(24, 1e-9)
    G, w = E @ W @ E.T + np.diag(d), rng.normal(size=24) - np.tile([0, 0, 1.0], 8)
    blocks = [Block(3 * k + 2, (3 * k, 3 * k + 1), 0.6) for k in range(8)]
    rows = [{j: x for j, x in enumerate(row) if x} for row in E.tolist()]
    bodies = [Body(range(4), range(6)), Body(range(4, 8), range(6, 12))]
    shared = Shared(rows, (W @ E.T).tolist(), d.tolist(), bodies)
    dense = impulses.solve_impulses(Problem.of(G.tolist(), w.tolist(), blocks), [0.0] * 24, Budget(400))
    p = Problem.of(G.tolist(), w.tolist(), blocks, shared)
    by_bodies = impulses.solve_impulses(p, [0.0] * 24, Budget(100, 0, 4))
    np.testing.assert_allclose(p.response(dense), G @ dense, atol=1e-12)
    np.testing.assert_allclose(G @ by_bodies, G @ dense, atol=1e-6)
    assert max(map(abs, impulses.residual(p, by_bodies))) < 1e-7
