"""Functions of LLVM IR with which the entry of kernels (:mod:`torsor.compile.llvm.entry_ir`) finds and converts arguments."""

from __future__ import annotations

import ctypes

from torsor.compile import layout
from torsor.compile.layout import FRAMES, MAX_CONVERTED, ArgumentInfo, EntryInfo, KernelInfo, SignatureInfo
from torsor.compile.llvm.emit import PYTHON_API
from torsor.compile.llvm.writer import Writer

#: entries of the module's table from PYTHON_API on
TABLE = (
    "array_type", "float_type", "float64_type", "int_type", "list_type", "tuple_type", "dict_type", "single", "double", "whole",
    "none", "present", "declined", "only_out", "patience", "array_new", "vectorcall", "incref", "decref", "tuple_new",
    "tuple_set", "float_new", "alloc", "int_value", "dict_size", "dict_next",
)  # fmt: skip
#: bytes of an ArgumentInfo
ARGUMENT = ctypes.sizeof(ArgumentInfo)


def table_address(w: Writer, name: str) -> str:
    """An address from the module's table."""
    return w.field("ptr", "@table", 8 * (PYTHON_API + TABLE.index(name)))


def field_of(w: Writer, structure: type[ctypes.Structure], base: str, name: str) -> str:
    """A field of one of the structures, by its name."""
    field = {row[0]: row[1] for row in structure._fields_}[name]
    return w.field("ptr" if field is ctypes.c_void_p else "i64", base, getattr(structure, name).offset)


def size_of(w: Writer, argument: str) -> str:
    """Numbers of one row of an argument."""
    return field_of(w, ArgumentInfo, argument, "size")


def bit_of(w: Writer, bits: str, k: str) -> str:
    return w.put(f"trunc i64 {w.put(f'lshr i64 {bits}, {k}')} to i1")


def number_at(w: Writer, place: str, item: str) -> str:
    """A number that a kernel wrote in its own precision, of ``item`` bytes, as a double."""
    single = w.put(f"fpext float {w.put(f'load float, ptr {place}')} to double")
    return w.choose(w.compare("eq", "i64", item, 4), "double", single, w.put(f"load double, ptr {place}"))


# -- arguments -------------------------------------------------------------------------------------------------------


def _gather() -> str:
    """Every parameter in its place at ``given``: by position, by name or by default; then ``out``.  False if one is missing."""
    w = Writer("internal i1 @gather(ptr %signature, ptr %args, i64 %nargs, ptr %kwnames, ptr %given)")
    count, names = field_of(w, SignatureInfo, "%signature", "count"), field_of(w, SignatureInfo, "%signature", "names")
    fallbacks, all_names = field_of(w, SignatureInfo, "%signature", "fallbacks"), w.add(count, 1)
    w.require(w.compare("sle", "i64", "%nargs", field_of(w, SignatureInfo, "%signature", "positional")))
    with w.each("%nargs") as loop:
        w.store("ptr", w.element("ptr", "%args", loop.k), "%given", loop.k)
    with w.each(all_names, first="%nargs") as loop:
        w.store("ptr", w.element("ptr", fallbacks, loop.k), "%given", loop.k)
    before = w.branch(w.compare("eq", "ptr", "%kwnames", "null"), "named", "keywords")
    w.label("keywords")
    keywords = w.field("i64", "%kwnames", layout.SIZE)
    here = w.jump("named")
    w.label("named")
    with w.each(w.merge("i64", ("0", before), (keywords, here))) as keyword:
        name = w.element("ptr", w.address("i8", "%kwnames", str(layout.TUPLE_ITEMS)), keyword.k)
        with w.each(all_names, first="%nargs", place=("i64", "-1")) as loop:
            same = w.compare("eq", "ptr", w.element("ptr", names, loop.k), name)
            loop.then["place"] = w.choose(same, "i64", loop.k, loop.now["place"])
        place = loop.now["place"]
        w.require(w.compare("sge", "i64", place, 0))  # an unknown name, one given by position too, or not an interned string
        w.store("ptr", w.element("ptr", "%args", w.add("%nargs", keyword.k)), "%given", place)
    with w.each(count, first="%nargs") as loop:
        w.require(w.compare("ne", "ptr", w.element("ptr", "%given", loop.k), "null"))
    return _yes_or_no(w)


