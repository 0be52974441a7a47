"""A schedule as lines of a language that people read: names, parentheses, and which values deserve a line of their own.

A value used once is written where it is used, as long as the line stays short; parentheses keep the order of evaluation as
it was recorded, so the text computes the same bits as the program.  C and Python differ only in their tables of forms.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from torsor.compile.program import FREE, Argument
from torsor.compile.schedule import Schedule

#: how tightly an expression holds together
LOOSE, SUM, PRODUCT, ATOM = range(4)
#: an expression longer than this gets a name
SHORT = 44


class Form(NamedTuple):
    """How an operation is written, how tight that is, and how tight its operands have to be."""

    text: str
    level: int = ATOM
    operands: tuple[int, ...] = (LOOSE, LOOSE, LOOSE)


#: the same in every language
INFIX = {
    "add": Form("{} + {}", SUM, (SUM, PRODUCT)),
    "sub": Form("{} - {}", SUM, (SUM, PRODUCT)),
    "mul": Form("{} * {}", PRODUCT, (PRODUCT, ATOM)),
    "div": Form("{} / {}", PRODUCT, (PRODUCT, ATOM)),
    "neg": Form("-{}", LOOSE, (ATOM,)),
}
#: comparisons, where they are a condition
CONDITION = {"lt": "<", "le": "<=", "eq": "=="}
#: what may be written in the middle of another expression
NESTED = frozenset({"add", "sub", "mul", "neg"})


@dataclass(frozen=True)
class Language:
    """``assign`` and ``item`` are templates: a new name and its value; an array's name and a position."""

    forms: Mapping[str, Form]
    number: Callable[[float], str]
    assign: str
    item: str


class Lines:
    """The lines of one chunk after the other: ``chunk(c)``.  ``names`` are the arguments', inputs first."""

    def __init__(
        self, s: Schedule, inputs: Iterable[Argument], names: list[str], language: Language, store: Callable[..., str]
    ):
        self.s, self.language, self.store = s, language, store
        self.source: list[tuple[str, str]] = []  # of each input, laid end to end: its local name, and where it comes from
        for argument, name in zip(inputs, names, strict=False):
            for k in range(argument.size):
                self.source.append((f"{name}_{k}", language.item.format(name, k)) if argument.shape else (name, name))
        self.home = {v: c for c in range(len(s.cuts) - 1) for v in range(s.cuts[c], s.cuts[c + 1])}
        self.uses: list[Counter[int]] = [Counter() for _ in s.code]  # how often each chunk reads a value
        self.asked: Counter[int] = Counter()  # how often as the condition of a where
        for v, (op, args) in enumerate(s.code):
            if op not in FREE:
                for a in args:
                    self.uses[a][self.home[v]] += 1
                self.asked[args[0]] += op == "where"
        for c, groups in enumerate(s.stores):
            for group in groups:
                for position in group:
                    self.uses[s.results[position]][c] += 1

    def chunk(self, c: int) -> tuple[list[str], int]:
        """The lines of chunk c, and how many names they define."""
        self.lines: list[str] = []
        self.text: dict[int, tuple[str, int]] = {}
        self.locals, self.now = 0, c
        for v in range(self.s.cuts[c], self.s.cuts[c + 1]):
            op, args = self.s.code[v]
            if op not in FREE and not self._waits(v):
                self._define(v, *self._written(op, args))
        for group in self.s.stores[c]:
            for position in group:
                self.lines.append(self.store(position, self._operand(self.s.results[position], LOOSE)))
        return self.lines, self.locals

    def _waits(self, v: int) -> bool:
        """A comparison that is one condition of this chunk and nothing else is written there."""
        return self.s.code[v][0] in CONDITION and self._once(v) and self.asked[v] == 1

    def _once(self, v: int) -> bool:
        return self.uses[v] == {self.now: 1}

    def _written(self, op: str, args: tuple[int, ...]) -> tuple[str, int]:
        form = self.language.forms[op]
        if op == "where":
            operands = [self._condition(args[0]), *(self._operand(a, LOOSE) for a in args[1:])]
        else:
            operands = [self._operand(a, tight) for a, tight in zip(args, form.operands, strict=False)]
        return form.text.format(*operands), form.level

    def _condition(self, v: int) -> str:
        op, args = self.s.code[v]
        if op in CONDITION and self._waits(v):
            return f"{self._operand(args[0], SUM)} {CONDITION[op]} {self._operand(args[1], SUM)}"
        return f"{self._operand(v, SUM)} != {self.language.number(0.0)}"

    def _define(self, v: int, text: str, level: int) -> None:
        """Value v is this text: kept for its one reader, or a line; what later chunks read goes to its slot."""
        here = self.uses[v][self.now]
        if self._once(v) and self.s.code[v][0] in NESTED and len(text) <= SHORT:
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

    def _operand(self, v: int, tight: int) -> str:
        op, args = self.s.code[v]
        if op == "const":
            text = self.language.number(args[0])
            level = LOOSE if text.startswith("-") else ATOM
        elif v in self.text:
            text, level = self.text[v]
        elif op == "input":
            text, level = self._local(v, *self.source[args[0]]), ATOM
        else:
            text, level = self._local(v, self._name(v), self._scratch(v)), ATOM
        return text if level >= tight else f"({text})"


def identifier(text: str, taken: Iterable[str] = (), default: str = "x") -> str:
    """A name any language takes, made of any text: letters, digits and single underscores; none of those taken.

    >>> identifier("jacobian:tool 0/α*"), identifier("6R"), identifier("ü"), identifier("a-b", {"a_b"})
    ('jacobian_tool_0', 'x_6R', 'x', 'a_b_2')
    """
    name = re.sub(r"_*[^A-Za-z0-9]+_*|_{2,}", "_", text).strip("_") or default
    name = f"{default}_{name}" if name[0].isdigit() else name
    other, k = name, 1
    while other in taken:
        k += 1
        other = f"{name}_{k}"
    return other


def argument_names(arguments: Iterable[Argument], reserved: Iterable[str]) -> list[str]:
    """A name for each argument that is no other's, nor that of a value made from one."""
    taken, names = {"scratch", *reserved}, []
    for argument in arguments:
        name = identifier(argument.name, taken)
        while (mine := {name, *(f"{f}{name}_{k}" for k in range(argument.size) for f in ("", "sin_", "cos_"))}) & taken:
            name += "_"
        if re.fullmatch(r"t\d+", name):
            name += "_"
        taken |= mine
        names.append(name)
    return names


def comment(text: str, width: int = 160) -> str:
    """Any text as part of one line of a comment or a docstring: printable ASCII that ends neither.

    >>> comment('a*/b ??/ "' + '""' + " \\n"), comment("Träger")
    ("a* /b ? ?/ '''  ", 'Tr\\\\xe4ger')
    """
    plain = "".join(" " if ord(c) < 32 or ord(c) == 127 else c for c in text).encode("ascii", "backslashreplace").decode()
    for bad, good in (("*/", "* /"), ("/*", "/ *"), ("??", "? ?"), ("??", "? ?"), ('"', "'")):
        plain = plain.replace(bad, good)
    return plain if len(plain) <= width else plain[: width - 4] + " ..."
