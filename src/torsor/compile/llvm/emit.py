"""A schedule as LLVM IR text: SIMD over the batch, W states a turn, and the one-state form of the same code.

Every module has one table of outside addresses (the C library, the Python C API), filled in after loading, so that the
object code needs no relocation to anything but itself and can be cached on disk unchanged.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from torsor.compile.finite import checks, scale
from torsor.compile.llvm.drivers import batch_driver, fill_function
from torsor.compile.llvm.lanes import LIBM, IRWriter
from torsor.compile.llvm.sincos import trigonometry
from torsor.compile.outline import CALL, RESULT, outline
from torsor.compile.program import Program, divisors, spans
from torsor.compile.schedule import Schedule, schedule
from torsor.compile.workspace import STAGED, WORK

#: index of the Python C API in the table; see entry.py
PYTHON_API = len(LIBM)
TABLE_SIZE = 32

LONG_RUN = 64  # equal constants in a row of results from which they are written by a loop
_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_COMPARE = {"lt": "olt", "le": "ole", "eq": "oeq"}


def groups(sizes: list[int], width: int, one: bool) -> list[list[tuple[int, int]]]:
    """Rows of the arguments cut into runs of W columns, the last run overlapping the one before; short rows stay one by one.

    Each group is a list of (argument, column).
    """
    out: list[list[tuple[int, int]]] = []
    for a, size in enumerate(sizes):
        if one or width == 1 or size < width:
            out.extend([(a, k)] for k in range(size))
        else:
            starts = [*range(0, size - width, width), size - width]
            out.extend([(a, k) for k in range(start, start + width)] for start in starts)
    return out


def constant_runs(program: Program) -> dict[tuple[int, int], tuple[int, float]]:
    """{(output, first column): (columns, number)} of long runs of one number that depends on no input."""
    runs = {}
    for a, place in enumerate(spans(program.outputs)):
        first = 0
        for v, same in itertools.groupby(program.results[place]):
            count = sum(1 for _ in same)
            if count >= LONG_RUN and program.code[v][0] == "const":
                runs[a, first] = (count, program.code[v][1][0])
            first += count
    return runs


class Emitter:
    """The chunks of one program as text, for vectors of one width."""

    #: of the names of its functions
    prefix = ""

    def __init__(self, program: Program, b: IRWriter, fma: bool):
        program, functions = outline(program)
        self.program, self.b, self.fma = program, b, fma
        self.in_sizes = [a.size for a in program.inputs]
        self.out_sizes = [o.size for o in program.outputs]
        starts, in_starts = ([place.start for place in spans(x)] for x in (program.outputs, program.inputs))
        self.fills = self.runs_to_fill()
        inside = {(a, k) for (a, first), (count, _) in self.fills.items() for k in range(first, first + count)}
        self.out_groups = [group for group in self.output_groups() if not inside.issuperset(group)]
        flat = [[starts[a] + k for a, k in group] for group in self.out_groups]
        self.place = {tuple(f): g for f, g in zip(flat, self.out_groups, strict=True)}
        self.s: Schedule = schedule(program, fma, flat)
        self.in_group: dict[int, list[tuple[int, int]]] = {}
        for group in self.input_groups():
            for a, k in group:
                self.in_group.setdefault(in_starts[a] + k, group)
        self.in_starts = in_starts
        self.value_of_input = {args[0]: v for v, (op, args) in enumerate(self.s.code) if op == "input"}
        self.by_inputs, self.checked = checks(self.s.code, self.s.results, b.single)
        self.slots = self.s.slots  #: vectors of scratch memory beside the flag
        self.called: list[FunctionEmitter] = []
        for function in functions:
            self.called.append(FunctionEmitter(function, b, fma, f"function{len(self.called)}_", self.slots))
            self.slots += self.called[-1].slots
        #: inputs that no output depends on: they are checked too, so that every NaN in the arguments is reported
        self.unread = [
            (a, k) for a, n in enumerate(self.in_sizes) for k in range(n) if in_starts[a] + k not in self.value_of_input
        ]

    def input_groups(self) -> list[list[tuple[int, int]]]:
        """The columns that are loaded together."""
        return groups(self.in_sizes, self.b.width, self.b.one)

    def output_groups(self) -> list[list[tuple[int, int]]]:
        """The columns that are stored together."""
        return groups(self.out_sizes, self.b.width, self.b.one)

    def runs_to_fill(self) -> dict[tuple[int, int], tuple[int, float]]:
        """Runs of a constant, written by a loop: a store of each would take longer to compile than the rest."""
        return constant_runs(self.program)

    # -- one chunk -------------------------------------------------------------------------------------------

    def chunk(self, c: int) -> str:
        b, s = self.b, self.s
        b.begin(f"internal void @{self.prefix}chunk{c}(ptr noalias %lanes, ptr noalias %scratch, ptr %table)")
        self.name: dict[int, str] = {}
        self.bit: dict[int, str] = {}
        self.pointer: dict[tuple[int, int], str] = {}
        self.bad: list[str] = []
        self.now = c
        for v in range(s.cuts[c], s.cuts[c + 1]):
            op, args = s.code[v]
            if op not in ("input", "const") and v not in self.name:
                self.define(v, self.operation(v, op, args))
        for group in s.stores[c]:
            self.store(group)
        if c == 0:
            for (a, first), (count, x) in self.fills.items():
                for lane in range(b.rows):
                    place = b.address(b.E, self.row(len(self.in_sizes) + a, lane), first)
                    b.do(f"call void @fill(ptr {place}, i64 {count}, {b.E} {b.number(x)})")
            self.bad += [self.column(a, k) for a, k in self.unread]
        self.flag()
        return b.end()

    def define(self, v: int, name: str) -> None:
        """Value v is ``name`` from here on; a value that later chunks read is stored in its slot now."""
        self.name[v] = name
        if self.s.made.get(v) == self.now:
            if v in self.s.slot:
                self.b.do(f"store {self.b.T} {name}, ptr {self.slot(v)}")
            if v in self.checked:
                self.bad.append(name)

    def slot(self, v: int) -> str:
        return self.memory(self.s.slot[v])

    def memory(self, k: int) -> str:
        """The address of a vector of scratch memory; the flag is before the first."""
        return self.b.put(f"getelementptr {self.b.T}, ptr %scratch, i64 {k + 1}")

    def value(self, v: int) -> str:
        op, args = self.s.code[v]
        if op == "const":
            return self.b.const(args[0])
        if v not in self.name:
            if op == "input" and self.s.made.get(v) == self.now:
                self.load(args[0])
            else:
                self.name[v] = self.b.put(f"load {self.b.T}, ptr {self.slot(v)}")
        return self.name[v]

    def condition(self, v: int) -> str:
        if v in self.bit:
            return self.bit[v]
        value = self.value(v)
        return self.bit[v] if v in self.bit else self.b.put(f"fcmp one {self.b.T} {value}, {self.b.const(0.0)}")

    def operation(self, v: int, op: str, args: tuple[int, ...]) -> str:
        b, T = self.b, self.b.T
        if op.startswith(CALL):
            return self.call(self.called[int(op.removeprefix(CALL))], args)
        if op.startswith(RESULT):
            function = self.called[int(self.s.code[args[0]][0].removeprefix(CALL))]
            return b.put(f"load {T}, ptr {self.memory(function.first_result + int(op.removeprefix(RESULT)))}")
        if op == "where":
            return b.put(f"select {b.B} {self.condition(args[0])}, {T} {self.value(args[1])}, {T} {self.value(args[2])}")
        x = [self.value(a) for a in args]
        if op in ("fma", "fms", "fnma"):
            if op == "fms":
                x[2] = b.put(f"fneg {T} {x[2]}")
            if op == "fnma":
                x[0] = b.put(f"fneg {T} {x[0]}")
            return b.multiply_add(x[0], x[1], x[2], fma=True)
        if op in ("sin", "cos"):
            return self.trig(args[0], x[0], op)
        if op in _COMPARE:
            self.bit[v] = b.put(f"fcmp {_COMPARE[op]} {T} {x[0]}, {x[1]}")
            return b.put(f"select {b.B} {self.bit[v]}, {T} {b.const(1.0)}, {T} {b.const(0.0)}")
        return elementary(b, op, x)

    def call(self, function: FunctionEmitter, args: tuple[int, ...]) -> str:
        """Run a function: arguments to its memory, then its chunks; its results stay there."""
        for k, a in enumerate(args):
            self.b.do(f"store {self.b.T} {self.value(a)}, ptr {self.memory(function.first + k)}")
        self.b.lines += function.calls("%table")
        return self.b.const(0.0)

    def trig(self, angle: int, x: str, op: str) -> str:
        """One call computes sine and cosine; the other one is kept for later use."""
        b = self.b
        pair = b.put(f"call {{{b.T}, {b.T}}} @sincos({b.T} {x}, ptr %table)")
        both = {"sin": 0, "cos": 1}
        other = "cos" if op == "sin" else "sin"
        for v in range(self.s.cuts[self.now], self.s.cuts[self.now + 1]):
            if self.s.code[v] == (other, (angle,)) and v not in self.name:
                self.define(v, b.put(f"extractvalue {{{b.T}, {b.T}}} {pair}, {both[other]}"))
        return b.put(f"extractvalue {{{b.T}, {b.T}}} {pair}, {both[op]}")

    # -- rows in and out -------------------------------------------------------------------------------------

    def row(self, argument: int, lane: int) -> str:
        """The pointer to this lane's row of an argument (inputs first, then outputs)."""
        key = (argument, 0 if self.b.one else lane)
        if key not in self.pointer:
            self.pointer[key] = self.b.element("ptr", "%lanes", argument * self.b.rows + key[1])
        return self.pointer[key]

    def load(self, position: int) -> None:
        b = self.b
        group = self.in_group[position]
        a, first = group[0]
        if len(group) > 1:
            columns = b.transpose([b.load(self.row(a, lane), first) for lane in range(b.width)])
        else:
            columns = [self.column(a, first)]
        for (_, k), name in zip(group, columns, strict=True):
            v = self.value_of_input.get(self.in_starts[a] + k)
            if v is not None and v not in self.name and self.s.made.get(v) == self.now:
                self.define(v, name)

    def column(self, a: int, k: int) -> str:
        return self.b.vector(self.b.element(self.b.E, self.row(a, lane), k) for lane in range(self.b.rows))

    def store(self, positions: list[int]) -> None:
        b = self.b
        group = self.place[tuple(positions)]
        a, first = len(self.in_sizes) + group[0][0], group[0][1]
        names = [self.value(self.s.results[p]) for p in positions]
        if len(group) > 1:
            for lane, name in enumerate(b.transpose(names)):
                b.save(name, self.row(a, lane), first)
            return
        for lane in range(b.rows):
            place = b.address(b.E, self.row(a, lane), first)
            b.do(f"store {b.E} {b.lane(names[0], lane)}, ptr {place}")

    def flag(self) -> None:
        """0·x of everything checked, summed into scratch slot 0: NaN there means something was not finite.

        Inputs are scaled up first, so that a finite input large enough to overflow later raises the flag as well.
        """
        b = self.b
        if not self.bad:
            return
        total = b.put(f"load {b.T}, ptr %scratch")
        sums = [total] + [b.const(0.0)] * 3  # four chains, so that none is long
        for i, name in enumerate(self.bad):
            if self.by_inputs:
                name = b.put(f"fmul {b.T} {name}, {b.const(scale(b.single))}")
            product = b.put(f"fmul {b.T} {name}, {b.const(0.0)}")
            sums[i % 4] = b.put(f"fadd {b.T} {sums[i % 4]}, {product}")
        low, high = (b.put(f"fadd {b.T} {sums[i]}, {sums[i + 1]}") for i in (0, 2))
        b.do(f"store {b.T} {b.put(f'fadd {b.T} {low}, {high}')}, ptr %scratch")

    # -- the module ------------------------------------------------------------------------------------------

    def calls(self, table: str = "@table") -> list[str]:
        """The lines of a driver that compute one vector of states."""
        chunks = range(len(self.s.cuts) - 1)
        return [f"  call void @{self.prefix}chunk{c}(ptr %lanes, ptr %scratch, ptr {table})" for c in chunks]

    def chunks(self) -> list[str]:
        """The functions of the program's own code, behind those that it calls."""
        called = [text for function in self.called for text in function.chunks()]
        return called + [self.chunk(c) for c in range(len(self.s.cuts) - 1)]

    def functions(self) -> str:
        """The functions that these lines call."""
        fill = fill_function(self.b) if self.fills else ""
        return "\n".join((self.trigonometry(), fill, *self.chunks()))

    def trigonometry(self) -> str:
        code = [*self.s.code, *(x for function in self.called for x in function.s.code)]
        return trigonometry(self.b, self.fma) if any(op in ("sin", "cos") for op, _ in code) else ""