def _yes_or_no(w: Writer) -> str:
    """True at the end of the function, false where a requirement failed."""
    w.do("ret i1 true")
    w.label(w.refusal)
    return w.end("i1 false")


def _unpack() -> str:
    """The number of further inputs, which go to ``values``, or −1 on failure: optional arrays, then those of the dict by frame.

    The keys of the dict go behind the other arguments, and null in its place, as in a route.  A list or tuple of names has keys
    only, and PRESENT in its place; so has an optional array.
    """
    w = Writer("internal i64 @unpack(ptr %signature, ptr %given, ptr %values)")
    position, key, value = (w.put("alloca i64") for _ in range(3))
    none, present = table_address(w, "none"), table_address(w, "present")
    optional, count = (field_of(w, SignatureInfo, "%signature", name) for name in ("optional", "count"))
    some = w.choose(w.compare("eq", "i64", optional, 0), "i64", 0, count)
    with w.each(some, first=field_of(w, SignatureInfo, "%signature", "inputs"), found=("i64", "0")) as loop:
        found, obj = loop.now["found"], w.element("ptr", "%given", loop.k)
        there = w.put(f"and i1 {bit_of(w, optional, loop.k)}, {w.compare('ne', 'ptr', obj, none)}")
        w.store("ptr", obj, "%values", found)  # the next one is written over it if it is not there
        w.store("ptr", w.choose(there, "ptr", present, obj), "%given", loop.k)
        loop.then["found"] = w.add(found, w.put(f"zext i1 {there} to i64"))
    extra, frames = loop.now["found"], field_of(w, SignatureInfo, "%signature", "frames")
    w.branch(w.compare("eq", "i64", frames, -1), "absent", "frames")
    w.label("frames")
    place, keys, values = (w.address("ptr", *x) for x in (("%given", frames), ("%given", count), ("%values", extra)))
    with w.each(str(FRAMES)) as loop:
        w.store("ptr", "null", keys, loop.k)
    obj = w.put(f"load ptr, ptr {place}")
    w.branch(w.compare("eq", "ptr", obj, none), "absent", "there")
    w.label("absent")
    w.do(f"ret i64 {extra}")
    w.label("there")
    w.branch(_is(w, w.field("ptr", obj, layout.TYPE), "dict_type"), "dict", "names")
    w.label("names")
    length = w.field("i64", obj, layout.SIZE)
    items = items_of(w, obj, length)
    w.require(w.compare("ult", "i64", w.put(f"sub i64 {length}, 1"), FRAMES))
    with w.each(length) as loop:
        w.store("ptr", w.element("ptr", items, loop.k), keys, loop.k)
    w.do(f"store ptr {present}, ptr {place}")
    w.do(f"ret i64 {extra}")
    w.label("dict")
    size = w.put(f"call i64 {table_address(w, 'dict_size')}(ptr {obj})")
    w.require(w.compare("ult", "i64", w.put(f"sub i64 {size}, 1"), FRAMES))
    w.do(f"store i64 0, ptr {position}")
    with w.each(size) as loop:
        w.put(f"call i32 {table_address(w, 'dict_next')}(ptr {obj}, ptr {position}, ptr {key}, ptr {value})")
        w.store("ptr", w.put(f"load ptr, ptr {key}"), keys, loop.k)
        w.store("ptr", w.put(f"load ptr, ptr {value}"), values, loop.k)
    w.do(f"store ptr null, ptr {place}")
    w.do(f"ret i64 {w.add(extra, size)}")
    w.label(w.refusal)
    return w.end("i64 -1")


def _match() -> str:
    """The place of the kernel in the route whose words are those given, compared by identity; null if there is none."""
    w = Writer("internal ptr @match(ptr %function, ptr %words, i64 %count)")
    routes, length = field_of(w, EntryInfo, "%function", "routes"), w.add("%count", 1)
    with w.each(field_of(w, EntryInfo, "%function", "count")) as route:
        row = w.address("ptr", routes, w.put(f"mul i64 {route.k}, {length}"))
        with w.each("%count", same=("i1", "true")) as loop:
            equal = w.compare("eq", "ptr", w.element("ptr", row, loop.k), w.element("ptr", "%words", loop.k))
            loop.then["same"] = w.put(f"and i1 {loop.now['same']}, {equal}")
        w.branch(loop.now["same"], "found", "other")
        w.label("other")
    w.do("ret ptr null")
    w.label("found")
    return w.end(f"ptr {w.address('ptr', row, '%count')}")


