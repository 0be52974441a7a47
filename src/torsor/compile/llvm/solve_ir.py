"""The loop that solves M X = B for all right sides, as LLVM IR, from the factors of :mod:`torsor.compile.llvm.rolled_ir`.

With M = Lᵀ D L: y_j = b_j − Σ L_kj y_k over the rows k that have j as an ancestor, from the last row to the first; then
x_k = y_k / D_k − Σ L_kj x_j over the ancestors j of k, from the first row to the last.  A row is some vectors of columns, which
stay in registers while its sum is computed.  These are the operations of :func:`torsor.spatial.linear.solve` in its order.
"""

from __future__ import annotations

from torsor.compile.llvm.lanes import IRWriter
from torsor.compile.llvm.tables import index_table
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
        near = NEAR // (self.n * self.b.width * self.b.item)
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
        b.begin(f"internal {b.T} @solve_columns{m}(ptr noalias %H, ptr noalias %X)")
        with b.each(self.n) as row:
            base, first, end, _ = self.row(row.k)
            self.store(base, self.sums(first, end, [self.load(base, t) for t in range(m)]))
        with b.each(2 * self.n, self.n, flag=(b.T, b.zero)) as row:
            base, first, end, pivot = self.row(row.k)
            inverse = b.splat(b.element(b.E, "%H", pivot))
            found = self.sums(first, end, [b.put(f"fmul {b.T} {self.load(base, t)}, {inverse}") for t in range(m)])
            self.store(base, found)
            for x in found:
                row.then["flag"] = b.put(f"fadd {b.T} {row.then['flag']}, {b.put(f'fmul {b.T} {x}, {b.zero}')}")
        return b.end(f"{b.T} {row.now['flag']}")

    def row(self, k: str) -> tuple[str, str, str, str]:
        """The address of a row, its first term and the next row's, and the place of 1/D."""
        at = self.b.address("[4 x i64]", "@solve_rows", k)
        place, first, end, pivot = (self.b.element("i64", at, i) for i in range(4))
        return self.b.address(self.b.E, "%X", place), first, end, pivot

    def sums(self, first: str, end: str, x: list[str]) -> list[str]:
        """x − Σ L y over the terms of a row."""
        b = self.b
        with b.each(end, first, 1, False, **{f"x{t}_": (b.T, value) for t, value in enumerate(x)}) as term:
            at = b.address("[2 x i64]", "@solve_terms", term.k)
            factor = b.splat(b.element(b.E, "%H", b.element("i64", at, 0)))
            y = b.address(b.E, "%X", b.element("i64", at, 1))
            for t, (name, value) in enumerate(term.now.items()):
                term.then[name] = b.subtract_product(value, factor, self.load(y, t), self.fma)
        return list(term.now.values())

    def load(self, base: str, t: int) -> str:
        return self.b.put(f"load {self.b.T}, ptr {self.b.address(self.b.E, base, t * self.b.width)}")

    def store(self, base: str, values: list[str]) -> None:
        for t, x in enumerate(values):
            self.b.do(f"store {self.b.T} {x}, ptr {self.b.address(self.b.E, base, t * self.b.width)}")

    def copy(self) -> str:
        """``void @solve_copy(ptr from, ptr to)``: n columns of the rows; their last vector may overlap the one before."""
        b, n = self.b, self.n
        b.begin("internal void @solve_copy(ptr noalias %from, ptr noalias %to)")
        with b.each(n) as row:
            source = b.address(b.E, "%from", b.put(f"mul i64 {row.k}, {self.parts.stride}"))
            to = b.address(b.E, "%to", b.put(f"mul i64 {row.k}, {n}"))
            for c in (*range(0, n - b.width, b.width), n - b.width):
                b.save(b.load(source, c), to, c)
        return b.end()

    def solve(self, sizes: list[int]) -> str:
        b, outputs = self.b, [f"%X{k}" for k in range(len(self.parts.solved))]
        b.begin(f"internal void @solve(ptr %memory, ptr %flag, {', '.join(f'ptr {x}' for x in outputs)})")
        H, total, column = b.address(b.E, "%memory", self.parts.first), b.put(f"load {b.E}, ptr %flag"), 0
        for m in sizes:
            at = b.address(b.E, "%memory", column * b.width)
            sums = b.put(f"call {b.T} @solve_columns{m}(ptr {H}, ptr {at})")
            for lane in range(b.width):
                total = b.put(f"fadd {b.E} {total}, {b.lane(sums, lane)}")
            column += m
        for k, x in enumerate(outputs):
            b.do(f"call void @solve_copy(ptr {b.address(b.E, '%memory', k * self.n)}, ptr {x})")
        b.do(f"store {b.E} {total}, ptr %flag")
        return b.end()
