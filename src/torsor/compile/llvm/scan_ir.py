"""A scan as LLVM IR text: the chunks of a kernel, and around them the loop over the steps inside the loop over the batch."""

from __future__ import annotations

from torsor.compile.llvm.emit import Emitter, groups, header
from torsor.compile.llvm.lanes import IRWriter
from torsor.compile.program import Program, divisors
from torsor.compile.wiring import Wiring
from torsor.compile.workspace import Arrays

Group = list[tuple[int, int]]

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
                self.b.do(f"store {self.b.T} {name}, ptr {self.area('write', self.area_start[a] + k)}")

    def add(self, group: Group, positions: list[int]) -> None:
        """Add to the rows given by the index."""
        b = self.b
        a, first = len(self.in_sizes) + len(self.out_sizes) + self.sums[group[0][0]], group[0][1]
        names = [self.value(self.s.results[p]) for p in positions]
        wide = len(group) > 1
        T, align = (b.T, f", align {b.item}") if wide else (b.E, "")
        lanes = b.transpose(names) if wide else [b.lane(names[0], lane) for lane in range(b.rows)]
        for lane, name in enumerate(lanes):
            place = b.address(b.E, self.row(a, lane), first)
            total = b.put(f"fadd {T} {b.put(f'load {T}, ptr {place}{align}')}, {name}")
            b.do(f"store {T} {total}, ptr {place}{align}")

    def area(self, which: str, k: int) -> str:
        slot = self.arguments * self.b.rows + (which == "write")
        if (slot, -1) not in self.pointer:
            self.pointer[slot, -1] = self.b.element("ptr", "%lanes", slot)
        return self.b.address(self.b.T, self.pointer[slot, -1], k)

    # -- before the first step and after the last ------------------------------------------------------------

    def begin(self) -> str:
        """Copy the initial carried values from their rows to the area that the first step reads, and check those in use."""
        self.begin_function("begin")
        for a, o in self.wiring.carry.items():
            for k in range(self.in_sizes[a]):
                value = self.column(a, k)
                self.b.do(f"store {self.b.T} {value}, ptr {self.area('read', self.area_start[o] + k)}")
                if self.in_starts[a] + k in self.value_of_input:
                    self.bad.append(value)
        self.flag()
        return self.b.end()

    def finish(self) -> str:
        """Copy the results of the last step from the area that a further step would read to their rows."""
        b = self.b
        self.begin_function("finish")
        for a in sorted(self.wiring.last):
            for k in range(self.out_sizes[a]):
                value = b.put(f"load {b.T}, ptr {self.area('read', self.area_start[a] + k)}")
                for lane in range(b.rows):
                    b.store(b.E, b.lane(value, lane), self.row(len(self.in_sizes) + a, lane), k)
        return b.end()

    def begin_function(self, name: str) -> None:
        self.b.begin(f"internal void @{name}(ptr noalias %lanes, ptr noalias %scratch, ptr %table)")
        self.pointer, self.bad = {}, []

    def module(self) -> str:
        functions, driver = self.functions(), ScanLoop(self)
        ends = self.begin(), self.finish(), driver.text("\n".join(self.calls()))
        return "\n".join((header(self.b, driver.arrays().size), functions, *ends))


