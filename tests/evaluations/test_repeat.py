"""Functions that occur several times in a program: recorded and compiled once, with the results of straight-line code."""

from __future__ import annotations

import math

import numpy as np
import pytest

import torsor as ts
from tests.tolerance import assert_close
from torsor.algorithms.equation import EquationOfMotion
from torsor.algorithms.equation.at import Inputs
from torsor.algorithms.equation.step import step
from torsor.compile import Argument, Kernel, Scan, forward, interpret, outline, record
from torsor.compile.schedule import schedule
from torsor.errors import TorsorError
from torsor.scalar import repeatable, sin

X = [Argument("x", (3,)), Argument("k", ())]
STATES = np.random.default_rng(0).normal(size=(9, 3))


@pytest.fixture(autouse=True)
def _outline_short_programs(monkeypatch):
    monkeypatch.setattr(outline, "SHORT", 0)
    monkeypatch.setattr(outline, "SHORT_IF_MANY", 0)


def step_of_three(x, k):
    """Three numbers to three: sines, products, a division, and a factor k·k that does not depend on x."""
    scale = k * k + 1
    return [sin(x[1]) * scale + x[0] * x[2], x[0] / (1 + x[1] * x[1]) - scale, 0.5 * x[2] * x[0] + k]


def three_copies(x, k):
    again = repeatable(lambda x: step_of_three(x, k[0]))
    y = again(x)
    z = again([a - 0.1 * b for a, b in zip(x, y, strict=True)])
    return {"y": again([a * b for a, b in zip(y, z, strict=True)]), "z": z[1]}


def by_floats(x, k):
    found = three_copies([float(a) for a in x], [float(k)])
    return [*found["y"], found["z"]]


def test_copies_are_noted_in_the_program_and_share_what_does_not_depend_on_operands():
    program = record(three_copies, X)
    (repeat,) = program.repeats
    assert len(repeat.starts) == 3
    stretches = [[op for op, _ in program.code[s : s + repeat.length]] for s in repeat.starts]
    assert stretches[0] == stretches[1] == stretches[2]
    assert program.counts["sin"] == 3
    assert program.counts["div"] == 3
    assert outline.outline(program).operations < program.operations


@pytest.mark.parametrize("k", [0.0, 0.7])
def test_kernel_gives_the_results_of_floats_and_the_same_bits_in_every_form(k):
    program = record(three_copies, X)
    kernel = Kernel(program)
    y, z = kernel(STATES, k)
    assert_close(np.column_stack([y, z]), [by_floats(x, k) for x in STATES])
    for j, x in enumerate(STATES):
        one = kernel(x, k)
        assert np.array_equal(one[0], y[j])
        assert one[1] == z[j]
    scanned = Scan(program, carry={"x": "y"}, fixed=["k"])(STATES, k, steps=2)
    twice = kernel(y, k)
    assert np.array_equal(scanned[0][:, 0], y)
    assert np.array_equal(scanned[0][:, 1], twice[0])
    assert_close(interpret(program, [STATES, np.asarray(k)])[0], y)


def test_single_precision_kernel_of_repeated_code_agrees_with_double():
    program = record(three_copies, X)
    assert_close(Kernel(program, dtype="float32")(STATES, 0.7)[0], Kernel(program)(STATES, 0.7)[0], relative=1e-5)


def test_derivative_of_repeated_code_equals_that_of_straight_line_code():
    copied, straight = (forward(record(f, X), ("x",)) for f in (three_copies, lambda x, k: _without_copies(x, k)))
    assert_close(Kernel(copied)(STATES, 0.3)[0], Kernel(straight)(STATES, 0.3)[0])


def _without_copies(x, k):
    y = step_of_three(x, k[0])
    z = step_of_three([a - 0.1 * b for a, b in zip(x, y, strict=True)], k[0])
    return {"y": step_of_three([a * b for a, b in zip(y, z, strict=True)], k[0]), "z": z[1]}


def test_a_call_with_other_constants_is_recorded_by_itself():
    """x·0 folds in the first call: it must not be copied to operands that are not 0."""
    again = repeatable(lambda x, y: [x[0] * y[0] + x[1], x[0] - y[1]])

    def function(x, k):
        a = again([x[0], x[1]], [0, 1])
        b = again([x[0], x[1]], [x[2], x[1]])
        c = again([x[0], x[1]], [x[0], x[0]])
        return {"y": [*a, *b, *c]}

    program = record(function, X)
    assert [len(r.starts) for r in program.repeats] == [2]  # b and c
    x, y, z = STATES.T
    expected = [y, x - 1, x * z + y, x - y, x * x + y, 0 * x]
    assert_close(Kernel(program)(STATES, 0.0), np.array(expected).T)


