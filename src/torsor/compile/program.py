"""A recorded computation: straight-line code without branches, ready to be compiled, interpreted, printed or differentiated."""

from __future__ import annotations

import gc
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from torsor.errors import TorsorError
from torsor.scalar import Expr, Graph, Scalar, Scalars
from torsor.support.locks import cached_property

#: operations without cost at run time
FREE = frozenset({"const", "input"})
#: operations for which an infinite constant means "no limit", and not an overflow
LIMITS = frozenset({"min", "max", "lt", "le", "eq", "where"})
#: objects that a long recording leaves: a humanoid's dynamics leave 15 000, the derivative of its implicit step a million
LONG_RECORDING = 100_000

#: (name, operands)
Operation = tuple[str, tuple[Any, ...]]


class Argument(NamedTuple):
    """A named array of a program, without its batch axes; ``labels`` are the names of its entries, where they have names.

    A number with a ``default`` need not be given to a kernel.
    """

    name: str
    shape: tuple[int, ...]
    labels: tuple[str, ...] = ()
    default: float | None = None

    @property
    def size(self) -> int:
        size = 1
        for n in self.shape:
            size *= n
        return size


def spans(arguments: Iterable[Any]) -> list[slice]:
    """The place of each argument, or other thing with a ``size``, in the numbers of all of them, laid end to end."""
    return [slice(i, j) for i, j in pairwise(accumulate((a.size for a in arguments), initial=0))]


class Repeat(NamedTuple):
    """The fact that some stretches of the code are the same operations on other values.

    A stretch is ``length`` operations from each of ``starts``.  Corresponding operands are both in their stretches, at the same
    position, or both before them.
    """

    starts: tuple[int, ...]
    length: int


class Inverse(NamedTuple):
    """The fact that some values of a program are the inverse of a symmetric matrix.

    ``matrix`` is its lower triangle by rows: each entry is a value of the program, or an operation ("const" or "neg") that the
    program itself does not need.  ``values`` are those of the inverse, in C order.  Elimination from the last row to the first
    keeps the zeros of the matrix.
    """

    matrix: tuple[tuple[int | Operation, ...], ...]
    values: tuple[int, ...]


class Solution(NamedTuple):
    """The fact that some values of a program are X of A X = B.

    ``matrix`` is A as in :class:`Inverse`, ``right`` are the entries of B, as those of a matrix, and ``values`` are those of X;
    both in C order.
    """

    matrix: tuple[tuple[int | Operation, ...], ...]
    right: tuple[int | Operation, ...]
    values: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Program:
    """``code[k] = (op, operands)`` defines value k; operands are values defined before it.

    The operand of ``input`` is a position in the inputs laid end to end, that of ``const`` a float.  ``results`` are the
    values of the outputs, laid end to end in C order.  ``rays`` are groups of positions in the inputs whose common factor has
    no effect on the outputs: quaternions.  ``inverses``, ``solutions`` and ``repeats`` are facts that the code does not need: a
    kernel may compute the inverse of a matrix, and products with it, by a loop in place of the code
    (:mod:`torsor.compile.rolled`), and stretches that are alike by one function (:mod:`torsor.compile.outline`).
    """

    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    code: tuple[Operation, ...]
    results: tuple[int, ...]
    rays: tuple[tuple[int, ...], ...] = ()
    inverses: tuple[Inverse, ...] = ()
    repeats: tuple[Repeat, ...] = ()
    solutions: tuple[Solution, ...] = ()

    @cached_property
    def counts(self) -> Counter[str]:
        """Number of occurrences of each operation."""
        return Counter(op for op, _ in self.code if op not in FREE)

    @property
    def operations(self) -> int:
        """Arithmetic operations of one evaluation (a fused multiply-add counts as the two it replaces)."""
        return sum(self.counts.values())

    @property
    def recorded_part(self) -> Program:
        """The part that has been recorded already: all of it, unless the program is deferred (:mod:`torsor.compile.rolled`)."""
        return self

    @property
    def loop_operations(self) -> int:
        """Operations of a loop behind the recorded part."""
        return 0

    def __repr__(self) -> str:
        names = ", ".join(a.name for a in self.inputs)
        return f"Program({names} -> {', '.join(o.name for o in self.outputs)}; {self.operations} operations)"


