"""SymPy expressions over torsor's scalars: each function as float, kernel and batch, against SymPy's values."""

import mpmath
import numpy as np
import pytest
import sympy as sp

from torsor.errors import ArgumentError
from torsor.symbolic.expression_program import compile_expression, evaluate, recorder, to_program

x, y = sp.symbols("x y", real=True)

EXPRESSIONS = [
    x + y, x - y - 3, 2 * x / y, x**5, x**-2, sp.sqrt(x), x ** sp.Rational(-3, 2), x**y, sp.pi * x, x * sp.sqrt(2) / 3,
    sp.sin(x), sp.cos(x), sp.tan(x), sp.cot(x), sp.sec(x), sp.csc(x), sp.asin(x / 5), sp.acos(x / 5), sp.atan(x),
    sp.atan2(y, x), sp.exp(x), sp.exp(-x) * y, sp.log(x), sp.tanh(x), sp.sinh(x), sp.cosh(x), sp.Abs(x - y), sp.sign(x - y),
    sp.Min(x, y, 1), sp.Max(x, y, 1), sp.Piecewise((x, x < y), (y, x >= 2 * y), (x * y, True)),
    sp.Piecewise((1, x > y), (2, x <= 0), (3, True)), sp.E**x, sp.Integer(3), sp.Rational(1, 3),
    x / (y * (1 + x)), -x / sp.sqrt(y),
]  # fmt: skip


@pytest.mark.parametrize("e", EXPRESSIONS, ids=str)
def test_every_function_of_an_expression_equals_sympy(e):
    points = np.array([[0.7, 1.3], [1.9, 0.4], [0.25, 0.25]])
    expected = [float(e.subs({x: a, y: b})) for a, b in points]
    assert [float(evaluate(e, {x: a, y: b})) for a, b in points.tolist()] == pytest.approx(expected, rel=1e-14)
    kernel = compile_expression({"r": e}, {"q": [x, y]})
    assert kernel(points) == pytest.approx(expected, rel=1e-13)
    assert kernel(points[0]) == pytest.approx(expected[0], rel=1e-13)


def test_expressions_are_evaluated_over_mpmath_and_symbols():
    with mpmath.workdps(40):
        value = evaluate(sp.sin(x) ** 2 + sp.cos(x) ** 2, {x: mpmath.mpf("0.1")})
    assert abs(value - 1) < 1e-38
    assert evaluate(x * y, {x: sp.Symbol("a"), y: 2}) == 2 * sp.Symbol("a")


def test_common_parts_are_computed_once():
    shared = sp.sin(x + y) * sp.log(x)
    p = to_program({"r": [shared + x, shared * y, shared**2]}, {"q": [x, y]})
    assert p.counts["sin"] == p.counts["log"] == 1


def test_recorded_functions_keep_shapes():
    p = to_program({"M": sp.Matrix([[x, y], [y, x]]), "c": sp.Matrix([x, y]), "s": x}, {"q": [x], "v": [y]})
    assert [o.shape for o in p.outputs] == [(2, 2), (2,), ()]
    assert [a.name for a in p.inputs] == ["q", "v"]


def test_unsupported_expressions_are_refused():
    with pytest.raises(ArgumentError, match="gamma is not supported"):
        evaluate(sp.gamma(x), {x: 1.0})
    with pytest.raises(ArgumentError, match="y has no value; symbols with a value: x"):
        evaluate(x + y, {x: 1.0})
    with pytest.raises(ArgumentError, match=r"m is a symbol where a kernel needs numbers.*with_values"):
        recorder({"r": x * sp.Symbol("m")}, {"q": [x]})
