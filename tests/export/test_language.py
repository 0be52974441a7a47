"""Tables of forms: precedence, readable order, constants; every operation has a form in every language."""

from __future__ import annotations

import math

import pytest

from torsor.compile.rules import NUMPY as OPERATIONS
from torsor.compile.text.language import ATOM, MATH, NEGATIVE, NUMPY, PRODUCT, SUM, C, latex_language

LATEX = latex_language(3)


@pytest.mark.parametrize("language", [C, NUMPY, MATH, LATEX], ids=["C", "NumPy", "math", "LaTeX"])
def test_language_has_a_form_for_every_operation(language):
    for op in OPERATIONS:
        text, level = language.apply(op, [("x", ATOM), ("y", ATOM), ("z", ATOM)][: len(operands(op))])
        assert "x" in text
        assert "{}" not in text
        assert 0 <= level <= ATOM


def operands(op):
    return range({"where": 3}.get(op, 2 if op in ("add", "sub", "mul", "div", "atan2", "min", "max", "lt", "le", "eq") else 1))


def test_exact_languages_keep_the_order_of_evaluation():
    assert C.apply("add", [("a", ATOM), ("b + c", SUM)])[0] == "a + (b + c)"
    assert NUMPY.apply("mul", [("x", ATOM), ("2.0", ATOM)])[0] == "x * 2.0"
    assert C.apply("sub", [("a", ATOM), C.number(-3.5)])[0] == "a - (-3.5)"


def test_readable_languages_order_terms_as_in_a_book():
    assert LATEX.apply("div", [("a", ATOM), ("b + c", SUM)])[0] == r"\frac{a}{b + c}"
    assert MATH.apply("div", [("a", ATOM), ("b*c", PRODUCT)])[0] == "a/(b*c)"
    assert MATH.apply("sub", [("a", ATOM), ("b + c", SUM)])[0] == "a - (b + c)"
    assert MATH.apply("add", [("-a", NEGATIVE), ("b", ATOM)])[0] == "b - a"
    assert MATH.apply("mul", [("x", ATOM), ("2", ATOM)])[0] == "2*x"
    assert LATEX.apply("mul", [("x", ATOM), ("x", ATOM)])[0] == "{x}^{2}"
    assert LATEX.apply("sqrt", [("x + y", SUM)])[0] == r"\sqrt{x + y}"


def test_readable_languages_write_short_constants_and_infinity():
    assert LATEX.number(1.5e-7)[0] == r"1.5 \cdot 10^{-7}"
    assert MATH.number(0.1 + 0.2)[0] == "0.3"
    assert LATEX.number(math.inf)[0] == r"\infty"
    assert eval(MATH.number(-math.inf)[0]) == -math.inf
