"""The loops that run a tape, as LLVM IR, and the tables they read.

The tables are in the object code, so that a tape from the disk cache needs no program.  A slot is a vector with one lane per
state.  The record of d = a b + c is read as one number of 64 bits, or two where there are more slots than 16 bits can count.
"""

from __future__ import annotations

import numpy as np

from torsor.compile.llvm.drivers import FILL, loop
from torsor.compile.llvm.emit import elementary, groups
from torsor.compile.llvm.lanes import IRWriter
from torsor.compile.llvm.sincos import trigonometry
from torsor.compile.llvm.tables import data_table
from torsor.compile.outline import OutlinedProgram
from torsor.compile.program import Program
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
        self.part = IRWriter(1 if b.one else lanes, single=b.single)
        self.fills = zeros_of_sparse_outputs(program) if b.one else set()  # in a batch it would be memory written twice
        stored = [g for g in groups(self.out_sizes, self.part.width, b.one) if not self.fills.issuperset(g)]
        self.tape = tape(outlined, fma, b.single, stored)
        self.kinds = list(dict.fromkeys(run.kind for run in self.tape.runs))
        self.item = 4 if b.single else 8
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
        fill = loop(FILL, self.b) if self.fills else ""
        return "\n".join((sines, fill, self.tables(), self.begin_function(), *runs, self.function()))

    # -- tables ----------------------------------------------------------------------------------------------

    def size(self, kind: str) -> int:
        """Bytes of a record."""
        return self.index * {SINGLE: 1, GROUP: self.part.width}.get(kind, 4)

    def tables(self) -> str:
        """For each run: its kind, the number of its records, and the offsets of these and of their slots, in bytes."""
        runs = [(self.kinds.index(r.kind), r.records, r.first * self.index, 8 * r.place) for r in self.tape.runs]
        scalar = IRWriter(1, single=self.b.single)
        constants = ", ".join(f"{scalar.E} {scalar.const(x)}" for x in self.tape.constants)
        return "\n".join((
            f"@constants = internal constant [{len(self.tape.constants)} x {scalar.E}] [{constants}]",
            data_table("runs", np.array(runs, "<i8")),
            data_table("records", np.array(self.tape.records, f"<u{self.index}")),
            data_table("places", np.array(self.tape.places, "<u4")),
        ))  # fmt: skip

    # -- functions -------------------------------------------------------------------------------------------

    def function(self) -> str:
        """``void @tape(ptr lanes, ptr scratch, ptr table)``: run by run."""
        given = "ptr %lanes, ptr %scratch, ptr %table"
        cases = " ".join(f"i64 {k}, label %kind{k}" for k in range(len(self.kinds)))
        calls = "\n".join(
            f"kind{k}:\n  call void @kind{k}(ptr %record, ptr %place, i64 %count, {given})\n  br label %after"
            for k in range(len(self.kinds))
        )
        fields = "\n".join(
            f"  %{name}p = getelementptr i64, ptr %now, i64 {k}\n  %{name} = load i64, ptr %{name}p"
            for k, name in enumerate(("kind", "count", "first", "store"))
        )
        return f"""
define internal void @tape(ptr noalias %lanes, ptr noalias %scratch, ptr %table) nounwind noinline {{
entry:
  call void @begin(ptr %lanes, ptr %scratch)
  br label %head
head:
  %r = phi i64 [0, %entry], [%rnext, %after]
  %more = icmp slt i64 %r, {len(self.tape.runs)}
  br i1 %more, label %run, label %done
run:
  %at = mul i64 %r, 4
  %now = getelementptr i64, ptr @runs, i64 %at
{fields}
  %record = getelementptr i8, ptr @records, i64 %first
  %place = getelementptr i8, ptr @places, i64 %store
  switch i64 %kind, label %done [{cases}]
{calls}
after:
  %rnext = add i64 %r, 1
  br label %head
done:
  ret void
}}
"""

    def begin_function(self) -> str:
        """``void @begin(ptr lanes, ptr scratch)``: constants and inputs into their slots, zeros into sparse outputs."""
        b, parts = self.b, []
        start = FLAGS
        b.lines = []
        x = b.put(f"load {b.E}, ptr {b.put(f'getelementptr {b.E}, ptr @constants, i64 %k')}")
        self.store_slot(self.splat(x), f"{start}")
        parts.append(_loop("begin_constants", "ptr %lanes, ptr %scratch", len(self.tape.constants), b.lines))
        start += len(self.tape.constants)
        for a, size in enumerate(self.in_sizes):
            b.lines = []
            rows = [self.row(f"{a * self.lanes + lane}") for lane in range(self.lanes)]
            numbers = [b.put(f"load {b.E}, ptr {b.put(f'getelementptr {b.E}, ptr {row}, i64 %k')}") for row in rows]
            self.store_slot(self.splat(numbers[0]) if b.one else self.vector(numbers), f"{start}")
            parts.append(_loop(f"begin_input{a}", "ptr %lanes, ptr %scratch", size, b.lines))
            start += size
        names = ["begin_constants", *(f"begin_input{a}" for a in range(len(self.in_sizes)))]
        b.lines = [f"  call void @{name}(ptr %lanes, ptr %scratch)" for name in names]
        zero = IRWriter(1, single=b.single).const(0.0)
        for a in sorted({a for a, _ in self.fills}):
            row = self.row(f"{len(self.in_sizes) + a}")
            b.lines.append(f"  call void @fill(ptr {row}, i64 {self.out_sizes[a]}, {b.E} {zero})")
        head, body = "define internal void @begin(ptr %lanes, ptr %scratch) nounwind", "\n".join(b.lines)
        return "\n".join((*parts, f"{head} {{\n{body}\n  ret void\n}}\n"))

    @property
    def lanes(self) -> int:
        """Rows of an argument that are read or written together."""
        return 1 if self.b.one else self.b.width

    def row(self, place: str) -> str:
        return self.b.put(f"load ptr, ptr {self.b.put(f'getelementptr ptr, ptr %lanes, i64 {place}')}")

    def splat(self, x: str) -> str:
        return self.vector([x] * self.b.width)

    def vector(self, numbers: list[str]) -> str:
        b, result = self.b, "poison"
        if b.width == 1:
            return numbers[0]
        for lane, x in enumerate(numbers):
            result = b.put(f"insertelement {b.T} {result}, {b.E} {x}, i32 {lane}")
        return result

    def store_slot(self, value: str, first: str) -> None:
        """A vector into slot number ``first`` + %k."""
        b = self.b
        slot = b.put(f"add i64 %k, {first}")
        b.lines.append(f"  store {b.T} {value}, ptr {b.put(f'getelementptr {b.T}, ptr %scratch, i64 {slot}')}")

    def run(self, k: int, kind: str) -> str:
        """``void @kindk(ptr records, ptr places, i64 count, ptr lanes, ptr scratch, ptr table)``: a run of one kind."""
        b, size = self.b, self.size(kind)
        turn = TURN if kind == PRODUCT else 1
        b.lines = []
        at = b.put(f"getelementptr i8, ptr %records, i64 {b.put(f'mul i64 %k, {size}')}")
        if kind in (GROUP, SINGLE):
            self.store_results(at, kind)
        else:
            for t in range(turn):
                self.compute(b.put(f"getelementptr i8, ptr {at}, i64 {t * size}"), kind)
        given = "ptr %records, ptr %places, i64 %count, ptr noalias %lanes, ptr noalias %scratch, ptr %table"
        return _loop(f"kind{k}", given, "%count", b.lines, turn)

    def compute(self, at: str, kind: str) -> None:
        """One record that is not of results."""
        b, T = self.b, self.b.T
        slots = [b.put(f"getelementptr i8, ptr %scratch, i64 {x}") for x in self.offsets(at, 4)]
        if kind == SINCOS:
            pair = b.put(f"call {{{T}, {T}}} @sincos({T} {self.load(slots[2])}, ptr %table)")
            for k in (0, 1):
                b.lines.append(f"  store {T} {b.put(f'extractvalue {{{T}, {T}}} {pair}, {k}')}, ptr {slots[k]}")
            return
        if kind == PRODUCT:
            x = [self.load(slot) for slot in slots[1:]]
            if self.fma:
                value = b.put(f"call {T} @llvm.fma.{b.suffix}({T} {x[0]}, {T} {x[1]}, {T} {x[2]})")
            else:
                value = b.put(f"fadd {T} {b.put(f'fmul {T} {x[0]}, {x[1]}')}, {x[2]}")
        else:
            value = elementary(b, kind, [self.load(slot) for slot in slots[1 : 1 + OPERANDS.get(kind, 2)]])
        b.lines.append(f"  store {T} {value}, ptr {slots[0]}")

    def load(self, slot: str) -> str:
        return self.b.put(f"load {self.b.T}, ptr {slot}")

    def offsets(self, at: str, count: int) -> list[str]:
        """Offsets of the slots of a record, in bytes: numbers of 16 or 32 bits, extracted from one of 64 by shifts."""
        b, bits = self.b, 8 * self.index
        shift = (self.item * b.width).bit_length() - 1
        mask = ((1 << bits) - 1) << shift
        found: list[str] = []
        for k in range(count):
            if k * bits % 64 == 0:
                word = b.put(f"load i64, ptr {b.put(f'getelementptr i64, ptr {at}, i64 {k * bits // 64}')}, align {self.index}")
            right = k * bits % 64 - shift
            moved = b.put(f"lshr i64 {word}, {right}" if right >= 0 else f"shl i64 {word}, {-right}")
            found.append(b.put(f"and i64 {moved}, {mask}"))
        return found

    def store_results(self, at: str, kind: str) -> None:
        """A group of columns into the row of each state, by transposed blocks; or one column, number by number."""
        b, part = self.b, self.part
        part.lines = b.lines
        place = b.put("getelementptr i64, ptr %places, i64 %k")
        output = b.put(f"zext i32 {b.put(f'load i32, ptr {place}')} to i64")
        columnp = b.put(f"getelementptr i32, ptr {place}, i64 1")
        column = b.put(f"zext i32 {b.put(f'load i32, ptr {columnp}')} to i64")
        argument = b.put(f"add i64 {output}, {len(self.in_sizes)}")
        first = b.put(f"mul i64 {argument}, {self.lanes}")
        step = part.width if kind == GROUP else 1
        slots = [b.put(f"getelementptr i8, ptr %scratch, i64 {x}") for x in self.group_offsets(at, step)]
        V = part.T if kind == GROUP else b.E
        for lane in range(0, self.lanes, step):
            vectors = []
            for slot in slots:
                vectors.append(b.put(f"load {V}, ptr {b.put(f'getelementptr {b.E}, ptr {slot}, i64 {lane}')}"))
            part.counter = b.counter
            rows = part.transpose(vectors) if kind == GROUP else vectors
            b.counter = part.counter
            for k, row in enumerate(rows):
                start = self.row(b.put(f"add i64 {first}, {lane + k}"))
                to = b.put(f"getelementptr {b.E}, ptr {start}, i64 {column}")
                b.lines.append(f"  store {V} {row}, ptr {to}, align {self.item}")

    def group_offsets(self, at: str, count: int) -> list[str]:
        """Offsets of the slots of a record of results, in bytes."""
        b, found = self.b, []
        for k in range(count):
            place = b.put(f"getelementptr i{8 * self.index}, ptr {at}, i64 {k}")
            number = b.put(f"zext i{8 * self.index} {b.put(f'load i{8 * self.index}, ptr {place}')} to i64")
            found.append(b.put(f"mul i64 {number}, {self.item * b.width}"))
        return found


