"""Programs that call functions with derivatives of their own: an acceleration, a sum q ⊕ w, one iteration of a step.

A function that such a program repeats (:func:`torsor.scalar.repeatable`) is a call too.  Its results, their rates and their
adjoints are recorded once each and then copied, so ten iterations of a step are compiled as one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from torsor.compile import Argument, Program, record
from torsor.compile.derivative import Call, Linear, Linearization
from torsor.scalar import Expr, Graph, Scalar, Scalars
from torsor.scalar.repeat import RepeatedFunction, copy, find_or_record, pattern_of, record_once, recording_of

At = Callable[[Scalars], Linear]


class CallNodes(NamedTuple):
    """A call in a recording: its arguments, the first position and the number of its results, and its derivative."""

    arguments: list[Expr]
    start: int
    size: int
    at: At


class Calls:
    """The calls made while a program is recorded; their results are further inputs of it."""

    def __init__(self, size: int):
        self.start = size  #: the number of inputs so far
        self.made: list[CallNodes] = []
        self.repeated: dict[tuple[Callable[..., Any], tuple[str | None, ...]], tuple[At, list[Expr], int]] = {}

    def __call__(self, at: At, arguments: Scalars, size: int) -> list[Scalar]:
        """The results of a function, from its derivative ``at`` its arguments; a robot without joints has none."""
        if not size:
            return []
        graph, start = graph_of(arguments), self.start
        self.made.append(CallNodes([graph.lift(x) for x in arguments], start, size, at))  # constants come before results too
        self.start += size
        return [graph.input(k) for k in range(start, start + size)]

    def repeat(self, function: Callable[..., list[Scalar]], lists: Sequence[Scalars]) -> list[Scalar]:
        """The results of a function that is called several times, as a call of it; it may use other values, and make calls."""
        operands = [x for part in lists for x in part]
        key = function, pattern_of(operands)
        if key not in self.repeated:
            self.repeated[key] = self._record(function, lists)
        at, others, size = self.repeated[key]
        return self(at, [*(x for x in operands if x.__class__ is Expr), *others], size)

    def clear(self) -> None:
        """Forget all nodes: a class that uses the calls would keep them until garbage is collected."""
        self.made.clear()
        self.repeated.clear()

    def _record(self, function: Callable[..., list[Scalar]], lists: Sequence[Scalars]) -> tuple[At, list[Expr], int]:
        """The derivative of a function, the values that it uses beside its operands, and the number of its results."""
        graph, before, start = graph_of([x for part in lists for x in part]), self.made, self.start
        first, self.made = len(graph.nodes), []
        try:
            once = record_once(graph, function, lists)
            results = [graph.lift(x) for x in once.value]
        finally:
            inner, self.made, self.start = self.made, before, start
        standins = [x for x in once.standins if isinstance(x, Expr)]
        p, calls, others = _part(graph, first, standins, results, inner)
        return linearize_once(lambda x: Linearization.of(p, x, calls)), others, len(results)


def _part(
    graph: Graph, first: int, standins: Sequence[Expr], results: Sequence[Expr], inner: Sequence[CallNodes]
) -> tuple[Program, list[Call], list[Expr]]:
    """The program of the results, and the values that are its last inputs: those that do not depend on the stand-ins."""
    called = {node.index for node in graph.nodes[first:] if node.op == "input"}
    depends = {x.index for x in standins} | called
    for node in graph.nodes[first:]:
        if node.op not in ("input", "const", "operand") and any(a.index in depends for a in node.args):
            depends.add(node.index)
    needed = {x.index for x in results} | {x.index for call in inner for x in call.arguments}
    for node in reversed(graph.nodes[first:]):
        if node.index in needed and node.index in depends and node.op not in ("input", "operand"):
            needed |= {a.index for a in node.args}
    others = [x for x in graph.nodes if x.index in needed and x.index not in depends and x.op != "const"]
    place = {x.index: n for n, x in enumerate([*standins, *others])}
    size = len(place)
    starts = {call.start: size + call.start - inner[0].start for call in inner}  # inputs of the whole, and of the part
    number: dict[int, int] = {}
    code: list[tuple[str, tuple[Any, ...]]] = []
    for node in graph.nodes:
        if node.index not in needed:
            continue
        number[node.index] = len(code)
        if node.index in place:
            code.append(("input", (place[node.index],)))
        elif node.op == "input":
            code.append(("input", (node.args[0] - inner[0].start + size,)))
        else:
            code.append((node.op, node.args if node.op == "const" else tuple(number[a.index] for a in node.args)))
    calls = [Call(tuple(number[x.index] for x in c.arguments), starts[c.start], c.size, c.at) for c in inner]
    inputs, outputs = (Argument("x", (size,)),), (Argument("y", (len(results),)),)
    return Program(inputs, outputs, tuple(code), tuple(number[x.index] for x in results)), calls, others


def record_with_calls(function: Callable[..., Mapping[str, Any]], inputs: Sequence[Argument]) -> tuple[Program, list[Call]]:
    """The program of ``function(calls, *values)`` and the calls in it."""
    size = sum(a.size for a in inputs)
    made: list[Calls] = []

    def record_calls(*values: Scalars) -> dict[str, Any]:
        made.append(Calls(size))
        graph_of([x for value in values for x in value]).repeat = made[-1].repeat
        results = function(made[-1], *values)
        return {**results, **{f"call {k}": call.arguments for k, call in enumerate(made[-1].made)}}

    p = record(record_calls, inputs)
    (calls,) = made
    outputs = p.outputs[: len(p.outputs) - len(calls.made)]
    start = wanted = sum(y.size for y in outputs)
    found: list[Call] = []
    for call in calls.made:
        found.append(Call(p.results[start : start + len(call.arguments)], call.start, call.size, call.at))
        start += len(call.arguments)
    calls.clear()
    return replace(p, outputs=outputs, results=p.results[:wanted]), found


def graph_of(x: Scalars) -> Graph:
    """The recording that scalars belong to."""
    return next(a.graph for a in x if isinstance(a, Expr))


# -- derivatives that are recorded once ---------------------------------------------------------------------------


def linearize_once(at: At) -> At:
    """The same derivative, recorded once for all points of a recording."""

    def at_point(x: Scalars) -> Linear:
        graph = recording_of(x)
        if graph is None or graph.repeat is not None:
            return at(x)
        once = find_or_record(graph, at, [x])
        return LinearCopy(graph, once, copy(graph, once, x))

    return at_point


class LinearCopy(NamedTuple):
    """A derivative at one point, as a copy of that at stand-ins; ``new`` are the nodes at this point, by those it has there."""

    graph: Graph
    once: RepeatedFunction
    new: Mapping[int, Scalar]

    @property
    def linear(self) -> Linear:
        """The derivative at stand-ins."""
        found: Linear = self.once.value
        return found

    @property
    def results(self) -> list[Scalar]:
        return _at(self.new, self.linear.results)

    def push(self, directions: Sequence[Mapping[int, Scalar]]) -> list[list[Scalar]]:
        """The rates of all results for each direction."""
        keys, linear = tuple(tuple(rates) for rates in directions), self.linear

        def rates(*given: Scalars) -> list[Scalar]:
            found = linear.push([dict(zip(k, x, strict=True)) for k, x in zip(keys, given, strict=True)])
            return [y for row in found for y in row]

        flat = self._product(keys, rates, [list(rates.values()) for rates in directions])
        size = len(linear.results)
        return [flat[k * size : (k + 1) * size] for k in range(len(directions))]

    def pull(self, weights: Scalars) -> Mapping[int, Scalar]:
        """The adjoints of the inputs."""
        count, linear = len(self.once.standins), self.linear

        def adjoints(w: Scalars) -> list[Scalar]:
            found = linear.pull(w)
            return [found.get(k, 0) for k in range(count)]

        return dict(enumerate(self._product("pull", adjoints, [weights])))

    def _product(self, key: Any, function: Callable[..., list[Scalar]], lists: Sequence[Scalars]) -> list[Scalar]:
        """A function of the derivative: a copy of an earlier one, which may have an operand where this has a number."""
        operands = [x for part in lists for x in part]
        pattern, known = pattern_of(operands), self.once.within.setdefault(key, [])
        once = next((p for p in known if all(x in (None, y) for x, y in zip(p.pattern, pattern, strict=True))), None)
        if once is None:
            once = record_once(self.graph, function, lists, self.once)
            known.append(once)
        given = [self.graph.lift(x) if wanted is None else x for x, wanted in zip(operands, once.pattern, strict=True)]
        return _at(copy(self.graph, once, given, self.new), once.value)


def _at(new: Mapping[int, Scalar], values: Scalars) -> list[Scalar]:
    return [new.get(x.index, x) if isinstance(x, Expr) else x for x in values]
