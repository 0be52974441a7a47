"""The bounded complementarity problem: closed forms, enumeration of active sets, redundant and degenerate problems."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torsor.errors import ArgumentError, SingularError
from torsor.simulate.complementarity import lemke, solve

INF = np.inf


def largest_violation(A, b, lower, upper, x, w):
    """The largest violation of w = A x + b, l ≤ x ≤ u and the signs of w."""
    wrong = [A @ x + b - w, lower - x, x - upper, np.where(x > lower, w, 0), np.where(x < upper, -w, 0)]
    return max(abs(wrong[0]).max(), *(float(np.max(p)) for p in wrong[1:]))


def enumerate_active_sets(A, b, lower, upper):
    """The solution w, by trying lower, between, upper for each coordinate."""
    n, found = len(b), []
    for sides in product((-1, 0, 1), repeat=n):
        s = np.array(sides)
        if (np.isinf(lower) & (s < 0)).any() or (np.isinf(upper) & (s > 0)).any():
            continue
        x, F = np.where(s < 0, lower, np.where(s > 0, upper, 0.0)), np.flatnonzero(s == 0)
        if len(F):
            x[F] = np.linalg.solve(A[np.ix_(F, F)], -(A[F] @ np.where(s == 0, 0, x) + b[F]))
        w = A @ x + b
        w[F] = 0
        if largest_violation(A, b, lower, upper, x, w) < 1e-9:
            found.append((x, w))
    return found


def random_bounds(rng, n):
    """Bounds of every kind: one-sided, two-sided, none, equal."""
    kinds = rng.integers(0, 5, n)
    low, high = -rng.uniform(0, 2, n), rng.uniform(0, 2, n)
    lower = np.select([kinds == 0, kinds == 1, kinds == 2, kinds == 3], [0 * low, -INF + 0 * low, low, -INF + 0 * low], low)
    upper = np.select([kinds == 0, kinds == 1, kinds == 2, kinds == 3], [INF + 0 * low, 0 * low, high, INF + 0 * low], low)
    return lower, upper


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5))
def test_random_problems_agree_with_enumeration_of_active_sets(seed, n):
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(n, n))
    A, b = J @ J.T + 0.05 * np.eye(n), 3 * rng.normal(size=n)
    lower, upper = random_bounds(rng, n)
    x, w = solve(A, b, lower, upper)
    found = enumerate_active_sets(A, b, lower, upper)
    assert found
    for x0, w0 in found:  # more than one active set if bounds are equal, with the same solution
        np.testing.assert_allclose(x, x0, atol=1e-9)
        np.testing.assert_allclose(w, w0, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 25))
def test_larger_problems_satisfy_their_conditions(seed, n):
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(n, n))
    A, b = J @ J.T + 0.05 * np.eye(n), 3 * rng.normal(size=n)
    lower, upper = random_bounds(rng, n)
    x, w = solve(A, b, lower, upper)
    assert largest_violation(A, b, lower, upper, x, w) < 1e-8


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 12))
def test_redundant_contacts_have_unique_accelerations(seed, n):
    """A = J Jᵀ of rank n/2, b = J a: w minimises |a + Jᵀx| and is unique, although x is not."""
    rng = np.random.default_rng(seed)
    J, a = rng.normal(size=(n, (n + 1) // 2)), rng.normal(size=(n + 1) // 2)
    J = np.concatenate([J, J[: n // 2]])  # some contacts appear twice
    lower, upper = np.zeros(len(J)), np.full(len(J), INF)
    x, w = solve(J @ J.T, J @ a, lower, upper)
    assert largest_violation(J @ J.T, J @ a, lower, upper, x, w) < 1e-8
    order = rng.permutation(len(J))
    np.testing.assert_allclose(solve((J @ J.T)[np.ix_(order, order)], (J @ a)[order], lower, upper).w, w[order], atol=1e-7)


def test_box_on_four_corners_shares_its_weight():
    """A level box of 2 kg on four corners, 3 degrees of freedom: forces add up to m g at rest; pulled up, it lifts off."""
    g, m, inertia = 9.81, 2.0, 0.1
    J = np.array([[1, x, y] for x in (-0.5, 0.5) for y in (-0.5, 0.5)], float)
    A = J @ np.diag([1 / m, 1 / inertia, 1 / inertia]) @ J.T
    x, w = solve(A, J @ [-g, 0, 0], np.zeros(4), np.full(4, INF))
    assert x.sum() == pytest.approx(m * g, rel=1e-12)
    assert (w == 0).all()
    x, w = solve(A, J @ [0.5, 0, 0], np.zeros(4), np.full(4, INF))
    assert (x == 0).all()
    np.testing.assert_allclose(w, 0.5)


def test_block_with_friction_sticks_slides_and_is_at_its_limit():
    """m a = f + x, |x| ≤ 3: a = 0 for f up to and including 3, and (f − 3)/m above."""
    for f, a in ((2.9, 0.0), (3.0, 0.0), (-3.0, 0.0), (3.5, 0.25), (-4.0, -0.5)):
        x, w = solve([[0.5]], [0.5 * f], [-3.0], [3.0])
        assert w[0] == pytest.approx(a, abs=1e-15)
        assert (w == 0).all() == (abs(f) <= 3)
        assert x[0] == pytest.approx(-np.clip(f, -3, 3))


@pytest.mark.parametrize("n", [1, 2, 6])
def test_degenerate_problems_terminate(n):
    """b = 0, equal rows, x on its bound with w = 0: every ratio is a tie."""
    for A in (np.eye(n), np.ones((n, n)), np.zeros((n, n))):
        x, w = solve(A, np.zeros(n), np.zeros(n), np.full(n, INF))
        assert (x == 0).all()
        assert (w == 0).all()
        x, w = solve(A, A @ -np.ones(n), np.zeros(n), np.full(n, INF))
        np.testing.assert_allclose(A @ x, A @ np.ones(n))
        assert (w == 0).all()


def test_units_of_coordinates_do_not_matter():
    """With forces in N or µN and accelerations scaled accordingly, the active set is the same."""
    rng = np.random.default_rng(1)
    J, b = rng.normal(size=(6, 6)), rng.normal(size=6)
    A, lower, upper = J @ J.T, np.r_[np.zeros(3), -np.ones(3)], np.r_[np.full(3, INF), np.ones(3)]
    x, w = solve(A, b, lower, upper)
    d = 10.0 ** rng.integers(-6, 7, 6)
    x1, w1 = solve(A * d[:, None] * d, b * d, lower / d, upper / d)
    np.testing.assert_allclose(x1 * d, x, rtol=1e-8, atol=1e-12)
    np.testing.assert_array_equal(w1 == 0, w == 0)


@pytest.mark.parametrize("size", [1e-30, 7.5e-10, 1.0, 1e12])
def test_scaled_problem_has_the_scaled_solution(size):
    """From an iCub that comes to rest: only the last joint moves into its stop, at 7.5e-10 rad/s."""
    A = np.diag([240.416, 274.095, 4.039, 1639.337])
    A[2, 3] = A[3, 2] = -1.927
    x, w = solve(A, size * np.array([0.0, 0.0, 0.0, 1.0]), np.full(4, -INF), np.zeros(4))
    held = np.linalg.solve(A[2:, 2:], [0.0, -size])
    np.testing.assert_allclose(x, [0.0, 0.0, *held], rtol=1e-9)
    assert (w == 0).all()


def test_empty_problem_has_an_empty_solution():
    x, w = solve(np.zeros((0, 0)), np.zeros(0), np.zeros(0), np.zeros(0))
    assert x.shape == w.shape == (0,)


def test_impossible_conditions_are_refused():
    with pytest.raises(SingularError, match="contradict"):
        solve([[0.0]], [-1.0], [0.0], [INF])
    with pytest.raises(SingularError, match="contradict"):
        lemke(np.array([[0.0, 1.0], [-1.0, 0.0]]), np.array([-1.0, -1.0]))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((np.eye(2), [0.0], [0.0], [1.0]), r"must be \(n, n\)"),
        (([[np.nan]], [0.0], [0.0], [1.0]), "finite"),
        (([[1.0]], [np.nan], [0.0], [1.0]), "finite"),
        (([[1.0]], [INF], [0.0], [1.0]), "finite"),
        (([[1.0]], [0.0], [np.nan], [1.0]), "lower ≤ upper"),
        (([[1.0]], [0.0], [0.0], [np.nan]), "lower ≤ upper"),
        (([[1.0]], [0.0], [1.0], [0.0]), "lower ≤ upper"),
        (([[1.0]], [0.0], [INF], [INF]), "lower ≤ upper"),
    ],
)
def test_invalid_problems_are_refused(words, message):
    with pytest.raises(ArgumentError, match=message):
        solve(*words)
