"""A program as data for one loop of machine code: a tape.

Straight-line code takes 0.06 ms per operation to compile: many seconds for the Christoffel symbols of a humanoid.  A tape is
not compiled.  It is a list of records, and a record is d = a b + c with the slots of d, a, b and c, because

    a + b = a·1 + b,   a − b = b·(−1) + a,   a b = a b + (−0),   −a = a·(−1) + (−0),   c − a b = (−a) b + c

hold bit for bit, with a fused multiply-add and without.  So the loop has no branch, and a tape gives the bits of the
straight-line code of the same program.  Other operations are records too, in separate runs.

A function that the program calls (:mod:`torsor.compile.outline`) has slots of its own and its records once; a call copies the
arguments there, then comes the function's list of runs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from torsor.compile.finite import Checks, checks, scale
from torsor.compile.outline import CALL, RESULT, OutlinedProgram
from torsor.compile.program import Program, divisors, spans
from torsor.compile.schedule import Code, contract
from torsor.compile.slots import (
    FLAGS,
    GROUP,
    SINCOS,
    SINGLE,
    Place,
    Product,
    Record,
    Step,
    Tape,
    allocate,
)

#: groups of results that wait to be stored, so that few runs are short
WAITING = 64

#: records between writing and reading a value, and records that are held back to have as many
DISTANCE, HELD = 6, 24


def tape(program: OutlinedProgram, fma: bool, single: bool, groups: list[list[Place]]) -> Tape:
    """The tape of a program; ``groups`` are columns of the outputs that are stored together."""
    functions = [_function(f, fma, single) for f in program.functions]
    main, results = _writer(program.main, fma)
    check = Check(main, checks(main.code, results, single), single)
    stores = Stores(main, program.main, results, groups)
    check.clear_flags()
    check.inputs()
    stores.offer(v for v, (op, _) in enumerate(main.code) if op in ("input", "const"))
    main.operations(check, functions, stores)
    stores.flush()
    main.records = spread_out(main.records, main.count)
    check.end()
    return allocate(main, functions)


class Function(NamedTuple):
    """A function that the program calls."""

    writer: TapeWriter
    results: list[int]


def _writer(program: Program, fma: bool) -> tuple[TapeWriter, tuple[int, ...]]:
    code, gone = contract(program) if fma else (list(program.code), set())
    return TapeWriter(code, sum(a.size for a in program.inputs), gone), program.results


def _function(program: Program, fma: bool, single: bool) -> Function:
    writer, results = _writer(program, fma)
    writer.operations(Check(writer, Checks(False, divisors(writer.code)), single))
    writer.records = spread_out(writer.records, writer.count)
    return Function(writer, [writer.name[r] for r in results])


def spread_out(records: list[Record], count: int) -> list[Record]:
    """Products in an order in which a value is read DISTANCE records after it was written, where others can go between.

    A processor waits to read a value just written.  Few records are held back at a time, so values do not live much longer, and
    records of other kinds stay where they are.
    """
    placed: list[Record] = []
    ready = [-1] * count  # position from which a value may be read
    for record in records:
        if not isinstance(record, Step) and record[0] not in record[1:]:  # a flag adds to itself
            ready[record[0]] = len(records) + DISTANCE
    waiting: list[Product] = []

    def place(record: Product) -> None:
        ready[record[0]] = len(placed) + DISTANCE
        placed.append(record)

    for record in records:
        if isinstance(record, Step):
            while waiting:
                place(waiting.pop(0))
            placed.append(record)
            continue
        waiting.append(record)
        for k, (_, a, b, c) in enumerate(waiting):
            now = len(placed)
            if ready[a] <= now and ready[b] <= now and ready[c] <= now:
                place(waiting.pop(k))
                break
        else:
            if len(waiting) > HELD:
                place(waiting.pop(0))
    while waiting:
        place(waiting.pop(0))
    return placed


class TapeWriter:
    """Records over numbered values: first those of the code, then negatives, flags, constants and inputs that it lacks."""

    def __init__(self, code: Code, inputs: int, gone: set[int]):
        self.code, self.count, self.gone = code, len(code), gone
        self.around: list[tuple[list[int], list[int]]] = []  # of each function: the values that are its inputs, and its results
        self.records: list[Record] = []
        self.constants: dict[tuple[float, float], int] = {}
        self.negatives: dict[int, int] = {}
        self.pairs: dict[int, int] = {}  # an angle: the record of its sine and cosine
        self.trig: dict[tuple[str, int], int] = {}  # (sin or cos, an angle): its value
        self.input = [-1] * inputs  # the value of each input
        self.name = list(range(len(code)))  # equal constants are one value, and equal sines and cosines
        for v, (op, args) in enumerate(code):
            if op == "input":
                self.input[args[0]] = v
            elif op == "const":
                self.name[v] = self.constant(args[0])
        self.input = [v if v >= 0 else self.new() for v in self.input]
        self.flags = [self.new() for _ in range(FLAGS)]
        self.one, self.minus_one, self.minus_zero = (self.constant(x) for x in (1.0, -1.0, -0.0))
        #: number of times a value is a factor in c − a b: the negative of one of the two factors is computed
        self.subtracted = Counter(a for op, args in code if op == "fnma" for a in args[:2])

    def new(self) -> int:
        self.count += 1
        return self.count - 1

    def constant(self, x: float) -> int:
        key = (x, math.copysign(1.0, x))
        if key not in self.constants:
            self.constants[key] = self.new()
        return self.constants[key]

    def operations(self, check: Check, functions: Sequence[Function] = (), stores: Stores | None = None) -> None:
        """The records of the code in its order."""
        self.around = [([self.new() for _ in f.writer.input], [self.new() for _ in f.results]) for f in functions]
        for v, (op, args) in enumerate(self.code):
            if op in ("input", "const") or v in self.gone:
                continue
            if op.startswith(CALL):
                self.call(int(op.removeprefix(CALL)), args)
                continue
            self.operation(v)
            check.value(v)
            if stores is not None and v in stores.needs:
                stores.offer((v,))

    def call(self, function: int, args: Sequence[int]) -> None:
        """Copies of the arguments, then the function."""
        for x, a in zip(self.around[function][0], args, strict=True):
            self.product(x, self.name[a], self.one, self.minus_zero)
        self.records.append(Step(CALL, (), (), (function, 0)))

    def product(self, d: int, a: int, b: int, c: int) -> None:
        """d = a b + c."""
        self.records.append((d, a, b, c))

    def negate(self, v: int) -> int:
        """The value −v, computed once."""
        op, args = self.code[v]
        if op == "const":
            return self.constant(-args[0])
        if v not in self.negatives:
            self.negatives[v] = self.new()
            self.product(self.negatives[v], self.name[v], self.minus_one, self.minus_zero)
        return self.negatives[v]

    def operation(self, v: int) -> None:
        """The record of value v, behind that of a negative it needs."""
        op, args = self.code[v]
        if op.startswith(RESULT):
            function = int(self.code[args[0]][0].removeprefix(CALL))
            self.product(v, self.around[function][1][int(op.removeprefix(RESULT))], self.one, self.minus_zero)
            return
        x = [self.name[a] for a in args]
        if op == "fma":
            self.product(v, *x)
        elif op == "mul":
            self.product(v, x[0], x[1], self.minus_zero)
        elif op == "add":
            self.product(v, x[0], self.one, x[1])
        elif op == "sub":
            self.product(v, x[1], self.minus_one, x[0])
        elif op == "fnma":
            constant = [self.code[a][0] == "const" for a in args[:2]]
            first = (constant[0], self.subtracted[args[0]]) >= (constant[1], self.subtracted[args[1]])
            self.product(v, self.negate(args[0 if first else 1]), x[1 if first else 0], x[2])
        elif op == "fms":
            self.product(v, x[0], x[1], self.negate(args[2]))
        elif op == "neg":
            self.product(v, x[0], self.minus_one, self.minus_zero)
        elif op in ("sin", "cos"):
            self.sine_or_cosine(v, op, x[0])
        else:
            self.records.append(Step(op, (v,), tuple(x)))

    def sine_or_cosine(self, v: int, op: str, angle: int) -> None:
        """One record computes both: the second of a pair uses the slot reserved by the first."""
        self.name[v] = self.trig.setdefault((op, angle), v)
        if self.name[v] != v:
            return
        if angle not in self.pairs:
            self.pairs[angle] = len(self.records)
            self.records.append(Step(SINCOS, (self.new(), self.new()), (angle,)))
        k = self.pairs[angle]
        step = self.records[k]
        assert isinstance(step, Step)
        sine, cosine = step.results
        self.records[k] = Step(SINCOS, (v, cosine) if op == "sin" else (sine, v), (angle,))


class Check:
    """0·x of the checked values, summed into the flags: NaN there means that a value was not finite."""

    def __init__(self, writer: TapeWriter, wanted: Checks, single: bool):
        self.writer, self.code = writer, writer.code
        self.by_inputs, self.values = wanted
        self.scale, self.count = scale(single), 0

    def add(self, v: int) -> None:
        flag = self.writer.flags[self.count % FLAGS]
        v = self.writer.name[v] if v < len(self.code) else v
        self.count += 1
        self.writer.product(flag, v, self.writer.constant(0.0), flag)

    def value(self, v: int) -> None:
        if v in self.values:
            self.add(v)

    def clear_flags(self) -> None:
        w = self.writer
        zero = w.constant(0.0)
        for flag in w.flags[1:]:  # the driver does it for the first
            w.product(flag, zero, zero, zero)

    def inputs(self) -> None:
        """The inputs that are checked or that no output depends on."""
        w = self.writer
        for v in w.input:
            if v in self.values or v >= len(self.code):
                x = v
                if self.by_inputs:
                    x = w.new()
                    w.product(x, v, w.constant(self.scale), w.minus_zero)
                self.add(x)

    def end(self) -> None:
        """Sum all flags into the first one, which the driver reads."""
        w = self.writer
        for flag in w.flags[1:]:
            w.product(w.flags[0], flag, w.one, w.flags[0])


class Stores:
    """Results are stored soon after the last of their group is computed: their slots are used again."""

    def __init__(self, writer: TapeWriter, program: Program, results: Sequence[int], groups: list[list[Place]]):
        self.writer = writer
        places = spans(program.outputs)
        self.groups = [(group[0], [results[places[a].start + k] for a, k in group]) for group in groups]
        self.missing = [len(set(values)) for _, values in self.groups]
        self.needs: dict[int, list[int]] = {}
        for g, (_, values) in enumerate(self.groups):
            for v in set(values):
                self.needs.setdefault(v, []).append(g)
        self.waiting: list[int] = []

    def offer(self, values: Iterable[int]) -> None:
        """Values that have been computed."""
        for v in values:
            for g in self.needs.get(v, ()):
                self.missing[g] -= 1
                if not self.missing[g]:
                    self.waiting.append(g)
        if len(self.waiting) >= WAITING:
            self.flush()

    def flush(self) -> None:
        self.waiting.sort(key=lambda g: len(self.groups[g][1]))  # one run of each kind
        for g in self.waiting:
            place, values = self.groups[g]
            kind = SINGLE if len(values) == 1 else GROUP
            self.writer.records.append(Step(kind, (), tuple(self.writer.name[v] for v in values), place))
        self.waiting.clear()
