"""One part of the equations of motion as a formula: M(q), c(q, v), ... as text, as code, as a function of numbers.

:class:`ExpandedFormula` is one SymPy expression per entry, :class:`ProgramText` a program of named terms.  Both have a program
of the state and the parameters, from which their Python, C and numbers are made.
"""

from __future__ import annotations

import keyword
from collections.abc import Mapping, Sequence
from itertools import product
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from torsor.compile.program import Argument, Program, evaluate, record
from torsor.compile.rules import NUMPY as OVER_ARRAYS
from torsor.compile.text.c import CFunction, c_file, c_function, rename_outputs
from torsor.compile.text.language import LIBRARY, MATH, latex_language
from torsor.compile.text.names import comment, entry_names
from torsor.compile.text.python import math_function, math_import
from torsor.errors import ArgumentError, UnknownName
from torsor.support.locks import cached_property
from torsor.symbolic.abbreviations import Abbreviation, abbreviations
from torsor.symbolic.expression_program import recorder, refuse_symbols
from torsor.symbolic.library import sympy_library
from torsor.symbolic.named_terms import NamedTerms
from torsor.symbolic.notation import Name, entries_to_show, entry_subscript, latex_aligned, latex_text

#: digits of a printed decimal
FIGURES = 12
#: Python keywords and built-ins that cannot be names of values
_RESERVED = {*keyword.kwlist, *LIBRARY, "abs", "min", "max", "float"}


class Part(NamedTuple):
    """A part of the equations: its letter, the function that computes it, the state it depends on, indices, LaTeX, title."""

    letter: str
    function: str
    reads: str
    indices: int
    latex: str
    title: str


class Formula:
    """A vector or matrix of the equations of motion: ``text()``, ``latex()``, ``markdown()``, ``python()``, ``c_source()``.

    Called with numbers, ``formula(q, v)``, it returns its value, computed from its own program; parameters are keywords.
    """

    def __init__(self, part: Part, names: Sequence[Name], about: str):
        self.part, self.about = part, about  # about is a comment in its code
        valid = entry_names([n.python for n in names], {*_RESERVED, *part.reads})
        self.names = [Name(python, n.latex) for python, n in zip(valid, names, strict=True)]

    program: Program
    shape: tuple[int, ...]
    _sections: Sequence[str] = ()

    @property
    def expression(self) -> Any:
        """The SymPy array of an expanded formula; a program of named terms itself."""
        return self

    @cached_property
    def terms(self) -> NamedTerms:
        """The program as named terms."""
        return NamedTerms(self.program, self.names, self._sections)

    # -- numbers ---------------------------------------------------------------------------------------------

    def __call__(self, *state: Sequence[float], **parameters: float) -> Any:
        """The value at one state: as many arguments as the part reads, such as ``q`` and ``v``; parameters by name."""
        inputs: list[float] = []
        reads = [a for a in self.program.inputs if a.shape]
        if len(state) != len(reads):
            raise ArgumentError(f"{self.part.letter} is a function of {', '.join(a.name for a in reads)}, {len(state)} given")
        for a, x in zip(reads, state, strict=True):
            if len(x) != a.size:
                raise ArgumentError(f"{a.name} must have {a.size} numbers, {len(x)} given")
            inputs += map(float, x)
        values = evaluate(self.program, [*inputs, *self.numbers(parameters)], OVER_ARRAYS)
        return np.array([values[r] for r in self.program.results], dtype=float).reshape(self.shape)

    def numbers(self, given: Mapping[str, float] | None = None) -> list[float]:
        """The number of each parameter of the program: the one given, else its value in the model."""
        defaults = {a.name: a.default for a in self.program.inputs if not a.shape}
        if stray := [name for name in given or {} if name not in defaults]:
            raise UnknownName(f"parameter of {self.part.letter}", stray[0], defaults)
        numbers = {**defaults, **(given or {})}
        refuse_symbols([name for name, number in numbers.items() if number is None])
        return [number for number in numbers.values() if number is not None]

    # -- text ------------------------------------------------------------------------------------------------

    def text(self) -> str:
        """Plain text."""
        raise NotImplementedError

    def blocks(self) -> list[tuple[str, str]]:
        """(title, LaTeX equations) of each block; a title may be empty."""
        raise NotImplementedError

    def latex(self) -> str:
        """``aligned`` environments."""
        return "\n\n".join((f"{latex_text(title)}\n" if title else "") + body for title, body in self.blocks())

    def markdown(self) -> str:
        """Display equations with headings, as Jupyter and GitHub show them."""
        return "\n\n".join((f"#### {title}\n\n" if title else "") + f"$$\n{body}\n$$" for title, body in self.blocks())

    def python(self) -> str:
        """A Python function of the state that needs ``math`` alone; parameters are keywords."""
        return f"{math_import(self.program)}{self.python_function()}\n"

    def python_function(self) -> str:
        """The function of :meth:`python` without its import."""
        sections, results = self.terms.write(MATH, attrgetter("python"))
        body: list[str] = []
        for title, lines in sections:
            body += [f"# {title}", *(f"{name} = {right}" for name, right in lines)]
        entries = [n.python for n in self.names]
        return math_function(self.program, self.part.function, entries, body, results, comment(self.about))

    def c_source(self, prefix: str = "") -> str:
        """A C99 function that needs ``math.h`` alone; parameters are doubles, the result is ``out``, row by row."""
        return c_file([(self.about, self.c_function(prefix))])

    def c_function(self, prefix: str = "") -> CFunction:
        """The function of :meth:`c_source` alone."""
        entries = [n.python for n in self.names]
        return c_function(rename_outputs(self.program, ["out"]), prefix + self.part.function, entries=entries)

    def _nonzero_entries(self, values: Sequence[Any], positions: Sequence[int]) -> list[tuple[tuple[int, ...], Any]]:
        """(index from one, value) of the entries at these positions that are not zero."""
        index = list(product(*(range(1, n + 1) for n in self.shape)))
        return [(index[k], values[k]) for k in positions if str(values[k]) != "0"]

    def _entry(self, index: Sequence[int]) -> str:
        return f"{self.part.letter}[{','.join(map(str, index))}]"

    def _latex_entry(self, index: Sequence[int]) -> str:
        return f"{self.part.latex}_{{{entry_subscript(index)}}}"

    def _repr_latex_(self) -> str:
        return "\n\n".join(f"$$\n{body}\n$$" for _, body in self.blocks())

    def _repr_markdown_(self) -> str:
        return self.markdown()

    def __str__(self) -> str:
        return self.text()


