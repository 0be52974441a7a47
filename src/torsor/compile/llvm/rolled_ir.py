"""The loop that inverts a matrix, as LLVM IR.

With the rows of M packed as in :class:`torsor.compile.rolled.Tree`, M = Lᵀ D L is factored in place, from the deepest rows to
the first (Featherstone 2005).  Then the rows of X = M⁻¹ follow from the first to the last: left of the diagonal
x_i = −Σ L_ij x_j over the ancestors j of i, with columns as lanes; the diagonal is x_ii = 1/D_i − Σ L_ij x_ij.  Each entry is
written twice, to row and column.
"""

from __future__ import annotations

from torsor.compile.llvm.lanes import IRWriter
from torsor.compile.llvm.tables import index_table
from torsor.compile.rolled import Tree

#: vectors of columns that are computed together: their sums do not wait for one another
TOGETHER = 4
#: bytes
CACHE_LINE = 64


class InverseLoop:
    """``void @inverse(ptr H, ptr X, ptr flag)``: from the packed rows at H, which it overwrites, to the inverse at X.

    Where something is not finite, the number at ``flag`` becomes NaN.  In a batch the memory behind X, where the next inverse
    goes, is fetched into the caches meanwhile: writing to it would wait for that.  If H has been ``factored`` already, its rows
    are packed without zeros between them.
    """

    def __init__(self, tree: Tree, b: IRWriter, fma: bool, batch: bool, factored: bool = False):
        self.tree, self.b, self.fma, self.batch, self.factored = tree, b, fma, batch, factored
        self.n = tree.size

    def declarations(self) -> list[str]:
        """The intrinsics that a module of another width does not have."""
        writers = (self.b, IRWriter(1, single=self.b.single)) if self.fma else ()
        found = [f"declare {x.T} @llvm.fma.{x.suffix}({x.T}, {x.T}, {x.T})" for x in writers]
        return [*found, "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"]

    def tables(self) -> str:
        """@start and @depth of each packed row, where its ancestors begin in the lists (@list), and the lists themselves.

        Of each ancestor these have the start of its packed row and that of its row of X.  @order is that of elimination.
        """
        tree = self.tree
        start = tree.starts(1 if self.factored else self.b.width)
        depth = [len(row) for row in tree.ancestors]
        first = [sum(depth[:k]) for k in range(self.n)]
        above = [j for row in tree.ancestors for j in row]
        tables = {"order": tree.order, "start": start[:-1], "depth": depth, "list": first,
                  "above": [start[j] for j in above], "row": [j * self.n for j in above]}  # fmt: skip
        return "\n".join(index_table(name, numbers) for name, numbers in tables.items())

    def text(self) -> str:
        functions = [self.rows()] if self.factored else [self.factor(), self.rows()]
        return "\n".join((self.tables(), *functions, self.inverse()))

    def inverse(self) -> str:
        b, E = self.b, self.b.E
        b.begin("internal void @inverse(ptr %H, ptr %X, ptr %flag)")
        flag = b.put(f"load {E}, ptr %flag")
        for call in ("@rows(ptr %H, ptr %X)",) if self.factored else ("@factor(ptr %H)", "@rows(ptr %H, ptr %X)"):
            flag = b.put(f"fadd {E} {flag}, {b.put(f'call {E} {call}')}")
        b.do(f"store {E} {flag}, ptr %flag")
        return b.end()

    def of_row(self, k: str) -> tuple[str, str, str]:
        """The packed row k, its depth, and where its ancestors begin in the lists."""
        start, depth, first = (self.b.element("i64", f"@{table}", k) for table in ("start", "depth", "list"))
        return self.b.address(self.b.E, "%H", start), depth, first

    def add_check(self, flag: str, x: str) -> str:
        """flag + 0·x: NaN where x is not finite."""
        return self.b.put(f"fadd {self.b.T} {flag}, {self.b.put(f'fmul {self.b.T} {x}, {self.b.zero}')}")

    # -- M = Lᵀ D L --------------------------------------------------------------------------------------------

    def factor(self) -> str:
        """In place: 1/D in place of the diagonal, L in place of the rest; returns 0·D summed, NaN where a pivot is not finite.

        l = h_d / D times row h is subtracted from the row of the ancestor at depth d, from the deepest on.  Where rows are few
        vectors long, row h stays in registers.  It is scaled when every row above it has been updated: a vector that was stored
        in parts is slow to load.
        """
        b, E, W = self.b, self.b.E, self.b.width
        b.begin(f"internal {E} @factor(ptr %H) noinline")
        with b.each(self.n, bad=(E, b.number(0.0))) as turn:
            h, depth, first = self.of_row(b.element("i64", "@order", turn.k))
            above, pivot = b.address("i64", "@above", first), b.element(E, h, depth)
            inverse = b.put(f"fdiv {E} {b.number(1.0)}, {pivot}")
            with b.in_width(1):
                turn.then["bad"] = self.add_check(turn.now["bad"], pivot)

            def ancestor(d: str) -> tuple[str, str]:
                """The row of the ancestor at depth d, and l."""
                scaled = b.put(f"fmul {E} {b.element(E, h, d)}, {inverse}")
                return b.address(E, "%H", b.element("i64", above, d)), b.splat(scaled)

            with b.each(TOGETHER * W - 1, b.add(depth, -1), -1) as far:
                g, l = ancestor(far.k)
                with b.each(b.add(far.k, 1), step=W, once=True) as c:
                    b.save(b.subtract_product(b.load(g, c.k), l, b.load(h, c.k), self.fma), g, c.k)
            for m in range(TOGETHER, 0, -1):
                least = (m - 1) * W
                with b.when(b.compare("sgt", "i64", depth, least)):
                    vectors = {t * W: b.load(h, t * W) for t in range(m)}
                    end = b.choose(b.compare("slt", "i64", depth, m * W), "i64", depth, m * W)
                    with b.each(least - 1, b.add(end, -1), -1, once=True) as near:
                        g, l = ancestor(near.k)
                        for place, vector in vectors.items():
                            b.save(b.subtract_product(b.load(g, place), l, vector, self.fma), g, place)
            factor = b.splat(inverse)
            with b.each(depth, step=W, once=True) as c:
                b.save(b.put(f"fmul {b.T} {b.load(h, c.k)}, {factor}"), h, c.k)
            b.store(E, inverse, h, depth)
        return b.end(f"{E} {turn.now['bad']}")

    # -- X = M⁻¹ -----------------------------------------------------------------------------------------------

    def rows(self) -> str:
        """The rows i of X: columns left of the diagonal, then the diagonal, x_ii = 1/D_i − Σ L_ij x_ji, from column i by now.

        Columns are computed in segments of a few vectors, from c on: first whole ones, then the rest, whose last vector ends at
        the diagonal and may overlap the one before: the same numbers again.  Short rows go column by column.
        """
        b, E, W = self.b, self.b.E, self.b.width
        b.begin(f"internal {E} @rows(ptr %H, ptr %X) noinline")
        self.sum = b.put(f"alloca {b.T}, align 64")
        b.do(f"store {b.T} {b.zero}, ptr {self.sum}, align 64")
        with b.each(self.n, bad=(E, b.number(0.0))) as row:
            i = row.k
            self.L, self.depth, first = self.of_row(i)
            self.above = b.address("i64", "@row", first)
            self.row = b.address(E, "%X", b.put(f"mul i64 {i}, {self.n}"))
            self.column = b.address(E, "%X", i)
            self.fetch()
            final = b.add(i, -W)
            short = b.compare("slt", "i64", final, 0)
            with b.when(short), b.in_width(1), b.each(i) as c:
                self.segment([c.k])
            with b.when(short, False):
                with b.each(b.add(i, 1 - TOGETHER * W), step=TOGETHER * W) as c:
                    self.segment([b.add(c.k, t * W) for t in range(TOGETHER)])
                left = b.put(f"sub i64 {i}, {c.k}")
                for m in range(TOGETHER):
                    with b.when(b.compare("ult", "i64", b.add(left, -1 - m * W), W)):
                        self.segment([*(b.add(c.k, t * W) for t in range(m)), final])
            with b.in_width(1):
                with b.each(self.depth, x=(E, b.element(E, self.L, self.depth))) as term:
                    entry = b.element(E, self.column, b.element("i64", self.above, term.k))
                    term.then["x"] = b.subtract_product(term.now["x"], b.element(E, self.L, term.k), entry, self.fma)
                b.store(E, term.now["x"], self.row, i)
                row.then["bad"] = self.add_check(row.now["bad"], term.now["x"])
        total, sums = row.now["bad"], b.put(f"load {b.T}, ptr {self.sum}, align 64")
        for lane in range(W):
            total = b.put(f"fadd {E} {total}, {b.lane(sums, lane)}")
        return b.end(f"{E} {total}")

    def fetch(self) -> None:
        """The memory of row i of the next inverse, cache line by cache line."""
        b, row = self.b, self.n * self.b.item
        for k in range(0, row if self.batch else 0, CACHE_LINE):
            ahead = b.address("i8", self.row, self.n * row + k)
            b.do(f"call void @llvm.prefetch.p0(ptr {ahead}, i32 0, i32 3, i32 1)")

    def segment(self, columns: list[str]) -> None:
        """−Σ L_ij x_jc of the vectors that begin with these columns, into row and column i; 0·x of them is added to the sum."""
        b = self.b
        with b.each(self.depth, 0, 1, False, **{f"x{t}_": (b.T, b.zero) for t in range(len(columns))}) as term:
            factor = b.splat(b.element(b.E, self.L, term.k))
            row = b.address(b.E, "%X", b.element("i64", self.above, term.k))
            for (name, x), c in zip(term.now.items(), columns, strict=True):
                term.then[name] = b.subtract_product(x, factor, b.load(row, c), self.fma)
        flag = b.put(f"load {b.T}, ptr {self.sum}, align 8")
        for x, c in zip(term.now.values(), columns, strict=True):
            b.save(x, self.row, c)
            flag = self.add_check(flag, x)
            column = b.address(b.E, self.column, b.put(f"mul i64 {c}, {self.n}"))
            for lane in range(b.width):
                b.store(b.E, b.lane(x, lane), column, lane * self.n)
        b.do(f"store {b.T} {flag}, ptr {self.sum}, align 8")
