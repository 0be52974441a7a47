"""A recording that knows which joint each of its values belongs to, and sees cos(a + b) where it was multiplied out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from torsor.compile.program import Argument, Program, evaluate, program
from torsor.compile.rules import RECORD
from torsor.model import Model
from torsor.scalar import Expr, Graph


@dataclass(frozen=True)
class Marked(Model):
    """A model that notes, as its bodies are walked over, which part of a recording belongs to which joint."""

    graph: Graph = field(default_factory=Graph)
    marks: list[tuple[int, str]] = field(default_factory=list)

    @classmethod
    def of(cls, model: Model, graph: Graph) -> Marked:
        return cls(**vars(model), graph=graph, marks=[])

    def _mark(self, title: str) -> None:
        self.marks.append((len(self.graph.nodes), title))

    def _walked(self, pairs: Any, word: str) -> Any:
        for i, p in pairs:
            self._mark(f"{word}: joint {i}, {self.joint_names[i]}")
            yield i, p
        self._mark("All bodies")

    def outward(self) -> Any:
        return self._walked(super().outward(), "Outwards")

    def inward(self) -> Any:
        return self._walked(super().inward(), "Inwards")


def record_sections(
    model: Model,
    function: Callable[..., Any],
    inputs: Sequence[Argument],
    lists: Sequence[list[Any]],
    graph: Graph,
    output: str,
) -> tuple[Program, list[str]]:
    """The program of ``function(model, *lists)``, sums of angles recognised, and the section of each of its values."""
    marked = Marked.of(model, graph)
    first = program(graph, tuple(inputs), {output: function(marked, *lists)})
    sections = _sections(first, graph, marked.marks)
    again, section_of = Graph(), dict[int, str]()
    rules = {**RECORD, "add": _sum, "sub": lambda a, b: _sum(a, b, -1), "mul": _product}
    size = sum(a.size for a in inputs)
    values = evaluate(first, [again.input(k) for k in range(size)], rules)
    for value, section in zip(values, sections, strict=True):
        if isinstance(value, Expr):
            section_of.setdefault(value.index, section)
    flat = [values[r] for r in first.results]
    second = replace(program(again, tuple(inputs), {output: flat}), outputs=first.outputs)
    title = "All bodies"
    for k in reversed(range(len(again.nodes))):  # what a value was made of on the way belongs to the value
        title = section_of.setdefault(k, title)
    return second, [section_of[k] for k in _nodes(second, again)]


def _nodes(p: Program, graph: Graph) -> list[int]:
    """The graph's node of each value."""
    nodes: list[int] = []
    for op, args in p.code:
        key = (args[0],) if op == "input" else (args[0], math.copysign(1.0, args[0])) if op == "const" else ()
        nodes.append(graph.table[(op, *(key or (nodes[a] for a in args)))].index)
    return nodes


def _sections(p: Program, graph: Graph, marks: list[tuple[int, str]]) -> list[str]:
    out, at = [], 0
    for node in _nodes(p, graph):
        while at + 1 < len(marks) and marks[at + 1][0] <= node:
            at += 1
        out.append(marks[at][1] if marks and marks[at][0] <= node else "All bodies")
    return out


def _sum(a: Any, b: Any, sign: int = 1) -> Any:
    """a ± b, where f (c_a c_b − s_a s_b) is f c_{a+b}, f (s_a c_b + c_a s_b) is f s_{a+b}, and so for differences."""
    if isinstance(b, Expr) and b.op == "neg":
        return _sum(a, b.args[0], -sign)
    if isinstance(a, Expr) and a.op == "neg":
        return -_sum(a.args[0], b, -sign)
    if isinstance(a, Expr) and isinstance(b, Expr) and a.op == b.op == "mul":
        rest_a, rest_b = _factors(a), _factors(b)
        common = [x for x in rest_a if any(x is y for y in rest_b)]
        for x in common:
            rest_a.remove(x)
            if not any(x is y for y in rest_b):
                return a + b if sign > 0 else a - b  # a square: not a product of two angles
            rest_b.remove(x)
        found = _combined(rest_a, rest_b, sign)
        if found is not None:
            for x in common:
                found = found * (x.args[0] if x.op == "const" else x)
            return found
    (a, k), (b, m) = _split(a), _split(b)
    rest = a + b if sign > 0 else a - b
    return rest + (k + m * sign)


