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
        self.n, self.item = tree.size, b.item
        self.scalar = IRWriter(1, single=b.single)

    def declarations(self) -> list[str]:
        """The intrinsics that a module of another width does not have."""
        found = [f"declare {x.T} @llvm.fma.{x.suffix}({x.T}, {x.T}, {x.T})" for x in (self.b, self.scalar) if self.fma]
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
        E, rows = self.b.E, "\n".join((self.rows(), self.diagonal(), self.end()))
        zero = self.scalar.const(0.0)
        factor = f"define internal {E} @factor(ptr %H) nounwind noinline {{\n{self.factor()}\n}}\n"
        pivots = f"fadd {E} {zero}, {zero}" if self.factored else f"call {E} @factor(ptr %H)"
        return f"""{self.tables()}
define internal void @inverse(ptr %H, ptr %X, ptr %flag) nounwind {{
  %before = load {E}, ptr %flag
  %pivots = {pivots}
  %entries = call {E} @rows(ptr %H, ptr %X)
  %both = fadd {E} %pivots, %entries
  %after = fadd {E} %before, %both
  store {E} %after, ptr %flag
  ret void
}}
{"" if self.factored else factor}
define internal {E} @rows(ptr %H, ptr %X) nounwind noinline {{
{rows}
}}
"""

    def subtract_product(self, v: IRWriter, name: str, x: str, a: str, b: str) -> str:
        """name = x − a b."""
        if self.fma:
            lines = [f"{name}.n = fneg {v.T} {a}"]
            lines += [f"{name} = call {v.T} @llvm.fma.{v.suffix}({v.T} {name}.n, {v.T} {b}, {v.T} {x})"]
        else:
            lines = [f"{name}.p = fmul {v.T} {a}, {b}", f"{name} = fsub {v.T} {x}, {name}.p"]
        return "\n".join(f"  {line}" for line in lines)

    def splat(self, v: IRWriter, name: str, x: str) -> str:
        """The vector ``name`` of equal lanes x, and the word for it; x itself where there is one lane."""
        if v.width == 1:
            return f"  {name} = fadd {v.T} {x}, {v.const(-0.0)}"
        return (
            f"  {name}.0 = insertelement {v.T} poison, {v.E} {x}, i32 0\n"
            f"  {name} = shufflevector {v.T} {name}.0, {v.T} poison, <{v.width} x i32> zeroinitializer"
        )

    # -- M = Lᵀ D L --------------------------------------------------------------------------------------------

    def factor(self) -> str:
        """In place: 1/D in place of the diagonal, L in place of the rest; returns 0·D summed, NaN where a pivot is not finite.

        A row is scaled when every row above it has been updated: a vector that was stored in parts is slow to load.
        """
        b, E, A = self.b, self.b.E, self.item
        one, zero = self.scalar.const(1.0), self.scalar.const(0.0)
        near = "\n".join(self.ancestor_loop(m, "%dafter" if m == TOGETHER else f"%out{m + 1}") for m in range(TOGETHER, 0, -1))
        return f"""entry:
  br label %factor
factor:
  %turn = phi i64 [0, %entry], [%turnnext, %scaled]
  %bad = phi {E} [{zero}, %entry], [%badnext, %scaled]
  %kmore = icmp slt i64 %turn, {self.n}
  br i1 %kmore, label %pivot, label %done
pivot:
  %turnnext = add i64 %turn, 1
{_read("order", "%turn", "%k")}
{_read("start", "%k", "%kstart")}
{_read("depth", "%k", "%kdepth")}
{_read("list", "%k", "%klist")}
  %h = getelementptr {E}, ptr %H, i64 %kstart
  %kabove = getelementptr i64, ptr @above, i64 %klist
  %pp = getelementptr {E}, ptr %h, i64 %kdepth
  %p = load {E}, ptr %pp
  %inv = fdiv {E} {one}, %p
  %pbad = fmul {E} %p, {zero}
  %badnext = fadd {E} %bad, %pbad
  br label %column
column:
  %dafter = phi i64 [%kdepth, %pivot], [%d, %updated]
  %dmore = icmp sgt i64 %dafter, {TOGETHER * b.width}
  br i1 %dmore, label %update, label %near{TOGETHER}
update:
  %d = sub i64 %dafter, 1
{self.update("", "%d")}
  br label %axpy
axpy:
  %c = phi i64 [0, %update], [%cnext, %axpy]
  %hc = getelementptr {E}, ptr %h, i64 %c
  %gc = getelementptr {E}, ptr %g, i64 %c
  %hv = load {b.T}, ptr %hc, align {A}
  %gv = load {b.T}, ptr %gc, align {A}
{self.subtract_product(b, "%gnew", "%gv", "%lv", "%hv")}
  store {b.T} %gnew, ptr %gc, align {A}
  %cnext = add i64 %c, {b.width}
  %cmore = icmp sle i64 %cnext, %d
  br i1 %cmore, label %axpy, label %updated
updated:
  br label %column
{near}
whole:
{self.splat(b, "%invv", "%inv")}
  br label %scale
scale:
  %w = phi i64 [0, %whole], [%wnext, %scale]
  %hw = getelementptr {E}, ptr %h, i64 %w
  %unscaled = load {b.T}, ptr %hw, align {A}
  %lw = fmul {b.T} %unscaled, %invv
  store {b.T} %lw, ptr %hw, align {A}
  %wnext = add i64 %w, {b.width}
  %wmore = icmp slt i64 %wnext, %kdepth
  br i1 %wmore, label %scale, label %scaled
scaled:
  store {E} %inv, ptr %pp
  br label %factor
done:
  ret {E} %bad"""

    def update(self, mark: str, d: str) -> str:
        """The factor l = h_d / D and the row of the ancestor at depth d, from which l times row h is subtracted."""
        E = self.b.E
        return f"""  %hp{mark} = getelementptr {E}, ptr %h, i64 {d}
  %hd{mark} = load {E}, ptr %hp{mark}
  %l{mark} = fmul {E} %hd{mark}, %inv
{self.splat(self.b, f"%lv{mark}", f"%l{mark}")}
  %gp{mark} = getelementptr i64, ptr %kabove, i64 {d}
  %gstart{mark} = load i64, ptr %gp{mark}
  %g{mark} = getelementptr {E}, ptr %H, i64 %gstart{mark}"""

    def ancestor_loop(self, m: int, start: str) -> str:
        """The ancestors whose rows are m vectors long, from the one before depth ``start`` on: row h stays in registers."""
        b, E, A, least = self.b, self.b.E, self.item, (m - 1) * self.b.width
        loads, updates = [], []
        for t in range(m):
            place = t * b.width
            loads.append(f"  %hc{m}.{t} = getelementptr {E}, ptr %h, i64 {place}")
            loads.append(f"  %hv{m}.{t} = load {b.T}, ptr %hc{m}.{t}, align {A}")
            updates.append(f"  %gc{m}.{t} = getelementptr {E}, ptr %g{m}, i64 {place}")
            updates.append(f"  %gv{m}.{t} = load {b.T}, ptr %gc{m}.{t}, align {A}")
            updates.append(self.subtract_product(b, f"%gnew{m}.{t}", f"%gv{m}.{t}", f"%lv{m}", f"%hv{m}.{t}"))
            updates.append(f"  store {b.T} %gnew{m}.{t}, ptr %gc{m}.{t}, align {A}")
        return "\n".join((f"near{m}:", f"  %any{m} = icmp sgt i64 {start}, {least}",
            f"  br i1 %any{m}, label %load{m}, label %past{m}", f"load{m}:", *loads, f"  br label %each{m}", f"each{m}:",
            f"  %dafter{m} = phi i64 [{start}, %load{m}], [%d{m}, %each{m}]", f"  %d{m} = sub i64 %dafter{m}, 1",
            self.update(f"{m}", f"%d{m}"), *updates, f"  %dmore{m} = icmp sgt i64 %d{m}, {least}",
            f"  br i1 %dmore{m}, label %each{m}, label %past{m}", f"past{m}:",
            f"  %out{m} = phi i64 [{start}, %near{m}], [%d{m}, %each{m}]",
            f"  br label %{f'near{m - 1}' if m > 1 else 'whole'}"))  # fmt: skip

    # -- X = M⁻¹ -----------------------------------------------------------------------------------------------

    def rows(self) -> str:
        """The loop over rows i, and of each the columns left of the diagonal.

        They are computed in segments of a few vectors, from c on: first whole ones ("s"), then the rest ("t1", ...), whose last
        vector ends at the diagonal and may overlap the one before: the same numbers again.  Short rows go column by column.
        """
        b, E, K = self.b, self.b.E, self.b.width
        tails = "\n".join(
            f"rest{m}:\n  %fits{m} = icmp sle i64 %left, {m * K}\n  br i1 %fits{m}, label %t{m}, label %rest{m + 1}"
            for m in range(1, TOGETHER)
        )
        head = f"""entry:
  %sum = alloca {b.T}, align 64
  store {b.T} {_zero(b)}, ptr %sum, align 64
  br label %row
row:
  %i = phi i64 [0, %entry], [%inext, %rowdone]
  %dbad = phi {E} [{self.scalar.const(0.0)}, %entry], [%dbadnext, %rowdone]
  %imore = icmp slt i64 %i, {self.n}
  br i1 %imore, label %begin, label %done
begin:
{_read("start", "%i", "%istart")}
{_read("depth", "%i", "%idepth")}
{_read("list", "%i", "%ilist")}
  %L = getelementptr {E}, ptr %H, i64 %istart
  %above = getelementptr i64, ptr @row, i64 %ilist
  %irow = mul i64 %i, {self.n}
  %xi = getelementptr {E}, ptr %X, i64 %irow
  %xc = getelementptr {E}, ptr %X, i64 %i
{self.fetch()}
  %final = sub i64 %i, {K}
  %short = icmp slt i64 %final, 0
  br i1 %short, label %singles, label %wholes
singles:
  %c1 = phi i64 [0, %begin], [%c1next, %one.done]
  %c1more = icmp slt i64 %c1, %i
  br i1 %c1more, label %one, label %diagonal
wholes:
  %c = phi i64 [0, %begin], [%cnext, %s.done]
  %cnext = add i64 %c, {TOGETHER * K}
  %fit = icmp sle i64 %cnext, %i
  br i1 %fit, label %s, label %rest
rest:
  %left = sub i64 %i, %c
  %none = icmp eq i64 %left, 0
  br i1 %none, label %diagonal, label %rest1
{tails}
rest{TOGETHER}:
  br label %t{TOGETHER}"""
        parts = [self.segment("one", self.scalar, 1, "%c1", "%c1"), "  %c1next = add i64 %c1, 1\n  br label %singles"]
        parts += [self.segment("s", b, TOGETHER, "%c"), "  br label %wholes"]
        for m in range(1, TOGETHER + 1):
            parts += [self.segment(f"t{m}", b, m, "%c", "%final"), "  br label %diagonal"]
        return "\n".join([head, *parts])

    def fetch(self) -> str:
        """The memory of row i of the next inverse, cache line by cache line."""
        lines = []
        for k in range(-(-self.n * self.item // CACHE_LINE) if self.batch else 0):
            lines.append(f"  %ahead{k} = getelementptr i8, ptr %xi, i64 {self.n * self.n * self.item + k * CACHE_LINE}")
            lines.append(f"  call void @llvm.prefetch.p0(ptr %ahead{k}, i32 0, i32 3, i32 1)")
        return "\n".join(lines)

    def segment(self, s: str, v: IRWriter, m: int, first: str, last: str = "") -> str:
        """−Σ L_ij x_jc of m vectors of columns from ``first`` on, the last of them at ``last``, into row and column i."""
        E = v.E
        columns = [f"%{s}.c{t}" for t in range(m)]
        places = [f"  {c} = add i64 {first}, {t * v.width}" for t, c in enumerate(columns)]
        if last:
            places[-1] = f"  {columns[-1]} = add i64 {last}, 0"
        start = "\n".join(f"  %{s}.x{t} = phi {v.T} [{_zero(v)}, %{s}], [%{s}.y{t}, %{s}.term]" for t in range(m))
        terms = "\n".join(
            f"  %{s}.q{t} = getelementptr {E}, ptr %{s}.p, i64 {columns[t]}\n"
            f"  %{s}.u{t} = load {v.T}, ptr %{s}.q{t}, align {self.item}\n"
            + self.subtract_product(v, f"%{s}.y{t}", f"%{s}.x{t}", f"%{s}.l", f"%{s}.u{t}")
            for t in range(m)
        )
        return "\n".join((f"{s}:", *places, f"""  br label %{s}.head
{s}.head:
  %{s}.d = phi i64 [0, %{s}], [%{s}.dnext, %{s}.term]
{start}
  %{s}.more = icmp slt i64 %{s}.d, %idepth
  br i1 %{s}.more, label %{s}.term, label %{s}.done
{s}.term:
  %{s}.lp = getelementptr {E}, ptr %L, i64 %{s}.d
  %{s}.le = load {E}, ptr %{s}.lp
{self.splat(v, f"%{s}.l", f"%{s}.le")}
  %{s}.rp = getelementptr i64, ptr %above, i64 %{s}.d
  %{s}.r = load i64, ptr %{s}.rp
  %{s}.p = getelementptr {E}, ptr %X, i64 %{s}.r
{terms}
  %{s}.dnext = add i64 %{s}.d, 1
  br label %{s}.head
{s}.done:
{self.stores(s, v, columns)}"""))  # fmt: skip

    def stores(self, s: str, v: IRWriter, columns: list[str]) -> str:
        """Store the sums of a segment in row i and in column i, and add 0·x of them to the flag."""
        lines = [f"%{s}.f0 = load {v.T}, ptr %sum, align 8"]
        for t, c in enumerate(columns):
            x = f"%{s}.x{t}"
            lines += [
                f"%{s}.o{t} = getelementptr {v.E}, ptr %xi, i64 {c}",
                f"store {v.T} {x}, ptr %{s}.o{t}, align {self.item}",
                f"%{s}.z{t} = fmul {v.T} {x}, {_zero(v)}",
                f"%{s}.f{t + 1} = fadd {v.T} %{s}.f{t}, %{s}.z{t}",
                f"%{s}.m{t} = mul i64 {c}, {self.n}",
                f"%{s}.t{t} = getelementptr {v.E}, ptr %xc, i64 %{s}.m{t}",
            ]
            for lane in range(v.width):
                name = f"%{s}.e{t}.{lane}" if v.width > 1 else x
                if v.width > 1:
                    lines.append(f"{name} = extractelement {v.T} {x}, i32 {lane}")
                lines.append(f"%{s}.ep{t}.{lane} = getelementptr {v.E}, ptr %{s}.t{t}, i64 {lane * self.n}")
                lines.append(f"store {v.E} {name}, ptr %{s}.ep{t}.{lane}")
        lines.append(f"store {v.T} %{s}.f{len(columns)}, ptr %sum, align 8")
        return "\n".join(f"  {line}" for line in lines)

    def diagonal(self) -> str:
        """x_ii = 1/D_i − Σ L_ij x_ji, the entries of row i being in column i by now."""
        E, zero = self.b.E, self.scalar.const(0.0)
        return f"""diagonal:
  %ip = getelementptr {E}, ptr %L, i64 %idepth
  %di = load {E}, ptr %ip
  br label %dot
dot:
  %e = phi i64 [0, %diagonal], [%enext, %dotterm]
  %x = phi {E} [%di, %diagonal], [%xnext, %dotterm]
  %emore = icmp slt i64 %e, %idepth
  br i1 %emore, label %dotterm, label %rowdone
dotterm:
  %lp = getelementptr {E}, ptr %L, i64 %e
  %le = load {E}, ptr %lp
  %rp = getelementptr i64, ptr %above, i64 %e
  %r = load i64, ptr %rp
  %xp = getelementptr {E}, ptr %xc, i64 %r
  %xe = load {E}, ptr %xp
{self.subtract_product(self.scalar, "%xnext", "%x", "%le", "%xe")}
  %enext = add i64 %e, 1
  br label %dot
rowdone:
  %xii = getelementptr {E}, ptr %xi, i64 %i
  store {E} %x, ptr %xii
  %xbad = fmul {E} %x, {zero}
  %dbadnext = fadd {E} %dbad, %xbad
  %inext = add i64 %i, 1
  br label %row"""

    def end(self) -> str:
        """Sum all flags into one."""
        b, E = self.b, self.b.E
        lines = ["done:", f"  %all = load {b.T}, ptr %sum, align 64"]
        total = "%dbad"
        for lane in range(b.width):
            x = "%all"
            if b.width > 1:
                x = f"%all{lane}"
                lines.append(f"  {x} = extractelement {b.T} %all, i32 {lane}")
            lines.append(f"  %total{lane} = fadd {E} {total}, {x}")
            total = f"%total{lane}"
        return "\n".join([*lines, f"  ret {E} {total}"])


def _zero(v: IRWriter) -> str:
    return "zeroinitializer" if v.width > 1 else v.const(0.0)


def _read(table: str, index: str, name: str) -> str:
    return f"  {name}.p = getelementptr i64, ptr @{table}, i64 {index}\n  {name} = load i64, ptr {name}.p"