# -- conversions -----------------------------------------------------------------------------------------------------


def _number() -> str:
    """A Python float, a numpy.float64, or an int of at most 64 bits, written to ``at`` as a double."""
    w = Writer("internal i1 @number(ptr %object, ptr %at)")
    kind, overflow = w.field("ptr", "%object", layout.TYPE), w.put("alloca i32")
    real = [w.compare("eq", "ptr", kind, table_address(w, name)) for name in ("float_type", "float64_type")]
    w.branch(w.put(f"or i1 {real[0]}, {real[1]}"), "float", "other")
    w.label("float")
    w.do(f"store double {w.field('double', '%object', layout.NUMBER)}, ptr %at")
    w.do("ret i1 true")
    w.label("other")
    w.require_equal("ptr", kind, table_address(w, "int_type"))
    whole = w.put(f"call i64 {table_address(w, 'int_value')}(ptr %object, ptr {overflow})")
    w.require_equal("i32", w.put(f"load i32, ptr {overflow}"), 0)
    w.do(f"store double {w.put(f'sitofp i64 {whole} to double')}, ptr %at")
    return _yes_or_no(w)


def _convert() -> str:
    """Numbers, lists of them and arrays of other strides or types, as doubles at ``at``, which has space for ``room`` numbers.

    The result is the length of a batch, −1 for one state, −2 for an object that cannot be converted here.
    """
    w = Writer("internal i64 @convert(ptr %argument, ptr %object, ptr %at, i64 %room)")
    rank, size = field_of(w, ArgumentInfo, "%argument", "rank"), size_of(w, "%argument")
    kind = w.field("ptr", "%object", layout.TYPE)
    w.require(w.compare("sle", "i64", size, "%room"))
    w.branch(w.compare("eq", "ptr", kind, table_address(w, "array_type")), "array", "other")

    w.label("other")
    listed = w.put(f"or i1 {_is(w, kind, 'list_type')}, {_is(w, kind, 'tuple_type')}")
    w.branch(listed, "sequence", "lone")
    w.label("lone")
    w.require_equal("i64", rank, 0)
    w.require(w.put("call i1 @number(ptr %object, ptr %at)"))
    w.do("ret i64 -1")

    w.label("sequence")  # a row of numbers, or a batch of numbers or of rows
    length = w.field("i64", "%object", layout.SIZE)
    w.require(w.compare("ult", "i64", w.put(f"sub i64 {length}, 1"), "%room"))
    items = items_of(w, "%object", length)
    inside = w.field("ptr", w.put(f"load ptr, ptr {items}"), layout.TYPE)
    nested = w.put(f"or i1 {_is(w, inside, 'list_type')}, {_is(w, inside, 'tuple_type')}")
    w.branch(nested, "rows", "row")
    w.label("row")
    w.require(w.put(f"call i1 @row(ptr %object, i64 {length}, ptr %at)"))
    state = w.compare("eq", "i64", rank, 1)
    whole = w.put(f"and i1 {state}, {w.compare('eq', 'i64', length, size)}")
    w.require(w.put(f"or i1 {whole}, {w.compare('eq', 'i64', rank, 0)}"))
    w.do(f"ret i64 {w.choose(state, 'i64', -1, length)}")
    w.label("rows")
    w.require_equal("i64", rank, 1)
    w.require(w.compare("sle", "i64", w.put(f"mul i64 {length}, {size}"), "%room"))
    with w.each(length) as loop:
        to = w.address("double", "%at", w.put(f"mul i64 {loop.k}, {size}"))
        w.require(w.put(f"call i1 @row(ptr {w.element('ptr', items, loop.k)}, i64 {size}, ptr {to})"))
    w.do(f"ret i64 {length}")

    w.label("array")
    w.do(f"ret i64 {w.put(f'call i64 @copy(i64 {rank}, i64 {size}, ptr %object, ptr %at, i64 %room)')}")
    w.label(w.refusal)
    return w.end("i64 -2")


