"""The normal form decides equality; the simplified form is the same function."""

import os

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import cos, sin

from torsor.symbolic import is_identical, simplify_trigonometry
from torsor.symbolic.library import exact, fraction

x, y, z, m, L = sp.symbols("x y z m L")

TRUE = [
    (sin(x) ** 2 + cos(x) ** 2, 1),
    (sin(2 * x), 2 * sin(x) * cos(x)),
    (cos(x - y + 2 * z), sp.expand_trig(cos(x - y + 2 * z))),
    (sin(x / 2) ** 2, (1 - cos(x)) / 2),
    (cos(3 * x), 4 * cos(x) ** 3 - 3 * cos(x)),
    (m * sin(x) / (1 + cos(x)), m * (1 - cos(x)) / sin(x)),
    (sin(x * y) ** 2, 1 - cos(x * y) ** 2),
    (0.5 * m, m / 2),
    (sp.exp(x) * sp.exp(y), sp.exp(x + y)),
]
FALSE = [(sin(x), cos(x)), (sin(x) ** 2, cos(x) ** 2), (cos(x + y), cos(x - y)), (m * sin(x), L * sin(x)), (m, m + 1e-9)]


@pytest.mark.parametrize(("a", "b"), TRUE)
def test_identical_recognises_equal_expressions(a, b):
    assert is_identical(a, b)
    assert is_identical(simplify_trigonometry(a), b)


@pytest.mark.parametrize(("a", "b"), FALSE)
def test_identical_recognises_different_expressions(a, b):
    assert not is_identical(a, b)


def test_identical_compares_shapes():
    assert is_identical(sp.Matrix([[x, y], [y, x]]), [[x, y], [y, x]])
    assert not is_identical([x, y], [x])


def terms():
    angle = st.lists(st.integers(-1, 2), min_size=3, max_size=3).map(lambda k: k[0] * x + k[1] * y + k[2] * z)
    trig = st.tuples(st.sampled_from([sin, cos]), angle).map(lambda t: t[0](t[1]))
    factor = st.one_of(trig, trig, st.sampled_from([m, L, sp.Rational(1, 3), sp.Integer(-2)]))
    return st.lists(st.lists(factor, min_size=1, max_size=3).map(lambda f: sp.Mul(*f)), min_size=1, max_size=3).map(
        lambda t: sp.Add(*t)
    )


@given(terms())
@settings(max_examples=100 if os.environ.get("TORSOR_NIGHT") else 8)
def test_simplify_trigonometry_gives_the_same_function_and_is_not_longer(e):
    short = simplify_trigonometry(e)
    assert is_identical(short, e)
    point = {x: 0.3, y: -1.1, z: 2.7, m: 1.7, L: 0.4}
    assert complex(short.subs(point)) == pytest.approx(complex(e.subs(point)), abs=1e-12)
    assert short.count_ops() <= e.count_ops()


def test_simplify_trigonometry_applies_sum_and_pythagoras_formulas():
    assert simplify_trigonometry(cos(x) * cos(y) - sin(x) * sin(y)) == cos(x + y)
    assert simplify_trigonometry(m * L * sin(x) ** 2 + m * L * cos(x) ** 2) == L * m
    assert simplify_trigonometry(m - m * cos(x) ** 2) == m * sin(x) ** 2
    assert simplify_trigonometry(sp.sqrt(x**2)) == sp.sqrt(x**2)


def test_floats_become_exact_fractions():
    assert fraction(0.75 - 1e-16) == fraction(0.75)
    assert float(fraction(3.141592653589793)) == 3.141592653589793
    assert exact(0.1 * x + 2) == x / 10 + 2
