"""A recording in sections: the joint to which each value belongs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from torsor.compile.program import Argument, Program, evaluate, program
from torsor.model import Model
from torsor.scalar import Expr, Graph
from torsor.symbolic.angle_sums import ANGLE_SUMS


@dataclass(frozen=True)
class MarkedModel(Model):
    """A model that marks in a graph the joints that an algorithm visits, outwards and inwards."""

    graph: Graph = field(default_factory=Graph)
    marks: list[tuple[int, str]] = field(default_factory=list)

    @classmethod
    def of(cls, model: Model, graph: Graph) -> MarkedModel:
        constants = {x.name: getattr(model, x.name) for x in fields(Model)}  # vars(model) has cached properties too
        return cls(**constants, graph=graph, marks=[])

    def _mark(self, title: str) -> None:
        self.marks.append((len(self.graph.nodes), title))

    def _mark_each(self, pairs: Any, word: str) -> Any:
        for i, p in pairs:
            self._mark(f"{word}: joint {i}, {self.joint_names[i]}")
            yield i, p
        self._mark("All bodies")

    def outward(self) -> Any:
        return self._mark_each(super().outward(), "Outwards")

    def inward(self) -> Any:
        return self._mark_each(super().inward(), "Inwards")


def record_sections(
    model: Model,
    function: Callable[..., Any],
    inputs: Sequence[Argument],
    lists: Sequence[list[Any]],
    graph: Graph,
    output: str,
) -> tuple[Program, list[str]]:
    """The program of ``function(model, *lists)``, with cos(a + b) for sums of angles, and the section of each of its values."""
    marked = MarkedModel.of(model, graph)
    first = program(graph, tuple(inputs), {output: function(marked, *lists)})
    sections = _sections(first, graph, marked.marks)
    again, section_of = Graph(), dict[int, str]()
    size = sum(a.size for a in inputs)
    values = evaluate(first, [again.input(k) for k in range(size)], ANGLE_SUMS)
    for value, section in zip(values, sections, strict=True):
        if isinstance(value, Expr):
            section_of.setdefault(value.index, section)
    flat = [values[r] for r in first.results]
    second = replace(program(again, tuple(inputs), {output: flat}), outputs=first.outputs)
    title = "All bodies"
    for k in reversed(range(len(again.nodes))):  # an operand belongs to the section of the value that uses it
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
