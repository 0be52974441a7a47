"""Blocked stores: large results are written with the states last, one vector each, and transposed to rows by a loop.

Straight-line code that transposes each group of results itself is long, and writes a few numbers here and there to the row of
every state: the processor waits for that memory.  Here each result is stored once, in scratch memory, however often it occurs;
a table has the place of each number of an output, and zeros share one.  A tile of an output goes to the rows when all its
numbers are there, so that memory is written while the next ones are computed.  Rows that exceed the caches are written past
them, whole vectors at a time.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from torsor.compile.llvm.drivers import Blocks
from torsor.compile.llvm.emit import Emitter
from torsor.compile.llvm.lanes import IRWriter
from torsor.compile.llvm.tables import data_table
from torsor.compile.outline import outline
from torsor.compile.program import Program, spans

#: numbers of large outputs together from which their rows are written by a loop; of one of them, at least and at most
LARGE, LEAST, MOST = 512, 128, 8192
#: numbers of a tile, and numbers behind it that complete its last vector in the rows; the last tile may have a vector more
TILE, MORE = 128, 16
#: numbers from lane to lane of a tile on its way past the caches: whole cache lines
STRIDE = TILE + 2 * MORE


class BlockedEmitter(Emitter):
    """The chunks of one program whose large outputs go through blocks in scratch memory, for batches.

    The last ``private`` outputs stay in the caches.
    """

    def __init__(self, program: Program, b: IRWriter, fma: bool, private: int = 0):
        outputs, main = program.outputs, outline(program).main
        places = spans(outputs)
        read = [any(main.code[v][0] == "input" for v in main.results[place]) for place in places]
        self.blocked = [a for a, o in enumerate(outputs) if max(LEAST, 2 * b.width) <= o.size <= MOST and not read[a]]
        if sum(outputs[a].size for a in self.blocked) < LARGE:
            self.blocked = []
        super().__init__(program, b, fma)
        self.streamed = [a for a in self.blocked if a < len(outputs) - private]
        self.values = {a: self.s.results[places[a]] for a in self.blocked}
        #: the place of each value, as the number of a vector of scratch memory; equal constants have one
        self.places: dict[int, int] = {}
        self.constants: dict[str, int] = {}
        for v in sorted({v for values in self.values.values() for v in values}):
            op, args = self.s.code[v]
            self.places[v] = self.constants.setdefault(repr(args[0]), self.slots) if op == "const" else self.slots
            self.slots += self.places[v] == self.slots
        #: the tiles that are complete after each chunk: output, first number, numbers
        self.tiles: list[list[tuple[int, int, int]]] = [[] for _ in self.s.cuts[1:]]
        for a, values in self.values.items():
            for first, last in _tiles(len(values), b.width):
                made = max(self.s.made.get(v, 0) for v in values[first : last + MORE])
                self.tiles[made].append((a, first, last - first))

    def output_groups(self) -> list[list[tuple[int, int]]]:
        return [group for group in super().output_groups() if group[0][0] not in self.blocked]

    def runs_to_fill(self) -> dict[tuple[int, int], tuple[int, float]]:
        return {place: run for place, run in super().runs_to_fill().items() if place[0] not in self.blocked}

    def define(self, v: int, name: str) -> None:
        super().define(v, name)
        if v in self.places and self.s.made.get(v) == self.now:
            self.b.do(f"store {self.b.T} {name}, ptr {self.memory(self.places[v])}")

    def calls(self, table: str = "@table") -> list[str]:
        lines = []
        for chunk, tiles in zip(super().calls(table), self.tiles, strict=True):
            lines.append(chunk)
            for a, first, count in tiles:
                name, row = f"{a}_{first}", (len(self.in_sizes) + a) * self.b.width
                tile, more = ("%tile" if a in self.streamed else "null"), MORE if first + count < self.out_sizes[a] else 0
                lines += [
                    f"  %places{name} = getelementptr i32, ptr @places{a}, i64 {first}",
                    f"  %rows{name} = getelementptr ptr, ptr %lanes, i64 {row}",
                    f"  call void @to_rows(ptr %scratch, ptr %places{name}, ptr %rows{name}, i64 {first}, i64 {count}, "
                    f"i64 {more}, ptr {tile})",
                ]
        return lines

    def blocks(self) -> Blocks:
        """The part of the driver's work that the calls do themselves."""
        tile = self.b.width * STRIDE * self.b.item if self.streamed else 0
        return Blocks(self.blocked, tile, "  call void @constants(ptr %scratch)" if self.blocked else "")

    def functions(self) -> str:
        if not self.blocked:
            return super().functions()
        step = self.b.width * self.b.item
        offsets = {a: [(self.places[v] + 1) * step for v in values] for a, values in self.values.items()}
        tables = [data_table(f"places{a}", np.array(found, "<u4")) for a, found in offsets.items()]
        return "\n".join((super().functions(), *tables, self.constant_places(), to_rows(self.b)))

    def constant_places(self) -> str:
        """``void @constants(ptr scratch)``: the constants of the outputs into their places."""
        b = self.b
        b.begin("internal void @constants(ptr %scratch) noinline")
        for text, place in self.constants.items():
            b.do(f"store {b.T} {b.const(float(text))}, ptr {self.memory(place)}")
        return b.end()