def _is(w: Writer, kind: str, name: str) -> str:
    """Whether a type is the one that the table has under this name."""
    return w.compare("eq", "ptr", kind, table_address(w, name))


def _row() -> str:
    """A list or tuple of ``count`` numbers, as doubles at ``at``."""
    w = Writer("internal i1 @row(ptr %object, i64 %count, ptr %at)")
    items = items_of(w, "%object", "%count")
    with w.each("%count") as loop:
        to = w.address("double", "%at", loop.k)
        w.require(w.put(f"call i1 @number(ptr {w.element('ptr', items, loop.k)}, ptr {to})"))
    return _yes_or_no(w)


def items_of(w: Writer, obj: str, count: str) -> str:
    """The address of the items of a list or tuple that has this many."""
    kind = w.field("ptr", obj, layout.TYPE)
    is_list = _is(w, kind, "list_type")
    w.require(w.put(f"or i1 {is_list}, {_is(w, kind, 'tuple_type')}"))
    w.require_equal("i64", w.field("i64", obj, layout.SIZE), count)
    inside = w.address("i8", obj, str(layout.TUPLE_ITEMS))
    return w.choose(is_list, "ptr", w.field("ptr", obj, layout.LIST_ITEMS), inside)


def hold(w: Writer, items: str, count: str, at: str) -> None:
    """Store new references to the first objects of an array in another array."""
    with w.each(count) as loop:
        obj = w.element("ptr", items, loop.k)
        w.do(f"call void {table_address(w, 'incref')}(ptr {obj})")
        w.store("ptr", obj, at, loop.k)


def _copy() -> str:
    """An aligned array of float64, float32 or int64 and any strides, for an argument of at most one axis; as @convert."""
    w = Writer("internal i64 @copy(i64 %rank, i64 %size, ptr %object, ptr %at, i64 %room)")
    w.require(w.compare("ult", "i64", "%rank", 2))
    axes = w.put(f"sext i32 {w.field('i32', '%object', layout.ND)} to i64")
    lead = w.put(f"sub i64 {axes}, %rank")
    w.require(w.compare("ult", "i64", lead, 2))
    aligned = w.put(f"and i32 {w.field('i32', '%object', layout.FLAGS)}, {layout.ALIGNED}")
    w.require_equal("i32", aligned, layout.ALIGNED)
    batch, vector = w.compare("eq", "i64", lead, 1), w.compare("eq", "i64", "%rank", 1)

    def axis(there: str, index: str, otherwise: object) -> tuple[str, str]:
        """(length, stride) of an axis, if it is there."""
        found = [w.field("ptr", "%object", offset) for offset in (layout.DIMENSIONS, layout.STRIDES)]
        safe = [w.choose(there, "ptr", w.address("i64", x, index), "@table") for x in found]
        length, stride = (w.put(f"load i64, ptr {x}") for x in safe)
        return w.choose(there, "i64", length, otherwise), w.choose(there, "i64", stride, 0)

    rows, row_stride = axis(batch, "0", 1)
    columns, stride = axis(vector, lead, "%size")
    w.require_equal("i64", columns, "%size")
    w.require(w.compare("ule", "i64", rows, MAX_CONVERTED))
    w.require(w.compare("sle", "i64", w.put(f"mul i64 {rows}, %size"), "%room"))
    descr, data = w.field("ptr", "%object", layout.DESCR), w.field("ptr", "%object", layout.DATA)
    double, single, whole = (w.compare("eq", "ptr", descr, table_address(w, name)) for name in ("double", "single", "whole"))
    w.require(w.put(f"or i1 {double}, {w.put(f'or i1 {single}, {whole}')}"))
    with w.each(rows) as row:
        start = w.address("i8", data, w.put(f"mul i64 {row.k}, {row_stride}"))
        to = w.address("double", "%at", w.put(f"mul i64 {row.k}, %size"))
        with w.each("%size") as column:
            place = w.address("i8", start, w.put(f"mul i64 {column.k}, {stride}"))
            w.branch(double, "is_double", "not_double")
            w.label("is_double")
            x, as_double = w.put(f"load double, ptr {place}"), w.jump("read")
            w.label("not_double")
            w.branch(single, "is_single", "is_whole")
            w.label("is_single")
            y = w.put(f"fpext float {w.put(f'load float, ptr {place}')} to double")
            as_single = w.jump("read")
            w.label("is_whole")
            z = w.put(f"sitofp i64 {w.put(f'load i64, ptr {place}')} to double")
            as_whole = w.jump("read")
            w.label("read")
            w.store("double", w.merge("double", (x, as_double), (y, as_single), (z, as_whole)), to, column.k)
    w.do(f"ret i64 {w.choose(batch, 'i64', rows, -1)}")
    w.label(w.refusal)
    return w.end("i64 -2")


