"""A schedule as lines of C or of Python over NumPy: the choice of values with a line and a name.

A value used once is written where it is used, as long as the line stays short; parentheses keep the order of evaluation as
it was recorded, so the text computes the same bits as the program.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from torsor.compile.program import FREE, Argument
from torsor.compile.schedule import Schedule
from torsor.compile.text.language import ATOM, CONDITION, LOOSE, SUM, Language, Text

#: an expression longer than this gets a name
SHORT = 44
#: operations that may be written in the middle of another expression
NESTED = frozenset({"add", "sub", "mul", "neg"})


class Lines:
    """The lines of one chunk after the other: ``chunk(c)``.

    ``names`` are the names of the arguments, inputs first; ``entries`` those of the inputs' entries (``q_0``, ... by default).
    """

    def __init__(
        self,
        s: Schedule,
        inputs: Iterable[Argument],
        names: Sequence[str],
        language: Language,
        store: Callable[[int, str], str],
        entries: Sequence[str] = (),
    ):
        self.s, self.language, self.store = s, language, store
        self.source: list[tuple[str, str]] = []  # per input, laid end to end: its local name, and the text it is read by
        for argument, name in zip(inputs, names, strict=False):
            for k in range(argument.size):
                local = entries[len(self.source)] if entries else f"{name}_{k}"
                self.source.append((local, language.item.format(name, k)) if argument.shape else (name, name))
        self.home = {v: c for c in range(len(s.cuts) - 1) for v in range(s.cuts[c], s.cuts[c + 1])}
        self.uses: list[Counter[int]] = [Counter() for _ in s.code]  # number of reads of a value by each chunk
        self.conditions: Counter[int] = Counter()  # number of times a value is the condition of a where
        for v, (op, args) in enumerate(s.code):
            if op not in FREE:
                for a in args:
                    self.uses[a][self.home[v]] += 1
                self.conditions[args[0]] += op == "where"
        for c, groups in enumerate(s.stores):
            for group in groups:
                for position in group:
                    self.uses[s.results[position]][c] += 1

    def chunk(self, c: int) -> tuple[list[str], int]:
        """The lines of chunk c, and the number of names they define."""
        self.lines: list[str] = []
        self.text: dict[int, Text] = {}
        self.locals, self.now = 0, c
        for v in range(self.s.cuts[c], self.s.cuts[c + 1]):
            op, args = self.s.code[v]
            if op not in FREE and not self._is_inlined_condition(v):
                self._define(v, *self._expression(op, args))
        for group in self.s.stores[c]:
            for position in group:
                self.lines.append(self.store(position, self._operand(self.s.results[position])[0]))
        return self.lines, self.locals

    def _is_inlined_condition(self, v: int) -> bool:
        """Whether v is a comparison that is used once, as a condition in this chunk: it is written there."""
        made_here = self.home[v] == self.now  # operands of a comparison of an earlier chunk may be gone
        return made_here and self.s.code[v][0] in CONDITION and self._is_used_once(v) and self.conditions[v] == 1

    def _is_used_once(self, v: int) -> bool:
        return self.uses[v] == {self.now: 1}

    def _expression(self, op: str, args: tuple[int, ...]) -> Text:
        operands = [self._condition(a) if op == "where" and k == 0 else self._operand(a) for k, a in enumerate(args)]
        return self.language.apply(op, operands)

    def _condition(self, v: int) -> Text:
        """The condition of a where: a comparison, or v ≠ 0."""
        op, args = self.s.code[v]
        if op in CONDITION and self._is_inlined_condition(v):
            a, b = (self.language.operand(self._operand(x), SUM) for x in args)
            return f"{a} {CONDITION[op]} {b}", LOOSE
        return f"{self.language.operand(self._operand(v), SUM)} != {self.language.number(0.0)[0]}", LOOSE

    def _define(self, v: int, text: str, level: int) -> None:
        """Value v is this text: kept for its only use, or a line; values that later chunks read go to their slot."""
        here = self.uses[v][self.now]
        if self._is_used_once(v) and self.s.code[v][0] in NESTED and len(text) <= SHORT:
            self.text[v] = text, level
            return
        if here or v not in self.s.slot:
            text = self._local(v, self._name(v), text)
        if v in self.s.slot:
            self.lines.append(f"{self._scratch(v)} = {text}")

    def _local(self, v: int, name: str, text: str) -> str:
        if name != text:
            self.lines.append(self.language.assign.format(name, text))
            self.locals += 1
        self.text[v] = name, ATOM
        return name

    def _name(self, v: int) -> str:
        op, args = self.s.code[v]
        if op in ("sin", "cos") and self.s.code[args[0]][0] == "input":
            return f"{op}_{self.source[self.s.code[args[0]][1][0]][0]}"
        return f"t{v}"

    def _scratch(self, v: int) -> str:
        return self.language.item.format("scratch", self.s.slot[v])

    def _operand(self, v: int) -> Text:
        op, args = self.s.code[v]
        if op == "const":
            return self.language.number(args[0])
        if v not in self.text:
            self._local(v, *(self.source[args[0]] if op == "input" else (self._name(v), self._scratch(v))))
        return self.text[v]
