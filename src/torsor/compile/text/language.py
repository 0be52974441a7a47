"""Spelling of operations: one table of forms per language (C, Python over NumPy, Python over ``math``, LaTeX).

A form is a template with the precedence of the result and of its operands; :meth:`Language.apply` fills it and sets
parentheses.  Every text that torsor makes of a program goes through it: exports, closed forms, equations of motion.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from torsor.compile.rules import NUMPY_NAMES

#: precedence, from the loosest
LOOSE, SUM, NEGATIVE, PRODUCT, ATOM = range(5)
#: an expression as written, and its precedence
Text = tuple[str, int]


class Form(NamedTuple):
    """The template of an operation, its precedence, and the least precedence of each operand without parentheses."""

    text: str
    level: int = ATOM
    operands: tuple[int, ...] = (LOOSE, LOOSE, LOOSE)


@dataclass(frozen=True)
class Language:
    """``assign`` and ``item`` are templates: a new name and its value; an array's name and a position.

    With ``reorder``, sums and products are written as in a book: b − a for −a + b, 2 x for x 2, x² for x x.
    """

    forms: Mapping[str, Form]
    number: Callable[[float], Text]
    assign: str = "{} = {}"
    item: str = "{}[{}]"
    parentheses: str = "({})"
    reorder: bool = False

    def operand(self, x: Text, least: int) -> str:
        """The text of an operand, in parentheses where its precedence is below ``least``."""
        return x[0] if x[1] >= least else self.parentheses.format(x[0])

    def apply(self, op: str, operands: Sequence[Text]) -> Text:
        """The text of an operation on operands that are written already.

        >>> C.apply("mul", [C.apply("add", [("a", ATOM), ("b", ATOM)]), ("c", ATOM)])[0]
        '(a + b) * c'
        >>> MATH.apply("add", [("-x", NEGATIVE), ("y", ATOM)])[0]
        'y - x'
        """
        if self.reorder:
            op, operands = _reorder(op, operands)
        form = self.forms[op]
        return form.text.format(*map(self.operand, operands, form.operands)), form.level


def _reorder(op: str, operands: Sequence[Text]) -> tuple[str, Sequence[Text]]:
    """The same sum or product, the negative term last, the number first."""
    if op == "add":
        a, b = operands
        if a[1] == NEGATIVE < b[1]:
            a, b = b, a
        if b[1] == NEGATIVE and b[0].startswith("-"):
            return "sub", (a, (b[0][1:], PRODUCT))
        return op, (a, b)
    if op == "mul":
        a, b = operands
        if a == b:
            return "square", (a,)
        return op, (b, a) if b[0][0].isdigit() else (a, b)
    return op, operands


def _calls(template: str, names: Mapping[str, str]) -> dict[str, Form]:
    """{operation: the call of a function}; ``template`` has the places of its name and its arguments."""
    arguments = {"atan2": "{}, {}", "min": "{}, {}", "max": "{}, {}"}
    return {op: Form(template % (name, arguments.get(op, "{}"))) for op, name in names.items()}


#: operations that are functions of ``math.h`` and of Python's ``math`` under this name
LIBRARY = ("sqrt", "sin", "cos", "tanh", "exp", "log", "asin", "acos", "atan2")

# -- exact: the order of evaluation is the program's, and constants read back to the same bits ------------------------

#: the same in C and in Python over NumPy
INFIX = {
    "add": Form("{} + {}", SUM, (SUM, PRODUCT)),
    "sub": Form("{} - {}", SUM, (SUM, PRODUCT)),
    "mul": Form("{} * {}", PRODUCT, (PRODUCT, ATOM)),
    "div": Form("{} / {}", PRODUCT, (PRODUCT, ATOM)),
    "neg": Form("-{}", LOOSE, (ATOM,)),
}
#: comparisons, where they are a condition
CONDITION = {"lt": "<", "le": "<=", "eq": "=="}


def c_number(x: float, single: bool = False) -> str:
    """A constant of C that reads back to the same bits.

    >>> c_number(0.1), c_number(0.1, single=True), c_number(-2.0), c_number(1e22)
    ('0.1', '0.1f', '-2.0', '1e+22')
    """
    with np.errstate(over="ignore"):
        value = np.float32(x) if single else np.float64(x)
    if not np.isfinite(value):
        return "NAN" if math.isnan(x) else "INFINITY" if x > 0 else "-INFINITY"
    text = str(value)
    return (text if any(c in text for c in ".en") else f"{text}.0") + ("f" if single else "")


def numpy_number(x: float) -> str:
    """A constant of Python that reads back to the same bits.

    >>> numpy_number(-0.1), numpy_number(math.inf)
    ('-0.1', 'np.inf')
    """
    if math.isfinite(x):
        return repr(float(x))
    return "np.nan" if math.isnan(x) else "np.inf" if x > 0 else "-np.inf"


def _signed_number(text: str) -> Text:
    return text, LOOSE if text.startswith("-") else ATOM


def c_language(single: bool = False) -> Language:
    """C99 in double or single precision."""
    f, zero, one = ("f", "0.0f", "1.0f") if single else ("", "0.0", "1.0")
    forms = {
        **INFIX,
        **_calls(f"%s{f}(%s)", {op: op for op in LIBRARY} | {"abs": "fabs"}),
        **_calls("%s(%s)", {op: f"torsor_{op}" for op in ("min", "max", "sign")}),
        **{op: Form(f"({{}} {sign} {{}} ? {one} : {zero})", ATOM, (SUM, SUM)) for op, sign in CONDITION.items()},
        "where": Form("({} ? {} : {})"),
        "fma": Form(f"fma{f}({{}}, {{}}, {{}})"),
        "fms": Form(f"fma{f}({{}}, {{}}, -{{}})", ATOM, (LOOSE, LOOSE, ATOM)),
        "fnma": Form(f"fma{f}(-{{}}, {{}}, {{}})", ATOM, (ATOM, LOOSE, LOOSE)),
    }
    assign = f"const {'float' if single else 'double'} {{}} = {{}}"
    return Language(forms, lambda x: _signed_number(c_number(x, single)), assign)


C = c_language()
NUMPY = Language(
    {
        **INFIX,
        **_calls("np.%s(%s)", {op: NUMPY_NAMES.get(op, op) for op in (*LIBRARY, "abs", "sign", "min", "max")}),
        **{op: Form(f"(np.{NUMPY_NAMES[op]}({{}}, {{}}) * 1.0)") for op in CONDITION},
        "where": Form("np.where({}, {}, {})"),
    },
    lambda x: _signed_number(numpy_number(x)),
    item="{}[..., {}]",
)

# -- for readers: terms in the order of a book, constants to the figures that matter ----------------------------------

_READABLE = {
    "add": Form("{} + {}", SUM, (SUM, SUM)),
    "sub": Form("{} - {}", SUM, (SUM, PRODUCT)),
    "neg": Form("-{}", NEGATIVE, (PRODUCT,)),
}


def _math_number(x: float) -> Text:
    """A constant to 15 figures or fewer, whole numbers without a point."""
    if not math.isfinite(x):
        return f'float("{x}")', ATOM
    whole = x == int(x) and abs(x) < 1e6
    digits = (t for n in range(1, 18) if abs(float(t := f"{x:.{n}g}") - x) <= 1e-15 * abs(x))
    return (str(int(x)) if whole else next(digits)), NEGATIVE if x < 0 else ATOM


def latex_language(digits: int = 6) -> Language:
    """LaTeX, with constants to ``digits`` figures."""

    def number(x: float) -> Text:
        if not math.isfinite(x):
            return (r"\mathrm{NaN}", ATOM) if math.isnan(x) else (r"\infty", ATOM) if x > 0 else (r"-\infty", NEGATIVE)
        text = str(int(x)) if x == int(x) and abs(x) < 1e6 else f"{x:.{digits}g}"
        if "e" in text:
            mantissa, power = text.split("e")
            return rf"{mantissa} \cdot 10^{{{int(power)}}}", NEGATIVE if x < 0 else PRODUCT
        return text, NEGATIVE if x < 0 else ATOM

    names = {op: rf"\{op}" for op in (*LIBRARY, "min", "max")} | {"asin": r"\arcsin", "acos": r"\arccos"}
    names |= {op: rf"\operatorname{{{{{op}}}}}" for op in ("abs", "atan2", "sign")}
    forms = {
        **_READABLE,
        **_calls(r"%s\left(%s\right)", names),
        "mul": Form("{} {}", PRODUCT, (PRODUCT, PRODUCT)),
        "square": Form("{{{}}}^{{2}}", PRODUCT, (ATOM,)),
        "div": Form(r"\frac{{{}}}{{{}}}"),
        "sqrt": Form(r"\sqrt{{{}}}"),
        "lt": Form("{} < {}", LOOSE),
        "le": Form(r"{} \le {}", LOOSE),
        "eq": Form("{} = {}", LOOSE),
        "where": Form(r"\begin{{cases}} {1} & {0} \\ {2} & \text{{otherwise}} \end{{cases}}", LOOSE),
    }
    return Language(forms, number, parentheses=r"\left({}\right)", reorder=True)


MATH = Language(
    {
        **_READABLE,
        **_calls("%s(%s)", {op: op for op in (*LIBRARY, "abs", "min", "max")}),
        "mul": Form("{}*{}", PRODUCT, (PRODUCT, PRODUCT)),
        "square": Form("{}**2", PRODUCT, (ATOM,)),
        "div": Form("{}/{}", PRODUCT, (PRODUCT, ATOM)),
        "sign": Form("(({0} > 0) - ({0} < 0))"),
        **{op: Form(f"{{}} {sign} {{}}", LOOSE) for op, sign in CONDITION.items()},
        "where": Form("({1} if {0} else {2})"),
    },
    _math_number,
    reorder=True,
)
