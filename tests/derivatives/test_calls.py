"""Functions that a program with calls repeats: their derivatives are recorded once, and equal those of each repetition."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests.tolerance import assert_close
from torsor.compile import Argument, Kernel, forward, outline, record
from torsor.compile.derivative import Linearization
from torsor.kernels import calls as module
from torsor.kernels.calls import record_with_calls
from torsor.scalar import cos, repeatable, sin

X = [Argument("x", (3,))]
STATES = np.random.default_rng(0).normal(size=(5, 3))
square = record(lambda x: {"y": [x[0] * x[0] + sin(x[1])]}, [Argument("x", (2,))])


def iterate(calls, x):
    """Three turns of a function that uses a value from outside and a call, and a fourth with a constant."""
    outside = sin(x[2])

    def turn(y):
        (inner,) = calls(lambda z: Linearization.of(square, z), [y[0], outside], 1)
        return [0.3 * inner + y[1] * outside, cos(y[0]) / (2 + y[1] * y[1]), y[0]]

    again, y = repeatable(turn), list(x[:2])
    for _ in range(3):
        y = again(y[:2])
    return {"y": [*y, *again([y[0], 0.5])]}


def straight(x):
    return iterate(lambda at, arguments, _: at(arguments).results, x)


@pytest.fixture
def outlined(monkeypatch):
    monkeypatch.setattr(outline, "SHORT", 0)
    monkeypatch.setattr(outline, "SHORT_IF_MANY", 0)


def by_push(x):
    p, calls = record_with_calls(iterate, X)
    at = Linearization.of(p, x, calls)
    columns = at.push([{k: 1} for k in range(3)])
    single = [at.push([{k: 1}])[0] for k in range(3)]
    return {"y": at.results, "both": [list(row) for row in zip(*columns, strict=True)], "one": single}


def by_pull(x):
    p, calls = record_with_calls(iterate, X)
    at = Linearization.of(p, x, calls)
    rows = [at.pull([int(k == j) for j in range(6)]) for k in range(6)]
    return {"rows": [[row.get(k, 0) for k in range(3)] for row in rows]}


@pytest.mark.usefixtures("outlined")
def test_rates_and_adjoints_equal_those_of_straight_line_code():
    expected = Kernel(forward(record(straight, X), ("x",)))(STATES)
    y, both, one = Kernel(record(by_push, X))(STATES)
    assert_close(y, Kernel(record(straight, X))(STATES))
    assert_close(both, expected)
    assert_close(np.swapaxes(one, -1, -2), expected)
    assert_close(Kernel(record(by_pull, X))(STATES), expected)


def test_turns_are_copies_of_one_recording():
    p, calls = record_with_calls(iterate, X)
    pushed = record(lambda x: {"rates": Linearization.of(p, x, calls).push([{0: 1}])[0]}, X)
    assert [len(r.starts) for r in pushed.repeats] == [3, 2]  # the first turn of the rates has another pattern of zeros


def test_numbers_and_points_inside_another_repeated_function_are_differentiated_too():
    p, calls = record_with_calls(iterate, X)
    at = Linearization.of(p, STATES[0].tolist(), calls)
    expected = Kernel(forward(record(straight, X), ("x",)))(STATES[0])
    assert_close(np.array(at.push([{k: 1} for k in range(3)])).T, expected)

    def within(x):
        def mean(x):
            pairs = zip(by_push(x)["both"], by_pull(x)["rows"], strict=True)
            return [(r + s) / 2 for pushed, pulled in pairs for r, s in zip(pushed, pulled, strict=True)]

        again = repeatable(mean)
        return {"a": again(x), "b": again([2 * a for a in x])}

    a, b = Kernel(record(within, X))(STATES)
    whole = Kernel(forward(record(straight, X), ("x",)))
    assert_close(a, whole(STATES).reshape(5, -1))
    assert_close(b, whole(2 * STATES).reshape(5, -1))


@pytest.mark.parametrize("integrator", ["rk4", "midpoint", "variational"])
@pytest.mark.parametrize("mode", ["jvp", "vjp"])
def test_derivative_of_a_step_equals_that_without_copies(monkeypatch, mode, integrator):
    make = ts.robots.pendulum if integrator == "variational" else ts.robots.two_link

    def evaluate():
        kernel, rng = getattr(make(), mode)(f"step:{integrator}"), np.random.default_rng(1)
        results = kernel(*(0.01 if not a.shape else rng.normal(size=a.shape) for a in kernel.inputs))
        return len(kernel.program.repeats), results

    count, copied = evaluate()
    monkeypatch.setattr(module, "linearize_once", lambda at: at)
    none, expected = evaluate()
    assert count > none == 0
    for x, y in zip(copied, expected, strict=True):
        assert_close(x, y)


@pytest.mark.night
@pytest.mark.parametrize("mode", ["jvp", "vjp"])
@pytest.mark.parametrize("integrator", ["midpoint", "variational"])
def test_an_implicit_step_of_a_quadruped_is_compiled_as_one_iteration(mode, integrator):
    program = getattr(ts.robots.quadruped(), mode)(f"step:{integrator}").program
    assert 9 <= max(len(r.starts) for r in program.repeats) <= 10
    assert outline.outline(program).operations < 0.3 * program.operations