class FunctionEmitter(Emitter):
    """The chunks of a function that a program calls: arguments and results are vectors in its part of the scratch memory."""

    def __init__(self, program: Program, b: IRWriter, fma: bool, prefix: str, first: int):
        self.prefix, self.first = prefix, first
        self.first_result = first + program.inputs[0].size
        self.own = self.first_result + program.outputs[0].size
        super().__init__(program, b, fma)
        self.slots += self.own - first
        self.by_inputs, self.checked = False, divisors(self.s.code)
        self.unread = []

    def input_groups(self) -> list[list[tuple[int, int]]]:
        return groups(self.in_sizes, 1, True)

    def output_groups(self) -> list[list[tuple[int, int]]]:
        return groups(self.out_sizes, 1, True)

    def runs_to_fill(self) -> dict[tuple[int, int], tuple[int, float]]:
        return {}

    def slot(self, v: int) -> str:
        return self.memory(self.own + self.s.slot[v])

    def load(self, position: int) -> None:
        self.define(self.value_of_input[position], self.b.put(f"load {self.b.T}, ptr {self.memory(self.first + position)}"))

    def store(self, positions: list[int]) -> None:
        name = self.value(self.s.results[positions[0]])
        self.b.do(f"store {self.b.T} {name}, ptr {self.memory(self.first_result + positions[0])}")