def _product(a: Any, b: Any) -> Any:
    """a b, with a half or a two inside either brought outside, where they meet and cancel."""
    (a, k), (b, m) = _scaled(a), _scaled(b)
    return a * b * (k * m)


def _scaled(x: Any) -> tuple[Any, float]:
    if isinstance(x, Expr) and x.op == "mul":
        for a, b in (x.args, x.args[::-1]):
            if a.op == "const" and a.args[0] in (0.5, 2.0):
                return b, a.args[0]
    return x, 1


def _split(x: Any) -> tuple[Any, float]:
    """x = rest + constant."""
    if not isinstance(x, Expr):
        return 0, x
    if x.op in ("add", "sub"):
        a, b = x.args
        if a.op == "const":
            return b if x.op == "add" else -b, a.args[0]
        if b.op == "const":
            return a, b.args[0] if x.op == "add" else -b.args[0]
    return x, 0


def _combined(x: list[Expr], y: list[Expr], sign: int) -> Any:
    """The sine or cosine that the sum or difference of two products of sines and cosines is; None if it is none."""
    if len(x) != 2 or len(y) != 2 or not all(e.op in ("sin", "cos") and _is_sum(e.args[0]) for e in (*x, *y)):
        return None
    (f, p), (g, q) = ((e.op, e.args[0]) for e in x)
    (h, r), (k, s) = ((e.op, e.args[0]) for e in y)
    if r is not p:
        h, r, k, s = k, s, h, r
    if p is q or r is not p or s is not q:
        return None
    if f == g and h == k != f:  # c c ± s s, or s s ± c c
        angle, _ = _angle(p, q, -sign)
        found = None if angle is None else angle.function("cos")
        return -found if found is not None and sign < 0 and f == "sin" else found
    if f != g and h != k and f != h:  # s_p c_q ± c_p s_q, or c_p s_q ± s_p c_q
        angle, lead = _angle(p, q, sign)
        found = None if angle is None else angle.function("sin")
        return -found if found is not None and lead * (sign if f == "cos" else 1) < 0 else found
    return None


def _angle(p: Expr, q: Expr, sign: int) -> tuple[Any, int]:
    """p ± q = lead × angle, a sum of inputs in their order, the first counted positively; None if it is no such."""
    counts: Counter[Expr] = Counter()
    for x, n in (*_addends(p, 1), *_addends(q, sign)):
        counts[x] += n
    items = sorted(((x, n) for x, n in counts.items() if n), key=lambda item: item[0].args[0])
    if not items or any(abs(n) > 1 for _, n in items):
        return None, 1
    angle, lead = items[0]
    for x, n in items[1:]:
        angle = angle + x if n == lead else angle - x
    return angle, lead


def _addends(x: Expr, sign: int) -> list[tuple[Expr, int]]:
    if x.op == "input":
        return [(x, sign)]
    if x.op == "neg":
        return _addends(x.args[0], -sign)
    return _addends(x.args[0], sign) + _addends(x.args[1], sign if x.op == "add" else -sign)


def _factors(x: Expr) -> list[Expr]:
    """The factors of a product of a few."""
    if x.op != "mul":
        return [x]
    left, right = x.args
    return [*_factors(left), *_factors(right)] if right.op != "mul" or left.op != "mul" else [left, right]


def _is_sum(x: Expr) -> bool:
    return x.op == "input" or (x.op in ("add", "sub", "neg") and all(_is_sum(a) for a in x.args))
