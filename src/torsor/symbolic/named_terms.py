"""A program as named terms in sections, in the order of the algorithm: the lines of a formula that is too long for one.

A value used once is written where it is used, as long as the line stays readable; a value used more often gets a name.
Sections: constants, trigonometry, then the program's own, such as joint by joint outwards and inwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from torsor.compile.program import FREE, Program
from torsor.compile.text.language import ATOM, SUM, Language, Text
from torsor.support.locks import cached_property
from torsor.symbolic.notation import Name, entries_to_show, trig_label

#: length of a line [characters] above which a value in it gets a separate line
WIDTH = 90

#: a section's title, and (name, right-hand side) of its lines
Section = tuple[str, list[tuple[str, str]]]


class NamedTerms:
    """``write(language, name)``: the lines of a program, by section, and its results.

    ``names`` are those of the inputs' entries.  A scalar input is a parameter; a value of parameters alone is a constant.

    >>> from torsor.compile import Argument, record
    >>> from torsor.compile.text.language import MATH
    >>> p = record(lambda x: {"y": [(x[0] + 1) * x[1]]}, [Argument("x", (2,))])
    >>> NamedTerms(p, [Name("a", "a"), Name("b", "b")]).write(MATH, lambda name: name.python)
    ([], ['b*(a + 1)'])
    """

    def __init__(self, program: Program, names: Sequence[Name], sections: Sequence[str] = ()):
        self.program, self._inputs = program, names
        self._sections = sections or ["Terms"] * len(program.code)
        self._names: dict[int, Name] = {}
        self._lines: list[tuple[str, int]] = []  # title, value
        self.entries_to_show = entries_to_show(program.results, program.outputs[0].shape)
        self._order(self._choose())

    def __len__(self) -> int:
        return len(self._lines)

    def write(self, language: Language, name: Callable[[Name], str]) -> tuple[list[Section], list[str]]:
        """The sections and the results in a language; ``name`` picks the name of a value in it."""
        text: list[Text] = []
        right: dict[int, str] = {}
        for k, (op, args) in enumerate(self.program.code):
            if op == "input":
                item = name(self._inputs[args[0]]), ATOM
            elif op == "const":
                item = language.number(args[0])
            elif op in ("sin", "cos") and self._is_plain_angle(k):
                item = language.apply(op, [(self._angle_text(args[0], name), SUM)])
            else:
                item = language.apply(op, [text[a] for a in args])
            if k in self._names:
                right[k] = item[0]
                item = name(self._names[k]), ATOM
            text.append(item)
        grouped = groupby(self._lines, key=lambda line: line[0])
        sections = [(title, [(name(self._names[k]), right[k]) for _, k in lines]) for title, lines in grouped]
        return sections, [text[r][0] for r in self.program.results]

    # -- which values get a name -----------------------------------------------------------------------------

    def _choose(self) -> set[int]:
        code, uses = self.program.code, [0] * len(self.program.code)
        for op, args in code:
            if op not in FREE:
                for a in args:
                    uses[a] += 1
        for r in self.entries_to_show:
            uses[self.program.results[r]] += 1
        for k in reversed(range(len(code))):  # a minus sign is free: the value without it is shared
            if code[k][0] == "neg":
                uses[code[k][1][0]] += uses[k] - 1
        length: list[int] = []
        named: set[int] = set()
        angles = {args[0] for op, args in code if op in ("sin", "cos")}
        for k, (op, args) in enumerate(code):
            if op in FREE:
                length.append(len(self._inputs[args[0]].python) if op == "input" else 8)
                continue
            size = 3 + sum(length[a] for a in args)
            for a in sorted(args, key=lambda a: -length[a]):  # the longest operand gets its own line
                if size > WIDTH and length[a] > 12 and a not in named:
                    named.add(code[a][1][0] if code[a][0] == "neg" else a)
                    size -= length[a] - 4
                    length[a] = 4
            if op in ("sin", "cos") or (uses[k] > 1 and op != "neg" and k not in angles):
                named.add(k)
                size = 4
            length.append(size)
        return named

    def _order(self, named: set[int]) -> None:
        """Constants first, then trigonometry, then the program's order; names in the order of appearance."""
        titles = {0: "Constants", 1: "Trigonometry"}
        trig = {k for k in named if self.program.code[k][0] in ("sin", "cos") and self._is_plain_angle(k)}
        rank = {k: 0 if not self._depends_on_state[k] else 1 if k in trig else 2 for k in named}
        ordered = sorted(named, key=lambda k: (rank[k], k))
        self._lines = [(titles.get(rank[k], self._sections[k]), k) for k in ordered]
        taken = {n.python for n in self._inputs}
        count = {"k": 0, "t": 0}
        for k in ordered:
            name = self._trig_name(k) if k in trig else None
            letter = "t" if rank[k] else "k"
            while name is None or name.python in taken:
                count[letter] += 1
                name = Name(f"{letter}{count[letter]}", f"{letter}_{{{count[letter]}}}")
            self._names[k] = name
            taken.add(name.python)

    @cached_property
    def _depends_on_state(self) -> list[bool]:
        """Whether each value depends on the state, and not on parameters alone."""
        state = [bool(a.shape) for a in self.program.inputs for _ in range(a.size)]
        out: list[bool] = []
        for op, args in self.program.code:
            out.append(state[args[0]] if op == "input" else op != "const" and any(out[a] for a in args))
        return out

    # -- sines and cosines of sums of inputs -----------------------------------------------------------------

    def _is_plain_angle(self, k: int) -> bool:
        """Whether the argument of a sine or cosine is a sum of inputs, each at most once."""
        todo, seen = [self.program.code[k][1][0]], set[int]()
        while todo:
            op, args = self.program.code[todo.pop()]
            if op not in ("input", "add", "sub", "neg") or (op == "input" and args[0] in seen):
                return False
            seen |= set(args) if op == "input" else set()
            todo += [] if op == "input" else args
        return True

    def _trig_name(self, k: int) -> Name:
        """c_23 for cos(θ_2 + θ_3)."""
        op, (arg,) = self.program.code[k]
        label = trig_label([(self._inputs[p].python, s) for p, s in _signed_inputs(self.program.code, arg)])
        return Name(f"{op[0]}_{label}".replace("-", "m"), f"{op[0]}_{{{label.replace('_', ' ')}}}")

    def _angle_text(self, k: int, name: Callable[[Name], str]) -> str:
        """A sum of inputs, in their order."""
        text = ""
        for p, sign in _signed_inputs(self.program.code, k):
            text += (" + " if sign > 0 else " - ") if text else "" if sign > 0 else "-"
            text += name(self._inputs[p])
        return text


def _signed_inputs(code: Sequence[tuple[str, Any]], k: int, sign: int = 1) -> list[tuple[int, int]]:
    """(input, ±1) for each input in a sum, in their order."""
    op, args = code[k]
    if op == "input":
        return [(args[0], sign)]
    if op == "neg":
        return _signed_inputs(code, args[0], -sign)
    return sorted(_signed_inputs(code, args[0], sign) + _signed_inputs(code, args[1], sign if op == "add" else -sign))
