"""Functions that a recording contains several times: recorded once, then copied with other operands.

Runge–Kutta evaluates one acceleration at four states.  A copy has the operations of the first recording, in its order and
without further algebra, so the compiler can make one piece of machine code of all copies (:mod:`torsor.compile.outline`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from torsor.scalar.expr import Expr, Graph
from torsor.scalar.scalar import Scalar, Scalars


class RepeatedFunction(NamedTuple):
    """One function of a graph and its copies.

    ``pattern`` has the text of each operand that is a number, and None for the others.  ``copies`` are the nodes of each copy,
    corresponding ones at the same position; nodes that do not depend on the operands are shared, and in no copy.
    ``standins`` are the operands that the function was recorded with, ``value`` what it returned; ``within`` are further
    functions, which use its values, by any key.
    """

    function: Callable[..., Any]
    pattern: tuple[str | None, ...]
    standins: list[Scalar]
    body: list[Expr]
    value: Any
    copies: list[list[Expr]]
    within: dict[Any, list[RepeatedFunction]]


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
        graph = recording_of(operands)
        if graph is None:
            return function(*lists)
        if graph.repeat is not None:
            return graph.repeat(function, lists)
        once = find_or_record(graph, function, lists)
        new = copy(graph, once, operands)
        return [new.get(x.index, x) if x.__class__ is Expr else x for x in once.value]

    return repeat


def recording_of(operands: Scalars) -> Graph | None:
    """The recording in which a function of these operands can be repeated: None inside another such function."""
    graph = next((x.graph for x in operands if x.__class__ is Expr), None)
    plain = all(x.__class__ is Expr or isinstance(x, (int, float)) for x in operands)
    return None if graph is None or not plain or graph.recording else graph


def pattern_of(operands: Scalars) -> tuple[str | None, ...]:
    return tuple(None if x.__class__ is Expr else repr(x) for x in operands)


def find_or_record(graph: Graph, function: Callable[..., Any], lists: Sequence[Scalars]) -> RepeatedFunction:
    """The recording of the function with operands of this pattern, made now if there is none."""
    pattern = pattern_of([x for part in lists for x in part])
    alike = (s for s in graph.stretches if s.function is function and s.pattern == pattern)
    return next(alike, None) or record_once(graph, function, lists)


def record_once(
    graph: Graph, function: Callable[..., Any], lists: Sequence[Scalars], within: RepeatedFunction | None = None
) -> RepeatedFunction:
    """The function recorded with stand-ins for its operands, which may also be values that it uses elsewhere.

    The recording shares no node with others, so that copies differ only in their operands.  A function ``within`` another may
    use all values of that one.
    """
    start, table = len(graph.nodes), graph.table
    graph.table, graph.recording = {}, True
    try:
        given = [[_standin(graph, x) if x.__class__ is Expr else x for x in part] for part in lists]
        value = function(*given)
    finally:
        graph.table, graph.recording = table, False
    standins = [x for part in given for x in part]
    outer = [] if within is None else [*within.standins, *within.body]
    depends = {x.index for x in (*standins, *outer) if x.__class__ is Expr}
    body = []
    for node in graph.nodes[start:]:
        if node.index not in depends and node.op not in ("input", "const") and any(a.index in depends for a in node.args):
            depends.add(node.index)
            body.append(node)
    found = RepeatedFunction(function, pattern_of(standins), standins, body, value, [], {})
    graph.stretches.append(found)
    return found


def _standin(graph: Graph, x: Expr) -> Expr:
    node = Expr(graph, "operand", (x,), len(graph.nodes))
    graph.nodes.append(node)
    return node


def copy(graph: Graph, once: RepeatedFunction, operands: Scalars, within: Mapping[int, Scalar] | None = None) -> dict[int, Any]:
    """Each operation once more, for other operands: the new node of each node of the recording, by its index.

    ``within`` are those of the function that this one is within.
    """
    new = dict(within or {})
    new |= {x.index: y for x, y in zip(once.standins, operands, strict=True) if x.__class__ is Expr}
    index, nodes, get = len(graph.nodes), [], new.get
    for node in once.body:
        made = Expr(graph, node.op, tuple([get(a.index, a) for a in node.args]), index)
        new[node.index] = made
        nodes.append(made)
        index += 1
    graph.nodes += nodes
    once.copies.append(nodes)
    return new
