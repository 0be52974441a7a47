"""The LLVM IR of the one function behind every built-in: ``PyObject *call(self, args, nargs, kwnames)``, for METH_FASTCALL.

It reads like equivalent C code, and is the same for all kernels: shapes, names and addresses are read from the structures of
:mod:`torsor.compile.layout`.  Every test that fails leads to a careful Python function, with the same arguments.
"""

from __future__ import annotations

import ctypes

from torsor.compile import layout
from torsor.compile.layout import FRAMES, MAX_CONVERTED, ArgumentInfo, EntryInfo, KernelInfo, SignatureInfo
from torsor.compile.llvm import entry_helpers
from torsor.compile.llvm.emit import PYTHON_API
from torsor.compile.llvm.entry_helpers import ARGUMENT, TABLE, bit_of, items_of, number_at, size_of
from torsor.compile.llvm.spare_arrays import new_array, result_function
from torsor.compile.llvm.writer import Writer


def entry_module() -> str:
    """IR with the entry ``@call``."""
    head = f"@table = global [{PYTHON_API + len(TABLE)} x ptr] zeroinitializer\ndeclare i64 @llvm.abs.i64(i64, i1)\n"
    return f"{head}{entry_helpers.helpers()}\n{result_function()}\n{_Call().text()}"


class _Call:
    """``@call``: find the kernel, read the inputs, provide the outputs, compute, return.

    Each argument is one row or a batch of rows; all batches have one length.  A batch goes to the batch kernel unless it is so
    long that threads, or other Python threads, should have a share.
    """

    def __init__(self) -> None:
        self.w = w = Writer("ptr @call(ptr %self, ptr %args, i64 %nargs, ptr %kwnames)", refusal="slow")
        n = layout.MAX_ARGUMENTS
        self.given = w.put(f"alloca [{n + 1 + FRAMES} x ptr], align 16")
        self.values = w.put(f"alloca [{n + FRAMES} x ptr], align 16")
        self.lanes = w.put(f"alloca [{n} x ptr], align 16")
        self.rows = w.put(f"alloca [{2 * n} x i64], align 16")
        self.made = w.put(f"alloca [{n} x ptr], align 16")
        self.numbers = w.put(f"alloca [{n} x double], align 16")
        self.room = w.put(f"alloca [{MAX_CONVERTED} x double], align 16")
        self.shape = w.put(f"alloca [{n + 1} x i64], align 16")  # of a batch; NumPy has at most 64 axes
        self.own = w.put("alloca ptr")  # an array of one object: the caller's ``out``
        self.entry = w.field("ptr", "%self", layout.STRUCTURE)

    def text(self) -> str:
        self.find_kernel()
        self.read_inputs()
        self.require_code()
        self.provide_outputs()
        self.compute()
        self.give_results()
        self.fall_back()
        self.relay()
        return self.w.text()

    def get(self, structure: type[ctypes.Structure], base: str, name: str) -> str:
        return entry_helpers.field_of(self.w, structure, base, name)

    def table_address(self, name: str) -> str:
        return entry_helpers.table_address(self.w, name)

    def find_kernel(self) -> None:
        """The kernel to run, the array of its arguments, and ``out`` (null if it is not given)."""
        w = self.w
        direct, inputs = self.get(EntryInfo, self.entry, "kernel"), self.get(EntryInfo, self.entry, "inputs")
        exact = w.put(f"and i1 {w.compare('eq', 'i64', '%nargs', inputs)}, {w.compare('ne', 'ptr', direct, 'null')}")
        w.branch(exact, "inputs", "arrange")
        w.label("inputs")  # the inputs by position
        simple = w.branch(w.compare("eq", "ptr", "%kwnames", "null"), "run", "keyword")
        w.label("keyword")  # and perhaps ``out``, the commonest keyword
        name = w.field("ptr", "%kwnames", layout.TUPLE_ITEMS)
        only = w.compare("eq", "i64", w.field("i64", "%kwnames", layout.SIZE), 1)
        signature = self.get(EntryInfo, self.entry, "signature")
        names, count = self.get(SignatureInfo, signature, "names"), self.get(SignatureInfo, signature, "count")
        wanted = w.put(f"and i1 {only}, {w.compare('eq', 'ptr', name, w.element('ptr', names, count))}")
        memory = w.element("ptr", "%args", inputs)
        taken = w.put(f"and i1 {wanted}, {w.compare('ne', 'ptr', memory, self.table_address('none'))}")
        into = w.branch(taken, "run", "arrange")
        w.label("arrange")
        found, out = self.arrange(inputs)
        arranged = w.jump("run")
        w.refusal = "relay"
        w.label("run")
        self.kernel = w.merge("ptr", (direct, simple), (direct, into), (found, arranged))
        self.objects = w.merge("ptr", ("%args", simple), ("%args", into), (self.given, arranged))
        self.out = w.merge("ptr", ("null", simple), (memory, into), (out, arranged))
        self.inputs = self.get(KernelInfo, self.kernel, "inputs")

    def arrange(self, inputs: str) -> tuple[str, str]:
        """The arguments of any other call in the order of the inputs: the kernel that its words choose, and ``out``."""
        w = self.w
        signature = self.get(EntryInfo, self.entry, "signature")
        w.require(w.put(f"call i1 @gather(ptr {signature}, ptr %args, i64 %nargs, ptr %kwnames, ptr {self.given})"))
        count, frames = self.get(SignatureInfo, signature, "count"), self.get(SignatureInfo, signature, "frames")
        given = w.element("ptr", self.given, count)
        out = w.choose(w.compare("eq", "ptr", given, self.table_address("none")), "ptr", "null", given)
        more = w.put(f"call i64 @unpack(ptr {signature}, ptr {self.given}, ptr {self.values})")
        w.require(w.compare("sge", "i64", more, 0))
        keys = w.choose(w.compare("eq", "i64", frames, -1), "i64", 0, FRAMES)  # follow the words, in place of ``out``
        length = w.add(w.put(f"sub i64 {count}, {inputs}"), keys)
        place = w.put(f"call ptr @match(ptr {self.entry}, ptr {w.address('ptr', self.given, inputs)}, i64 {length})")
        w.branch(w.compare("eq", "ptr", place, "null"), "unrouted", "routed")
        w.label("routed")
        found = w.put(f"load ptr, ptr {place}")
        w.require(w.compare("ne", "ptr", found, "null"))
        with w.each(more) as loop:  # optional arrays and the values of the dict are inputs, in place of the words
            w.store("ptr", w.element("ptr", self.values, loop.k), self.given, w.add(inputs, loop.k))
        self.signature, self.fixed, self.count = signature, inputs, count
        return found, out

    # -- arguments --------------------------------------------------------------------------------------------

    def read_inputs(self) -> None:
        """The address of each input, which of them are batches (bits), and the length of the batch, −1 for one state."""
        w = self.w
        self.arguments, self.item = self.get(KernelInfo, self.kernel, "arguments"), self.get(KernelInfo, self.kernel, "item")
        descr, place, bound = (self.get(KernelInfo, self.kernel, name) for name in ("descr", "place", "bound"))
        array_type = self.table_address("array_type")
        with w.each(self.inputs, length=("i64", "-1"), used=("i64", "0"), batches=("i64", "0")) as loop:
            length, used, batches = loop.now["length"], loop.now["used"], loop.now["batches"]
            own = w.add(loop.k, w.put(f"sext i1 {w.compare('sgt', 'i64', loop.k, place)} to i64"))  # after the bound one, k − 1
            obj = w.choose(w.compare("eq", "i64", loop.k, place), "ptr", bound, w.element("ptr", self.objects, own))
            argument = w.address("i8", self.arguments, w.put(f"mul i64 {loop.k}, {ARGUMENT}"))
            w.branch(w.compare("eq", "ptr", w.field("ptr", obj, layout.TYPE), array_type), "array", "convert")
            w.label("array")
            same = w.compare("eq", "ptr", w.field("ptr", obj, layout.DESCR), descr)
            flags = w.put(f"and i32 {w.field('i32', obj, layout.FLAGS)}, {layout.READABLE}")
            w.branch(w.put(f"and i1 {same}, {w.compare('eq', 'i32', flags, layout.READABLE)}"), "exact", "other_array")
            w.label("other_array")  # a copy is compared with no ``out``, which would overwrite what another path reads again
            w.require(w.compare("eq", "ptr", self.out, "null"))
            w.jump("convert")

            w.label("exact")
            rank, shape = self.get(ArgumentInfo, argument, "rank"), self.get(ArgumentInfo, argument, "shape")
            dimensions = w.field("ptr", obj, layout.DIMENSIONS)
            axes = w.put(f"sext i32 {w.field('i32', obj, layout.ND)} to i64")
            lead = w.put(f"sub i64 {axes}, {rank}")
            w.require(w.compare("ult", "i64", lead, 2))
            inner = w.address("i64", dimensions, lead)
            with w.each(rank) as axis:
                w.require_equal("i64", w.element("i64", inner, axis.k), w.element("i64", shape, axis.k))
            one = w.compare("eq", "i64", lead, 0)
            first = w.choose(one, "ptr", shape, dimensions)  # one number has no dimension to read
            rows = w.choose(one, "i64", -1, w.field("i64", first, 0))
            data, exact = w.field("ptr", obj, layout.DATA), w.jump("input")

            w.label("convert")
            w.require_equal("i64", self.item, 8)
            room, left = w.address("double", self.room, used), w.put(f"sub i64 {MAX_CONVERTED}, {used}")
            copied = w.put(f"call i64 @convert(ptr {argument}, ptr {obj}, ptr {room}, i64 {left})")
            w.require(w.compare("ne", "i64", copied, -2))
            numbers = w.put(f"mul i64 {size_of(w, argument)}, {w.put(f'call i64 @llvm.abs.i64(i64 {copied}, i1 0)')}")
            end, converted = w.add(used, numbers), w.jump("input")

            w.label("input")
            address, own = w.merge("ptr", (data, exact), (room, converted)), w.merge("i64", (rows, exact), (copied, converted))
            loop.then["used"] = w.merge("i64", (used, exact), (end, converted))
            many = w.compare("ne", "i64", own, -1)
            longer = w.choose(many, "i64", own, length)
            w.require(w.put(f"or i1 {w.compare('eq', 'i64', longer, length)}, {w.compare('eq', 'i64', length, -1)}"))
            loop.then["length"] = longer
            bit = w.put(f"shl i64 {w.put(f'zext i1 {many} to i64')}, {loop.k}")
            loop.then["batches"] = w.put(f"or i64 {batches}, {bit}")
            w.store("ptr", address, self.lanes, loop.k)
        self.length, self.batches = loop.now["length"], loop.now["batches"]
        self.alone = w.compare("eq", "i64", self.length, -1)

    def require_code(self) -> None:
        """The compiled form for this call, which must be there.

        A batch must be short enough to be computed here: an empty one is not (−1 unsigned).  While torsor uses one thread there
        are no other threads to share with, so the limit is higher: ``most`` << patience.  Results must fit the caches, because
        there is no memory here to write them past.  Guards are for one state.
        """
        w = self.w
        self.one, self.batch = self.get(KernelInfo, self.kernel, "one"), self.get(KernelInfo, self.kernel, "batch")
        self.guards = self.get(EntryInfo, self.entry, "guards")
        patience = w.put(f"load i64, ptr {self.table_address('patience')}")
        most = w.put(f"shl i64 {self.get(KernelInfo, self.kernel, 'most')}, {patience}")
        less_one = w.put(f"sub i64 {self.length}, 1")
        cached = w.compare("ule", "i64", self.length, self.get(KernelInfo, self.kernel, "cached"))
        short = w.put(f"and i1 {w.compare('ult', 'i64', less_one, most)}, {w.compare('eq', 'i64', self.guards, 0)}")
        w.require(w.put(f"or i1 {self.alone}, {w.put(f'and i1 {short}, {cached}')}"))
        w.require(w.compare("ne", "ptr", w.choose(self.alone, "ptr", self.one, self.batch), "null"))

    # -- results ----------------------------------------------------------------------------------------------

    def provide_outputs(self) -> None:
        """Memory for each output: the caller's, a new array, or a number on the stack."""
        w = self.w
        self.outputs = self.get(KernelInfo, self.kernel, "outputs")
        self.returned = w.put(f"sub i64 {self.outputs}, {self.guards}")
        w.branch(w.compare("eq", "ptr", self.out, "null"), "new", "given")
        w.label("given")
        self.take_outputs()
        w.jump("guarded")
        w.label("new")
        self.make_outputs()
        w.jump("guarded")
        w.label("guarded")
        with w.each(self.outputs, first=self.returned) as loop:
            w.store("ptr", w.address("double", self.numbers, loop.k), self.lanes, w.add(self.inputs, loop.k))

    def argument(self, output: str) -> str:
        return self.w.address("i8", self.arguments, self.w.put(f"mul i64 {self.w.add(self.inputs, output)}, {ARGUMENT}"))

    def take_outputs(self) -> None:
        """The caller's arrays: ``out`` itself, or its items where it is a tuple or list of several."""
        w = self.w
        single = w.branch(w.compare("eq", "i64", self.returned, 1), "itself", "several")
        w.label("several")
        place = items_of(w, self.out, self.returned)
        several = w.jump("items")
        w.label("itself")
        w.do(f"store ptr {self.out}, ptr {self.own}")
        single = w.jump("items")
        w.label("items")
        items = w.merge("ptr", (place, several), (self.own, single))
        with w.each(self.returned) as loop:
            obj, argument, place = w.element("ptr", items, loop.k), self.argument(loop.k), w.add(self.inputs, loop.k)
            others = f"ptr {self.lanes}, i64 {self.row_bits()}, i64 {place}"
            w.require(w.put(f"call i1 @fits(ptr {self.kernel}, ptr {argument}, ptr {obj}, i64 {self.length}, {others})"))
            w.store("ptr", w.field("ptr", obj, layout.DATA), self.lanes, place)

    def row_bits(self) -> str:
        """Bit k is 1 where argument k is a batch, if there is a batch at all: then every output is one."""
        return self.w.put(f"or i64 {self.batches}, {self.w.put(f'shl i64 -1, {self.inputs}')}")

    def make_outputs(self) -> None:
        """New arrays; one number alone is written to the stack, and becomes a Python float at the end."""
        w = self.w
        descr, lead = self.get(KernelInfo, self.kernel, "descr"), w.choose(self.alone, "i64", 0, 1)
        with w.each(self.returned) as loop:
            argument = self.argument(loop.k)
            rank, shape = self.get(ArgumentInfo, argument, "rank"), self.get(ArgumentInfo, argument, "shape")
            axes = w.add(rank, lead)
            w.branch(w.compare("eq", "i64", axes, 0), "number", "vector")
            w.label("number")
            spot, number = w.address("double", self.numbers, loop.k), w.jump("provided")
            w.label("vector")
            w.branch(self.alone, "state_alone", "batch")
            w.label("state_alone")
            small, one = w.put(f"call ptr @result(ptr {argument}, ptr {descr}, i64 {self.item})"), w.jump("tried")
            w.label("batch")
            w.store("i64", self.length, self.shape, "0")
            with w.each(rank) as axis:
                w.store("i64", w.element("i64", shape, axis.k), self.shape, w.add(axis.k, 1))
            large, many = new_array(w, descr, axes, self.shape), w.jump("tried")
            w.label("tried")
            array = w.merge("ptr", (small, one), (large, many))
            w.branch(w.compare("eq", "ptr", array, "null"), "full", "array_made")
            w.label("array_made")
            data, vector = w.field("ptr", array, layout.DATA), w.jump("provided")
            w.label("provided")
            made = w.merge("ptr", ("null", number), (array, vector))
            address = w.merge("ptr", (spot, number), (data, vector))
            w.store("ptr", made, self.made, loop.k)
            w.store("ptr", address, self.lanes, w.add(self.inputs, loop.k))
        self.made_before = loop.k

    def compute(self) -> None:
        """Run the kernel.  A non-finite result is dropped, as is one beyond a guard: the careful path finds the cause."""
        w = self.w
        w.branch(self.alone, "state", "states")
        w.label("state")
        bad = w.put(f"call i1 {self.one}(ptr {self.lanes}, ptr {self.get(KernelInfo, self.kernel, 'work')})")
        w.branch(bad, "drop", "finite")
        w.label("states")
        bits = self.row_bits()
        with w.each(w.add(self.inputs, self.outputs)) as loop:
            argument = w.address("i8", self.arguments, w.put(f"mul i64 {loop.k}, {ARGUMENT}"))
            step = w.choose(bit_of(w, bits, loop.k), "i64", w.put(f"mul i64 {size_of(w, argument)}, {self.item}"), 0)
            twice = w.put(f"shl i64 {loop.k}, 1")
            w.store("ptr", w.element("ptr", self.lanes, loop.k), self.rows, twice)
            w.store("i64", step, self.rows, w.add(twice, 1))
        work = self.get(KernelInfo, self.kernel, "work")
        row = w.put(f"call i64 {self.batch}(ptr {self.rows}, i64 0, i64 {self.length}, ptr {work}, ptr null)")
        w.branch(w.compare("sge", "i64", row, 0), "drop", "finite")
        w.label("finite")
        limits = self.get(EntryInfo, self.entry, "limits")
        with w.each(self.guards) as loop:
            value = number_at(w, w.address("double", self.numbers, w.add(self.returned, loop.k)), self.item)
            below = w.put(f"fcmp olt double {value}, {w.element('double', limits, loop.k)}")
            w.branch(below, "within", "drop")
            w.label("within")

    def give_results(self) -> None:
        """Return ``out``, or its arrays in a NamedTuple, the one result, or all of them in a tuple."""
        w = self.w
        kind = self.get(EntryInfo, self.entry, "result")
        plain = w.compare("eq", "ptr", kind, "null")
        w.branch(w.compare("eq", "ptr", self.out, "null"), "results", "return_out")
        w.label("return_out")
        w.branch(plain, "out_itself", "out_named")
        w.label("out_itself")
        w.do(f"call void {self.table_address('incref')}(ptr {self.out})")
        w.do(f"ret ptr {self.out}")
        w.label("out_named")
        entry_helpers.hold(w, items_of(w, self.out, self.returned), self.returned, self.made)
        w.jump("named_tuple")
        w.label("results")
        first = w.element("ptr", self.made, "0")
        itself = w.put(f"and i1 {plain}, {w.compare('eq', 'i64', self.returned, 1)}")
        w.branch(w.put(f"and i1 {itself}, {w.compare('ne', 'ptr', first, 'null')}"), "one_array", "objects")
        w.label("one_array")
        w.do(f"ret ptr {first}")
        w.label("objects")
        with w.each(self.returned) as loop:
            w.branch(w.compare("eq", "ptr", w.element("ptr", self.made, loop.k), "null"), "lone", "made")
            w.label("lone")
            value = number_at(w, w.address("double", self.numbers, loop.k), self.item)
            number = w.put(f"call ptr {self.table_address('float_new')}(double {value})")
            w.store("ptr", number, self.made, loop.k)
            w.branch(w.compare("eq", "ptr", number, "null"), "no_memory", "made")
            w.label("made")
        w.branch(itself, "one_number", "many_results")
        w.label("one_number")
        w.do(f"ret ptr {w.element('ptr', self.made, '0')}")
        w.label("many_results")
        w.branch(plain, "tuple", "named_tuple")
        w.label("tuple")
        made, plainly = w.put(f"call ptr {self.table_address('tuple_new')}(i64 {self.returned})"), w.jump("filled")
        w.label("named_tuple")
        other, named = w.put(f"call ptr {self.table_address('alloc')}(ptr {kind}, i64 {self.returned})"), w.jump("filled")
        w.label("filled")
        answer = w.merge("ptr", (made, plainly), (other, named))
        w.branch(w.compare("eq", "ptr", answer, "null"), "no_memory", "fill")
        w.label("fill")
        if layout.TUPLE_ITEMS > layout.TUPLE_HASH:  # −1: not computed yet; the memory of a named tuple is 0, a valid hash
            w.do(f"store i64 -1, ptr {w.address('i8', answer, str(layout.TUPLE_HASH))}")
        with w.each(self.returned) as loop:
            made = w.element("ptr", self.made, loop.k)
            w.put(f"call i32 {self.table_address('tuple_set')}(ptr {answer}, i64 {loop.k}, ptr {made})")
        w.do(f"ret ptr {answer}")

    # -- other ways ------------------------------------------------------------------------------------------

    def fall_back(self) -> None:
        w = self.w
        w.label("full")  # out of memory: the exception is set
        w.do(f"call void @release(ptr {self.made}, i64 {self.made_before})")
        w.do("ret ptr null")
        w.label("no_memory")
        w.do(f"call void @release(ptr {self.made}, i64 {self.returned})")
        w.do("ret ptr null")
        w.label("drop")
        with w.when(w.compare("eq", "ptr", self.out, "null")):
            w.do(f"call void @release(ptr {self.made}, i64 {self.returned})")
        w.jump("relay")
        w.refusal = "slow"
        w.label("unrouted")  # no kernel selected yet by the words: the entry searches for one, unless other arguments are given
        fallbacks = self.get(SignatureInfo, self.signature, "fallbacks")
        choosing = self.get(SignatureInfo, self.signature, "choosing")
        with w.each(self.count, first=self.fixed) as loop:
            given, default = w.element("ptr", self.given, loop.k), w.element("ptr", fallbacks, loop.k)
            w.require(w.put(f"or i1 {bit_of(w, choosing, loop.k)}, {w.compare('eq', 'ptr', given, default)}"))
        w.do(f"ret ptr {self.call_python('%self')}")
        w.label("slow")
        careful = self.get(EntryInfo, self.entry, "careful")
        w.branch(w.compare("eq", "ptr", careful, "null"), "decline", "careful")
        w.label("careful")
        w.do(f"ret ptr {self.call_python(careful)}")
        w.label("decline")
        w.do(f"call void {self.table_address('incref')}(ptr {self.table_address('declined')})")
        w.do(f"ret ptr {self.table_address('declined')}")

    def relay(self) -> None:
        """A kernel was found, but its arguments need care: a method leaves them to the kernel, others to their own function."""
        w = self.w
        w.label("relay")
        w.branch(w.compare("eq", "i64", self.get(EntryInfo, self.entry, "relays"), 0), "slow", "kernel")
        w.label("kernel")
        careful, count = (self.get(KernelInfo, self.kernel, name) for name in ("careful", "given"))
        w.do(f"call void {self.table_address('incref')}(ptr {careful})")  # another thread may replace the route meanwhile
        w.branch(w.compare("eq", "ptr", self.objects, self.given), "arranged", "as_given")
        w.label("as_given")
        plain, here = self.call_python(careful), w.jump("answered")
        w.label("arranged")  # ``out`` comes after the inputs, in place of the words
        w.store("ptr", self.out, self.given, count)
        keyword = w.choose(w.compare("ne", "ptr", self.out, "null"), "ptr", self.table_address("only_out"), "null")
        other, there = self.call_python(careful, self.given, count, keyword), w.jump("answered")
        w.label("answered")
        answer = w.merge("ptr", (plain, here), (other, there))
        w.do(f"call void {self.table_address('decref')}(ptr {careful})")
        w.do(f"ret ptr {answer}")

    def call_python(self, function: str, args: str = "%args", nargs: str = "%nargs", kwnames: str = "%kwnames") -> str:
        """The result of a Python callable for these arguments."""
        return self.w.put(
            f"call ptr {self.table_address('vectorcall')}(ptr {function}, ptr {args}, i64 {nargs}, ptr {kwnames})"
        )