def zeros_of_sparse_outputs(program: Program) -> set[Place]:
    """The zeros of outputs that have more zeros than other numbers: such an output is filled with zeros first."""
    found: set[Place] = set()
    start = 0
    for a, output in enumerate(program.outputs):
        results = [program.code[v] for v in program.results[start : start + output.size]]
        start += output.size
        zeros = {(a, k) for k, (op, args) in enumerate(results) if op == "const" and str(args[0]) == "0.0"}
        if 2 * len(zeros) > output.size > MANY:
            found |= zeros
    return found


#: number of operands of operations, if not two
OPERANDS = {"where": 3, **dict.fromkeys(("abs", "sqrt", "sign", "tanh", "exp", "log", "asin", "acos"), 1)}


def _loop(name: str, given: str, count: object, body: list[str], turn: int = 1) -> str:
    """A function that runs lines of IR for %k = 0, turn, ... below ``count``."""
    lines = "\n".join(body)
    return f"""
define internal void @{name}({given}) nounwind noinline {{
entry:
  br label %head
head:
  %k = phi i64 [0, %entry], [%knext, %body]
  %more = icmp slt i64 %k, {count}
  br i1 %more, label %body, label %done
body:
{lines}
  %knext = add i64 %k, {turn}
  br label %head
done:
  ret void
}}
"""
