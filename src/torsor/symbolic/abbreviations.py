"""c_12 for cos(θ_1 + θ_2) in readable SymPy expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from torsor.symbolic.library import sympy_library
from torsor.symbolic.notation import Name, number_of, trig_label


class Abbreviation(NamedTuple):
    """A symbol, the sine or cosine it abbreviates, and its LaTeX."""

    symbol: Any
    function: Any
    latex: str


def abbreviations(expressions: Sequence[Any], names: Mapping[Any, Name]) -> list[Abbreviation]:
    r"""Abbreviations of the sines and cosines of sums of symbols, each ± once; ``names`` has the symbols, in their order.

    >>> import sympy as sp
    >>> x, y = sp.symbols("theta1 theta2")
    >>> names = {x: Name("theta1", r"\theta_{1}"), y: Name("theta2", r"\theta_{2}")}
    >>> [(a.symbol, a.function) for a in abbreviations([sp.cos(x + y) + sp.sin(2 * x)], names)]
    [(c_12, cos(theta1 + theta2))]
    """
    sp = sympy_library()
    order = {x: k for k, x in enumerate(names)}
    taken = {str(x) for x in names}
    found = []
    for function in sorted({f for e in expressions for f in e.atoms(sp.sin, sp.cos)}, key=str):
        terms = [term.as_coeff_Mul() for term in sp.Add.make_args(function.args[0])]
        letter = "c" if isinstance(function, sp.cos) else "s"
        if all(abs(n) == 1 and x in order for n, x in terms):
            terms.sort(key=lambda term: order[term[1]])
            name = f"{letter}_{trig_label([(names[x].python, n) for n, x in terms])}"
            latex = trig_label([(str(x) if number_of(str(x)) else names[x].latex, n) for n, x in terms])
            if name not in taken:
                taken.add(name)
                found.append(Abbreviation(sp.Symbol(name), function, f"{letter}_{{{latex.replace('_', ' ')}}}"))
    return sorted(found, key=lambda a: str(a.symbol))
