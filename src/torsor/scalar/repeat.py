"""Functions that a recording contains several times: recorded once, then copied with other operands.

Runge–Kutta evaluates one acceleration at four states.  A copy has the operations of the first recording, in its order and
without further algebra, so the compiler can make one piece of machine code of all copies (:mod:`torsor.compile.outline`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from torsor.scalar.expr import Expr, Graph
from torsor.scalar.scalar import Scalar, Scalars


class RepeatedFunction(NamedTuple):
    """One function of a graph and its copies.

    ``pattern`` has the text of each operand that is a number, and None for the others.  ``copies`` are the nodes of each copy,
    corresponding ones at the same position; nodes that do not depend on the operands are shared, and in no copy.
    ``standins`` are the operands that the function was recorded with.
    """

    function: Callable[..., list[Scalar]]
    pattern: tuple[str | None, ...]
    standins: list[Scalar]
    body: list[Expr]
    results: list[Scalar]
    copies: list[list[Expr]]


def repeatable(function: Callable[..., list[Scalar]]) -> Callable[..., list[Scalar]]:
    """``function`` of lists of scalars, returning a list, that is recorded once however often it is called over Expr.

    It must depend on its arguments alone, and on values that stay the same.  Over other scalars it has no effect.

    >>> from torsor.compile import Argument, record
    >>> square = repeatable(lambda x: [x[0] * x[0]])
    >>> record(lambda x: {"y": square(square(x))}, [Argument("x", (1,))]).repeats
    (Repeat(starts=(1, 2), length=1),)
    """

    def repeat(*lists: Scalars) -> list[Scalar]:
        operands = [x for part in lists for x in part]
        graph = next((x.graph for x in operands if x.__class__ is Expr), None)
        plain = all(x.__class__ is Expr or isinstance(x, (int, float)) for x in operands)
        if graph is None or not plain or graph.recording:
            return function(*lists)
        pattern = tuple(None if x.__class__ is Expr else repr(x) for x in operands)
        for stretch in graph.stretches:
            if stretch.function is function and stretch.pattern == pattern:
                return _copy(graph, stretch, operands)
        graph.stretches.append(_stretch(graph, function, pattern, lists))
        return _copy(graph, graph.stretches[-1], operands)

    return repeat


def _stretch(
    graph: Graph, function: Callable[..., list[Scalar]], pattern: tuple[str | None, ...], lists: Sequence[Scalars]
) -> RepeatedFunction:
    """The function recorded with stand-ins for its operands, which may also be values that it uses elsewhere.

    The recording shares no node with others, so that copies differ only in their operands.
    """
    start, table = len(graph.nodes), graph.table
    graph.table, graph.recording = {}, True
    try:
        given = [[_standin(graph, x) if x.__class__ is Expr else x for x in part] for part in lists]
        results = list(function(*given))
    finally:
        graph.table, graph.recording = table, False
    standins = [x for part in given for x in part]
    depends = {x.index for x in standins if x.__class__ is Expr}
    body = []
    for node in graph.nodes[start:]:
        if node.index not in depends and node.op not in ("input", "const") and any(a.index in depends for a in node.args):
            depends.add(node.index)
            body.append(node)
    return RepeatedFunction(function, pattern, standins, body, results, [])


def _standin(graph: Graph, x: Expr) -> Expr:
    node = Expr(graph, "operand", (x,), len(graph.nodes))
    graph.nodes.append(node)
    return node


def _copy(graph: Graph, stretch: RepeatedFunction, operands: Scalars) -> list[Scalar]:
    """The results for other operands: each operation once more."""
    new = {x.index: y for x, y in zip(stretch.standins, operands, strict=True) if x.__class__ is Expr}
    copy = []
    for node in stretch.body:
        made = Expr(graph, node.op, tuple([new.get(a.index, a) for a in node.args]), len(graph.nodes))
        graph.nodes.append(made)
        new[node.index] = made
        copy.append(made)
    stretch.copies.append(copy)
    return [new.get(x.index, x) if x.__class__ is Expr else x for x in stretch.results]
