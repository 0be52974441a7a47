"""Forward dynamics by articulated bodies and by the factors of M: the same result, and their accuracy against fifty digits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import pytest

import torsor as ts
from tests.tolerance import assert_close
from torsor import algorithms
from torsor.errors import ArgumentError, UnknownName
from torsor.model import Model

METHODS = ("aba", "factors")


def chain(n: int, last: float = 1.0) -> ts.Robot:
    """n bodies of 1 m and 1 kg in a row, about y and x in turn; the last has another mass [kg]."""
    b = ts.Builder("chain").link("base")
    for k in range(n):
        m = last if k == n - 1 else 1.0
        b.link(f"body{k}", m, com=(0, 0, -0.5), inertia=(m / 8, m / 8, m / 128))
        parent, at = (f"body{k - 1}", (0, 0, -1)) if k else ("base", (0, 0, 0))
        b.joint(f"joint{k}", "revolute", parent, f"body{k}", axis=(k % 2, 1 - k % 2, 0), xyz=at)
    return b.build()


def exact(x: Any) -> Any:
    """The same numbers with fifty digits, in nested tuples; integers, which are structure, stay."""
    if not isinstance(x, tuple):
        return mpmath.mpf(x) if type(x) is float else x
    parts = [exact(y) for y in x]
    return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)


def exact_model(model: Model) -> Model:
    """A model whose products of constants have fifty digits too."""
    return replace(model, **{name: exact(getattr(model, name)) for name in ("offset", "inertia", "armature", "gravity")})


def errors(robot: ts.Robot, states: int) -> np.ndarray:
    """The largest error of a relative to the largest acceleration, against fifty digits: median over states, per method."""
    rng, found = np.random.default_rng(1), []
    for _ in range(states):
        x = rng.uniform(-np.pi, np.pi, robot.nv), *rng.normal(size=(2, robot.nv))
        with mpmath.workdps(50):
            right = algorithms.aba(exact_model(robot.model), *(exact(tuple(part.tolist())) for part in x))
            rows = [algorithms.forward_dynamics(robot.model, *(y.tolist() for y in x), method=m) for m in METHODS]
            found.append([max(abs(a - b) for a, b in zip(row, right, strict=True)) / max(map(abs, right)) for row in rows])
    return np.median(np.array(found, dtype=float), axis=0)


def test_the_two_methods_agree_over_fifty_digits():
    robot = chain(5)
    x = np.random.default_rng(2).normal(size=(3, 5))
    with mpmath.workdps(50):
        given, model = [exact(tuple(part.tolist())) for part in x], exact_model(robot.model)
        one, other = (algorithms.forward_dynamics(model, *given, method=m) for m in METHODS)
        assert max(abs(a - b) for a, b in zip(one, other, strict=True)) < mpmath.mpf(10) ** -45


def test_error_of_articulated_bodies_grows_slowest_with_the_length_of_a_chain():
    """Ascher, Pai & Cloutier (1997), cited by F&O §2: the articulated-body algorithm is the more accurate one."""
    (aba2, factors2), (aba24, factors24) = errors(chain(2), 5), errors(chain(24), 3)
    assert max(aba2, factors2) < 1e-15
    assert aba24 < 1e-14
    assert 1e-14 < factors24 < 1e-11


def test_both_methods_lose_digits_with_a_heavy_last_link():
    aba, factors = errors(chain(8, 2.0**20), 5)
    assert 1e-13 < aba < factors < 1e-8
    assert max(errors(chain(8, 2.0**-20), 5)) < 1e-14


@pytest.mark.parametrize("method", METHODS)
def test_method_is_an_option_of_methods_kernels_batches_and_derivatives(method):
    robot = ts.robots.ur5()
    rng = np.random.default_rng(3)
    q, v, tau = robot.random_configuration(rng, 3), *rng.normal(size=(2, 3, 6))
    F = {"tool0": rng.normal(size=6)}
    expected = robot.forward_dynamics(q, v, tau, F)
    found = robot.forward_dynamics(q, v, tau, F, method=method)
    cond = np.linalg.cond(robot.mass_matrix(q)).max()
    assert_close(found, expected, condition=cond)
    for k in range(3):
        np.testing.assert_array_equal(robot.forward_dynamics(q[k], v[k], tau[k], F, method=method), found[k])
    name = f"forward_dynamics:{method}"
    assert robot.kernel(name).name.endswith(name)
    weights = rng.normal(size=6)
    gradients = (robot.vjp(x)(q[0], v[0], tau[0], weights) for x in (name, "forward_dynamics"))
    for one, other in zip(*gradients, strict=True):
        assert_close(one, other, condition=cond)
    assert_close(robot.derivative(name, "q")(q, v, tau), robot.derivative("forward_dynamics", "q")(q, v, tau), condition=cond)


def test_methods_that_a_robot_does_not_have_are_refused():
    robot, panda = ts.robots.ur5(), ts.robots.panda()
    rest = [0.0] * 6
    for wrong in ("ABA", "crba", 3):
        with pytest.raises(UnknownName, match="method must be one of aba, factors"):
            robot.forward_dynamics(rest, rest, rest, method=wrong)
    with pytest.raises(UnknownName, match="method"):
        robot.kernel("forward_dynamics:crba")
    for _ in range(2):
        with pytest.raises(ArgumentError, match="robot 'panda' has mimic joints"):
            panda.forward_dynamics(*(np.zeros(n) for n in (panda.nq, panda.nv, panda.nv)), method="aba")
    bars = ts.mechanisms.four_bar()
    still = np.zeros(bars.nv)
    with pytest.raises(ArgumentError, match="method= selects an algorithm for trees"):
        bars.forward_dynamics(bars.neutral(), still, still, method="aba")
