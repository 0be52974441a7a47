"""Outlining: repeated stretches of a program become functions that it calls, each compiled once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from torsor.compile.program import FREE, Argument, Operation, Program, Repeat

#: operations up to which a program is compiled without outlining: passing values through memory costs up to 6 % of its time
SHORT = 10_000
#: the same where a call passes more than one value for PASSED operations: that costs up to half of the time
SHORT_IF_MANY, PASSED = 50_000, 10

#: operations of the code that calls: ``call:b`` of function b with its arguments, ``result:k`` of a call
CALL, RESULT = "call:", "result:"


class OutlinedProgram(NamedTuple):
    """A program whose repeated stretches are calls, and the functions that they call."""

    main: Program
    functions: list[Program]

    @property
    def operations(self) -> int:
        """Operations that are compiled."""
        return self.main.operations + sum(f.operations for f in self.functions)


def outline(program: Program) -> OutlinedProgram:
    """The program with each repeated stretch as a call, if it is long; the results of a call follow it at once."""
    if not program.repeats or program.operations < SHORT:
        return OutlinedProgram(program, [])
    at = {start: (b, j) for b, repeat in enumerate(program.repeats) for j, start in enumerate(repeat.starts)}
    used = _values_used_outside(program)
    calls = [Calls(program, repeat, used) for repeat in program.repeats]
    passed, repeated = sum(c.passed for c in calls), sum(repeat.length for repeat in program.repeats)
    if program.operations < SHORT_IF_MANY and PASSED * passed > repeated:
        return OutlinedProgram(program, [])
    number: dict[int, int] = {}
    code: list[Operation] = []
    k = 0
    while k < len(program.code):
        if k not in at:
            op, args = program.code[k]
            number[k] = len(code)
            code.append((op, args if op in FREE else tuple(number[a] for a in args)))
            k += 1
            continue
        b, j = at[k]
        call = len(code)
        code.append((f"{CALL}{b}", tuple(number[x[j]] for x in calls[b].arguments)))
        for place, offset in enumerate(calls[b].results):
            if k + offset in used:
                number[k + offset] = len(code)
                code.append((f"{RESULT}{place}", (call,)))
        k += program.repeats[b].length
    results = tuple(number[r] for r in program.results)
    main = Program(program.inputs, program.outputs, tuple(code), results, program.rays)
    return OutlinedProgram(main, [c.function() for c in calls])


class Calls:
    """The calls of one function: ``arguments`` has the value of each argument in each call, ``results`` are positions."""

    def __init__(self, program: Program, repeat: Repeat, used: Iterable[int]):
        self.program, self.repeat = program, repeat
        self.arguments: dict[tuple[int, ...], int] = {}
        first = repeat.starts[0]
        for k in range(repeat.length):
            for position, a in enumerate(program.code[first + k][1]):
                if a < first and program.code[a][0] != "const":
                    alike = tuple(program.code[start + k][1][position] for start in repeat.starts)
                    self.arguments.setdefault(alike, len(self.arguments))
        outside = {v - start for start in repeat.starts for v in used if 0 <= v - start < repeat.length}
        self.results = sorted(outside)

    @property
    def passed(self) -> int:
        """Values that a call passes through memory."""
        return len(self.arguments) + len(self.results)

    def function(self) -> Program:
        """The stretch as a program of its arguments."""
        program, (first, *_), length = self.program, self.repeat.starts, self.repeat.length
        code: list[Operation] = [("input", (k,)) for k in range(len(self.arguments))]
        number: dict[int, int] = {}
        for k in range(length):
            op, args = program.code[first + k]
            operands = []
            for position, a in enumerate(args):
                if a >= first:
                    operands.append(number[a])
                elif program.code[a][0] == "const":
                    operands.append(_number_of_constant(code, number, a, program.code[a]))
                else:
                    operands.append(self.arguments[tuple(program.code[s + k][1][position] for s in self.repeat.starts)])
            number[first + k] = len(code)
            code.append((op, tuple(operands)))
        results = tuple(number[first + k] for k in self.results)
        inputs, outputs = Argument("arguments", (len(self.arguments),)), Argument("results", (len(results),))
        return Program((inputs,), (outputs,), tuple(code), results)


def _number_of_constant(code: list[Operation], number: dict[int, int], a: int, operation: Operation) -> int:
    """The value of a constant within a function."""
    if a not in number:
        number[a] = len(code)
        code.append(operation)
    return number[a]


def _values_used_outside(program: Program) -> set[int]:
    """Values of stretches that something outside their stretch uses."""
    home = [-1] * len(program.code)  # the start of the stretch that a value is in
    for repeat in program.repeats:
        for start in repeat.starts:
            home[start : start + repeat.length] = [start] * repeat.length
    used = {r for r in program.results if home[r] >= 0}
    for (op, args), own in zip(program.code, home, strict=True):
        if op not in FREE:
            for a in args:
                if home[a] != own and home[a] >= 0:
                    used.add(a)
    return used
