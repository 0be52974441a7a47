"""Arrays for the results of one state: a free array that was returned before, else a new one.

NumPy takes longer to make an array and to free it than a small kernel runs.  The last arrays that were returned are kept, as
Python keeps tuples and floats; one is free if there is no other reference to it and it is unchanged since it was made.
"""

from __future__ import annotations

from torsor.compile import layout
from torsor.compile.layout import SPARES, ArgumentInfo
from torsor.compile.llvm.entry_helpers import field_of, size_of, table_address
from torsor.compile.llvm.writer import Writer

#: largest result that is kept [bytes]
LARGEST = 16384


def new_array(w: Writer, descr: str, axes: str, shape: str) -> str:
    """A new array of NumPy, null if there is no memory for it."""
    w.do(f"call void {table_address(w, 'incref')}(ptr {descr})")  # NumPy takes this reference over
    head = f"ptr {table_address(w, 'array_type')}, ptr {descr}, i32 {w.put(f'trunc i64 {axes} to i32')}, ptr {shape}"
    return w.put(f"call ptr {table_address(w, 'array_new')}({head}, ptr null, ptr null, i32 0, ptr null)")


def result_function() -> str:
    """``@result``: a reference to an array for one state of an output, of numbers of ``item`` bytes; null without memory."""
    w = Writer("internal ptr @result(ptr %argument, ptr %descr, i64 %item)")
    rank, shape = field_of(w, ArgumentInfo, "%argument", "rank"), field_of(w, ArgumentInfo, "%argument", "shape")
    spares = w.address("i8", "%argument", str(ArgumentInfo.spares.offset))
    with w.each(str(SPARES)) as loop:
        array = w.element("ptr", spares, loop.k)
        w.branch(w.compare("eq", "ptr", array, "null"), "taken", "kept")
        w.label("kept")
        _branch_unless_free(w, array, rank, shape, "taken")
        w.do(f"call void {table_address(w, 'incref')}(ptr {array})")
        w.do(f"ret ptr {array}")
        w.label("taken")
    made = new_array(w, "%descr", rank, shape)
    bytes_ = w.put(f"mul i64 {size_of(w, '%argument')}, %item")
    small = w.compare("sle", "i64", bytes_, LARGEST)
    with w.when(w.put(f"and i1 {small}, {w.compare('ne', 'ptr', made, 'null')}")):
        w.do(f"call void {table_address(w, 'incref')}(ptr {made})")
        oldest = w.element("ptr", spares, str(SPARES - 1))
        for k in range(SPARES - 1, 0, -1):
            w.store("ptr", w.element("ptr", spares, str(k - 1)), spares, str(k))
        w.store("ptr", made, spares, "0")
        w.do(f"call void {table_address(w, 'decref')}(ptr {oldest})")  # of null: nothing
    return w.end(f"ptr {made}")


def _branch_unless_free(w: Writer, array: str, rank: str, shape: str, otherwise: str) -> None:
    """Go on if an array has one reference and has the shape, type and flags with which it was made."""
    flags = w.put(f"and i32 {w.field('i32', array, layout.FLAGS)}, {layout.OWNED | layout.WARNS}")
    axes = w.put(f"sext i32 {w.field('i32', array, layout.ND)} to i64")
    same = [
        w.compare("eq", "i32", w.field("i32", array, layout.REFERENCES), 1),
        w.compare("eq", "i32", flags, layout.OWNED),
        w.compare("eq", "ptr", w.field("ptr", array, layout.BASE), "null"),
        w.compare("eq", "ptr", w.field("ptr", array, layout.WEAK), "null"),
        w.compare("eq", "ptr", w.field("ptr", array, layout.DESCR), "%descr"),
        w.compare("eq", "i64", axes, rank),
    ]
    whole = same[0]
    for x in same[1:]:
        whole = w.put(f"and i1 {whole}, {x}")
    w.branch(whole, "axes", otherwise)
    w.label("axes")
    dimensions = w.field("ptr", array, layout.DIMENSIONS)
    with w.each(rank, equal=("i1", "true")) as axis:
        equal = w.compare("eq", "i64", w.element("i64", dimensions, axis.k), w.element("i64", shape, axis.k))
        axis.then["equal"] = w.put(f"and i1 {axis.now['equal']}, {equal}")
    w.branch(axis.now["equal"], "free", otherwise)
    w.label("free")
