"""A program as data for one loop of machine code: a tape.

Straight-line code takes 0.06 ms per operation to compile: many seconds for the Christoffel symbols of a humanoid.  A tape is
not compiled.  It is a list of records, and a record is d = a b + c with the slots of d, a, b and c, because

    a + b = a·1 + b,   a − b = b·(−1) + a,   a b = a b + (−0),   −a = a·(−1) + (−0),   c − a b = (−a) b + c

hold bit for bit, with a fused multiply-add and without.  So the loop has no branch, and a tape gives the bits of the
straight-line code of the same program.  Other operations are records too, in separate runs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from torsor.compile.finite import checks, scale
from torsor.compile.program import Program
from torsor.compile.schedule import Code, contract

#: records of products and sums that one turn of the loop computes; runs of them are filled up to a multiple
TURN = 4
#: sums of the check for finite values: one alone would wait for itself
FLAGS = 4
#: groups of results that wait to be stored, so that few runs are short
WAITING = 64

#: kinds of records beside the names of operations: a b + c, sine and cosine, results of several columns and of one
PRODUCT, SINCOS, GROUP, SINGLE = "product", "sincos", "group", "single"

#: records between writing and reading a value, and records that are held back to have as many
DISTANCE, HELD = 6, 24

#: (output, column)
Place = tuple[int, int]


class Tape(NamedTuple):
    """``records`` in the order of ``runs``, each (kind, number of records).

    A record has four slots: destination, then operands; that of a sine and a cosine has (sine, cosine, angle, 0).  A record of
    results has as many slots as columns, and the place of the first is the next of ``places``.  The first slots are the flags,
    then the ``constants``, then the inputs.
    """

    constants: list[float]
    runs: list[tuple[str, int]]
    records: list[int]
    places: list[Place]
    slots: int


class Step(NamedTuple):
    """A record of another kind than a b + c."""

    kind: str
    results: tuple[int, ...]
    operands: tuple[int, ...]
    place: Place = (0, 0)


#: the values (d, a, b, c) of d = a b + c
Product = tuple[int, int, int, int]
Record = Product | Step


def tape(program: Program, fma: bool, single: bool, groups: list[list[Place]]) -> Tape:
    """The tape of a program; ``groups`` are columns of the outputs that are stored together."""
    code, gone = contract(program) if fma else (list(program.code), set())
    results = program.results
    writer = TapeWriter(code, sum(a.size for a in program.inputs))
    check = Check(writer, code, results, single)
    stores = Stores(writer, program, results, groups)
    check.inputs()
    stores.offer(v for v, (op, _) in enumerate(code) if op in ("input", "const"))
    for v, (op, _) in enumerate(code):
        if op not in ("input", "const") and v not in gone:
            writer.operation(v)
            check.value(v)
            if v in stores.needs:
                stores.offer((v,))
    stores.flush()
    writer.records = spread_out(writer.records, writer.count)
    check.end()
    return allocate(writer)


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

    def __init__(self, code: Code, inputs: int):
        self.code, self.count = code, len(code)
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

    def __init__(self, writer: TapeWriter, code: Code, results: Sequence[int], single: bool):
        self.writer, self.code = writer, code
        self.by_inputs, self.values = checks(code, results, single)
        self.scale, self.count = scale(single), 0

    def add(self, v: int) -> None:
        flag = self.writer.flags[self.count % FLAGS]
        v = self.writer.name[v] if v < len(self.code) else v
        self.count += 1
        self.writer.product(flag, v, self.writer.constant(0.0), flag)

    def value(self, v: int) -> None:
        if v in self.values:
            self.add(v)

    def inputs(self) -> None:
        """Flags to zero, then the inputs that are checked or that no output depends on."""
        w = self.writer
        zero = w.constant(0.0)
        for flag in w.flags[1:]:  # the driver does it for the first
            w.product(flag, zero, zero, zero)
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
        starts = [0]
        for o in program.outputs:
            starts.append(starts[-1] + o.size)
        self.groups = [(group[0], [results[starts[a] + k] for a, k in group]) for group in groups]
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


def allocate(writer: TapeWriter) -> Tape:
    """The tape with a slot for each value while it is needed; the slot that became free last is the next to be used."""
    fixed = [*writer.flags, *writer.constants.values(), *writer.input]
    slot, last = [-1] * writer.count, _last_uses(writer)
    for k, v in enumerate(fixed):
        slot[v], last[v] = k, len(writer.records)  # these keep their slots
    zero = slot[writer.constant(0.0)]
    runs = Runs((0, zero, zero, 0))  # flag = 0·0 + flag leaves the flag unchanged
    free: list[int] = []
    top = len(fixed)
    places: list[Place] = []
    for k, record in enumerate(writer.records):
        kind, results, operands, place = record if isinstance(record, Step) else (PRODUCT, record[:1], record[1:], (0, 0))
        inside = [slot[v] for v in operands]
        for v in operands:
            if last[v] == k and slot[v] >= 0:
                free.append(slot[v])
                slot[v] = -1  # an operand may occur twice
        for v in results:
            if slot[v] < 0:
                if not free:
                    free.append(top)
                    top += 1
                slot[v] = free.pop()
        runs.add(kind, [slot[v] for v in results] + inside)
        if kind == SINCOS:
            free += [slot[v] for v in results if last[v] < 0]  # this half is never read
        elif kind in (GROUP, SINGLE):
            places.append(place)
    runs.fill()
    return Tape([x for x, _ in writer.constants], runs.runs, runs.records, places, top)


def _last_uses(writer: TapeWriter) -> list[int]:
    """The last record that reads each value, −1 where none does."""
    last = [-1] * writer.count
    for k, record in enumerate(writer.records):
        for v in record.operands if isinstance(record, Step) else record[1:]:
            last[v] = k
    return last


class Runs:
    """Records of one kind after another; a run of products has a multiple of TURN, the last of them ``filler``."""

    def __init__(self, filler: tuple[int, ...]):
        self.filler = filler
        self.runs: list[tuple[str, int]] = []
        self.records: list[int] = []
        self.kind, self.count = PRODUCT, 0

    def add(self, kind: str, slots: list[int]) -> None:
        if kind != self.kind:
            self.fill()
            self.kind, self.count = kind, 0
        self.count += 1
        self.records += slots
        if len(slots) < 4 and kind not in (GROUP, SINGLE):
            self.records += [0] * (4 - len(slots))

    def fill(self) -> None:
        """End the present run."""
        if self.kind == PRODUCT:
            while self.count % TURN:
                self.records += self.filler
                self.count += 1
        if self.count:
            self.runs.append((self.kind, self.count))