def record(function: Callable[..., Mapping[str, Any]], inputs: Sequence[Argument]) -> Program:
    """The program of a function of scalars.

    ``function`` is called with one flat list of recorded scalars per input and returns ``{name: nested sequences}``.

    >>> record(lambda x: {"y": [x[0] * x[1], 0 * x[0]]}, [Argument("x", (2,))]).operations
    1
    """
    graph = Graph()
    start, lists = 0, []
    for argument in inputs:
        lists.append([graph.input(k) for k in range(start, start + argument.size)])
        start += argument.size
    with without_garbage_collection():
        made = program(graph, tuple(inputs), function(*lists))
        graph.clear()
    return made


def record_shortest(functions: Iterable[Callable[..., Mapping[str, Any]]], inputs: Sequence[Argument]) -> Program:
    """The program of fewest operations, of several functions that compute the same."""
    return min((record(function, inputs) for function in functions), key=lambda p: p.operations)


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Without garbage collection: a recording is many small objects and no cycle; the search takes a quarter of its time."""
    looking = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if looking:
            # freeze and unfreeze move all objects to the oldest generation, which is searched rarely.  Counting the objects
            # that the user has frozen takes 50 ms for 500 000, so it is done only after a long recording
            if gc.get_count()[0] > LONG_RECORDING and not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()


def program(graph: Graph, inputs: tuple[Argument, ...], outputs: Mapping[str, Any]) -> Program:
    """The program that computes ``outputs``, without unneeded operations."""
    arguments: list[Argument] = []
    roots: list[Expr] = []
    for name, value in outputs.items():
        flat, shape = flatten(value)
        arguments.append(Argument(name, shape))
        roots.extend(graph.lift(x) for x in flat)
    needed = _needed_nodes(graph, roots)
    number: dict[int, int] = {}
    code: list[Operation] = []
    for node in graph.nodes:
        if needed[node.index]:
            number[node.index] = len(code)
            code.append((node.op, node.args if node.op in FREE else tuple([number[a.index] for a in node.args])))
    found = tuple(filter(None, (_inverse(graph, number, A, X) for A, X in graph.inverses)))
    results = tuple(number[root.index] for root in roots)
    repeats = tuple(filter(None, (_repeat(number, s.copies) for s in graph.stretches)))
    solved = tuple(filter(None, (_solution(graph, number, *rows) for rows in graph.solutions)))
    size = sum(a.size for a in inputs)
    rays = tuple(group for group in graph.rays if max(group) < size)  # results of calls are numbered behind the inputs
    made = Program(inputs, tuple(arguments), tuple(code), results, rays, found, repeats, solved)
    _refuse_overflow(made)
    return made


def _needed_nodes(graph: Graph, roots: Sequence[Expr]) -> list[bool]:
    """Mark the nodes that the roots need; all copies of a repeated function keep the nodes that any copy needs."""
    needed = [False] * len(graph.nodes)
    for root in roots:
        needed[root.index] = True
    while True:
        for node in reversed(graph.nodes):
            if needed[node.index] and node.op not in FREE:
                for a in node.args:
                    needed[a.index] = True
        before = sum(needed)
        for stretch in graph.stretches:
            for alike in zip(*stretch.copies, strict=True):
                if any(needed[node.index] for node in alike):
                    for node in alike:
                        needed[node.index] = True
        if sum(needed) == before:
            return needed


def _repeat(number: Mapping[int, int], copies: Sequence[Sequence[Expr]]) -> Repeat | None:
    """Positions of the copies of a function in the code; None if there is only one copy, or none of its nodes is needed."""
    starts = [[number[node.index] for node in copy if node.index in number] for copy in copies]
    return Repeat(tuple(s[0] for s in starts), len(starts[0])) if len(copies) > 1 and starts[0] else None


def _inverse(graph: Graph, number: Mapping[int, int], A: Sequence[Scalars], X: Sequence[Scalars]) -> Inverse | None:
    """A noted inverse in the numbers of the program's values; None where the program does not compute all of it."""
    matrix = tuple(tuple(_entry(graph, number, x) for x in row[: i + 1]) for i, row in enumerate(A))
    values = tuple(number.get(graph.lift(x).index) for row in X for x in row)
    complete = None not in values and not any(None in row for row in matrix)
    return Inverse(matrix, values) if complete else None  # type: ignore[arg-type]  # no None is left in them