def elementary(b: IRWriter, op: str, x: list[str]) -> str:
    """The value of an operation other than a fused one, a sine or a cosine; x are its operands."""
    T = b.T
    if op in _BINARY:
        return b.put(f"{_BINARY[op]} {T} {x[0]}, {x[1]}")
    if op == "neg":
        return b.put(f"fneg {T} {x[0]}")
    if op in ("abs", "sqrt"):
        return b.put(f"call {T} @llvm.{'fabs' if op == 'abs' else 'sqrt'}.{b.suffix}({T} {x[0]})")
    if op in _COMPARE:
        true = b.put(f"fcmp {_COMPARE[op]} {T} {x[0]}, {x[1]}")
        return b.put(f"select {b.B} {true}, {T} {b.const(1.0)}, {T} {b.const(0.0)}")
    if op == "where":
        true = b.put(f"fcmp one {T} {x[0]}, {b.const(0.0)}")
        return b.put(f"select {b.B} {true}, {T} {x[1]}, {T} {x[2]}")
    if op in ("min", "max"):
        less = b.put(f"fcmp {'olt' if op == 'min' else 'ogt'} {T} {x[0]}, {x[1]}")
        nan = b.put(f"fcmp uno {T} {x[0]}, {x[0]}")
        return b.put(f"select {b.B} {b.put(f'or {b.B} {less}, {nan}')}, {T} {x[0]}, {T} {x[1]}")
    if op == "sign":
        up = b.put(f"fcmp ogt {T} {x[0]}, {b.const(0.0)}")
        down = b.put(f"fcmp olt {T} {x[0]}, {b.const(0.0)}")
        low = b.put(f"select {b.B} {down}, {T} {b.const(-1.0)}, {T} {b.put(f'fmul {T} {x[0]}, {b.const(0.0)}')}")
        return b.put(f"select {b.B} {up}, {T} {b.const(1.0)}, {T} {low}")
    return b.lanewise(op, x)


