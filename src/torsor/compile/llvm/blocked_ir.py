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
from torsor.compile.program import Program

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
        starts = [sum(o.size for o in outputs[:a]) for a in range(len(outputs))]
        read = [
            any(main.code[v][0] == "input" for v in main.results[i : i + o.size]) for i, o in zip(starts, outputs, strict=True)
        ]
        self.blocked = [a for a, o in enumerate(outputs) if max(LEAST, 2 * b.width) <= o.size <= MOST and not read[a]]
        if sum(outputs[a].size for a in self.blocked) < LARGE:
            self.blocked = []
        super().__init__(program, b, fma)
        self.streamed = [a for a in self.blocked if a < len(outputs) - private]
        self.values = {a: self.s.results[starts[a] : starts[a] + outputs[a].size] for a in self.blocked}
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
            self.b.lines.append(f"  store {self.b.T} {name}, ptr {self.memory(self.places[v])}")

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
        tile = self.b.width * STRIDE * (4 if self.b.single else 8) if self.streamed else 0
        return Blocks(self.blocked, tile, "  call void @constants(ptr %scratch)" if self.blocked else "")

    def functions(self) -> str:
        if not self.blocked:
            return super().functions()
        step = self.b.width * (4 if self.b.single else 8)
        offsets = {a: [(self.places[v] + 1) * step for v in values] for a, values in self.values.items()}
        tables = [data_table(f"places{a}", np.array(found, "<u4")) for a, found in offsets.items()]
        return "\n".join((super().functions(), *tables, self.constant_places(), to_rows(self.b)))

    def constant_places(self) -> str:
        """``void @constants(ptr scratch)``: the constants of the outputs into their places."""
        b = self.b
        b.lines = []
        for text, place in self.constants.items():
            b.lines.append(f"  store {b.T} {b.const(float(text))}, ptr {self.memory(place)}")
        body = "\n".join(b.lines)
        return f"define internal void @constants(ptr %scratch) nounwind noinline {{\n{body}\n  ret void\n}}\n"


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
    W, T, E, item = b.width, b.T, b.E, 4 if b.single else 8
    b.lines = []
    rows = []
    for lane in range(W):
        row = b.put(f"load ptr, ptr {b.put(f'getelementptr ptr, ptr %rows, i64 {lane}')}")
        place = b.put(f"getelementptr {E}, ptr {row}, i64 %first")
        staged = b.put(f"getelementptr {E}, ptr %tile, i64 {lane * STRIDE}")
        rows.append((place, staged, b.put(f"select i1 %direct, ptr {place}, ptr {staged}")))
    ready, b.lines = "\n".join(b.lines), []
    table = b.put("getelementptr i32, ptr %places, i64 %k")
    vectors = []
    for j in range(W):
        offset = b.put(f"load i32, ptr {b.put(f'getelementptr i32, ptr {table}, i64 {j}')}")
        offset = b.put(f"zext i32 {offset} to i64")
        vectors.append(b.put(f"getelementptr i8, ptr %scratch, i64 {offset}"))
    halves = W == 8 and not b.single
    P, parts = (f"<4 x {E}>", 2) if halves else (T, 1)
    loads = [b.put(f"load {P}, ptr {b.put(f'getelementptr {P}, ptr {x}, i64 {h}')}") for x in vectors for h in range(parts)]
    columns = b.columns(list(zip(loads[::2], loads[1::2], strict=True))) if halves else b.transpose(loads)
    for (_, _, row), vector in zip(rows, columns, strict=True):
        b.lines.append(f"  store {T} {vector}, ptr {b.put(f'getelementptr {E}, ptr {row}, i64 %k')}, align {item}")
    body = "\n".join(b.lines)
    copies = "\n".join(
        f"  call void @stream(ptr {place}, ptr {staged}, i64 %n, i1 %skip, i64 %more)" for place, staged, _ in rows
    )
    return f"""
define internal void @to_rows(ptr noalias %scratch, ptr noalias %places, ptr %rows, i64 %first, i64 %n, i64 %more, ptr %tile)
    nounwind noinline {{
entry:
  %direct = icmp eq ptr %tile, null
  %over = select i1 %direct, i64 0, i64 %more
  %all = add i64 %n, %over
  %skip = icmp sgt i64 %first, 0
{ready}
  %last = sub i64 %all, {W}
  br label %body
body:
  %k = phi i64 [0, %entry], [%knext, %body]
{body}
  %after = add i64 %k, {W}
  %past = icmp sgt i64 %after, %last
  %knext = select i1 %past, i64 %last, i64 %after
  %further = icmp slt i64 %k, %last
  br i1 %further, label %body, label %written
written:
  br i1 %direct, label %done, label %copy
copy:
{copies}
  br label %done
done:
  ret void
}}
"""