def _solution(
    graph: Graph, number: Mapping[int, int], A: Sequence[Scalars], B: Sequence[Scalars], X: Sequence[Scalars]
) -> Solution | None:
    """A noted solution, in the same way."""
    found = _inverse(graph, number, A, X)
    right = tuple(_entry(graph, number, x) for row in B for x in row)
    return Solution(found.matrix, right, found.values) if found and None not in right else None  # type: ignore[arg-type]


def _entry(graph: Graph, number: Mapping[int, int], x: Scalar) -> int | Operation | None:
    """An entry of a matrix: a value of the program, or an operation that the program itself does not need."""
    node = graph.lift(x)
    if node.index in number:
        return number[node.index]
    if node.op == "neg" and node.args[0].index in number:
        return "neg", (number[node.args[0].index],)
    return ("const", node.args) if node.op == "const" else None


def _refuse_overflow(p: Program) -> None:
    """Raise an error if a constant that overflowed while recording reaches an output: no state could give a finite result."""
    spoilt = [op == "const" and not math.isfinite(args[0]) for op, args in p.code]
    if not any(spoilt):
        return
    for k, (op, args) in enumerate(p.code):
        if op not in FREE and op not in LIMITS:
            spoilt[k] = any(spoilt[a] for a in args)
    for out, place in zip(p.outputs, spans(p.outputs), strict=True):
        if any(spoilt[r] for r in p.results[place]):
            raise TorsorError(
                f"{out.name} is not finite for any argument: constants in it overflow when they are multiplied or added"
            )


def renumber(code: Sequence[Operation], results: Iterable[int], order: Iterable[int]) -> tuple[list[Operation], list[int]]:
    """Some operations in another order, operands before their uses, and the results, in the new numbers."""
    new: dict[int, int] = {}
    out: list[Operation] = []
    for k in order:
        op, args = code[k]
        new[k] = len(out)
        out.append((op, args if op in FREE else tuple([new[a] for a in args])))
    return out, [new[r] for r in results]


def divisors(code: Sequence[Operation]) -> set[int]:
    """The values that others are divided by: an overflow in one would vanish from the results, since 1/inf = 0.

    Values that depend on an exponential are left out: in 1/(1 + eˣ) infinity gives the right limit.
    """
    grown: set[int] = set()
    for k, (op, args) in enumerate(code):
        if op == "exp" or (op not in FREE and any(a in grown for a in args)):
            grown.add(k)
    return {args[1] for op, args in code if op == "div"} - grown


class Empty(NamedTuple):
    """A result without numbers whose shape nested sequences cannot express, such as (0, 6)."""

    shape: tuple[int, ...]


def flatten(value: Any) -> tuple[list[Any], tuple[int, ...]]:
    """The scalars of nested sequences in C order, and their shape."""
    if isinstance(value, Empty):
        return [], value.shape
    if isinstance(value, (list, tuple)):
        parts = [flatten(v) for v in value]
        shapes = {shape for _, shape in parts}
        if len(shapes) > 1:
            raise ValueError(f"a ragged result: parts of shapes {sorted(shapes)}")
        return [x for flat, _ in parts for x in flat], (len(value), *(shapes.pop() if shapes else ()))
    return [value], ()


def evaluate(program: Program, inputs: Sequence[Any], one: Mapping[str, Callable[..., Any]]) -> list[Any]:
    """Every value of the program over any scalars, with ``one[op]`` for each operation: the skeleton of every interpreter."""
    values: list[Any] = []
    for op, args in program.code:
        if op == "input":
            values.append(inputs[args[0]])
        elif op == "const":
            values.append(args[0])
        else:
            values.append(one[op](*(values[a] for a in args)))
    return values
