"""Predicted rounding errors compared with actual ones."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import torsor as ts
from torsor import algorithms as alg
from torsor.checks.certify.comparison import Comparison, compare, worst
from torsor.checks.certify.rounding import EPS, deviations
from torsor.compile import Argument, record
from torsor.scalar import sin, sqrt, where


def sigma(function, x):
    return deviations(record(lambda v: {"y": function(v)}, [Argument("x", np.shape(x)[-1:])]), [np.asarray(x, float)])[0]


def test_rounding_error_of_a_cancelling_sum_is_that_of_its_terms():
    """(x² − 1) − (x − 1)(x + 1) is 0, with an error of ε times the cancelling terms."""
    x = 1.0 + 1e-3
    assert sigma(lambda v: (v[0] * v[0] - 1) - (v[0] - 1) * (v[0] + 1), [x]) > 0.9 * EPS * x * x


def test_exact_operations_have_no_rounding_error():
    assert sigma(lambda v: -v[0], [0.1]) == 0
    assert sigma(lambda v: where(v[0] < v[1], v[0], v[1]), [0.1, 0.2]) == 0


def test_rounding_error_ignores_the_branch_not_taken():
    assert np.isfinite(sigma(lambda v: where(v[0] > 0, v[0] * 2, sqrt(v[0] - 5)), [3.0]))


def test_rounding_error_grows_in_division_by_a_small_number():
    d = 1e-8
    near = sigma(lambda v: 1 / (v[0] * v[0] - 1), [np.sqrt(1 + d)])
    assert near == pytest.approx(EPS / d**2, rel=1e-3)  # ∂y/∂(x² − 1) = −y², and x² was rounded


def test_rounding_error_has_the_shape_of_batch_and_result():
    x = np.random.default_rng(0).normal(size=(2, 3, 2))
    assert sigma(lambda v: [[v[0] + v[1]], [sin(v[0])]], x).shape == (2, 3, 2, 1)


@pytest.mark.parametrize("name", ["two_link", "scara", "ur5"])
def test_actual_rounding_errors_stay_within_a_few_sigma(name):
    """τ and a over Python floats, against the same source with 50 digits: σ is neither too small nor far too large."""
    robot = getattr(ts.robots, name)()
    rng = np.random.default_rng(5)
    ratios = []
    for _ in range(5):
        q, v, a = robot.random_configuration(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
        program = robot.program("inverse_dynamics")
        with mpmath.workdps(50):
            exact = alg.rnea(robot.model, *([mpmath.mpf(x) for x in part.tolist()] for part in (q, v, a)))
            off = [float(abs(x - y)) for x, y in zip(robot.inverse_dynamics(q, v, a).tolist(), exact, strict=True)]
        ratios += (np.array(off) / deviations(program, [q, v, a])[0]).tolist()
    assert max(ratios) < 5
    assert max(ratios) > 0.01


def test_worst_entry_is_relative_to_its_tolerance():
    c = Comparison(np.array([[1.0, 2.0]]), np.array([[0.5, 10.0]]), np.array([4.0]), (("small", "large"),))
    found = worst(c)
    assert (found.error, found.allowed, found.place, found.ok) == (0.25, 0.125, "sample 0, small", False)


def test_nan_is_the_worst_entry():
    c = compare(np.array([[1.0, np.nan]]), np.array([[1.0, 1.0]]), 0.0)
    assert not worst(c).ok
    assert worst(c).place == "sample 0, 1"
    assert not worst(compare(np.array([[1.0]]), np.array([[1.0]]), np.nan)).ok


def test_zero_tolerance_needs_exact_equality():
    assert worst(compare(np.zeros((2, 3)), np.zeros((2, 3)), 0.0)).ok
    assert worst(compare(np.zeros((1, 0)), np.zeros((1, 0)), 0.0)).ok
