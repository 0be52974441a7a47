"""Notation of formulas: c_12 for cos(θ_1 + θ_2), subscripts, aligned LaTeX equations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

#: θ_1, theta1 or q1: the subscript of its sine is the number alone
_NUMBERED = re.compile(r"theta_?(\d+)|q(\d+)")


class Name(NamedTuple):
    """A value's name in Python and in LaTeX."""

    python: str
    latex: str


def number_of(name: str) -> str | None:
    """The number of a coordinate θ_i or qi, None for other names.

    >>> number_of("theta_12"), number_of("q3"), number_of("d_2")
    ('12', '3', None)
    """
    found = _NUMBERED.fullmatch(name)
    return (found[1] or found[2]) if found else None


def trig_label(parts: Sequence[tuple[str, int]]) -> str:
    """The subscript of a sum of coordinates: 23 for θ_2 + θ_3, 12-4 for θ_1 + θ_2 − θ_4.

    >>> trig_label([("theta_2", 1), ("theta_3", 1)]), trig_label([("theta_11", 1), ("theta_2", -1)])
    ('23', '11-2')
    """
    labels = [(number_of(name) or name, sign) for name, sign in parts]
    short = all(len(text) == 1 for text, _ in labels)
    out = ""
    for text, sign in labels:
        out += "-" if sign < 0 else "_" if out and not short else ""
        out += text
    return out


def entry_subscript(index: Sequence[int]) -> str:
    """The subscript of an entry: 12, or 1,12 where a number has two figures."""
    return ("" if all(i < 10 for i in index) else ",").join(map(str, index))


def entries_to_show(values: Sequence[Any], shape: Sequence[int]) -> list[int]:
    """Positions in C order of the entries to show: all, or the upper triangle of a symmetric matrix.

    >>> entries_to_show(["a", "b", "b", "c"], (2, 2))
    [0, 1, 3]
    """
    n = shape[0] if len(shape) == 2 and shape[0] == shape[1] else 0
    symmetric = n and all(values[i * n + j] == values[j * n + i] for i in range(n) for j in range(i))
    return [k for k in range(len(values)) if not symmetric or k // n <= k % n]


def latex_aligned(rows: Sequence[str]) -> str:
    """LaTeX equations one below the other."""
    return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"


def latex_text(title: str) -> str:
    r"""A title as LaTeX text, with \_ for _."""
    escaped = re.sub(r"([_#%&])", r"\\\1", title)
    return rf"\text{{{escaped}}}"


def latex_rate(latex: str, dots: int) -> str:
    r"""The LaTeX of a coordinate's rate (one dot) or acceleration (two).

    >>> print(latex_rate(r"\theta_{1}", 2))
    \ddot{\theta}_{1}
    """
    base, _, index = latex.partition("_")
    return f"\\{'d' * dots}ot{{{base}}}" + (f"_{index}" if index else "")
