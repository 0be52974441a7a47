"""How operations are written: in Python, and in LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

ATOM, PRODUCT, NEGATIVE, SUM = 4, 3, 2, 1

#: an operand as written, and how tightly it is bound
Text = tuple[str, int]

#: operations that are calls of :mod:`math`
PY = {"sqrt": "sqrt", "sin": "sin", "cos": "cos", "tanh": "tanh", "exp": "exp", "log": "log", "asin": "asin", "acos": "acos",
      "atan2": "atan2"}  # fmt: skip
_CALLS = {"abs": "abs", "min": "min", "max": "max", **PY}
_TEX = {"asin": r"\arcsin", "acos": r"\arccos", "abs": r"\operatorname{abs}", "atan2": r"\operatorname{atan2}"}
_COMPARED = {"lt": ("<", "<"), "le": ("<=", r"\le"), "eq": ("==", "=")}

#: what a result is called in LaTeX: c and g are bold, as c_1 is a cosine and g a number
LETTERS = {"Gamma": r"\Gamma", "c": r"\mathbf{c}", "g": r"\mathbf{g}"}


class Name(NamedTuple):
    """How a value is called in Python and in LaTeX."""

    python: str
    latex: str


class Signature(NamedTuple):
    """How a formula is called: (argument, first input, how many) of the state, (input, default) of the robot's parameters."""

    arguments: Sequence[tuple[str, int, int]]
    defaults: Sequence[tuple[int, float | None]]
    doc: str


class Style:
    """One way to write; ``digits`` are the figures of a constant in LaTeX."""

    def __init__(self, latex: bool = False, digits: int = 17):
        self.latex, self.digits = latex, digits

    def name(self, name: Name) -> str:
        return name.latex if self.latex else name.python

    def number(self, x: float) -> Text:
        """A constant; whole numbers without a point."""
        if x == int(x) and abs(x) < 1e6:
            text = str(int(x))
        elif not self.latex:
            text = next(t for digits in range(1, 18) if abs(float(t := f"{x:.{digits}g}") - x) <= 1e-15 * abs(x))
        else:
            text = f"{x:.{self.digits}g}"
            if "e" in text:
                mantissa, power = text.split("e")
                return rf"{mantissa} \cdot 10^{{{int(power)}}}", NEGATIVE if x < 0 else PRODUCT
        return text, NEGATIVE if x < 0 else ATOM

    def within(self, operand: Text, least: int) -> str:
        """The operand, in brackets if it binds less tightly than asked."""
        text, bound = operand
        if bound >= least:
            return text
        return rf"\left({text}\right)" if self.latex else f"({text})"

    def apply(self, op: str, operands: Sequence[Text]) -> Text:
        """An operation on operands already written."""
        if op == "neg":
            return f"-{self.within(operands[0], PRODUCT)}", NEGATIVE
        if op in ("add", "sub"):
            sign = "+" if op == "add" else "-"
            a, b = operands
            if op == "add" and a[1] == NEGATIVE < b[1]:
                a, b = b, a
            if op == "add" and b[1] == NEGATIVE and b[0].startswith("-"):
                sign, b = "-", (b[0][1:], PRODUCT)
            return f"{self.within(a, SUM)} {sign} {self.within(b, PRODUCT if op == 'sub' or sign == '-' else SUM)}", SUM
        if op == "mul":
            return self._product(*operands)
        if op == "div":
            a, b = operands
            if self.latex:
                return rf"\frac{{{a[0]}}}{{{b[0]}}}", ATOM
            return f"{self.within(a, PRODUCT)}/{self.within(b, ATOM)}", PRODUCT
        return self._call(op, [text for text, _ in operands])

    def _product(self, a: Text, b: Text) -> Text:
        if a == b:
            base = self.within(a, ATOM)
            return (f"{{{base}}}^{{2}}" if self.latex else f"{base}**2"), PRODUCT
        if _is_number(b[0]):
            a, b = b, a
        return f"{self.within(a, PRODUCT)}{' ' if self.latex else '*'}{self.within(b, PRODUCT)}", PRODUCT

    def _call(self, op: str, texts: list[str]) -> Text:
        if op in _COMPARED:
            return f"{texts[0]} {_COMPARED[op][self.latex]} {texts[1]}", SUM - 1
        if op == "where":
            c, a, b = texts
            if self.latex:
                return rf"\begin{{cases}} {a} & {c} \\ {b} & \text{{otherwise}} \end{{cases}}", SUM - 1
            return f"({a} if {c} else {b})", ATOM
        if op == "sign":
            return (rf"\operatorname{{sign}}({texts[0]})" if self.latex else f"(({texts[0]} > 0) - ({texts[0]} < 0))"), ATOM
        if self.latex:
            return rf"{_TEX.get(op, chr(92) + op)}\left({', '.join(texts)}\right)", ATOM
        return f"{_CALLS[op]}({', '.join(texts)})", ATOM