class Statement(Formula):
    """An equation between parts: text and LaTeX, without a program."""

    def __init__(self, plain: str, tex: str):
        super().__init__(Part("equation", "equation", "", 0, "", "Equation of motion"), [], "")
        self._plain, self._tex = plain, tex

    def text(self) -> str:
        return self._plain

    def blocks(self) -> list[tuple[str, str]]:
        return [("", self._tex)]


class ProgramText(Formula):
    """A formula too long for one line per entry: a program of named terms, in sections that follow the algorithm.

    >>> from torsor.compile import Argument, record
    >>> p = record(lambda x: {"y": [(x[0] + 1) * x[1]]}, [Argument("x", (2,))])
    >>> print(ProgramText(Part("y", "f", "x", 1, "y", "Result"), p, [Name("a", "a"), Name("b", "b")]))
    # Result
    y[1] = b*(a + 1)
    """

    def __init__(self, part: Part, program: Program, names: Sequence[Name], sections: Sequence[str] = (), about: str = ""):
        super().__init__(part, names, about)
        self.program, self.shape, self._sections = program, program.outputs[0].shape, sections

    def text(self) -> str:
        """The lines as plain text, with a comment above each section."""
        sections, results = self.terms.write(MATH, attrgetter("python"))
        out: list[str] = []
        for title, lines in sections:
            out += [f"# {title}", *(f"{name} = {right}" for name, right in lines), ""]
        rows = self._nonzero_entries(results, self.terms.entries_to_show)
        return "\n".join([*out, "# Result", *(f"{self._entry(i)} = {text}" for i, text in rows)])

    def blocks(self, digits: int = 6) -> list[tuple[str, str]]:
        """The sections, constants to ``digits`` figures (``python()`` has them in full)."""
        sections, results = self.terms.write(latex_language(digits), attrgetter("latex"))
        blocks = [(title, latex_aligned([f"{name} &= {right}" for name, right in lines])) for title, lines in sections]
        rows = self._nonzero_entries(results, self.terms.entries_to_show)
        last = [f"{self._latex_entry(i)} &= {text}" for i, text in rows] or [f"{self.part.latex} &= 0"]
        return [*blocks, ("Result", latex_aligned(last))]

    def __repr__(self) -> str:
        return f"ProgramText({self.part.function}; {self.program.operations} operations, {len(self.terms)} named terms)"


