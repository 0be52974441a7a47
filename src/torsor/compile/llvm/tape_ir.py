"""The loops that run a tape, as LLVM IR, and the tables they read.

The tables are in the object code, so that a tape from the disk cache needs no program.  A slot is a vector with one lane per
state.  The record of d = a b + c is read as one number of 64 bits, or two where there are more slots than 16 bits can count.
"""

from __future__ import annotations

import numpy as np

from torsor.compile.llvm.drivers import fill_function
from torsor.compile.llvm.emit import elementary, groups
from torsor.compile.llvm.lanes import IRWriter
from torsor.compile.llvm.sincos import trigonometry
from torsor.compile.llvm.tables import data_table
from torsor.compile.outline import OutlinedProgram
from torsor.compile.program import Program, spans
from torsor.compile.slots import FLAGS, GROUP, PRODUCT, SINCOS, SINGLE, TURN, Place
from torsor.compile.tape import tape

#: numbers of an output from which filling it is worth a loop
MANY = 64


class TapeEmitter:
    """The tape of one program for one builder; in a batch, results are stored in groups of ``lanes`` columns."""

    def __init__(self, outlined: OutlinedProgram, b: IRWriter, fma: bool, lanes: int):
        self.b, self.fma, program = b, fma, outlined.main
        self.in_sizes = [a.size for a in program.inputs]
        self.out_sizes = [o.size for o in program.outputs]
        self.part = 1 if b.one else lanes  #: columns of a group
        self.fills = zeros_of_sparse_outputs(program) if b.one else set()  # in a batch it would be memory written twice
        stored = [g for g in groups(self.out_sizes, self.part, b.one) if not self.fills.issuperset(g)]
        self.tape = tape(outlined, fma, b.single, stored)
        self.kinds = list(dict.fromkeys(run.kind for run in self.tape.runs))
        self.index = 2 if self.tape.slots <= 1 << 16 else 4  # bytes of the number of a slot

    @property
    def slots(self) -> int:
        """Vectors of scratch memory beside the flag."""
        return self.tape.slots - 1

    def calls(self) -> list[str]:
        """The line of a driver that computes one vector of states."""
        return ["  call void @tape(ptr %lanes, ptr %scratch, ptr @table)"]

    def functions(self) -> str:
        """The function that this line calls, and its tables."""
        runs = [self.run(k, kind) for k, kind in enumerate(self.kinds)]
        sines = trigonometry(self.b, self.fma) if SINCOS in self.kinds else ""
        fill = fill_function(self.b) if self.fills else ""
        return "\n".join((sines, fill, self.tables(), self.begin_function(), *runs, self.function()))

    # -- tables ----------------------------------------------------------------------------------------------

    def size(self, kind: str) -> int:
        """Bytes of a record."""
        return self.index * {SINGLE: 1, GROUP: self.part}.get(kind, 4)

    def tables(self) -> str:
        """For each run: its kind, the number of its records, and the offsets of these and of their slots, in bytes."""
        runs = [(self.kinds.index(r.kind), r.records, r.first * self.index, 8 * r.place) for r in self.tape.runs]
        b = self.b
        constants = ", ".join(f"{b.E} {b.number(x)}" for x in self.tape.constants)
        return "\n".join((
            f"@constants = internal constant [{len(self.tape.constants)} x {b.E}] [{constants}]",
            data_table("runs", np.array(runs, "<i8")),
            data_table("records", np.array(self.tape.records, f"<u{self.index}")),
            data_table("places", np.array(self.tape.places, "<u4")),
        ))  # fmt: skip

    # -- functions -------------------------------------------------------------------------------------------

    def function(self) -> str:
        """``void @tape(ptr lanes, ptr scratch, ptr table)``: run by run."""
        b, labels = self.b, [f"kind{k}" for k in range(len(self.kinds))]
        b.begin("internal void @tape(ptr noalias %lanes, ptr noalias %scratch, ptr %table) noinline")
        b.do("call void @begin(ptr %lanes, ptr %scratch)")
        with b.each(len(self.tape.runs)) as run:
            now = b.address("[4 x i64]", "@runs", run.k)
            kind, count, first, store = (b.element("i64", now, k) for k in range(4))
            record, place = b.address("i8", "@records", first), b.address("i8", "@places", store)
            cases = " ".join(f"i64 {k}, label %{label}" for k, label in enumerate(labels))
            b.do(f"switch i64 {kind}, label %after [{cases}]")
            for label in labels:
                b.label(label)
                b.do(f"call void @{label}(ptr {record}, ptr {place}, i64 {count}, ptr %lanes, ptr %scratch, ptr %table)")
                b.jump("after")
            b.label("after")
        return b.end()

    def begin_function(self) -> str:
        """``void @begin(ptr lanes, ptr scratch)``: constants and inputs into their slots, zeros into sparse outputs."""
        b, start = self.b, FLAGS + len(self.tape.constants)
        b.begin("internal void @begin(ptr %lanes, ptr %scratch) noinline")
        with b.each(len(self.tape.constants)) as loop:
            self.store_slot(b.splat(b.element(b.E, "@constants", loop.k)), FLAGS, loop.k)
        for a, size in enumerate(self.in_sizes):
            rows = [self.row(a * b.rows + lane) for lane in range(b.rows)]
            with b.each(size) as loop:
                self.store_slot(b.vector([b.element(b.E, row, loop.k) for row in rows]), start, loop.k)
            start += size
        for a in sorted({a for a, _ in self.fills}):
            row = self.row(len(self.in_sizes) + a)
            b.do(f"call void @fill(ptr {row}, i64 {self.out_sizes[a]}, {b.E} {b.number(0.0)})")
        return b.end()

    def row(self, place: object) -> str:
        return self.b.element("ptr", "%lanes", place)

    def store_slot(self, value: str, first: int, k: str) -> None:
        """A vector into slot number ``first`` + k."""
        self.b.store(self.b.T, value, "%scratch", self.b.add(k, first))

    def run(self, k: int, kind: str) -> str:
        """``void @kindk(ptr records, ptr places, i64 count, ptr lanes, ptr scratch, ptr table)``: a run of one kind."""
        b, size = self.b, self.size(kind)
        turn = TURN if kind == PRODUCT else 1
        given = "ptr %records, ptr %places, i64 %count, ptr noalias %lanes, ptr noalias %scratch, ptr %table"
        b.begin(f"internal void @kind{k}({given}) noinline")
        with b.each("%count", step=turn) as loop:
            at = b.address("i8", "%records", b.put(f"mul i64 {loop.k}, {size}"))
            if kind in (GROUP, SINGLE):
                self.store_results(at, kind, loop.k)
            else:
                for t in range(turn):
                    self.compute(b.address("i8", at, t * size), kind)
        return b.end()

    def compute(self, at: str, kind: str) -> None:
        """One record that is not of results."""
        b, T = self.b, self.b.T
        slots = [b.put(f"getelementptr i8, ptr %scratch, i64 {x}") for x in self.offsets(at, 4)]
        if kind == SINCOS:
            pair = b.put(f"call {{{T}, {T}}} @sincos({T} {self.load(slots[2])}, ptr %table)")
            for k in (0, 1):
                b.do(f"store {T} {b.put(f'extractvalue {{{T}, {T}}} {pair}, {k}')}, ptr {slots[k]}")
            return
        operands = 3 if kind == PRODUCT else OPERANDS.get(kind, 2)
        x = [self.load(slot) for slot in slots[1 : 1 + operands]]
        value = b.multiply_add(x[0], x[1], x[2], self.fma) if kind == PRODUCT else elementary(b, kind, x)
        b.do(f"store {T} {value}, ptr {slots[0]}")

    def load(self, slot: str) -> str:
        return self.b.put(f"load {self.b.T}, ptr {slot}")

    def offsets(self, at: str, count: int) -> list[str]:
        """Offsets of the slots of a record, in bytes: numbers of 16 or 32 bits, extracted from one of 64 by shifts."""
        b, bits = self.b, 8 * self.index
        shift = (b.item * b.width).bit_length() - 1
        mask = ((1 << bits) - 1) << shift
        found: list[str] = []
        for k in range(count):
            if k * bits % 64 == 0:
                word = b.put(f"load i64, ptr {b.put(f'getelementptr i64, ptr {at}, i64 {k * bits // 64}')}, align {self.index}")
            right = k * bits % 64 - shift
            moved = b.put(f"lshr i64 {word}, {right}" if right >= 0 else f"shl i64 {word}, {-right}")
            found.append(b.put(f"and i64 {moved}, {mask}"))
        return found

    def store_results(self, at: str, kind: str, k: str) -> None:
        """A group of columns into the row of each state, by transposed blocks; or one column, number by number."""
        b = self.b
        place = b.address("i64", "%places", k)
        output, column = (b.put(f"zext i32 {b.element('i32', place, n)} to i64") for n in (0, 1))
        count, first = b.rows, b.put(f"mul i64 {b.add(output, len(self.in_sizes))}, {b.rows}")
        step = self.part if kind == GROUP else 1
        slots = [b.put(f"getelementptr i8, ptr %scratch, i64 {x}") for x in self.group_offsets(at, step)]
        with b.in_width(step):
            for lane in range(0, count, step):
                vectors = [b.put(f"load {b.T}, ptr {b.address(b.E, slot, lane)}") for slot in slots]
                for n, row in enumerate(b.transpose(vectors)):
                    b.save(row, self.row(b.add(first, lane + n)), column)

    def group_offsets(self, at: str, count: int) -> list[str]:
        """Offsets of the slots of a record of results, in bytes."""
        b, found = self.b, []
        for k in range(count):
            number = b.put(f"zext i{8 * self.index} {b.element(f'i{8 * self.index}', at, k)} to i64")
            found.append(b.put(f"mul i64 {number}, {b.item * b.width}"))
        return found


def zeros_of_sparse_outputs(program: Program) -> set[Place]:
    """The zeros of outputs that have more zeros than other numbers: such an output is filled with zeros first."""
    found: set[Place] = set()
    for a, place in enumerate(spans(program.outputs)):
        results = [program.code[v] for v in program.results[place]]
        zeros = {(a, k) for k, (op, args) in enumerate(results) if op == "const" and str(args[0]) == "0.0"}
        if 2 * len(zeros) > len(results) > MANY:
            found |= zeros
    return found


#: number of operands of operations, if not two
OPERANDS = {"where": 3, **dict.fromkeys(("abs", "sqrt", "sign", "tanh", "exp", "log", "asin", "acos"), 1)}