def _tiles(size: int, width: int) -> list[tuple[int, int]]:
    """(first, last) of the tiles of an output; each has a vector of numbers or more."""
    cuts = [*range(0, size, TILE), size]
    if len(cuts) > 2 and cuts[-1] - cuts[-2] < max(MORE, width):
        del cuts[-2]
    return list(pairwise(cuts))


def to_rows(b: IRWriter) -> str:
    """``void @to_rows(ptr scratch, ptr places, ptr rows, i64 first, i64 n, i64 more, ptr tile)``: n numbers to rows.

    Each number is a vector with a lane per state, at its place.  A square of W vectors at a time is transposed; the last may
    overlap the one before: the same numbers again.  Unless ``tile`` is null, rows are written there first, and then past the
    caches, whole vectors at a time: ``more`` numbers behind the tile complete the last of them.
    """
    W, T, E = b.width, b.T, b.E
    given = "ptr noalias %scratch, ptr noalias %places, ptr %rows, i64 %first, i64 %n, i64 %more, ptr %tile"
    b.begin(f"internal void @to_rows({given}) noinline")
    direct, skip = b.compare("eq", "ptr", "%tile", "null"), b.compare("sgt", "i64", "%first", 0)
    count = b.add("%n", b.choose(direct, "i64", 0, "%more"))
    rows = []
    for lane in range(W):
        place = b.address(E, b.element("ptr", "%rows", lane), "%first")
        staged = b.address(E, "%tile", lane * STRIDE)
        rows.append((place, staged, b.choose(direct, "ptr", place, staged)))
    last = b.add(count, -W)
    with b.each(count, step=W) as loop:
        k = b.choose(b.compare("slt", "i64", loop.k, last), "i64", loop.k, last)
        table = b.address("i32", "%places", k)
        offsets = [b.put(f"zext i32 {b.element('i32', table, j)} to i64") for j in range(W)]
        vectors = [b.address("i8", "%scratch", offset) for offset in offsets]
        halves = W == 8 and not b.single
        P, parts = (f"<4 x {E}>", 2) if halves else (T, 1)
        loads = [b.element(P, x, h) for x in vectors for h in range(parts)]
        columns = b.columns(list(zip(loads[::2], loads[1::2], strict=True))) if halves else b.transpose(loads)
        for (_, _, row), vector in zip(rows, columns, strict=True):
            b.save(vector, row, k)
    with b.when(direct, False):
        for place, staged, _ in rows:
            b.do(f"call void @stream(ptr {place}, ptr {staged}, i64 %n, i1 {skip}, i64 %more)")
    return b.end()
