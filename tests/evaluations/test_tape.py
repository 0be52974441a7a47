"""Tapes: the same bits as straight-line code, in every width, precision and batch, and the same errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import torsor as ts
from torsor import scalar as s
from torsor.compile import Argument, Kernel, forms, interpret, outline, record
from torsor.compile import kernel as kernels
from torsor.compile.llvm import native
from torsor.compile.slots import PRODUCT, TURN
from torsor.compile.tape import tape
from torsor.errors import ArgumentError, TorsorError


def every_operation(x):
    """All operations that a program can have, and sums and products in each of their fused forms."""
    a, b, c, d = x
    near = s.sin(a) * s.cos(b)  # only one of each sin, cos pair
    less = s.where(a < b, c - a * b, a * b - c)
    names = (s.tanh, s.exp, s.absolute, s.sign, s.sin, s.cos)
    singles = [f(a * d) for f in names]
    singles += [s.sqrt(s.absolute(b)), s.log(1 + c * c), s.asin(s.tanh(a)), s.acos(s.tanh(b)), s.atan2(c, d)]
    pairs = [s.minimum(a, b), s.maximum(c, d), s.where(a <= c, a, c), a / (1 + b * b), -(a * c), 2 - a * 3, c * 5 - 7, a - b]
    return {"first": [near, less, *singles], "second": [*pairs, near + less, 0.0, -0.0, 1.5, a]}


def calls_of_two_functions(x):
    """Functions whose results are used at once, later, as operands, and as they were given."""
    first = s.repeatable(lambda x: [s.sin(x[0]) * x[1], x[0] / (2 + x[1] * x[1]), x[0], 0.5])
    second = s.repeatable(lambda x, y: [s.cos(y[0]) - x[0] * y[0], s.where(x[1] < y[1], x[1], y[1] * 3), x[0] * y[1] - x[1]])
    a = first(x[:2])
    b = first([a[1], x[2]])
    c = second(a[:2], b[:2])
    d = second(b[1:3], c[:2])
    e = first([d[2], c[0]])
    return {"y": [*a, *b, *c, *d, *e], "z": d[0] + a[1]}


PROGRAMS = {
    "calls": lambda: record(calls_of_two_functions, [Argument("x", (3,))]),
    "operations": lambda: record(every_operation, [Argument("x", (4,))]),
    "dynamics": lambda: ts.robots.quadruped().program("forward_dynamics"),
    "matrix": lambda: ts.robots.panda().program("coriolis_matrix"),
    "number": lambda: ts.robots.ur5().program("kinetic_energy"),
    "sparse": lambda: record(lambda x: {"y": [x[k % 4] if k % 9 == 5 else 0.0 for k in range(101)]}, [Argument("x", (4,))]),
    "configuration": lambda: ts.robots.quadruped().program("difference"),
}


def compile_kernel(monkeypatch, program, long, width, fma=None, dtype=np.float64):
    """A kernel whose programs are tapes from ``long`` operations on, for vectors of this many doubles."""
    own = native.host()
    host = replace(own, width=width, fma=own.fma if fma is None else fma)
    monkeypatch.setattr(kernels, "available", lambda: host)
    monkeypatch.setattr(forms, "LONG", long)
    monkeypatch.setattr(outline, "SHORT", 0)
    monkeypatch.setattr(outline, "SHORT_IF_MANY", 0)
    kernel = Kernel(program, dtype=dtype)
    kernel._library("one"), kernel._library("batch")
    return kernel


def states(program, count, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1, 1, size=(count, *a.shape)) for a in program.inputs]


def as_bytes(results, dtype=np.float64):
    """The bits of each result; a number of a single state is returned as a float."""
    return [np.asarray(r, dtype).tobytes() for r in (results if isinstance(results, tuple) else (results,))]


@pytest.mark.parametrize("dtype", [np.float64, pytest.param(np.float32, marks=pytest.mark.night)])
@pytest.mark.parametrize("width", [1, 4, *(pytest.param(n, marks=pytest.mark.night) for n in (2, 8))])
@pytest.mark.parametrize("name", PROGRAMS)
def test_tape_has_the_bits_of_straight_line_code(name, width, dtype, monkeypatch):
    program = PROGRAMS[name]()
    arrays = [a.astype(dtype) for a in states(program, 37)]
    straight = compile_kernel(monkeypatch, program, 10**9, native.host().width, dtype=dtype)
    taped = compile_kernel(monkeypatch, program, 0, width, dtype=dtype)
    batch, state = straight(*arrays), [a[5] for a in arrays]
    assert as_bytes(taped(*arrays), dtype) == as_bytes(batch, dtype)
    fifth = tuple(r[5] for r in (batch if isinstance(batch, tuple) else (batch,)))
    assert as_bytes(taped(*state), dtype) == as_bytes(fifth, dtype)


@pytest.mark.parametrize("name", PROGRAMS)
def test_tape_without_fused_operations_has_the_bits_of_straight_line_code(name, monkeypatch):
    program = PROGRAMS[name]()
    arrays = states(program, 11)
    straight = compile_kernel(monkeypatch, program, 10**9, 4, fma=False)
    taped = compile_kernel(monkeypatch, program, 0, 4, fma=False)
    assert as_bytes(taped(*arrays)) == as_bytes(straight(*arrays))


@pytest.mark.parametrize(("name", "value"), [("matrix", np.nan), ("matrix", np.inf), ("dynamics", np.nan), ("dynamics", 1e200)])
def test_tape_reports_values_that_are_not_finite_as_straight_line_code_does(name, value, monkeypatch):
    program = PROGRAMS[name]()
    arrays = states(program, 21)
    arrays[1][13, 0] = value  # a velocity
    messages = []
    for long in (10**9, 0):
        kernel = compile_kernel(monkeypatch, program, long, 4)
        with pytest.raises(TorsorError) as batch:
            kernel(*arrays)
        with pytest.raises(TorsorError) as one:
            kernel(*(a[13] for a in arrays))
        messages.append((str(batch.value), str(one.value)))
        assert np.isfinite(kernel(*(a[:13] for a in arrays))).all()
    assert messages[0] == messages[1]


def test_tape_reports_nan_in_an_input_that_nothing_depends_on(monkeypatch):
    program = record(lambda x: {"y": [x[0] * x[0] + 1]}, [Argument("x", (2,))])
    kernel = compile_kernel(monkeypatch, program, 0, 4)
    with pytest.raises(ArgumentError, match="x"):
        kernel(np.array([1.0, np.nan]))
    assert kernel(np.array([2.0, 1e300])) == [5.0]


def test_tape_with_more_slots_than_sixteen_bits_can_count(monkeypatch):
    numbers = np.linspace(0.5, 1.5, 66_000).tolist()  # one slot per number

    def f(x):
        total = 0
        for c in numbers:
            total = total + c * x[0]
        return {"y": [total, x[1]]}

    program = record(f, [Argument("x", (2,))])
    x = np.array([[1.0, 2.0], [-3.0, 0.5], [0.1, 7.0]])
    kernel = compile_kernel(monkeypatch, program, 0, 4)
    expected = np.stack([x[:, 0] * np.sum(numbers), x[:, 1]], axis=1)
    np.testing.assert_allclose(kernel(x), expected, rtol=1e-12)
    assert kernel(x)[1].tobytes() == kernel(x[1]).tobytes()


def test_records_of_a_function_occur_once_however_often_it_is_called(monkeypatch):
    monkeypatch.setattr(outline, "SHORT", 0)
    monkeypatch.setattr(outline, "SHORT_IF_MANY", 0)

    def repeat(times):
        def function(x):
            again = s.repeatable(lambda x: [s.sin(x[0]) * x[1] + x[0] * x[0], *[x[1] * x[1] + k * x[0] for k in range(50)]])
            for _ in range(times):
                x = again(x[:2])
            return {"y": x[:2]}

        return tape(outline.outline(record(function, [Argument("x", (2,))])), True, False, [[(0, 0)], [(0, 1)]])

    two, nine = repeat(2), repeat(9)
    assert len(nine.runs) > 3 * len(two.runs)
    assert len(nine.records) < len(two.records) + 7 * 4 * 8


def test_slots_of_results_are_used_again():
    """Christoffel symbols have n³ results; if kept until the end, they would fill the caches."""
    program = ts.robots.quadruped().program("christoffel_symbols")
    columns = [[(0, k)] for k in range(program.outputs[0].size)]
    made = tape(outline.outline(program), True, False, columns)
    assert made.slots < len(columns) // 4
    assert all(run.records % TURN == 0 for run in made.runs if run.kind == PRODUCT)


@pytest.mark.night
def test_christoffel_symbols_of_a_humanoid_are_a_tape_that_agrees_with_numpy():
    robot = ts.robots.humanoid()
    kernel = robot.kernel("christoffel_symbols")
    assert kernel.operations >= forms.LONG
    q = robot.random_configuration(0)
    (expected,) = interpret(kernel.program, [q])
    np.testing.assert_allclose(kernel(q), expected, rtol=0, atol=1e-12 * np.abs(expected).max())