def header(b: IRWriter, work: int, stage: int = 0, extra: Iterable[str] = ()) -> str:
    """Declarations (``extra``: more of them), and the table of addresses with the sizes of the driver's buffers at its end."""
    S, T = b.suffix, b.T
    table = ["ptr null"] * TABLE_SIZE
    table[WORK], table[STAGED] = (f"ptr inttoptr (i64 {size} to ptr)" for size in (work, stage))
    wide = IRWriter(b.width)
    declarations = {f"declare {t} @llvm.{f}.{s}({', '.join([t] * n)})"
                    for t, s in ((T, S), (wide.T, wide.suffix)) for f, n in (("fma", 3), ("fabs", 1), ("sqrt", 1))}  # fmt: skip
    declarations.update(extra)
    reduce = f"declare i1 @llvm.vector.reduce.or.v{b.width}i1({b.B})" if b.width > 1 else ""
    head = f"@table = global [{TABLE_SIZE} x ptr] [{', '.join(table)}]\n"
    return head + "\n".join(sorted(declarations)) + f"\n{reduce}\n"


def batch_module(program: Program, width: int, fma: bool, single: bool = False) -> str:
    """IR with the entry ``@batch``."""
    e = Emitter(program, IRWriter(width, single=single), fma)
    functions, calls = e.functions(), "\n".join(e.calls())
    driver = batch_driver(e.b, e.in_sizes, e.out_sizes, e.slots, calls)
    return "\n".join((header(e.b, driver.work, driver.stage), functions, driver.text))
