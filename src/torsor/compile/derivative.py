"""Derivatives of a program, as programs: forward mode column by column, reverse mode row by row."""

from __future__ import annotations

from collections.abc import Sequence

from torsor.compile.program import Argument, Program, evaluate, program
from torsor.compile.rules import RECORD
from torsor.scalar import Graph, Scalar
from torsor.scalar.partials import PARTIALS


def _record_values(p: Program, graph: Graph) -> list[Scalar]:
    """Every value of the program, recorded once more."""
    return evaluate(p, [graph.input(k) for k in range(sum(a.size for a in p.inputs))], RECORD)


def _zero(x: Scalar) -> bool:
    return isinstance(x, (int, float)) and x == 0


def _columns(p: Program, wrt: Sequence[str]) -> list[int]:
    """Positions of the named inputs in the inputs laid end to end."""
    positions: list[int] = []
    start = 0
    known = {a.name for a in p.inputs}
    if missing := [name for name in wrt if name not in known]:
        raise ValueError(f"the program has no input {missing[0]!r}; its inputs are {sorted(known)}")
    for a in p.inputs:
        if a.name in wrt:
            positions.extend(range(start, start + a.size))
        start += a.size
    return positions


def _finish(p: Program, graph: Graph, columns: int, rows: list[list[Scalar]]) -> Program:
    outputs, start = {}, 0
    for out in p.outputs:
        outputs[f"d{out.name}"] = rows[start : start + out.size]
        start += out.size
    made = program(graph, p.inputs, outputs)
    shaped = tuple(Argument(f"d{out.name}", (*out.shape, columns)) for out in p.outputs)
    return Program(made.inputs, shaped, made.code, made.results)


def forward(p: Program, wrt: Sequence[str]) -> Program:
    """∂y/∂x of the outputs y by the inputs x named, tangents carried along with the values: cost grows with the inputs.

    An output of shape s and inputs of n entries in all make one of shape ``(*s, n)``, in the unit of y per unit of x.

    >>> import torsor as ts
    >>> from torsor.compile import Kernel
    >>> slope = Kernel(forward(ts.robots.two_link().program("gravity_force"), ["q"]))  # ∂g/∂q, symmetric
    >>> slope([0.0, 1.5707963267948966]).round(2).tolist()
    [[-9.81, -9.81], [-9.81, -9.81]]
    """
    graph = Graph()
    values = _record_values(p, graph)
    partials = {k: PARTIALS[op](values[k], *(values[a] for a in args)) for k, (op, args) in enumerate(p.code) if op in PARTIALS}
    columns = _columns(p, wrt)
    jacobian: list[list[Scalar]] = [[] for _ in p.results]
    for column in columns:
        tangents: list[Scalar] = []
        for k, (op, args) in enumerate(p.code):
            t: Scalar = 0
            if op == "input":
                t = int(args[0] == column)
            elif op != "const":
                for a, d in zip(args, partials[k], strict=True):
                    if not (_zero(tangents[a]) or _zero(d)):
                        t = t + tangents[a] * d
            tangents.append(t)
        for row, r in zip(jacobian, p.results, strict=True):
            row.append(tangents[r])
    return _finish(p, graph, len(columns), jacobian)


def reverse(p: Program, wrt: Sequence[str]) -> Program:
    """∂y/∂x as :func:`forward` has it, adjoints carried back from each output: cost grows with the outputs.

    >>> import torsor as ts
    >>> from torsor.compile import Kernel
    >>> gradient = Kernel(reverse(ts.robots.two_link().program("potential_energy"), ["q"]))  # ∂P/∂q = g
    >>> gradient([0.0, 0.0]).round(2)
    array([29.43,  9.81])
    """
    graph = Graph()
    values = _record_values(p, graph)
    partials = {k: PARTIALS[op](values[k], *(values[a] for a in args)) for k, (op, args) in enumerate(p.code) if op in PARTIALS}
    columns = _columns(p, wrt)
    place = {args[0]: k for k, (op, args) in enumerate(p.code) if op == "input"}
    jacobian: list[list[Scalar]] = []
    for result in p.results:
        adjoint: list[Scalar] = [0] * len(p.code)
        adjoint[result] = 1
        for k in range(result, -1, -1):
            if k not in partials or _zero(adjoint[k]):
                continue
            for a, d in zip(p.code[k][1], partials[k], strict=True):
                if not _zero(d):
                    adjoint[a] = adjoint[a] + adjoint[k] * d
        jacobian.append([adjoint[place[c]] if c in place else 0 for c in columns])
    return _finish(p, graph, len(columns), jacobian)
