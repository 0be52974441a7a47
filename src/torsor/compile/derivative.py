"""Derivatives of a program: tangents carried forward with the values, adjoints carried back from the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

from torsor.compile.program import Argument, Program, program, spans
from torsor.compile.rules import RECORD
from torsor.scalar import Graph, Scalar, Scalars, is_zero, ray
from torsor.scalar.partials import PARTIALS


class Linear(Protocol):
    """Results at one point, and their derivative: ``push`` of rates of the inputs, ``pull`` of weights of the results.

    Rates and adjoints are given by the positions of the inputs laid end to end; those that are missing are zero.  ``push``
    takes the rates of several directions at once, and returns one list of rates for each: a matrix serves all of them.
    """

    @property
    def results(self) -> list[Scalar]: ...
    def push(self, directions: Sequence[Mapping[int, Scalar]], /) -> list[list[Scalar]]: ...
    def pull(self, weights: Scalars, /) -> Mapping[int, Scalar]: ...


class Call(NamedTuple):
    """A function inside a program that has its own derivative, ``at`` its arguments.

    ``arguments`` are values of the program.  Its results are further inputs of the program, from position ``start`` on.
    """

    arguments: tuple[int, ...]
    start: int
    size: int
    at: Callable[[Scalars], Linear]


class Linearization(NamedTuple):
    """A program at given inputs, over any scalar: its values, the partial derivatives of each operation, and its calls."""

    program: Program
    values: list[Scalar]
    partials: dict[int, tuple[Scalar, ...]]
    calls: dict[int, tuple[Call, Linear]]  #: by the first value that is a result of each

    @classmethod
    def of(cls, p: Program, inputs: Scalars, calls: Sequence[Call] = ()) -> Linearization:
        """At ``inputs`` laid end to end; a recording notes those that are quaternions again."""
        for group in p.rays:
            ray(*(inputs[k] for k in group))
        given = dict(enumerate(inputs))
        values: list[Scalar] = []
        found: dict[int, tuple[Call, Linear]] = {}
        for k, (op, args) in enumerate(p.code):
            if op == "input" and args[0] not in given:  # the arguments of a call come before its results
                call = next(c for c in calls if c.start <= args[0] < c.start + c.size)
                found[k] = call, call.at([values[a] for a in call.arguments])
                given |= enumerate(found[k][1].results, call.start)
            if op == "input":
                values.append(given[args[0]])
            else:
                values.append(args[0] if op == "const" else RECORD[op](*(values[a] for a in args)))
        rows = ((k, op, args) for k, (op, args) in enumerate(p.code) if op in PARTIALS)
        return cls(p, values, {k: PARTIALS[op](values[k], *(values[a] for a in args)) for k, op, args in rows}, found)

    @property
    def results(self) -> list[Scalar]:
        """The values of the outputs, laid end to end."""
        return [self.values[r] for r in self.program.results]

    def push(self, directions: Sequence[Mapping[int, Scalar]]) -> list[list[Scalar]]:
        """ẏ = (∂y/∂x) ẋ for each direction ẋ (forward mode), one after the other between two calls."""
        known = [dict(rates) for rates in directions]
        tangents: list[list[Scalar]] = [[] for _ in directions]
        for start, end in pairwise([0, *self.calls, len(self.program.code)]):
            if start in self.calls:
                call, linear = self.calls[start]
                inner = [{n: t[a] for n, a in enumerate(call.arguments) if not is_zero(t[a])} for t in tangents]
                for rates, found in zip(known, linear.push(inner), strict=True):
                    rates |= enumerate(found, call.start)
            for rates, t in zip(known, tangents, strict=True):
                self._push(rates, t, start, end)
        return [[t[r] for r in self.program.results] for t in tangents]

    def _push(self, rates: Mapping[int, Scalar], tangents: list[Scalar], start: int, end: int) -> None:
        """Append the rates of values ``start`` to ``end``."""
        for k, (op, args) in enumerate(self.program.code[start:end], start):
            t: Scalar = rates.get(args[0], 0) if op == "input" else 0
            for a, d in zip(args, self.partials.get(k, ()), strict=False):
                if not (is_zero(tangents[a]) or is_zero(d)):
                    t = t + tangents[a] * d
            tangents.append(t)

    def pull(self, weights: Scalars) -> dict[int, Scalar]:
        """(∂y/∂x)ᵀ w by the positions of the inputs (reverse mode)."""
        code = self.program.code
        found: dict[int, Scalar] = {}
        adjoint: list[Scalar] = [0] * len(code)
        for r, w in zip(self.program.results, weights, strict=True):
            adjoint[r] = adjoint[r] + w
        for k in range(len(code) - 1, -1, -1):
            op, args = code[k]
            if op == "input":
                found[args[0]] = adjoint[k]
            if k in self.calls:
                call, linear = self.calls[k]
                inner = linear.pull([found.pop(n, 0) for n in range(call.start, call.start + call.size)])
                for n, x in inner.items():
                    adjoint[call.arguments[n]] = adjoint[call.arguments[n]] + x
            if not is_zero(adjoint[k]):
                for a, d in zip(args, self.partials.get(k, ()), strict=False):
                    if not is_zero(d):
                        adjoint[a] = adjoint[a] + adjoint[k] * d
        return found


def positions(p: Program, names: Sequence[str]) -> list[int]:
    """Positions of the named inputs in the inputs laid end to end."""
    known = dict(zip((a.name for a in p.inputs), spans(p.inputs), strict=True))
    if missing := [name for name in names if name not in known]:
        raise ValueError(f"the program has no input {missing[0]!r}; its inputs are {sorted(known)}")
    return [k for name, place in known.items() if name in names for k in range(place.start, place.stop)]


def forward(p: Program, wrt: Sequence[str]) -> Program:
    """∂y/∂x of the outputs y by the inputs x named, tangents carried along with the values: cost grows with the inputs.

    An output of shape s and inputs of n entries in all make one of shape ``(*s, n)``, in the unit of y per unit of x.

    >>> import torsor as ts
    >>> from torsor.compile import Kernel
    >>> slope = Kernel(forward(ts.robots.two_link().program("gravity_force"), ["q"]))  # ∂g/∂q, symmetric
    >>> slope([0.0, 1.5707963267948966]).round(2).tolist()
    [[-9.81, -9.81], [-9.81, -9.81]]
    """
    columns, graph = positions(p, wrt), Graph()
    at = _record(p, graph)
    tangents = at.push([{column: 1} for column in columns])
    return _finish(p, graph, len(columns), [[t[r] for t in tangents] for r in range(len(p.results))])


def reverse(p: Program, wrt: Sequence[str]) -> Program:
    """∂y/∂x as :func:`forward` has it, adjoints carried back from each output: cost grows with the outputs.

    >>> import torsor as ts
    >>> from torsor.compile import Kernel
    >>> gradient = Kernel(reverse(ts.robots.two_link().program("potential_energy"), ["q"]))  # ∂P/∂q = g
    >>> gradient([0.0, 0.0]).round(2)
    array([29.43,  9.81])
    """
    columns, graph = positions(p, wrt), Graph()
    at, count = _record(p, graph), len(p.results)
    rows = [at.pull([int(r == k) for k in range(count)]) for r in range(count)]
    return _finish(p, graph, len(columns), [[row.get(c, 0) for c in columns] for row in rows])


def _record(p: Program, graph: Graph) -> Linearization:
    return Linearization.of(p, [graph.input(k) for k in range(sum(a.size for a in p.inputs))])


def _finish(p: Program, graph: Graph, columns: int, rows: list[list[Scalar]]) -> Program:
    outputs = {f"d{out.name}": rows[place] for out, place in zip(p.outputs, spans(p.outputs), strict=True)}
    made = program(graph, p.inputs, outputs)
    shaped = tuple(Argument(f"d{out.name}", (*out.shape, columns)) for out in p.outputs)
    return Program(made.inputs, shaped, made.code, made.results)
