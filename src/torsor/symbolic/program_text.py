"""A recorded program as a person would write it down: named terms in sections, in Python, LaTeX and Markdown.

A value used once is written where it is used, as long as the line stays readable; a value used more often gets a name.
Sections follow the algorithm: constants, trigonometry, then joint by joint outwards and inwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

from torsor.compile.program import Program, evaluate
from torsor.compile.rules import NUMPY
from torsor.symbolic import style as st
from torsor.symbolic.style import ATOM, PYTHON, SUM, Name, Signature, Style

#: characters of a line before what it uses gets a line of its own
WIDTH = 90


class Line(NamedTuple):
    """One value with a name."""

    section: str
    value: int


class ProgramText:
    """A program with named terms: ``python()`` runs, ``latex()`` and ``markdown()`` are for readers.

    >>> from torsor.compile import Argument, record
    >>> p = record(lambda x: {"y": [(x[0] + 1) * x[1]]}, [Argument("x", (2,))])
    >>> print(ProgramText("f", p, [""] * len(p.code), [Name("a", "a"), Name("b", "b")], entry="y").text())
    # Result
    y[1] = b*(a + 1)
    """

    def __init__(
        self, name: str, program: Program, sections: Sequence[str], inputs: Sequence[Name], entry: str = "y",
        signature: Signature | None = None,
    ):  # fmt: skip
        self.name, self.program, self.entry = name, program, entry
        self.signature = signature or Signature((), (), "")
        self._sections, self._inputs = list(sections), inputs
        self._names: dict[int, Name] = {}
        self._plan()

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the result."""
        return self.program.outputs[0].shape

    @property
    def terms(self) -> int:
        """How many intermediate terms have names."""
        return len(self._lines)

    def __call__(self, *inputs: Any) -> Any:
        """The result at numbers for the inputs laid end to end, an array."""
        import numpy as np

        values = evaluate(self.program, inputs, NUMPY)
        return np.array([values[r] for r in self.program.results], dtype=float).reshape(self.shape)

    # -- deciding what gets a name ---------------------------------------------------------------------------

    def _plan(self) -> None:
        code, uses = self.program.code, [0] * len(self.program.code)
        for op, args in code:
            if op not in ("input", "const"):
                for a in args:
                    uses[a] += 1
        for r in self._shown():
            uses[self.program.results[r]] += 1
        for k in reversed(range(len(code))):  # a minus sign costs nothing: what it stands before is what is shared
            if code[k][0] == "neg":
                uses[code[k][1][0]] += uses[k] - 1
        length: list[int] = []
        named: list[int] = []
        angles = {args[0] for op, args in code if op in ("sin", "cos")}
        for k, (op, args) in enumerate(code):
            if op == "input":
                length.append(len(self._inputs[args[0]].python))
                continue
            if op == "const":
                length.append(8)
                continue
            size = 3 + sum(length[a] for a in args)
            if size > WIDTH:  # the longest operand gets its own line
                for a in sorted(args, key=lambda a: -length[a]):
                    if size > WIDTH and length[a] > 12 and a not in named:
                        named.append(code[a][1][0] if code[a][0] == "neg" else a)
                        size -= length[a] - 4
                        length[a] = 4
            trig = op in ("sin", "cos")
            shared = uses[k] > 1 and op != "neg" and k not in angles
            if trig or shared:
                named.append(k)
                size = 4
            length.append(size)
        self._order(set(named))

    def _order(self, named: set[int]) -> None:
        """Constants first, then trigonometry, then the algorithm's own order; names in the order of appearance."""
        state = self._state
        titles = {0: "Constants of the robot", 1: "Trigonometry"}
        trig = {k for k in named if self.program.code[k][0] in ("sin", "cos")}
        rank = {k: 0 if not state[k] else 1 if k in trig and self._plain_angle(k) else 2 for k in named}
        self._lines = [Line(titles.get(rank[k], self._sections[k]), k) for k in sorted(named, key=lambda k: (rank[k], k))]
        counts = {0: 0, 2: 0}
        taken: set[str] = {n.python for n in self._inputs}
        for line in self._lines:
            k, r = line.value, rank[line.value]
            if k in trig and self._plain_angle(k):
                name = self._trig_name(k)
                if name.python not in taken:
                    self._names[k] = name
                    taken.add(name.python)
                    continue
            r = 0 if r == 0 else 2
            counts[r] += 1
            letter = "k" if r == 0 else "t"
            self._names[k] = Name(f"{letter}{counts[r]}", f"{letter}_{{{counts[r]}}}")

    @cached_property
    def _state(self) -> list[bool]:
        """Whether each value depends on the state, and not on the robot's parameters alone."""
        constant = {k for k, _ in self.signature.defaults}
        out: list[bool] = []
        for op, args in self.program.code:
            out.append(args[0] not in constant if op == "input" else op != "const" and any(out[a] for a in args))
        return out

    def _plain_angle(self, k: int) -> bool:
        """Whether a sine's argument is a sum of inputs."""
        todo = [self.program.code[k][1][0]]
        while todo:
            op, args = self.program.code[todo.pop()]
            if op not in ("input", "add", "sub", "neg"):
                return False
            todo += [] if op == "input" else args
        return True

    def _trig_name(self, k: int) -> Name:
        """c_23 of cos(θ_2 + θ_3)."""
        op, (arg,) = self.program.code[k]
        parts = _signed(self.program.code, arg)
        label = st.trig_label([(self._inputs[p].python, s) for p, s in parts])
        return Name(f"{op[0]}_{label}".replace("-", "m"), f"{op[0]}_{{{label.replace('_', ' ')}}}")

    # -- printing --------------------------------------------------------------------------------------------

    def _rendered(self, style: Style) -> tuple[list[tuple[str, str, str]], list[str]]:
        """(section, name, right-hand side) of every line, and the results."""
        code = self.program.code
        text: list[tuple[str, int]] = []
        right: dict[int, str] = {}
        for k, (op, args) in enumerate(code):
            if op == "input":
                item = style.name(self._inputs[args[0]]), ATOM
            elif op == "const":
                item = style.number(args[0])
            elif op in ("sin", "cos") and self._plain_angle(k):
                item = style.apply(op, [(self._angle_text(args[0], style), SUM)])
            else:
                item = style.apply(op, [text[a] for a in args])
            if k in self._names:
                right[k] = item[0]
                item = style.name(self._names[k]), ATOM
            text.append(item)
        lines = [(s, style.name(self._names[k]), right[k]) for s, k in self._lines]
        return lines, [text[r][0] for r in self.program.results]

    def _angle_text(self, k: int, style: Style) -> str:
        """A sum of inputs, in their order."""
        text = ""
        for p, sign in _signed(self.program.code, k):
            text += (" + " if sign > 0 else " - ") if text else "" if sign > 0 else "-"
            text += style.name(self._inputs[p])
        return text

    def _results(self, texts: Sequence[str]) -> list[tuple[tuple[int, ...], str]]:
        """The index, from one, and the text of each entry shown."""
        index = list(product(*(range(1, n + 1) for n in self.shape)))
        return [(index[k], texts[k]) for k in self._shown() if texts[k] != "0"]

    def _shown(self) -> list[int]:
        """All entries, or of a symmetric matrix the upper triangle."""
        values = self.program.results
        n = self.shape[0] if len(self.shape) == 2 and self.shape[0] == self.shape[1] else 0
        symmetric = n and all(values[i * n + j] == values[j * n + i] for i in range(n) for j in range(n))
        return [k for k in range(len(values)) if not symmetric or k // n <= k % n]

    def text(self) -> str:
        """The lines as plain text, with a comment above each section."""
        lines, results = self._rendered(PYTHON)
        out: list[str] = []
        for title, group in st.by_section(lines):
            out += [f"# {title}", *(f"{name} = {right}" for name, right in group), ""]
        out += ["# Result", *(f"{self.entry}[{','.join(map(str, i))}] = {t}" for i, t in self._results(results))]
        return "\n".join(out)

    def python(self) -> str:
        """A Python function of the state that needs only ``math``; the robot's parameters are keywords."""
        lines, results = self._rendered(PYTHON)
        used = sorted(st.PY[op] for op in {op for op, _ in self.program.code} & set(st.PY))
        body: list[str] = []
        for title, group in st.by_section(lines):
            body += [f"# {title}", *(f"{name} = {right}" for name, right in group)]
        return st.function_text(self.name, self.signature, self._inputs, used, body, st.nested(results, self.shape, "    "))

    def latex(self, digits: int = 6) -> str:
        """``aligned`` environments, a section each; constants to ``digits`` figures (``python()`` has them in full)."""
        return "\n\n".join(rf"\text{{{st.escaped(title)}}}" + "\n" + body for title, body in self._blocks(digits))

    def markdown(self, digits: int = 6) -> str:
        """Headings and display equations, as Jupyter and GitHub show them."""
        return "\n\n".join(f"#### {title}\n\n$$\n{body}\n$$" for title, body in self._blocks(digits))

    def _blocks(self, digits: int) -> list[tuple[str, str]]:
        style = Style(latex=True, digits=digits)
        lines, results = self._rendered(style)
        blocks = [(t, st.aligned([f"{n} &= {r}" for n, r in group])) for t, group in st.by_section(lines)]
        letter = st.LETTERS.get(self.entry, self.entry)
        last = [f"{letter}_{{{st.joined(i)}}} &= {t}" for i, t in self._results(results)] or [f"{letter} &= 0"]
        return [*blocks, ("Result", st.aligned(last))]

    def _repr_latex_(self) -> str:
        return "\n\n".join(f"$$\n{body}\n$$" for _, body in self._blocks(6))

    def _repr_markdown_(self) -> str:
        return self.markdown()

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"ProgramText({self.name}; {self.program.operations} operations, {self.terms} named terms)"


def _signed(code: Any, k: int, sign: int = 1) -> list[tuple[int, int]]:
    """(input, ±1) of each input in a sum, in order."""
    op, args = code[k]
    if op == "input":
        return [(args[0], sign)]
    if op == "neg":
        return _signed(code, args[0], -sign)
    return sorted(_signed(code, args[0], sign) + _signed(code, args[1], sign if op == "add" else -sign))