def test_an_operand_that_the_function_uses_otherwise_too_is_not_replaced():
    def function(x, k):
        again = repeatable(lambda y: [y[0] * x[0] + x[1]])
        return {"y": again(again([x[0]]))}

    x, y, _ = STATES.T
    assert_close(Kernel(record(function, X))(STATES, 0.0), ((x * x + y) * x + y)[:, None])


def test_copies_that_use_only_some_results_agree_with_numpy():
    again = repeatable(lambda x: [sin(x[0]), x[0] / (x[1] * x[1] + 2)])

    def function(x, k):
        first = again(x[:2])
        second = again([first[1], x[2]])
        return {"y": [second[0]]}

    x, y, z = STATES.T
    assert_close(Kernel(record(function, X))(STATES, 0.0), np.sin(x / (y * y + 2))[:, None])


def test_a_division_by_zero_inside_a_copy_is_found():
    again = repeatable(lambda x: [1 / (1 / x[0])])  # 1/inf = 0: not visible in the result

    def function(x, k):
        return {"y": [again([again([x[0]])[0] * x[1]])[0]]}

    kernel = Kernel(record(function, X))
    with pytest.raises(TorsorError, match="not finite"):
        kernel(np.array([[1.0, 1.0, 1.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]]), 0.0)
    assert kernel(np.array([2.0, 3.0, 1.0]), 0.0) == [6.0]


def test_an_error_while_recording_leaves_the_graph_usable():
    def refuse(x):
        raise ArithmeticError("no")

    again, refused = repeatable(lambda x: [x[0] * x[0]]), repeatable(refuse)

    def function(x, k):
        with pytest.raises(ArithmeticError):
            refused(x)
        return {"y": again(again([x[0]]))}

    assert math.isclose(Kernel(record(function, X))(np.array([1.5, 0.0, 0.0]), 0.0)[0], 1.5**4)


@pytest.mark.parametrize("integrator", ["rk4", "midpoint", "variational"])
def test_rollout_of_a_floating_base_equals_steps_over_floats_and_step(integrator):
    robot, rng = ts.robots.quadruped(), np.random.default_rng(1)
    q, v, tau = robot.random_configuration(rng, 3), rng.normal(size=(3, robot.nv)), rng.normal(size=(3, robot.nv))
    F = rng.normal(size=6)
    given = {"wrenches": ts.WorldAxes({robot.links[-1]: F})}
    end = robot.rollout(q, v, tau[:, None, :], dt=1e-2, integrator=integrator, **given)
    one = robot.step(q[1], v[1], tau[1], 1e-2, integrator, **given)
    assert np.array_equal(one[0], end.q[1, 0])
    assert np.array_equal(one[1], end.v[1, 0])
    wrenches = {robot.links[-1]: F.tolist()}
    state = q[1].tolist(), v[1].tolist(), tau[1].tolist()
    expected = step(EquationOfMotion(robot.model), *state, 1e-2, None, integrator, Inputs(wrenches=wrenches, axes="world"))
    condition = np.linalg.cond(robot.mass_matrix(q[1]))
    assert_close(end.q[1, 0], expected[0], condition=condition)
    assert_close(end.v[1, 0], expected[1], condition=condition)


def test_humanoid_step_by_runge_kutta_is_compiled_as_one_stage():
    program = ts.robots.humanoid().program("step:rk4")
    assert outline.outline(program).operations < program.operations / 2


def test_sines_of_one_input_in_many_copies_are_scheduled_behind_one_input():
    again = repeatable(lambda x, y: [sin(x[0]) * y[0]])

    def run(x):
        y = [x[1]]
        for _ in range(5):
            y = again(x[:1], y)
        return {"y": y}

    program = record(run, [Argument("x", (3,))])
    code = schedule(program, True, [[0]]).code
    assert [args for op, args in code if op == "input"] == [(0,), (1,)]
    assert sum(op == "sin" for op, _ in code) == 5
    assert all(a < k for k, (op, args) in enumerate(code) if op not in ("input", "const") for a in args)
    scan = Scan(program, each=["y"])
    assert_close(scan(STATES), Kernel(program)(STATES))