# -- results ---------------------------------------------------------------------------------------------------------


def _fits() -> str:
    """Whether an object is an exact, writeable array of this shape that shares no memory with ``count`` others.

    ``lanes`` holds the addresses of the others, and bit k of ``batches`` is 1 where one of them is a batch.
    """
    w = Writer("internal i1 @fits(ptr %kernel, ptr %argument, ptr %object, i64 %length, ptr %lanes, i64 %batches, i64 %count)")
    w.require_equal("ptr", w.field("ptr", "%object", layout.TYPE), table_address(w, "array_type"))
    w.require_equal("ptr", w.field("ptr", "%object", layout.DESCR), field_of(w, KernelInfo, "%kernel", "descr"))
    flags = w.put(f"and i32 {w.field('i32', '%object', layout.FLAGS)}, {layout.WRITEABLE}")
    w.require_equal("i32", flags, layout.WRITEABLE)
    alone = w.compare("eq", "i64", "%length", -1)
    lead, rank = w.choose(alone, "i64", 0, 1), field_of(w, ArgumentInfo, "%argument", "rank")
    w.require_equal("i64", w.put(f"sext i32 {w.field('i32', '%object', layout.ND)} to i64"), w.add(rank, lead))
    dimensions, shape = w.field("ptr", "%object", layout.DIMENSIONS), field_of(w, ArgumentInfo, "%argument", "shape")
    first = w.choose(alone, "ptr", "@table", dimensions)  # any address that can be read: one state has no batch axis
    w.require(w.put(f"or i1 {alone}, {w.compare('eq', 'i64', w.field('i64', first, 0), '%length')}"))
    with w.each(rank) as loop:
        w.require_equal("i64", w.element("i64", dimensions, w.add(loop.k, lead)), w.element("i64", shape, loop.k))
    item, states = field_of(w, KernelInfo, "%kernel", "item"), w.choose(alone, "i64", 1, "%length")
    arguments = field_of(w, KernelInfo, "%kernel", "arguments")
    start = w.put(f"ptrtoint ptr {w.field('ptr', '%object', layout.DATA)} to i64")
    own = w.put(f"mul i64 {size_of(w, '%argument')}, {item}")
    end = w.add(start, w.put(f"mul i64 {own}, {states}"))
    with w.each("%count") as loop:
        argument = w.address("i8", arguments, w.put(f"mul i64 {loop.k}, {ARGUMENT}"))
        other = w.element("i64", "%lanes", loop.k)
        rows = w.choose(bit_of(w, "%batches", loop.k), "i64", states, 1)
        span = w.put(f"mul i64 {w.put(f'mul i64 {size_of(w, argument)}, {item}')}, {rows}")
        after, before = w.compare("uge", "i64", start, w.add(other, span)), w.compare("uge", "i64", other, end)
        w.require(w.put(f"or i1 {after}, {before}"))
    return _yes_or_no(w)


def _release() -> str:
    """Drop the references to ``count`` new objects; null marks an object that was not made."""
    w = Writer("internal void @release(ptr %made, i64 %count)")
    with w.each("%count") as loop:
        made = w.element("ptr", "%made", loop.k)
        with w.when(w.compare("ne", "ptr", made, "null")):
            w.do(f"call void {table_address(w, 'decref')}(ptr {made})")
    return w.end()


def helpers() -> str:
    """All helper functions."""
    return "\n".join((_gather(), _unpack(), _match(), _number(), _row(), _convert(), _copy(), _fits(), _release()))
