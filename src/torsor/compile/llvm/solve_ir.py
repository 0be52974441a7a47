"""The loop that solves M X = B for all right sides, as LLVM IR, from the factors of :mod:`torsor.compile.llvm.rolled_ir`.

With M = Lᵀ D L: y_j = b_j − Σ L_kj y_k over the rows k that have j as an ancestor, from the last row to the first; then
x_k = y_k / D_k − Σ L_kj x_j over the ancestors j of k, from the first row to the last.  A row is some vectors of columns, which
stay in registers while its sum is computed.  These are the operations of :func:`torsor.spatial.linear.solve` in its order.
"""

from __future__ import annotations

from torsor.compile.llvm.lanes import IRWriter
from torsor.compile.llvm.tables import index_table
from torsor.compile.llvm.writer import Loop, Writer
from torsor.compile.rolled import Split

#: vectors of columns that are solved together: registers for their sums
TOGETHER = {8: 14}
FEW_REGISTERS = 7
#: bytes of the columns that are solved together: they stay in the smallest cache
NEAR = 24_000


class SolveLoop:
    """``void @solve(ptr memory, ptr flag, ptr X0, ptr X1, ...)``: from the loops' private memory to the solved outputs.

    Where something is not finite, the number at ``flag`` becomes NaN.  ``start`` is that of each packed row.
    """

    def __init__(self, parts: Split, b: IRWriter, fma: bool, start: list[int]):
        self.parts, self.b, self.fma = parts, b, fma
        self.n, self.start = parts.tree.size, start

    def declarations(self) -> list[str]:
        """The intrinsics that a module of another width does not have."""
        b = self.b
        return [f"declare {b.T} @llvm.fma.{b.suffix}({b.T}, {b.T}, {b.T})"] if self.fma else []

    def text(self) -> str:
        vectors = self.parts.stride // self.b.width
        near = NEAR // (self.n * self.b.width * (4 if self.b.single else 8))
        most = min(TOGETHER.get(self.b.width, FEW_REGISTERS), max(4, near))
        count = -(-vectors // most)
        sizes = [vectors // count + (k < vectors % count) for k in range(count)]
        functions = [self.columns(m) for m in dict.fromkeys(sizes)]
        return "\n".join((self.tables(), *functions, self.copy(), self.solve(sizes)))

    def tables(self) -> str:
        """For each row of both passes: its place, its first term and the next row's; for each term the places of L and row."""
        n, stride, ancestors = self.n, self.parts.stride, self.parts.tree.ancestors
        below: list[list[tuple[int, int]]] = [[] for _ in range(n)]
        for k in reversed(range(n)):
            for d, j in enumerate(ancestors[k]):
                below[j].append((self.start[k] + d, k * stride))
        above = [[(self.start[k] + d, j * stride) for d, j in reversed([*enumerate(row)])] for k, row in enumerate(ancestors)]
        rows: list[int] = []
        terms: list[int] = []
        for k, found in (*((k, below[k]) for k in reversed(range(n))), *enumerate(above)):
            first = len(terms) // 2
            rows += (k * stride, first, first + len(found), self.start[k] + len(ancestors[k]))
            terms += [x for term in found for x in term]
        return "\n".join((index_table("solve_rows", rows), index_table("solve_terms", terms)))

    def columns(self, m: int) -> str:
        """``T @solve_columns<m>(ptr memory, ptr X)``: m vectors of columns from X on; returns 0·x summed."""
        b = self.b
        w = Writer(f"internal {b.T} @solve_columns{m}(ptr noalias %H, ptr noalias %X)")
        with w.each(str(self.n)) as row:
            base, first, end, _ = self.row(w, row.k)
            self.store(w, base, self.sums(w, first, end, [self.load(w, base, t) for t in range(m)]))
        zero = "zeroinitializer" if b.width > 1 else b.const(0.0)
        with w.each(str(2 * self.n), str(self.n), flag=(b.T, zero)) as row:
            base, first, end, pivot = self.row(w, row.k)
            inverse = self.splat(w, w.element(b.E, "%H", pivot))
            found = self.sums(w, first, end, [w.put(f"fmul {b.T} {self.load(w, base, t)}, {inverse}") for t in range(m)])
            self.store(w, base, found)
            for x in found:
                row.then["flag"] = w.put(f"fadd {b.T} {row.then['flag']}, {w.put(f'fmul {b.T} {x}, {zero}')}")
        w.do(f"ret {b.T} {row.now['flag']}")
        return w.text()

    def row(self, w: Writer, k: str) -> tuple[str, str, str, str]:
        """The address of a row, its first term and the next row's, and the place of 1/D."""
        at = w.address("[4 x i64]", "@solve_rows", k)
        place, first, end, pivot = (w.element("i64", at, str(i)) for i in range(4))
        return w.address(self.b.E, "%X", place), first, end, pivot

    def sums(self, w: Writer, first: str, end: str, x: list[str]) -> list[str]:
        """x − Σ L y over the terms of a row."""
        b = self.b
        with w.each(end, first, **{f"x{t}_": (b.T, value) for t, value in enumerate(x)}) as term:
            at = w.address("[2 x i64]", "@solve_terms", term.k)
            factor = self.splat(w, w.element(b.E, "%H", w.element("i64", at, "0")))
            y = w.address(b.E, "%X", w.element("i64", at, "1"))
            for t, (name, value) in enumerate(list(term.now.items())):
                term.then[name] = self.subtract_product(w, value, factor, self.load(w, y, t))
        return _values(term)

    def subtract_product(self, w: Writer, x: str, a: str, y: str) -> str:
        T = self.b.T
        if self.fma:
            minus = w.put(f"fneg {T} {a}")
            return w.put(f"call {T} @llvm.fma.{self.b.suffix}({T} {minus}, {T} {y}, {T} {x})")
        return w.put(f"fsub {T} {x}, {w.put(f'fmul {T} {a}, {y}')}")

    def load(self, w: Writer, base: str, t: int) -> str:
        return w.put(f"load {self.b.T}, ptr {w.address(self.b.E, base, str(t * self.b.width))}")

    def store(self, w: Writer, base: str, values: list[str]) -> None:
        for t, x in enumerate(values):
            w.do(f"store {self.b.T} {x}, ptr {w.address(self.b.E, base, str(t * self.b.width))}")

    def splat(self, w: Writer, x: str) -> str:
        b = self.b
        if b.width == 1:
            return x
        one = w.put(f"insertelement {b.T} poison, {b.E} {x}, i32 0")
        return w.put(f"shufflevector {b.T} {one}, {b.T} poison, <{b.width} x i32> zeroinitializer")

    def copy(self) -> str:
        """``void @solve_copy(ptr from, ptr to)``: n columns of the rows; their last vector may overlap the one before."""
        b, n, item = self.b, self.n, 4 if self.b.single else 8
        w = Writer("internal void @solve_copy(ptr noalias %from, ptr noalias %to)")
        with w.each(str(n)) as row:
            source = w.address(b.E, "%from", w.put(f"mul i64 {row.k}, {self.parts.stride}"))
            to = w.address(b.E, "%to", w.put(f"mul i64 {row.k}, {n}"))
            for c in (*range(0, n - b.width, b.width), n - b.width):
                x = w.put(f"load {b.T}, ptr {w.address(b.E, source, str(c))}, align {item}")
                w.do(f"store {b.T} {x}, ptr {w.address(b.E, to, str(c))}, align {item}")
        w.do("ret void")
        return w.text()

    def solve(self, sizes: list[int]) -> str:
        b, outputs = self.b, [f"%X{k}" for k in range(len(self.parts.solved))]
        w = Writer(f"internal void @solve(ptr %memory, ptr %flag, {', '.join(f'ptr {x}' for x in outputs)})")
        H, total, column = w.address(b.E, "%memory", str(self.parts.first)), w.put(f"load {b.E}, ptr %flag"), 0
        for m in sizes:
            at = w.address(b.E, "%memory", str(column * b.width))
            sums = w.put(f"call {b.T} @solve_columns{m}(ptr {H}, ptr {at})")
            for lane in range(b.width):
                x = w.put(f"extractelement {b.T} {sums}, i32 {lane}") if b.width > 1 else sums
                total = w.put(f"fadd {b.E} {total}, {x}")
            column += m
        for k, x in enumerate(outputs):
            w.do(f"call void @solve_copy(ptr {w.address(b.E, '%memory', str(k * self.n))}, ptr {x})")
        w.do(f"store {b.E} {total}, ptr %flag")
        w.do("ret void")
        return w.text()


def _values(loop: Loop) -> list[str]:
    return list(loop.now.values())
