"""A scan as LLVM IR text: the chunks of a kernel, and around them the loop over the steps inside the loop over the batch."""

from __future__ import annotations

from torsor.compile.llvm.emit import Emitter, groups, header
from torsor.compile.llvm.lanes import IRWriter
from torsor.compile.program import Program, divisors
from torsor.compile.wiring import Wiring
from torsor.compile.workspace import Arrays

Group = list[tuple[int, int]]

CHUNK_HEAD = "define internal void @{name}(ptr noalias %lanes, ptr noalias %scratch, ptr %table) nounwind"


SIGNATURE = "ptr %args, i64 %start, i64 %end, i64 %steps, i64 %every, ptr %index, ptr %failed, ptr %work, ptr %stop"


class ScanEmitter(Emitter):
    """The chunks of a step.

    Arguments are rows found through ``%lanes``, as in a kernel: the inputs, the outputs, then the rows that scattered outputs
    are added to.  Carried values and results of the last step are kept as vectors in an area that is written while the one of
    the step before is read: no row, no transpose.  The addresses of the two areas are at the end of ``%lanes``.
    """

    def __init__(self, program: Program, wiring: Wiring, b: IRWriter, fma: bool):
        self.wiring = wiring
        self.sums = {o: k for k, o in enumerate(wiring.scatter.values())}
        kept = [*dict.fromkeys([*wiring.carry.values(), *sorted(wiring.last)])]
        sizes = [program.outputs[o].size for o in kept]
        self.area_start = {o: sum(sizes[:k]) for k, o in enumerate(kept)}
        self.area_size = max(1, sum(sizes))
        super().__init__(program, b, fma)
        self.by_inputs = False  # overflow develops over many steps: check the results of each step
        positions = (self.in_starts[a] + k for a in wiring.carry for k in range(self.in_sizes[a]))
        carried = {self.value_of_input.get(p) for p in positions}  # checked when it was computed, or before the first step
        self.checked = {r for r in self.s.results if self.s.code[r][0] != "const" and r not in carried} | divisors(self.s.code)
        self.unread = [(a, k) for a, k in self.unread if a not in wiring.carry]
        self.arguments = len(self.in_sizes) + len(self.out_sizes) + len(self.sums)
        self.count = 1 if b.one else b.width  # of lanes with rows of their own

    def runs_to_fill(self) -> dict[tuple[int, int], tuple[int, float]]:
        return {}  # an output may be wanted in an area or added to a row, not only stored

    def input_groups(self) -> list[Group]:
        wide = [0 if a in self.wiring.carry else n for a, n in enumerate(self.in_sizes)]
        single = [[(a, k)] for a in self.wiring.carry for k in range(self.in_sizes[a])]
        return groups(wide, self.b.width, self.b.one) + single

    def output_groups(self) -> list[Group]:
        """Rows in runs where there are rows; runs of rows that are added to must not overlap."""
        out: list[Group] = []
        w = self.b.width
        for a, n in enumerate(self.out_sizes):
            rows = a in self.wiring.each or a in self.sums
            if rows and a not in self.sums:
                out += [[(a, k) for _, k in g] for g in groups([n], w, self.b.one)]
                continue
            wide = n // w * w if rows and not self.b.one and w > 1 else 0
            out += [[(a, k) for k in range(start, start + w)] for start in range(0, wide, w)]
            out += [[(a, k)] for k in range(wide, n)]
        return out

    # -- arguments and results of a step ---------------------------------------------------------------------

    def load(self, position: int) -> None:
        a, k = self.in_group[position][0]
        if a not in self.wiring.carry:
            return super().load(position)
        place = self.area("read", self.area_start[self.wiring.carry[a]] + k)
        return self.define(self.value_of_input[position], self.b.put(f"load {self.b.T}, ptr {place}"))

    def store(self, positions: list[int]) -> None:
        group = self.place[tuple(positions)]
        a = group[0][0]
        if a in self.wiring.each:
            super().store(positions)
        if a in self.sums:
            self.add(group, positions)
        if a in self.area_start:
            for (_, k), p in zip(group, positions, strict=True):
                name = self.value(self.s.results[p])
                self.b.lines.append(f"  store {self.b.T} {name}, ptr {self.area('write', self.area_start[a] + k)}")

    def add(self, group: Group, positions: list[int]) -> None:
        """Add to the rows given by the index."""
        b = self.b
        a, first = len(self.in_sizes) + len(self.out_sizes) + self.sums[group[0][0]], group[0][1]
        names = [self.value(self.s.results[p]) for p in positions]
        wide = len(group) > 1
        T, align = (b.T, f", align {4 if b.single else 8}") if wide else (b.E, "")
        lanes = b.transpose(names) if wide else [self.extract(names[0], lane) for lane in range(self.count)]
        for lane, name in enumerate(lanes):
            place = b.put(f"getelementptr {b.E}, ptr {self.row(a, lane)}, i64 {first}")
            total = b.put(f"fadd {T} {b.put(f'load {T}, ptr {place}{align}')}, {name}")
            b.lines.append(f"  store {T} {total}, ptr {place}{align}")

    def area(self, which: str, k: int) -> str:
        slot = self.arguments * self.count + (which == "write")
        if (slot, -1) not in self.pointer:
            self.pointer[slot, -1] = self.b.put(f"load ptr, ptr {self.b.put(f'getelementptr ptr, ptr %lanes, i64 {slot}')}")
        return self.b.put(f"getelementptr {self.b.T}, ptr {self.pointer[slot, -1]}, i64 {k}")

    # -- before the first step and after the last ------------------------------------------------------------

    def begin(self) -> str:
        """Copy the initial carried values from their rows to the area that the first step reads, and check those in use."""
        self.fresh()
        for a, o in self.wiring.carry.items():
            for k in range(self.in_sizes[a]):
                value = self.column(a, k)
                self.b.lines.append(f"  store {self.b.T} {value}, ptr {self.area('read', self.area_start[o] + k)}")
                if self.in_starts[a] + k in self.value_of_input:
                    self.bad.append(value)
        self.flag()
        return self.function("begin")

    def finish(self) -> str:
        """Copy the results of the last step from the area that a further step would read to their rows."""
        self.fresh()
        for a in sorted(self.wiring.last):
            for k in range(self.out_sizes[a]):
                value = self.b.put(f"load {self.b.T}, ptr {self.area('read', self.area_start[a] + k)}")
                for lane in range(self.count):
                    row = self.row(len(self.in_sizes) + a, lane)
                    place = self.b.put(f"getelementptr {self.b.E}, ptr {row}, i64 {k}")
                    self.b.lines.append(f"  store {self.b.E} {self.extract(value, lane)}, ptr {place}")
        return self.function("finish")

    def fresh(self) -> None:
        self.b.lines, self.pointer, self.bad = [], {}, []

    def function(self, name: str) -> str:
        return f"{CHUNK_HEAD.format(name=name)} {{\n" + "\n".join(self.b.lines) + "\n  ret void\n}\n"

    def module(self) -> str:
        functions, driver = self.functions(), ScanLoop(self)
        ends = self.begin(), self.finish(), driver.text("\n".join(self.calls()))
        return "\n".join((header(self.b, driver.arrays().size), functions, *ends))


