"""A program as a Python function: over NumPy arrays with a batch, as a kernel; or over floats, with ``math`` alone."""

from __future__ import annotations

import keyword
import textwrap
from collections.abc import Sequence
from itertools import product

from torsor.compile.program import Program, spans
from torsor.compile.schedule import schedule
from torsor.compile.text.language import LIBRARY, NUMPY
from torsor.compile.text.lines import Lines
from torsor.compile.text.names import argument_names

#: words an argument cannot have
RESERVED = frozenset({*keyword.kwlist, *keyword.softkwlist, "np", "batch", "float"})
#: columns of a line that unpacks an argument
WIDTH = 116


def python_function(program: Program, name: str, doc: str = "") -> str:
    """The text of ``def name(input, ...)``; it needs ``import numpy as np`` before it.

    >>> from torsor.compile import Argument, record
    >>> p = record(lambda x: {"y": [2 * x[0] * x[1]]}, [Argument("x", (2,))])
    >>> print(python_function(p, "twice"))
    def twice(x):
        x = np.asarray(x, float)
        batch = x.shape[:-1]
    <BLANKLINE>
        x_0, x_1 = np.moveaxis(x, -1, 0)
    <BLANKLINE>
        y = np.empty((*batch, 1))
        y[..., 0] = x_1 * (x_0 * 2.0)
        return y
    """
    inputs, outputs = program.inputs, program.outputs
    names = argument_names([*inputs, *outputs], {*RESERVED, name})
    taken, made = names[: len(inputs)], names[len(inputs) :]
    places = [(n, index) for n, o in zip(made, outputs, strict=True) for index in product(*map(range, o.shape))]
    s = schedule(program, False, [list(range(len(places)))], chunk=len(program.code) + 1)

    def store(position: int, text: str) -> str:
        n, index = places[position]
        return f"{n}[{', '.join(('...', *map(str, index)))}] = {text}"

    lines = Lines(s, inputs, taken, NUMPY, store)
    body, _ = lines.chunk(0)
    used = {a for op, args in s.code if op == "input" for a in args}
    head = [f"def {name}({', '.join(taken)}):", *([f'    """{doc}"""'] if doc else [])]
    if "where" in program.counts:  # both branches are computed, and the one not taken may divide by zero
        head.insert(0, '@np.errstate(divide="ignore", invalid="ignore", over="ignore")')
    loads = _loads(program, taken, lines, used)
    dropped = {NUMPY.assign.format(*source) for source in lines.source}  # the line that unpacks an input has them all
    steps = [line for line in body if line not in dropped]
    first = next((k for k, line in enumerate(steps) if "[..." in line.partition(" = ")[0]), len(steps))
    empty = [f"{n} = np.empty({_shape(o.shape)})" for n, o in zip(made, outputs, strict=True)]
    end = [f"return {', '.join(n if o.shape else f'{n}[()]' for n, o in zip(made, outputs, strict=True))}"]
    blocks = [loads[0], loads[1], steps[:first], [*empty, *steps[first:], *end]]
    text = "\n\n".join("\n".join(f"    {line}" for line in block) for block in blocks if block)
    return "\n".join(head) + "\n" + text


def _loads(program: Program, names: list[str], lines: Lines, used: set[int]) -> tuple[list[str], list[str]]:
    """Arguments as arrays and their batch; and one line for each that unpacks it, which also checks its size."""
    first = [f"{n} = np.asarray({n}, float)" for n in names]
    leads = [f"{n}.shape[:-{len(a.shape)}]" if a.shape else f"{n}.shape" for n, a in zip(names, program.inputs, strict=True)]
    first.append(f"batch = {leads[0]}" if len(leads) == 1 else f"batch = np.broadcast_shapes({', '.join(leads)})")
    second: list[str] = []
    for n, a, lead, place in zip(names, program.inputs, leads, spans(program.inputs), strict=True):
        if a.shape and a.size:
            left = [lines.source[k][0] if k in used else "_" for k in range(place.start, place.stop)]
            right = n if len(a.shape) == 1 else f"{n}.reshape(*{lead}, {a.size})"
            second += _unpacking_lines(left, f"np.moveaxis({right}, -1, 0)")
    return first, second


def _unpacking_lines(left: list[str], right: str) -> list[str]:
    line = f"{', '.join(left)}{',' if len(left) == 1 else ''} = {right}"
    if len(line) <= WIDTH:
        return [line]
    return ["(", *textwrap.wrap(f"{', '.join(left)},", WIDTH, initial_indent="    ", subsequent_indent="    "), f") = {right}"]


def _shape(shape: tuple[int, ...]) -> str:
    return f"({', '.join(('*batch', *map(str, shape)))})" if shape else "batch"


# -- over floats -----------------------------------------------------------------------------------------------


def math_import(*programs: Program) -> str:
    """The line that imports the functions of ``math`` these programs call, and two empty lines; empty if there are none."""
    used = sorted(set(LIBRARY) & {op for p in programs for op in p.counts})
    return f"from math import {', '.join(used)}\n\n\n" if used else ""


def math_function(
    program: Program, name: str, entries: Sequence[str], body: Sequence[str], results: Sequence[str], doc: str = ""
) -> str:
    """The text of ``def name(q, *, m=1.0)``: sequences in, scalar inputs as keywords, nested lists out.

    ``entries`` name the inputs' entries; ``body`` and ``results`` are lines and expressions in them
    (:data:`~torsor.compile.text.language.MATH`).

    >>> from torsor.compile import Argument, record
    >>> p = record(lambda x, m: {"y": [x[0] * x[1] * m[0]]}, [Argument("x", (2,)), Argument("m", (), default=2.0)])
    >>> print(math_function(p, "f", ["a", "b", "m"], [], ["a*b*m"]))
    def f(x, *, m=2.0):
        a, b = x
        return [a*b*m]
    """
    arguments, keywords, lines = [], [], []
    rest = iter(entries)
    for a in program.inputs:
        mine = [next(rest) for _ in range(a.size)]
        if not a.shape:
            keywords.append(mine[0] if a.default is None else f"{mine[0]}={a.default!r}")
            continue
        arguments.append(a.name)
        if mine:
            lines.append(f"{', '.join(mine)}{',' if len(mine) == 1 else ''} = {a.name}")
    head = f"def {name}({', '.join([*arguments, *(['*', *keywords] if keywords else [])])}):"
    lines = [*([f'"""{doc}"""'] if doc else []), *lines, *body, f"return {_nest(results, program.outputs[0].shape, '    ')}"]
    return "\n".join([head, *(f"    {line}" for line in lines)])


def _nest(texts: Sequence[str], shape: Sequence[int], indent: str) -> str:
    """Entries in C order as nested Python lists, one row per line."""
    if len(shape) == 0:
        return texts[0]
    if len(shape) == 1:
        return f"[{', '.join(texts)}]"
    step = len(texts) // shape[0] if shape[0] else 0
    rows = [_nest(texts[k * step : (k + 1) * step], shape[1:], indent + "    ") for k in range(shape[0])]
    inner = "".join(f"{indent}    {row},\n" for row in rows)
    return f"[\n{inner}{indent}]"
