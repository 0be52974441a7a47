"""The LLVM IR of a kernel's way in from Python: ``PyObject *call(self, args, nargs, kwnames)``, as METH_FASTCALL wants it.

It reads like the C it stands for.  Every test that fails leads to ``slow``, where the careful Python function is called with
the same arguments.
"""

from __future__ import annotations

from torsor.compile.llvm import PYTHON_API
from torsor.compile.program import Argument, Program
from torsor.compile.workspace import WORK

# PyArrayObject: refcount 0, type 8, data 16, nd 24, dimensions 32, strides 40, base 48, descr 56, flags 64
TYPE, DATA, ND, DIMENSIONS, DESCR, FLAGS = 8, 16, 24, 32, 56, 64
READABLE = 0x0001 | 0x0100  # C-contiguous and aligned
WRITEABLE = READABLE | 0x0400
TUPLE_SIZE, TUPLE_ITEMS = 16, tuple.__basicsize__

#: what the module's table holds from PYTHON_API on
TABLE = (
    "array_type", "descr", "array_new", "out", "vectorcall", "incref", "decref", "tuple_new", "tuple_set", "float_new",
    "batch", "most", "patience",
)  # fmt: skip


class _Writer:
    """Lines of IR; knows the block it is in."""

    def __init__(self) -> None:
        self.lines: list[str] = ["entry:"]
        self.block = "entry"
        self.count = 0

    def put(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %t{self.count} = {text}")
        return f"%t{self.count}"

    def do(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def label(self, name: str) -> None:
        self.block = name
        self.lines.append(f"{name}:")

    def field(self, kind: str, base: str, offset: int) -> str:
        """The field of this kind at a byte offset of an object."""
        place = self.put(f"getelementptr i8, ptr {base}, i64 {offset}")
        return self.put(f"load {kind}, ptr {place}")

    def element(self, kind: str, base: str, index: str) -> str:
        place = self.put(f"getelementptr {kind}, ptr {base}, i64 {index}")
        return self.put(f"load {kind}, ptr {place}")

    def store(self, kind: str, value: str, base: str, index: int) -> None:
        place = self.put(f"getelementptr {kind}, ptr {base}, i64 {index}")
        self.do(f"store {kind} {value}, ptr {place}")

    def require(self, condition: str) -> None:
        """Go on if the condition holds, to the careful path if not."""
        self.count += 1
        self.do(f"br i1 {condition}, label %ok{self.count}, label %slow")
        self.label(f"ok{self.count}")

    def require_equal(self, kind: str, value: str, expected: object) -> None:
        self.require(self.put(f"icmp eq {kind} {value}, {expected}"))

    def choose(self, condition: str, kind: str, yes: object, no: object) -> str:
        return self.put(f"select i1 {condition}, {kind} {yes}, {kind} {no}")


class Entry:
    """@call of one program.

    Each argument is one row or a batch of rows; all batches have one length.  A batch goes to the batch kernel, whose
    address is in the table once it has been built, unless it is so long that threads, or other Python threads, should have
    a share.  A kernel whose result is one array takes ``out=`` here too, if that overlaps no input.
    """

    def __init__(self, program: Program, single: bool):
        self.inputs, self.outputs, self.single = program.inputs, program.outputs, single
        self.item = 4 if single else 8
        self.w = w = _Writer()
        n = len(self.inputs) + len(self.outputs)
        self.lanes, self.rows = w.put(f"alloca [{n} x ptr], align 16"), w.put(f"alloca [{2 * n} x i64], align 16")
        self.shapes = [w.put(f"alloca [{len(o.shape) + 1} x i64], align 16") for o in self.outputs]
        self.numbers = [w.put("alloca double") for _ in self.outputs]
        self.api = {name: w.field("ptr", "@table", 8 * (PYTHON_API + k)) for k, name in enumerate(TABLE)}
        self.spans: list[tuple[str, str]] = []  # (address, bytes) of each input
        self.length = "-1"  # rows in the batch; −1 for one state

    def text(self) -> str:
        w = self.w
        w.require_equal("i64", "%nargs", len(self.inputs))
        out = self.keyword()
        for k, a in enumerate(self.inputs):
            self.argument(k, a)
        alone = w.put(f"icmp eq i64 {self.length}, -1")
        self.require_short(alone)
        made: list[str] = []
        for k, o in enumerate(self.outputs):
            made.append(self.result(k, o, alone, out, made))
        self.compute(alone, made)
        w.label("done")
        self.give(made)
        w.label("slow")
        answer = w.put(f"call ptr {self.api['vectorcall']}(ptr %self, ptr %args, i64 %nargs, ptr %kwnames)")
        w.do(f"ret ptr {answer}")
        body = "\n".join(w.lines)
        return f"\ndefine ptr @call(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) nounwind {{\n{body}\n}}\n"

    # -- what comes in ---------------------------------------------------------------------------------------

    def keyword(self) -> str | None:
        """The object given as ``out=``, null if none was; None where this kernel does not take it."""
        w = self.w
        plain = w.put("icmp eq ptr %kwnames, null")
        if len(self.outputs) != 1 or not self.outputs[0].shape:
            w.require(plain)
            return None
        before = w.block
        w.do(f"br i1 {plain}, label %plain, label %keyword")
        w.label("keyword")
        w.require_equal("i64", w.field("i64", "%kwnames", TUPLE_SIZE), 1)
        w.require_equal("ptr", w.field("ptr", "%kwnames", TUPLE_ITEMS), self.api["out"])
        given, here = w.field("ptr", "%args", 8 * len(self.inputs)), w.block
        w.do("br label %plain")
        w.label("plain")
        return w.put(f"phi ptr [null, %{before}], [{given}, %{here}]")

    def array(self, obj: str, flags: int) -> tuple[str, str]:
        """(rank, dimensions) of an exact array of the kernel's type with these flags."""
        w = self.w
        w.require_equal("ptr", w.field("ptr", obj, TYPE), self.api["array_type"])
        w.require_equal("ptr", w.field("ptr", obj, DESCR), self.api["descr"])
        w.require_equal("i32", w.put(f"and i32 {w.field('i32', obj, FLAGS)}, {flags}"), flags)
        return w.field("i32", obj, ND), w.field("ptr", obj, DIMENSIONS)

    def argument(self, k: int, a: Argument) -> None:
        """One input: its address and row step into the tables of both kernels, its length against the others'."""
        w, size = self.w, a.size * self.item
        obj = w.field("ptr", "%args", 8 * k)
        rank, dimensions = self.array(obj, READABLE)
        many = w.put(f"icmp eq i32 {rank}, {len(a.shape) + 1}")
        one = w.put(f"icmp eq i32 {rank}, {len(a.shape)}")
        w.require(w.put(f"or i1 {many}, {one}"))
        first = w.put(f"zext i1 {many} to i64")
        for d, extent in enumerate(a.shape):
            w.require_equal("i64", w.element("i64", dimensions, w.put(f"add i64 {first}, {d}")), extent)
        there = w.choose(many, "ptr", dimensions, self.rows)  # a row without a batch may have no dimension to read
        own = w.choose(many, "i64", w.element("i64", there, "0"), -1)
        same, new = w.put(f"icmp eq i64 {own}, {self.length}"), w.put(f"icmp eq i64 {self.length}, -1")
        w.require(w.put(f"or i1 {w.put(f'or i1 {same}, {new}')}, {one}"))
        self.length = w.choose(many, "i64", own, self.length)
        data = w.field("ptr", obj, DATA)
        self.spans.append((data, w.choose(many, "i64", w.put(f"mul i64 {own}, {size}"), size)))
        w.store("ptr", data, self.lanes, k)
        w.store("ptr", data, self.rows, 2 * k)
        w.store("i64", w.choose(many, "i64", size, 0), self.rows, 2 * k + 1)

    def require_short(self, alone: str) -> None:
        """A batch needs the batch kernel, and to be short enough to be computed here; an empty one is not (−1 unsigned).

        A state needs a kernel that works on the stack; :mod:`torsor.compile.workspace` has the others.
        With one thread alone there is nobody to share with, so that much more is short: ``most`` << patience.
        """
        w = self.w
        built = w.put(f"icmp ne ptr {self.api['batch']}, null")
        rows, patience = w.put(f"ptrtoint ptr {self.api['most']} to i64"), w.put(f"load i64, ptr {self.api['patience']}")
        most, less_one = w.put(f"shl i64 {rows}, {patience}"), w.put(f"sub i64 {self.length}, 1")
        short = w.put(f"icmp ult i64 {less_one}, {most}")
        own = w.put(f"icmp eq ptr {w.field('ptr', '@table', 8 * WORK)}, null")
        w.require(w.choose(alone, "i1", own, w.put(f"and i1 {built}, {short}")))

    # -- what goes out ---------------------------------------------------------------------------------------

    def result(self, k: int, o: Argument, alone: str, out: str | None, before: list[str]) -> str:
        """The array of output k, fresh or the caller's; "" for a lone number, which is made at the end."""
        w, place = self.w, len(self.inputs) + k
        if not o.shape:
            w.require(alone)  # a batch of lone numbers is rare enough for the careful path
            w.store("ptr", self.numbers[k], self.lanes, place)
            return ""
        for d, extent in enumerate((self.length, *o.shape)):
            w.store("i64", str(extent), self.shapes[k], d)
        rank = w.choose(alone, "i32", len(o.shape), len(o.shape) + 1)
        dims = w.put(f"getelementptr i64, ptr {self.shapes[k]}, i64 {w.put(f'zext i1 {alone} to i64')}")
        array = self.fresh(k, rank, dims, before) if out is None else self.taken(k, o, rank, dims, alone, out)
        data = w.field("ptr", array, DATA)
        w.store("ptr", data, self.lanes, place)
        w.store("ptr", data, self.rows, 2 * place)
        w.store("i64", str(o.size * self.item), self.rows, 2 * place + 1)
        return array

    def fresh(self, k: int, rank: str, dims: str, before: list[str]) -> str:
        w, api = self.w, self.api
        head = f"ptr {api['array_type']}, i32 {rank}, ptr {dims}, i32 {11 if self.single else 12}"
        array = w.put(f"call ptr {api['array_new']}({head}, ptr null, ptr null, i32 0, i32 0, ptr null)")
        failed = w.put(f"icmp eq ptr {array}, null")
        w.do(f"br i1 {failed}, label %full{k}, label %made{k}")
        w.label(f"full{k}")  # out of memory: NumPy has set the exception
        for other in filter(None, before):
            w.do(f"call void {api['decref']}(ptr {other})")
        w.do("ret ptr null")
        w.label(f"made{k}")
        return array

    def taken(self, k: int, o: Argument, rank: str, dims: str, alone: str, out: str) -> str:
        """The caller's array if there is one, of the right shape and apart from every input; else a fresh one."""
        w = self.w
        w.do(f"br i1 {w.put(f'icmp eq ptr {out}, null')}, label %none, label %some")
        w.label("some")
        their_rank, their_dims = self.array(out, WRITEABLE)
        w.require_equal("i32", their_rank, rank)
        for d in range(len(o.shape)):
            w.require_equal("i64", w.element("i64", their_dims, str(d)), w.element("i64", dims, str(d)))
        last = w.choose(alone, "i64", len(o.shape) - 1, len(o.shape))
        w.require_equal("i64", w.element("i64", their_dims, last), w.element("i64", dims, last))
        count = w.choose(alone, "i64", 1, self.length)
        start = w.put(f"ptrtoint ptr {w.field('ptr', out, DATA)} to i64")
        end = w.put(f"add i64 {start}, {w.put(f'mul i64 {count}, {o.size * self.item}')}")
        for data, size in self.spans:
            first = w.put(f"ptrtoint ptr {data} to i64")
            past = w.put(f"add i64 {first}, {size}")
            after, before = w.put(f"icmp uge i64 {start}, {past}"), w.put(f"icmp uge i64 {first}, {end}")
            w.require(w.put(f"or i1 {after}, {before}"))
        w.do(f"call void {self.api['incref']}(ptr {out})")
        here = w.block
        w.do("br label %have")
        w.label("none")
        array = self.fresh(k, rank, dims, [])
        there = w.block
        w.do("br label %have")
        w.label("have")
        return w.put(f"phi ptr [{out}, %{here}], [{array}, %{there}]")

    def compute(self, alone: str, made: list[str]) -> None:
        """Run the kernel; a result that is not finite is dropped, and the careful path finds out why."""
        w = self.w
        w.do(f"br i1 {alone}, label %single, label %many")
        w.label("single")
        bad = w.put(f"call i1 @one(ptr {self.lanes}, ptr null)")
        w.do(f"br i1 {bad}, label %drop, label %done")
        w.label("many")
        row = w.put(f"call i64 {self.api['batch']}(ptr {self.rows}, i64 0, i64 {self.length}, ptr null, ptr null)")
        w.do(f"br i1 {w.put(f'icmp sge i64 {row}, 0')}, label %drop, label %done")
        w.label("drop")
        for array in filter(None, made):
            w.do(f"call void {self.api['decref']}(ptr {array})")
        w.do("br label %slow")

    def give(self, made: list[str]) -> None:
        """Return the result, or a tuple of them."""
        w = self.w
        for k, array in enumerate(made):
            if not array:
                value = w.put(f"load {'float' if self.single else 'double'}, ptr {self.numbers[k]}")
                value = w.put(f"fpext float {value} to double") if self.single else value
                made[k] = w.put(f"call ptr {self.api['float_new']}(double {value})")
        answer = made[0]
        if len(made) > 1:
            answer = w.put(f"call ptr {self.api['tuple_new']}(i64 {len(made)})")
            for k, array in enumerate(made):
                w.put(f"call i32 {self.api['tuple_set']}(ptr {answer}, i64 {k}, ptr {array})")
        w.do(f"ret ptr {answer}")


def entry_ir(program: Program, single: bool) -> str:
    """The text of ``@call``, to be appended to a module that has ``@one``."""
    return Entry(program, single).text()
