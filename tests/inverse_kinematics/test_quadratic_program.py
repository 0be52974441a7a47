"""Small quadratic programs against least distance programming, and what happens without a solution."""

import numpy as np
import pytest

from tests.inverse_kinematics.least_distance import solve_program
from torsor.algorithms.quadratic_program import Program, quadratic_program
from torsor.algorithms.velocity_within_limits import braking_speed, velocity_bounds


def random_program(rng, n, rows, equations, condition=1e4):
    """A program with bounds, some of them far away or equal, and a point strictly inside the others."""
    Q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    H = (Q * condition ** -rng.random(n)) @ Q.T
    H = (H + H.T) / 2
    inside = rng.normal(size=n)
    lower, upper = inside - rng.uniform(0.01, 1, n), inside + rng.uniform(0.01, 1, n)
    lower[rng.random(n) < 0.2], upper[rng.random(n) < 0.2] = -1e9, 1e9
    same = (rng.random(n) < 0.1) & (np.arange(n) < n - 2)
    lower[same] = upper[same] = inside[same]
    G, E = rng.normal(size=(rows, n)), rng.normal(size=(equations, n))
    return Program(H, -H @ rng.normal(size=n) * 3, lower, upper, G, G @ inside + rng.uniform(0.01, 1, rows), E, E @ inside)


def listed(p):
    return Program(*(np.asarray(x).tolist() for x in p))


@pytest.mark.parametrize(("n", "rows", "equations"), [(1, 0, 0), (4, 0, 0), (8, 0, 0), (8, 3, 0), (8, 0, 2), (12, 4, 2)])
def test_minimum_equals_that_of_least_distance_programming(n, rows, equations):
    rng = np.random.default_rng([n, rows, equations])
    for _ in range(12):
        p = random_program(rng, n, rows, equations)
        x, residual = quadratic_program(listed(p), [1.0] * n, 16)
        assert residual < 1e-11
        assert np.abs(np.array(x) - solve_program(*p)).max() < 1e-8  # the oracle loses √cond(H) digits
        assert (x >= p.lower).all()
        assert (x <= p.upper).all()


def test_redundant_equations_and_rows_are_allowed():
    E = [[1.0, 1.0, 0.0], [2.0, 2.0, 0.0]]
    p = Program(
        np.eye(3).tolist(), [-1.0, -3.0, -5.0], [-9.0] * 3, [9.0] * 3, [[0, 0, 1.0], [0, 0, 2.0]], [1.0, 2.0], E, [1.0, 2.0]
    )
    x, residual = quadratic_program(p, [1.0] * 3)
    assert residual < 1e-9
    assert np.abs(np.array(x) - [-0.5, 1.5, 1.0]).max() < 1e-9


def test_contradicting_rows_have_a_large_residual():
    p = Program([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0], [-1.0, -1.0], [1.0, 1.0], [[1.0, 1.0]], [-3.0])
    x, residual = quadratic_program(p, [1.0, 1.0], 40)
    assert not residual < 1e-3
    assert np.abs(x).max() <= 1


def test_units_of_x_and_of_the_cost_do_not_matter():
    p = random_program(np.random.default_rng(5), 6, 2, 0)
    x, _ = quadratic_program(listed(p), [1.0] * 6, 16)
    c, k = 1e-3, 1e5
    scaled = p._replace(H=p.H * k, g=p.g * k * c, lower=p.lower * c, upper=p.upper * c, h=p.h * c)
    y, _ = quadratic_program(listed(scaled), [c] * 6, 16)
    assert np.abs(np.array(y) / c - x).max() < 1e-9


def test_braking_speed_stops_at_the_limit_in_steps():
    a, dt, room, v = 7.0, 0.01, 0.4, None
    for _ in range(200):
        v, before = braking_speed(room, a, dt), v
        assert before is None or before - v <= a * dt * (1 + 1e-9)
        room -= v * dt
        assert room > -1e-15
    assert room < 1e-3
    assert braking_speed(-0.1, a, dt) == pytest.approx(-0.1 / dt)
    assert braking_speed(0.3, 1e9, dt) == pytest.approx(0.3 / dt, rel=1e-5)


def test_positions_go_before_velocities_and_velocities_before_accelerations():
    room = [1.0, -0.1, 1.0, 0.5, 1.0], [1.0, 1.0, 1e-6, 0.5, -0.1]
    low, up = velocity_bounds(room, [0.0, 0.0, 3.0, 9.0, 0.0], [2.0] * 5, [10.0] * 5, 0.01, 0.01)
    assert (low[0], up[0]) == pytest.approx((-0.1, 0.1))
    assert low[1] == up[1] == pytest.approx(10.0)  # back within one step, however fast
    assert low[4] == up[4] == pytest.approx(-10.0)
    assert low[2] == up[2]
    assert up[2] < 1.01e-4  # stops, however hard
    assert low[3] == up[3] == 2.0  # from above the speed limit
