"""The loop that inverts a matrix, as LLVM IR, and the modules that have it behind their straight-line code.

With the rows of M packed as :class:`torsor.compile.rolled.Tree` says, M = Lᵀ D L is factored in place, from the last row to the
first (Featherstone 2005).  Then the rows of X = M⁻¹ follow from the first to the last: left of the diagonal x_i = −Σ L_ij x_j over
the ancestors j of i, with columns as lanes; the diagonal is x_ii = 1/D_i − Σ L_ij x_ij.  Each entry is written to both places.
"""

from __future__ import annotations

from torsor.compile.drivers import FILL, batch_driver, loop, one_driver
from torsor.compile.lanes import Builder
from torsor.compile.llvm import Emitter, header
from torsor.compile.program import Program
from torsor.compile.rolled import Rolled, Tree

#: vectors of columns that are computed together: their sums do not wait for one another
TOGETHER = 4


class RolledEmitter(Emitter):
    """The straight-line part of a rolled program, and the loop behind it; ``lanes`` are the columns of a vector in the loop."""

    def __init__(self, program: Program, rolled: Rolled, b: Builder, fma: bool, lanes: int):
        super().__init__(rolled.head, b, fma)
        self.whole, self.rolled = program, rolled
        self.loop = InverseLoop(rolled.tree, Builder(lanes, single=b.single), fma)

    def module(self) -> str:
        b, chunks = self.b, range(len(self.s.cuts) - 1)
        calls = [f"  call void @chunk{c}(ptr %lanes, ptr %scratch, ptr @table)" for c in chunks]
        sizes = [o.size for o in self.whole.outputs]
        packed = self.out_sizes[-1]
        calls += self.inversions(len(self.in_sizes) + len(sizes))
        if b.one:
            driver = one_driver(b, self.s.slots, "\n".join(calls), len(self.in_sizes) + len(sizes), packed)
        else:
            driver = batch_driver(b, self.in_sizes, sizes, self.s.slots, "\n".join(calls), packed)
        fill = loop(FILL, b) if self.fills else ""
        code = "\n".join(self.chunk(c) for c in chunks)
        head = header(b, driver.work, driver.stage, extra=self.loop.declarations(b))
        return "\n".join((head, self.trigonometry(), fill, code, self.loop.text(), driver.text))

    def inversions(self, arguments: int) -> list[str]:
        """A call of the loop for each state: its packed matrix is behind the arguments, its flag in scratch slot 0."""
        b, width = self.b, 1 if self.b.one else self.b.width
        place = (len(self.in_sizes) + self.rolled.output) * width
        lines = []
        for lane in range(width):
            lines += [
                f"  %matrixp{lane} = getelementptr ptr, ptr %lanes, i64 {arguments * width + lane}",
                f"  %matrix{lane} = load ptr, ptr %matrixp{lane}",
                f"  %inversep{lane} = getelementptr ptr, ptr %lanes, i64 {place + lane}",
                f"  %inverse{lane} = load ptr, ptr %inversep{lane}",
                f"  %flag{lane} = getelementptr {b.E}, ptr %scratch, i64 {lane}",
                f"  call void @inverse(ptr %matrix{lane}, ptr %inverse{lane}, ptr %flag{lane})",
            ]
        return lines