class ExpandedFormula(Formula):
    """One SymPy expression per entry, printed with c_12 for cos(θ_1 + θ_2).

    ``state`` are the symbols of each argument it reads, ``parameters`` the other symbols with their numbers, or None;
    ``latex`` the LaTeX of symbols; with ``decimals``, fractions are printed as decimals.

    >>> from torsor import robots
    >>> print(robots.rp_arm().symbolic().quantity("g"))
    g[1] = c_1*g*(d_2*m_2 + lc_1*m_1)
    g[2] = g*m_2*s_1
    where c_1 = cos(theta_1), s_1 = sin(theta_1)
    """

    def __init__(
        self,
        part: Part,
        expression: Any,
        state: Mapping[str, Sequence[Any]],
        parameters: Mapping[Any, float | None],
        latex: Mapping[Any, str],
        *,
        decimals: bool = False,
        about: str = "",
    ):
        sp = sympy_library()
        self._expression, self._state, self._decimals = expression, state, decimals
        used = expression.free_symbols
        self._numbers = {x: number for x, number in parameters.items() if x in used}
        self._symbols = [*(x for group in state.values() for x in group), *self._numbers]
        self._latex = {x: latex.get(x) or sp.latex(x) for x in self._symbols}
        super().__init__(part, [Name(str(x), tex) for x, tex in self._latex.items()], about)
        self.shape = tuple(int(n) for n in expression.shape[: part.indices])

    @property
    def expression(self) -> Any:
        """A SymPy matrix (a vector is a column), or a SymPy array of three indices."""
        return self._expression

    @cached_property
    def entries(self) -> list[Any]:
        """The entries in C order."""
        return list(sympy_library().flatten(self._expression.tolist()))

    @cached_property
    def program(self) -> Program:  # type: ignore[override]
        """The expressions recorded, common parts once."""
        arguments = [Argument(name, (len(group),)) for name, group in self._state.items()]
        names = self.names[len(self.names) - len(self._numbers) :]
        arguments += [Argument(name.python, (), (), x) for name, x in zip(names, self._numbers.values(), strict=True)]
        groups = {**self._state, **{x: [x] for x in self._numbers}}
        nested = self.entries if len(self.shape) == 1 else self._expression.tolist()
        return record(recorder({self.part.letter: nested}, groups), arguments)

    # -- printing --------------------------------------------------------------------------------------------

    @cached_property
    def _abbreviations(self) -> list[Abbreviation]:
        """c_1, s_12, ... for sines and cosines of numbered coordinates and of parameters."""
        pairs = zip(self._symbols, self.names, strict=True)
        return abbreviations(self.entries, {x: n for x, n in pairs if n.python[-1].isdigit() or x in self._numbers})

    @cached_property
    def _rows(self) -> list[tuple[tuple[int, ...], Any]]:
        table = {a.function: a.symbol for a in self._abbreviations}
        short = [e.xreplace(table) for e in self.entries]
        return self._nonzero_entries(short, entries_to_show(short, self.shape))

    def text(self) -> str:
        """One line per entry, then the definitions of the abbreviations."""
        lines = [f"{self._entry(i)} = {self._printable(e)}" for i, e in self._rows] or [f"{self.part.letter} = 0"]
        legend = ", ".join(f"{a.symbol} = {a.function}" for a in self._abbreviations)
        return "\n".join([*lines, *([f"where {legend}"] if legend else [])])

    def blocks(self) -> list[tuple[str, str]]:
        """One block: the entries, then the definitions of the abbreviations."""
        latex = {**self._latex, **{a.symbol: a.latex for a in self._abbreviations}}

        def tex(e: Any) -> str:
            return sympy_library().latex(self._printable(e), symbol_names=latex)

        rows = [f"{self._latex_entry(i)} &= {tex(e)}" for i, e in self._rows] or [f"{self.part.latex} &= 0"]
        return [("", latex_aligned([*rows, *(f"{a.latex} &= {tex(a.function)}" for a in self._abbreviations)]))]

    def _printable(self, e: Any) -> Any:
        return _decimals(e) if self._decimals else e

    def __repr__(self) -> str:
        return f"ExpandedFormula({self.part.letter}, {' × '.join(map(str, self.shape))})"


def _decimals(e: Any) -> Any:
    """The expression with its fractions as decimals, for printing: 9.81 instead of 981/100."""
    text = f"{abs(float(e)):.{FIGURES}g}" if e.is_Rational and not e.is_Integer else "e"
    if "e" not in text:
        symbol = sympy_library().Symbol(text)
        return symbol if e > 0 else -symbol
    return e.func(*map(_decimals, e.args)) if e.is_Add or e.is_Mul else e