class ScanLoop:
    """``i64 @scan(args, start, end, steps, every, index, failed, work, stop)``: states start … end−1 through all steps.

    ``args`` holds (address, bytes from state to state, bytes from step to step) for each input, then each output; ``work`` is
    the caller's buffer (:mod:`torsor.compile.workspace`).  ``failed`` gets, for each state, the step at which a value was first
    not finite, else −1; the result is 0 if there is one, else −1.  Once the word at ``stop`` is not 0, states are left after
    their next step, and the results are worthless.
    """

    def __init__(self, e: ScanEmitter):
        self.e, self.b, self.w = e, e.b, e.wiring
        self.inputs, self.n = len(e.in_sizes), len(e.in_sizes) + len(e.out_sizes)
        #: arguments whose rows follow the steps
        self.moving = self.w.rows(self.inputs) + [self.inputs + o for o in sorted(self.w.each)]

    def put(self, text: str) -> str:
        return self.b.put(text)

    def take(self) -> str:
        text, self.b.lines = "\n".join(self.b.lines), []
        return text

    def at(self, table: str, k: int | str, kind: str = "ptr") -> str:
        return self.put(f"getelementptr {kind}, ptr {table}, i64 {k}")

    def whole(self, n: int) -> str:
        """A whole number in every lane."""
        return f"splat (i64 {n})" if self.b.width > 1 else str(n)

    def keep(self, value: str, table: str, k: int) -> None:
        self.b.lines.append(f"  store ptr {value}, ptr {self.at(table, k)}")

    def strides(self) -> str:
        """Once per call: the address of each argument, and the distance between its rows."""
        self.table = [[self.put(f"load {kind}, ptr {self.at('%args', 3 * a + j, 'i64')}") for j, kind in
                       enumerate(("ptr", "i64", "i64"))] for a in range(self.n)]  # fmt: skip
        self.final = self.put("sub i64 %steps, 1")
        return self.take()

    def block(self) -> str:
        """Once a block of states: each lane's rows at its first step."""
        count = self.e.count
        states: list[str] = []
        self.states, self.beyond = states, []
        for lane in range(count):  # past the last state a lane repeats it, but must not add to its sums a second time
            raw = self.put(f"add i64 %s, {lane}")
            self.beyond.append(self.put(f"icmp sgt i64 {raw}, %lastrow"))
            states.append(self.put(f"select i1 {self.beyond[lane]}, i64 %lastrow, i64 {raw}"))
        base = {}
        for a, (address, state_stride, step_stride) in enumerate(self.table):
            for lane, state in enumerate(states):
                offset = self.put(f"mul i64 {state}, {state_stride}")
                base[a, lane] = row = self.put(f"getelementptr i8, ptr {address}, i64 {offset}")
                if a in self.moving and self.w.reverse:
                    row = self.put(f"getelementptr i8, ptr {row}, i64 {self.put(f'mul i64 {self.final}, {step_stride}')}")
                self.keep(row, "%lanes", a * count + lane)
        for k, (a, source) in enumerate(self.index_pairs()):
            for lane in range(count):
                self.keep(base[source, lane], "%bases", (2 * k) * count + lane)
                self.keep("%dump" if a >= self.n else base[a, lane], "%bases", (2 * k + 1) * count + lane)
        slot = self.e.arguments * count
        self.keep("%area0", "%lanes", slot)
        self.keep("%area1", "%lanes", slot + 1)
        return self.take()

    def index_pairs(self) -> list[tuple[int, int]]:
        """(argument whose row the index names, argument whose rows those are): gathered inputs, then scattered ones."""
        gathered = [(a, self.inputs + o) for a, o in self.w.gather.items()]
        return gathered + [(self.n + k, a) for k, a in enumerate(self.w.scatter)]

    def point(self) -> str:
        """Each step: the rows that the index names; for a negative index the initial row, or one that is never read."""
        if not self.w.uses_step_index:
            return ""
        count = self.e.count
        row = self.put(f"load i64, ptr {self.put('getelementptr i64, ptr %index, i64 %t')}")
        none = self.put(f"icmp slt i64 {row}, 0")
        for k, (a, source) in enumerate(self.index_pairs()):
            offset = self.put(f"mul i64 {row}, {self.table[source][2]}")
            for lane in range(count):
                base = self.put(f"load ptr, ptr {self.at('%bases', (2 * k) * count + lane)}")
                other = self.put(f"load ptr, ptr {self.at('%bases', (2 * k + 1) * count + lane)}")
                place = self.put(f"getelementptr i8, ptr {base}, i64 {offset}")
                away = self.put(f"or i1 {none}, {self.beyond[lane]}") if a >= self.n else none
                self.keep(self.put(f"select i1 {away}, ptr {other}, ptr {place}"), "%lanes", a * count + lane)
        return self.take()

    def advance(self) -> str:
        """After each step: rows move on, outputs' only if the row was to be kept; the area written is the next one read."""
        count = self.e.count
        for a in self.moving:
            stride = self.table[a][2]
            if self.w.reverse:
                stride = self.put(f"sub i64 0, {stride}")
            if a >= self.inputs:
                stride = self.put(f"select i1 %kept, i64 {stride}, i64 0")
            for lane in range(count):
                row = self.put(f"load ptr, ptr {self.at('%lanes', a * count + lane)}")
                self.keep(self.put(f"getelementptr i8, ptr {row}, i64 {stride}"), "%lanes", a * count + lane)
        slot = self.e.arguments * count
        read, write = (self.put(f"load ptr, ptr {self.at('%lanes', slot + k)}") for k in (0, 1))
        self.keep(write, "%lanes", slot)
        self.keep(read, "%lanes", slot + 1)
        return self.take()

    def check(self) -> str:
        """%code: for each lane the step at which it was first not finite, else −1."""
        b = self.b
        total = self.put(f"load {b.T}, ptr %scratch")
        nan, sound = self.put(f"fcmp uno {b.T} {total}, {total}"), self.put(f"icmp slt {b.I} %bad, {self.whole(0)}")
        fresh = self.put(f"and {b.B} {nan}, {sound}")
        now = "%t"
        if b.width > 1:
            first = self.put(f"insertelement {b.I} poison, i64 %t, i32 0")
            now = self.put(f"shufflevector {b.I} {first}, {b.I} poison, <{b.width} x i32> zeroinitializer")
        b.lines.append(f"  %code = select {b.B} {fresh}, {b.I} {now}, {b.I} %bad")
        return self.take()

    def report(self) -> str:
        """Once a block of states: the steps to ``%failed``, and %some = 0 if a lane failed, now or before."""
        b = self.b
        for lane, state in enumerate(self.states):
            step = self.put(f"extractelement {b.I} %code, i32 {lane}") if b.width > 1 else "%code"
            b.lines.append(f"  store i64 {step}, ptr {self.at('%failed', state, 'i64')}")
        bad = self.put(f"icmp sge {b.I} %code, {self.whole(0)}")
        if b.width > 1:
            bad = self.put(f"icmp ne i{b.width} {self.put(f'bitcast {b.B} {bad} to i{b.width}')}, 0")
        b.lines.append(f"  %some = select i1 {bad}, i64 0, i64 %before")
        return self.take()

    def arrays(self) -> Arrays:
        """Arrays that the loops keep from step to step."""
        e, b, item = self.e, self.b, 4 if self.b.single else 8
        arrays = Arrays()
        arrays.add("%lanes", "ptr", e.arguments * e.count + 2, 8)
        arrays.add("%bases", "ptr", 2 * len(self.index_pairs()) * e.count, 8)
        arrays.add("%scratch", b.T, e.slots + 1, item * b.width)
        arrays.add("%area0", b.T, e.area_size, item * b.width)
        arrays.add("%area1", b.T, e.area_size, item * b.width)
        arrays.add("%dump", b.E, max([1, *(e.out_sizes[o] for o in e.sums)]), item)  # for rows that are never read
        return arrays

    def text(self, calls: str) -> str:
        b = self.b
        b.lines = []
        strides, block, point, check, advance, report = (
            part() for part in (self.strides, self.block, self.point, self.check, self.advance, self.report)
        )
        zero = "zeroinitializer" if b.width > 1 else b.const(0.0)
        first, step = (self.final, -1) if self.w.reverse else ("0", 1)
        return f"""
define i64 @scan({SIGNATURE}) nounwind {{
entry:
{self.arrays().text()}
  %lastrow = sub i64 %end, 1
{strides}
  br label %head
head:
  %s = phi i64 [%start, %entry], [%snext, %after]
  %before = phi i64 [-1, %entry], [%some, %after]
  %more = icmp slt i64 %s, %end
  br i1 %more, label %body, label %done
body:
{block}
  store {b.T} {zero}, ptr %scratch
  call void @begin(ptr %lanes, ptr %scratch, ptr @table)
  br label %step
step:
  %t = phi i64 [{first}, %body], [%tnext, %poll]
  %k = phi i64 [0, %body], [%knext, %poll]
  %left = phi i64 [%every, %body], [%leftnext, %poll]
  %bad = phi {b.I} [{self.whole(-1)}, %body], [%code, %poll]
  %down = sub i64 %left, 1
  %kept = icmp eq i64 %down, 0
  %leftnext = select i1 %kept, i64 %every, i64 %down
{point}
{calls}
{check}
{advance}
  %tnext = add i64 %t, {step}
  %knext = add i64 %k, 1
  %again = icmp slt i64 %knext, %steps
  br i1 %again, label %poll, label %after
poll:
  %word = load atomic i64, ptr %stop monotonic, align 8
  %go = icmp eq i64 %word, 0
  br i1 %go, label %step, label %after
after:
  call void @finish(ptr %lanes, ptr %scratch, ptr @table)
{report}
  %snext = add i64 %s, {self.e.count}
  br label %head
done:
  fence seq_cst
  ret i64 %before
}}
"""


def scan_module(program: Program, wiring: Wiring, width: int, fma: bool, *, one: bool = False, single: bool = False) -> str:
    """IR with the entry ``@scan``; with ``one``, for a single state."""
    return ScanEmitter(program, wiring, IRWriter(width, one=one, single=single), fma).module()
