"""A quantity multiplied out: one SymPy formula an entry, and how it is printed with c_12 for cos(θ_1 + θ_2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import Any

from torsor.symbolic.library import sympy_library
from torsor.symbolic.parameters import exact
from torsor.symbolic.program_trigonometry import Angle, Atom, Polynomials, Terms, expression
from torsor.symbolic.style import LETTERS, Name, Signature, aligned, function_text, joined, nested, trig_label

#: figures of a printed decimal, and the largest denominator of a part of a half turn whose sine is worth keeping
FIGURES, SIMPLE = 12, 12


class Letters:
    """From the letters of a polynomial to SymPy: symbols for reading (c_12), and what they stand for (cos(θ_1 + θ_2)).

    ``values`` are inputs with an exact value, such as the angle π/4; ``symbols`` inputs that are symbols of the user's; with
    ``decimals``, fractions are printed as decimals.
    """

    def __init__(
        self,
        names: Sequence[Name],
        polynomials: Polynomials,
        values: Mapping[int, Any],
        symbols: Mapping[int, Any],
        decimals: bool,
    ):
        self.names, self.decimals = names, decimals
        self._polynomials, self._values, self._symbols = polynomials, values, symbols
        self.latex: dict[Any, str] = {}
        self.meaning: dict[Any, Any] = {}

    def __call__(self, atom: Atom) -> Any:
        sympy = sympy_library()
        if atom.kind == "x":
            return self._input(atom.angle[0][0])
        value = self._angle(atom.angle)
        function = sympy.cos(value) if atom.kind == "c" else sympy.sin(value)
        if not function.free_symbols:
            simple = function.is_algebraic or ((value / sympy.pi).is_Rational and (value / sympy.pi).q <= SIMPLE)
            return function if simple else sympy.Rational(str(exact(float(function))))
        if atom.angle[0][0] < 0:
            return function
        label = trig_label([(self.names[k].python, n) for k, n in atom.angle])
        symbol = sympy.Symbol(f"{atom.kind}_{label}")
        sub = trig_label([(_bare(self.names[k]), n) for k, n in atom.angle])
        self.latex[symbol] = f"{atom.kind}_{{{sub.replace('_', ' ')}}}"
        self.meaning[symbol] = function
        return symbol

    def _input(self, k: int) -> Any:
        if k in self._values:
            return self._values[k]
        symbol = self._symbols.get(k) or sympy_library().Symbol(self.names[k].python)
        self.latex[symbol] = self.names[k].latex
        return symbol

    def _angle(self, angle: Angle) -> Any:
        if angle[0][0] >= 0:
            return sum(self._input(k) * n for k, n in angle)
        poly = self._polynomials.arguments[angle]
        return poly.as_expr(*(self(a) if a.kind == "x" else sympy_library().nan for a in self._polynomials.atoms))


def _bare(name: Name) -> str:
    return name.python if name.python.startswith("theta_") else name.latex


class ExpandedFormula:
    """A vector or matrix of formulas: ``array`` for SymPy; ``latex()``, ``markdown()``, ``python()``, ``text()`` for readers.

    >>> from torsor import robots
    >>> from torsor.symbolic.closed_form import symbolic
    >>> print(symbolic(robots.rp_arm()).quantity("g"))
    g[1] = c_1*g*(d_2*m_2 + lc_1*m_1)
    g[2] = g*m_2*s_1
    where c_1 = cos(theta_1), s_1 = sin(theta_1)
    """

    def __init__(
        self, entry: str, shape: tuple[int, ...], results: Sequence[Terms], letters: Letters, name: str,
        signature: Signature,
    ):  # fmt: skip
        self.entry, self.shape, self.name = entry, shape, name
        self._letters, self.signature = letters, signature
        #: the entries in C order, with c_1, s_12, ... as symbols
        self.abbreviated: list[Any] = [expression(terms, letters) for terms in results]

    @cached_property
    def entries(self) -> list[Any]:
        """The entries in C order, sines and cosines written out."""
        return [e.xreplace(self._letters.meaning) for e in self.abbreviated]

    @cached_property
    def array(self) -> Any:
        """A SymPy matrix (a vector is a column), or for three indices a SymPy array."""
        sympy = sympy_library()
        if len(self.shape) > 2:
            return sympy.ImmutableDenseNDimArray(self.entries, self.shape)
        return sympy.ImmutableMatrix(self.shape[0], self.shape[1] if len(self.shape) > 1 else 1, self.entries)

    def __call__(self, *inputs: float) -> Any:
        """The entries at numbers for every input, an array."""
        import numpy as np

        return np.array(self._compiled(*inputs), dtype=float).reshape(self.shape)

    @cached_property
    def _compiled(self) -> Any:
        names = [n.python for n in self._letters.names]
        return sympy_library().lambdify(names, self.entries, "math")

    # -- printing --------------------------------------------------------------------------------------------

    def _shown(self) -> list[tuple[tuple[int, ...], Any]]:
        """The entries that are not zero; of a symmetric matrix, the upper triangle."""
        at = dict(zip(product(*(range(1, n + 1) for n in self.shape)), self.abbreviated, strict=True))
        square = len(self.shape) == 2 and self.shape[0] == self.shape[1]
        symmetric = square and all(e == at[j, i] for (i, j), e in at.items())
        return [(i, e) for i, e in at.items() if e != 0 and not (symmetric and i[0] > i[1])]

    def _legend(self) -> list[tuple[Any, Any]]:
        used = set().union(*(e.free_symbols for e in self.abbreviated))
        return [(s, f) for s, f in sorted(self._letters.meaning.items(), key=lambda x: str(x[0])) if s in used]

    def text(self) -> str:
        """A line an entry, then what the abbreviations stand for."""
        lines = [f"{self.entry}[{','.join(map(str, i))}] = {self._plain(e)}" for i, e in self._shown()]
        legend = ", ".join(f"{s} = {f}" for s, f in self._legend())
        return "\n".join([*(lines or [f"{self.entry} = 0"]), *([f"where {legend}"] if legend else [])])

    def latex(self) -> str:
        """One ``aligned`` environment: the entries, then what the abbreviations stand for."""
        letter = LETTERS.get(self.entry, self.entry)
        rows = [f"{letter}_{{{joined(i)}}} &= {self._tex(e)}" for i, e in self._shown()] or [f"{letter} &= 0"]
        return aligned([*rows, *(f"{self._tex(s)} &= {self._tex(f)}" for s, f in self._legend())])

    def markdown(self) -> str:
        """A display equation."""
        return f"$$\n{self.latex()}\n$$"

    def python(self) -> str:
        """A Python function of the state that needs only ``math``; the robot's parameters are keywords."""
        sympy = sympy_library()
        body = [f"{s} = {f}" for s, f in self._legend()]
        texts = [sympy.pycode(e, fully_qualified_modules=False) for e in self.abbreviated]
        imports = [f for f in ("cos", "pi", "sin", "sqrt") if any(f in t for t in (*texts, *body))]
        return function_text(self.name, self.signature, self._letters.names, imports, body, nested(texts, self.shape, "    "))

    def _repr_latex_(self) -> str:
        return self.markdown()

    _repr_markdown_ = _repr_latex_

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"Expanded({self.entry}, {' × '.join(map(str, self.shape))})"

    def _tex(self, e: Any) -> str:
        e, names = self._printable(e)
        return sympy_library().latex(e, symbol_names={**self._letters.latex, **names})

    def _plain(self, e: Any) -> str:
        return str(self._printable(e)[0])

    def _printable(self, e: Any) -> tuple[Any, dict[Any, str]]:
        names: dict[Any, str] = {}
        return (_decimals(e, names) if self._letters.decimals else e), names


def _decimals(e: Any, names: dict[Any, str]) -> Any:
    """The expression with its fractions as decimals, for printing: 9.81 instead of 981/100."""
    sympy = sympy_library()
    if e.is_Rational and not e.is_Integer:
        text = f"{abs(float(e)):.{FIGURES}g}"
        if "e" in text:
            return e
        symbol = sympy.Symbol(text)
        names[symbol] = text
        return symbol if e > 0 else -symbol
    return e.func(*(_decimals(a, names) for a in e.args)) if e.is_Add or e.is_Mul else e