class InverseLoop:
    """``void @inverse(ptr H, ptr X, ptr flag)``: from the packed rows at H, which it overwrites, to the inverse at X.

    What is not finite makes the number at ``flag`` NaN.
    """

    def __init__(self, tree: Tree, b: Builder, fma: bool):
        self.tree, self.b, self.fma = tree, b, fma
        self.n, self.item = tree.size, 4 if b.single else 8
        self.scalar = Builder(1, single=b.single)

    def declarations(self, beside: Builder) -> list[str]:
        """The intrinsics that a module of another width does not have."""
        return [f"declare {x.T} @llvm.fma.{x.suffix}({x.T}, {x.T}, {x.T})" for x in (self.b, self.scalar) if self.fma]

    def tables(self) -> str:
        """@start and @depth of each packed row, where its ancestors begin in the lists (@list), and the lists themselves.

        Of each ancestor these have the start of its packed row and that of its row of X.
        """
        tree = self.tree
        start = tree.starts(self.b.width)
        depth = [len(row) for row in tree.ancestors]
        first = [sum(depth[:k]) for k in range(self.n)]
        above = [j for row in tree.ancestors for j in row]
        tables = {"start": start[:-1], "depth": depth, "list": first,
                  "above": [start[j] for j in above], "row": [j * self.n for j in above]}  # fmt: skip
        return "\n".join(_table(name, numbers) for name, numbers in tables.items())

    def text(self) -> str:
        b = self.b
        vectors = [(TOGETHER, b), (1, b)] if b.width > 1 else [(TOGETHER, b)]
        segments = [*vectors, (1, self.scalar)]
        sizes = [m * v.width for m, v in segments]
        tests, blocks = [], []
        for s, (m, v) in enumerate(segments):
            after = f"try{s + 1}" if s + 1 < len(segments) else "diagonal"
            tests.append(f"try{s}:\n  %fits{s} = icmp sge i64 %i, {sizes[s]}\n  br i1 %fits{s}, label %s{s}, label %{after}")
            blocks.append(self.segment(s, m, v))
        body = "\n".join((self.factor(), self.rows(), *tests, *blocks, self.diagonal(), self.end()))
        return f"{self.tables()}\ndefine internal void @inverse(ptr %H, ptr %X, ptr %flag) nounwind noinline {{\n{body}\n}}\n"

    def less(self, v: Builder, name: str, x: str, a: str, b: str) -> str:
        """name = x − a b."""
        if self.fma:
            lines = [f"{name}.n = fneg {v.T} {a}"]
            lines += [f"{name} = call {v.T} @llvm.fma.{v.suffix}({v.T} {name}.n, {v.T} {b}, {v.T} {x})"]
        else:
            lines = [f"{name}.p = fmul {v.T} {a}, {b}", f"{name} = fsub {v.T} {x}, {name}.p"]
        return "\n".join(f"  {line}" for line in lines)

    def splat(self, v: Builder, name: str, x: str) -> str:
        """The vector ``name`` of equal lanes x, and the word for it; x itself where there is one lane."""
        if v.width == 1:
            return f"  {name} = fadd {v.T} {x}, {v.const(-0.0)}"
        return (
            f"  {name}.0 = insertelement {v.T} poison, {v.E} {x}, i32 0\n"
            f"  {name} = shufflevector {v.T} {name}.0, {v.T} poison, <{v.width} x i32> zeroinitializer"
        )

    # -- M = Lᵀ D L --------------------------------------------------------------------------------------------

    def factor(self) -> str:
        """In place: 1/D in place of the diagonal, L in place of the rest; rows above are updated while a row is scaled."""
        b, E, A = self.b, self.b.E, self.item
        one, zero = self.scalar.const(1.0), self.scalar.const(0.0)
        return f"""entry:
  %sum = alloca {b.T}, align 64
  br label %factor
factor:
  %kafter = phi i64 [{self.n}, %entry], [%k, %scaled]
  %bad = phi {E} [{zero}, %entry], [%badnext, %scaled]
  %kmore = icmp sgt i64 %kafter, 0
  br i1 %kmore, label %pivot, label %rows
pivot:
  %k = sub i64 %kafter, 1
{_read("start", "%k", "%kstart")}
{_read("depth", "%k", "%kdepth")}
{_read("list", "%k", "%klist")}
  %h = getelementptr {E}, ptr %H, i64 %kstart
  %kabove = getelementptr i64, ptr @above, i64 %klist
  %pp = getelementptr {E}, ptr %h, i64 %kdepth
  %p = load {E}, ptr %pp
  %inv = fdiv {E} {one}, %p
  store {E} %inv, ptr %pp
  %pbad = fmul {E} %p, {zero}
  %badnext = fadd {E} %bad, %pbad
  br label %column
column:
  %dafter = phi i64 [%kdepth, %pivot], [%d, %updated]
  %dmore = icmp sgt i64 %dafter, 0
  br i1 %dmore, label %update, label %scaled
update:
  %d = sub i64 %dafter, 1
  %hp = getelementptr {E}, ptr %h, i64 %d
  %hd = load {E}, ptr %hp
  %l = fmul {E} %hd, %inv
{self.splat(b, "%lv", "%l")}
  %gp = getelementptr i64, ptr %kabove, i64 %d
  %gstart = load i64, ptr %gp
  %g = getelementptr {E}, ptr %H, i64 %gstart
  br label %axpy
axpy:
  %c = phi i64 [0, %update], [%cnext, %axpy]
  %hc = getelementptr {E}, ptr %h, i64 %c
  %gc = getelementptr {E}, ptr %g, i64 %c
  %hv = load {b.T}, ptr %hc, align {A}
  %gv = load {b.T}, ptr %gc, align {A}
{self.less(b, "%gnew", "%gv", "%lv", "%hv")}
  store {b.T} %gnew, ptr %gc, align {A}
  %cnext = add i64 %c, {b.width}
  %cmore = icmp sle i64 %cnext, %d
  br i1 %cmore, label %axpy, label %updated
updated:
  store {E} %l, ptr %hp
  br label %column
scaled:
  br label %factor"""

    # -- X = M⁻¹ -----------------------------------------------------------------------------------------------

    def rows(self) -> str:
        """The loop over rows; each goes to the widest segment of columns that fits into its part left of the diagonal."""
        E = self.b.E
        return f"""rows:
  store {self.b.T} {_zero(self.b)}, ptr %sum, align 64
  br label %row
row:
  %i = phi i64 [0, %rows], [%inext, %rowdone]
  %dbad = phi {E} [%bad, %rows], [%dbadnext, %rowdone]
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
  br label %try0"""

    def segment(self, s: int, m: int, v: Builder) -> str:
        """Columns c of row i, m vectors at a time; the last ones overlap those before, and are the same numbers again."""
        E, size = v.E, m * v.width
        sums = range(m)
        start = "\n".join(f"  %x{s}.{t} = phi {v.T} [{_zero(v)}, %s{s}], [%y{s}.{t}, %s{s}.term]" for t in sums)
        terms = "\n".join(
            f"  %q{s}.{t} = getelementptr {E}, ptr %p{s}, i64 {t * v.width}\n"
            f"  %u{s}.{t} = load {v.T}, ptr %q{s}.{t}, align {self.item}\n"
            + self.less(v, f"%y{s}.{t}", f"%x{s}.{t}", f"%l{s}", f"%u{s}.{t}")
            for t in sums
        )
        return f"""s{s}:
  %c{s} = phi i64 [0, %try{s}], [%cnext{s}, %s{s}.next]
  br label %s{s}.head
s{s}.head:
  %d{s} = phi i64 [0, %s{s}], [%dnext{s}, %s{s}.term]
{start}
  %more{s} = icmp slt i64 %d{s}, %idepth
  br i1 %more{s}, label %s{s}.term, label %s{s}.out
s{s}.term:
  %lp{s} = getelementptr {E}, ptr %L, i64 %d{s}
  %le{s} = load {E}, ptr %lp{s}
{self.splat(v, f"%l{s}", f"%le{s}")}
  %rp{s} = getelementptr i64, ptr %above, i64 %d{s}
  %r{s} = load i64, ptr %rp{s}
  %rc{s} = add i64 %r{s}, %c{s}
  %p{s} = getelementptr {E}, ptr %X, i64 %rc{s}
{terms}
  %dnext{s} = add i64 %d{s}, 1
  br label %s{s}.head
s{s}.out:
  %o{s} = getelementptr {E}, ptr %xi, i64 %c{s}
  %cn{s} = mul i64 %c{s}, {self.n}
  %t{s} = getelementptr {E}, ptr %xc, i64 %cn{s}
{self.stores(s, m, v)}
  %cend{s} = add i64 %c{s}, {size}
  %ended{s} = icmp eq i64 %cend{s}, %i
  br i1 %ended{s}, label %diagonal, label %s{s}.next
s{s}.next:
  %clast{s} = sub i64 %i, {size}
  %early{s} = icmp slt i64 %cend{s}, %clast{s}
  %cnext{s} = select i1 %early{s}, i64 %cend{s}, i64 %clast{s}
  br label %s{s}"""

    def stores(self, s: int, m: int, v: Builder) -> str:
        """Sums of row i into the row and into the column, and 0·x of them into the flag."""
        lines = [f"%f{s}.0 = load {v.T}, ptr %sum, align 8"]
        for t in range(m):
            lines.append(f"%oo{s}.{t} = getelementptr {v.E}, ptr %o{s}, i64 {t * v.width}")
            lines.append(f"store {v.T} %x{s}.{t}, ptr %oo{s}.{t}, align {self.item}")
            lines.append(f"%z{s}.{t} = fmul {v.T} %x{s}.{t}, {_zero(v)}")
            lines.append(f"%f{s}.{t + 1} = fadd {v.T} %f{s}.{t}, %z{s}.{t}")
            for lane in range(v.width):
                name = f"%e{s}.{t}.{lane}"
                if v.width > 1:
                    lines.append(f"{name} = extractelement {v.T} %x{s}.{t}, i32 {lane}")
                lines.append(f"%ep{s}.{t}.{lane} = getelementptr {v.E}, ptr %t{s}, i64 {(t * v.width + lane) * self.n}")
                lines.append(f"store {v.E} {name if v.width > 1 else f'%x{s}.{t}'}, ptr %ep{s}.{t}.{lane}")
        lines.append(f"store {v.T} %f{s}.{m}, ptr %sum, align 8")
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
{self.less(self.scalar, "%xnext", "%x", "%le", "%xe")}
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
        """All flags into one."""
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
        lines += [f"  %before = load {E}, ptr %flag", f"  %after = fadd {E} %before, {total}", f"  store {E} %after, ptr %flag"]
        return "\n".join([*lines, "  ret void"])


def _zero(v: Builder) -> str:
    return "zeroinitializer" if v.width > 1 else v.const(0.0)


def _table(name: str, numbers: list[int]) -> str:
    entries = ", ".join(f"i64 {x}" for x in numbers) or "i64 0"
    return f"@{name} = internal constant [{max(1, len(numbers))} x i64] [{entries}]"


def _read(table: str, index: str, name: str) -> str:
    return f"  {name}.p = getelementptr i64, ptr @{table}, i64 {index}\n  {name} = load i64, ptr {name}.p"


def batch_module(program: Program, rolled: Rolled, width: int, fma: bool, single: bool, lanes: int) -> str:
    """IR with the entry ``@batch``."""
    return RolledEmitter(program, rolled, Builder(width, single=single), fma, lanes).module()


def one_module(program: Program, rolled: Rolled, width: int, fma: bool, single: bool, lanes: int) -> str:
    """IR with the entry ``@one``."""
    return RolledEmitter(program, rolled, Builder(width, one=True, single=single), fma, lanes).module()
