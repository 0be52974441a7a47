"""Names, subscripts and frames of formulas in Python and LaTeX; operations are in :mod:`torsor.compile.text.language`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

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