class ScanLoop:
    """``i64 @scan(args, start, end, steps, every, index, failed, work, stop)``: states start … end−1 through all steps.

    ``args`` holds (address, bytes from state to state, bytes from step to step) for each input, then each output; ``work`` is
    the caller's buffer (:mod:`torsor.compile.workspace`).  ``failed`` gets, for each state, the step at which a value was first
    not finite, else −1; the result is 0 if there is one, else −1.  Once the word at ``stop`` is not 0, states are left before
    their next step, and the results are worthless.
    """

    def __init__(self, e: ScanEmitter):
        self.e, self.b, self.w = e, e.b, e.wiring
        self.inputs, self.n = len(e.in_sizes), len(e.in_sizes) + len(e.out_sizes)
        #: arguments whose rows follow the steps
        self.moving = self.w.rows(self.inputs) + [self.inputs + o for o in sorted(self.w.each)]

    def strides(self) -> None:
        """Once per call: the address of each argument, and the distance between its rows."""
        kinds = ("ptr", "i64", "i64")
        self.table = [[self.b.element(kind, "%args", 3 * a + j) for j, kind in enumerate(kinds)] for a in range(self.n)]
        self.last, self.final = self.b.add("%end", -1), self.b.add("%steps", -1)

    def block(self, first: str) -> None:
        """Once a block of states: each lane's rows at its first step."""
        b, states = self.b, list[str]()
        self.states, self.beyond = states, []
        for lane in range(b.rows):  # past the last state a lane repeats it, but must not add to its sums a second time
            raw = b.add(first, lane)
            self.beyond.append(b.compare("sgt", "i64", raw, self.last))
            states.append(b.choose(self.beyond[lane], "i64", self.last, raw))
        base = {}
        for a, (address, state_stride, step_stride) in enumerate(self.table):
            for lane, state in enumerate(states):
                base[a, lane] = row = b.address("i8", address, b.put(f"mul i64 {state}, {state_stride}"))
                if a in self.moving and self.w.reverse:
                    row = b.address("i8", row, b.put(f"mul i64 {self.final}, {step_stride}"))
                b.store("ptr", row, "%lanes", a * b.rows + lane)
        for k, (a, source) in enumerate(self.index_pairs()):
            for lane in range(b.rows):
                b.store("ptr", base[source, lane], "%bases", (2 * k) * b.rows + lane)
                b.store("ptr", "%dump" if a >= self.n else base[a, lane], "%bases", (2 * k + 1) * b.rows + lane)
        for k in (0, 1):
            b.store("ptr", f"%area{k}", "%lanes", self.e.arguments * b.rows + k)

    def index_pairs(self) -> list[tuple[int, int]]:
        """(argument whose row the index names, argument whose rows those are): gathered inputs, then scattered ones."""
        gathered = [(a, self.inputs + o) for a, o in self.w.gather.items()]
        return gathered + [(self.n + k, a) for k, a in enumerate(self.w.scatter)]

    def point(self, t: str) -> None:
        """Each step: the rows that the index names; for a negative index the initial row, or one that is never read."""
        if not self.w.uses_step_index:
            return
        b = self.b
        row = b.element("i64", "%index", t)
        none = b.compare("slt", "i64", row, 0)
        for k, (a, source) in enumerate(self.index_pairs()):
            offset = b.put(f"mul i64 {row}, {self.table[source][2]}")
            for lane in range(b.rows):
                base, other = (b.element("ptr", "%bases", (2 * k + j) * b.rows + lane) for j in (0, 1))
                place = b.address("i8", base, offset)
                away = b.put(f"or i1 {none}, {self.beyond[lane]}") if a >= self.n else none
                b.store("ptr", b.choose(away, "ptr", other, place), "%lanes", a * b.rows + lane)

    def advance(self, kept: str) -> None:
        """After each step: rows move on, outputs' only if the row was to be kept; the area written is the next one read."""
        b = self.b
        for a in self.moving:
            stride = self.table[a][2]
            if self.w.reverse:
                stride = b.put(f"sub i64 0, {stride}")
            if a >= self.inputs:
                stride = b.choose(kept, "i64", stride, 0)
            for lane in range(b.rows):
                row = b.element("ptr", "%lanes", a * b.rows + lane)
                b.store("ptr", b.address("i8", row, stride), "%lanes", a * b.rows + lane)
        slot = self.e.arguments * b.rows
        read, write = (b.element("ptr", "%lanes", slot + k) for k in (0, 1))
        b.store("ptr", write, "%lanes", slot)
        b.store("ptr", read, "%lanes", slot + 1)

    def check(self, t: str, bad: str) -> str:
        """For each lane the step at which it was first not finite, else −1."""
        b = self.b
        total = b.put(f"load {b.T}, ptr %scratch")
        nan, sound = b.put(f"fcmp uno {b.T} {total}, {total}"), b.put(f"icmp slt {b.I} {bad}, {b.whole(0)}")
        fresh, now = b.put(f"and {b.B} {nan}, {sound}"), t
        if b.width > 1:
            first = b.put(f"insertelement {b.I} poison, i64 {t}, i32 0")
            now = b.put(f"shufflevector {b.I} {first}, {b.I} poison, <{b.width} x i32> zeroinitializer")
        return b.put(f"select {b.B} {fresh}, {b.I} {now}, {b.I} {bad}")

    def report(self, code: str, before: str) -> str:
        """Once a block of states: the steps to ``%failed``; 0 if a lane failed, now or before."""
        b = self.b
        for lane, state in enumerate(self.states):
            step = b.put(f"extractelement {b.I} {code}, i32 {lane}") if b.width > 1 else code
            b.store("i64", step, "%failed", state)
        bad = b.put(f"icmp sge {b.I} {code}, {b.whole(0)}")
        if b.width > 1:
            bad = b.put(f"icmp ne i{b.width} {b.put(f'bitcast {b.B} {bad} to i{b.width}')}, 0")
        return b.choose(bad, "i64", 0, before)

    def arrays(self) -> Arrays:
        """Arrays that the loops keep from step to step."""
        e, b = self.e, self.b
        arrays = Arrays()
        arrays.add("%lanes", "ptr", e.arguments * b.rows + 2, 8)
        arrays.add("%bases", "ptr", 2 * len(self.index_pairs()) * b.rows, 8)
        arrays.add("%scratch", b.T, e.slots + 1, b.item * b.width)
        arrays.add("%area0", b.T, e.area_size, b.item * b.width)
        arrays.add("%area1", b.T, e.area_size, b.item * b.width)
        arrays.add("%dump", b.E, max([1, *(e.out_sizes[o] for o in e.sums)]), b.item)  # for rows that are never read
        return arrays

    def text(self, calls: str) -> str:
        b = self.b
        b.begin(f"i64 @scan({SIGNATURE})")
        b.lines.append(self.arrays().text())
        self.strides()
        start, step = (self.final, -1) if self.w.reverse else ("0", 1)
        with b.each("%end", "%start", b.rows, failed=("i64", "-1")) as states:
            self.block(states.k)
            b.do(f"store {b.T} {b.zero}, ptr %scratch")
            b.do("call void @begin(ptr %lanes, ptr %scratch, ptr @table)")
            with b.each("%steps", t=("i64", start), left=("i64", "%every"), bad=(b.I, b.whole(-1))) as now:
                word = b.put("load atomic i64, ptr %stop monotonic, align 8")
                b.branch(b.compare("eq", "i64", word, 0), "go", "after")
                b.label("go")
                down = b.add(now.now["left"], -1)
                kept = b.compare("eq", "i64", down, 0)
                self.point(now.now["t"])
                b.lines.append(calls)
                now.then["bad"] = self.check(now.now["t"], now.now["bad"])
                self.advance(kept)
                now.then["left"] = b.choose(kept, "i64", "%every", down)
                now.then["t"] = b.add(now.now["t"], step)
            b.jump("after")
            b.label("after")
            b.do("call void @finish(ptr %lanes, ptr %scratch, ptr @table)")
            states.then["failed"] = self.report(now.now["bad"], states.now["failed"])
        b.do("fence seq_cst")
        return b.end(f"i64 {states.now['failed']}")


def scan_module(program: Program, wiring: Wiring, width: int, fma: bool, *, one: bool = False, single: bool = False) -> str:
    """IR with the entry ``@scan``; with ``one``, for a single state."""
    return ScanEmitter(program, wiring, IRWriter(width, one=one, single=single), fma).module()
