"""Blocked stores: large results are written with the states last, one vector each, and transposed to rows by a loop.

Straight-line code that transposes each group of results itself is long, and writes a few numbers here and there to the row of
every state: the processor waits for that memory.  Here each result is stored once, in scratch memory, in the order of the output.
A tile of it goes to the rows when all its numbers are there, so that memory is written while the next ones are computed.
Rows that exceed the caches are written past them, whole cache lines at a time.
"""

from __future__ import annotations

from torsor.compile.llvm.drivers import FILL, Blocks, loop
from torsor.compile.llvm.emit import Emitter
from torsor.compile.llvm.lanes import IRWriter
from torsor.compile.outline import outline
from torsor.compile.program import Argument, Operation, Program

#: numbers of an output from which its rows are written by a loop
LARGE = 128
#: numbers of a tile, and numbers behind it that complete its last vector in the rows; the last tile may have as many more
TILE, MORE = 128, 16
#: numbers of an output up to which its blocks stay in the caches
MOST = 8192
#: constants other than zero that an output may have
CONSTANTS = 64


class BlockedEmitter(Emitter):
    """The chunks of one program whose large outputs go through blocks in scratch memory, for batches.

    The last ``private`` outputs stay in the caches.
    """

    def __init__(self, program: Program, b: IRWriter, fma: bool, private: int = 0):
        outputs, main = program.outputs, outline(program).main
        starts = [sum(o.size for o in outputs[:a]) for a in range(len(outputs))]
        rows = [[main.code[v] for v in main.results[s : s + o.size]] for s, o in zip(starts, outputs, strict=True)]
        self.blocked = [a for a, o in enumerate(outputs) if _suitable(o, rows[a], b.width)]
        super().__init__(program, b, fma)
        self.streamed = [a for a in self.blocked if a < len(outputs) - private]
        #: the places of each value, as numbers of vectors of scratch memory
        self.places: dict[int, list[int]] = {}
        #: the tiles that are complete after each chunk: output, first number, numbers, place
        self.tiles: list[list[tuple[int, int, int, int]]] = [[] for _ in self.s.cuts[1:]]
        for a in self.blocked:
            values = self.s.results[starts[a] : starts[a] + outputs[a].size]
            for k, v in enumerate(values):
                self.places.setdefault(v, []).append(self.slots + k)
            for first, last in _tiles(len(values)):
                made = max((self.s.made.get(v, 0) for v in values[first : last + MORE]), default=0)
                self.tiles[made].append((a, first, last - first, self.slots + first))
            self.slots += len(values)

    def output_groups(self) -> list[list[tuple[int, int]]]:
        return [group for group in super().output_groups() if group[0][0] not in self.blocked]

    def filled(self) -> dict[tuple[int, int], tuple[int, float]]:
        return {place: run for place, run in super().filled().items() if place[0] not in self.blocked}

    def define(self, v: int, name: str) -> None:
        super().define(v, name)
        if self.s.made.get(v) == self.now:
            self.b.lines += [f"  store {self.b.T} {name}, ptr {self.memory(k)}" for k in self.places.get(v, ())]

    def calls(self, table: str = "@table") -> list[str]:
        lines = []
        for chunk, tiles in zip(super().calls(table), self.tiles, strict=True):
            lines.append(chunk)
            for a, first, count, place in tiles:
                name, row = f"{a}_{first}", (len(self.in_sizes) + a) * self.b.width
                tile, more = ("%tile" if a in self.streamed else "null"), MORE if first + count < self.out_sizes[a] else 0
                lines += [
                    f"  %block{name} = getelementptr {self.b.T}, ptr %scratch, i64 {place + 1}",
                    f"  %rows{name} = getelementptr ptr, ptr %lanes, i64 {row}",
                    f"  call void @to_rows(ptr %block{name}, ptr %rows{name}, i64 {first}, i64 {count}, i64 {more}, ptr {tile})",
                ]
        return lines

    def blocks(self) -> Blocks:
        tile = self.b.width * STRIDE * (4 if self.b.single else 8) if self.streamed else 0
        return Blocks(self.blocked, tile, "  call void @constants(ptr %scratch)" if self.blocked else "")

    def functions(self) -> str:
        fill = loop(FILL, self.b) if self.blocked and not self.fills else ""
        loops = (fill, self.constants(), to_rows(self.b)) if self.blocked else ()
        return "\n".join((super().functions(), *loops))

    def constants(self) -> str:
        """``void @constants(ptr scratch)``: zeros into all blocks, then other constants."""
        b, number = self.b, IRWriter(1, single=self.b.single)
        b.lines = []
        for tiles in self.tiles:
            for _, _, count, place in tiles:
                zeros = f"i64 {count * b.width}, {b.E} {number.const(0.0)}"
                b.lines.append(f"  call void @fill(ptr {self.memory(place)}, {zeros})")
        for v, places in self.places.items():
            op, args = self.s.code[v]
            if op == "const" and str(args[0]) != "0.0":
                b.lines += [f"  store {b.T} {b.const(args[0])}, ptr {self.memory(k)}" for k in places]
        body = "\n".join(b.lines)
        return f"define internal void @constants(ptr %scratch) nounwind noinline {{\n{body}\n  ret void\n}}\n"


def _suitable(output: Argument, results: list[Operation], width: int) -> bool:
    """Whether an output is large, and its numbers are computed, or zero."""
    others = sum(op == "const" and str(args[0]) != "0.0" for op, args in results)
    large = max(LARGE, 2 * width) <= output.size <= MOST
    return large and others <= CONSTANTS and not any(op == "input" for op, _ in results)


def _tiles(size: int) -> list[tuple[int, int]]:
    """(first, last) of the tiles of an output."""
    cuts = [*range(0, size, TILE), size]
    if len(cuts) > 2 and cuts[-1] - cuts[-2] < MORE:
        del cuts[-2]
    return list(zip(cuts[:-1], cuts[1:], strict=True))


#: numbers from lane to lane of a tile on its way past the caches: whole cache lines
STRIDE = TILE + 2 * MORE


def to_rows(b: IRWriter) -> str:
    """``void @to_rows(ptr block, ptr rows, i64 first, i64 n, i64 more, ptr tile)``: a tile of n numbers to the rows of states.

    The block has n vectors with a lane per state.  A square of W vectors at a time is transposed; the last may overlap the one
    before: the same numbers again.  Unless ``tile`` is null, the rows are written there first, and then past the caches, whole
    vectors at a time: ``more`` numbers behind the tile complete the last of them.
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
    at = b.put(f"getelementptr {T}, ptr %block, i64 %k")
    halves = W == 8 and not b.single
    P, parts = (f"<4 x {E}>", 2) if halves else (T, 1)
    loads = [b.put(f"load {P}, ptr {b.put(f'getelementptr {P}, ptr {at}, i64 {j}')}") for j in range(parts * W)]
    columns = b.columns(list(zip(loads[::2], loads[1::2], strict=True))) if halves else b.transpose(loads)
    for (_, _, row), vector in zip(rows, columns, strict=True):
        b.lines.append(f"  store {T} {vector}, ptr {b.put(f'getelementptr {E}, ptr {row}, i64 %k')}, align {item}")
    body = "\n".join(b.lines)
    copies = "\n".join(f"  call void @stream(ptr {place}, ptr {staged}, i64 %n, i1 %skip, i64 %more)" for place, staged, _ in rows)
    return f"""
define internal void @to_rows(ptr noalias %block, ptr noalias %rows, i64 %first, i64 %n, i64 %more, ptr %tile)
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