PYTHON = Style()


def _is_number(text: str) -> bool:
    return text[0].isdigit()


def trig_label(parts: Sequence[tuple[str, int]]) -> str:
    """The subscript of a sum of coordinates: 23 of θ_2 + θ_3, 12-4 of θ_1 + θ_2 − θ_4."""
    labels = [(name.rpartition("_")[2] if name.startswith("theta_") else name, sign) for name, sign in parts]
    short = all(len(text) == 1 for text, _ in labels)
    out = ""
    for text, sign in labels:
        if len(text) and out and not short and sign > 0:
            out += "_"
        out += ("-" if sign < 0 else "") + text
    return out


def by_section(lines: Sequence[tuple[str, str, str]]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Neighbouring lines of one section, together."""
    return [(title, [(n, r) for _, n, r in group]) for title, group in groupby(lines, key=lambda line: line[0])]


def aligned(rows: Sequence[str]) -> str:
    """LaTeX equations one below the other."""
    return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"


def joined(index: Sequence[int]) -> str:
    """The subscript of an entry: 12, or 1,12 where a number has two figures."""
    return ("" if all(i < 10 for i in index) else ",").join(map(str, index))


def escaped(title: str) -> str:
    """A title as LaTeX text."""
    return title.replace("_", r"\_").replace("#", r"\#").replace("%", r"\%").replace("&", r"\&")


def nested(texts: Sequence[str], shape: Sequence[int], indent: str) -> str:
    """Entries in C order as nested Python lists, one row a line."""
    if len(shape) == 0:
        return texts[0]
    if len(shape) == 1:
        return f"[{', '.join(texts)}]"
    step = len(texts) // shape[0] if shape[0] else 0
    rows = [nested(texts[k * step : (k + 1) * step], shape[1:], indent + "    ") for k in range(shape[0])]
    inner = "".join(f"{indent}    {row},\n" for row in rows)
    return f"[\n{inner}{indent}]"


def function_text(
    name: str, signature: Signature, inputs: Sequence[Name], imports: Sequence[str], body: Sequence[str], result: str
) -> str:
    """The source of a Python function."""
    words = [inputs[k].python + ("" if x is None else f"={x!r}") for k, x in signature.defaults]
    arguments = [a for a, _, _ in signature.arguments] + (["*", *words] if words else [])
    lines = [f"from math import {', '.join(imports)}", "", ""] if imports else []
    lines.append(f"def {name}({', '.join(arguments)}):")
    if signature.doc:
        lines.append(f'    """{signature.doc}"""')
    for argument, start, size in signature.arguments:
        if size:
            unpacked = ", ".join(inputs[start + k].python for k in range(size))
            lines.append(f"    {unpacked}{',' if size == 1 else ''} = {argument}")
    return "\n".join([*lines, *(f"    {line}" for line in body), f"    return {result}", ""])
